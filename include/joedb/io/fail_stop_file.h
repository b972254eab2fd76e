#ifndef JOEDB_IO_FAIL_STOP_FILE_H
#define JOEDB_IO_FAIL_STOP_FILE_H

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include "joedb/base/threads.h"
#include "joedb/io/file.h"

namespace joedb::inline v1 {

// The last bytes that were written to a file, without gaps. Thread-safe.
class Recent_Bytes {
 public:
  // From now on, keeps at least the last `size` added bytes, and at most twice as many. 0: keeps
  // nothing.
  void keep(std::size_t size);
  // Adds bytes that were written. Bytes that do not continue the kept bytes replace them.
  void add(const char* data, std::size_t size, Offset offset);
  // Forgets the bytes from `offset` on, or before `offset`.
  void forget_from(Offset offset);
  void forget_before(Offset offset);
  // Reads [offset, offset + size), which must not be empty. Returns false if not all of these bytes
  // are kept.
  bool read(char* data, std::size_t size, Offset offset) const;

 private:
  void cut(Offset end) JOEDB_REQUIRES(mutex_);
  void drop_first(std::size_t count) JOEDB_REQUIRES(mutex_);

  std::atomic<std::size_t> size_ = 0;
  mutable Mutex mutex_;
  std::string bytes_ JOEDB_GUARDED_BY(mutex_);
  Offset start_ JOEDB_GUARDED_BY(mutex_) = 0;  // offset of the first byte
};

// Forwards calls to another file until a write, a sync or a truncation throws. After that, each of
// these operations throws Write_Disabled, with the text of the first failure, without calling the
// other file: after a failed sync, a successful second sync says nothing about the bytes of the
// first sync. Reads, sizes and locks continue to work. The failed state is permanent; to write
// again, close the file and open it again.
//
// has_slow_growth() returns false and beside() is empty, whatever the other file returns.
//
// One thread may be in sync or datasync while another thread calls the other functions. has_failed
// and require_no_failure are thread-safe.
//
// Idea: redb's CheckedBackend, SQLite's pager in its error state.
class Fail_Stop_File : public Abstract_File {
 public:
  // `file` must outlive this object. on_failure is called once, at the first failure, by the thread
  // whose call failed; that may be a thread that only syncs. on_failure must neither throw nor call
  // this object.
  explicit Fail_Stop_File(
      Abstract_File& file, std::function<void()> on_failure = [] {})
      : Abstract_File(file.get_name(), file.get_mode()),
        file_(file),
        on_failure_(std::move(on_failure)) {}

  bool has_failed() const { return has_failed_; }
  // Throws Write_Disabled if has_failed().
  void require_no_failure() const;

  // Keeps at least the last `size` bytes that are written through this object in memory, and reads
  // them from there. No other object may write to the file. After a failure, nothing is kept.
  void keep_recent(std::size_t size) { recent_.keep(size); }
  // Reads bytes that are kept in memory; otherwise returns false. Thread-safe.
  bool read_recent(char* data, std::size_t size, Offset offset) const {
    return recent_.read(data, size, offset);
  }

  Offset get_size() const override { return file_.get_size(); }
  std::size_t pread(char* data, std::size_t size, Offset offset) const override {
    return recent_.read(data, size, offset) ? size : file_.pread(data, size, offset);
  }
  // The exception of the first failure passes through unchanged. If truncate returns false, this is
  // not a failure. start_writeback is forwarded even after a failure.
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
  Recent_Bytes recent_;
  std::atomic<bool> has_failed_ = false;
  mutable Mutex mutex_;
  std::string failure_ JOEDB_GUARDED_BY(mutex_);  // text of the first failure
};

// Extends a file past its content with zeros, in steps. If content is later written over the zeros,
// a sync need not write a new file size. The zeros are written instead of only reserving blocks
// (fallocate), because the file system would change metadata at the first write to each reserved
// block.
//
// Idea: RocksDB's preallocation, etcd's log segments.
class Preallocator {
 public:
  static constexpr Offset max_step = Offset{1} << 30;

  // Both files must outlive this object. Zeros are written to `file`, and content is written
  // through `guard`: so a disk that is too full for zeros does not count as a failure of `guard`.
  // Nothing is preallocated before set_step.
  Preallocator(Abstract_File& file, const Fail_Stop_File& guard) : file_(file), guard_(guard) {}

  // Sets the number of bytes to preallocate at a time; 0 turns preallocation off. Throws Exception
  // if `step` is negative or greater than max_step.
  void set_step(Offset step);
  Offset step() const { return step_; }
  void stop() { step_ = 0; }

  // A lower bound of the file size, including preallocated zeros.
  Offset end() const { return end_; }
  // Call this after the file was truncated, or after content was written past end().
  void set_end(Offset end) { end_ = end; }

  // Call this before or after writing content up to `content_end`. If no zeros are left behind it,
  // fills the file with zeros from `start`, which must not be past the end of the file, to the next
  // multiple of the step. Returns false if the zeros cannot be written; preallocation then stops,
  // and some of the zeros may be in the file. Throws Write_Disabled if `guard` has failed.
  [[nodiscard]] bool reserve(Offset start, Offset content_end);

 private:
  Abstract_File& file_;
  const Fail_Stop_File& guard_;
  Offset step_ = 0;
  Offset end_ = 0;
};

}  // namespace joedb::inline v1

#endif
