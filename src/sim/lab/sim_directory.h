#ifndef JOEDB_SRC_SIM_LAB_SIM_DIRECTORY_H
#define JOEDB_SRC_SIM_LAB_SIM_DIRECTORY_H

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "joedb/io/file.h"
#include "kernel/io/file_identity.h"
#include "sim/lab/sim_state.h"

namespace joedb::testing {

// A simulated file. Processes open it as a Sim_File. It outlives the processes.
//
// A killed process loses nothing that it has written. As on Linux, a failed sync cannot be repaired
// by a later sync: each pending change is either durable or will never be durable, although
// processes still read it.
class Sim_Node {
 public:
  // A file with this durable content. If `content` is empty, the file does not exist.
  explicit Sim_Node(std::string content) : start_(content), state_(start()) {}

  const Sim_State& state() const { return state_; }
  const std::string& content() const { return state_.content(); }
  const std::string& durable() const { return state_.durable(); }
  bool is_synced() const { return state_.is_synced(); }

  // Number of writes, truncations and syncs so far, including failed ones.
  std::size_t io_count() const { return history_.size(); }
  const Sim_History& history() const { return history_; }
  Sim_State start() const { return Sim_State(start_, !start_.empty()); }

  void set_fault(Sim_Fault fault) { faults_.set(fault); }
  void remove_fault() { faults_.remove(); }
  bool has_failed() const { return faults_.has_failed(); }
  bool has_failed_in_unwinding() const { return faults_.has_failed_in_unwinding(); }
  std::size_t count(Sim_Fault::Calls calls) const { return faults_.count(calls); }
  // From now on, syncs succeed without effect.
  void ignore_syncs() { ignores_syncs_ = true; }

  // Identity of the file. If bytes are copied into the file, its number does not change; if another
  // file is renamed to its name, that file has another number.
  const File_Identity& identity() const { return identity_; }
  void set_identity(File_Identity identity) { identity_ = identity; }

  // Returns all calls since the last take_calls(), one per line: "lock tail", "size", "read 41@0",
  // "write 8@16", "sync", ….
  std::string take_calls();

  // True if the file has the block at `offset`: it was written, and not truncated since.
  bool has_block(Offset offset) const;
  // From now on, the disk has only `room` free blocks. A write that needs more leaves the bytes
  // that have room, and fails with ENOSPC. A truncation frees blocks.
  void fill(std::size_t room = 0, Offset block_size = 4096);
  // From now on, there is room for everything.
  void end_fill() { room_.reset(); }

 protected:
  void change(Sim_Operation operation);

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

  bool is_free(const Lock& wanted) const;
  bool has_exclusive_lock(const Abstract_File* owner, Offset start) const;
  void unlock(const Abstract_File* owner, Offset start);
  Offset next_block(Offset offset) const { return (offset / block_size_ + 1) * block_size_; }
  // Takes the blocks of [offset, offset + size) that the file does not have yet. Returns the number
  // of bytes that have room.
  std::size_t take_blocks(Offset offset, std::size_t size);
  void free_blocks(Offset new_size);

  std::string start_;
  Sim_State state_;
  Sim_History history_;
  Sim_Faults faults_;
  bool ignores_syncs_ = false;
  std::optional<std::size_t> room_;  // number of free blocks, if it is limited
  Offset block_size_ = 4096;
  File_Identity identity_{1, 1};
  std::vector<Lock> locks_;
  std::vector<Call> calls_;
};

// A directory of simulated files, and the order of all operations on them. It outlives processes.
//
// The functions of Abstract_Directory are called by programs that share process(); other functions
// have the calling process as an argument. They throw Io_Error and Sim_Killed.
class Sim_Directory : public Abstract_Directory {
 public:
  using Contents = std::map<std::string, std::string>;

