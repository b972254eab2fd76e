#include "tools/frame/parser.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <sstream>

#include "joedb/base/log.h"
#include "kernel/base/parse_number.h"
#include "kernel/base/split.h"
#include "kernel/base/time.h"
#include "kernel/io/process.h"
#include "kernel/schema/value_text.h"
#include "kernel/table/declaration.h"

namespace joedb {

// ---- words --------------------------------------------------------------------------------------

bool looks_like_option(std::string_view word) { return word.size() > 1 && word[0] == '-'; }

bool Words::is_option() const { return next_ < options_end_ && looks_like_option(peek()); }

std::string Words::take() {
  if (is_empty()) fail_missing();
  return words_[next_++];
}

bool Words::take_if(std::string_view word) {
  if (is_empty() || words_[next_] != word) return false;
  ++next_;
  return true;
}

std::string Words::take_name() {
  if (is_option()) fail("unexpected option: " + std::string(peek()));
  return take();
}

std::string Words::take_last_name() {
  std::string name = take_name();
  require_end();
  return name;
}

void Words::require_end() const {
  if (is_empty()) return;
  fail((is_option() ? "unexpected option: " : "unexpected argument: ") + std::string(peek()));
}

// The usage of a tool without words says it all. Modes are not in the usage.
void Words::fail_missing() const {
  const auto is_mode = [](const std::string& word) { return looks_like_option(word); };
  const auto modes = std::count_if(words_.begin(), words_.end(), is_mode);
  const std::string name = word_in_usage(usage_, next_ - static_cast<std::size_t>(modes));
  fail(words_.empty() || name.empty() ? "" : name + " is missing");
}

void Words::fail(const std::string& what) const {
  throw Usage_Error(what, "usage: " + usage_ + "\nMore is shown by --help.");
}

// ---- help ---------------------------------------------------------------------------------------

namespace {

// Breaks a text into lines of at most `width` characters.
std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> lines(1);
  std::istringstream in(text);
  for (std::string word; in >> word;) {
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width)
      lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
  }
  return lines;
}

// Returns the width of the terminal, at most 100; 80 if standard output is none.
std::size_t help_width() {
  const std::size_t width = terminal_width();
  return width == 0 ? 80 : std::clamp<std::size_t>(width, 40, 100);
}

// Wraps the explanations of a help text, whose lines are at most 100 characters long, to another
// width. A line that begins with spaces, and has several spaces in a row later, is the row of a
// table, and continues in its second column.
class Help_Wrapper {
 public:
  explicit Help_Wrapper(std::size_t width) : width_(width) {}

  std::string wrap(const std::string& text) {
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) add(line);
    end_paragraph();
    return std::move(out_);
  }

 private:
  // The author's editor has broken a line here if the next word did not fit.
  static constexpr std::size_t min_full_line = 88;

  static std::size_t indent_of(const std::string& line) {
    return std::min(line.find_first_not_of(' '), line.size());
  }

  void add(const std::string& line) {
    const std::size_t indent = indent_of(line);
    const std::size_t first_word = line.find(' ', indent) == line.npos
                                       ? line.size() - indent
                                       : line.find(' ', indent) - indent;
    const bool continues = !line.empty() && !paragraph_.empty() && indent == column_ &&
                           last_size_ + 1 + first_word > min_full_line;
    if (continues) {
      paragraph_ += ' ' + line.substr(indent);
    } else {
      end_paragraph();
      paragraph_ = line;
      const std::size_t gap = indent == 0 ? line.npos : line.find("  ", indent);
      column_ = gap == line.npos ? indent : line.find_first_not_of(' ', gap);
      if (line.empty()) out_ += '\n';
    }
    last_size_ = line.size();
  }

  void end_paragraph() {
    if (paragraph_.empty()) return;
    std::string line = paragraph_.substr(0, column_);
    for (const std::string& part :
         wrapped(paragraph_.substr(column_), std::max(width_, column_ + 20) - column_)) {
      out_ += line + part + '\n';
      line.assign(column_, ' ');
    }
    paragraph_.clear();
  }

  const std::size_t width_;
  std::string out_;
  std::string paragraph_;
  std::size_t column_ = 0;
  std::size_t last_size_ = 0;
};

// Like CLI11's formatter, with our own usage line, and with lines that fit a terminal.
class Help_Formatter : public CLI::Formatter {
 public:
  explicit Help_Formatter(std::string usage) : usage_(std::move(usage)) {}

  std::string make_usage(const CLI::App*, std::string) const override {
    return "\nusage: " + usage_ + "\n";
  }

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    constexpr std::size_t column = 30;
    const std::size_t line_width = std::max(help_width(), column + 20);
    std::string text = "  " + make_option_name(option, is_positional) + make_option_opts(option);
    if (text.size() >= column) text += '\n';
    for (const std::string& line : wrapped(make_option_desc(option), line_width - column)) {
      const std::size_t used = text.size() - (text.rfind('\n') + 1);
      text.append(column - used, ' ').append(line) += '\n';
    }
    return text;
  }

 private:
  const std::string usage_;
};

