#include <algorithm>
#include <array>
#include <cstdio>
#include <iostream>
#include <limits>
#include <optional>
#include <set>

#include "joedb/io/posix_file.h"
#include "joedb/table/load.h"
#include "joedb/table/writable_database.h"
#include "kernel/base/counted.h"
#include "kernel/base/shell_word.h"
#include "kernel/io/file_pieces.h"
#include "kernel/journal/integrity.h"
#include "kernel/table/content_difference.h"
#include "kernel/table/declaration.h"
#include "kernel/table/references.h"
#include "tools/frame/arguments.h"
#include "tools/frame/command.h"
#include "tools/frame/file_transaction.h"
#include "tools/frame/json_output.h"
#include "tools/frame/memory_limit.h"
#include "tools/frame/output.h"
#include "tools/frame/progress.h"
#include "tools/frame/snapshot_files.h"

namespace joedb {

namespace {

struct Damage {
  Offset start;
  Offset end;
  std::string reason;
};

// Builds the tables of a journal, and verifies its bytes by its integrity entries.
class Verifier {
 public:
  using Sees_Integrity_Entries = void;

  Verifier(Abstract_File& file, const Memory_Limit& memory)
      : file_(file), journal_(file, Recovery::none, false), reader_(file), memory_(memory) {
    database_.limit_to_journal_of(journal_.get_checkpoint());
  }

  std::optional<Damage> run() {
    try {
      replay_with_progress(journal_, *this, "verifying " + file_.get_name(),
                           journal_.get_checkpoint(), [&] { memory_.keep(database_, journal_); });
    } catch (const Corruption_Error& error) {
      if (damage_) return damage_;
      // The damage may extend up to the intact bytes before the checkpoint.
      return Damage{has_entries() ? covered_ : error.offset, valid_suffix_start(), error.reason()};
    }
    database_.remove_limits();  // brings the declared indexes up to date
    if (auto damage = missing_end()) return damage;
    return open_damage();
  }

  bool has_entries() const { return entries_ > 0; }
  std::int64_t entries() const { return entries_; }
  // Returns the offset up to which integrity entries prove that the bytes are unchanged.
  Offset covered() const { return covered_; }
  const Database& database() const { return database_; }
  const Readonly_Journal& journal() const { return journal_; }
  // Returns the tables of the entries after covered(), as far as these entries could be read.
  const std::set<std::string>& tables() const { return tables_; }

  void operator()(const Integrity_Entry& entry) {
    const Offset end = journal_.get_replay_position();
    ++entries_;
    if (end <= covered_) return;  // a later entry has already covered these bytes
    if (!Integrity_Reader(file_, entry.start).is_good(entry, end - integrity_entry_size))
      damage_ = {entry.start, end, "the bytes are not those that were written"};
    else if (entry.start > covered_)
      damage_ = {covered_, entry.start, "an integrity entry is missing"};
    fail_if_damaged(end);
    covered_ = std::max(covered_, end);
    tables_.clear();
  }

  void operator()(const Blob_Data& entry) {
    const Blob& blob = entry.blob;
    if (blob.get_size() != integrity_payload_size) return;
    if (!resembles_integrity_payload(file_.read_blob(blob))) return;
    const Offset end = journal_.get_replay_position();
    if (end <= covered_) return;
    damage_ = {end - integrity_entry_size, end, "an integrity entry is damaged"};
    fail_if_damaged(end);
  }

  template <class Entry>
  void operator()(const Entry& entry) {
    if constexpr (requires { entry.table; }) note(entry.table);
    database_(entry);
  }

