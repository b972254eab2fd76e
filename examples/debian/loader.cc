#include "loader.h"

#include <algorithm>
#include <charconv>

using namespace debian;

// A text that no other version has: names and numbers contain no spaces.
static std::string version_key(std::string_view package, std::string_view number,
                               std::string_view architecture) {
  return std::string(package).append(" ").append(number).append(" ").append(architecture);
}

Loader::Loader(Writable_Database& db) : db_(db), dependencies_(dependencies_by_version(db)) {
  for (const auto id : db.get_section_table()) sections_.add(db.get_name(id), id);
  for (const auto id : db.get_maintainer_table()) maintainers_.add(db.get_name(id), id);
  for (const auto id : db.get_package_table()) packages_.add(db.get_name(id), id);
  for (const auto id : db.get_version_table())
    versions_.add(
        version_key(db.get_name(db.get_package(id)), db.get_number(id), db.get_architecture(id)),
        id);
}

// ---- names: find the record, or make it ---------------------------------------------------------

id_of_section Loader::section(std::string_view name) {
  auto id = sections_.find(name);
  if (id.is_null() && !name.empty()) sections_.add(name, id = db_.new_section(name));
  return id;
}

id_of_maintainer Loader::maintainer(std::string_view name) {
  auto id = maintainers_.find(name);
  if (id.is_null() && !name.empty()) maintainers_.add(name, id = db_.new_maintainer(name));
  return id;
}

id_of_package Loader::package(std::string_view name) {
  auto id = packages_.find(name);
  if (id.is_null()) packages_.add(name, id = db_.new_package(name));
  return id;
}

// ---- versions -----------------------------------------------------------------------------------

static std::int64_t parse_size(const Paragraph& paragraph) {
  const Paragraph::Field* const field = paragraph.find("Installed-Size");
  if (field == nullptr) return 0;
  std::int64_t size = 0;
  const char* const end = field->value.data() + field->value.size();
  const auto [rest, error] = std::from_chars(field->value.data(), end, size);
  if (error != std::errc() || rest != end || size < 0)
    throw Index_Error(field->line,
                      "Installed-Size is not a number: '" + std::string(field->value) + "'");
  return size;
}

void Loader::load(const Paragraph& paragraph) {
  const std::string_view name = paragraph.required_value("Package");
  const std::string_view number = paragraph.required_value("Version");
  const std::string_view architecture = paragraph.value("Architecture");
  const auto in_section = section(paragraph.value("Section"));
  const auto maintained_by = maintainer(paragraph.value("Maintainer"));
  const std::int64_t size = parse_size(paragraph);
  const bool is_essential = paragraph.value("Essential") == "yes";
  const std::string_view homepage = paragraph.value("Homepage");
  const std::string_view description = paragraph.value("Description");
  const std::vector<Wanted> wanted = wanted_dependencies(paragraph);

  ++counts_.read;
  const std::string key = version_key(name, number, architecture);
  const Version_Id known = versions_.find(key);
  if (known.is_null()) {
    const Version_Id added =
        db_.new_version(package(name), number, architecture, in_section, maintained_by, size,
                        is_essential, homepage, description);
    versions_.add(key, added);
    update_dependencies(added, wanted);
    mentions_[added] = 1;
    ++counts_.added;
  } else if (mentions_[known]++ == 0) {  // the first one counts
    const joedb::Offset before = db_.ahead_of_checkpoint();
    if (db_.get_section(known) != in_section) db_.set_section(known, in_section);
    if (db_.get_maintainer(known) != maintained_by) db_.set_maintainer(known, maintained_by);
    if (db_.get_installed_size(known) != size) db_.set_installed_size(known, size);
    if (db_.get_essential(known) != is_essential) db_.set_essential(known, is_essential);
    if (db_.get_homepage(known) != homepage) db_.set_homepage(known, homepage);
    if (db_.get_description(known) != description) db_.set_description(known, description);
    update_dependencies(known, wanted);
    if (db_.ahead_of_checkpoint() > before) ++counts_.changed;
  }
}

// ---- dependencies -------------------------------------------------------------------------------

std::vector<Loader::Wanted> Loader::wanted_dependencies(const Paragraph& paragraph) {
  std::vector<Wanted> wanted;
  for (std::size_t kind = 0; kind < kind_names.size(); ++kind)
    if (const Paragraph::Field* const field = paragraph.find(kind_names[kind]))
      for (const Choice& choice : parse_dependencies(*field))
        wanted.push_back({static_cast<Kind>(kind), package(choice.package), choice.constraint,
                          choice.is_alternative});
  return wanted;
}

