#include "joedb/base/log.h"

#include <cerrno>
#include <ctime>
#include <iostream>

#include "joedb/base/error.h"
#include "kernel/base/plain_text.h"
#include "kernel/base/standard_descriptors.h"
#include "kernel/base/time.h"

namespace joedb::inline v1 {

void Stream_Logger::log(std::string_view line) {
  out_ << time_text(std::time(nullptr)) << ' ';
  if (!tag_.empty()) out_ << tag_ << ": ";
  out_ << plain(line) << std::endl;
}

CLog_Logger::CLog_Logger(std::string tag) : Stream_Logger(std::clog, std::move(tag)) {}

File_Logger::File_Logger(const std::string& file_name, std::string tag)
    : logger_(out_, std::move(tag)) {
  reserve_standard_descriptors();
  out_.open(file_name, std::ios::app);
  if (!out_) throw_io_error("opening", file_name, -1, errno);
}

}  // namespace joedb::inline v1
