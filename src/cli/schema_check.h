#ifndef JOEDB_CLI_SCHEMA_CHECK_H
#define JOEDB_CLI_SCHEMA_CHECK_H

#include <functional>
#include <optional>
#include <string>
#include <vector>

// All that is wrong with a schema: for joedbc --check, and for editors.

namespace joedb {

struct Finding {
  std::string file;
  int line = 1;
  int column = 1;  // in characters
  bool is_warning = false;
  std::string text;
};

// Gives the content of a file, or nothing if there is no such file. May throw.
using Read_File = std::function<std::optional<std::string>(const std::string& path)>;
// From the disk.
std::optional<std::string> read_from_disk(const std::string& path);

// BASE for BASE.joedbi, BASE.joedbc, a file of BASE.rpc, or BASE.
std::string base_of_schema(const std::string& path);

// What is wrong with BASE.joedbi, BASE.joedbc, and what is in BASE.rpc; file by file, from line to
// line. Nothing is written. Throws Io_Error if there is no BASE.joedbi, or a file cannot be read.
//
// All lines are checked. What the lines of one file mean for those of another is only checked if
// each is right by itself.
std::vector<Finding> check_schema(const std::string& base, const Read_File& read = read_from_disk);

}  // namespace joedb

#endif
