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

 private:
  std::string_view bytes(Offset start, Offset end);

  const Abstract_File& file_;
  Offset first_;
  std::string buffer_;  // what stands at buffer_start_
  Offset buffer_start_ = 0;
};

}  // namespace joedb::inline v1

#endif
