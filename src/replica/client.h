#ifndef JOEDB_REPLICA_CLIENT_H
#define JOEDB_REPLICA_CLIENT_H

#include <cstdint>
#include <functional>

#include "replica/connection.h"
#include "replica/local_copy.h"

namespace joedb::inline v1 {

// What a client appends, and how it ends its transactions.
struct Transaction_Settings {
  bool has_valid_data = false;
  bool has_timestamp = false;
  bool is_hard = false;
  std::function<std::int64_t()> now = {};  // seconds since 1970; for the time stamp
};

// Works on a local copy of a journal and keeps it in step with that of a connection, if there is
// one. Writers take turns: a transaction holds the locks of both, so that it begins with everything
// that others have written.
//
// Not thread-safe.
class Client {
 public:
  // Both must outlive the client; `connection` may be null. Throws Content_Mismatch if the copies
  // have diverged.
  Client(Local_Copy& local, Connection* connection, Content_Check check);

  bool can_push() const { return connection_ == nullptr || connection_->can_push(); }
  bool can_write() const { return !local_.is_readonly() && can_push(); }
  Offset get_checkpoint() const { return local_.get_checkpoint(); }
  bool has_tail() const { return local_.ahead_of_checkpoint() > 0; }
  // Number of bytes by which the connection is ahead (negative: behind), as far as is known.
  Offset get_difference() const;

  // Reads what others have written, at either place. Returns the number of bytes.
  Offset pull();

  // Only what others have written to the file.
  Offset pull_file();

  // Gives the connection what it does not have yet.
  void push();

  // Pulls, calls run(), writes a checkpoint, pushes: with the locks. run() returns whether the
  // transaction shall count; if not, it has rolled it back. If anything throws, the locks are
  // released, and what was appended stays behind the checkpoint: until it is rolled back, there
  // will be no other transaction, and no pull.
  void transaction(const std::function<bool()>& run);

  // Forgets what an aborted transaction has left.
  void rollback() { local_.rollback(); }

  Transaction_Settings& settings() { return settings_; }

 private:
  class Local_Lock;
  class Connection_Lock;
  void refresh();
  void pull_from_connection();
  void push_to_connection();
  void write_end();

  Local_Copy& local_;
  Connection* const connection_;
  const Content_Check check_;
  Transaction_Settings settings_;
  Offset common_ = journal_start;  // up to here, the copies are known to be equal
};

}  // namespace joedb::inline v1

#endif
