#ifndef JOEDB_SRC_TOOLS_FRAME_OUTPUT_H
#define JOEDB_SRC_TOOLS_FRAME_OUTPUT_H

#include <string>

#include "joedb/table/database.h"
#include "tools/frame/parser.h"
#include "tools/frame/source.h"

namespace joedb {

// Throws Exception if the file exists and `force` is not set.
void require_absent(const std::string& name, bool force);

// Throws Exception if `out` and `in` are the same file: writing would destroy the input.
void require_other_file(const std::string& out, const std::string& in);

// Prints on standard error why the snapshot beside the file was not used, unless it serves other
// programs (Snapshot_Report::is_for_others).
void print_snapshot_remark(const Database& database);

// Flushes standard output. Throws Exception if not everything could be written.
void finish_standard_output();

// --force
void add_force_option(Options& options, bool& force);

// --memory, in MB: approximate limit on the database content in memory at a time.
void add_memory_option(Options& options, std::int64_t& memory);

}  // namespace joedb

#endif
