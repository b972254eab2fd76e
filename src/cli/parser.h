#ifndef JOEDB_CLI_PARSER_H
#define JOEDB_CLI_PARSER_H

#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/suggestion.h"
#include "cli/description.h"
#include "joedb/base/error.h"

// The command line of a tool: its options, and the words that are left.

namespace joedb {

// The command line cannot be understood. The text says what is wrong, and how it should look.
class Usage_Error : public Exception {
 public:
  using Exception::Exception;
};

// The arguments that are no options, from left to right. Those that begin with - are file modes
// (Options::allow_word), or stand behind the word --.
class Words {
 public:
  // Those from `options_end` on are no options, whatever they begin with.
  Words(std::vector<std::string> words, std::string usage,
        std::size_t options_end = std::numeric_limits<std::size_t>::max())
      : words_(std::move(words)), usage_(std::move(usage)), options_end_(options_end) {}

  bool is_empty() const { return next_ == words_.size(); }
  std::size_t count() const { return words_.size() - next_; }
  // Empty if there is none.
  std::string_view peek() const { return is_empty() ? std::string_view() : words_[next_]; }
  // Empty if there is none left.
  std::string_view last() const { return is_empty() ? std::string_view() : words_.back(); }
  // Whether the next word is a file mode.
  bool is_option() const;
  // Throws Usage_Error if there is none.
  std::string take();
  // The next word if it is this one.
  bool take_if(std::string_view word);
  // The next word, which must not be a file mode. Throws Usage_Error.
  std::string take_name();
  // The same, and no word may be left.
  std::string take_last_name();

  // Throws Usage_Error if a word is left.
  void require_end() const;
  [[noreturn]] void fail(const std::string& what = "") const;

 private:
  const std::vector<std::string> words_;
  const std::string usage_;
  const std::size_t options_end_;
  std::size_t next_ = 0;
};

// Bounds of the value of an option, both included.
struct Range {
  std::int64_t min = 0;
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
};

// The options of a tool: declared, then parsed. They start with - and may stand anywhere before the
// word --.
//
//   Options options({"joedb_pack [options] IN OUT", "Writes …", "", "  joedb_pack a b"});
//   bool ignore = false;
//   options.add_flag("--ignore_header", ignore, "read up to the end of the file");
//   auto words = options.parse(std::move(args));
//   if (!words) return 0;  // it was --help
class Options {
 public:
  explicit Options(Tool_Help help);
  ~Options();

  void add_flag(const char* name, bool& value, const char* help);
  void add(const char* name, std::int64_t& value, const char* help, Range range = {});
  void add(const char* name, std::string& value, const char* help,
           const Value_Kind& kind = kinds::text);
  // 0 to 1e9 seconds.
  void add(const char* name, std::chrono::duration<double>& value, const char* help);
  // These say whether the option was given, whatever its value.
  void add(const char* name, std::optional<std::int64_t>& value, const char* help,
           Range range = {});
  void add(const char* name, std::optional<std::string>& value, const char* help,
           const Value_Kind& kind = kinds::text);
  // A list: separated by commas, or given several times.
  void add(const char* name, std::vector<std::string>& values, const char* help,
           const char* value_name);
  // One of a few words, which are in `names`; `value` holds the default and gets an enumerator. A
  // default that is not in `names` is not shown by --help.
  template <class Enum>
  void add_choice(const char* name, Enum& value,
                  std::vector<std::pair<std::string_view, Enum>> names, const char* help) {
    std::vector<std::string_view> words;
    std::string_view default_word;
    for (const auto& [word, enumerator] : names) {
      words.push_back(word);
      if (enumerator == value) default_word = word;
    }
    add_words(name, words, default_word, help,
              [&value, names](std::size_t i) { value = names[i].second; });
  }
  // A word that begins with -- and keeps its place among the others: it is about the next one. The
  // help of the tool must explain it.
  void allow_word(std::string word);

  // For completion: what the words are, one by one, the last of these also for all that follow;
  // otherwise databases.
  void set_words(std::vector<Value_Kind> words);
  // For completion: words that may stand behind so many others. (Those that are in lower case in
  // the line of usage, like csv|json, are known.)
  void offer(std::size_t position, const std::vector<Offered_Word>& words);

  // The other words; nothing after --help, which has been printed then. Throws Usage_Error for an
  // unknown option, and a value that is not as it should be.
  std::optional<Words> parse(std::vector<std::string> arguments);

 private:
  struct Implementation;
  void describe(const char* names, const Value_Kind& value, const std::string& help);
  void add_text(const char* name, const Value_Kind& kind, const char* help,
                std::function<void(const std::string&)> set);
  void add_number(const char* name, const char* help, Range range,
                  std::function<void(std::int64_t)> set);
  void add_words(const char* name, const std::vector<std::string_view>& words,
                 std::string_view default_word, const char* help,
                 std::function<void(std::size_t)> set);

  std::unique_ptr<Implementation> implementation_;
};

// What the options of a tool say, without running it: it is run up to the call of Options::parse.
// If there is no such call, nothing.
std::optional<Tool_Description> describe(int (*run)(std::vector<std::string> arguments));

// --classic: tools that joedb 10 has, too, behave like those: see docs/compatibility.md. This holds
// for the whole process, for main() must know it when a tool fails.
void add_classic_option(Options& options);
bool is_classic();

}  // namespace joedb

#endif
