#include "joedb/base/log.h"

#include <cstdio>
#include <ctime>
#include <string>

#include "kernel/base/json_text.h"
#include "kernel/base/plain_text.h"
#include "kernel/base/time.h"

namespace joedb::inline v1 {

namespace {

class Standard_Error_Logger : public Logger {
 public:
  void log(std::string_view line) override {
    std::fprintf(stderr, "%s joedb destructor warning: %s\n", time_text(std::time(nullptr)).c_str(),
                 plain(line).c_str());
  }
};

class Plain_Logger : public Logger {
 public:
  void log(std::string_view line) override {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
  }
};

class Null_Logger : public Logger {
 public:
  void log(std::string_view) override {}
};

Standard_Error_Logger standard_error_logger;
Null_Logger null_logger;
Logger* destructor_logger = &standard_error_logger;
Plain_Logger plain_logger;
Logger* recovery_logger = &plain_logger;

void log_to(Logger* logger, std::string_view text) noexcept {
  try {
    if (logger != nullptr) logger->log(text);
  } catch (...) {  // this error cannot be reported anywhere
  }
}

}  // namespace

void Logger::event(std::string_view event, std::span<const Log_Field> fields) {
  std::string line(event);
  for (const Log_Field& field : fields) {
    line.append(" ").append(field.name) += '=';
    if (const auto* const number = std::get_if<std::int64_t>(&field.value))
      line += std::to_string(*number);
    else  // quoted, because an untrusted text could otherwise forge lines of the log
      append_json_string(line, std::get<std::string_view>(field.value));
  }
  log(plain(line));
}

Logger& Logger::none() { return null_logger; }

void Destructor_Logger::set_logger(Logger* logger) noexcept { destructor_logger = logger; }

void Destructor_Logger::remove_logger() noexcept { destructor_logger = nullptr; }

void Destructor_Logger::warning(std::string_view text) noexcept { log_to(destructor_logger, text); }

void Recovery_Logger::set_logger(Logger* logger) noexcept { recovery_logger = logger; }

void Recovery_Logger::remove_logger() noexcept { recovery_logger = nullptr; }

void Recovery_Logger::note(std::string_view text) noexcept { log_to(recovery_logger, text); }

}  // namespace joedb::inline v1
