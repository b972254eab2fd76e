#ifndef JOEDB_SRC_SIM_LAB_SIM_FILE_H
#define JOEDB_SRC_SIM_LAB_SIM_FILE_H

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "joedb/io/posix_file.h"
#include "sim/lab/sim_directory.h"

namespace joedb::testing {

// A disk with one file, and other files beside it, which are identified by the suffixes of their
// names. Processes are Sim_File objects; the disk outlives them. Unless stated otherwise, members
// refer only to the file itself: changes of files beside it are not part of its history.
//
// To simulate a kill after each operation, run the process once, and inspect the disk by at(n)
// after each number of operations. The name of a new file becomes durable by a sync of its
// directory. If this sync fails, the name may or may not be durable.
class Sim_Disk : public Sim_Node {
 public:
  // A file with this content, and files beside it, all of them durable. If `content` is empty, the
  // file does not exist.
  explicit Sim_Disk(std::string content = {}, const Sim_Directory::Contents& beside = {})
      : Sim_Node(std::move(content)), directory_(beside, Sim_Directory::Kind::beside) {}

  // Returns the disk after `io_count` operations.
  Sim_Disk at(std::size_t io_count) const;

  // Returns the content after a power cut. Each pending change is lost, whole, torn, or has only
  // changed the size of the file.
  std::string power_cut(std::uint64_t seed) const;
  // Returns the disk after a power cut, with the files beside it, and with a random Sim_Fill.
  Sim_Disk after_power_cut(std::uint64_t seed) const;

  // The files beside the file, as processes see them.
  Sim_Directory::Contents beside() const { return directory_.contents(); }
  Sim_Directory& directory() { return directory_; }

 private:
  Sim_Directory directory_;
};

// An open file of a process. Several files may be open at a time, in one thread. So a lock that
// would block would wait forever, and throws std::logic_error. A change of a shared file without
// its tail lock throws std::logic_error, too.
class Sim_File : public Named_File, public Has_Identity {
 public:
  // `disk` must outlive this object.
  explicit Sim_File(Sim_Disk& disk, Open_Mode mode = Open_Mode::write_existing_or_create_new);
  ~Sim_File() override;

  // The process that has this file and files beside it open. After `changes` further changes, it
  // dies when it is about to make the next change. Sim_Process::counts_other_files determines
  // whether changes of the other files count.
  void kill_after(std::size_t changes) { process_->changes_left = changes; }
  bool is_killed() const { return process_->is_killed(); }
  Sim_Process& process() { return *process_; }

  Offset get_size() const override;
  std::optional<File_Identity> identity() const override { return node_.identity(); }
  std::size_t pread(char* data, std::size_t size, Offset offset) const override;
  // If `is_cold`, reads have to wait for the disk, and pread_cached() returns false.
  void set_cold(bool is_cold) { is_cold_ = is_cold; }
  bool pread_cached(char* data, std::size_t size, Offset offset) const override {
    return !is_cold_ && Abstract_File::pread_cached(data, size, offset);
  }
  void pwrite(const char* data, std::size_t size, Offset offset) override;
  void require_not_replaced() const override;
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

  // For Mapped. If the system would kill the process, throws std::logic_error. A process may be
  // killed in the middle of a store; the bytes of a store are written in no particular order.
  static constexpr Offset map_page = 64;
  bool map(Offset start, Offset end);
  void unmap() { map_start_ = map_end_ = 0; }
  void store(const char* data, std::size_t size, Offset offset);

 private:
  friend class Sim_Directory;
  class Beside;

  // `file` is the index in the directory; Sim_Directory::no_file for the file of a Sim_Disk.
  Sim_File(Sim_Directory& directory, std::size_t file, std::shared_ptr<Sim_Node> node,
           const std::string& title, Open_Mode mode, std::shared_ptr<Sim_Process> process);
  bool is_beside() const { return directory_.is_beside() && file_ != Sim_Directory::no_file; }
  Sim_Faults& faults() const { return is_beside() ? directory_.faults_ : node_.faults_; }
  // Returns the name in the directory of a file beside this one.
  std::string name_beside(const std::string& suffix) const;
  [[noreturn]] void fail(const char* action, Offset offset = -1) const;
  void lock(Offset start, bool is_exclusive);
  void require_tail_lock() const;
  void require_room(Sim_Operation& operation);
  void change(Sim_Operation operation);
  void apply(Sim_Operation operation);
  [[noreturn]] void fail(const Sim_Operation& operation);

  Sim_Directory& directory_;
  const std::size_t file_;
  const std::shared_ptr<Sim_Node> owned_;  // the node may outlive its directory
  Sim_Node& node_;
  const std::shared_ptr<Sim_Process> process_;
  Offset map_start_ = 0;
  Offset map_end_ = 0;
  bool is_cold_ = false;
};

// Returns the four checkpoint words of a file as text, for example "41 41 41 -44".
std::string words_text(std::string_view file);

}  // namespace joedb::testing

#endif
