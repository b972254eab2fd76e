#include "bindings/session.h"

#include <algorithm>
#include <chrono>
#include <sstream>
#include <utility>

#include "joedb/base/log.h"
#include "joedb/io/memory_file.h"
#include "joedb/io/posix_file.h"
#include "joedb/replica/client.h"
#include "joedb/table/load.h"
#include "kernel/base/backoff.h"
#include "kernel/base/interrupts.h"
#include "kernel/journal/past_file.h"
#include "kernel/schema/logical_type.h"
#include "kernel/table/references.h"
#include "text/conflict_text.h"

#ifdef JOEDB_HAS_NETWORK
#include "joedb/network/channel.h"
#include "joedb/network/server_connection.h"
#endif

namespace joedb {

namespace {

constexpr std::chrono::milliseconds max_pause{20};

// Converts seconds to a duration of up to about 30 years; to the maximum duration if negative.
System::Duration duration_of(double seconds) {
  if (seconds < 0) return System::Duration::max();
  return std::chrono::duration_cast<System::Duration>(
      std::chrono::duration<double>(std::min(seconds, 1e9)));
}

// A system whose sleep() can be interrupted. It calls `look` every 20 ms.
class Interruptible_System final : public System {
 public:
  explicit Interruptible_System(const std::function<void()>& look) : look_(look) {}
  void sleep(Duration duration) override {
    const Time end = after(now(), duration);
    for (;;) {
      if (now() >= next_look_) {
        look_();
        next_look_ = after(now(), max_pause);
      }
      const Duration left = end - now();
      if (left <= Duration(0)) return;
      System::sleep(std::min<Duration>(left, max_pause));
    }
  }

 private:
  const std::function<void()>& look_;
  Time next_look_ = now();
};

}  // namespace

// ---- opening ------------------------------------------------------------------------------------

#ifdef JOEDB_HAS_NETWORK
class Session::Server {
 public:
  explicit Server(const Session_Options& options) {
    if (options.server.find("://") == std::string::npos)
      connector_ = std::make_unique<Local_Connector>(options.server);
    else
      connector_ = std::make_unique<Tcp_Connector>(
          Tcp_Address::parse(options.server),
          Tls_Identity{.authority_file = options.authority_file, .token_file = options.token_file});
    Connector::Settings& settings = connector_->settings();
    settings.look = options.check_interrupt;
    if (options.timeout) {
      settings.retry_time = settings.lock_time = duration_of(*options.timeout);
      // Even a healthy server needs some time, so wait for at least 1 s.
      settings.answer_time = std::clamp<System::Duration>(
          settings.retry_time, std::chrono::seconds(1), settings.answer_time);
    }
    connection_.emplace(*connector_);
  }
  Connection& connection() { return *connection_; }

