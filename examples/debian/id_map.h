#ifndef DEBIAN_ID_MAP_H
#define DEBIAN_ID_MAP_H

#include <cstddef>
#include <vector>

// A value for each record of a table; T() until it is set.
template <class Id, class T>
class Id_Map {
 public:
  T& operator[](Id id) {
    const auto i = static_cast<std::size_t>(id.get_id());
    if (i >= values_.size()) values_.resize(i + 1);
    return values_[i];
  }

 private:
  std::vector<T> values_;
};

#endif
