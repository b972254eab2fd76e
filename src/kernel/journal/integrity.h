#ifndef JOEDB_SRC_KERNEL_JOURNAL_INTEGRITY_H
#define JOEDB_SRC_KERNEL_JOURNAL_INTEGRITY_H

#include <string>
#include <string_view>

#include "joedb/format/header.h"
#include "joedb/io/file.h"

namespace joedb::inline v1 {

// Finds integrity entries (format/header.h) in a file and compares them with the bytes that they
// cover. Only find_good_end decodes the journal. The other functions step from the end of an
// integrity entry to the start of the bytes that it covers, where the previous integrity entry
// ends.
class Integrity_Reader {
 public:
  // `file` must outlive the reader. Bytes before `first` are not read ahead.
  explicit Integrity_Reader(const Abstract_File& file, Offset first = 0)
      : file_(file), first_(first) {}

  // Returns the integrity entry that ends at `end`, or nullopt.
  std::optional<Integrity_Entry> entry_before(Offset end);
  // True if a damaged integrity entry ends at `end`.
  bool is_damaged_before(Offset end);

  // Returns integrity_hash of the bytes [start, end), or nullopt if the file ends before `end`.
  std::optional<std::uint64_t> hash(Offset start, Offset end);
  // True if the bytes [entry.start, end) have the hash of the entry.
  bool is_good(const Integrity_Entry& entry, Offset end);

  // Returns true if an integrity entry ends at `end`. Compares this entry, and the integrity
  // entries before it, with the bytes that they cover, back to `covered`; the bytes before
  // `covered` were compared already. Throws Corruption_Error, with the offset of the damaged bytes.
  bool check(Offset end, Offset covered);

  // Decodes the entries in [begin, end) and returns the end of the first good integrity entry that
  // covers bytes from `start` or earlier. Both offsets are between two entries. Returns nullopt if
  // there is no such entry, or if an entry before it cannot be decoded. Needed if a writer with
  // Recovery::ignore_header has adopted damaged bytes: the next integrity entry that it has written
  // covers everything.
  std::optional<Offset> find_good_end(Offset begin, Offset end, Offset start) const;

  // These functions return the error to throw. error_in_entry: the entry that ends at `end` is
  // damaged. error_before_entry: the bytes that the entry covers are damaged. error_without_entry:
  // no integrity entry ends at `offset`.
  Corruption_Error error_in_entry(Offset end) const;
  Corruption_Error error_before_entry(const Integrity_Entry& entry, Offset end) const;
  Corruption_Error error_without_entry(Offset offset) const;

 private:
  std::string_view bytes(Offset start, Offset end);

  const Abstract_File& file_;
  Offset first_;
  std::string buffer_;  // bytes of the file from buffer_start_ on
  Offset buffer_start_ = 0;
};

// Returns the integrity entry that ends at `end`, or nullopt. Reads only the bytes of this entry.
// Throws Io_Error.
std::optional<Integrity_Entry> integrity_entry_before(const Abstract_File& file, Offset end);

}  // namespace joedb::inline v1

#endif
