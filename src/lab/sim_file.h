#ifndef LAB_SIM_FILE_H
#define LAB_SIM_FILE_H

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/file_identity.h"
#include "joedb/io/named_file.h"
#include "lab/sim_folder.h"
#include "lab/sim_state.h"

namespace joedb::testing {

// A disk with one file, and others beside it, which outlives processes (Sim_File objects). What is
// said of the file here is not about those beside it: their changes are no part of the history.
//
// A killed process loses nothing that it has written; so for a process that is killed after each of
// its operations in turn, run it once and look at the disk `at` each number of operations.
//
// A failed sync leaves nothing that a later sync could repair: each change it should have made
// durable is so, or never will be, although processes go on seeing it (as on Linux). The name of a
// new file becomes durable by a sync of its directory; if that fails, perhaps.
class Sim_Disk {
 public:
  // A file with this content, which is durable; none if it is empty. So are those beside it.
  explicit Sim_Disk(std::string content = {}, Sim_Folder::Files beside = {})
      : state_(content, !content.empty()), folder_(std::move(beside)) {
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
  // The same with the files beside it, and anything where the file has grown.
  Sim_Disk after_power_cut(std::uint64_t seed) const;

  void set_fault(Sim_Fault fault) { faults_.set(fault); }
  void remove_fault() { faults_.remove(); }
  // From now on syncs succeed and do nothing.
  void lie() { is_lying_ = true; }
  // The files beside it, by the end of their names: what processes see.
  Sim_Folder::Files beside() const { return folder_.files(); }
  Sim_Folder& folder() { return folder_; }

  // The file's own, without those beside it.
  bool has_failed() const { return faults_.has_failed(); }
  bool has_failed_in_unwinding() const { return faults_.has_failed_in_unwinding(); }
  std::size_t count(Sim_Fault::Calls calls) const { return faults_.count(calls); }

  // Of the file. A copy into it keeps the number of the file, and a file that is moved to its name
  // has another one.
  const File_Identity& identity() const { return identity_; }
  void set_identity(File_Identity identity) { identity_ = identity; }

  // All calls so far, one line each: "lock tail", "size", "read 41@0", "write 8@16", "sync", ….
  // Takes them out of the record.
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
  bool is_lying_ = false;
  File_Identity identity_{1, 1};
  std::vector<Lock> locks_;
  std::vector<Call> calls_;
  Sim_Folder folder_;
};

// A process's open file on a Sim_Disk. Several may be open at a time, in one thread: a lock that
// would have to wait, for ever then, is a std::logic_error. So is a change of a shared file without
// its tail lock.
class Sim_File : public Named_File, public Has_Identity {
 public:
  // `disk` must outlive this object.
  explicit Sim_File(Sim_Disk& disk, Open_Mode mode = Open_Mode::write_existing_or_create_new);
  ~Sim_File() override;

  // The process that has it open, and the files that it has opened beside it. It dies when it is
  // about to make a change, after `changes` more of them, in any of these files.
  void kill_after(std::size_t changes) { process_->changes_left = changes; }
  bool is_killed() const { return process_->is_killed(); }
  Sim_Process& process() { return *process_; }

  Offset get_size() const override;
  std::optional<File_Identity> identity() const override { return disk_.identity(); }
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
  void rename_beside(const std::string& from, const std::string& to) const override;
  void remove_beside(const std::string& suffix) const override;
  std::vector<std::string> list_beside(const std::string& prefix) const override;

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

// The four checkpoint words of a file, as text: "41 41 41 -44".
std::string words_text(std::string_view file);

}  // namespace joedb::testing

#endif