 private:
  std::unique_ptr<Connector> connector_;
  std::optional<Robust_Connection> connection_;
};
#else
class Session::Server {
 public:
  explicit Server(const Session_Options&) {
    throw Exception("this joedb was built without Asio and OpenSSL: it cannot talk to servers");
  }
  Connection& connection() { return Connection::dummy; }
};
#endif

Session::Session(const std::string& path, Open_Mode mode, Session_Options options)
    : name_(path),
      options_(std::move(options)),
      system_(std::make_unique<Interruptible_System>(options_.check_interrupt)) {
  const bool is_reading = mode == Open_Mode::read_existing;
  if (is_reading && !options_.server.empty())
    throw Exception("a copy of what a server has is written: it cannot be opened for reading only");
  if (path != memory_name)
    file_ = std::make_unique<File>(
        path, mode, options_.timeout ? duration_of(*options_.timeout) : default_busy_timeout,
        *system_);
  else if (is_reading)
    throw Exception("a database in memory is new: it cannot be opened for reading only");
  else
    file_ = std::make_unique<Memory_File>();
  interruptibly(options_.check_interrupt, [&] {
    if (is_reading)
      open_for_reading();
    else
      open_for_writing(mode == Open_Mode::shared_write && path != memory_name);
  });
}

void Session::open_for_reading() {
  journal_ = std::make_unique<Readonly_Journal>(*file_, options_.recovery.value_or(Recovery::none));
  load(own_database_, *journal_);
  database_ = &own_database_;
  pins_ = std::make_unique<Arrow_Pins>(*database_);
}

void Session::open_for_writing(bool is_shared) {
  if (!options_.server.empty()) server_ = std::make_unique<Server>(options_);
  const Recovery recovery =
      options_.recovery.value_or(is_shared || server_ ? Recovery::keep : Recovery::none);
  Journal_Options options = recovery;
  options.ends_transactions = true;
  store_ = std::make_unique<Writable_Database>(*file_, options, Deleted_Values::reset,
                                               find_indexes(recovery));
  database_ = &store_->get_database();
  pins_ = std::make_unique<Arrow_Pins>(*database_);
  copy_ = std::make_unique<Writable_Copy<Writable_Database>>(*store_);
  client_ = std::make_unique<Client>(*copy_, server_ ? server_->connection() : Connection::dummy,
                                     Content_Check::fast);
  using End = Transaction_Settings::End;
  client_->settings().end = options_.has_timestamps ? End::timestamp : End::valid_data;
  undo_.emplace(*store_);
  is_shared_ = is_shared || server_ != nullptr;
  if (server_ != nullptr) client_->pull();
  require_indexes();
  if (options_.recovery && recovery != Recovery::none) recover_now();
}

// Without this, the first change would do it, and a program that only reads would repair nothing.
void Session::recover_now() {
  if (is_shared_ && !store_->try_lock()) return;
  store_->lock_pull();
  try {
    store_->recover();
  } catch (...) {
    store_->unlock();
    throw;
  }
  store_->unlock();
}

// Finds tables and fields by their names if the file has tables. Otherwise uses the given ids.
std::vector<Index_Definition> Session::find_indexes(Recovery recovery) const {
  if (options_.unique_indexes.empty()) return {};
  Database schema;
  if (file_->get_size() != 0) {
    Readonly_Journal journal(*file_, recovery);
    journal.replay([&]<class Entry>(const Entry& entry) {
      if constexpr (is_schema_entry<Entry>) schema(entry);
    });
  }
  std::vector<Index_Definition> indexes;
  for (const Unique_Index& wanted : options_.unique_indexes) {
    Index_Definition index{wanted.name, wanted.table_id, wanted.field_ids, true, {}};
    const Table* const table = schema.find_table(wanted.table);
    // The program that opens the file reports missing tables and fields.
    if (table == nullptr && !schema.tables().empty()) continue;
    if (table != nullptr) {
      index.table = table->id();
      index.fields.clear();
      for (const std::string& field : wanted.fields)
        index.fields.push_back(table->find_field(field));
      if (std::any_of(index.fields.begin(), index.fields.end(),
                      [](Field_Id id) { return id.is_null(); }))
        continue;
    }
    indexes.push_back(std::move(index));
  }
  return indexes;
}

// Checks the ids in the indexes: if the file was new, the server may have given other ids to the
// tables.
void Session::require_indexes() const {
  for (const Unique_Index& wanted : options_.unique_indexes) {
    const Table* const table = database_->find_table(wanted.table);
    if (table == nullptr ||
        std::any_of(wanted.fields.begin(), wanted.fields.end(),
                    [&](const std::string& field) { return table->find_field(field).is_null(); }))
      continue;
    const Index* const index = database_->find_index(wanted.name);
    bool is_there = index != nullptr && index->definition().table == table->id();
    for (std::size_t i = 0; is_there && i < wanted.fields.size(); ++i)
      is_there = index->definition().fields[i] == table->find_field(wanted.fields[i]);
    if (!is_there)
      throw Exception(name_ + " has got the tables of another program for the unique index " +
                      wanted.name + ": open it again");
  }
}

Session::Session() = default;

std::unique_ptr<Session> Session::past(Moment moment) const {
  std::unique_ptr<Session> session(new Session);
  session->name_ = name_;
  session->options_.check_interrupt = options_.check_interrupt;
  session->system_ = std::make_unique<Interruptible_System>(session->options_.check_interrupt);
  session->past_source_ = open_reader();
  interruptibly(options_.check_interrupt, [&] {
    session->past_end_ = find_moment(*session->past_source_, moment);
    session->file_ = std::make_unique<Past_File>(session->past_source_, session->past_end_);
    try {
      session->open_for_reading();
    } catch (const Corruption_Error&) {  // position inside an entry, or damaged file?
      Readonly_Journal journal(*session->past_source_);
      journal.replay(Ignore_Entries(), session->past_end_);
      require_entry_end(journal, session->past_end_);
      throw;
    }
  });
  return session;
}

Session::~Session() {
  try {
    close();
  } catch (const std::exception& error) {
    Destructor_Logger::warning(error.what());
  }
}

// Does not involve the server, which makes its own copy durable.
void Session::close() {
  if (is_in_transaction() && !file_->is_inherited()) roll_back_after_error();
  if (!std::exchange(has_committed_, false) || has_failed_ || file_->is_inherited()) return;
  const Writable_Journal& journal = std::as_const(*store_).get_journal();
  if (journal.has_failed() || journal.get_hard_checkpoint() >= journal.get_checkpoint()) return;
  pins_->before_change();
  store_->lock_pull();
  try {
    store_->prepare_checkpoint(Checkpoint_Level::hard);
    store_->hard_checkpoint();
  } catch (...) {
    store_->unlock();
    throw;
  }
  store_->unlock();
}

// ---- reading ------------------------------------------------------------------------------------

const Table& Session::table(Table_Id id) const {
  const Table* const table = database_->find_table(id);
  if (table == nullptr) throw Data_Error("the table was dropped");
  return *table;
}

Offset Session::checkpoint() const {
  return store_ ? std::as_const(*store_).get_journal().get_checkpoint()
                : journal_->get_checkpoint();
}

std::shared_ptr<Abstract_File> Session::open_reader() const {
  if (is_past()) return std::make_shared<Past_File>(past_source_, past_end_);
  if (file_->is_replaced()) throw Exception(name_ + " was replaced by another file: open it again");
  if (std::shared_ptr<Abstract_File> file = file_->reopen(Open_Mode::read_existing)) return file;
  // A file in memory cannot be reopened, so copy it.
  auto copy = std::make_shared<Memory_File>();
  file_->copy_to(*copy);
  return copy;
}

std::shared_ptr<Abstract_File> Session::open_blob_reader() {
  if (uncommitted() > 0)
    throw Exception(name_ +
                    ": blobs cannot be exported while a transaction has written something: end it "
                    "before, or leave them out");
  return open_reader();
}

std::string Session::read_blob(Blob blob) {
  return store_ ? store_->read_blob(blob) : file_->read_blob(blob);
}

Abstract_File& Session::flushed_file() {
  // After a failed write, there is nothing to flush: the transaction was rolled back.
  if (store_ && !std::as_const(*store_).get_journal().has_failed()) store_->flush();
  return *file_;
}

Offset Session::pull(double wait) {
  if (is_in_transaction())
    throw Exception(
        "a transaction begins with what others have written: nothing can be pulled in it");
  pins_->before_change();
  if (store_ && store_->must_build()) forget_tables();
  const auto pull_once = [&](System::Duration duration) -> Offset {
    if (client_) return client_->pull(duration, *system_);
    const Offset size = journal_->pull();
    load(own_database_, *journal_);
    return size;
  };
  const System::Time end = System::after(system_->now(), duration_of(wait > 0 ? wait : 0));
  for (;;) {
    const System::Duration left = std::max(end - system_->now(), System::Duration(0));
    constexpr System::Duration longest = std::chrono::milliseconds(200);
    const Offset size = pull_once(std::min(left, longest));
    if (size > 0 || left == System::Duration(0)) return size;
    system_->sleep(client_ ? System::Duration(0) : std::min<System::Duration>(left, max_pause));
  }
}

// ---- transactions -------------------------------------------------------------------------------

void Session::require_writer() const {
  if (is_past()) throw Exception(name_ + ": a past state cannot be changed");
  if (client_ == nullptr) throw Exception(name_ + " is opened for reading only");
  if (is_in_transaction() && options_.checks_thread && owner_ != std::this_thread::get_id())
    throw Exception(name_ + ": another thread is in a transaction");
}

void Session::require_transaction() const {
  require_writer();
  if (!is_in_transaction()) throw Exception(name_ + ": there is no transaction");
}

void Session::begin(std::string_view why, std::string_view author, bool is_hard) {
  require_writer();
  if (is_in_transaction()) throw Exception(name_ + ": there is a transaction already");
  if (has_failed_) throw_failure();
  // Client_Lock will read the entries of other processes.
  if (is_shared_) {
    pins_->before_change();
    if (store_->must_build()) forget_tables();
  }
  auto lock = std::make_unique<Client_Lock>(*client_);
  undo_->clear();
  start_ = undo_->savepoint();
  must_rebuild_ = must_roll_back_ = false;
  client_->set_hard_checkpoint(is_hard);
  client_->set_author(std::string(author));
  owner_ = std::this_thread::get_id();
  lock_ = std::move(lock);
  ++transaction_;
  if (why.empty() && author.empty()) return;
  try {
    lock_->explain(why);
  } catch (...) {
    roll_back_after_error();
    throw;
  }
}

Session::Part Session::begin_part() {
  Part part{transaction_, store_->place().position, {}};
  if (!must_rebuild_) part.savepoint = undo_->savepoint();
  return part;
}

void Session::take_back_part(const Part& part, const std::function<void()>& take_back) noexcept {
  // Code of the caller's values may have ended the transaction.
  if (!is_in_transaction() || transaction_ != part.transaction) return;
  try {
    if (store_->place().position == part.position) return;
    if (part.savepoint && !must_rebuild_) {
      pins_->before_change();
      undo_->rollback_to(*part.savepoint);
    } else if (take_back) {
      take_back();
    } else {
      must_roll_back_ = true;
    }
  } catch (const std::exception&) {  // the other exception is more informative
    must_roll_back_ = true;
  }
}

void Session::end() noexcept {
  lock_.reset();
  if (undo_->is_broken())
    undo_.emplace(*store_);
  else
    undo_->clear();
}

void Session::commit() {
  require_transaction();
  try {
    if (undo_->is_broken())
      throw Write_Disabled(name_, "a change has failed, and could not be taken back");
    if (must_roll_back_)
      throw Exception(name_ +
                      ": a change of this transaction has failed in the middle: everything is "
                      "taken back");
    if (uncommitted() > 0) {
      has_committed_ = true;
      lock_->checkpoint_and_push_unlock();
    } else {
      lock_->unlock();
    }
  } catch (...) {
    roll_back_after_error();
    throw;
  }
  end();
}

void Session::rollback() {
  require_transaction();
  rollback_of_any_thread();
}

void Session::rollback_of_any_thread() {
  if (!is_in_transaction()) return;
  roll_back_after_error();
  if (has_failed_) throw_failure();
}

// Throws nothing, because an exception in flight is more informative; other callers throw the
// failure that was recorded (throw_failure). Entries that have a checkpoint remain. If the file can
// no longer be written, the tables return to their state before the transaction, unless they must
// be rebuilt.
void Session::roll_back_after_error() noexcept {
  if (!is_in_transaction()) return;
  bool lock_is_free = false;
  bool must_build = must_rebuild_ || undo_->are_tables_invalid();
  try {
    pins_->before_change();
    if (uncommitted() > 0 && !must_build) undo_->rollback_to(start_);
    if (uncommitted() > 0) forget_tables();
    lock_->unlock();
    lock_is_free = true;
  } catch (const Write_Disabled& error) {
    fail(error.failure.c_str());
  } catch (const Exception& error) {
    fail(error.what());
  } catch (const std::exception& error) {  // out of memory
    must_build = true;
    fail(error.what());
  }
  if (!lock_is_free) {
    are_tables_invalid_ = are_tables_invalid_ || must_build;
    lock_->abandon();
  }
  end();
}

void Session::fail(const char* text) noexcept {
  has_failed_ = true;
  try {
    failure_.emplace(name_, text);
  } catch (const std::bad_alloc&) {
    failure_.reset();
  }
}

void Session::throw_failure() const {
  if (failure_) throw *failure_;
  throw Write_Disabled(name_, "no memory");
}

void Session::require_intact() const {
  if (are_tables_invalid_) throw_failure();
}

void Session::hard_checkpoint() {
  begin("", "", true);
  try {
    store_->hard_checkpoint();
  } catch (...) {
    roll_back_after_error();
    throw;
  }
  commit();
}

bool Session::write_snapshot() {
  begin("", "", true);
  try {
    pins_->before_change();
    const bool is_written =
        interruptibly(options_.check_interrupt, [&] { return store_->write_snapshot(); });
    forget_tables();
    commit();
    return is_written;
  } catch (...) {
    roll_back_after_error();
    throw;
  }
}

// ---- undo ---------------------------------------------------------------------------------------

void Session::use_undo_stack(Plan (*run)(Writable_Database&, const Undo_Stack_Options&),
                             const Undo_Stack_Options& options) {
  require_writer();
  if (is_in_transaction())
    throw Exception(name_ + ": undo and redo are transactions of their own: end this one before");
  change([&] {
    const Plan plan =
        interruptibly(options_.check_interrupt, [&] { return run(store(), options); });
    if (plan.is_possible) return;
    std::ostringstream text;
    print_conflicts(text, plan);
    throw Exception(name_ +
                    ": nothing was changed, for others have changed the same since: " + text.str());
  });
}

void Session::undo(const Undo_Stack_Options& options) { use_undo_stack(&joedb::undo, options); }
void Session::redo(const Undo_Stack_Options& options) { use_undo_stack(&joedb::redo, options); }

bool Session::can_undo(const Undo_Stack_Options& options) {
  require_writer();
  return interruptibly(options_.check_interrupt, [&] { return joedb::can_undo(*store_, options); });
}
bool Session::can_redo(const Undo_Stack_Options& options) {
  require_writer();
  return interruptibly(options_.check_interrupt, [&] { return joedb::can_redo(*store_, options); });
}

// ---- Arrow --------------------------------------------------------------------------------------

namespace {

// Reads a stream into memory, and provides the content as another stream.
class Collected_Stream {
 public:
  // Reads `in` to its end, and releases it, also if this throws.
  // Calls `check` after each item.
  Collected_Stream(ArrowArrayStream* in, const std::function<void()>& check) {
    try {
      read(*in, check);
    } catch (...) {
      release();
      in->release(in);
      throw;
    }
    in->release(in);
  }
  ~Collected_Stream() { release(); }
  Collected_Stream(const Collected_Stream&) = delete;
  Collected_Stream& operator=(const Collected_Stream&) = delete;

