#ifndef JOEDB_SRC_TOOLS_FRAME_EXACT_CONNECTION_H
#define JOEDB_SRC_TOOLS_FRAME_EXACT_CONNECTION_H

#include "joedb/replica/client.h"

namespace joedb {

// Forwards to another connection. If the copies have diverged, sets Content_Mismatch::start to the
// first byte that differs. This takes up to 63 more comparisons.
class Exact_Connection final : public Connection {
 public:
  explicit Exact_Connection(Connection& connection) : connection_(connection) {}

  bool can_push() const override { return connection_.can_push(); }
  Offset get_checkpoint() const override { return connection_.get_checkpoint(); }
  bool can_wait() const override { return connection_.can_wait(); }
  bool can_push_without_lock() const override { return connection_.can_push_without_lock(); }
  void compare(const Abstract_File& local, Offset start, Offset end, Content_Check check) override {
    local_ = &local;
    locate([&] { connection_.compare(local, start, end, check); });
  }
  void pull(const Pull& pull, const Receive& receive) override {
    locate([&] { connection_.pull(pull, receive); });
  }
  void push(const Abstract_File& local, Offset end, Checkpoint_Level level,
            After_Push after) override {
    locate([&] { connection_.push(local, end, level, after); });
  }
  void unlock() noexcept override { connection_.unlock(); }

 private:
  template <class F>
  void locate(F f) {
    try {
      f();
    } catch (const Content_Mismatch& error) {
      if (local_ == nullptr) throw;
      throw Content_Mismatch(error.path, first_difference(error.start, error.end), error.end);
    }
  }

  // Finds the first difference by binary search: if two prefixes differ, all longer ones differ,
  // too, and each check compares the last bytes of the prefix.
  Offset first_difference(Offset equal, Offset different) {
    try {
      while (different - equal > 1) {
        const Offset middle = equal + (different - equal) / 2;
        (is_equal(middle) ? equal : different) = middle;
      }
    } catch (const std::exception&) {  // report the bound found so far
    }
    return equal;
  }
  bool is_equal(Offset end) {
    try {
      connection_.compare(*local_, journal_start, end, Content_Check::fast);
      return true;
    } catch (const Content_Mismatch&) {
      return false;
    }
  }

  Connection& connection_;
  const Abstract_File* local_ = nullptr;
};

}  // namespace joedb

#endif
