#ifndef JOEDB_SRC_SIM_LAB_SIM_STATE_H
#define JOEDB_SRC_SIM_LAB_SIM_STATE_H

#include <array>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/base/types.h"
#include "sim/lab/random.h"

// State of simulated files: history, effects of a power cut, faults, and killed processes.

namespace joedb::testing {

// An operation that changed a file or made changes durable.
struct Sim_Operation {
  enum class Kind { write, truncate, sync, failed_sync, sync_directory, failed_directory_sync };
  Kind kind;
  Offset offset = 0;  // offset of a write; new size for a truncation
  std::string bytes;
  bool has_failed = false;  // true for a failed write; `bytes` were written
};
// Returns a text such as "write 8@24: -58" or "sync".
std::string text_of(const Sim_Operation& operation);
using Sim_History = std::vector<Sim_Operation>;

// A piece of an unsynced change that reaches the disk as a whole or not at all.
struct Sim_Unit {
  enum class Kind { size, bytes };
  Kind kind;
  Offset offset;           // offset of the bytes, or the new size of the file
  std::string_view bytes;  // view of bytes in the history
};

// The set of units that reached the disk, out of up to 256.
class Sim_Mask {
 public:
  static constexpr std::size_t max_size = 256;

  Sim_Mask() = default;
  explicit Sim_Mask(std::uint64_t first_units) : words_{first_units} {}
  bool has(std::size_t unit) const { return (words_[unit / 64] >> (unit % 64) & 1) != 0; }
  void add(std::size_t unit) { words_[unit / 64] |= std::uint64_t{1} << (unit % 64); }
  void remove(std::size_t unit) { words_[unit / 64] &= ~(std::uint64_t{1} << (unit % 64)); }
  friend bool operator==(const Sim_Mask&, const Sim_Mask&) = default;

  // Returns the mask in hexadecimal, without leading zeros.
  std::string text() const;
  // Inverse of text(); nullopt if the text is invalid.
  static std::optional<Sim_Mask> parse(std::string_view text);

 private:
  std::array<std::uint64_t, max_size / 64> words_{};
};

// After a power cut, determines the bytes in a part of a file that has grown but was not written.
// In a header, these bytes are always zeros, because a header of another file would be accepted.
enum class Sim_Fill {
  zeros,
  old_bytes,  // bytes of the file from before a truncation, then bytes of another file
  noise
};
inline constexpr std::size_t sim_fill_count = 3;

// State of a file after a part of its history: the content that processes read, the durable
// content, and the pending changes between the two, in order. A power cut may undo pending changes.
class Sim_State {
 public:
  Sim_State(std::string content, bool has_durable_name)
      : content_(content), durable_(std::move(content)), has_durable_name_(has_durable_name) {}

  const std::string& content() const { return content_; }
  const std::string& durable() const { return durable_; }
  bool is_synced() const { return pending_.empty(); }
  // False for a new file until its directory is synced; until then, a power cut may remove the
  // whole file.
  bool has_durable_name() const { return has_durable_name_; }
  // True after a failed sync, or after a failed write that has left bytes: a part of the content
  // may never become durable.
  bool has_failure() const { return has_failure_; }
  // Number of operations of the history that have been applied.
  std::size_t io_count() const { return applied_; }

  // Applies the next operation of the history.
  void advance(const Sim_History& history);

  // Returns the units of the pending changes. A change of the size is one unit. Bytes are split at
  // multiples of `sector_size`, and every 8 bytes in the 41 bytes of a header. If a mask cannot
  // hold all units, units are larger.
  std::vector<Sim_Unit> units(const Sim_History& history, std::size_t sector_size) const;

  // Sets `image` to the content after a power cut, if the units in `mask` have reached the disk.
  void power_cut(std::span<const Sim_Unit> units, const Sim_Mask& mask, Sim_Fill fill,
                 std::string& image) const;
  // The same with a random mask: each pending change is lost, whole, torn, or has only changed the
  // size of the file.
  std::string power_cut(const Sim_History& history, Sim_Fill fill, Random& random) const;

