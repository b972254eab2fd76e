#include "tools/frame/pager.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>

#include "text/display.h"
#include "tools/frame/output.h"

namespace joedb {

static const char* pager_command() {
  const char* const pager = std::getenv("PAGER");
  return pager != nullptr && *pager != 0 ? pager : "less";
}

bool is_dumb_terminal() {
  const char* const term = std::getenv("TERM");
  return term == nullptr || *term == 0 || std::string_view(term) == "dumb";
}

bool is_program(const std::string& name) {
  if (name.find('/') != name.npos) return ::access(name.c_str(), X_OK) == 0;
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access((folder + '/' + name).c_str(), X_OK) == 0) return true;
  return false;
}

// Without this check, all output would be lost if the pager cannot be started.
bool has_pager_program() {
  std::istringstream words(pager_command());
  std::string program;
  return !is_dumb_terminal() && words >> program && is_program(program);
}

// ---- the program --------------------------------------------------------------------------------

bool Pager::open() {
  setenv("LESS", "FRSX", 0);
  return open(pager_command());
}

bool Pager::open(const char* command) {
  std::fflush(stdout);
  process_ = popen(command, "w");
  return is_open();
}

// Ignores SIGPIPE, because a pager that the user has quit closes the pipe, which must not end this
// program.
bool Pager::write(std::string_view text) {
  const auto old = std::signal(SIGPIPE, SIG_IGN);
  const bool is_written = std::fwrite(text.data(), 1, text.size(), process_) == text.size() &&
                          std::fflush(process_) == 0;
  std::signal(SIGPIPE, old);
  return is_written;
}

void Pager::close() noexcept {
  if (process_ != nullptr) pclose(process_);
  process_ = nullptr;
}

// ---- a stream -----------------------------------------------------------------------------------

Paged_Output::Paged_Output(bool may_page) : may_page_(may_page), stream_(this) {
  stream_.exceptions(std::ios::badbit);
}

std::streamsize Paged_Output::xsputn(const char* text, std::streamsize size) {
  if (!is_open_) {
    is_open_ = true;
    if (may_page_ && pager_.open()) interrupts_ = std::make_unique<Interrupts>();
  }
  const std::string_view all(text, static_cast<std::size_t>(size));
  if (!pager_.is_open())
    std::cout << all;
  else if (interrupts_->has_come() || !pager_.write(all))
    throw Display_Stopped("");
  return size;
}

Paged_Output::int_type Paged_Output::overflow(int_type c) {
  if (c == traits_type::eof()) return traits_type::not_eof(c);
  const char character = traits_type::to_char_type(c);
  xsputn(&character, 1);
  return c;
}

int Paged_Output::sync() {
  if (!pager_.is_open()) std::cout.flush();
  return 0;
}

void Paged_Output::close() noexcept {
  pager_.close();
  interrupts_.reset();
}

void Paged_Output::finish() {
  close();
  finish_standard_output();
}

}  // namespace joedb
