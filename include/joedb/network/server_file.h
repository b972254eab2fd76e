#ifndef JOEDB_NETWORK_SERVER_FILE_H
#define JOEDB_NETWORK_SERVER_FILE_H

#include <vector>

#include "joedb/io/file.h"
#include "joedb/network/robust_connection.h"

namespace joedb::inline v1 {

// The journal of a server as a file, for a client that keeps no copy: bytes are read from the
// server when they are needed, through a cache of one piece. What a transaction has written is in
// memory until it is pushed.
//
//     joedb::Local_Connector connector("city.joedb.sock");
//     joedb::Server_File file(connector);
//     city::Client client(file, file);
//
// It must be the file and the connection of one client. Not thread-safe.
class Server_File final : public Abstract_File, public Connection {
 public:
  // All must outlive the file. Throws what Robust_Connection throws.
  explicit Server_File(Connector& connector, Logger& log = Logger::none(),
                       System& system = System::real());

  // ---- the file. Its mode is shared_write. Locks do nothing: the lock is that of the server.
  Offset get_size() const override;
  std::size_t pread(char* data, std::size_t size, Offset offset) const override;
  // Throws Exception if the bytes differ from those of the server at this offset.
  void pwrite(const char* data, std::size_t size, Offset offset) override;
  void sync() override {}
  void datasync() override {}
  bool truncate(Offset size) override;
  void shared_lock(Offset, Offset) override {}
  void exclusive_lock(Offset, Offset) override {}
  void unlock(Offset, Offset) noexcept override {}

  // ---- the connection. compare() does nothing.
  bool can_push() const override { return connection_.can_push(); }
  bool can_wait() const override { return true; }
  Offset get_checkpoint() const override { return connection_.get_checkpoint(); }
  void compare(const Abstract_File& local, Offset start, Offset end, Content_Check check) override;
  // Throws Exception if something was written that is not pushed. `source` is this file.
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
  Offset end_ = 0;          // of what the server has
  std::vector<char> tail_;  // from end_ on
  mutable std::vector<char> cache_;
  mutable Offset cache_start_ = 0;
  mutable Offset read_ahead_ = 0;  // the length of the last read
};

}  // namespace joedb::inline v1

#endif