 private:
  struct Pending {
    std::size_t operation;
    std::size_t size_before;
  };
  void fail_sync(const Sim_History& history);

  std::string content_;
  std::string durable_;
  std::string old_bytes_;  // former bytes of the disk, from offset 0
  bool has_durable_name_;
  bool has_failure_ = false;
  std::vector<Pending> pending_;
  std::size_t applied_ = 0;
};

// A fault of a disk. It makes call number `number` fail, counted from 0 among the calls of this
// kind.
struct Sim_Fault {
  // `changes` are writes, truncations and syncs; `names` are calls that rename, remove or list
  // files.
  enum class Calls { changes, reads, opens, locks, sizes, writes, syncs, truncations, names };
  static constexpr std::size_t calls_count = 9;
  Calls calls = Calls::changes;
  std::size_t number = 0;
  int code = EIO;
  bool lasts = false;       // all later calls of the kind fail, too
  double part_written = 0;  // fraction of a failing write that is written: 0 … 1
  // If set, the call does not fail, but from this call on the disk has only this number of free
  // blocks (Sim_Node::fill).
  std::optional<std::size_t> room = {};
  Offset block_size = 4096;
};

// Thrown by all calls on a file whose process was killed.
class Sim_Killed : public std::runtime_error {
 public:
  Sim_Killed() : std::runtime_error("this process was killed") {}
};

// Counts calls, and decides which of them fail.
class Sim_Faults {
 public:
  void set(Sim_Fault fault) { fault_ = fault; }
  void remove() { fault_.reset(); }
  const Sim_Fault& fault() const { return *fault_; }
  // Counts a call. Returns true if it fails.
  bool fails(Sim_Fault::Calls calls);
  // Returns true once: when the last counted write is the first one on a disk with limited room.
  bool fills();
  // Called when a write finds no room.
  void note_failure();
  // True if the fault has occurred.
  bool has_failed() const { return has_failed_; }
  // True if the last failing call was made during stack unwinding, so by a destructor.
  bool has_failed_in_unwinding() const { return has_failed_in_unwinding_; }
  // Number of calls of a kind so far.
  std::size_t count(Sim_Fault::Calls calls) const {
    return counts_[static_cast<std::size_t>(calls)];
  }

 private:
  std::optional<Sim_Fault> fault_;
  bool has_filled_ = false;
  bool has_failed_ = false;
  bool has_failed_in_unwinding_ = false;
  std::array<std::size_t, Sim_Fault::calls_count> counts_{};
};

// Returns the bytes that a failing write leaves in the file; empty if there are none.
std::string written_part(const Sim_Operation& operation, const Sim_Fault& fault);

// State that is shared by the files that a process has open. After `changes_left` further changes,
// the process dies when it is about to make the next change. Then its locks are free, and all its
// calls throw Sim_Killed.
class Sim_Process {
 public:
  std::size_t changes_left = std::numeric_limits<std::size_t>::max();
  // After `changes_until_call` further changes, `call` is called once, before the next change, so
  // that other processes can act.
  std::size_t changes_until_call = 0;
  std::function<void()> call = {};

  // If true, changes of files beside the journal count, too. If false, the process dies only in
  // changes of the journal.
  bool counts_other_files = false;

  // Called before each call of the process, even one that changes nothing.
  std::function<void()> on_call = {};

  bool is_killed() const { return is_killed_; }
  void begin_call() const {
    if (on_call) on_call();
    require_alive();
  }
  void require_alive() const {
    if (is_killed_) throw Sim_Killed();
  }
  void begin_change();
  void begin_other_change() { counts_other_files ? begin_change() : require_alive(); }

 private:
  bool is_killed_ = false;
};

}  // namespace joedb::testing

#endif
