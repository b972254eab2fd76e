#include "tools/frame/snapshot_files.h"

#include <cerrno>

#include "joedb/table/load.h"

namespace joedb {

std::vector<Snapshot_Beside> snapshots_beside(const Abstract_File& journal) {
  std::vector<std::string> suffixes = {snapshot_suffix()};
  for (const Offset position : kept_snapshots(journal))
    suffixes.push_back(snapshot_suffix(position));
  std::vector<Snapshot_Beside> result;
  for (const std::string& suffix : suffixes) {
    Snapshot_Beside found;
    found.name = journal.get_name() + suffix;
    try {
      auto file = journal.beside()->open(suffix, Open_Mode::read_existing);
      if (!file) continue;
      found.size = file->get_size();
      auto snapshot = std::make_shared<const Snapshot_File>(std::move(file));
      found.position = snapshot->place().position;
      if (snapshot->fits(journal))
        found.snapshot = std::move(snapshot);
      else
        found.remark = "it belongs to another journal";
    } catch (const Corruption_Error& error) {
      found.remark = error.reason();
    } catch (const Io_Error& error) {
      if (error.code == ENOENT) continue;
      found.remark = error.what();
    }
    result.push_back(std::move(found));
  }
  return result;
}

}  // namespace joedb
