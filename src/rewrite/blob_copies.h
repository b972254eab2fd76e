#ifndef JOEDB_SRC_REWRITE_BLOB_COPIES_H
#define JOEDB_SRC_REWRITE_BLOB_COPIES_H

#include <vector>

#include "joedb/io/file.h"
#include "joedb/journal/writable_journal.h"
#include "joedb/table/database.h"
#include "rewrite/blob_map.h"

namespace joedb::inline v1 {

// The blobs of a journal. A blob is copied to another journal if a value refers to it. Takes 24
// bytes and a bit for each blob.
class Blob_Copies {
 public:
  // Adds a blob. Blobs must be added in ascending order of position.
  void add(Blob blob) {
    map_.add(blob);
    is_needed_.push_back(false);
  }
  // Marks the blob that contains the value, if there is one.
  void need(Blob value) {
    if (const auto number = map_.find(value)) is_needed_[*number] = true;
  }
  // Marks the blobs of all values of a database.
  void need_all(const Database& database);
  // Appends the marked blobs. Throws Corruption_Error if the file ends inside one of them.
  void copy(const Abstract_File& from, Writable_Journal& to);
  // Returns the value that refers to the same bytes in the other journal.
  Blob moved(Blob value) const { return map_.moved(value); }

  // The blobs that are not marked: their number, and the sum of their sizes.
  struct Unused {
    std::int64_t count = 0;
    std::int64_t bytes = 0;
  };
  Unused unused() const;

 private:
  Blob_Map map_;
  std::vector<bool> is_needed_;
};

}  // namespace joedb::inline v1

#endif
