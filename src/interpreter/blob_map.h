#ifndef JOEDB_INTERPRETER_BLOB_MAP_H
#define JOEDB_INTERPRETER_BLOB_MAP_H

#include <optional>
#include <vector>

#include "joedb/base/blob.h"
#include "joedb/base/ids.h"

namespace joedb::inline v1 {

// The blobs of a journal, and where their bytes are in another one that is made of it. 24 bytes for
// each blob.
class Blob_Map {
 public:
  // Blobs are added in the order of their positions. to = 0: it is nowhere, so far.
  void add(Blob from, Offset to = 0) { places_.push_back({from, to}); }
  std::size_t size() const { return places_.size(); }
  Blob from(std::size_t number) const { return places_[number].from; }
  void set_to(std::size_t number, Offset to) { places_[number].to = to; }

  // Which blob the value refers to, as a whole or in part; nothing if it refers to no blob, like a
  // null one.
  std::optional<std::size_t> find(Blob value) const;
  // What refers to the same bytes in the other journal. A value that refers to no blob, or to one
  // that is nowhere, stays as it is.
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
