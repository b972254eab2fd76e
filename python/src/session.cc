#include "session.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <set>
#include <thread>

#include "objects.h"

namespace joedb::python {

namespace {

// The number of forks since the module was loaded, in this process and its ancestors. Sessions
// opened before the last fork belong to the parent process.
std::atomic<int> forks = 0;
[[maybe_unused]] const int fork_handler = pthread_atfork(nullptr, nullptr, [] { ++forks; });

// Guarded by the GIL. Never destroyed, because objects may still exist at the end of the program.
std::set<Shared_Session*>& sessions() {
  static auto* const set = new std::set<Shared_Session*>;
  return *set;
}

const std::thread::id main_thread = std::this_thread::get_id();
std::atomic<bool> is_ending = false;

Open_Mode parse_mode(const std::string& mode) {
  if (mode == "r") return Open_Mode::read_existing;
  if (mode == "w") return Open_Mode::write_existing_or_create_new;
  if (mode == "r+") return Open_Mode::write_existing;
  if (mode == "x") return Open_Mode::create_new;
  if (mode == "shared") return Open_Mode::shared_write;
  throw nb::value_error("the mode is none of \"w\", \"r\", \"r+\", \"x\" and \"shared\"");
}

std::optional<Recovery> parse_recovery(const std::string& name) {
  if (name.empty()) return {};
  if (name == "none") return Recovery::none;
  if (name == "keep") return Recovery::keep;
  if (name == "overwrite") return Recovery::overwrite;
  if (name == "hard") return Recovery::hard;
  if (name == "ignore_header") return Recovery::ignore_header;
  throw nb::value_error(
      "the recovery is none of \"none\", \"keep\", \"overwrite\", \"hard\" and "
      "\"ignore_header\"");
}

}  // namespace

void Without_Interpreter::stop_at_exit() {
  while (is_ending && std::this_thread::get_id() != main_thread) pause();
}

// Only the main thread acquires the GIL here. At the end of the program, acquiring it would
// terminate any other thread.
void check_signals() {
  if (std::this_thread::get_id() != main_thread) return;
  const nb::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// Another thread asks for the GIL when it has waited for 5 ms without being woken, and then gets
// it. Releasing it more often would only wake that thread in vain.
void give_way() {
  using Clock = std::chrono::steady_clock;
  static Clock::time_point next{};  // guarded by the GIL
  if (const Clock::time_point now = Clock::now(); now >= next) {
    next = now + std::chrono::milliseconds(15);
    const Without_Interpreter release;
  }
  check_signals();
}

// ---- tasks --------------------------------------------------------------------------------------

namespace {

std::atomic<std::uint64_t> transactions = 0;

PyObject* transactions_variable() {
  static PyObject* const variable = PyContextVar_New("joedb_transactions", nullptr);
  if (variable == nullptr) throw nb::python_error();
  return variable;
}

// Returns the current asyncio task; None if there is none, or if asyncio was not imported.
nb::object current_task() {
  PyObject* const module = PyDict_GetItemString(PyImport_GetModuleDict(), "asyncio");
  if (module == nullptr) return nb::none();
  const nb::handle asyncio(module);
  if (!nb::hasattr(asyncio, "_get_running_loop") || !nb::hasattr(asyncio, "current_task"))
    return nb::none();  // asyncio is being imported
  const nb::object loop = asyncio.attr("_get_running_loop")();
  return loop.is_none() ? nb::none() : nb::object(asyncio.attr("current_task")(loop));
}

}  // namespace

nb::tuple outer_transactions() {
  PyObject* value = nullptr;
  if (PyContextVar_Get(transactions_variable(), nullptr, &value) != 0) throw nb::python_error();
  if (value == nullptr) return nb::make_tuple();
  return nb::steal<nb::tuple>(value);
}

void set_outer_transactions(const nb::tuple& numbers) {
  const nb::object token = nb::steal(PyContextVar_Set(transactions_variable(), numbers.ptr()));
  if (!token.is_valid()) throw nb::python_error();
}

template <class Item>
static const Item* find_by_name(const std::vector<Item>& items, PyObject* name) {
  for (const Item& item : items)
    if (item.name.ptr() == name) return &item;
  if (!PyUnicode_Check(name)) return nullptr;
  for (const Item& item : items)
    if (PyUnicode_Compare(item.name.ptr(), name) == 0) return &item;
  return nullptr;
}

const Field_Info* Table_Info::find(PyObject* name) const { return find_by_name(fields, name); }

const Back_Reference* Table_Info::find_back_reference(PyObject* name) const {
  return find_by_name(back_references, name);
}

// ---- opening and closing ------------------------------------------------------------------------

Shared_Session::Shared_Session(std::string name) : name_(std::move(name)) {
  sessions().insert(this);
}

std::shared_ptr<Shared_Session> Shared_Session::open(const std::string& path,
                                                     const std::string& mode,
                                                     const std::string& recovery,
                                                     Session_Options options) {
  const Open_Mode open_mode = parse_mode(mode);
  options.recovery = parse_recovery(recovery);
  options.check_interrupt = check_signals;
  std::shared_ptr<Shared_Session> shared(new Shared_Session(path));
  shared->timeout_ =
      options.timeout.value_or(std::chrono::duration<double>(default_busy_timeout).count());
  shared->session_ = without_interpreter(
      [&] { return std::make_unique<Session>(path, open_mode, std::move(options)); });
  return shared;
}

std::shared_ptr<Shared_Session> Shared_Session::past(Moment moment) {
  std::shared_ptr<Shared_Session> shared(new Shared_Session(name_));
  shared->session_ = without_interpreter([&] { return session_->past(moment); });
  return shared;
}

Shared_Session::Use::Use(Shared_Session& session, bool skips_checks) : session_(session) {
  // Check this before locking, because the mutex may be held by a thread that exists only in the
  // parent.
  if (session.forks_ != forks)
    throw Closed(session.name_ +
                 " was opened before this process was made by a fork: open it here");
  if (!session.mutex_.try_lock())
    without_interpreter([&] {
      constexpr std::chrono::milliseconds patience{50};
      while (!session.mutex_.try_lock_for(patience)) check_signals();
    });
  if (session.is_closed()) {
    session.mutex_.unlock();
    throw Closed(session.name_ + " is closed");
  }
  try {
    if (skips_checks) {
      ++session.uses_;
      return;
    }
    if (session.is_in_call_)
      throw Exception(session.name_ + " is in the middle of another call of this thread");
    session.session_->require_intact();
  } catch (...) {
    session.mutex_.unlock();
    throw;
  }
  ++session.uses_;
}

Shared_Session::Use::~Use() {
  if (--session_.uses_ == 0) {
    if (session_.must_roll_back_) session_.drop_now();
    if (session_.must_close_) session_.close_now();
    const bool is_free = session_.session_ == nullptr || !session_.session_->is_in_transaction();
    if (is_free && !session_.waiting_.empty()) session_.notify();
  }
  session_.mutex_.unlock();
}

Shared_Session::Turn::Turn(Shared_Session& session) {
  use_.emplace(session);
  if (session.waiting_.empty() || session->is_in_transaction_of_this_thread()) {
    if (session.is_my_turn()) return;
  }
  // This thread holds an outer Use, for which the thread in the transaction waits. Waiting here
  // would be a deadlock. Instead, Session will report the other transaction.
  if (session.uses_ > 1) return;
  for (const nb::handle number : outer_transactions())
    if (session->is_in_transaction() && nb::cast<std::uint64_t>(number) == session.transaction_)
      throw Exception(session.name_ +
                      ": another thread is in a transaction, and waits for this one: write there");
  wait(session);
}

void Shared_Session::Turn::wait(Shared_Session& session) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  const std::uint64_t ticket = ++session.last_ticket_;
  session.waiting_.push_back(ticket);
  try {
    for (;;) {
      const std::uint64_t seen = session.turns_;
      use_.reset();
      const std::chrono::duration<double> waited = Clock::now() - begin;
      if (session.timeout_ >= 0 && waited.count() >= session.timeout_)
        throw Lock_Timeout(session.name_, ::getpid(), "another thread, in a transaction",
                           std::chrono::duration_cast<Lock_Timeout::Duration>(waited));
      without_interpreter([&] {
        std::chrono::duration<double> patience{0.05};
        if (session.timeout_ >= 0)
          patience = std::min(patience, std::chrono::duration<double>(session.timeout_) - waited);
        std::unique_lock lock(session.turn_mutex_);
        session.turn_changed_.wait_for(lock, patience, [&] { return session.turns_ != seen; });
        lock.unlock();
        check_signals();
      });
      use_.emplace(session);
      if (session.waiting_.front() == ticket && session.is_my_turn()) break;
    }
  } catch (...) {
    std::erase(session.waiting_, ticket);
    session.notify();
    throw;
  }
  session.waiting_.pop_front();
}

bool Shared_Session::is_my_turn() const {
  if (!session_->is_in_transaction()) return true;
  if (!session_->is_in_transaction_of_this_thread()) return false;
  if (task_.is_valid() && !nb::object(task_()).is(current_task()))
    throw Exception(name_ +
                    ": another task is in a transaction, and would have what this one writes; an "
                    "asyncio.Lock lets tasks take turns");
  return true;
}

void Shared_Session::notify() noexcept {
  {
    const std::lock_guard lock(turn_mutex_);
    ++turns_;
  }
  turn_changed_.notify_all();
}

std::uint64_t Shared_Session::bind_to_task() {
  const nb::object task = current_task();
  if (!task.is_none()) {
    task_ = nb::steal(PyWeakref_NewRef(task.ptr(), nullptr));
    if (!task_.is_valid()) throw nb::python_error();
  }
  transaction_ = ++transactions;
  return transaction_;
}

int Shared_Session::fork_count() { return forks; }

void Shared_Session::close() {
  must_close_ = true;
  if (uses_ > 1 || session_ == nullptr) return;  // the end of the outer Use closes it
  std::exception_ptr error;
  try {
    without_interpreter([&] { session_->close(); });
  } catch (...) {
    error = std::current_exception();
  }
  close_now();
  if (error) std::rethrow_exception(error);
}

void Shared_Session::close_now() noexcept {
  if (session_ == nullptr) return;
  without_interpreter([&, session = std::move(session_), sql = std::move(sql_)]() mutable {
    sql.reset();
    session.reset();
  });
}

Shared_Session::~Shared_Session() {
  sessions().erase(this);
  if (forks_ != forks) {
    // Leave them alone: the parent process uses the file, its locks and the buffered bytes.
    static_cast<void>(sql_.release());
    static_cast<void>(session_.release());
    return;
  }
  close_now();
}

void Shared_Session::close_all() {
  is_ending = true;
  const std::vector<Shared_Session*> all(sessions().begin(), sessions().end());
  std::exception_ptr error;
  for (Shared_Session* const session : all) {
    if (session->forks_ != forks || !session->mutex_.try_lock()) continue;
    try {
      session->close();
    } catch (...) {
      error = std::current_exception();
    }
    session->mutex_.unlock();
  }
  if (error) std::rethrow_exception(error);
}

// ---- reading ------------------------------------------------------------------------------------

const Table_Info& Shared_Session::table_info(const Table& table) {
  if (session_->schema_version() != info_version_) {
    infos_.clear();
    info_version_ = session_->schema_version();
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
      made->fields.push_back({name, id, field->column->type(), is_attribute_of_records(name),
                              field->column->shared_logical()});
    }
    if (const auto* const referrers = session_->database().find_referrers(table.id()))
      for (const auto& [place, rule] : referrers->fields) {
        const Table& referrer = session_->table(place.first);
        const std::string& field = referrer.find_field(place.second)->name;
        const std::string name = referrer.name() + "_by_" + field;
        made->back_references.push_back({nb::steal(PyUnicode_InternFromString(name.c_str())),
                                         place.first, nb::str(field.c_str(), field.size())});
      }
    info = std::move(made);
  }
  return *info;
}

