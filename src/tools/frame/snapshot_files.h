#ifndef JOEDB_SRC_TOOLS_FRAME_SNAPSHOT_FILES_H
#define JOEDB_SRC_TOOLS_FRAME_SNAPSHOT_FILES_H

#include <memory>
#include <string>
#include <vector>

#include "joedb/io/file.h"
#include "kernel/table/snapshot_file.h"

namespace joedb {

// A snapshot file beside a journal.
struct Snapshot_Beside {
  std::string name;
  Offset size = 0;
  Offset position = 0;
  std::string remark;                             // why it cannot be used; empty if it can
  std::shared_ptr<const Snapshot_File> snapshot;  // null if it cannot be used
};

// Returns the newest snapshot, and then the kept snapshots, oldest first. Throws Io_Error if the
// directory cannot be listed.
std::vector<Snapshot_Beside> snapshots_beside(const Abstract_File& journal);

}  // namespace joedb

#endif