 private:
  // Throws Data_Error if there is damage_. But if a later integrity entry covers the damaged bytes,
  // a writer has accepted them with Recovery::ignore_header, so this does not throw.
  void fail_if_damaged(Offset end) {
    if (!damage_) return;
    read_again_ += journal_.get_checkpoint() - end;  // limits the work for a hostile file
    if (read_again_ > 4 * journal_.get_checkpoint()) throw Data_Error(damage_->reason);
    const auto good = reader_.find_good_end(end, journal_.get_checkpoint(), covered_);
    if (!good) throw Data_Error(damage_->reason);
    covered_ = *good;
    damage_.reset();
  }
  void note(Table_Id id) {
    for (const auto& table : database_.tables())
      if (table && table->id() == id) tables_.insert(table->name());
  }

  // Returns the damage because of which every program refuses the file; nullopt if there is none.
  std::optional<Damage> open_damage() {
    try {
      const Readonly_Journal journal(file_);
      return std::nullopt;
    } catch (const Corruption_Error& error) {
      return Damage{error.offset, journal_.get_checkpoint(), error.reason()};
    }
  }

  // Returns the missing bytes if a soft checkpoint in the header is after the end of the file,
  // because a power cut or a truncation has removed them.
  std::optional<Damage> missing_end() const {
    std::array<char, checkpoint_words_size> bytes;
    file_.read_exactly(bytes.data(), bytes.size(), 0);
    const Offset size = file_.get_size();
    for (const std::int64_t word : decode_checkpoints(bytes))
      if (word < -size && word != std::numeric_limits<std::int64_t>::min())
        return Damage{size, -word, "they are missing; the header has a checkpoint after them"};
    return std::nullopt;
  }

  // Returns the start of the longest sequence of intact bytes that ends at the checkpoint; the
  // checkpoint itself if there is none.
  Offset valid_suffix_start() {
    Offset end = journal_.get_checkpoint();
    while (const auto entry = reader_.entry_before(end)) {
      if (entry->start >= end || !reader_.is_good(*entry, end - integrity_entry_size)) break;
      end = entry->start;
    }
    return end;
  }

  Abstract_File& file_;
  Readonly_Journal journal_;
  Integrity_Reader reader_;
  Memory_Limit memory_;
  Database database_;
  Offset covered_ = journal_start;
  Offset read_again_ = 0;
  std::int64_t entries_ = 0;
  std::set<std::string> tables_;
  std::optional<Damage> damage_;
};

// ---- snapshots ----------------------------------------------------------------------------------

struct Verified_Snapshot {
  std::string name;
  std::string text;
  bool is_damaged = false;  // damaged, but programs might use it
};

// The tables of a journal. It is replayed from its first entry to positions in ascending order.
class Replayed_Tables {
 public:
  Replayed_Tables(Abstract_File& file, const Snapshot_Form& form, const Memory_Limit& memory)
      : journal_(file, Recovery::none, false), database_(form.deleted_values), memory_(memory) {
    for (const Index_Definition& index : form.indexes) database_.add_index(index);
  }

  Offset position() const { return journal_.get_replay_position(); }
  // Precondition: position() <= end.
  const Database& at(Offset end) {
    database_.limit_to_journal_of(journal_.get_checkpoint());
    replay_with_progress(journal_, database_, "replaying " + journal_.get_file().get_name(), end,
                         [&] { memory_.keep(database_, journal_); });
    require_entry_end(journal_, end);
    try {
      database_.remove_limits();
    } catch (const Unique_Violation&) {  // the snapshot's index lacks these records, too
    }
    return database_;
  }

 private:
  Readonly_Journal journal_;
  Database database_;
  Memory_Limit memory_;
};

// Verifies snapshots by their hashes, by the bytes of the journal, and by its tables.
class Snapshot_Verifier {
 public:
  Snapshot_Verifier(Abstract_File& file, Offset checkpoint, bool is_good,
                    const Memory_Limit& memory)
      : file_(file), checkpoint_(checkpoint), is_good_(is_good), memory_(memory) {}

  std::vector<Verified_Snapshot> run() {
    std::vector<Verified_Snapshot> result;
    for (const Snapshot_Beside& beside : snapshots_beside(file_)) result.push_back(verify(beside));
    return result;
  }

