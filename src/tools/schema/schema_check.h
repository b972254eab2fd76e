#ifndef JOEDB_SRC_TOOLS_SCHEMA_SCHEMA_CHECK_H
#define JOEDB_SRC_TOOLS_SCHEMA_SCHEMA_CHECK_H

#include <functional>
#include <optional>
#include <string>
#include <vector>

// Finds all errors in a schema, for joedbc --check and for editors.

namespace joedb {

struct Finding {
  std::string file;
  int line = 1;
  int column = 1;  // in characters, counted from 1
  bool is_warning = false;
  std::string text;
};

// Returns the content of a file; nullopt if the file does not exist. May throw.
using Read_File = std::function<std::optional<std::string>(const std::string& path)>;
// Reads a file from the disk. Throws Io_Error if the file exists but cannot be opened.
std::optional<std::string> read_from_disk(const std::string& path);

// Returns BASE if `path` is BASE.joedbi, BASE.joedbc, a file in BASE.rpc, or BASE.
std::string base_of_schema(const std::string& path);

// Checks BASE.joedbi, BASE.joedbc, and the files in BASE.rpc. Returns the findings file by file, in
// the order of lines. Writes nothing. Throws Io_Error if BASE.joedbi does not exist, or if a file
// cannot be read.
//
// All lines are checked. Checks that involve several files are made only if each of these files is
// correct by itself.
std::vector<Finding> check_schema(const std::string& base, const Read_File& read = read_from_disk);

}  // namespace joedb

#endif
