#include "server/served_journal.h"

namespace joedb::server {

// What is served has the bytes of the clients: nothing is added. A server that was killed in a push
// must start again: what it has not acknowledged is saved.
static Journal_Options for_server(Journal_Options options) {
  options.ends_transactions = false;
  if (!options.recovery) options.recovery = Recovery::keep;
  return options;
}

Written_Journal::Written_Journal(Abstract_File& file, Connection& connection, Content_Check check,
                                 bool is_hard, const Journal_Options& options)
    : Client_Store(file, connection, for_server(options)),
      client_(copy_, connection, check),
      is_shared_(file.is_shared()),
      is_connected_(&connection != &Connection::dummy),
      has_backup_file_(is_connected_ && !connection.can_wait()),
      may_block_(is_hard || is_shared_ || is_connected_) {
  copy_.set_copy();  // clients must find what they have pushed at the end of the file
  if (!is_shared_) store_.recover();
  if (is_connected_) {
    client_.pull();
    if (client_.can_write()) client_.push_if_ahead();
  }
  // What was pushed before a crash of the server may not be durable, and is acknowledged if the
  // client asks again.
  if (is_hard && !is_shared_) store_.hard_checkpoint();
  client_.set_hard_checkpoint(is_hard);
  checkpoint_ = store_.get_journal().get_checkpoint();  // also if something failed after it
}

Written_Journal::~Written_Journal() { end(); }

// A hard checkpoint that has failed may have left a soft one.
void Written_Journal::update() {
  const auto& journal = store_.get_journal();
  if (client_.settings().is_hard && journal.has_failed()) return;
  checkpoint_ = journal.get_checkpoint();
}

// Of a push whose rollback has failed: nothing could be pulled or written behind it.
void Written_Journal::drop_leftover() {
  if (!store_.get_journal().has_failed()) client_.rollback();
}

// Writers are told that there is no place any more, instead of waiting.
template <class F>
void Written_Journal::note_replaced(F f) {
  try {
    f();
  } catch (const File_Replaced&) {
    has_lost_file_ = true;
    throw;
  }
}

void Written_Journal::refresh() {
  if (lock_) return;
  drop_leftover();
  note_replaced([&] {
    if (is_connected_)
      client_.pull();
    else if (is_shared_)
      client_.pull_file();
  });
  update();
}

void Written_Journal::begin() {
  if (!can_push()) return;
  drop_leftover();
  note_replaced([&] { lock_.emplace(client_); });
  update();
}

void Written_Journal::end() noexcept {
  if (lock_) lock_->abandon();
  lock_.reset();
}

// Of a shared file, others may have the lock for long.
void Written_Journal::finish() {
  end();
  const auto& journal = store_.get_journal();
  if (!is_shared_ && !journal.has_failed() && journal.ahead_of_checkpoint() == 0)
    store_.hard_checkpoint();
}

void Written_Journal::push(const Abstract_File& source) {
  if (!lock_) throw Exception("this server could not be written when the lock was given");
  store_.append_from(source, source.get_size(), [] {});
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
  checkpoint_ = store_.get_journal().get_checkpoint();  // also if something failed after it
}

// The file of the connection has failed, which may have the bytes or not. They must not be in
// neither: here is where the client will look for them, and at its next start the server gives the
// backup what it does not have.
void Written_Journal::keep_without_backup(const Abstract_File& source, Offset start) {
  const auto& journal = store_.get_journal();
  if (!has_backup_file_ || journal.has_failed() || journal.get_checkpoint() > start) return;
  has_lost_file_ = true;
  store_.append_from(source, source.get_size(), [] {});
  lock_->do_checkpoint();
  checkpoint_ = store_.get_journal().get_checkpoint();
}

}  // namespace joedb::server
