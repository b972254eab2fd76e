#include "rewrite/blob_map.h"

#include <algorithm>

namespace joedb::inline v1 {

std::optional<std::size_t> Blob_Map::find(Blob value) const {
  if (value.is_null() || value.get_size() < 0) return {};
  const auto behind = std::partition_point(places_.begin(), places_.end(), [&](const Place& place) {
    return place.from.get_position() <= value.get_position();
  });
  if (behind == places_.begin()) return {};
  const Blob blob = (behind - 1)->from;
  const Offset skipped = value.get_position() - blob.get_position();
  if (skipped > blob.get_size() || value.get_size() > blob.get_size() - skipped) return {};
  return static_cast<std::size_t>(behind - places_.begin() - 1);
}

Blob Blob_Map::moved(Blob value) const {
  const auto number = find(value);
  if (!number || places_[*number].to == 0) return value;
  const Place& place = places_[*number];
  return {place.to + (value.get_position() - place.from.get_position()), value.get_size()};
}

}  // namespace joedb::inline v1
