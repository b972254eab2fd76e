#ifndef LAB_SIM_STATE_H
#define LAB_SIM_STATE_H

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

#include "joedb/base/ids.h"
#include "lab/random.h"

// What simulated files are made of: their history, what a power cut leaves of it, faults, and
// processes that are killed.

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
  // The same, if chance decides: each unsynced change is lost, whole, torn, or has only changed the
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
  std::string old_bytes_;  // what stood on the disk, from the start of the file
  bool has_durable_name_;
  bool has_failure_ = false;
  std::vector<Pending> pending_;
  std::size_t applied_ = 0;
};

// What goes wrong on a disk: the call with this number, counted from 0 among those of its kind.
struct Sim_Fault {
  // Changes are writes, truncations and syncs; calls for names rename, remove or list files.
  enum class Calls { changes, reads, opens, locks, sizes, writes, syncs, truncations, names };
  static constexpr std::size_t calls_count = 9;
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

// Counts calls, and says which of them fail.
class Sim_Faults {
 public:
  void set(Sim_Fault fault) { fault_ = fault; }
  void remove() { fault_.reset(); }
  const Sim_Fault& fault() const { return *fault_; }
  // Counts a call. Whether it fails.
  bool fails(Sim_Fault::Calls calls);
  // Whether the fault has happened.
  bool has_failed() const { return has_failed_; }
  // The last time in a destructor, after something else had been thrown.
  bool has_failed_in_unwinding() const { return has_failed_in_unwinding_; }
  // The number of calls of a kind so far.
  std::size_t count(Sim_Fault::Calls calls) const {
    return counts_[static_cast<std::size_t>(calls)];
  }

 private:
  std::optional<Sim_Fault> fault_;
  bool has_failed_ = false;
  bool has_failed_in_unwinding_ = false;
  std::array<std::size_t, Sim_Fault::calls_count> counts_{};
};

// What a write leaves in the file that was told to have failed; empty if nothing.
std::string written_part(const Sim_Operation& operation, const Sim_Fault& fault);

// What the files that a process has open have in common. It dies when it is about to make a change,
// after `changes_left` more of them: its locks are free then, and all calls throw Sim_Killed.
class Sim_Process {
 public:
  std::size_t changes_left = std::numeric_limits<std::size_t>::max();
  // Called when it is about to make a change, after so many more of them: others do something.
  std::size_t changes_until_call = 0;
  std::function<void()> call = {};

  // Whether changes of files beside the journal count; if not, it dies in changes of the journal.
  bool counts_beside = false;

  bool is_killed() const { return is_killed_; }
  void require_alive() const {
    if (is_killed_) throw Sim_Killed();
  }
  void begin_change();
  void begin_change_beside() { counts_beside ? begin_change() : require_alive(); }

 private:
  bool is_killed_ = false;
};

}  // namespace joedb::testing

#endif