std::string footer(const Tool_Help& help) {
  Help_Wrapper wrapper(help_width());
  std::string text = wrapper.wrap(help.details);
  while (text.ends_with("\n\n")) text.pop_back();
  if (!text.empty()) text += '\n';
  text += (help.examples.find('\n') == help.examples.rfind('\n') ? "Example:\n" : "Examples:\n") +
          help.examples;
  text +=
      "\n"
      "Exit codes: 0 success; 1 failure or a negative answer; 2 usage error.\n"
      "Use -- before an argument that begins with -.";
  return text;
}

std::string joined(const std::vector<std::string_view>& words, std::string_view separator,
                   std::string_view last_separator) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text.append(i == 0 ? "" : i + 1 < words.size() ? separator : last_separator).append(words[i]);
  return text;
}

std::string text_of(Range range) {
  if (range.max == Range().max) return "at least " + std::to_string(range.min);
  return std::to_string(range.min) + " to " + std::to_string(range.max);
}

}  // namespace

// ---- options ------------------------------------------------------------------------------------

static const char* const help_of_help = "show this text";

static std::vector<std::string_view> words_after_options(std::string_view text) {
  const std::string_view usage = text.substr(0, text.find('\n'));
  const std::size_t start = usage.find("[options]");
  std::vector<std::string_view> words;
  if (start == usage.npos) return words;
  bool is_value = false;  // of an option that is required
  for (const std::string_view word : split(usage.substr(start + std::strlen("[options]")), " ")) {
    if (!word.empty() && !is_value && !word.starts_with("--")) words.push_back(word);
    is_value = word.starts_with("--");
  }
  return words;
}

std::string word_in_usage(std::string_view usage, std::size_t position) {
  const std::vector<std::string_view> words = words_after_options(usage);
  if (position >= words.size()) return "";
  std::string_view word = words[position];
  while (word.starts_with('[')) word.remove_prefix(1);
  return std::string(word.substr(0, std::min(word.find_first_of("[],|"), word.find("..."))));
}

// Returns the lower-case alternatives in a usage like "joedb_x [options] csv|json FILE", by
// position.
static std::vector<std::vector<Offered_Word>> offered_by_usage(std::string_view text) {
  std::vector<std::vector<Offered_Word>> offered;
  for (const std::string_view word : words_after_options(text)) {
    offered.emplace_back();
    const bool is_lower = std::all_of(word.begin(), word.end(),
                                      [](char c) { return c == '|' || ('a' <= c && c <= 'z'); });
    if (!is_lower) continue;
    for (const std::string_view alternative : split(word, "|"))
      offered.back().push_back({std::string(alternative), ""});
  }
  return offered;
}

struct Options::Implementation {
  explicit Implementation(Tool_Help tool_help) : help(std::move(tool_help)), app(help.summary) {
    description.help = help;
    description.options.push_back({{"-h", "--help"}, {}, {}, help_of_help});
    description.offered = offered_by_usage(help.usage);
    app.formatter(std::make_shared<Help_Formatter>(help.usage));
    app.footer(footer(help));
    app.set_help_flag("-h,--help", help_of_help);
    app.allow_extras();
  }

  std::vector<std::string> known() const {
    std::vector<std::string> result = description.marks;
    for (const auto& [older, name] : older_names) result.push_back(older);
    for (const CLI::Option* const option : app.get_options())
      if (!option->get_group().empty())
        for (const std::string& name : option->get_lnames()) result.push_back("--" + name);
    return result;
  }

  // Writes options with - instead of _ in their names, and with their present names. Values of
  // options, and unknown words, stay.
  void use_present_names(std::vector<std::string>& words) const {
    bool is_value = false;
    for (std::string& word : words) {
      if (std::exchange(is_value, false) || !word.starts_with("--")) continue;
      const std::size_t end = std::min(word.find('='), word.size());
      std::string name = word.substr(0, end);
      std::replace(name.begin(), name.end(), '_', '-');
      const auto older = older_names.find(name);
      if (older != older_names.end()) name = older->second;
      const CLI::Option* const option = app.get_option_no_throw(name);
      const std::vector<std::string>& marks = description.marks;
      if (option != nullptr || std::find(marks.begin(), marks.end(), name) != marks.end())
        word.replace(0, end, name);
      is_value = option != nullptr && option->get_items_expected_min() > 0 && end == word.size();
    }
  }

  [[noreturn]] void fail(const std::string& what) const { Words({}, help.usage).fail(what); }

