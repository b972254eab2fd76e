#include "sql/shared_file.h"

#include <algorithm>
#include <ctime>

#include "history/tags.h"
#include "joedb/io/posix_file.h"
#include "joedb/table/load.h"
#include "kernel/base/interrupts.h"
#include "sql/cursor.h"
#include "sql/open.h"
#include "sql/values.h"
#include "tools/compiler/index_file.h"
#include "tools/compiler/options.h"

namespace joedb {

// ---- states -------------------------------------------------------------------------------------

const Index& State::own_index(const Table& table, const std::vector<Field_Id>& fields) {
  std::unique_ptr<Index>& index = own_indexes_[{table.id(), fields}];
  if (index == nullptr) {
    auto made = std::make_unique<Index>(Index_Definition{"", table.id(), fields}, table);
    const Record_Ids& records = table.records();
    made->reserve(records.size());
    Interrupt_Counter look;
    for (index_t id = 0; id < records.size(); ++id, look())
      if (records.is_used(id)) made->insert(Record_Id(id), fields.front());
    made->insert_waiting();
    index = std::move(made);
  }
  return *index;
}

const Index* State::note_search(const Table& table, Field_Id field) {
  constexpr int searches_per_index = 16;
  constexpr index_t min_indexed_size = 64;
  if (table.records().used_count() < min_indexed_size) return nullptr;
  int& searches = searches_[{table.id(), field}];
  if (searches < searches_per_index) {
    ++searches;
    return nullptr;
  }
  return &own_index(table, {field});
}

void State::forget_own_indexes() {
  if (cursors_.empty()) forgotten_indexes_.clear();
  for (auto& [fields, index] : own_indexes_)
    if (index) forgotten_indexes_.push_back(std::move(index));
  own_indexes_.clear();
  searches_.clear();
}

// Calls f(). Ignores the violation of a unique index, because the tables and all other indexes are
// complete. The violated index is not used, because it has fewer records than its table
// (is_complete in sql/cursor.cc).
template <class F>
static void load_despite_violations(F f) {
  try {
    f();
  } catch (const Unique_Violation&) {
  }
}

// ---- one file -----------------------------------------------------------------------------------

// An error message has the number of the line, but not its content: the author of an SQL statement
// may not have the right to read the file.
static std::vector<Index_Definition> read_options(const std::string& options_file,
                                                  Abstract_File& file) {
  try {
    return read_indexes(options_file, file);
  } catch (const compiler::Schema_Errors& error) {
    const int line = error.diagnostics.empty() ? 0 : error.diagnostics.front().line;
    throw Sql_Error(SQLITE_ERROR, options_file + (line > 0 ? ":" + std::to_string(line) : "") +
                                      ": these options do not fit " + file.get_name() +
                                      "; joedbi --options says why");
  }
}

// Returns the indexes in the options file and, if `with_snapshot`, those in the newest snapshot.
static std::vector<Index_Definition> find_indexes(Abstract_File& file,
                                                  const std::string& options_file,
                                                  bool with_snapshot) {
  std::vector<Index_Definition> indexes = read_options(options_file, file);
  if (!with_snapshot) return indexes;
  try {
    for (Index_Definition& index : snapshot_indexes(file)) {
      const auto is_same = [&](const Index_Definition& other) { return other.name == index.name; };
      if (std::none_of(indexes.begin(), indexes.end(), is_same))
        indexes.push_back(std::move(index));
    }
  } catch (const Exception&) {  // the snapshot is unusable
  }
  return indexes;
}

Shared_File::Shared_File(std::unique_ptr<Abstract_File> file, const std::string& options_file)
    : file_(std::move(file)), options_file_(options_file) {
  load_new();
}

Shared_File::Shared_File(Database& live, Abstract_File& file)
    : file_(std::shared_ptr<void>(), &file), is_live_(true), present_(std::make_shared<State>()) {
  present_->lend(live);
}

Shared_File::~Shared_File() {
  if (writer_ == nullptr) return;
  try {
    writer_->rollback();
  } catch (const std::exception&) {  // the remaining entries have no checkpoint
  }
}

// ---- the current state --------------------------------------------------------------------------

// Loads the content. If this fails, loads it with fewer indexes, because a field of an index may
// have been dropped.
void Shared_File::load_all(State& state) {
  try {
    return load_with(state, find_indexes(*file_, options_file_, true));
  } catch (const Corruption_Error&) {
  }
  try {
    return load_with(state, find_indexes(*file_, options_file_, false));
  } catch (const Corruption_Error&) {
    if (options_file_.empty()) throw;
  }
  load_with(state, {});
}

void Shared_File::load_with(State& state, std::vector<Index_Definition> indexes) {
  journal_->rewind();
  state.forget_own_indexes();
  Database database;
  for (Index_Definition& index : indexes) database.add_index(std::move(index));
  state.set_content(std::move(database));
  load_despite_violations([&] { load(state.database(), *journal_); });
}

// Loads the content into a new state, so that cursors keep the old one.
void Shared_File::load_new() {
  must_load_ = true;
  if (cursors_ == 0 && file_->is_replaced()) {
    if (auto file = file_->reopen(Open_Mode::read_existing)) {
      past_.clear();
      journal_.reset();
      file_ = std::move(file);
    }
  }
  times_.clear();
  tags_.clear();
  journal_.emplace(*file_);
  auto state = std::make_shared<State>();
  load_all(*state);
  if (present_ != nullptr)
    for (Cursor* const cursor : present_->cursors()) cursor->keep_state();
  present_ = std::move(state);
  ++version_;
  must_load_ = false;
}

void Shared_File::follow() {
  present_->database().require_intact();
  try {
    journal_->pull();
  } catch (const File_Replaced&) {
    if (!file_->is_replaced()) throw;
    return;  // it is opened when no cursor reads the old file
  }
  if (journal_->get_replay_position() == journal_->get_checkpoint()) return;
  ++version_;
  present_->forget_own_indexes();
  times_.clear();
  tags_.clear();
  try {
    load_despite_violations([this] { load(present_->database(), *journal_); });
  } catch (const Corruption_Error&) {
    try {
      load_all(*present_);
    } catch (const Io_Error&) {
      throw;
    } catch (const Exception&) {  // the options file no longer fits, or the file is damaged
      load_with(*present_, {});
    }
  }
}

void Shared_File::refresh() {
  if (is_live_) {  // the owner may have changed the database
    ++version_;
    return present_->forget_own_indexes();
  }
  if (must_load_ || (cursors_ == 0 && file_->is_replaced()))
    load_new();
  else
    follow();
}

std::shared_ptr<State> Shared_File::begin_reading(Cursor& cursor, sqlite3* connection) {
  if (writer_ == nullptr && present_->cursors().empty()) {
    if (!is_live_) file_->set_busy_timeout(patience_of(connection));
    refresh();
  }
  present_->cursors().push_back(&cursor);
  ++cursors_;
  return present_;
}

void Shared_File::end_reading(State& state, Cursor& cursor) noexcept {
  std::erase(state.cursors(), &cursor);
  --cursors_;
}

// ---- writing ------------------------------------------------------------------------------------

void Shared_File::begin_writing(System::Duration patience) {
  if (writer_ != nullptr) return;
  if (is_live_ || is_read_only_)
    throw Sql_Error(SQLITE_READONLY, name() + " cannot be changed by SQL here");
  // Statements that are reading now keep the current state.
  if (present_->cursors().empty())
    refresh();
  else
    load_new();
  const Replay_Place place = journal_->get_replay_place();
  writer_ = std::make_unique<Writer>(*file_, present_->database(), place, patience);
  present_->lend(writer_->database());
  try {
    writer_->lock();
  } catch (...) {
    end_writing();
    throw;
  }
  present_->forget_own_indexes();
  ++version_;
}

void Shared_File::note_deleted_records() noexcept {
  for (Cursor* const cursor : present_->cursors()) cursor->drop_deleted_records();
}

void Shared_File::end_writing() noexcept {
  if (writer_ == nullptr) return;
  must_load_ = writer_->is_broken();
  Replay_Place place;
  present_->set_content(writer_->end(place));
  present_->forget_own_indexes();
  writer_.reset();
  ++version_;
  times_.clear();
  tags_.clear();
  note_deleted_records();
  try {
    journal_->pull();
    if (!must_load_) journal_->resume(place);
  } catch (const std::exception&) {
    must_load_ = true;
  }
}

// ---- past states --------------------------------------------------------------------------------

std::shared_ptr<State> Shared_File::past(sqlite3_value* moment) {
  if (is_live_ && sqlite3_value_type(moment) != SQLITE_NULL)
    throw Exception("past states cannot be read here: joedb_sql can");
  switch (sqlite3_value_type(moment)) {
    case SQLITE_NULL:
      return nullptr;
    case SQLITE_INTEGER:
      return past(find_moment(*file_, at(sqlite3_value_int64(moment))));
    case SQLITE_TEXT: {
      const std::string text(text_of(moment));
      // In UTC, as SQLite's functions of time return it.
      const auto when = parse_when(text, std::time(nullptr), Zone::utc);
      if (!when)
        throw Exception("\"" + text +
                        "\": expected a time like 2026-01-31 23:59:59, or the name of a tag");
      if (!when->moment) {
        const auto known = tags_.find(text);
        if (known != tags_.end()) return past(known->second);
        const Offset position = find_position(*file_, *when);
        tags_.emplace(text, position);
        return past(position);
      }
      if (when->moment->kind == Moment::Kind::position) return past(find_position(*file_, *when));
      const std::int64_t seconds = when->moment->value;
      const auto known = times_.find(seconds);
      if (known != times_.end()) return past(known->second);
      const Offset position = find_moment(*file_, *when->moment);
      times_.emplace(seconds, position);
      return past(position);
    }
    default:
      throw Exception("a moment is a time like '2026-01-31 23:59:59', or a position, an integer");
  }
}

std::shared_ptr<State> Shared_File::past(Offset position) {
  const auto known = std::find_if(past_.begin(), past_.end(),
                                  [&](const auto& entry) { return entry.first == position; });
  if (known != past_.end()) {
    past_.splice(past_.begin(), past_, known);
    return past_.front().second;
  }
  auto state = std::make_shared<State>(present_->database().make_new());
  Readonly_Journal journal(*file_);
  load_despite_violations([&] { load(state->database(), journal, position); });
  require_entry_end(journal, position);
  past_.emplace_front(position, state);
  if (past_.size() > max_past_states) past_.pop_back();
  return state;
}

// ---- all files ----------------------------------------------------------------------------------

std::shared_ptr<Shared_File> Shared_Files::open(const std::string& name,
                                                const std::string& options_file) {
  const auto key = std::pair(name, options_file);
  if (const auto known = files_.find(key); known != files_.end()) {
    if (auto file = known->second.lock()) return file;
  } else {
    require_unsealed();
  }
  auto opened =
      opener_ ? opener_(name)
              : std::make_unique<File>(name, Open_Mode::read_existing, patience_of(connection_));
  auto file = std::make_shared<Shared_File>(std::move(opened), options_file);
  if (is_sealed_) file->forbid_writing();
  files_[key] = file;
  return file;
}

void Shared_Files::seal() {
  std::erase_if(files_, [](const auto& entry) { return entry.second.expired(); });
  for (const auto& [key, known] : files_)
    if (const auto file = known.lock(); file != nullptr && file->writer() != nullptr)
      throw Sql_Error(SQLITE_LOCKED, key.first + " is being written: COMMIT or ROLLBACK first");
  for (const auto& [key, known] : files_)
    if (const auto file = known.lock()) file->forbid_writing();
  is_sealed_ = true;
}

void Shared_Files::require_unsealed() const {
  if (is_sealed_)
    throw Sql_Error(SQLITE_AUTH, "this connection is sealed: its joedb files can only be read");
}

}  // namespace joedb
