#include "joedb/table/load.h"

#include <algorithm>
#include <cerrno>

#include "kernel/base/parse_number.h"
#include "kernel/table/snapshot_file.h"
#include "kernel/table/snapshot_source.h"

namespace joedb::inline v1 {

static constexpr const char* suffix = ".snapshot";
// The suffix of a snapshot that is being written.
static constexpr const char* unfinished = ".snapshot.tmp";

std::string snapshot_suffix(Offset position) {
  return position == 0 ? suffix : suffix + ("-" + std::to_string(position));
}

std::vector<Offset> kept_snapshots(const Abstract_File& journal) {
  std::vector<Offset> positions;
  const std::string prefix = snapshot_suffix() + "-";
  for (const std::string& name : journal.beside()->list()) {
    if (!name.starts_with(prefix)) continue;
    const std::string_view number = std::string_view(name).substr(prefix.size());
    if (const auto position = parse_number<Offset>(number)) positions.push_back(*position);
  }
  std::sort(positions.begin(), positions.end());
  return positions;
}

// Returns null if there is no such file.
static std::unique_ptr<Abstract_File> open_snapshot(const Abstract_File& journal, Offset position) {
  try {
    auto file = journal.beside()->open(snapshot_suffix(position), Open_Mode::read_existing);
    return file && file->get_size() > 0 ? std::move(file) : nullptr;
  } catch (const Io_Error& error) {
    if (error.code == ENOENT || error.code == ENAMETOOLONG) return nullptr;
    throw;
  }
}

static bool is_index(const Snapshot_File::Group& group) { return group.name.starts_with("index "); }

// Replaces `database` by a new database with the content of one snapshot. Returns false if the
// snapshot does not exist, or if it is beyond `limit`. Throws if the snapshot cannot be used.
static bool restore_one(Database& database, const Abstract_File& journal, Offset position,
                        Offset limit, Trust trust, bool& is_other_journal, Snapshot_Report& report,
                        Replay_Place& place) {
  auto file = open_snapshot(journal, position);
  if (!file) return false;
  auto opened = std::make_shared<const Snapshot_File>(std::move(file));
  const Snapshot_File& snapshot = *opened;
  // If the newest snapshot belongs to another journal, equal samples do not prove that an older
  // snapshot belongs to this journal.
  if (!snapshot.fits(journal) || (is_other_journal && !snapshot.fits_wholly(journal))) {
    is_other_journal = true;
    throw Corruption_Error("it belongs to another journal", 0);
  }
  if (snapshot.place().position > limit) return false;
  if (trust == Trust::verified || snapshot.size_of_sections() <= verified_at_opening)
    snapshot.verify();
  Database restored = database.make_new();
  const bool is_newest = position == 0;
  // A tool with the option --classic must not replace a snapshot that other programs can use,
  // because they could not use the new snapshot.
  const bool is_classic = restored.deleted_values() == Deleted_Values::keep;
  if (is_newest) report.is_for_others = is_classic && !restored.suits(snapshot);
  restored.restore(std::move(opened));
  if (is_newest)
    report.is_for_others =
        std::count_if(snapshot.groups().begin(), snapshot.groups().end(), is_index) >
        static_cast<std::ptrdiff_t>(restored.added_indexes().size());
  place = snapshot.place();
  report.position = place.position;
  database = std::move(restored);
  return true;
}

std::optional<Replay_Place> restore_snapshot(Database& database, const Abstract_File& journal,
                                             Offset limit, Trust trust) {
  Snapshot_Report report;
  Replay_Place place;
  bool is_restored = false, is_other_journal = false;
  const auto attempt = [&](Offset position) {
    const auto fail = [&](const std::string& what) {
      if (!report.remark.empty()) report.remark += "; ";
      report.remark += journal.get_name() + snapshot_suffix(position) + " is not used: " + what;
    };
    try {
      is_restored =
          restore_one(database, journal, position, limit, trust, is_other_journal, report, place);
    } catch (const Corruption_Error& error) {
      fail(error.reason());
    } catch (const Io_Error& error) {
      fail(error.what());
    } catch (const std::bad_alloc&) {
      fail("not enough memory");
    }
  };
  attempt(0);
  // To replay a shorter journal takes less time than to list a directory.
  constexpr Offset min_listed_size = 1 << 16;
  if (!is_restored && limit >= min_listed_size) {
    std::vector<Offset> kept;
    try {
      kept = kept_snapshots(journal);
    } catch (const Io_Error&) {  // the directory cannot be read
    }
    for (; !is_restored && !kept.empty(); kept.pop_back())
      if (kept.back() <= limit) attempt(kept.back());
  }
  database.set_snapshot_report(std::move(report));
  // is_restored and place are not one std::optional, because gcc 12 -O3 then miscompiles its empty
  // state if an exception was caught.
  if (!is_restored) return std::nullopt;
  return place;
}

void map_snapshot(Database& database, const Abstract_File& journal, Offset position, bool is_kept) {
  auto file = open_snapshot(journal, is_kept ? position : 0);
  if (!file) return;
  auto snapshot = std::make_shared<const Snapshot_File>(std::move(file));
  if (snapshot->place().position == position && snapshot->fits(journal))
    database.restore(std::move(snapshot));
}

std::vector<Index_Definition> snapshot_indexes(const Abstract_File& journal) {
  auto file = open_snapshot(journal, 0);
  return file ? snapshot_form(Snapshot_File(std::move(file))).indexes
              : std::vector<Index_Definition>();
}

Snapshot_Form snapshot_form(const Snapshot_File& snapshot) {
  Snapshot_Form form;
  form.deleted_values = Database::read_deleted_values(snapshot);
  for (const Snapshot_File::Group& group : snapshot.groups())
    if (is_index(group))
      form.indexes.push_back(Database::read_definition(*snapshot.open(group.name)));
  return form;
}

// Creates a new file. Never opens an existing file, because it may be a link to another file; but
// removes a file that a killed process has left. Returns null if another process is writing a
// snapshot, or if a snapshot cannot be stored beside this kind of file.
static std::unique_ptr<Abstract_File> create_unfinished(const Abstract_File& journal) {
  const auto create = [&] { return journal.beside()->open(unfinished, Open_Mode::create_new); };
  try {
    return create();
  } catch (const Io_Error& error) {
    // Another process has locked the new file, because it takes the file for a leftover.
    if (error.code == EAGAIN) return nullptr;
    if (error.code != EEXIST) throw;
  }
  std::unique_ptr<Abstract_File> left;  // its lock prevents others from removing it
  try {
    left = journal.beside()->open(unfinished, Open_Mode::write_existing);
  } catch (const Io_Error& error) {
    if (error.code == EAGAIN) return nullptr;
    if (error.code == EACCES || error.code == EPERM) throw;  // another user may be writing it
  }
  journal.beside()->remove_durably(unfinished);
  try {
    return create();
  } catch (const Io_Error& error) {
    if (error.code == EEXIST || error.code == EAGAIN) return nullptr;
    throw;
  }
}

// Returns the marks of the journal. If the content came from a snapshot, it is the result of the
// bytes from which this snapshot was made and the bytes after them. So hashing continues from the
// hash in this snapshot.
static Journal_Marks marks_of(const Database& database, const Abstract_File& journal,
                              Offset position) {
  Journal_Marks marks;
  marks.sample = sample_journal(journal, position);
  if (const auto& source = database.snapshot_source())
    marks.hash = hash_journal(journal, position, source->file().marks().hash,
                              source->file().place().position);
  else
    marks.hash = hash_journal(journal, position);
  marks.identity = identity_of(journal).value_or(File_Identity());
  return marks;
}

bool write_snapshot(const Database& database, const Abstract_File& journal,
                    const Replay_Place& place, bool is_kept) {
  database.require_intact();
  const std::unique_ptr<Abstract_File> file = create_unfinished(journal);
  if (!file) return false;
  try {
    // Otherwise the hashes of the new snapshot would hide a flipped bit of the old snapshot.
    if (const auto& source = database.snapshot_source()) source->verify();
    Snapshot_Writer out(*file);
    database.save(out);
    out.finish(place, marks_of(database, journal, place.position));
    file->sync();
    // Checks again, because save() may have read zeros: the file from which tables are mapped may
    // have been truncated since the first check.
    database.require_intact();
    journal.beside()->rename(unfinished, snapshot_suffix(is_kept ? place.position : 0));
  } catch (...) {
    try {
      journal.beside()->remove_durably(unfinished);
    } catch (const Io_Error&) {  // the first error is thrown
    }
    throw;
  }
  return true;
}

// Returns true if the file was removed.
static bool remove_snapshot(const Abstract_File& journal, const std::string& name) {
  std::unique_ptr<Abstract_File> lock;
  try {
    if (name == unfinished) lock = journal.beside()->open(unfinished, Open_Mode::write_existing);
  } catch (const Io_Error& error) {
    if (error.code == EAGAIN) return false;  // another process is writing it
    // Any other error means that the file is a dangling link, or not a regular file, and can be
    // removed.
  }
  journal.beside()->remove_durably(name);
  return true;
}

std::vector<std::string> remove_snapshots(const Abstract_File& journal) {
  std::vector<std::string> names;
  for (const Offset position : kept_snapshots(journal)) names.push_back(snapshot_suffix(position));
  for (const std::string& name : journal.beside()->list())
    if (name == suffix || name == unfinished) names.push_back(name);
  std::vector<std::string> removed;
  for (const std::string& name : names)
    if (remove_snapshot(journal, name)) removed.push_back(name);
  return removed;
}

}  // namespace joedb::inline v1
