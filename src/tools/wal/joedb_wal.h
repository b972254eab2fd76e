#ifndef JOEDB_SRC_TOOLS_WAL_JOEDB_WAL_H
#define JOEDB_SRC_TOOLS_WAL_JOEDB_WAL_H

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "joedb/io/file.h"
#include "joedb/io/posix_file.h"
#include "joedb/wal/log.h"
#include "joedb/wal/segments.h"
#include "kernel/base/counted.h"
#include "tools/frame/arguments.h"
#include "tools/frame/json_output.h"
#include "tools/frame/progress.h"

namespace joedb {

// Subcommands that are defined in other files than joedb_wal.cc. Arguments and result are those of
// run_wal.
int run_wal_verify(std::vector<std::string> arguments);
int run_wal_repair(std::vector<std::string> arguments);
int run_wal_bench(std::vector<std::string> arguments);

// These are for logs that are directories of segments.
int verify_segments(const std::string& directory, bool is_json);
struct Repair {
  bool has_zeros = false;
  bool keeps_later = false;
  std::string copy;
};
int repair_segments(const std::string& directory, const Repair& repair);
int repair_file(const std::string& name, const Repair& repair);
// Copies the bytes from offset `start` on to a new file, and syncs the new file.
void save_end(const File& file, Offset start, const std::string& name);
// Prints the state of the file after the end of the log, and how to repair it.
void print_advice(const std::string& name, const wal::Report& report);
// Returns the part of `joedb wal verify --json` about the end of a log.
Json json_of_end(const wal::Report& report);
// Returns true if the log has a regular end (ends_well), no damage, and no good entries after its
// end.
bool is_good(const wal::Report& report);

// Returns true if `stop` is a regular end of a log.
inline bool ends_well(wal::Stop stop) {
  return stop == wal::Stop::clean || stop == wal::Stop::wrong_epoch;
}

// Takes the name of a log. Throws Usage_Error if it is missing, or not the last word.
inline std::string take_log(Words& words) { return words.take_last_name(); }

// Throws Exception if the file exists.
inline void require_new(const std::string& name) {
  if (std::filesystem::exists(name))
    throw Exception(name + " exists: give the name of a new file, or remove it");
}

// A read-only wrapper of a file. It calls f(offset, size) before each read.
class Watched_File : public Readonly_File {
 public:
  using Watch = std::function<void(Offset offset, std::size_t size)>;

  // Shows progress. `file` must outlive this object.
  explicit Watched_File(const Abstract_File& file,
                        Progress::Output output = Progress::Output::nothing)
      : Watched_File(nullptr, file,
                     [progress = std::make_shared<Progress>("reading " + file.get_name(), Offset{0},
                                                            file.get_size(), output)](
                         Offset offset, std::size_t) { progress->update(offset); }) {}
  Watched_File(std::unique_ptr<Abstract_File> owned, const Abstract_File& file, Watch watch)
      : Readonly_File(file.get_name()),
        owned_(std::move(owned)),
        file_(file),
        watch_(std::move(watch)) {}

  Offset get_size() const override { return file_.get_size(); }
  std::size_t pread(char* data, std::size_t size, Offset offset) const override {
    watch_(offset, size);
    return file_.pread(data, size, offset);
  }
  void require_not_replaced() const override { file_.require_not_replaced(); }

 private:
  const std::unique_ptr<Abstract_File> owned_;
  const Abstract_File& file_;
  const Watch watch_;
};

// A read-only directory. It shows progress while its files are read.
class Watched_Directory : public Abstract_Directory {
 public:
  explicit Watched_Directory(const std::string& name,
                             Progress::Output output = Progress::Output::nothing)
      : directory_(name), progress_("reading " + name, 0, size_of(name), output) {}

  const std::string& get_name() const override { return directory_.get_name(); }
  std::vector<std::string> list() const override { return directory_.list(); }
  std::unique_ptr<Abstract_File> open(const std::string& name, Open_Mode mode) override {
    auto file = directory_.open(name, mode);
    const Abstract_File& open_file = *file;
    return std::make_unique<Watched_File>(std::move(file), open_file,
                                          [this](Offset, std::size_t size) {
                                            done_ += static_cast<Offset>(size);
                                            progress_.update(std::min(done_, size_));
                                          });
  }
  void require_not_replaced() const override { directory_.require_not_replaced(); }
  void remove(const std::string&) override { throw Exception(get_name() + " is only read"); }

 private:
  Offset size_of(const std::string& name) {
    for (const auto& entry : std::filesystem::directory_iterator(name))
      if (entry.is_regular_file()) size_ += static_cast<Offset>(entry.file_size());
    return size_;
  }

  Directory directory_;
  Offset size_ = 0;  // size_of() initializes it, so it must precede progress_
  Offset done_ = 0;
  Progress progress_;
};

}  // namespace joedb

#endif
