#ifndef TESTING_SIM_FILE_H
#define TESTING_SIM_FILE_H

#include <cerrno>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/io/file.h"

namespace joedb::testing {

// A call that changed a file, or made changes durable.
struct Sim_Operation {
  enum class Kind { write, truncate, sync, failed_sync };
  Kind kind;
  Offset offset = 0;  // of a write; the new size of a truncation
  std::string bytes;
};

// What goes wrong on a disk: the call with this number, counted from 0 among those of its kind.
struct Sim_Fault {
  enum class Calls { changes, reads };
  Calls calls = Calls::changes;
  std::size_t number = 0;
  int code = EIO;
  bool lasts = false;       // all later calls of the kind fail as well
  double part_written = 0;  // how much of a failing write is in the file: 0 nothing, 1 all
};

// A disk with one file, which outlives processes (Sim_File objects).
//
// Three states are told apart: `content`, what every process sees; what is durable; and the changes
// in between, in order, that a power cut may undo. A killed process loses nothing that it has
// written; so for a process that is killed after each of its operations in turn, run it once and
// look at the disk `at` each number of operations.
//
// A failed sync leaves nothing that a later sync could repair: each change it should have made
// durable is so, or never will be, although processes go on seeing it (as on Linux).
class Sim_Disk {
 public:
  // `content` is durable.
  explicit Sim_Disk(std::string content = {}) : start_(content), durable_(content) {
    content_ = std::move(content);
  }

  const std::string& content() const { return content_; }
  const std::string& durable() const { return durable_; }
  bool is_synced() const { return unsynced_.empty(); }

  // Writes, truncations and syncs so far, failed ones included.
  std::size_t io_count() const { return history_.size(); }
  const std::vector<Sim_Operation>& history() const { return history_; }

  // As it was after that many operations.
  Sim_Disk at(std::size_t io_count) const;

  // What is on the disk after a power cut. Each unsynced write is lost, whole, torn at 512 bytes (8
  // bytes in the 41 bytes of a header), or has made the file grow but left zeros in it; each
  // unsynced truncation is lost or done.
  std::string power_cut(std::uint64_t seed) const;

  void set_fault(Sim_Fault fault) { fault_ = fault; }
  void remove_fault() { fault_.reset(); }

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

  void change(Sim_Operation operation);
  // Throws if the fault says so. A failing write leaves its part.
  void count_change(const std::string& path, const Sim_Operation& operation);
  void count_read(const std::string& path, Offset offset);
  bool is_next(Sim_Fault::Calls calls, std::size_t number) const;
  bool is_free(const Lock& wanted) const;
  void unlock(const Abstract_File* owner, Offset start);

  std::string start_;
  std::string durable_;
  std::string content_;
  std::vector<Sim_Operation> unsynced_;
  std::vector<Sim_Operation> history_;
  std::optional<Sim_Fault> fault_;
  std::size_t changes_ = 0;
  std::size_t reads_ = 0;
  std::vector<Lock> locks_;
  std::vector<std::string> calls_;
};

// A process's open file on a Sim_Disk. Several may be open at a time, in one thread: a lock that
// would have to wait, for ever then, is a std::logic_error.
class Sim_File : public Abstract_File {
 public:
  // `disk` must outlive this object.
  explicit Sim_File(Sim_Disk& disk, Open_Mode mode = Open_Mode::write_existing_or_create_new);
  ~Sim_File() override;

  Offset get_size() const override;
  std::size_t pread(char* data, std::size_t size, Offset offset) const override;
  void pwrite(const char* data, std::size_t size, Offset offset) override;
  void sync() override;
  void datasync() override;
  bool truncate(Offset size) override;
  void shared_lock(Offset start, Offset size) override;
  void exclusive_lock(Offset start, Offset size) override;
  void unlock(Offset start, Offset size) noexcept override;

 private:
  void lock(Offset start, bool is_exclusive);

  Sim_Disk& disk_;
};

// The four checkpoint words of a file, as text: "41 41 41 -44".
std::string words_text(std::string_view file);

}  // namespace joedb::testing

#endif
