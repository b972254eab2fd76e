#ifndef JOEDB_SRC_SIM_LAB_SIM_FILE_H
#define JOEDB_SRC_SIM_LAB_SIM_FILE_H

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/io/posix_file.h"
#include "kernel/io/file_identity.h"
#include "sim/lab/sim_folder.h"
#include "sim/lab/sim_state.h"

namespace joedb::testing {

// A disk with one file, and other files beside it (Sim_Folder). It outlives processes, which are
// Sim_File objects. Unless stated otherwise, members refer to the file itself: changes of files
// beside it are not part of the history.
//
// A killed process loses nothing that it has written. To simulate a kill after each operation, run
// the process once, and inspect the disk `at` each number of operations.
//
// After a failed sync, no later sync repairs anything: each pending change is durable or will never
// be, although processes continue to see it (as on Linux). The name of a new file becomes durable
// by a sync of its directory; if that sync fails, the name may or may not be durable.
class Sim_Disk {
 public:
  // A file with this content, and files beside it, all of them durable. With an empty `content`,
  // the file does not exist.
  explicit Sim_Disk(std::string content = {}, Sim_Folder::Files beside = {})
      : state_(content, !content.empty()), folder_(std::move(beside)) {
    start_ = std::move(content);
  }

  const Sim_State& state() const { return state_; }
  const std::string& content() const { return state_.content(); }
  const std::string& durable() const { return state_.durable(); }
  bool is_synced() const { return state_.is_synced(); }

  // Number of writes, truncations and syncs so far, including failed ones.
  std::size_t io_count() const { return history_.size(); }
  const Sim_History& history() const { return history_; }

  // at(): the disk after `io_count` operations. start(): the state before the first one.
  Sim_Disk at(std::size_t io_count) const;
  Sim_State start() const { return Sim_State(start_, !start_.empty()); }

  // Returns the content after a power cut. Each pending change is lost, whole, torn, or has only
  // changed the size of the file.
  std::string power_cut(std::uint64_t seed) const;
  // Returns the disk after a power cut, with the files beside it, and with a random Sim_Fill.
  Sim_Disk after_power_cut(std::uint64_t seed) const;

  void set_fault(Sim_Fault fault) { faults_.set(fault); }
  void remove_fault() { faults_.remove(); }
  // From now on, syncs succeed without effect.
  void ignore_syncs() { ignores_syncs_ = true; }
  // The files beside the file, by suffix, as processes see them.
  Sim_Folder::Files beside() const { return folder_.files(); }
  Sim_Folder& folder() { return folder_; }

  // Faults and calls of the file itself, without the files beside it.
  bool has_failed() const { return faults_.has_failed(); }
  bool has_failed_in_unwinding() const { return faults_.has_failed_in_unwinding(); }
  std::size_t count(Sim_Fault::Calls calls) const { return faults_.count(calls); }

  // Identity of the file. Copying bytes into the file keeps its number; a file that is renamed to
  // its name has another number.
  const File_Identity& identity() const { return identity_; }
  void set_identity(File_Identity identity) { identity_ = identity; }

  // Returns all calls since the last take_calls(), one per line: "lock tail", "size", "read 41@0",
  // "write 8@16", "sync", ….
  std::string take_calls();

 private:
  friend class Sim_File;

  struct Lock {
    const Abstract_File* owner;
    const Sim_Process* process;
    Offset start;
    bool is_exclusive;
  };
  struct Call {
    const char* name;
    Offset offset;
    std::size_t size;
  };

  void change(Sim_Operation operation);
  bool is_free(const Lock& wanted) const;
  bool has_exclusive_lock(const Abstract_File* owner, Offset start) const;
  void unlock(const Abstract_File* owner, Offset start);

  std::string start_;
  Sim_State state_;
  Sim_History history_;
  Sim_Faults faults_;
  bool ignores_syncs_ = false;
  File_Identity identity_{1, 1};
  std::vector<Lock> locks_;
  std::vector<Call> calls_;
  Sim_Folder folder_;
};

// An open file of a process on a Sim_Disk. Several may be open at a time, in one thread: a lock
// that would block, and so would wait forever, is a std::logic_error. So is a change of a shared
// file without its tail lock.
class Sim_File : public Named_File, public Has_Identity {
 public:
  // `disk` must outlive this object.
  explicit Sim_File(Sim_Disk& disk, Open_Mode mode = Open_Mode::write_existing_or_create_new);
  ~Sim_File() override;

  // The process that has this file and files beside it open. It dies when it is about to make a
  // change, after `changes` further ones (Sim_Process::counts_other_files says of which files).
  void kill_after(std::size_t changes) { process_->changes_left = changes; }
  bool is_killed() const { return process_->is_killed(); }
  Sim_Process& process() { return *process_; }

  Offset get_size() const override;
  std::optional<File_Identity> identity() const override { return disk_.identity(); }
  std::size_t pread(char* data, std::size_t size, Offset offset) const override;
  // True if reads have to wait for the disk: then pread_cached() returns false.
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
  std::unique_ptr<Abstract_Directory> beside() const override;

 protected:
  void sync_content() override;
  void datasync_content() override;
  void sync_directory() override;

  // For Mapped. Throws std::logic_error where the system would kill the process. A process may be
  // killed in the middle of a store, whose bytes have no order.
  static constexpr Offset map_page = 64;
  bool map(Offset start, Offset end);
  void unmap() { map_start_ = map_end_ = 0; }
  void store(const char* data, std::size_t size, Offset offset);

 private:
  class Beside;
  Sim_File(Sim_Disk& disk, Open_Mode mode, std::shared_ptr<Sim_Process> process);
  void lock(Offset start, bool is_exclusive);
  void require_tail_lock() const;
  void change(Sim_Operation operation);
  [[noreturn]] void fail(const Sim_Operation& operation);

  Sim_Disk& disk_;
  const std::shared_ptr<Sim_Process> process_;
  Offset map_start_ = 0;
  Offset map_end_ = 0;
  bool is_cold_ = false;
};

// Returns the four checkpoint words of a file as text: "41 41 41 -44".
std::string words_text(std::string_view file);

}  // namespace joedb::testing

#endif
