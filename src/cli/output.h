#ifndef JOEDB_CLI_OUTPUT_H
#define JOEDB_CLI_OUTPUT_H

#include <filesystem>
#include <string>
#include <system_error>

#include "joedb/base/log.h"
#include "joedb/io/posix_file.h"
#include "joedb/journal/writable_journal.h"

namespace joedb {

// Throws if standard output could not take everything that was printed.
void finish_standard_output();

// Makes a file that does not exist yet, and calls fill(file). If anything fails, there is no file
// again.
template <class Fill>
void fill_new_file(const std::string& name, Fill&& fill) {
  File file(name, Open_Mode::create_new);
  try {
    fill(file);
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove(name, ignored);
    throw;
  }
}

// The same for a journal, to which fill(journal) appends; then writes a soft checkpoint.
template <class Fill>
void write_new_file(const std::string& name, Fill&& fill) {
  fill_new_file(name, [&](File& file) {
    Writable_Journal journal(file);
    try {
      fill(journal);
      journal.soft_checkpoint();
    } catch (...) {
      // The file will be removed, so that nobody needs the warnings about its tail.
      Destructor_Logger::remove_logger();
      throw;
    }
  });
}

}  // namespace joedb

#endif
