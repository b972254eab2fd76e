#include "joedb/base/log.h"

#include <syslog.h>

#include "kernel/base/plain_text.h"

namespace joedb::inline v1 {

System_Logger::System_Logger(std::string tag) : tag_(std::move(tag)) {
  openlog(tag_.empty() ? nullptr : tag_.c_str(), 0, LOG_USER);
}

System_Logger::~System_Logger() { closelog(); }

void System_Logger::log(std::string_view line) { syslog(LOG_INFO, "%s", plain(line).c_str()); }

}  // namespace joedb::inline v1
