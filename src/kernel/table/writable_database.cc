#include "joedb/table/writable_database.h"

#include <exception>
#include <thread>

#include "joedb/base/log.h"
#include "joedb/table/load.h"
#include "kernel/io/process.h"
#include "kernel/table/references.h"
#include "kernel/table/snapshot_source.h"

namespace joedb::inline v1 {

// A thread that has its own reader. The reader starts from the last snapshot, and writes the next
// snapshot.
class Writable_Database::Background_Snapshot {
 public:
  // `hard` is a hard checkpoint that is known to be on the disk. The reader may find a later hard
  // checkpoint in the header, with a matching seal, that the writer has not synced yet or has
  // failed to sync.
  Background_Snapshot(std::unique_ptr<Abstract_File> file, bool is_shared, Database database,
                      Offset hard)
      : file_(std::move(file)),
        is_shared_(is_shared),
        database_(std::move(database)),
        hard_(hard),
        thread_([this] { run(); }) {}
  ~Background_Snapshot() {
    if (thread_.joinable()) thread_.join();
  }
  Background_Snapshot(const Background_Snapshot&) = delete;
  Background_Snapshot& operator=(const Background_Snapshot&) = delete;

  bool is_running() const { return !is_finished_; }
  // Waits for the thread, and rethrows its error. Returns the position of the snapshot; 0 if no
  // snapshot was written.
  Offset wait() {
    if (thread_.joinable()) thread_.join();
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    return position_;
  }

 private:
  void run() noexcept {
    try {
      Readonly_Journal journal(*file_);
      if (is_shared_) file_->datasync();  // another process may have written the checkpoint
      load_verified(database_, journal, hard_);
      if (joedb::write_snapshot(database_, *file_, journal.get_replay_place())) position_ = hard_;
      database_ = Database();
    } catch (...) {
      error_ = std::current_exception();
    }
    is_finished_ = true;
  }