  void require_known(const std::string& word) const {
    const std::vector<std::string>& marks = description.marks;
    if (std::find(marks.begin(), marks.end(), word) != marks.end()) return;
    fail("unknown option: " + word + did_you_mean(word.substr(0, word.find('=')), known()));
  }

  const Tool_Help help;
  CLI::App app;
  Tool_Description description;
  std::map<std::string, std::string> older_names;
};

static std::string own_name, called_name;

void set_called_as(std::string tool, std::string name) {
  own_name = std::move(tool);
  called_name = std::move(name);
}

// Returns the text with the name of the tool as the user has typed it.
static std::string as_called(std::string text) {
  const std::string word = own_name + ' ';
  for (std::size_t i = 0; !own_name.empty() && (i = text.find(word, i)) != text.npos;) {
    const bool is_word = i == 0 || text[i - 1] == ' ' || text[i - 1] == '\n';
    if (is_word) text.replace(i, own_name.size(), called_name);
    i += is_word ? called_name.size() : 1;
  }
  return text;
}

static Tool_Help as_called(Tool_Help help) {
  help.usage = as_called(std::move(help.usage));
  help.examples = as_called(std::move(help.examples));
  return help;
}

Options::Options(Tool_Help help)
    : implementation_(std::make_unique<Implementation>(as_called(std::move(help)))) {}

Options::~Options() = default;

void Options::describe(const char* names, const Value_Kind& value, const std::string& help) {
  const auto all_names = split(names, ",");
  implementation_->description.options.push_back(
      {{all_names.begin(), all_names.end()}, value, {}, help});
}

void Options::add_flag(const char* name, bool& value, const char* help) {
  describe(name, {}, help);
  implementation_->app.add_flag(name, value, help);
}

void Options::add_shared_flag(const char* name, void (*set)(), const char* help) {
  if (implementation_->app.get_option_no_throw(name) != nullptr) return;
  describe(name, {}, help);
  implementation_->app.add_flag_callback(name, set, help);
}

void Options::add_number(const char* name, const char* help, Range range,
                         std::function<void(std::int64_t)> set) {
  const auto read = [this, name, range, set = std::move(set)](const std::string& word) {
    const char* const end = word.data() + word.size();
    std::int64_t number = 0;
    const auto [next, error] = std::from_chars(word.data(), end, number);
    if (error == std::errc::invalid_argument || next != end)
      implementation_->fail(std::string(name) + ": " + word + " is not a whole number");
    if (error != std::errc())
      implementation_->fail(std::string(name) + ": " + word + " has too many digits");
    if (number < range.min || number > range.max)
      implementation_->fail(std::string(name) + ": " + word +
                            " is out of range: " + text_of(range));
    set(number);
  };
  add_text(name, kinds::number, help, read);
}

void Options::add(const char* name, std::int64_t& value, const char* help, Range range) {
  add_number(name, help, range, [&value](std::int64_t number) { value = number; });
}

void Options::add(const char* name, std::optional<std::int64_t>& value, const char* help,
                  Range range) {
  add_number(name, help, range, [&value](std::int64_t number) { value = number; });
}

void Options::add_text(const char* name, const Value_Kind& kind, const char* help,
                       std::function<void(const std::string&)> set) {
  describe(name, kind, help);
  implementation_->app.add_option_function<std::string>(name, std::move(set), help)
      ->option_text(kind.name);
}

void Options::add(const char* name, std::optional<std::string>& value, const char* help,
                  const Value_Kind& kind) {
  add_text(name, kind, help, [&value](const std::string& word) { value = word; });
}

void Options::add(const char* name, std::string& value, const char* help, const Value_Kind& kind) {
  add_text(name, kind, help, [&value](const std::string& word) { value = word; });
}

void Options::add(const char* name, std::vector<std::string>& values, const char* help,
                  const char* value_name) {
  const auto read = [this, name, &values](const std::vector<std::string>& words) {
    for (const std::string& word : words)
      for (const std::string_view value : split(word, ","))
        if (!value.empty()) values.emplace_back(value);
    if (values.empty()) implementation_->fail(std::string(name) + ": the value is missing");
  };
  describe(name, {value_name, ""}, help);
  implementation_->app.add_option_function<std::vector<std::string>>(name, read, help)
      ->option_text(value_name)
      ->allow_extra_args(false);
}

void Options::add(const char* name, std::chrono::duration<double>& value, const char* help) {
  const auto read = [this, name, &value](const std::string& word) {
    const double seconds = parse_number<double>(word).value_or(-1);
    if (!(seconds >= 0 && seconds <= 1e9))
      implementation_->fail(std::string(name) + ": " + word +
                            "; expected a number of seconds, 0 to 1000000000");
    value = std::chrono::duration<double>(seconds);
  };
  add_text(name, kinds::seconds, help, read);
}

