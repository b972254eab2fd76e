#include "tools/frame/memory_limit.h"

#include "kernel/io/process.h"

namespace joedb {

void Memory_Limit::add_to(Options& options) {
  options.add(
      "--memory", megabytes_,
      "memory limit in MB; larger tables are moved to a temporary file in $TMPDIR, or /var/tmp",
      {.min = 1, .max = std::int64_t{1} << 30});
}

void Memory_Limit::keep(Database& database, const Readonly_Journal& journal) {
  const Offset position = journal.get_replay_position();
  if (!megabytes_ || !is_memory_above(bytes(), position - spilled_)) return;
  try {
    database.remove_limits();          // first brings the indexes up to date
  } catch (const Unique_Violation&) {  // duplicate keys matter only at the end of the journal
  }
  database.spill();
  database.limit_to_journal_of(journal.get_checkpoint());
  spilled_ = position;
}

}  // namespace joedb
