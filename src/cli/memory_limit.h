#ifndef JOEDB_CLI_MEMORY_LIMIT_H
#define JOEDB_CLI_MEMORY_LIMIT_H

#include <cstdint>
#include <optional>

#include "cli/parser.h"
#include "joedb/journal/readonly_journal.h"
#include "joedb/table/database.h"

namespace joedb {

// The option --memory of tools that move tables to a temporary file when they need more.
class Memory_Limit {
 public:
  void add_to(Options& options);
  // 0: no limit.
  std::size_t bytes() const { return static_cast<std::size_t>(megabytes_.value_or(0)) << 20; }
  // Between two replays of the journal into the database, which is limited to it.
  void keep(Database& database, const Readonly_Journal& journal);

 private:
  std::optional<std::int64_t> megabytes_;
  Offset spilled_ = 0;  // the position when memory was given back
};

}  // namespace joedb

#endif
