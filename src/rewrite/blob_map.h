#ifndef JOEDB_SRC_REWRITE_BLOB_MAP_H
#define JOEDB_SRC_REWRITE_BLOB_MAP_H

#include <optional>
#include <vector>

#include "joedb/base/types.h"

namespace joedb::inline v1 {

// Maps the blobs of a journal to the positions of their bytes in another journal made from it.
// Takes 24 bytes per blob.
class Blob_Map {
 public:
  // Adds a blob. Blobs must be added in ascending order of position. `to` is 0 while the blob is
  // not in the other journal.
  void add(Blob from, Offset to = 0) { places_.push_back({from, to}); }
  std::size_t size() const { return places_.size(); }
  Blob from(std::size_t number) const { return places_[number].from; }
  void set_to(std::size_t number, Offset to) { places_[number].to = to; }

  // Returns the number of the blob that contains the value; nullopt if there is none, as for a null
  // value.
  std::optional<std::size_t> find(Blob value) const;
  // Returns the value that refers to the same bytes in the other journal. Returns the value
  // unchanged if it is in no blob, or in a blob that is not in the other journal.
  Blob moved(Blob value) const;

 private:
  struct Place {
    Blob from;
    Offset to;
  };
  std::vector<Place> places_;
};

}  // namespace joedb::inline v1

#endif