  // A name of a file. A file that was renamed has two such objects.
  struct File {
    std::string name;
    std::shared_ptr<Sim_Node> node;
    std::size_t made = 0;                   // time() when it was made; 0 if it existed at the start
    std::size_t removed = std::size_t(-1);  // a removal takes effect with the next operation
  };
  static constexpr std::size_t no_file = std::size_t(-1);

  // Determines how the names of files become durable, and which files a fault hits.
  enum class Kind {
    // A name becomes durable by a sync of the file, according to the history of the file. A fault
    // hits one file.
    independent,
    // The files are beside the file of a Sim_Disk; their names are suffixes of its name. The
    // directory is synced as a whole; a power cut loses any subset of the creations, removals and
    // renamings since then. (A renaming or removal is durable when it returns, so only one is
    // pending at a time.) A fault hits all files.
    beside
  };

  // Makes a directory with these files, which are durable.
  explicit Sim_Directory(const Contents& contents, Kind kind = Kind::independent);

  // The files as processes see them.
  Contents contents() const { return contents(names_); }
  // All files that have ever existed, and the number of operations on them so far.
  const std::vector<File>& files() const { return files_; }
  std::size_t time() const { return order_.size(); }
  // The index of the file of each operation.
  const std::vector<std::size_t>& order() const { return order_; }
  Sim_Process& process() { return *process_; }
  // states() returns the current states of all files, and start() their states before the first
  // operation.
  std::vector<Sim_State> states() const;
  std::vector<Sim_State> start() const;

  // Sets a fault of a single file, which need not exist yet.
  void set_fault(std::size_t file, Sim_Fault fault);
  void remove_faults();
  bool has_failed() const;
  // Fills the disk: writes to blocks that the files do not have yet fail with ENOSPC.
  void fill();

  const std::string& get_name() const override;
  std::vector<std::string> list() const override { return list(*process_); }
  std::unique_ptr<Abstract_File> open(const std::string& name, Open_Mode mode) override {
    return open(name, name, mode, process_);
  }
  void remove(const std::string& name) override;
  void remove_durably(const std::string& name) override { remove(name); }

  // ---- Kind::beside

  // The files after a power cut that loses every change that is not durable.
  Contents durable_contents() const;
  // Returns the files after a random power cut.
  Contents power_cut(Random& random) const;
  Sim_Faults& faults() { return faults_; }
  // Replaces the content of a file from outside; the new content is durable.
  void put(const std::string& name, const std::string& content);

  // `title` is the name for messages.
  std::unique_ptr<Abstract_File> open(const std::string& name, const std::string& title,
                                      Open_Mode mode, std::shared_ptr<Sim_Process> process);
  using Abstract_Directory::rename;
  void rename(const std::string& from, const std::string& to, Sim_Process& process);
  void remove(const std::string& name, Sim_Process& process);
  std::vector<std::string> list(Sim_Process& process) const;

 private:
  friend class Sim_File;
  using Names = std::map<std::string, std::size_t>;  // indexes of files_
  // A change of a name that is not durable.
  struct Name_Change {
    std::string removed;
    std::string added;
    std::size_t file;  // no_file for a removal
    void apply(Names& names) const;
  };

  bool has_name(const Sim_Node& node) const;
  bool is_beside() const { return kind_ == Kind::beside; }
  Contents contents(const Names& names) const;
  std::size_t add(const std::string& name, std::shared_ptr<Sim_Node> node);
  void change_names(Name_Change change);
  void sync_names(const std::string& title);
  [[noreturn]] void fail(const char* action, const std::string& title) const;

  Kind kind_;
  std::vector<File> files_;
  std::vector<std::size_t> order_;
  std::shared_ptr<Sim_Process> process_ = std::make_shared<Sim_Process>();
  Names names_;
  Names durable_names_;
  std::vector<Name_Change> pending_;
  mutable Sim_Faults faults_;
  std::optional<std::pair<std::size_t, Sim_Fault>> file_fault_;  // of one file, with its index
};

}  // namespace joedb::testing

#endif
