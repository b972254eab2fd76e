#ifndef JOEDB_SRC_TOOLS_FRAME_MEMORY_LIMIT_H
#define JOEDB_SRC_TOOLS_FRAME_MEMORY_LIMIT_H

#include <cstdint>
#include <optional>

#include "joedb/journal/readonly_journal.h"
#include "joedb/table/database.h"
#include "tools/frame/parser.h"

namespace joedb {

// The option --memory of tools that move tables to a temporary file when memory is short.
class Memory_Limit {
 public:
  void add_to(Options& options);
  // Returns the limit in bytes; 0 for no limit.
  std::size_t bytes() const { return static_cast<std::size_t>(megabytes_.value_or(0)) << 20; }
  // Moves the tables to a file if the process exceeds the limit. Call this between two replays of
  // the journal into the database, which must be limited to the journal
  // (Database::limit_to_journal_of).
  void keep(Database& database, const Readonly_Journal& journal);

 private:
  std::optional<std::int64_t> megabytes_;
  Offset spilled_ = 0;  // replay position when tables were last moved
};

}  // namespace joedb

#endif
