#include "tools/frame/terminal.h"

#include <histedit.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <optional>
#include <streambuf>
#include <vector>

#include "commands/typed_line.h"
#include "text/display_width.h"
#include "tools/frame/pager.h"
#include "tools/frame/standard_input.h"

namespace joedb {

struct Terminal::Editor {
  explicit Editor(const Interrupts& noted) : interrupts(noted) {}

  const Interrupts& interrupts;
  EditLine* line = nullptr;
  History* history = nullptr;
  HistEvent event{};
  std::string history_path;
  std::string prompt;
  const Completer* completer = nullptr;
  std::optional<char> pending;    // a byte that was read after an invalid sequence
  bool has_lost_letters = false;  // the line being typed has invalid bytes

  static Editor& of(EditLine* el) {
    void* data = nullptr;
    el_get(el, EL_CLIENTDATA, &data);
    return *static_cast<Editor*>(data);
  }
  static int read_character(EditLine* el, wchar_t* character);
  static char* show_prompt(EditLine* el) { return of(el).prompt.data(); }
  static unsigned char complete(EditLine* el, int);
  unsigned char complete();
  void show(const Completions& completions);
  // Returns a numeric capability of the terminal; `fallback` if it is unknown.
  std::size_t capability(const char* name, std::size_t fallback) const;
  std::size_t screen_width() const { return capability("co", 80); }
};

// Works like libedit's own function, but does not lose a control-C that is typed just before it
// waits. Invalid bytes become U+FFFD, and the line will be rejected.
int Terminal::Editor::read_character(EditLine* el, wchar_t* character) {
  Editor& editor = of(el);
  std::mbstate_t state{};
  for (bool is_first = true;; is_first = false) {
    char byte = 0;
    if (editor.pending) {
      byte = *editor.pending;
      editor.pending.reset();
    } else {
      if (!editor.interrupts.wait_for(STDIN_FILENO)) return -1;
      const ssize_t n = ::read(STDIN_FILENO, &byte, 1);
      if (n <= 0) return static_cast<int>(n);
    }
    const std::size_t used = std::mbrtowc(character, &byte, 1, &state);
    if (used == static_cast<std::size_t>(-2)) continue;  // the character is incomplete
    if (used == static_cast<std::size_t>(-1)) {
      if (!is_first) editor.pending = byte;  // the preceding bytes were invalid
      editor.has_lost_letters = true;
      *character = L'\uFFFD';
    }
    return 1;
  }
}

// Sets a locale for UTF-8. In the locale C, which is common in containers, libedit would drop each
// byte of a non-ASCII letter as invalid.
static void set_locale() {
  const auto has_multibyte_letters = [] {
    constexpr std::string_view letter = "\xc3\xbc";
    wchar_t character = 0;
    std::mbstate_t state{};
    return std::mbrtowc(&character, letter.data(), letter.size(), &state) <= letter.size();
  };
  if (std::setlocale(LC_CTYPE, "") != nullptr && has_multibyte_letters()) return;
  for (const char* name : {"C.UTF-8", "en_US.UTF-8"})
    if (std::setlocale(LC_CTYPE, name) != nullptr && has_multibyte_letters()) return;
}

unsigned char Terminal::Editor::complete(EditLine* el, int) { return of(el).complete(); }

// Inserts the common prefix of all candidates. If it adds nothing, shows the candidates.
unsigned char Terminal::Editor::complete() {
  const LineInfo* const info = el_line(line);
  const std::string_view before(info->buffer,
                                static_cast<std::size_t>(info->cursor - info->buffer));
  const Completions completions = (*completer)(before);
  const auto& candidates = completions.candidates;
  if (candidates.empty()) return CC_REFRESH_BEEP;
  const std::size_t last_space = before.find_last_of(" \t");
  const std::size_t typed = before.size() - (last_space == before.npos ? 0 : last_space + 1);

  if (completions.is_by_note) {
    if (candidates.size() > 1) return show(completions), CC_REDISPLAY;
    const auto begins_character = [](char c) {
      return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u;
    };
    const std::string_view word = before.substr(before.size() - typed);
    el_deletestr(line, static_cast<int>(std::count_if(word.begin(), word.end(), begins_character)));
    const std::string id = candidates.front().word + ' ';
    return el_insertstr(line, id.c_str()) == 0 ? CC_REFRESH : CC_REFRESH_BEEP;
  }
  std::string common = candidates.front().word;
  for (const auto& [word, note] : candidates) {
    const auto end = std::mismatch(common.begin(), common.end(), word.begin(), word.end());
    common.erase(end.first, common.end());
  }
  if (candidates.size() == 1) common += ' ';
  if (common.size() > typed && !completions.is_cut)
    return el_insertstr(line, common.c_str() + typed) == 0 ? CC_REFRESH : CC_REFRESH_BEEP;
  show(completions);
  return CC_REDISPLAY;
}

// Prints the candidates, in several columns if they fit.
void Terminal::Editor::show(const Completions& completions) {
  std::vector<std::string> texts;
  std::size_t width = 0;
  for (const auto& [word, note] : completions.candidates) {
    texts.push_back(note.empty() ? word : word + " (" + note + ")");
    width = std::max(width, display_width(texts.back()) + 2);
  }
  const std::size_t columns = std::max<std::size_t>(screen_width() / width, 1);
  std::string out = "\n";
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const bool is_last = (i + 1) % columns == 0 || i + 1 == texts.size();
    out += texts[i];
    if (is_last)
      out += '\n';
    else
      out.append(width - display_width(texts[i]), ' ');
  }
  if (completions.is_cut) out += "…\n";
  std::fputs(out.c_str(), stdout);
  std::fflush(stdout);
}