 private:
  Verified_Snapshot verify(const Snapshot_Beside& beside) {
    if (!beside.snapshot) return {beside.name, "not used: " + beside.remark};
    if (beside.position > checkpoint_)
      return {beside.name, "not used: it is of position " + std::to_string(beside.position) +
                               ", behind the checkpoint"};
    const auto damaged = [&](const std::string& what) {
      return Verified_Snapshot{
          beside.name,
          "DAMAGED: " + what + ". FILE has everything; joedb_snapshot --remove removes it", true};
    };
    try {
      Progress progress("verifying " + beside.name, 0, beside.size);
      beside.snapshot->verify([&](Offset done, Offset) { progress.update(done); });
      if (!is_good_)
        return {beside.name, "its checksums are good, position " + std::to_string(beside.position) +
                                 "; FILE is damaged, and was not compared"};
      if (!beside.snapshot->fits_wholly(file_)) return damaged("it belongs to another journal");
      if (const std::string text = difference(beside); !text.empty())
        return damaged("it differs from FILE, first in " + text);
      return {beside.name, "good, position " + std::to_string(beside.position)};
    } catch (const Corruption_Error& error) {
      return damaged(error.reason() + ", at " + std::to_string(error.offset));
    } catch (const Io_Error& error) {
      return {beside.name, error.what()};
    }
  }

  std::string difference(const Snapshot_Beside& beside) {
    const Snapshot_Form form = snapshot_form(*beside.snapshot);
    Database restored(form.deleted_values);
    for (const Index_Definition& index : form.indexes) restored.add_index(index);
    restored.restore(beside.snapshot);
    if (!tables_ || !is_same(form, form_) || tables_->position() > beside.position) {
      tables_.emplace(file_, form, memory_);
      form_ = form;
    }
    return content_difference(restored, tables_->at(beside.position));
  }

  static bool is_same(const Snapshot_Form& a, const Snapshot_Form& b) {
    const auto is_equal = [](const Index_Definition& x, const Index_Definition& y) {
      return x.name == y.name && x.table == y.table && x.fields == y.fields &&
             x.is_unique == y.is_unique;
    };
    return a.deleted_values == b.deleted_values &&
           std::equal(a.indexes.begin(), a.indexes.end(), b.indexes.begin(), b.indexes.end(),
                      is_equal);
  }

