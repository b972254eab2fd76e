#ifndef JOEDB_CLI_SNAPSHOT_FILES_H
#define JOEDB_CLI_SNAPSHOT_FILES_H

#include <memory>
#include <string>
#include <vector>

#include "joedb/io/file.h"
#include "snapshot/snapshot_file.h"

namespace joedb {

// A snapshot beside a journal.
struct Snapshot_Beside {
  std::string name;
  Offset size = 0;
  Offset position = 0;
  std::string remark;                             // why it is not used; empty if it can be
  std::shared_ptr<const Snapshot_File> snapshot;  // null unless it can be used
};

// The newest, and those that are kept from the oldest on. Throws Io_Error if they cannot be listed.
std::vector<Snapshot_Beside> snapshots_beside(const Abstract_File& journal);

}  // namespace joedb

#endif
