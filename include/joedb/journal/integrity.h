#ifndef JOEDB_JOURNAL_INTEGRITY_H
#define JOEDB_JOURNAL_INTEGRITY_H

#include <string>
#include <string_view>

#include "joedb/format/integrity.h"
#include "joedb/io/file.h"

namespace joedb::inline v1 {

// Looks for integrity entries (format/integrity.h) in a file, and at what they say. It needs no
// decoding: it goes from the end of one entry to its start, where the entry before it ends.
class Integrity_Reader {
 public:
  // `file` must outlive the reader. What stands before `first` is not read ahead.
  explicit Integrity_Reader(const Abstract_File& file, Offset first = 0)
      : file_(file), first_(first) {}

  // The entry that ends at this offset, if one does.
  std::optional<Integrity_Entry> entry_before(Offset end);
  // Whether what stands there was one, and is damaged.
  bool is_damaged_before(Offset end);

  // integrity_hash of the bytes [start, end); nothing if the file ends before.
  std::optional<std::uint64_t> hash(Offset start, Offset end);
  // Whether the bytes [entry.start, end) are those that the entry saw.
  bool is_good(const Integrity_Entry& entry, Offset end);

  // Whether an entry ends at `end`. If so, checks it and those before it, down to `covered`, which
  // is known to be covered. Throws Corruption_Error, with the offset of the damaged bytes.
  bool check(Offset end, Offset covered);

  // Of the entries between two offsets, both of them between two entries, the end of the first good
  // one that covers bytes from `start` or earlier; nothing if there is none, or an entry that
  // cannot be decoded comes first. So damage stays known that Recovery::ignore_header has taken
  // over: what is written next covers everything.
  std::optional<Offset> find_good_end(Offset begin, Offset end, Offset start) const;

  // Corruption_Error: the entry that ends at `end` is damaged; what such an entry covers is; there
  // is none that ends at `offset`.
  [[noreturn]] void fail_in_entry(Offset end) const;
  [[noreturn]] void fail_before_entry(const Integrity_Entry& entry, Offset end) const;
  [[noreturn]] void fail_without_entry(Offset offset) const;

 private:
  std::string_view bytes(Offset start, Offset end);

  const Abstract_File& file_;
  Offset first_;
  std::string buffer_;  // what stands at buffer_start_
  Offset buffer_start_ = 0;
};

}  // namespace joedb::inline v1

#endif
