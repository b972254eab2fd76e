#ifndef JOEDB_SRC_TOOLS_FRAME_PARSER_H
#define JOEDB_SRC_TOOLS_FRAME_PARSER_H

#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "joedb/base/error.h"
#include "kernel/base/suggestion.h"
#include "tools/frame/description.h"

// Parses the command line of a tool: its options, and the remaining words.

namespace joedb {

// An invalid command line. The text has the cause, and then the correct usage. One of them may be
// empty.
class Usage_Error : public Exception {
 public:
  explicit Usage_Error(const std::string& cause, const std::string& usage = "")
      : Exception(cause + (cause.empty() || usage.empty() ? "" : "\n") + usage),
        has_cause(!cause.empty()) {}
  const bool has_cause;
};

// True for a word that begins with -. A single - is not an option, because it may mean standard
// input.
bool looks_like_option(std::string_view word);

// The arguments that are not options, from left to right. A word that begins with - is a file mode
// (Options::allow_word), or comes after the word --.
class Words {
 public:
  // Words with an index of at least `options_end` are never options, even if they begin with -.
  Words(std::vector<std::string> words, std::string usage,
        std::size_t options_end = std::numeric_limits<std::size_t>::max())
      : words_(std::move(words)), usage_(std::move(usage)), options_end_(options_end) {}

  bool is_empty() const { return next_ == words_.size(); }
  std::size_t count() const { return words_.size() - next_; }
  // Returns the next word; empty if there is none.
  std::string_view peek() const { return is_empty() ? std::string_view() : words_[next_]; }
  // Returns the last word; empty if there are none left.
  std::string_view last() const { return is_empty() ? std::string_view() : words_.back(); }
  // Returns true if the next word is a file mode.
  bool is_option() const;
  // Returns the next word, and moves past it. Throws Usage_Error if there is none.
  std::string take();
  // Takes the next word if it equals `word`. Returns true if it was taken.
  bool take_if(std::string_view word);
  // Takes the next word. Throws Usage_Error if there is none, or if it is a file mode.
  std::string take_name();
  // Like take_name(). Also throws Usage_Error if there are more words.
  std::string take_last_name();

  // Throws Usage_Error if there are more words.
  void require_end() const;
  // Throws Usage_Error with the usage, and the name of the next word in it.
  [[noreturn]] void fail_missing() const;
  // Throws Usage_Error with `what` and the usage.
  [[noreturn]] void fail(const std::string& what = "") const;

 private:
  const std::vector<std::string> words_;
  const std::string usage_;
  const std::size_t options_end_;
  std::size_t next_ = 0;
};

// The bounds of the value of an option, which are included.
struct Range {
  std::int64_t min = 0;
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
};

// The tool joedb_NAME was called as `joedb NAME`: usage and examples show that name. Call it before
// Options are made.
void set_called_as(std::string tool, std::string name);

// The options of a tool: declared, then parsed. They start with - and may be anywhere before the
// word --. Between the words of a name there is -; on the command line, _ means the same there.
//
//   Options options({"joedb_pack [options] IN OUT", "Writes …", "", "  joedb_pack a b"});
//   bool ignore = false;
//   options.add_flag("--ignore-header", ignore, "read up to the end of the file");
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
  // Adds an option whose value is a number of seconds, from 0 to 1e9.
  void add(const char* name, std::chrono::duration<double>& value, const char* help);
  // Add an option whose value is nullopt if it is not given.
  void add(const char* name, std::optional<std::int64_t>& value, const char* help,
           Range range = {});
  void add(const char* name, std::optional<std::string>& value, const char* help,
           const Value_Kind& kind = kinds::text);
  // Adds an option with a list of values. They are separated by commas, or the option is given
  // repeatedly.
  void add(const char* name, std::vector<std::string>& values, const char* help,
           const char* value_name);
  // Adds an option whose value is one of the words in `names`. `value` must have the default, and
  // receives an enumerator. --help does not show a default that is not in `names`.
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
  // Adds a flag for the whole process. A no-op if the tool has it already.
  void add_shared_flag(const char* name, void (*set)(), const char* help);
  // Does not show an option that was added.
  void hide(const char* name);
  // Accepts an older name of an option.
  void accept(std::string older, std::string name);
  // Allows a word that begins with -- and keeps its position among the other words: it refers to
  // the next one. The help of the tool must explain it.
  void allow_word(std::string word);

  // For completion: sets the kind of each word, by position. The last kind also applies to all
  // later words. By default, words are names of databases.
  void set_words(std::vector<Value_Kind> words);
  // For completion: adds words that are valid in this position, counted from 0. Lower-case
  // alternatives in the line of usage, like csv|json, need not be added.
  void offer(std::size_t position, const std::vector<Offered_Word>& words);

  // Returns the words that are not options. Returns nullopt if --help was given, which prints the
  // help. Throws Usage_Error for an unknown option or an invalid value.
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

// Returns the description of a tool. Runs the tool up to its call of Options::parse, which then
// returns nullopt. Returns nullopt if the tool does not call it. Not thread-safe.
std::optional<Tool_Description> describe(int (*run)(std::vector<std::string> arguments));

// The option --classic: tools that joedb 10 also has behave like those of joedb 10
// (docs/compatibility.md). It is process-wide, because main() needs it when a tool fails.
void add_classic_option(Options& options);
bool is_classic();

// The option --utc: the tool shows and reads times in UTC. Process-wide, like the zone of the
// environment. A no-op if the tool has the option already.
void add_utc_option(Options& options);

}  // namespace joedb

#endif
