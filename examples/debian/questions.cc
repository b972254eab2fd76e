#include "questions.h"

#include <algorithm>
#include <functional>
#include <iomanip>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dependencies.h"
#include "id_map.h"
#include "text.h"

using namespace debian;

static bool is_strong(Kind kind) { return kind == Kind::depends || kind == Kind::pre_depends; }

static Kind kind_of(const Database& db, id_of_dependency dependency) {
  return static_cast<Kind>(db.get_kind(dependency));
}

// ---- questions ----------------------------------------------------------------------------------

// Prints the records with the highest scores.
template <class Table, class Scores, class Name>
static void print_top(std::ostream& out, std::string_view question, const Table& table,
                      Scores& scores, Name name) {
  using Id = typename Table::iterator::value_type;
  std::vector<Id> ids(table.begin(), table.end());
  const std::size_t count = std::min(ids.size(), std::size_t{5});
  std::partial_sort(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(count), ids.end(),
                    [&](Id a, Id b) {
                      return std::pair(scores[b], a.get_id()) < std::pair(scores[a], b.get_id());
                    });
  out << '\n' << question << '\n';
  for (std::size_t i = 0; i < count && scores[ids[i]] > 0; ++i)
    out << std::setw(14) << grouped(scores[ids[i]]) << "  " << name(ids[i]) << '\n';
}

void answer_questions(std::ostream& out, const Database& db) {
  Id_Map<id_of_section, std::int64_t> section_size, section_versions;
  Id_Map<id_of_maintainer, std::int64_t> maintained;
  for (const auto version : db.get_version_table()) {
    if (const auto section = db.get_section(version); section.is_not_null()) {
      section_size[section] += db.get_installed_size(version);
      ++section_versions[section];
    }
    if (const auto maintainer = db.get_maintainer(version); maintainer.is_not_null())
      ++maintained[maintainer];
  }

  Id_Map<id_of_package, std::int64_t> dependents;
  Id_Map<id_of_version, std::int64_t> list_length;
  Dependencies dependencies = dependencies_by_version(db);
  for (const auto version : db.get_version_table()) {
    std::vector<id_of_package> packages;
    for (const auto dependency : dependencies[version])
      if (is_strong(kind_of(db, dependency))) packages.push_back(db.get_package(dependency));
    std::sort(packages.begin(), packages.end());
    packages.erase(std::unique(packages.begin(), packages.end()), packages.end());
    for (const auto package : packages) ++dependents[package];
    list_length[version] = static_cast<std::int64_t>(packages.size());
  }

  const auto name = [&](auto id) { return db.get_name(id); };
  print_top(out, "Which packages do most others depend on?", db.get_package_table(), dependents,
            name);
  print_top(out, "Which sections are the largest, in KiB installed?", db.get_section_table(),
            section_size, name);
  print_top(out, "Which sections have the most packages?", db.get_section_table(), section_versions,
            name);
  print_top(out, "Who maintains the most packages?", db.get_maintainer_table(), maintained, name);
  print_top(out, "Which packages depend on the most others?", db.get_version_table(), list_length,
            [&](id_of_version version) { return db.get_name(db.get_package(version)); });
}

// ---- one package --------------------------------------------------------------------------------

static void print_field(std::ostream& out, std::string_view name, std::string_view value) {
  if (!value.empty()) out << name << ": " << value << '\n';
}

static void print_version(std::ostream& out, const Database& db, id_of_version version,
                          const std::vector<id_of_dependency>& dependencies) {
  print_field(out, "Record", "version " + std::to_string(version.get_id()));
  print_field(out, "Package", db.get_name(db.get_package(version)));
  print_field(out, "Version", db.get_number(version));
  print_field(out, "Architecture", db.get_architecture(version));
  if (const auto section = db.get_section(version); section.is_not_null())
    print_field(out, "Section", db.get_name(section));
  if (const auto maintainer = db.get_maintainer(version); maintainer.is_not_null())
    print_field(out, "Maintainer", db.get_name(maintainer));
  if (db.get_essential(version)) print_field(out, "Essential", "yes");
  print_field(out, "Installed-Size", std::to_string(db.get_installed_size(version)));
  for (std::size_t kind = 0; kind < kind_names.size(); ++kind) {
    std::string list;
    for (const auto dependency : dependencies) {
      if (kind_of(db, dependency) != static_cast<Kind>(kind)) continue;
      if (!list.empty()) list += db.get_alternative_to(dependency).is_null() ? ", " : " | ";
      list += db.get_name(db.get_package(dependency));
      const auto constraint = db.get_constraint(dependency);
      if (!constraint.empty()) list += constraint[0] == ':' ? constraint : " (" + constraint + ")";
    }
    print_field(out, kind_names[kind], list);
  }
  print_field(out, "Homepage", db.get_homepage(version));
  print_field(out, "Description", db.get_description(version));
}

bool show_package(std::ostream& out, const Database& db, std::string_view name) {
  const auto packages = db.get_package_table();
  const auto found = std::find_if(packages.begin(), packages.end(),
                                  [&](id_of_package id) { return db.get_name(id) == name; });
  if (found == packages.end()) return false;

  Dependencies dependencies = dependencies_by_version(db);
  std::set<std::string> needed_by;
  for (const auto version : db.get_version_table()) {
    if (db.get_package(version) == *found) {
      print_version(out, db, version, dependencies[version]);
      out << '\n';
    }
    for (const auto dependency : dependencies[version])
      if (db.get_package(dependency) == *found && is_strong(kind_of(db, dependency)))
        needed_by.insert(db.get_name(db.get_package(version)));
  }
  out << needed_by.size() << (needed_by.size() == 1 ? " package needs " : " packages need ")
      << name;
  std::string separator = ": ";
  for (auto other = needed_by.begin(); other != needed_by.end(); separator = ", ", ++other) {
    if (std::distance(needed_by.begin(), other) == 10) {
      out << ", …";
      break;
    }
    out << separator << *other;
  }
  out << '\n';
  return true;
}

void count_records(std::ostream& out, const Database& db) {
  out << db.get_section_table().get_size() << " sections\n"
      << db.get_maintainer_table().get_size() << " maintainers\n"
      << db.get_package_table().get_size() << " packages\n"
      << db.get_version_table().get_size() << " versions\n"
      << db.get_dependency_table().get_size() << " dependencies\n";
}
