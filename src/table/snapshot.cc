#include "joedb/table/snapshot.h"

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "snapshot/snapshot_file.h"

namespace joedb::inline v1 {

static constexpr const char* suffix = ".snapshot";
// While it is being written.
static constexpr const char* unfinished = ".snapshot.tmp";

std::string snapshot_suffix(Offset position) {
  return position == 0 ? suffix : suffix + ("-" + std::to_string(position));
}

std::vector<Offset> kept_snapshots(const Abstract_File& journal) {
  std::vector<Offset> positions;
  for (const std::string& name : journal.list_beside(snapshot_suffix() + "-")) {
    const char* const end = name.data() + name.size();
    Offset position = 0;
    const auto read = std::from_chars(name.data() + snapshot_suffix().size() + 1, end, position);
    if (read.ec == std::errc() && read.ptr == end) positions.push_back(position);
  }
  std::sort(positions.begin(), positions.end());
  return positions;
}

// Null if there is no such file.
static std::unique_ptr<Abstract_File> open_snapshot(const Abstract_File& journal, Offset position) {
  try {
    auto file = journal.open_beside(snapshot_suffix(position), Open_Mode::read_existing);
    return file && file->get_size() > 0 ? std::move(file) : nullptr;
  } catch (const Io_Error& error) {
    if (error.code == ENOENT) return nullptr;
    throw;
  }
}

// The database, made anew, from one snapshot; what keeps it from being used is thrown. Nothing if
// there is no such file, or it is of a later state.
static std::optional<Replay_Place> restore_one(Database& database, const Abstract_File& journal,
                                               Offset position, Offset limit) {
  auto file = open_snapshot(journal, position);
  if (!file) return {};
  const Snapshot_File snapshot(std::move(file));
  const Replay_Place place = snapshot.place();
  if (!snapshot.fits(journal)) throw Corruption_Error("it belongs to another journal", 0);
  if (place.position > limit) return {};
  Database restored = database.make_new();
  restored.restore(snapshot);
  Snapshot_Report report;
  report.position = place.position;
  const auto is_index = [](const auto& group) { return group.name.starts_with("index "); };
  report.has_other_indexes =
      std::count_if(snapshot.groups().begin(), snapshot.groups().end(), is_index) >
      static_cast<std::ptrdiff_t>(restored.indexes().size());
  restored.set_snapshot_report(report);
  database = std::move(restored);
  return place;
}

std::optional<Replay_Place> restore_snapshot(Database& database, const Abstract_File& journal,
                                             Offset limit) {
  Snapshot_Report report;
  std::optional<Replay_Place> place;
  const auto attempt = [&](const std::string& end_of_name, auto f) {
    const auto fail = [&](const std::string& what) {
      if (!report.remark.empty()) report.remark += "; ";
      report.remark += journal.get_name() + end_of_name + " is not used: " + what;
    };
    try {
      f();
    } catch (const Corruption_Error& error) {
      fail(error.reason());
    } catch (const Io_Error& error) {
      fail(error.what());
    } catch (const std::bad_alloc&) {
      fail("not enough memory");
    }
  };
  const auto attempt_at = [&](Offset position) {
    attempt(snapshot_suffix(position),
            [&] { place = restore_one(database, journal, position, limit); });
  };
  attempt_at(0);
  // What is shorter is replayed faster than a directory is listed.
  constexpr Offset worth_listing = 1 << 16;
  if (!place && limit >= worth_listing) {
    std::vector<Offset> kept;
    try {
      kept = kept_snapshots(journal);
    } catch (const Io_Error&) {  // a directory that cannot be read
    }
    while (!place && !kept.empty()) {
      if (kept.back() <= limit) attempt_at(kept.back());
      kept.pop_back();
    }
  }
  report.position = database.snapshot_report().position;
  report.has_other_indexes = database.snapshot_report().has_other_indexes;
  database.set_snapshot_report(std::move(report));
  return place;
}

void map_snapshot(Database& database, const Abstract_File& journal, Offset position, bool is_kept) {
  auto file = open_snapshot(journal, is_kept ? position : 0);
  if (!file) return;
  const Snapshot_File snapshot(std::move(file));
  if (snapshot.place().position == position && snapshot.fits(journal)) database.restore(snapshot);
}

std::vector<Index_Definition> indexes_of_snapshot(const Abstract_File& journal) {
  std::vector<Index_Definition> indexes;
  auto file = open_snapshot(journal, 0);
  if (!file) return indexes;
  const Snapshot_File snapshot(std::move(file));
  for (const Snapshot_File::Group& group : snapshot.groups())
    if (group.name.starts_with("index "))
      indexes.push_back(Database::read_definition(*snapshot.open(group.name)));
  return indexes;
}

bool write_snapshot(const Database& database, const Abstract_File& journal,
                    const Replay_Place& place, bool is_kept) {
  database.require_intact();
  std::unique_ptr<Abstract_File> file;
  try {
    file = journal.open_beside(unfinished, Open_Mode::write_existing_or_create_new);
  } catch (const Io_Error& error) {
    if (error.code == EAGAIN) return false;  // another process has it
    throw;
  }
  if (!file) return false;
  try {
    file->truncate(0);  // what a killed process has left
    Snapshot_Writer out(*file);
    database.save(out);
    out.finish(place, sample_journal(journal, place.position));
    file->sync();
    database.require_intact();
  } catch (...) {
    try {
      journal.remove_beside(unfinished);
    } catch (const Io_Error&) {  // the first error counts
    }
    throw;
  }
  journal.rename_beside(unfinished, snapshot_suffix(is_kept ? place.position : 0));
  return true;
}

std::vector<std::string> remove_snapshots(const Abstract_File& journal) {
  std::vector<std::string> removed;
  for (const Offset position : kept_snapshots(journal))
    removed.push_back(snapshot_suffix(position));
  for (const std::string& name : journal.list_beside(suffix))
    if (name == suffix || name == unfinished) removed.push_back(name);
  for (auto name = removed.begin(); name != removed.end();) {
    std::unique_ptr<Abstract_File> lock;
    try {
      if (*name == unfinished) lock = journal.open_beside(unfinished, Open_Mode::write_existing);
      journal.remove_beside(*name++);
    } catch (const Io_Error& error) {
      if (error.code != EAGAIN && error.code != ENOENT) throw;
      name = removed.erase(name);
    }
  }
  return removed;
}

}  // namespace joedb::inline v1
