#ifndef LAB_SIM_FILE_H
#define LAB_SIM_FILE_H

#include <array>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/io/named_file.h"
#include "lab/random.h"

namespace joedb::testing {

// A call that changed a file, or made changes durable.
struct Sim_Operation {
  enum class Kind { write, truncate, sync, failed_sync, sync_directory, failed_directory_sync };
  Kind kind;
  Offset offset = 0;  // of a write; the new size of a truncation
  std::string bytes;
  bool has_failed = false;  // a write: it was told to have failed, and these bytes were written
};
// "write 8@24: -58", "sync", ….
std::string text_of(const Sim_Operation& operation);
using Sim_History = std::vector<Sim_Operation>;

// A piece of an unsynced change that reaches the disk as a whole or not at all.
struct Sim_Unit {
  enum class Kind { size, bytes };
  Kind kind;
  Offset offset;           // of the bytes; or the size that the file then has
  std::string_view bytes;  // of the history
};

// Which of up to 256 units reached the disk.
class Sim_Mask {
 public:
  static constexpr std::size_t max_size = 256;

  Sim_Mask() = default;
  explicit Sim_Mask(std::uint64_t first_units) : words_{first_units} {}
  bool has(std::size_t unit) const { return (words_[unit / 64] >> (unit % 64) & 1) != 0; }
  void add(std::size_t unit) { words_[unit / 64] |= std::uint64_t{1} << (unit % 64); }
  void remove(std::size_t unit) { words_[unit / 64] &= ~(std::uint64_t{1} << (unit % 64)); }
  friend bool operator==(const Sim_Mask&, const Sim_Mask&) = default;

  // Hexadecimal, without leading zeros.
  std::string text() const;
  // The inverse; nothing if it is no such text.
  static std::optional<Sim_Mask> parse(std::string_view text);

 private:
  std::array<std::uint64_t, max_size / 64> words_{};
};

// What stands in a part of a file that has grown, but was not written, after a power cut. In a
// header: always zeros, for a header of somebody else would be believed.
enum class Sim_Fill {
  zeros,
  old_bytes,  // what the file had there before it was cut, then somebody else's file
  noise
};
inline constexpr std::size_t sim_fill_count = 3;

// What a file holds after some of its history: `content`, what every process sees; what is durable;
// and the changes in between, in order, which a power cut may undo.
class Sim_State {
 public:
  Sim_State(std::string content, bool has_durable_name)
      : content_(content), durable_(std::move(content)), has_durable_name_(has_durable_name) {}

  const std::string& content() const { return content_; }
  const std::string& durable() const { return durable_; }
  bool is_synced() const { return pending_.empty(); }
  // A new file can be lost as a whole until its directory has been synced.
  bool has_durable_name() const { return has_durable_name_; }
  // Some of what processes see may never become durable.
  // A sync, or a write that has left bytes.
  bool has_failure() const { return has_failure_; }
  // How many operations of the history have been applied.
  std::size_t io_count() const { return applied_; }

  // Applies the next operation of the history.
  void advance(const Sim_History& history);

  // The pieces of the changes in between: a change of the size is one, bytes are cut at multiples
  // of `sector_size`, and at 8 bytes in the 41 bytes of a header. If these are too many for a mask,
  // the pieces are larger.
  std::vector<Sim_Unit> units(const Sim_History& history, std::size_t sector_size) const;

  // Makes `image` what a power cut leaves if these units have reached the disk.
  void power_cut(std::span<const Sim_Unit> units, const Sim_Mask& mask, Sim_Fill fill,
                 std::string& image) const;

 private:
  struct Pending {
    std::size_t operation;
    std::size_t size_before;
  };
  void fail_sync(const Sim_History& history);

  std::string content_;
  std::string durable_;
  std::string old_bytes_;  // what stood on the disk, from the start of the file
  bool has_durable_name_;
  bool has_failure_ = false;
  std::vector<Pending> pending_;
  std::size_t applied_ = 0;
};

// What goes wrong on a disk: the call with this number, counted from 0 among those of its kind.
struct Sim_Fault {
  // Changes are writes, truncations and syncs.
  enum class Calls { changes, reads, opens, locks, sizes, writes, syncs, truncations };
  static constexpr std::size_t calls_count = 8;
  Calls calls = Calls::changes;
  std::size_t number = 0;
  int code = EIO;
  bool lasts = false;       // all later calls of the kind fail as well
  double part_written = 0;  // how much of a failing write is in the file: 0 nothing, 1 all
};

// Thrown by all calls of a file whose process was killed.
class Sim_Killed : public std::runtime_error {
 public:
  Sim_Killed() : std::runtime_error("this process was killed") {}
};

// A disk with one file, which outlives processes (Sim_File objects).
//
// A killed process loses nothing that it has written; so for a process that is killed after each of
// its operations in turn, run it once and look at the disk `at` each number of operations.
//
// A failed sync leaves nothing that a later sync could repair: each change it should have made
// durable is so, or never will be, although processes go on seeing it (as on Linux). The name of a
// new file becomes durable by a sync of its directory; if that fails, perhaps.
class Sim_Disk {
 public:
  // A file with this content, which is durable; none if it is empty.
  explicit Sim_Disk(std::string content = {}) : state_(content, !content.empty()) {
    start_ = std::move(content);
  }

