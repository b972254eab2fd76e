#ifndef DEBIAN_DEPENDENCIES_H
#define DEBIAN_DEPENDENCIES_H

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "debian/readonly.h"
#include "id_map.h"
#include "index_reader.h"

// What the field `kind` of table dependency means.
enum class Kind : std::int8_t { depends, pre_depends, recommends, suggests };

inline constexpr std::array<std::string_view, 4> kind_names = {"Depends", "Pre-Depends",
                                                               "Recommends", "Suggests"};

// One part of "exim4 (>= 4.96) | mail-transport-agent, perl".
struct Choice {
  std::string_view package;
  std::string_view constraint;  // ">= 4.96"; may be empty
  bool is_alternative;          // to what stands before it
};

// Throws Index_Error.
std::vector<Choice> parse_dependencies(const Paragraph::Field& field);

using Dependencies = Id_Map<debian::id_of_version, std::vector<debian::id_of_dependency>>;

// The dependencies of each version, in the order of their insertion.
Dependencies dependencies_by_version(const debian::Database& db);

#endif
