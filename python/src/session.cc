#include "session.h"

#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <set>

#include "joedb/io/memory_file.h"
#include "joedb/io/posix_file.h"
#include "joedb/replica/local_copy.h"
#include "joedb/table/load.h"
#include "journal/past_file.h"
#include "objects.h"

#ifdef JOEDB_HAS_NETWORK
#include "joedb/network/tcp_connector.h"
#endif

namespace joedb::python {

namespace {

// How often this process has been made by a fork: what was opened before is not its own.
std::atomic<int> forks = 0;
const int fork_handler = pthread_atfork(nullptr, nullptr, [] { ++forks; });

// Guarded by the lock of the interpreter.
std::set<Session*>& sessions() {
  static auto* const set = new std::set<Session*>;
  return *set;
}

// Throws KeyboardInterrupt, or what another handler of a signal has thrown.
void check_signals() {
  const nb::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

constexpr std::chrono::milliseconds longest_pause{20};

// Sleeps that signals interrupt.
class Interruptible_System final : public System {
 public:
  void sleep(Duration duration) override {
    const Time end = after(now(), duration);
    for (;;) {
      check_signals();
      const Duration left = end - now();
      if (left <= Duration(0)) return;
      System::sleep(std::min<Duration>(left, 2 * longest_pause));
    }
  }
};

// A file whose locks are waited for so that signals and the timeout end it.
class Interruptible_File final : public File {
 public:
  Interruptible_File(const std::string& name, Open_Mode mode, double timeout)
      : File(name, mode), timeout_(timeout) {}

  void exclusive_lock(Offset start, Offset size) override {
    if (try_exclusive_lock(start, size)) return;
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begin = Clock::now();
    auto pause = std::chrono::milliseconds(1);
    do {
      check_signals();
      if (timeout_ >= 0 && std::chrono::duration<double>(Clock::now() - begin).count() >= timeout_)
        throw Lock_Timeout(get_name() + " is being written by somebody else, for more than " +
                           seconds_text() + " seconds");
      System::real().sleep(pause);
      pause = std::min(2 * pause, longest_pause);
    } while (!try_exclusive_lock(start, size));
  }

 private:
  std::string seconds_text() const {
    std::string text = std::to_string(timeout_);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text;
  }

  const double timeout_;
};

Open_Mode parse_mode(const std::string& mode) {
  if (mode == "r") return Open_Mode::read_existing;
  if (mode == "w") return Open_Mode::write_existing_or_create_new;
  if (mode == "r+") return Open_Mode::write_existing;
  if (mode == "x") return Open_Mode::create_new;
  if (mode == "shared") return Open_Mode::shared_write;
  throw nb::value_error("the mode is none of \"w\", \"r\", \"r+\", \"x\" and \"shared\"");
}

Recovery parse_recovery(const std::string& name, bool is_shared) {
  if (name.empty()) return is_shared ? Recovery::keep : Recovery::none;
  if (name == "none") return Recovery::none;
  if (name == "keep") return Recovery::keep;
  if (name == "overwrite") return Recovery::overwrite;
  if (name == "hard") return Recovery::hard;
  if (name == "ignore_header") return Recovery::ignore_header;
  throw nb::value_error(
      "the recovery is none of \"none\", \"keep\", \"overwrite\", \"hard\" and "
      "\"ignore_header\"");
}

constexpr char memory_name[] = ":memory:";

}  // namespace

const Field_Info* Table_Info::find(PyObject* name) const {
  for (const Field_Info& field : fields)
    if (field.name.ptr() == name) return &field;
  if (!PyUnicode_Check(name)) return nullptr;
  for (const Field_Info& field : fields)
    if (PyUnicode_Compare(field.name.ptr(), name) == 0) return &field;
  return nullptr;
}

// ---- opening ------------------------------------------------------------------------------------

std::shared_ptr<Session> Session::open(Open_Request request) {
  const bool is_memory = request.path == memory_name;
  const Open_Mode mode = parse_mode(request.mode);
  if (is_memory && mode == Open_Mode::read_existing)
    throw nb::value_error("a database in memory is new: it cannot be opened for reading");
  if (mode == Open_Mode::read_existing && !request.server.empty())
    throw nb::value_error("a copy of what a server has is written: mode=\"r\" is not possible");
  parse_recovery(request.recovery, false);

  std::shared_ptr<Session> session(new Session);
  sessions().insert(session.get());
  session->name_ = request.path;
  without_interpreter([&] {
    Session& s = *session;
    if (is_memory)
      s.file_ = std::make_unique<Memory_File>();
    else
      s.file_ = std::make_unique<Interruptible_File>(request.path, mode, request.timeout);
    if (mode == Open_Mode::read_existing)
      s.open_reader(request);
    else
      s.open_writer(request, mode);
  });
  return session;
}

void Session::open_reader(const Open_Request& request) {
  journal_ = std::make_unique<Readonly_Journal>(*file_, parse_recovery(request.recovery, false));
  load(own_database_, *journal_);
  database_ = &own_database_;
  pins_ = std::make_unique<Arrow_Pins>(*database_);
}

void Session::open_writer(const Open_Request& request, Open_Mode mode) {
  const bool is_shared = mode == Open_Mode::shared_write;
  connect(request);
  store_ = std::make_unique<Writable_Database>(*file_, parse_recovery(request.recovery, is_shared),
                                               Deleted_Values::reset);
  database_ = &store_->get_database();
  pins_ = std::make_unique<Arrow_Pins>(*database_);
  copy_ = std::make_unique<Writable_Copy<Writable_Database>>(*store_);
  client_ = std::make_unique<Client>(*copy_, connection_ ? *connection_ : Connection::dummy,
                                     Content_Check::fast);
  client_->set_timestamp(request.has_timestamps);
  undo_ = std::make_unique<Undo_Log>(*store_);
  is_hard_ = request.is_hard;
  may_wait_ = is_shared || connection_ != nullptr;
  if (connection_ != nullptr) client_->pull();
}

void Session::connect([[maybe_unused]] const Open_Request& request) {
  if (request.server.empty()) return;
#ifdef JOEDB_HAS_NETWORK
  if (request.server.find("://") == std::string::npos)
    connector_ = std::make_unique<Local_Connector>(request.server);
  else
    connector_ = std::make_unique<Tcp_Connector>(
        Tcp_Address::parse(request.server),
        Tls_Identity{.authority_file = request.authority_file, .token_file = request.token_file});
  system_ = std::make_unique<Interruptible_System>();
  connection_ = std::make_unique<Robust_Connection>(*connector_, Logger::none(), *system_);
#else
  throw Exception("this joedb was built without Asio and OpenSSL: it cannot talk to servers");
#endif
}

std::shared_ptr<Session> Session::past(Moment moment) {
  std::shared_ptr<Session> session(new Session);
  sessions().insert(session.get());
  session->name_ = name_;
  session->is_past_ = true;
  const std::shared_ptr<Abstract_File> reader = open_reader();
  without_interpreter([&] {
    const Offset end = find_moment(*reader, moment);
    {
      Readonly_Journal journal(*reader);
      if (end > journal.get_checkpoint()) require_entry_end(journal, end);
    }
    session->past_of_ = reader;
    session->past_end_ = end;
    session->file_ = std::make_unique<Past_File>(reader, end);
    session->open_reader(Open_Request{});
  });
  return session;
}

std::shared_ptr<Abstract_File> Session::open_reader() {
  if (past_of_ != nullptr) return std::make_shared<Past_File>(past_of_, past_end_);
  if (file_->is_replaced()) throw Exception(name_ + " was replaced by another file: open it again");
  if (std::shared_ptr<Abstract_File> file = file_->open_beside("", Open_Mode::read_existing))
    return file;
  // In memory.
  auto copy = std::make_shared<Memory_File>();
  file_->copy_to(*copy);
  return copy;
}

// ---- closing ------------------------------------------------------------------------------------

Session::Use::Use(Session& session) : session_(session) {
  // The lock may be that of a thread that is not in this process.
  if (session.forks_ != forks)
    throw Closed(session.name_ +
                 " was opened before this process was made by a fork: open it here");
  if (!session.mutex_.try_lock()) without_interpreter([&] { session.mutex_.lock(); });
  if (session.is_closed()) {
    session.mutex_.unlock();
    throw Closed(session.name_ + " is closed");
  }
}

int Session::fork_count() { return forks; }

void Session::close() {
  if (is_closed()) return;
  if (is_in_transaction()) roll_back_after_error();
  database_ = nullptr;  // whatever follows, this is closed
  without_interpreter([&] {
    sql_.reset();
    pins_.reset();
    client_.reset();
    copy_.reset();
    undo_.reset();
    store_.reset();
    journal_.reset();
    own_database_ = Database(Deleted_Values::reset);
    connection_.reset();
    file_.reset();
    past_of_.reset();
  });
}

Session::~Session() {
  sessions().erase(this);
  if (forks_ != forks) {
    // The parent goes on with the file, its locks, and what is in the buffers.
    for (void* p : {static_cast<void*>(lock_.release()), static_cast<void*>(client_.release()),
                    static_cast<void*>(copy_.release()), static_cast<void*>(undo_.release()),
                    static_cast<void*>(pins_.release()), static_cast<void*>(sql_.release()),
                    static_cast<void*>(store_.release()), static_cast<void*>(journal_.release()),
                    static_cast<void*>(connection_.release()), static_cast<void*>(file_.release())})
      static_cast<void>(p);
    new std::shared_ptr<Abstract_File>(past_of_);
    return;
  }
  close();
}

void Session::close_all() {
  const std::vector<Session*> all(sessions().begin(), sessions().end());
  for (Session* const session : all) {
    if (session->forks_ != forks || !session->mutex_.try_lock()) continue;
    session->close();
    session->mutex_.unlock();
  }
}

// ---- reading ------------------------------------------------------------------------------------

std::size_t Session::schema_version() const {
  return database_->schema_entries().size() + (rollbacks_ << 40);
}

const Table_Info& Session::table_info(const Table& table) {
  if (schema_version() != info_version_) {
    infos_.clear();
    info_version_ = schema_version();
  }
  const std::size_t index = table.id().value();
  if (index >= infos_.size()) infos_.resize(index + 1);
  std::unique_ptr<Table_Info>& info = infos_[index];
  if (info == nullptr) {
    auto made = std::make_unique<Table_Info>();
    for (std::size_t i = 0; i < table.fields().size(); ++i) {
      const Field_Id id(static_cast<std::uint16_t>(i + 1));
      const Field* const field = table.find_field(id);
      if (field == nullptr) continue;
      const nb::object name = nb::steal(PyUnicode_InternFromString(field->name.c_str()));
      made->fields.push_back({name, id, field->column->type(), is_attribute_of_records(name)});
    }
    info = std::move(made);
  }
  return *info;
}

Table& Session::table(Table_Id id) const {
  Table* const table = database_->find_table(id);
  if (table == nullptr) throw Data_Error("the table was dropped");
  return *table;
}

Offset Session::checkpoint() const {
  return store_ ? std::as_const(*store_).get_journal().get_checkpoint()
                : journal_->get_checkpoint();
}

std::string Session::read_blob(Blob blob) {
  return store_ ? store_->read_blob(blob) : file_->read_blob(blob);
}

Abstract_File& Session::flushed_file() {
  if (store_) store_->flush();
  return *file_;
}

Offset Session::pull(double wait) {
  if (is_in_transaction())
    throw Exception(
        "a transaction begins with what others have written: nothing can be pulled in "
        "it");
  pins_->before_change();
  if (store_ && store_->must_build()) forget_tables();
  Interruptible_System system;
  const auto pull_once = [&](System::Duration duration) -> Offset {
    if (client_) return client_->pull(duration, system);
    const Offset size = journal_->pull();
    load(own_database_, *journal_);
    return size;
  };
  const System::Time end =
      System::after(system.now(), std::chrono::duration_cast<System::Duration>(
                                      std::chrono::duration<double>(std::clamp(wait, 0.0, 1e9))));
  return without_interpreter([&] {
    Offset size = 0;
    for (;;) {
      const System::Duration left = end - system.now();
      constexpr System::Duration longest = std::chrono::milliseconds(200);
      const System::Duration part = std::clamp(left, System::Duration(0), longest);
      size = pull_once(part);
      if (size > 0 || left <= System::Duration(0)) return size;
      if (client_)
        check_signals();
      else
        system.sleep(std::min<System::Duration>(left, longest_pause));
    }
  });
}

// ---- transactions -------------------------------------------------------------------------------

void Session::require_writer() {
  if (is_past_) throw Exception(name_ + ": a past state cannot be changed");
  if (client_ == nullptr) throw Exception(name_ + " is opened for reading only");
  if (is_in_transaction() && owner_ != std::this_thread::get_id())
    throw Exception(name_ + ": another thread is in a transaction");
}

void Session::begin(const std::string& why, const std::string& author, bool is_hard) {
  require_writer();
  if (is_in_transaction()) throw Exception(name_ + ": there is a transaction already");
  std::unique_ptr<Client_Lock> lock;
  if (may_wait_) {
    pins_->before_change();
    if (store_->must_build()) forget_tables();
    without_interpreter([&] { lock = std::make_unique<Client_Lock>(*client_); });
  } else {
    lock = std::make_unique<Client_Lock>(*client_);
  }
  undo_->clear();
  start_ = undo_->savepoint();
  must_rebuild_ = false;
  client_->set_hard_checkpoint(is_hard);
  client_->set_author(author);
  owner_ = std::this_thread::get_id();
  lock_ = std::move(lock);
  if (why.empty() && author.empty()) return;
  try {
    lock_->explain(why);
  } catch (...) {
    roll_back_after_error();
    throw;
  }
}

void Session::end() {
  lock_.reset();
  if (undo_->is_broken())
    undo_ = std::make_unique<Undo_Log>(*store_);
  else
    undo_->clear();
}

void Session::commit() {
  constexpr Offset many = 1 << 20;
  const Offset size = store_->ahead_of_checkpoint();
  if (undo_->is_broken()) throw Exception(name_ + ": a change could not be taken back");
  const auto write = [&] {
    if (size > 0)
      lock_->checkpoint_and_push_unlock();
    else
      lock_->unlock();
  };
  try {
    if (may_wait_ || size > many || client_->settings().is_hard)
      without_interpreter(write);
    else
      write();
  } catch (...) {
    roll_back_after_error();
    throw;
  }
  end();
}

void Session::rollback() {
  pins_->before_change();
  const auto roll_back = [&] {
    if (!must_rebuild_ && !undo_->is_broken()) undo_->rollback_to(start_);
    lock_->unlock();
  };
  if (must_rebuild_) forget_tables();
  without_interpreter(roll_back);
  end();
}

// What is thrown already says more.
void Session::roll_back_after_error() noexcept {
  if (!is_in_transaction()) return;
  try {
    rollback();
    return;
  } catch (const std::exception&) {
  }
  forget_tables();
  try {
    lock_->unlock();
  } catch (const std::exception&) {
    lock_->abandon();
  }
  end();
}

void Session::forget_tables() {
  ++rollbacks_;
  infos_.clear();
  sql_.reset();
}

void Session::give_up_undo() { must_rebuild_ = true; }

void Session::hard_checkpoint() {
  begin("", "", true);
  try {
    without_interpreter([&] {
      store_->hard_checkpoint();
      lock_->unlock();
    });
  } catch (...) {
    roll_back_after_error();
    throw;
  }
  end();
}

}  // namespace joedb::python
