#ifndef JOEDB_WAL_COPIES_H
#define JOEDB_WAL_COPIES_H

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/io/file.h"

namespace joedb::inline v1::wal {

struct Copies_Options {
  // An entry is durable when so many copies have it; 0: all of them. What is lost on all but one of
  // these is not lost.
  std::size_t needed = 0;
  // Called for each thing that was found or happened: a copy that cannot be opened, was repaired,
  // or failed and is not used any more.
  std::function<void(std::string_view)> on_report = {};
  // Copies are synced at the same time, each in a thread.
  bool has_threads = true;
};

// Several copies of one log, on different disks, as one file:
//
//   joedb::wal::Writer log(joedb::wal::Copies::open({"/a/x.wal", "/b/x.wal", "/c/x.wal"},
//                                                   joedb::Open_Mode::write_existing_or_create_new,
//                                                   {.needed = 2}));
//
// The constructor reads all of them, entry by entry, and takes each from any copy where it is good.
// If the copies may be written, those that miss something are repaired. It refuses what could lose
// or mix something: too few copies to be sure that none of the durable entries is missing; copies
// of different logs; and good entries that differ in the same place, unless one of them stands in
// as many copies as are needed, and the other does not.
//
// A copy that fails is not written to any more; if fewer are left than needed, the write or sync
// throws. For logs of format `checked` only. A log that is read is the one that was found: it does
// not follow what is written meanwhile.
class Copies : public Abstract_File {
 public:
  // A file that is null could not be opened. Throws Exception, Io_Error, Corruption_Error.
  Copies(std::vector<std::unique_ptr<Abstract_File>> files, Open_Mode mode,
         Copies_Options options = {});
  // Opens files; what cannot be opened is reported.
  static std::unique_ptr<Copies> open(const std::vector<std::string>& names, Open_Mode mode,
                                      Copies_Options options = {});

  struct Status {
    std::string name;
    bool is_used = false;
    std::uint64_t repaired_entries = 0;  // by the constructor
    std::string failure;                 // why it is not used
  };
  const std::vector<Status>& status() const { return status_; }

  Offset get_size() const override;
  std::size_t pread(char* data, std::size_t size, Offset offset) const override;
  void pwrite(const char* data, std::size_t size, Offset offset) override;
  void sync() override;
  void datasync() override;
  bool truncate(Offset size) override;
  // Throws Io_Error if one of the copies has no room for them, and goes on using it.
  void write_zeros(Offset start, Offset end) override;
  // Each copy was locked when it was opened; these do nothing.
  void shared_lock(Offset, Offset) override {}
  void exclusive_lock(Offset, Offset) override {}
  void unlock(Offset, Offset) noexcept override {}

 private:
  // From `start` on the log is read from this copy.
  struct Piece {
    Offset start;
    std::size_t copy;
  };
  class Merge;

  std::size_t used() const;
  void report(const std::string& text) const;
  void drop(std::size_t copy, const std::string& failure);
  void require_enough() const;
  template <class F>
  void for_each_used(F f);

  const std::vector<std::unique_ptr<Abstract_File>> files_;
  const Copies_Options options_;
  const std::size_t needed_;
  std::vector<Status> status_;
  std::vector<Piece> pieces_;
  Offset read_size_ = 0;  // of a log that is only read
  bool is_new_ = false;   // until entries are written, no copy may fail: each must have the header
};

}  // namespace joedb::inline v1::wal

#endif