  // Returns the stream, which must not outlive this object.
  ArrowArrayStream stream() {
    ArrowArrayStream out{};
    out.get_schema = [](ArrowArrayStream* self, ArrowSchema* schema) {
      *schema = std::exchange(of(self).schema_, {});
      return 0;
    };
    out.get_next = [](ArrowArrayStream* self, ArrowArray* item) {
      Collected_Stream& collected = of(self);
      *item = {};
      if (collected.next_ < collected.items_.size())
        *item = std::exchange(collected.items_[collected.next_++], {});
      return 0;
    };
    out.get_last_error = [](ArrowArrayStream*) -> const char* { return nullptr; };
    out.release = [](ArrowArrayStream* self) { self->release = nullptr; };
    out.private_data = this;
    return out;
  }

 private:
  static Collected_Stream& of(ArrowArrayStream* stream) {
    return *static_cast<Collected_Stream*>(stream->private_data);
  }

  void read(ArrowArrayStream& in, const std::function<void()>& check) {
    require(in, in.get_schema(&in, &schema_));
    for (;;) {
      items_.emplace_back();
      require(in, in.get_next(&in, &items_.back()));
      if (items_.back().release == nullptr) break;
      check();
    }
    items_.pop_back();
  }

  static void require(ArrowArrayStream& in, int code) {
    if (code == 0) return;
    const char* const text = in.get_last_error(&in);
    throw Exception("the stream fails: " +
                    std::string(text != nullptr ? text : "error " + std::to_string(code)));
  }