// Cuts a list into dependencies, each with its alternatives.
template <class T, class Is_Alternative>
static std::vector<std::span<const T>> split(const std::vector<T>& choices,
                                             Is_Alternative is_alternative) {
  std::vector<std::span<const T>> result;
  for (const T& choice : choices) {
    if (is_alternative(choice))
      result.back() = {result.back().data(), result.back().size() + 1};
    else
      result.emplace_back(&choice, 1);
  }
  return result;
}

void Loader::update_dependencies(Version_Id version, const std::vector<Wanted>& wanted) {
  auto to_add = split(wanted, [](const Wanted& choice) { return choice.is_alternative; });
  auto to_delete = split(dependencies_[version], [this](Dependency_Id choice) {
    return db_.get_alternative_to(choice).is_not_null();
  });

  // Takes pairs of an old and a new dependency that match in every choice from both lists.
  const auto pair_off = [&](auto matches, auto use) {
    std::erase_if(to_add, [&](std::span<const Wanted> added) {
      const auto old = std::find_if(to_delete.begin(), to_delete.end(),
                                    [&](std::span<const Dependency_Id> candidate) {
                                      return std::equal(candidate.begin(), candidate.end(),
                                                        added.begin(), added.end(), matches);
                                    });
      if (old == to_delete.end()) return false;
      for (std::size_t i = 0; i < added.size(); ++i) use((*old)[i], added[i]);
      to_delete.erase(old);
      return true;
    });
  };
  const auto has_same_package = [this](Dependency_Id old, const Wanted& added) {
    return db_.get_kind(old) == static_cast<std::int8_t>(added.kind) &&
           db_.get_package(old) == added.package;
  };
  const auto is_same = [&](Dependency_Id old, const Wanted& added) {
    return has_same_package(old, added) && db_.get_constraint(old) == added.constraint;
  };
  pair_off(is_same, [](Dependency_Id, const Wanted&) {});
  pair_off(has_same_package, [this](Dependency_Id old, const Wanted& added) {
    if (db_.get_constraint(old) != added.constraint) db_.set_constraint(old, added.constraint);
  });

  for (const auto choices : to_delete)
    for (const Dependency_Id choice : choices) db_.delete_dependency(choice);
  for (const auto choices : to_add) add_dependency(version, choices);
}

void Loader::add_dependency(Version_Id version, std::span<const Wanted> choices) {
  Dependency_Id first;
  for (const Wanted& choice : choices) {
    const Dependency_Id added = db_.new_dependency(version, static_cast<std::int8_t>(choice.kind),
                                                   choice.package, choice.constraint, first);
    if (first.is_null()) first = added;
  }
}

// ---- what is no longer there --------------------------------------------------------------------

void Loader::delete_unmentioned() {
  std::vector<Version_Id> unmentioned;
  for (const auto version : db_.get_version_table())
    if (mentions_[version] == 0) unmentioned.push_back(version);
  for (const auto version : unmentioned) {
    for (const auto dependency : dependencies_[version]) db_.delete_dependency(dependency);
    db_.delete_version(version);
    ++counts_.deleted;
  }
  delete_unused_names();
}

// Deletes the records of a table that `uses` does not count.
template <class Table, class Uses, class Delete>
static void delete_unused(const Table& table, Uses& uses, Delete delete_record) {
  std::vector<typename Table::iterator::value_type> unused;
  for (const auto id : table)
    if (uses[id] == 0) unused.push_back(id);
  for (const auto id : unused) delete_record(id);
}

void Loader::delete_unused_names() {
  Id_Map<id_of_section, int> sections;
  Id_Map<id_of_maintainer, int> maintainers;
  Id_Map<id_of_package, int> packages;
  for (const auto version : db_.get_version_table()) {
    if (const auto id = db_.get_section(version); id.is_not_null()) ++sections[id];
    if (const auto id = db_.get_maintainer(version); id.is_not_null()) ++maintainers[id];
    ++packages[db_.get_package(version)];
  }
  for (const auto dependency : db_.get_dependency_table()) ++packages[db_.get_package(dependency)];
  delete_unused(db_.get_section_table(), sections, [&](auto id) { db_.delete_section(id); });
  delete_unused(db_.get_maintainer_table(), maintainers,
                [&](auto id) { db_.delete_maintainer(id); });
  delete_unused(db_.get_package_table(), packages, [&](auto id) { db_.delete_package(id); });
}