std::unique_ptr<Sql_Connection>& Shared_Session::sql() {
  if (session_->schema_version() != sql_version_) sql_.reset();
  sql_version_ = session_->schema_version();
  return sql_;
}

Offset Shared_Session::pull(double wait) {
  const Call call(*this);
  return without_interpreter([&] { return session_->pull(wait); });
}

// ---- transactions -------------------------------------------------------------------------------

void Shared_Session::begin(const std::string& why, const std::string& author, bool is_hard) {
  const Call call(*this);
  const auto run = [&] { session_->begin(why, author, is_hard); };
  if (session_->is_shared())
    without_interpreter(run);
  else
    run();
  // Clear the values of the previous transaction. bind_to_task() sets those of this one.
  task_.reset();
  transaction_ = 0;
}

// A commit of more bytes than this takes long.
static constexpr Offset many_bytes = 1 << 20;

void Shared_Session::look_before_commit() {
  const Call call(*this);
  check_signals();
}

void Shared_Session::commit() {
  const Call call(*this);
  const auto run = [&] { session_->commit(); };
  if (session_->is_shared() || session_->is_transaction_hard() ||
      session_->uncommitted() > many_bytes)
    without_interpreter(run);
  else
    run();
}

void Shared_Session::rollback() {
  const Call call(*this);
  if (session_->is_in_transaction()) without_interpreter([&] { session_->rollback(); });
}

