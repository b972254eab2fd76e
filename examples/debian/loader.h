#ifndef DEBIAN_LOADER_H
#define DEBIAN_LOADER_H

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "debian/writable.h"
#include "dependencies.h"
#include "id_map.h"
#include "index_reader.h"

// The records of a table by a text that tells them apart.
template <class Id>
class Name_Map {
 public:
  // Null if there is none.
  Id find(std::string_view name) const {
    const auto found = ids_.find(name);
    return found == ids_.end() ? Id() : found->second;
  }
  void add(std::string_view name, Id id) { ids_.emplace(name, id); }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, Id, Hash, std::equal_to<>> ids_;
};

// Makes a database agree with a package index, and writes only what differs.
//
// Hand it every paragraph of the index, then delete what the index did not mention. In between, the
// database is a mixture of the old index and the new one, in which every reference leads somewhere;
// so a checkpoint may be written after any paragraph.
class Loader {
 public:
  explicit Loader(debian::Writable_Database& db);

  // Throws Index_Error; then a part of the paragraph may have been written.
  void load(const Paragraph& paragraph);
  void delete_unmentioned();

  // Numbers of versions of packages.
  struct Counts {
    std::int64_t read = 0, added = 0, changed = 0, deleted = 0;
  };
  const Counts& counts() const { return counts_; }

 private:
  using Version_Id = debian::id_of_version;
  using Dependency_Id = debian::id_of_dependency;

  // One row of table dependency as the index wants it.
  struct Wanted {
    Kind kind;
    debian::id_of_package package;
    std::string_view constraint;
    bool is_alternative;
  };

  debian::id_of_section section(std::string_view name);
  debian::id_of_maintainer maintainer(std::string_view name);
  debian::id_of_package package(std::string_view name);

  std::vector<Wanted> wanted_dependencies(const Paragraph& paragraph);
  void update_dependencies(Version_Id version, const std::vector<Wanted>& wanted);
  void add_dependency(Version_Id version, std::span<const Wanted> choices);
  void delete_unused_names();

  debian::Writable_Database& db_;
  Name_Map<debian::id_of_section> sections_;
  Name_Map<debian::id_of_maintainer> maintainers_;
  Name_Map<debian::id_of_package> packages_;
  Name_Map<Version_Id> versions_;
  Dependencies dependencies_;         // of the versions that were there before
  Id_Map<Version_Id, int> mentions_;  // in the index
  Counts counts_;
};

#endif
