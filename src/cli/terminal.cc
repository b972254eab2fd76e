#include "cli/terminal.h"

#include <histedit.h>
#include <signal.h>

#include <algorithm>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace joedb {

struct Terminal::Editor {
  EditLine* line = nullptr;
  History* history = nullptr;
  HistEvent event{};
  std::string history_path;
  std::string prompt;
  const Completer* completer = nullptr;

  static Editor& of(EditLine* el) {
    void* data = nullptr;
    el_get(el, EL_CLIENTDATA, &data);
    return *static_cast<Editor*>(data);
  }
  static char* show_prompt(EditLine* el) { return of(el).prompt.data(); }
  static unsigned char complete(EditLine* el, int);
  unsigned char complete();
};

unsigned char Terminal::Editor::complete(EditLine* el, int) { return of(el).complete(); }

// Inserts what all candidates have in common; shows them if that is nothing.
unsigned char Terminal::Editor::complete() {
  const LineInfo* const info = el_line(line);
  const std::string_view before(info->buffer,
                                static_cast<std::size_t>(info->cursor - info->buffer));
  const std::vector<std::string> candidates = (*completer)(before);
  if (candidates.empty()) return CC_REFRESH_BEEP;
  const std::size_t last_space = before.find_last_of(" \t");
  const std::size_t typed = before.size() - (last_space == before.npos ? 0 : last_space + 1);

  std::string common = candidates.front();
  for (const std::string& candidate : candidates) {
    const auto end =
        std::mismatch(common.begin(), common.end(), candidate.begin(), candidate.end());
    common.erase(end.first, common.end());
  }
  if (candidates.size() == 1) common += ' ';
  if (common.size() > typed)
    return el_insertstr(line, common.c_str() + typed) == 0 ? CC_REFRESH : CC_REFRESH_BEEP;
  std::fputc('\n', stdout);
  for (const std::string& candidate : candidates) std::printf("%s  ", candidate.c_str());
  std::fputc('\n', stdout);
  return CC_REDISPLAY;
}

// The bytes between two of these take no room on the screen.
static constexpr char invisible = '\1';

// libedit sends invisible bytes together with the character that follows them: the last one must
// be a visible one, else the colour would go on in what is typed.
static std::string with_marked_colours(std::string prompt) {
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

Terminal::Terminal(std::ostream& out, const char* history)
    : out_(out), editor_(std::make_unique<Editor>()) {
  std::setlocale(LC_CTYPE, "");  // so that libedit takes UTF-8 for what it is
  editor_->line = el_init("joedb", stdin, stdout, stderr);
  EditLine* const line = editor_->line;
  el_set(line, EL_CLIENTDATA, editor_.get());
  el_set(line, EL_PROMPT_ESC, &Editor::show_prompt, invisible);
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

namespace {

volatile std::sig_atomic_t is_interrupted = 0;

// While one lives, control-C interrupts the system call that waits for input instead of ending the
// program.
class Interruption {
 public:
  Interruption() {
    struct sigaction action {};
    action.sa_handler = [](int) { is_interrupted = 1; };
    sigaction(SIGINT, &action, &old_);
  }
  ~Interruption() { sigaction(SIGINT, &old_, nullptr); }
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  // Since this was asked last.
  bool has_come() const {
    const bool result = is_interrupted != 0;
    is_interrupted = 0;
    return result;
  }

 private:
  struct sigaction old_;
};

}  // namespace

// Control-C gives up the line that is being typed.
std::optional<std::string_view> Terminal::read_line(const std::string& prompt,
                                                    const Completer& completer) {
  out_.flush();
  editor_->prompt = with_marked_colours(prompt);
  editor_->completer = &completer;
  el_resize(editor_->line);
  int size = 0;
  const char* text = nullptr;
  {
    const Interruption interruption;
    while ((text = el_gets(editor_->line, &size)) == nullptr && interruption.has_come()) {
      std::fputs("^C\n", stdout);
      el_reset(editor_->line);
    }
  }
  if (text == nullptr || size <= 0) {
    out_ << '\n';
    return std::nullopt;
  }
  std::string_view line(text, static_cast<std::size_t>(size));
  if (line.find_first_not_of(" \t\r\n") != line.npos)
    ::history(editor_->history, &editor_->event, H_ENTER, text);
  if (line.ends_with('\n')) line.remove_suffix(1);
  return line;
}

}  // namespace joedb