void Options::add_words(const char* name, const std::vector<std::string_view>& words,
                        std::string_view default_word, const char* help,
                        std::function<void(std::size_t)> set) {
  const auto read = [this, name, words, set = std::move(set)](const std::string& word) {
    const auto found = std::find(words.begin(), words.end(), word);
    if (found == words.end())
      implementation_->fail(std::string(name) + ": " + word + "; expected " +
                            joined(words, ", ", " or "));
    set(static_cast<std::size_t>(found - words.begin()));
  };
  std::string text = help;
  if (!default_word.empty()) text += " (default: " + std::string(default_word) + ")";
  add_text(name, {joined(words, "|", "|"), ""}, text.c_str(), read);
  implementation_->description.options.back().choices.assign(words.begin(), words.end());
}

void Options::hide(const char* name) {
  implementation_->app.get_option(name)->group("");
  std::erase_if(implementation_->description.options,
                [&](const Option_Description& option) { return option.names.back() == name; });
}

void Options::accept(std::string older, std::string name) {
  implementation_->older_names.emplace(std::move(older), std::move(name));
}

void Options::allow_word(std::string word) {
  std::vector<std::string>& marks = implementation_->description.marks;
  if (std::find(marks.begin(), marks.end(), word) == marks.end()) marks.push_back(std::move(word));
}

void Options::set_words(std::vector<Value_Kind> words) {
  implementation_->description.words = std::move(words);
}

void Options::offer(std::size_t position, const std::vector<Offered_Word>& words) {
  auto& offered = implementation_->description.offered;
  if (offered.size() <= position) offered.resize(position + 1);
  std::vector<Offered_Word>& known = offered[position];
  for (const Offered_Word& word : words)
    if (std::none_of(known.begin(), known.end(),
                     [&](const auto& k) { return k.word == word.word; }))
      known.push_back(word);
}

// If not null, Options::parse stores the description of the tool here, and does not parse.
static std::optional<Tool_Description>* description_wanted = nullptr;

std::optional<Tool_Description> describe(int (*run)(std::vector<std::string> arguments)) {
  std::optional<Tool_Description> result;
  description_wanted = &result;
  try {
    run({});
  } catch (const Exception&) {  // the tool has no options
  }
  description_wanted = nullptr;
  return result;
}

static void warn_as_joedb_10();

std::optional<Words> Options::parse(std::vector<std::string> arguments) {
  if (description_wanted != nullptr) {
    *description_wanted = implementation_->description;
    return std::nullopt;
  }
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  const std::vector<std::string> others(end == arguments.end() ? end : end + 1, arguments.end());
  arguments.erase(end, arguments.end());
  implementation_->use_present_names(arguments);
  std::reverse(arguments.begin(), arguments.end());  // the order that CLI11 expects
  CLI::App& app = implementation_->app;
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    std::fputs(app.help().c_str(), stdout);
    return std::nullopt;
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string text = error.what();
    implementation_->fail(text.substr(0, text.find(':')) + (text.find("missing") != text.npos
                                                                ? ": the value is missing"
                                                                : ": given more than once"));
  } catch (const CLI::ParseError& error) {
    implementation_->fail(error.what());
  }
  if (is_classic()) {
    write_floats_as_joedb_10();
    write_times_as_joedb_10();
    ignore_declarations();
    Recovery_Logger::remove_logger();
    warn_as_joedb_10();
  }
  std::vector<std::string> words = app.remaining();
  for (const std::string& word : words)
    if (looks_like_option(word)) implementation_->require_known(word);
  const std::size_t options_end = words.size();
  words.insert(words.end(), others.begin(), others.end());
  return Words(std::move(words), implementation_->help.usage, options_end);
}

// ---- classic ------------------------------------------------------------------------------------

static bool has_classic = false;

// The warnings of destructors; that about an unfinished transaction in the two lines of joedb 10.
class Classic_Warnings : public CLog_Logger {
 public:
  Classic_Warnings() : CLog_Logger("joedb destructor warning") {}
  void log(std::string_view line) override {
    if (line.find(": closed with an unfinished transaction") == line.npos)
      return CLog_Logger::log(line);
    CLog_Logger::log("Writable_Journal: ahead of checkpoint");
    CLog_Logger::log("flushing File_Buffer");
  }
};

static void warn_as_joedb_10() {
  static Classic_Warnings warnings;
  Destructor_Logger::set_logger(&warnings);
}

void add_classic_option(Options& options) {
  options.add_flag("--classic", has_classic,
                   "behave like the tool of joedb 10: values that cannot be read become zero or "
                   "the nearest value; messages, log lines, prompts, exit codes and the defaults "
                   "of options are those of joedb 10");
}

bool is_classic() { return has_classic; }

// ---- times --------------------------------------------------------------------------------------

void add_utc_option(Options& options) {
  options.add_shared_flag("--utc", use_utc,
                          "show and read times in UTC, not in the local time zone");
}

}  // namespace joedb
