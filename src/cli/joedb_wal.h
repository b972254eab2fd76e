#ifndef JOEDB_CLI_JOEDB_WAL_H
#define JOEDB_CLI_JOEDB_WAL_H

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/progress.h"
#include "joedb/io/posix_file.h"
#include "joedb/wal/reader.h"
#include "joedb/wal/recover.h"
#include "joedb/wal/text.h"
#include "joedb/wal/writer.h"

namespace joedb {

// The subcommands that are not in joedb_wal.cc. Like run_wal.
int run_wal_verify(std::vector<std::string> arguments);
int run_wal_repair(std::vector<std::string> arguments);
int run_wal_bench(std::vector<std::string> arguments);

// Nothing is wrong with a log that ends so.
inline bool ends_well(wal::Stop stop) {
  return stop == wal::Stop::clean || stop == wal::Stop::wrong_epoch;
}

// "1 entry", "2 entries"
inline std::string counted(std::uint64_t entries) {
  return std::to_string(entries) + (entries == 1 ? " entry" : " entries");
}

// The only word that is left: the name of a log.
inline std::string take_log(Words& words) { return words.take_last_name(); }

// Throws if there is such a file.
inline void require_new(const std::string& name) {
  if (std::filesystem::exists(name))
    throw Exception(name + " exists: give the name of a new file, or remove it");
}

// Another file, which is only read, with progress.
class Watched_File : public Abstract_File {
 public:
  explicit Watched_File(const Abstract_File& file)
      : Abstract_File(file.get_name(), Open_Mode::read_existing),
        file_(file),
        progress_("reading " + file.get_name(), file.get_size()) {}

  Offset get_size() const override { return file_.get_size(); }
  std::size_t pread(char* data, std::size_t size, Offset offset) const override {
    progress_.update(offset);
    return file_.pread(data, size, offset);
  }
  [[noreturn]] void pwrite(const char*, std::size_t, Offset) override { refuse(); }
  [[noreturn]] void sync() override { refuse(); }
  [[noreturn]] void datasync() override { refuse(); }
  void shared_lock(Offset, Offset) override {}
  void exclusive_lock(Offset, Offset) override {}
  void unlock(Offset, Offset) noexcept override {}

 private:
  [[noreturn]] void refuse() const { throw Exception(get_name() + " is only read"); }

  const Abstract_File& file_;
  mutable Progress progress_;
};

}  // namespace joedb

#endif
