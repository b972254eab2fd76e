#ifndef CLI_DATABASE_OPTIONS_H
#define CLI_DATABASE_OPTIONS_H

#include <string>
#include <vector>

#include "cli/arguments.h"
#include "joedb/journal/moment.h"
#include "joedb/table/index.h"

// Options about the content of a database: its indexes, and which state of it.

namespace joedb {

// --options: the indexes of a .joedbc file.
void add_index_option(Options& options, std::string& options_file);
// For the schema that `file` has now. Without an options file: none. Throws
// compiler::Schema_Errors.
std::vector<Index_Definition> read_indexes(const std::string& options_file, Abstract_File& file,
                                           Recovery recovery = Recovery::none);

// --until, --at-time
struct Moment_Options {
  std::int64_t until = 0;  // 0: not given
  std::string time;
  bool is_given() const { return until != 0 || !time.empty(); }
  // Throws Exception if the time cannot be understood, or both are given.
  Moment get() const;
};
void add_moment_options(Options& options, Moment_Options& moment);

}  // namespace joedb

#endif
