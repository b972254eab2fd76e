#ifndef JOEDB_NETWORK_SERVER_FILE_H
#define JOEDB_NETWORK_SERVER_FILE_H

#include <vector>

#include "joedb/io/file.h"
#include "joedb/network/robust_connection.h"

namespace joedb::inline v1 {

// The journal of a server as a file, for a client without a local copy. Bytes are read from the
// server on demand, through a cache of one contiguous range. Bytes that a transaction has written
// stay in memory until they are pushed.
//
//     joedb::Local_Connector connector("city.joedb.sock");
//     joedb::Server_File file(connector);
//     city::Client client(file, file);
//
// The same object must be the file and the connection of one client. Not thread-safe.
class Server_File final : public Abstract_File, public Connection {
 public:
  // `connector`, `log` and `system` must outlive the file. Throws as Robust_Connection does.
  explicit Server_File(Connector& connector, Logger& log = Logger::none(),
                       System& system = System::real());

  // ---- the file. Its mode is shared_write. File locks are no-ops: the server has the lock.
  Offset get_size() const override;
  std::size_t pread(char* data, std::size_t size, Offset offset) const override;
  // Writes to memory. Throws Exception if this would change bytes that the server has.
  void pwrite(const char* data, std::size_t size, Offset offset) override;
  void sync() override {}
  void datasync() override {}
  // Throws Exception if this would remove bytes that the server has.
  bool truncate(Offset size) override;
  void shared_lock(Offset, Offset) override {}
  void exclusive_lock(Offset, Offset) override {}
  void unlock(Offset, Offset) noexcept override {}

  // ---- the connection. compare() is a no-op: there is no second copy.
  bool can_push() const override { return connection_.can_push(); }
  bool can_wait() const override { return true; }
  Offset get_checkpoint() const override { return connection_.get_checkpoint(); }
  void compare(const Abstract_File& local, Offset start, Offset end, Content_Check check) override;
  // Throws Exception if there are bytes that were written and not pushed. The `source` of `receive`
  // is this file.
  void pull(const Pull& pull, const Receive& receive) override;
  void push(const Abstract_File& local, Offset end, Checkpoint_Level level,
            After_Push after) override;
  void unlock() noexcept override { connection_.unlock(); }

 private:
  void require_this(const Abstract_File& file) const;
  void require_same(const char* data, std::size_t size, Offset offset) const;
  void take_tail(const Abstract_File& local, Offset end);
  void set_end(Offset checkpoint);
  std::size_t read_body(char* data, std::size_t size, Offset offset) const;
  Offset cache_end() const { return cache_start_ + static_cast<Offset>(cache_.size()); }
  void fill_cache(Offset offset) const;
  void keep_tail();

  mutable Robust_Connection connection_;
  std::vector<char> header_;
  Offset end_ = 0;          // end of the server's journal
  std::vector<char> tail_;  // bytes from end_ on, not pushed yet
  mutable std::vector<char> cache_;
  mutable Offset cache_start_ = 0;
  mutable Offset read_ahead_ = 0;  // length of the last read from the server
};

}  // namespace joedb::inline v1

#endif