  Abstract_File& file_;
  const Offset checkpoint_;
  const bool is_good_;
  const Memory_Limit& memory_;
  Snapshot_Form form_;
  // Tables for form_. Kept snapshots are visited in ascending order of position.
  std::optional<Replayed_Tables> tables_;
};

std::string checkpoint_text(const Readonly_Journal& journal) {
  const Offset checkpoint = journal.get_checkpoint();
  return std::to_string(checkpoint) +
         (checkpoint == journal.get_hard_checkpoint() ? ", hard" : ", soft");
}

// The bytes after the checkpoint.
struct Tail {
  Offset size = 0;
  bool is_being_written = false;  // true if a transaction is in progress
  bool blocks_writers() const { return size > 0 && !is_being_written; }
};

Tail find_tail(const Abstract_File& file, Offset checkpoint) {
  // Look for a writer before reading the size. Otherwise, a writer that ends its transaction in
  // between would look as if it had died.
  const auto* const plain = dynamic_cast<const File*>(&file);
  const bool is_being_written = plain != nullptr && plain->is_being_written();
  const Offset size = file.get_size();
  if (size <= checkpoint || is_zero(file, checkpoint, size)) return {};
  return {size - checkpoint, is_being_written};
}

void print_tail(const std::string& name, const Tail& tail) {
  if (tail.size == 0) return;
  std::cout << "behind it:         " << tail.size << " bytes of ";
  if (tail.is_being_written)
    std::cout << "a transaction in progress: another process holds the file\n";
  else
    std::cout << "an unfinished transaction. Writers refuse the file until these\n"
              << "                   are removed. To save and remove them: joedb_recover "
              << shell_word(name) << '\n';
}

// What programs can write that do not know declarations.
std::vector<std::string> unexpected_content(const Database& database) {
  std::vector<std::string> result = invalid_values(database);
  for (std::string& text : violated_indexes(database)) result.push_back(std::move(text));
  return result;
}

void print_unexpected(const Database& database) {
  for (const std::string& text : unexpected_content(database))
    std::cout << "unexpected:        " << text << '\n';
}

void print_good(const std::string& name, const Verifier& verifier, const Tail& tail) {
  const Offset checkpoint = verifier.journal().get_checkpoint();
  std::cout << name << (tail.blocks_writers() ? ": good up to its checkpoint\n" : ": good\n")
            << "checkpoint:        " << checkpoint_text(verifier.journal()) << '\n'
            << "integrity entries: " << verifier.entries() << '\n';
  print_tail(name, tail);
  if (verifier.covered() < checkpoint)
    std::cout << "not covered:       " << verifier.covered() << " to " << checkpoint
              << ": usual after soft checkpoints; changed values would not be noticed there\n";
  print_unexpected(verifier.database());
}

// Returns the last hard checkpoint before the damage, or the end of the last covered bytes if it is
// later.
Offset last_good_checkpoint(const Verifier& verifier, const Damage& damage) {
  const Offset hard = verifier.journal().get_hard_checkpoint();
  return hard <= damage.start ? std::max(verifier.covered(), hard) : verifier.covered();
}

// Returns true if all entries of the damaged file can be read, because only values are wrong.
bool can_be_read(const std::string& name) {
  try {
    const auto file = open_source(name, Source_Options());
    Readonly_Journal journal(*file, Recovery::ignore_header);
    Database database;
    load(database, journal);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

void print_damage(const std::string& name, const Verifier& verifier, const Damage& damage) {
  std::cout << name << ": damaged\n"
            << "checkpoint:           " << checkpoint_text(verifier.journal()) << '\n'
            << "bad bytes:            " << damage.start << " to " << damage.end << ": "
            << damage.reason << '\n'
            << "tables touched:       ";
  const char* separator = "";
  for (const std::string& table : verifier.tables()) {
    std::cout << separator << table;
    separator = ", ";
  }
  if (verifier.tables().empty()) std::cout << "none that could be read";
  const Offset last = last_good_checkpoint(verifier, damage);
  std::cout << "\nlast good checkpoint: " << last << '\n';
  if (last > journal_start)
    std::cout << "to copy what is good: joedb_push --recovery ignore_header --until " << last << ' '
              << shell_word(name) << " file NEW_FILE\n";
  if (can_be_read(name))
    std::cout << "to get all values:    joedb export csv --ignore-header " << shell_word(name)
              << " TABLE, of each table; those in the bad bytes may be wrong\n";
}

Json json_of(const std::string& name, const Verifier& verifier, const std::optional<Damage>& damage,
             const Tail& tail) {
  const Readonly_Journal& journal = verifier.journal();
  Json json{{"file", name},
            {"good", !damage && !tail.blocks_writers()},
            {"checkpoint", journal.get_checkpoint()},
            {"hard", journal.get_checkpoint() == journal.get_hard_checkpoint()},
            {"integrity_entries", verifier.entries()},
            {"covered", verifier.covered()},
            {"tail", tail.size},
            {"is_being_written", tail.is_being_written},
            {"damage", nullptr}};
  if (!damage)
    for (const std::string& text : unexpected_content(verifier.database()))
      json["unexpected"].push_back(text);
  if (damage)
    json["damage"] = {{"start", damage->start},
                      {"end", damage->end},
                      {"reason", damage->reason},
                      {"tables", verifier.tables()},
                      {"last_good_checkpoint", last_good_checkpoint(verifier, *damage)}};
  return json;
}

// ---- references ---------------------------------------------------------------------------------

// The references of a field to records that do not exist.
struct Dangling_Text {
  std::string field;       // "person.home"
  std::string referenced;  // the table
  index_t count;
  Record_Id record, target;  // the first

  std::string text() const {
    const std::string table = field.substr(0, field.find('.'));
    return field + ": " + counted(count, "reference") + " to " +
           (count == 1 ? "a record that does" : "records that do") + " not exist; the first is " +
           table + ' ' + std::to_string(record.value()) + ", to " + referenced + ' ' +
           std::to_string(target.value());
  }
  Json json() const {
    return {{"field", field},
            {"references", referenced},
            {"count", count},
            {"record", record.value()},
            {"target", target.value()}};
  }
};

std::vector<Dangling_Text> texts_of(const Database& database,
                                    const std::vector<Dangling>& dangling) {
  std::vector<Dangling_Text> result;
  for (const Dangling& one : dangling) {
    const Field& field = *one.table->find_field(one.field);
    const Table* const referenced = database.find_table(field.column->type().referenced);
    const Record_Id first = one.records.front();
    result.push_back({one.table->name() + '.' + field.name,
                      referenced ? referenced->name() : "a dropped table,",
                      static_cast<index_t>(one.records.size()), first,
                      one.table->column<Record_Id>(one.field).get(first.value())});
  }
  return result;
}

struct Cleared {
  index_t count = 0;
  index_t kept = 0;  // a unique index has the key already that the record would get
};

// Makes the references null that refer to no record, in one transaction.
Cleared clear_references(const std::string& name) {
  File_Argument file;
  file.mode = Open_Mode::write_existing;
  file.name = name;
  Cleared result;
  change_file(file, Transaction_Options(), [&](Writable_Database& database) {
    const std::vector<Dangling> all = dangling_references(database.get_database());
    if (all.empty()) return;
    for (const Dangling& one : all)
      for (const Record_Id record : one.records) {
        try {
          database.write(Update<Record_Id>{one.table->id(), record, one.field, Record_Id()});
          ++result.count;
        } catch (const Unique_Violation&) {
          ++result.kept;
        }
      }
    if (result.count > 0)
      database.write(Comment{"references to records that do not exist became null"});
  });
  return result;
}

// What --references and --clear do. Returns true if no reference dangles afterwards.
bool check_references(const std::string& name, const std::vector<Dangling_Text>& dangling,
                      bool clears, Json* json) {
  const auto clear = [&] {
    return clears && !dangling.empty() ? clear_references(name) : Cleared();
  };
  if (json != nullptr) {
    (*json)["dangling"] = Json::array();
    for (const Dangling_Text& one : dangling) (*json)["dangling"].push_back(one.json());
    const Cleared cleared = clear();
    if (clears) (*json)["cleared"] = cleared.count;
    if (cleared.kept > 0) (*json)["kept"] = cleared.kept;
    return dangling.empty() || (clears && cleared.kept == 0);
  }
  if (dangling.empty()) std::cout << "references:        all refer to records\n";
  for (const Dangling_Text& one : dangling)
    std::cout << "dangling:          " << one.text() << '\n';
  const Cleared cleared = clear();
  if (clears) std::cout << "cleared:           " << counted(cleared.count, "reference") << '\n';
  if (cleared.kept > 0)
    std::cout << "kept:              " << counted(cleared.kept, "reference")
              << ": with null, another record has the same key of a unique index\n";
  if (!clears && !dangling.empty())
    std::cout << "to make them null: joedb_verify --references --clear " << shell_word(name)
              << '\n';
  return dangling.empty() || (clears && cleared.kept == 0);
}

const char* const verify_details =
    R"(Reads all entries, builds the tables, and compares the bytes with the integrity entries that
writers append before hard checkpoints, or before every checkpoint (--protect, or
enable_integrity() in C++). Without integrity entries, only damage that makes an entry undecodable
is detected. Snapshots of FILE are compared with their checksums, with the bytes of FILE, and with
tables replayed from FILE. Exit code 1 if FILE or a snapshot is damaged, or if an unfinished
transaction makes writers refuse FILE. Values that the logical type of their field does not have,
because a program that does not know logical types has written them, are shown, and are no damage.
With --references, exit code 1 also if a reference refers to a record that does not exist.
)";

}  // namespace

static void add_integrity(const std::string& name, Json* json) {
  File file(name, Open_Mode::write_existing);
  Writable_Database database(file);
  database.enable_integrity();
  const Offset checkpoint = database.get_journal().get_checkpoint();
  if (json != nullptr)
    (*json)["protected"] = checkpoint;
  else
    std::cout << "protected up to:   " << checkpoint << '\n';
}

static void add_snapshots(const std::vector<Verified_Snapshot>& snapshots, Json* json) {
  for (const Verified_Snapshot& snapshot : snapshots) {
    if (json != nullptr)
      (*json)["snapshots"].push_back(
          {{"name", snapshot.name}, {"good", !snapshot.is_damaged}, {"text", snapshot.text}});
    else
      std::cout << snapshot.name << ": " << snapshot.text << '\n';
  }
}

int run_verify(std::vector<std::string> arguments) {
  Options options({"joedb_verify [options] FILE",
                   "Checks a database for damage, and reports where it is.", verify_details,
                   "  joedb_verify people.joedb\n"
                   "  joedb_verify --references people.joedb\n"
                   "  joedb_verify --protect people.joedb\n"});
  bool protect = false;
  options.add_flag(
      "--protect", protect,
      "if FILE is good, append an integrity entry for all of it, and a hard checkpoint; from then "
      "on, every program that uses this library adds integrity entries");
  bool has_references = false, clears = false;
  options.add_flag("--references", has_references,
                   "also list references to records that do not exist");
  options.add_flag("--clear", clears,
                   "with --references: make such references null, in one transaction");
  Memory_Limit memory;
  memory.add_to(options);
  Source_Options source;
  add_source_options(options, source);
  bool is_json = false;
  add_json_option(options, is_json);
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;
  const std::string name = words->take_last_name();
  if (clears && !has_references) throw Usage_Error("--clear needs --references");
  if (protect || clears) require_writable_name(name);

  bool is_good;
  std::vector<Dangling_Text> dangling;
  Json json;
  {
    const auto file = open_source(name, source);
    Verifier verifier(*file, memory);
    const std::optional<Damage> damage = verifier.run();
    const Tail tail = find_tail(*file, verifier.journal().get_checkpoint());
    const std::vector<Verified_Snapshot> snapshots =
        Snapshot_Verifier(*file, verifier.journal().get_checkpoint(), !damage, memory).run();
    is_good = !damage && !tail.blocks_writers() &&
              std::none_of(snapshots.begin(), snapshots.end(),
                           [](const Verified_Snapshot& s) { return s.is_damaged; });
    if (is_json)
      json = json_of(file->get_name(), verifier, damage, tail);
    else if (damage)
      print_damage(file->get_name(), verifier, *damage);
    else
      print_good(file->get_name(), verifier, tail);
    add_snapshots(snapshots, is_json ? &json : nullptr);
    if (has_references && !damage)
      dangling = texts_of(verifier.database(), dangling_references(verifier.database()));
  }
  bool is_whole = true;
  if (has_references && is_good)
    is_whole = check_references(name, dangling, clears, is_json ? &json : nullptr);
  if (is_good && protect) add_integrity(name, is_json ? &json : nullptr);
  if (is_json) print_json(json);
  finish_standard_output();
  return is_good && is_whole ? 0 : 1;
}

}  // namespace joedb