std::size_t Terminal::Editor::capability(const char* name, std::size_t fallback) const {
  char text[] = {name[0], name[1], 0};
  int value = 0;
  el_get(line, EL_GETTC, text, &value, nullptr);
  return value > 0 ? static_cast<std::size_t>(value) : fallback;
}

// libedit's EL_PROMPT_ESC mark. Bytes between two marks take no room on the screen.
static constexpr char invisible = '\1';

// Marks colours in the prompt for libedit. A visible character must be last, because libedit sends
// invisible bytes together with the next character. Otherwise, the colour would extend to the typed
// text.
static std::string mark_colours(std::string prompt) {
  static constexpr std::string_view last_space = " \x1b[0m";
  if (prompt.ends_with(last_space)) {
    prompt.resize(prompt.size() - last_space.size());
    prompt += "\x1b[0m ";
  }
  std::string text;
  for (std::size_t i = 0; i < prompt.size(); ++i) {
    if (prompt[i] != '\x1b') {
      text += prompt[i];
      continue;
    }
    const std::size_t end = std::min(prompt.find('m', i), prompt.size() - 1);
    text += invisible;
    text.append(prompt, i, end - i + 1);
    text += invisible;
    i = end;
  }
  return text;
}

// ---- pages --------------------------------------------------------------------------------------

// A buffer for text to be shown on the screen. Keeps the text until the command ends, or until it
// is longer than the screen. In the latter case, starts the pager.
class Terminal::Page : private std::streambuf {
 public:
  explicit Page(Terminal& terminal) : terminal_(terminal), stream_(this) {
    stream_.exceptions(std::ios::badbit);
  }

  std::ostream& begin(bool has_pager) {
    has_pager_ = has_pager;
    size_ = terminal_.size();
    kept_.clear();
    rows_ = column_ = 0;
    stream_.clear();
    terminal_.out_.flush();
    return stream_;
  }

  void end() noexcept {
    if (pager_.is_open()) {
      pager_.close();
      terminal_.interrupts_.clear();
    }
    if (!terminal_.interrupts_.has_come()) terminal_.out_ << kept_;
    kept_.clear();
    terminal_.out_.flush();
  }

 private:
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    constexpr std::size_t piece = 4096;
    std::string_view rest(text, static_cast<std::size_t>(size));
    while (!rest.empty()) {
      terminal_.check();
      put(rest.substr(0, piece));
      rest.remove_prefix(std::min(rest.size(), piece));
    }
    return size;
  }
  int_type overflow(int_type c) override {
    if (c == traits_type::eof()) return traits_type::not_eof(c);
    const char character = traits_type::to_char_type(c);
    xsputn(&character, 1);
    return c;
  }

  void put(std::string_view text) {
    if (pager_.is_open()) return put_in_pager(text);
    if (!has_pager_) {
      terminal_.out_ << text;
      terminal_.out_.flush();
      return;
    }
    kept_ += text;
    count_rows(text);
    // Leave the last row for the prompt, and the row above it for the answer to the command.
    if (rows_ + 2 > size_.height) open_pager();
  }

  void count_rows(std::string_view text) {
    for (const char c : text) {
      if (c == '\x1b') is_escape_ = true;
      if (is_escape_) {
        is_escape_ = c != 'm';
        continue;
      }
      const bool is_end = c == '\n' || column_ == size_.width;
      rows_ += is_end ? 1 : 0;
      column_ = is_end ? 0 : column_ + 1;
    }
  }

  void open_pager() {
    has_pager_ = pager_.open();
    std::string text;
    text.swap(kept_);
    put(text);
  }

  void put_in_pager(std::string_view text) {
    if (!pager_.write(text)) throw Display_Stopped("");
  }

  Terminal& terminal_;
  std::ostream stream_;
  bool has_pager_ = false;
  Pager pager_;
  Size size_{};
  std::string kept_;
  std::size_t rows_ = 0;
  std::size_t column_ = 0;
  bool is_escape_ = false;
};

std::ostream& Terminal::begin_page(bool has_pager) { return page_->begin(has_pager); }
void Terminal::end_page() { page_->end(); }

// ---- the terminal -------------------------------------------------------------------------------

