#include "joedb/network/server_connection.h"

#include <algorithm>
#include <vector>

#include "joedb/format/header.h"
#include "kernel/io/file_pieces.h"
#include "share/replica/retry.h"

namespace joedb::inline v1 {

static constexpr std::size_t compared_at_once = std::size_t{1} << 20;

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

// Compares the copies up to `end` or the server's checkpoint, unless this connection has already
// done so. After a power cut, the server may have had less than the local copy at the last
// comparison. The bytes that it has appended since may differ.
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

// While this object exists, each reconnection that compares a file compares `local`.
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

// Calls f(), connecting first if necessary, and repeats it after Connection_Lost.
template <class F>
auto Robust_Connection::retry(F&& f) {
  Retry retry(connector_.name(), connector_.settings(), log_, system_);
  for (;;) {
    try {
      connect();
      retry.connected();
      return f();
    } catch (const Connection_Lost& error) {
      disconnect();
      retry.wait(error);
    } catch (const Inherited_Object&) {
      // The connection belongs to the parent process, so do not close it.
      throw;
    } catch (const Lock_Timeout& error) {
      disconnect();
      throw Lock_Timeout(connector_.name(), error.process, error.holder, error.waited);
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
  // After a reconnection, the server's checkpoint may be lower.
  checkpoint_ = connection_->get_checkpoint();
}

void Robust_Connection::pull(const Pull& pull, const Receive& receive) {
  local_checkpoint_ = pull.from;
  retry([&] {
    connection_->pull(pull, [&](const Abstract_File& source, Offset end) {
      // No comparison can be sent now, because the reply is still arriving. The next connection
      // compares before it pulls.
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
  // If the pushed bytes are in the local copy and other clients have pushed, then the copies have
  // diverged: a reconnection must compare up to `end`. Otherwise, it can compare only the common
  // part.
  local_checkpoint_ = &local == local_ ? end : std::min(from, end);
  // Compare `local`, because the file may not have the pushed bytes yet.
  const Compared_Now compared(*this, local);
  bool was_sent = false;
  retry([&] {
    while (!has_arrived(local, from, end)) {
      compare_up_to(std::min(from, end));
      // The lost connection may still hold the lock, and the server may still accept its push.
      // Therefore a conflict is final only if this connection has the lock.
      if (was_sent && after == After_Push::never_locked) after = After_Push::unlock;
      const bool is_repeated = std::exchange(was_sent, true);
      const Offset start = connection_->get_checkpoint();
      try {
        return connection_->push(local, end, level, after);
      } catch (const Conflict&) {
        // Ask for the checkpoint again, because two pushes may have arrived after this connection
        // was made: the push over a lost connection, and the push of a process that was killed.
        // With a server of joedb 10, ask only if this push is repeated.
        const bool may_have_been_sent = after != After_Push::never_locked;
        if (is_repeated || (may_have_been_sent && connection_->can_push_without_lock()))
          connection_->pull_checkpoint({});
        if (connection_->get_checkpoint() <= start) throw Conflict(from);
      } catch (const Disconnection&) {
        // The server has failed and is now read-only. A later connection may find it repaired.
        if (connection_ && !connection_->is_lost()) can_push_ = false;
        throw;
      }
    }
  });
  // Do not use the server's checkpoint: other clients may have pushed after this push had arrived.
  // Their bytes differ from the bytes that follow in this copy.
  checkpoint_ = std::max(from, end);
  compared_ = checkpoint_;
}

// Returns true if the server already has the bytes [from, end) of `local`. It may have only a part
// of them, pushed from the same copy by a process that was killed. Throws Conflict if it has
// different bytes.
//
// Reads the bytes back, and does not use a hash: a hash would also cover the bytes before the push,
// which a Server_File reads over this same connection.
bool Robust_Connection::has_arrived(const Abstract_File& local, Offset from, Offset end) {
  const Offset now = connection_->get_checkpoint();
  if (now == from) return false;
  if (now < from || end <= from) throw Conflict(from);
  const Offset common = std::min(now, end);
  std::vector<char> there;
  for_each_piece(local, from, common, compared_at_once,
                 [&](std::string_view here, Offset position) {
                   there.resize(here.size());
                   there.resize(connection_->read(there.data(), there.size(), position));
                   const auto parted =
                       std::mismatch(here.begin(), here.end(), there.begin(), there.end()).first;
                   if (parted != here.end())
                     throw Conflict(from, position + (parted - here.begin()));
                 });
  log_.log(now < end ? "a part of the push had arrived" : "the push had arrived");
  return now >= end;
}

void Robust_Connection::unlock() noexcept {
  if (connection_) connection_->unlock();
}

}  // namespace joedb::inline v1
