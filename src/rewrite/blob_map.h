#ifndef JOEDB_SRC_REWRITE_BLOB_MAP_H
#define JOEDB_SRC_REWRITE_BLOB_MAP_H

#include <optional>
#include <vector>

#include "joedb/base/types.h"

namespace joedb::inline v1 {

// Maps the blobs of a journal to their positions in a copy of the journal. Takes 24 bytes per blob.
class Blob_Map {
 public:
  // Adds a blob. Blobs must be added in the order of their positions. `to` is 0 if the copy does
  // not have the blob (yet).
  void add(Blob from, Offset to = 0) { places_.push_back({from, to}); }
  std::size_t size() const { return places_.size(); }
  Blob from(std::size_t number) const { return places_[number].from; }
  void set_to(std::size_t number, Offset to) { places_[number].to = to; }

  // Returns the number of the blob that contains `value`; nullopt if no blob contains it, for
  // example if it is null.
  std::optional<std::size_t> find(Blob value) const;
  // Returns the value that refers to the same bytes in the copy. Returns the value unchanged if it
  // is in no blob, or in a blob that the copy does not have.
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
