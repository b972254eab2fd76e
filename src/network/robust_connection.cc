#include "joedb/network/robust_connection.h"

#include <algorithm>
#include <vector>

#include "base/retry_pause.h"
#include "joedb/format/header.h"

namespace joedb::inline v1 {

static constexpr Offset longest_read = Offset{1} << 20;

Robust_Connection::Robust_Connection(Connector& connector, Logger& log, System& system)
    : connector_(connector), log_(log), system_(system) {
  connect();
  checkpoint_ = connection_->get_checkpoint();
}

Robust_Connection::~Robust_Connection() = default;

void Robust_Connection::connect() {
  if (connection_) return;
  channel_ = connector_.new_channel();
  connection_ = std::make_unique<Server_Connection>(*channel_, log_, connector_.settings());
  can_push_ = connection_->can_push();
  compared_ = journal_start;
  try {
    compare_up_to(local_checkpoint_);
  } catch (...) {
    disconnect();
    throw;
  }
}

// The server may have had less than the copy when they were compared last: it was restarted after a
// power cut, and has gone on since, perhaps with other bytes.
void Robust_Connection::compare_up_to(Offset end) {
  end = std::min(end, connection_->get_checkpoint());
  if (local_ == nullptr || end <= compared_) return;
  connection_->compare(*local_, journal_start, end, check_);
  compared_ = end;
}

void Robust_Connection::disconnect() {
  connection_.reset();
  channel_.reset();
}

class Robust_Connection::Compared_Now {
 public:
  Compared_Now(Robust_Connection& connection, const Abstract_File& local)
      : connection_(connection), old_(connection.local_) {
    if (old_ != nullptr) connection.local_ = &local;
  }
  ~Compared_Now() { connection_.local_ = old_; }
  Compared_Now(const Compared_Now&) = delete;
  Compared_Now& operator=(const Compared_Now&) = delete;

 private:
  Robust_Connection& connection_;
  const Abstract_File* const old_;
};

// Calls f() until the connection holds.
template <class F>
auto Robust_Connection::retry(F&& f) {
  Retry_Pause pause(system_);
  for (;;) {
    try {
      connect();
      return f();
    } catch (const Connection_Lost& error) {
      disconnect();
      const System::Duration wait = pause.next();
      log_.log(std::string("connection lost: ") + error.what() + "; " + trying_again(wait));
      system_.sleep(wait);
    } catch (const Inherited_Object&) {
      throw;
    } catch (...) {
      if (connection_ && connection_->is_lost()) disconnect();
      throw;
    }
  }
}

void Robust_Connection::compare(const Abstract_File& local, Offset start, Offset end,
                                Content_Check check) {
  local_ = check == Content_Check::none ? nullptr : &local;
  local_checkpoint_ = end;
  check_ = check;
  retry([&] {
    const Offset common = std::min(end, connection_->get_checkpoint());
    connection_->compare(local, start, common, check);
    compared_ = std::max(compared_, common);
  });
  // Perhaps of another connection than before, which has found another journal.
  checkpoint_ = connection_->get_checkpoint();
}

void Robust_Connection::pull(const Pull& pull, const Receive& receive) {
  local_checkpoint_ = pull.from;
  retry([&] {
    connection_->pull(pull, [&](const Abstract_File& source, Offset end) {
      // These bytes are between two requests: the next connection compares before it pulls.
      if (local_ != nullptr && compared_ < pull.from)
        throw Connection_Lost("the server had less when the copies were compared");
      checkpoint_ = end;
      receive(source, end);
      compared_ = end;
    });
    try {
      compare_up_to(pull.from);
    } catch (const Content_Mismatch&) {
      connection_->unlock();
      throw;
    }
  });
  checkpoint_ = connection_->get_checkpoint();
}

void Robust_Connection::pull_checkpoint(const Pull& pull) {
  retry([&] { connection_->pull_checkpoint(pull); });
  checkpoint_ = connection_->get_checkpoint();
}

std::size_t Robust_Connection::read(char* data, std::size_t size, Offset offset) {
  return retry([&] { return connection_->read(data, size, offset); });
}

void Robust_Connection::push(const Abstract_File& local, Offset end, Checkpoint_Level level,
                             After_Push after) {
  const Offset from = checkpoint_;
  // Where others have pushed meanwhile, the copies have parted, unless what is pushed is not in the
  // local one yet.
  local_checkpoint_ = &local == local_ ? end : std::min(from, end);
  // What is pushed may not be in the file yet.
  const Compared_Now compared(*this, local);
  bool was_sent = false;
  retry([&] {
    while (!has_arrived(local, from, end)) {
      compare_up_to(std::min(from, end));
      // Who has the lock may be the connection that was lost, and what it sent may still be
      // accepted: only with the lock is a conflict one for ever.
      if (was_sent && after == After_Push::never_locked) after = After_Push::unlock;
      const bool is_repeated = std::exchange(was_sent, true);
      const Offset start = connection_->get_checkpoint();
      try {
        return connection_->push(local, end, level, after);
      } catch (const Conflict&) {
        // What was sent over a connection that was lost may arrive after this one was made. Also
        // what a process has sent before it was killed; that of joedb 10 does not ask again then.
        const bool may_have_been_sent = after != After_Push::never_locked;
        if (is_repeated || (may_have_been_sent && connection_->can_push_without_lock()))
          connection_->pull_checkpoint({});
        if (connection_->get_checkpoint() <= start) throw Conflict(from);
      } catch (const Disconnection&) {
        // The server has failed, and can only be read; the next connection may find it mended.
        if (connection_ && !connection_->is_lost()) can_push_ = false;
        throw;
      }
    }
  });
  // Not that of the server: others may have pushed behind a push that had arrived, and what follows
  // in this copy is not what follows there.
  checkpoint_ = std::max(from, end);
  compared_ = checkpoint_;
}

// Whether the server has what is to be pushed from `from` on. It may have a part: what a killed
// process has pushed from the same copy. Throws Conflict where it has something else.
//
// Reads the bytes again. A hash of more than the push would need those before it, which a
// Server_File gets over this same connection.
bool Robust_Connection::has_arrived(const Abstract_File& local, Offset from, Offset end) {
  const Offset now = connection_->get_checkpoint();
  if (now == from) return false;
  if (now < from || end <= from) throw Conflict(from);
  const Offset common = std::min(now, end);
  std::vector<char> here, there;
  for (Offset position = from; position < common;) {
    const auto size = static_cast<std::size_t>(std::min(common - position, longest_read));
    here.resize(size);
    there.resize(size);
    local.read_exactly(here.data(), size, position);
    there.resize(connection_->read(there.data(), size, position));
    const auto parted = std::mismatch(here.begin(), here.end(), there.begin(), there.end()).first;
    if (parted != here.end()) throw Conflict(position + (parted - here.begin()));
    position += static_cast<Offset>(size);
  }
  log_.log(now < end ? "a part of the push had arrived" : "the push had arrived");
  return now >= end;
}

void Robust_Connection::unlock() noexcept {
  if (connection_) connection_->unlock();
}

}  // namespace joedb::inline v1