  const Sim_State& state() const { return state_; }
  const std::string& content() const { return state_.content(); }
  const std::string& durable() const { return state_.durable(); }
  bool is_synced() const { return state_.is_synced(); }

  // Writes, truncations and syncs so far, failed ones included.
  std::size_t io_count() const { return history_.size(); }
  const Sim_History& history() const { return history_; }

  // As it was after that many operations; the disk itself, and its state.
  Sim_Disk at(std::size_t io_count) const;
  Sim_State start() const { return Sim_State(start_, !start_.empty()); }

  // What is on the disk after a power cut. Each unsynced change is lost, whole, torn, or has only
  // changed the size of the file.
  std::string power_cut(std::uint64_t seed) const;

  void set_fault(Sim_Fault fault) { fault_ = fault; }
  void remove_fault() { fault_.reset(); }
  // From now on syncs succeed and do nothing.
  void lie() { is_lying_ = true; }
  // The files that were created beside this one, by their suffix. They are durable at once.
  const std::map<std::string, std::string>& beside() const { return beside_; }
  // Whether the fault has happened.
  bool has_failed() const { return has_failed_; }
  // The last time in a destructor, after something else had been thrown.
  bool has_failed_in_unwinding() const { return has_failed_in_unwinding_; }

  // The number of calls of a kind so far.
  std::size_t count(Sim_Fault::Calls calls) const {
    return counts_[static_cast<std::size_t>(calls)];
  }

  // All calls so far, one line each: "lock tail", "size", "read 41@0", "write 8@16", "sync", ….
  // Takes them out of the record.
  std::string take_calls();

 private:
  friend class Sim_File;

  struct Lock {
    const Abstract_File* owner;
    Offset start;
    bool is_exclusive;
  };
  struct Call {
    const char* name;
    Offset offset;
    std::size_t size;
  };

  void change(Sim_Operation operation);
  // Counts a call. Whether it fails.
  bool fails(Sim_Fault::Calls calls);
  bool is_free(const Lock& wanted) const;
  bool has_exclusive_lock(const Abstract_File* owner, Offset start) const;
  void unlock(const Abstract_File* owner, Offset start);

  std::string start_;
  Sim_State state_;
  Sim_History history_;
  std::optional<Sim_Fault> fault_;
  bool has_failed_ = false;
  bool has_failed_in_unwinding_ = false;
  bool is_lying_ = false;
  std::array<std::size_t, Sim_Fault::calls_count> counts_{};
  std::vector<Lock> locks_;
  std::vector<Call> calls_;
  std::map<std::string, std::string> beside_;
};

// A process's open file on a Sim_Disk. Several may be open at a time, in one thread: a lock that
// would have to wait, for ever then, is a std::logic_error. So is a change of a shared file without
// its tail lock.
class Sim_File : public Named_File {
 public:
  // `disk` must outlive this object.
  explicit Sim_File(Sim_Disk& disk, Open_Mode mode = Open_Mode::write_existing_or_create_new);
  ~Sim_File() override;

  // The process dies when it is about to make a change, after `changes` more of them. Its locks are
  // free then, and all its calls throw Sim_Killed.
  void kill_after(std::size_t changes) { changes_left_ = changes; }
  bool is_killed() const { return is_killed_; }

  Offset get_size() const override;
  std::size_t pread(char* data, std::size_t size, Offset offset) const override;
  // Whether reads have to wait for the disk.
  void set_cold(bool is_cold) { is_cold_ = is_cold; }
  bool pread_cached(char* data, std::size_t size, Offset offset) const override {
    return !is_cold_ && Abstract_File::pread_cached(data, size, offset);
  }
  void pwrite(const char* data, std::size_t size, Offset offset) override;
  bool has_slow_growth() const override { return true; }
  bool truncate(Offset size) override;
  void shared_lock(Offset start, Offset size) override;
  void exclusive_lock(Offset start, Offset size) override;
  void unlock(Offset start, Offset size) noexcept override;
  bool try_exclusive_lock(Offset start, Offset size) override;
  std::unique_ptr<Abstract_File> open_beside(const std::string& suffix,
                                             Open_Mode mode) const override;

 protected:
  void sync_content() override;
  void datasync_content() override;
  void sync_directory() override;

  // For Mapped. A std::logic_error where the system would kill the process. A process may be killed
  // in the middle of a copy, which has no order.
  static constexpr Offset map_page = 64;
  bool map(Offset start, Offset end);
  void unmap() { map_start_ = map_end_ = 0; }
  void store(const char* data, std::size_t size, Offset offset);

 private:
  void lock(Offset start, bool is_exclusive);
  void require_alive() const;
  void require_tail_lock() const;
  void die_if_it_is_time();
  void change(Sim_Operation operation);
  [[noreturn]] void fail(const Sim_Operation& operation);

  Sim_Disk& disk_;
  Offset map_start_ = 0;
  Offset map_end_ = 0;
  std::size_t changes_left_ = std::numeric_limits<std::size_t>::max();
  bool is_killed_ = false;
  bool is_cold_ = false;
};

// The four checkpoint words of a file, as text: "41 41 41 -44".
std::string words_text(std::string_view file);

}  // namespace joedb::testing

#endif