Terminal::Terminal(std::ostream& out, const char* history, bool has_multiline)
    : out_(out),
      has_multiline_(has_multiline),
      editor_(std::make_unique<Editor>(interrupts_)),
      page_(std::make_unique<Page>(*this)) {
  set_locale();
  editor_->line = el_init("joedb", stdin, stdout, stderr);
  EditLine* const line = editor_->line;
  el_set(line, EL_CLIENTDATA, editor_.get());
  el_set(line, EL_PROMPT_ESC, &Editor::show_prompt, invisible);
  el_set(line, EL_GETCFN, &Editor::read_character);
  el_set(line, EL_EDITOR, "emacs");
  el_set(line, EL_ADDFN, "joedb-complete", "complete a command or a name",
         static_cast<unsigned char (*)(EditLine*, int)>(&Editor::complete));
  el_set(line, EL_BIND, "^I", "joedb-complete", nullptr);
  el_source(line, nullptr);

  editor_->history = history_init();
  ::history(editor_->history, &editor_->event, H_SETSIZE, 1000);
  ::history(editor_->history, &editor_->event, H_SETUNIQUE, 1);
  el_set(line, EL_HIST, ::history, editor_->history);
  if (const char* const home = std::getenv("HOME"); home != nullptr && *home != 0) {
    editor_->history_path = std::string(home) + "/" + history;
    ::history(editor_->history, &editor_->event, H_LOAD, editor_->history_path.c_str());
  }
}

Terminal::~Terminal() {
  if (!editor_->history_path.empty())
    ::history(editor_->history, &editor_->event, H_SAVE, editor_->history_path.c_str());
  history_end(editor_->history);
  el_end(editor_->line);
}

// ---- lines --------------------------------------------------------------------------------------

// Returns the prompt for the next line of a multi-line string. It is as wide as `prompt`.
static std::string continuation_prompt(std::string_view prompt) {
  std::size_t width = 0;
  bool is_escape = false;
  for (const char c : prompt) {
    if (c == '\x1b') is_escape = true;
    if (!is_escape) ++width;
    if (c == 'm') is_escape = false;
  }
  return std::string(std::max<std::size_t>(width, 3) - 3, ' ') + "\"> ";
}

Terminal::Got Terminal::edit_line(const std::string& prompt, std::string& line) {
  editor_->prompt = mark_colours(prompt);
  el_resize(editor_->line);
  interrupts_.clear();
  editor_->has_lost_letters = false;
  int size = 0;
  const char* const text = el_gets(editor_->line, &size);
  if (text == nullptr && interrupts_.has_come()) {
    std::fputs("^C\n", stdout);
    el_reset(editor_->line);
    return Got::interrupt;
  }
  if (text == nullptr || size <= 0) return Got::end;
  if (editor_->has_lost_letters) {
    std::fputs(
        "the line is not taken: it has bytes that are no letters in the locale of this terminal; "
        "LC_ALL=C.UTF-8 knows all\n",
        stdout);
    return Got::interrupt;
  }
  line.assign(text, static_cast<std::size_t>(size));
  if (line.ends_with('\n')) line.pop_back();
  return Got::line;
}

// If control-C is typed, discards the line being typed, and the earlier lines of the same input.
std::optional<std::string_view> Terminal::read_line(const std::string& prompt,
                                                    const Completer& completer) {
  out_.flush();
  const Completer complete = [&](std::string_view line) {
    return completer(text_ + std::string(line));
  };
  editor_->completer = &complete;
  text_.clear();
  std::string line;
  while (true) {
    const bool is_continuation = !text_.empty();
    const Got got = edit_line(is_continuation ? continuation_prompt(prompt) : prompt, line);
    if (got == Got::line) {
      text_ += line;
      if (!has_multiline_ || text_.size() >= max_line_size ||
          !split_typed_line(text_).has_open_string)
        break;
      text_ += '\n';
      continue;
    }
    text_.clear();
    if (got == Got::interrupt && stops_at_interrupts_) throw Display_Stopped("interrupted");
    if (got == Got::interrupt) continue;
    out_ << '\n';
    if (is_continuation) continue;
    return std::nullopt;
  }
  if (text_.find_first_not_of(" \t\r\n") != text_.npos)
    ::history(editor_->history, &editor_->event, H_ENTER, (text_ + '\n').c_str());
  return text_;
}

// ---- the screen ---------------------------------------------------------------------------------

Screen::Size Terminal::size() const {
  return {editor_->screen_width(), editor_->capability("li", 24)};
}

void Terminal::check() {
  if (interrupts_.has_come()) throw Display_Stopped("stopped");
}

// ---- capabilities -------------------------------------------------------------------------------

bool has_colours(Colour colour) {
  if (colour != Colour::automatic) return colour == Colour::always;
  const char* const no_colour = std::getenv("NO_COLOR");
  return is_interactive() && !is_dumb_terminal() && (no_colour == nullptr || *no_colour == 0);
}

}  // namespace joedb