  void release() {
    if (schema_.release != nullptr) schema_.release(&schema_);
    for (ArrowArray& item : items_)
      if (item.release != nullptr) item.release(&item);
  }

  ArrowSchema schema_{};
  std::vector<ArrowArray> items_;
  std::size_t next_ = 0;
};

}  // namespace

Arrow_Imported Session::import(Table_Id table, ArrowArrayStream* in,
                               const Arrow_Import_Options& options) {
  Collected_Stream collected(in, options_.check_interrupt);
  const bool is_own_transaction = !is_in_transaction();
  return change([&] {
    ArrowArrayStream stream = collected.stream();
    Writable_Database& database = store();
    const Offset before = database.place().position;
    try {
      const Arrow_Imported imported = interruptibly(
          options.check, [&] { return import_stream(database, table, &stream, options); });
      if (is_own_transaction && options.check) options.check();  // before the commit
      return imported;
    } catch (...) {
      must_roll_back_ = must_roll_back_ || database.place().position != before;
      throw;
    }
  });
}

// ---- changes ------------------------------------------------------------------------------------

Writable_Database& Session::store() {
  require_transaction();
  pins_->before_change();
  must_rebuild_ = true;
  return *store_;
}

Value Session::write_blob(const Field_Input& input) {
  return input.bytes ? Value(store_->write_blob(*input.bytes)) : input.value;
}

static bool is_optional(const Field& field) {
  return field.column && field.column->logical().is_optional;
}

// Adds the values of a new record in fields without a given one: in all of them, or only in those
// that are optional.
static void add_omitted(const Table& table, std::span<const Field_Input> inputs, bool in_all,
                        std::vector<std::pair<Field_Id, Value>>& values) {
  for (std::size_t i = 0; i < table.fields().size(); ++i) {
    const Field_Id field(static_cast<std::uint16_t>(i + 1));
    const Field* const found = table.find_field(field);
    if (found == nullptr || (!in_all && !is_optional(*found)) ||
        std::any_of(inputs.begin(), inputs.end(),
                    [&](const Field_Input& x) { return x.field == field; }))
      continue;
    const Column_Base& column = *found->column;
    values.emplace_back(
        field, visit_type(column.type().code, [&]<class T>(std::type_identity<T>) -> Value {
          return column.logical().is_optional ? missing_value<T>(column.logical()) : T();
        }));
  }
}

Record_Id Session::insert(Table_Id table_id, std::span<const Field_Input> inputs,
                          std::optional<Record_Id> id) {
  require_transaction();
  Table& table = database_->table(table_id);
  pins_->before_change(table_id);
  const Record_Id record = id ? *id : store_->next_free(table);
  // In the journal, the bytes of blobs precede the values that refer to them. If an id is reused,
  // all fields are written, because the tools of joedb 10 would otherwise show old values.
  std::vector<std::pair<Field_Id, Value>> values;
  const bool is_reused = record.value() < table.records().size();
  // Fields that are optional are written, too, because their default value means something else.
  const bool has_bytes = std::any_of(inputs.begin(), inputs.end(),
                                     [](const Field_Input& input) { return bool(input.bytes); });
  const bool has_optional = std::any_of(table.fields().begin(), table.fields().end(), is_optional);
  const bool has_indexes = !table.indexes().empty();
  const bool has_own_values = is_reused || has_bytes || has_optional || has_indexes;
  if (has_own_values) {
    for (const Field_Input& input : inputs) values.emplace_back(input.field, write_blob(input));
    if (is_reused || has_optional) add_omitted(table, inputs, is_reused, values);
    // A key counts in a unique index when its last field is written (Index::counts).
    std::stable_sort(values.begin(), values.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
  }
  const auto write = [&](auto write_one) {
    const auto visit = [&](Field_Id field, const Value& value) {
      std::visit([&](const auto& v) { write_one(field, v); }, value);
    };
    if (has_own_values)
      for (const auto& [field, value] : values) visit(field, value);
    else
      for (const Field_Input& input : inputs) visit(input.field, input.value);
  };
  if (!must_rebuild_) {
    undo_->insert(table, record, [&] {
      write([&]<class T>(Field_Id field, const T& value) {
        undo_->set_new_value<T>(table, field, record, value);
      });
    });
    return record;
  }
  store_->write(Insert{table_id, record});
  try {
    write([&]<class T>(Field_Id field, const T& value) {
      store_->write(Update<T>{table_id, record, field, value});
    });
  } catch (...) {
    try {
      store_->write_alone(Delete{table_id, record});
    } catch (const std::exception&) {  // the other exception is more informative
      must_roll_back_ = true;
    }
    throw;
  }
  return record;
}

void Session::write_values(Table& table, Record_Id record, std::span<const Field_Input> inputs) {
  for (const Field_Input& input : inputs)
    std::visit(
        [&]<class T>(const T& value) {
          if (!must_rebuild_)
            undo_->update<T>(table, input.field, record, value);
          else
            store_->write(Update<T>{table.id(), record, input.field, value});
        },
        write_blob(input));
}

void Session::update(Table_Id table_id, Record_Id record, std::span<const Field_Input> inputs) {
  require_transaction();
  Table& table = database_->table(table_id);
  table.require_used(record);
  pins_->before_change(table_id);
  if (inputs.size() < 2) return write_values(table, record, inputs);
  if (must_rebuild_) {
    try {
      return write_values(table, record, inputs);
    } catch (...) {
      must_roll_back_ = true;
      throw;
    }
  }
  try {
    write_together(table, record, inputs, [] {});
  } catch (const Unique_Violation&) {
    if (undo_->is_broken()) throw;
    // A key of several fields may be that of another record until all of them are written. So the
    // last field of the key is reset first: the key does not count then (Index::counts).
    std::vector<Field_Input> sorted(inputs.begin(), inputs.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.field < b.field; });
    write_together(table, record, sorted, [&] { reset_last_keys(table, record, inputs); });
  }
}

// Calls prepare(), then writes the values. If this throws, nothing has changed.
template <class F>
void Session::write_together(Table& table, Record_Id record, std::span<const Field_Input> inputs,
                             F prepare) {
  const Undo_Log::Savepoint savepoint = undo_->savepoint();
  try {
    prepare();
    write_values(table, record, inputs);
  } catch (...) {
    try {
      undo_->rollback_to(savepoint);
    } catch (const std::exception&) {  // is_broken(); the other exception says more
    }
    throw;
  }
}

// Gives the last field of each unique index of several fields its default value, if it is one of
// `inputs`.
void Session::reset_last_keys(Table& table, Record_Id record, std::span<const Field_Input> inputs) {
  for (const auto& index : table.indexes()) {
    const std::vector<Field_Id>& fields = index->definition().fields;
    const Field_Id last = *std::max_element(fields.begin(), fields.end());
    const bool is_input = std::any_of(inputs.begin(), inputs.end(), [&](const Field_Input& input) {
      return input.field == last;
    });
    if (!index->definition().is_unique || fields.size() < 2 || !is_input) continue;
    visit_type(table.find_field(last)->column->type().code,
               [&]<class T>(std::type_identity<T>) { undo_->update<T>(table, last, record, T()); });
  }
}

void Session::erase(Table_Id table_id, std::span<const Record_Id> records) {
  require_transaction();
  Table& table = database_->table(table_id);
  for (const Table_Id changed : tables_changed_by_deletion(*database_, table_id))
    pins_->before_change(changed);
  if (must_rebuild_)
    store_->erase(table_id, records);
  else
    undo_->erase(table, records);
}

}  // namespace joedb
