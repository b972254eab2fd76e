#ifndef JOEDB_SRC_TOOLS_FRAME_OUTPUT_H
#define JOEDB_SRC_TOOLS_FRAME_OUTPUT_H

#include <string>

#include "joedb/table/database.h"
#include "tools/frame/parser.h"
#include "tools/frame/source.h"

namespace joedb {

// Throws Exception if the file exists and `force` is false.
void require_absent(const std::string& name, bool force);

// Throws Exception if `out` and `in` are the same file, because writing would destroy the input.
void require_other_file(const std::string& out, const std::string& in);

// If the snapshot beside the file was not used, prints the reason on standard error, except if the
// snapshot is for other programs (Snapshot_Report::is_for_others).
void print_snapshot_remark(const Database& database);

// Flushes standard output. Throws Exception if some output could not be written.
void finish_standard_output();

// Adds --force.
void add_force_option(Options& options, bool& force);

// Adds --memory, in MB: approximate limit on the content of the database in memory at a time.
void add_memory_option(Options& options, std::int64_t& memory);

}  // namespace joedb

#endif
