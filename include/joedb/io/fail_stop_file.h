#ifndef JOEDB_IO_FAIL_STOP_FILE_H
#define JOEDB_IO_FAIL_STOP_FILE_H

#include <atomic>
#include <functional>
#include <string>
#include <utility>

#include "joedb/base/mutex.h"
#include "joedb/io/file.h"

namespace joedb::inline v1 {

// Passes calls to another file until a write, a sync or a truncation throws. From then on each of
// these throws Write_Disabled, with the text of that first failure, and the other file is not
// called: after a failed sync, a second and successful one would prove nothing about the first.
// Reads, sizes and locks continue to work. There is no way back; open the file again.
//
// has_slow_growth() is false and open_beside() returns null, whatever the other file says.
//
// One thread may be in sync or datasync while another one calls the other functions. has_failed and
// require_no_failure may be called by any thread.
//
// Idea: redb's CheckedBackend, SQLite's pager in its error state.
class Fail_Stop_File : public Abstract_File {
 public:
  // `file` must outlive this object. on_failure is called once, at the first failure, in the thread
  // that failed, perhaps one that is in a sync. It must not throw, nor call this object.
  explicit Fail_Stop_File(
      Abstract_File& file, std::function<void()> on_failure = [] {})
      : Abstract_File(file.get_name(), file.get_mode()),
        file_(file),
        on_failure_(std::move(on_failure)) {}

  bool has_failed() const { return has_failed_; }
  // Throws Write_Disabled if there was a failure.
  void require_no_failure() const;

  Offset get_size() const override { return file_.get_size(); }
  std::size_t pread(char* data, std::size_t size, Offset offset) const override {
    return file_.pread(data, size, offset);
  }
  // What these throw is thrown by the other file, the first time. A false from truncate is not a
  // failure. start_writeback is passed on also after one.
  void pwrite(const char* data, std::size_t size, Offset offset) override;
  void store_words(std::span<const std::int64_t> words, Offset offset) override;
  void load_words(std::span<std::int64_t> words, Offset offset) const override {
    file_.load_words(words, offset);
  }
  void sync() override;
  void datasync() override;
  void start_writeback(Offset start, Offset end) noexcept override {
    file_.start_writeback(start, end);
  }
  bool truncate(Offset size) override;
  void shared_lock(Offset start, Offset size) override { file_.shared_lock(start, size); }
  void exclusive_lock(Offset start, Offset size) override { file_.exclusive_lock(start, size); }
  void unlock(Offset start, Offset size) noexcept override { file_.unlock(start, size); }
  bool try_exclusive_lock(Offset start, Offset size) override {
    return file_.try_exclusive_lock(start, size);
  }
  bool is_replaced() const override { return file_.is_replaced(); }
  void require_not_replaced() const override { file_.require_not_replaced(); }
  bool is_inherited() const override { return file_.is_inherited(); }

 private:
  template <class F>
  auto guard(F f);
  void fail(const char* what);

  Abstract_File& file_;
  const std::function<void()> on_failure_;
  std::atomic<bool> has_failed_ = false;
  mutable Mutex mutex_;
  std::string failure_ JOEDB_GUARDED_BY(mutex_);  // what the first one said
};

}  // namespace joedb::inline v1

#endif