  const std::unique_ptr<Abstract_File> file_;
  const bool is_shared_;
  Database database_;
  const Offset hard_;
  Offset position_ = 0;
  std::exception_ptr error_;
  std::atomic<bool> is_finished_ = false;
  std::thread thread_;
};

Writable_Database::Writable_Database(Abstract_File& file, const Journal_Options& options,
                                     Deleted_Values deleted_values,
                                     std::vector<Index_Definition> indexes)
    : Journal_Owner(file, options), deleted_values_(deleted_values), indexes_(std::move(indexes)) {
  build();
}

void Writable_Database::build() {
  forget_free_ids();
  Database fresh(deleted_values_);
  for (const Index_Definition& definition : indexes_) fresh.add_index(definition);
  journal_.rewind();
  Change_Observer* const observer = database_.observer();
  try {
    // Up to the last position that the observer knows, loads without the observer; from this
    // position on, loads with the observer.
    if (observer != nullptr) {
      const Offset checkpoint = journal_.get_checkpoint();
      while (!observed_.empty() && observed_.back() > checkpoint) observed_.pop_back();
      load(fresh, journal_, observed_.empty() ? checkpoint : observed_.back());
      fresh.set_observer(observer);
      observer->roll_back(journal_.get_replay_position());
    }
    load(fresh, journal_);
  } catch (...) {
    journal_.rewind();
    database_.set_observer(observer);
    throw;
  }
  database_ = std::move(fresh);
  database_.set_observer(observer);
  note_observed(journal_.get_replay_position());
  must_build_ = false;
}

Writable_Database::Writable_Database(Abstract_File& file, const Journal_Options& options,
                                     Database& content, const Replay_Place& place)
    : Journal_Owner(file, options),
      deleted_values_(content.deleted_values()),
      indexes_(content.added_indexes()),
      database_(deleted_values_),
      must_build_(false) {
  journal_.resume(place);
  database_ = std::move(content);
}

Database Writable_Database::release() {
  must_build_ = true;
  try {
    journal_.rollback();
  } catch (const std::exception&) {  // entries that stay in the file are after the checkpoint
  }
  return std::move(database_);
}

Writable_Database::~Writable_Database() {
  if (journal_.get_file().is_inherited()) {
    keep_until_exit(std::move(background_));
    return;
  }
  try {
    finish_background();
    const bool may_write = !must_build_ && !journal_.has_failed() && ahead_of_checkpoint() == 0;
    const bool has_hard = journal_.get_hard_checkpoint() >= journal_.get_replay_position();
    const bool is_damaged =
        database_.snapshot_source() != nullptr && database_.snapshot_source()->is_damaged();
    const bool is_due = is_damaged || is_snapshot_due();
    if (!may_write || !is_due || (journal_.is_shared() && !has_hard)) return;
    journal_.hard_checkpoint();  // a checkpoint of another process may not be on the disk yet
    replace_snapshot();
  } catch (const std::exception& error) {
    Destructor_Logger::warning("there is no new snapshot: " + std::string(error.what()));
  }
}

// If the tables came from a damaged snapshot, the new snapshot is made from the journal alone.
void Writable_Database::replace_snapshot() {
  try {
    joedb::write_snapshot(database_, journal_.get_file(), journal_.get_replay_place());
  } catch (const Corruption_Error& error) {
    if (database_.snapshot_source() == nullptr || !database_.snapshot_source()->is_damaged()) throw;
    Destructor_Logger::warning(std::string(error.what()) + ". It is written again now");
    database_ = database_.make_new();
    journal_.rewind();
    load_verified(database_, journal_);
    joedb::write_snapshot(database_, journal_.get_file(), journal_.get_replay_place());
  }
}

bool Writable_Database::write_snapshot() {
  if (vector_updates_ > 0) throw Exception("a snapshot while a vector is updated");
  finish_background();
  hard_checkpoint();
  const Replay_Place place = journal_.get_replay_place();
  if (!joedb::write_snapshot(database_, journal_.get_file(), place)) return false;
  Snapshot_Report report;
  report.position = place.position;
  database_.set_snapshot_report(report);
  try {
    map_snapshot(database_, journal_.get_file(), place.position);
    spilled_ = place.position;
  } catch (const std::exception& error) {  // the tables stay in memory
    report.remark = error.what();
    database_.set_snapshot_report(report);
  }
  return true;
}

// ---- references ---------------------------------------------------------------------------------

void Writable_Database::write_consequences(const Delete_Vector& entry) {
  database_.prepare(entry);
  write_consequences(consequences_of_deletion(database_, entry.table, entry.record, entry.size));
}

void Writable_Database::erase(Table_Id table, std::span<const Record_Id> records) {
  for (const Record_Id record : records) database_.table(table).require_used(record);
  write_consequences(consequences_of_deletion(database_, table, records));
  for (const Record_Id record : records) write_alone(Delete{table, record});
}

void Writable_Database::write_consequences(std::span<const Consequence> consequences) {
  std::vector<Update<Record_Id>> cleared;  // with the old values
  try {
    for (const auto& [table, record, field] : consequences)  // so that no deletion fails
      if (field.is_null()) database_.prepare(Delete{table, record});
    cleared.reserve(consequences.size());
    for (const auto& [table, record, field] : consequences) {
      if (field.is_null()) {
        write_alone(Delete{table, record});
      } else {
        const Record_Id old = database_.table(table).column<Record_Id>(field).get(record.value());
        write_alone(Update<Record_Id>{table, record, field, Record_Id()});
        cleared.push_back({table, record, field, old});
      }
    }
  } catch (...) {  // before the first deletion, unless the journal cannot be written
    for (; !cleared.empty() && !journal_.has_failed(); cleared.pop_back())
      write_alone(cleared.back());
    throw;
  }
}

// A pass over references may read 16 records for each call.
index_t Writable_Database::find_free(const Table& table) {
  const Record_Ids& records = table.records();
  const Database::Referrers* const referrers = database_.find_referrers(table.id());
  const bool must_look = referrers != nullptr && !referrers->fields.empty() &&
                         deleted_values_ == Deleted_Values::reset;
  if (!must_look) return records.next_free();
  Free_Ids& free = free_ids_[table.id()];
  if (!free.ids.empty() && free.ids.back() == records.next_free()) return free.ids.back();
  const index_t cost = cost_of_free_ids(database_, table);
  free.budget = std::min(free.budget + 16, std::max(2 * cost, index_t{1} << 22));
  if (cost <= free.budget) {
    free.budget -= cost;
    free.ids = unreferenced_ids(database_, table);
  }
  return free.ids.empty() ? records.size() : free.ids.back();
}

void Writable_Database::take_free(Table_Id table, Record_Id record) {
  const auto found = free_ids_.find(table);
  if (found == free_ids_.end() || found->second.ids.empty()) return;
  std::vector<index_t>& ids = found->second.ids;
  if (ids.back() == record.value())
    ids.pop_back();
  else if (record.value() < database_.table(table).records().size())
    ids.clear();
}

void Writable_Database::forget_free(const Update<Record_Id>& entry) {
  const Table_Id referenced =
      database_.table(entry.table).find_field(entry.field)->column->type().referenced;
  const auto found = free_ids_.find(referenced);
  const Table* const table = database_.find_table(referenced);
  if (found != free_ids_.end() && table != nullptr && entry.value.is_not_null() &&
      !table->is_used(entry.value))
    found->second.ids.clear();
}

bool Writable_Database::is_memory_above(std::size_t bytes) const {
  const Offset position = journal_.get_position();
  const bool has_rolled_back = position < spilled_;
  return joedb::is_memory_above(bytes, has_rolled_back ? position : position - spilled_);
}

void Writable_Database::spill() {
  if (vector_updates_ > 0) throw Exception("memory is limited while a vector is updated");
  database_.spill();
  spilled_ = journal_.get_position();
}

void Writable_Database::write_snapshot_in_background() {
  journal_.get_file().require_own_process();
  if (background_ && background_->is_running()) return;
  finish_background();
  if (!journal_.is_shared()) {  // the thread itself syncs a checkpoint of another process
    journal_.recover();
    journal_.sync_hard_checkpoint();
  }
  auto file = journal_.get_file().reopen(Open_Mode::read_existing);
  if (file)
    background_ =
        std::make_unique<Background_Snapshot>(std::move(file), journal_.is_shared(),
                                              database_.make_new(), journal_.get_hard_checkpoint());
}

Offset Writable_Database::finish_background() {
  if (!background_) return 0;
  journal_.get_file().require_own_process();
  const std::unique_ptr<Background_Snapshot> done = std::move(background_);
  Snapshot_Report report;
  report.position = done->wait();
  if (report.position > 0) database_.set_snapshot_report(report);
  return report.position;
}

void Writable_Database::wait_for_snapshot() {
  const bool has_one = finish_background() > 0;
  if (!has_one || must_build_ || vector_updates_ > 0 || ahead_of_checkpoint() > 0) return;
  const Replay_Place place = journal_.get_replay_place();
  try {
    build();
  } catch (const std::exception& error) {  // the tables stay in memory
    journal_.resume(place);
    Snapshot_Report report = database_.snapshot_report();
    report.remark = error.what();
    database_.set_snapshot_report(report);
  }
}

bool Writable_Database::is_snapshot_due() const {
  const Snapshot_Report& report = database_.snapshot_report();
  const bool has_one = report.position > 0 || !report.remark.empty();
  return has_one && !report.is_for_others &&
         journal_.get_checkpoint() - report.position >= due_bytes_;
}

}  // namespace joedb::inline v1
