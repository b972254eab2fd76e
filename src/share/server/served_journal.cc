#include "share/server/served_journal.h"

#include "joedb/base/log.h"

namespace joedb::server {

// The file must have exactly the bytes of the clients, so the server appends no entries of its own.
// A server that was killed during a push must be able to restart, so bytes of an unacknowledged
// push are saved.
static Journal_Options for_server(Journal_Options options) {
  options.ends_transactions = false;
  if (!options.recovery) options.recovery = Recovery::keep;
  options.recent_size = std::size_t{1} << 18;
  return options;
}

template <class Store>
Written_Journal_Of<Store>::Written_Journal_Of(Abstract_File& file, Connection& connection,
                                              Content_Check check, bool is_hard,
                                              const Journal_Options& options,
                                              System::Duration busy_timeout)
    : Client_Store<Store>(file, connection, for_server(options)),
      written_file_(file),
      busy_timeout_(busy_timeout),
      client_(copy_, connection, check),
      is_shared_(file.is_shared()),
      is_connected_(&connection != &Connection::dummy),
      has_backup_file_(is_connected_ && !connection.can_wait()),
      may_block_(is_hard || is_shared_ || is_connected_) {
  copy_.set_copy();  // the file must end with the bytes that clients pushed
  if (!is_shared_) store_.recover();
  if (is_connected_) {
    client_.pull();
    // The other copy may lack a push, see keep_without_backup().
    if (client_.can_write()) client_.push_if_ahead();
  }
  // Before a crash, the server may have appended a push without making it durable. If the client
  // repeats the push, the server acknowledges it.
  if (is_hard && !is_shared_) store_.hard_checkpoint();
  client_.set_hard_checkpoint(is_hard);
  checkpoint_ = store_.get_journal().get_checkpoint();  // also if something failed after it
}

template <class Store>
Written_Journal_Of<Store>::~Written_Journal_Of() {
  end();
  if (!must_restore()) return;
  try {
    restore();
  } catch (const std::exception& error) {
    Destructor_Logger::warning(error.what());
  }
}

// After a failed hard checkpoint, the journal may have a soft one. Clients do not see it.
template <class Store>
void Written_Journal_Of<Store>::update() {
  const auto& journal = store_.get_journal();
  if (client_.settings().is_hard && journal.has_failed()) return;
  checkpoint_ = journal.get_checkpoint();
}

// Drops the entries of a push that was not rolled back. While they exist, nothing can be pulled or
// written.
template <class Store>
void Written_Journal_Of<Store>::drop_unfinished() {
  if (!store_.get_journal().has_failed()) client_.rollback();
}

// Calls f(). If the file was replaced, refuses clients from now on, so that they do not wait for
// it.
template <class Store>
template <class F>
void Written_Journal_Of<Store>::note_replaced(F f) {
  try {
    f();
  } catch (const File_Replaced&) {
    has_lost_file_ = true;
    throw;
  }
}

template <class Store>
void Written_Journal_Of<Store>::refresh() {
  if (lock_) return;
  drop_unfinished();
  note_replaced([&] {
    if (is_connected_)
      client_.pull();
    else if (is_shared_)
      client_.pull_file();
  });
  update();
}

// Calls f(), in which a wait for the shared file ends after a moment.
template <class Store>
template <class F>
void Written_Journal_Of<Store>::wait_briefly(F f) {
  constexpr std::chrono::milliseconds moment{100};  // readers of the server wait as long
  written_file_.set_busy_timeout(moment);
  try {
    f();
  } catch (...) {
    written_file_.set_busy_timeout(busy_timeout_);
    throw;
  }
  written_file_.set_busy_timeout(busy_timeout_);
}

template <class Store>
void Written_Journal_Of<Store>::begin() {
  if (!can_push()) return;
  drop_unfinished();
  note_replaced([&] {
    if (!is_shared_) {
      lock_.emplace(client_);
    } else if (!is_connected_) {
      wait_briefly([&] { lock_.emplace(client_); });
    } else {
      // The lock of the connection is taken before that of the file, and not while the file is
      // busy.
      wait_briefly([&] { copy_.lock_pull(); });
      copy_.unlock();
      lock_with_connection();
    }
  });
  update();
}

// A timeout of the connection is final: its time was set by the user.
template <class Store>
void Written_Journal_Of<Store>::lock_with_connection() {
  try {
    lock_.emplace(client_);
  } catch (const Lock_Timeout& error) {
    if (error.path == file().get_name()) throw;
    throw Disconnection(error.what());
  }
}

template <class Store>
void Written_Journal_Of<Store>::end() noexcept {
  if (lock_) lock_->abandon();
  lock_.reset();
}

// Does not lock a shared file, because another process may hold the lock for a long time.
template <class Store>
void Written_Journal_Of<Store>::finish() {
  end();
  if (must_restore()) restore();
  const auto& journal = store_.get_journal();
  if (!is_shared_ && !journal.has_failed() && journal.ahead_of_checkpoint() == 0)
    store_.hard_checkpoint();
}

template <class Store>
void Written_Journal_Of<Store>::push(const Abstract_File& source) {
  if (!lock_) throw Exception("this server could not be written when the lock was given");
  if constexpr (requires { store_.must_build(); })
    store_.append_without_rollback(source, source.get_size(), [&] {
      store_.get_database().require_readable_from(source.get_size());  // as the checkpoint does
    });
  else
    store_.append_from(source, source.get_size());
  const Offset start = store_.get_journal().get_checkpoint();
  try {
    lock_->push_and_checkpoint();
  } catch (const Io_Error&) {
    keep_without_backup(source, start);
    throw;
  } catch (const File_Replaced&) {
    has_lost_file_ = true;
    file().require_not_replaced();
    keep_without_backup(source, start);
    throw;
  }
  checkpoint_ = store_.get_journal().get_checkpoint();  // may have changed before an exception
}

template <class Store>
bool Written_Journal_Of<Store>::must_restore() const {
  if constexpr (requires { store_.must_build(); })
    return store_.must_build();
  else
    return false;
}

// The file of the connection has failed, and may or may not have the bytes. They must be in one of
// the files at least: appends them to this file, where the client will look for them. At its next
// start, the server pushes the missing bytes to the backup.
template <class Store>
void Written_Journal_Of<Store>::keep_without_backup(const Abstract_File& source, Offset start) {
  const auto& journal = store_.get_journal();
  if (!has_backup_file_ || journal.has_failed() || journal.get_checkpoint() > start) return;
  has_lost_file_ = true;
  store_.append_from(source, source.get_size());
  lock_->do_checkpoint();
  checkpoint_ = store_.get_journal().get_checkpoint();
}

template class Written_Journal_Of<Writable_Database>;
template class Written_Journal_Of<Bare_Journal>;

}  // namespace joedb::server
