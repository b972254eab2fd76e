#include "kernel/table/content_difference.h"

#include "kernel/table/same_bits.h"

namespace joedb::inline v1 {

namespace {

// Compares the order of records, and the set of ids in use.
std::string difference(const Record_Ids& a, const Record_Ids& b) {
  if (a.size() != b.size() || a.used_count() != b.used_count()) return ", number of records";
  if (a.next_free() != b.next_free()) return ", next free id";
  const auto text = [](index_t id) { return ", record " + std::to_string(id); };
  index_t left = a.used_count();
  index_t id = a.first(), other = b.first();
  for (; left > 0 && id == other && id != Record_Ids::no_id; --left) {
    if (id < 0 || id >= a.size() || a.is_used(id) != b.is_used(id)) return text(id);
    id = a.next(id);
    other = b.next(other);
  }
  if (id != other || left > 0 || id != Record_Ids::no_id) return text(std::max(id, other));
  for (index_t i = 0; i < a.size(); ++i)
    if (a.is_used(i) != b.is_used(i)) return text(i);
  return {};
}

std::string difference(const Table& a, const Table& b) {
  if (std::string text = difference(a.records(), b.records()); !text.empty()) return text;
  const Record_Ids& records = a.records();
  for (std::size_t i = 0; i < a.fields().size(); ++i) {
    const Field& field = a.fields()[i];
    if (!field.column) continue;
    const Field_Id number(static_cast<std::uint16_t>(i + 1));
    const index_t found =
        visit_type(field.column->type().code, [&]<class T>(std::type_identity<T>) -> index_t {
          const auto& left = a.column<T>(number);
          const auto& right = b.column<T>(number);
          for (index_t id = 0; id < records.size(); ++id)
            if (records.is_used(id) && !has_same_bits<T>(left.get(id), right.get(id))) return id;
          return Record_Ids::no_id;
        });
    if (found != Record_Ids::no_id)
      return ", record " + std::to_string(found) + ", field " + field.name;
  }
  return {};
}

bool are_equal(const Index& a, const Index& b) {
  if (a.is_complete() != b.is_complete() || a.size() != b.size()) return false;
  if (!a.is_complete()) return true;
  auto left = a.begin(), right = b.begin();
  for (std::size_t count = a.size(); count > 0; --count) {
    if (left == a.end() || right == b.end() || left.record() != right.record()) return false;
    left.next();
    right.next();
  }
  return left == a.end() && right == b.end();
}

}  // namespace

std::string content_difference(const Database& a, const Database& b) {
  if (a.schema_entries() != b.schema_entries()) return "the schema";
  if (a.declarations() != b.declarations()) return "the declarations";
  const auto &times = a.timestamps(), &other_times = b.timestamps();
  if (times.has_value() != other_times.has_value() ||
      (times && (times->first != other_times->first || times->last != other_times->last)))
    return "time stamps";
  for (std::size_t i = 0; i < a.tables().size(); ++i) {
    if (!a.tables()[i]) continue;
    const Table& table = *a.tables()[i];
    if (const std::string text = difference(table, *b.tables()[i]); !text.empty())
      return "table " + table.name() + text;
  }
  if (a.budget().skip != b.budget().skip) return "the number of records without entries";
  if (a.indexes().size() != b.indexes().size()) return "indexes";
  for (const Index* const index : a.indexes()) {
    const Index* const other = b.find_index(index->definition());
    if (other == nullptr || !are_equal(*index, *other)) return "index " + index->definition().name;
  }
  return {};
}

}  // namespace joedb::inline v1