void Shared_Session::roll_back_after_error() noexcept {
  try {
    rollback();
  } catch (const std::exception&) {
  }
}

void Shared_Session::drop_transaction() {
  if (is_closed()) return;
  must_roll_back_ = true;
  if (!mutex_.try_lock()) return;  // the thread that holds it will roll back
  if (uses_ == 0) drop_now();
  mutex_.unlock();
}

void Shared_Session::drop_now() noexcept {
  must_roll_back_ = false;
  const Call call(*this);
  try {
    without_interpreter([&] { session_->rollback_of_any_thread(); });
  } catch (const Exception&) {  // the next begin() throws it
  }
}

void Shared_Session::hard_checkpoint() {
  const Call call(*this);
  without_interpreter([&] { session_->hard_checkpoint(); });
}

bool Shared_Session::write_snapshot() {
  const Call call(*this);
  return without_interpreter([&] { return session_->write_snapshot(); });
}

bool Shared_Session::can_undo(const Undo_Stack_Options& options) {
  const Call call(*this);
  return without_interpreter([&] { return session_->can_undo(options); });
}

bool Shared_Session::can_redo(const Undo_Stack_Options& options) {
  const Call call(*this);
  return without_interpreter([&] { return session_->can_redo(options); });
}

void Shared_Session::undo(const Undo_Stack_Options& options) {
  const Call call(*this);
  without_interpreter([&] { session_->undo(options); });
}

void Shared_Session::redo(const Undo_Stack_Options& options) {
  const Call call(*this);
  without_interpreter([&] { session_->redo(options); });
}

}  // namespace joedb::python
