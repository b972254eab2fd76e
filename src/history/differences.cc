#include "joedb/history/changes.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "history/change_parts.h"
#include "kernel/table/record_runs.h"
#include "kernel/table/same_bits.h"

namespace joedb::inline v1 {

namespace {

using Kind = Change::Kind;
std::string_view referenced_name(const Database& database, const Type& type) {
  const Table* const table = database.find_table(type.referenced);
  return table != nullptr ? std::string_view(table->name()) : std::string_view();
}

// Iterates over the runs of used ids in ascending order.
class Runs {
 public:
  explicit Runs(const Record_Ids& records) : records_(records) { find(0); }

  bool is_at_end() const { return first_ == records_.size(); }
  index_t first() const { return first_; }
  index_t end() const { return end_; }
  // Skips ids below `id`, which must be at most end().
  void go_to(index_t id) {
    if (id < end_)
      first_ = std::max(first_, id);
    else
      find(end_);
  }

 private:
  void find(index_t id) {
    const index_t size = records_.size();
    first_ = id;
    if (records_.is_dense()) {
      end_ = size;
      return;
    }
    while (first_ < size && !records_.is_used(first_)) ++first_;
    end_ = first_;
    while (end_ < size && records_.is_used(end_)) ++end_;
  }

  const Record_Ids& records_;
  index_t first_ = 0;
  index_t end_ = 0;
};

// The columns of a field in both databases.
struct Pair {
  Field_Id id;
  const Column_Base* a;  // null for a new field: all values are defaults
  const Column_Base* b;
};

// A value that differs.
struct Place {
  index_t record;
  std::size_t pair;
  friend auto operator<=>(const Place&, const Place&) = default;
};

class Comparison {
 public:
  Comparison(const Database& a, const Database& b, const Difference_Options& options)
      : a_(a), b_(b), options_(options) {}

  std::vector<Change> run() {
    auto next_id = static_cast<std::uint16_t>(a_.tables().size());
    for (const auto& table : a_.tables()) {
      if (!table) continue;
      const Table* const other = b_.find_table(table->name());
      if (other != nullptr)
        add_schema(*table, *other);
      else
        drop_table(*table);
    }
    for (const auto& table : b_.tables())
      if (table && a_.find_table(table->name()) == nullptr)
        create_table(*table, Table_Id(++next_id));
    for (const auto& [id, pair] : tables_) add_records(pair);
    std::vector<Change> result = std::move(early_drops_);
    for (std::vector<Change>* const part : {&tables_made_, &fields_added_, &records_, &drops_})
      std::move(part->begin(), part->end(), std::back_inserter(result));
    return result;
  }

 private:
  struct Table_Pair {
    const Table* a;  // null for a new table
    const Table* b;
    Description before;
    Description after;  // the fields of b, with their ids in a
    std::vector<Pair> fields;
  };

  bool has_same_type(const Field& a, const Field& b) const {
    const Type& type = a.column->type();
    const Type& other = b.column->type();
    return type.code == other.code && (type.code != Type_Code::reference ||
                                       referenced_name(a_, type) == referenced_name(b_, other));
  }

  bool may_keep(index_t rows, std::size_t fields) {
    const index_t values = rows * static_cast<index_t>(fields);
    if (values > kept_left_) return false;
    kept_left_ -= values;
    return true;
  }

  // ---- the schema

  static Description name_of(const Table_Description& table) {
    return describe(table.id, table.name);
  }

  void add_schema(const Table& a, const Table& b) {
    Table_Pair pair{&a, &b, describe(a_, a), nullptr, {}};
    auto after = std::make_shared<Table_Description>(*name_of(*pair.before));
    std::vector<Field_Description> added;
    auto next_id = static_cast<std::uint16_t>(a.fields().size());
    for (const Field& field : b.fields()) {
      if (!field.column) continue;
      const Field_Id id = a.find_field(field.name);
      const Field* const old = a.find_field(id);
      if (old != nullptr && has_same_type(*old, field)) {
        after->fields.push_back(describe(b_, id, field));
        pair.fields.push_back({id, old->column.get(), field.column.get()});
        if (old->column->logical() != field.column->logical())
          fields_added_.push_back(change_of_schema(
              Kind::field_typed, name_of(*pair.before),
              {.field = after->fields.back(), .old_type = old->column->shared_logical()}));
      } else {
        const Field_Id new_id(++next_id);
        added.push_back(describe(b_, new_id, field));
        pair.fields.push_back({new_id, nullptr, field.column.get()});
      }
    }
    // Sort the fields in the order that they will have in a.
    const auto by_id = [](const auto& x, const auto& y) { return x.id < y.id; };
    std::sort(after->fields.begin(), after->fields.end(), by_id);
    std::sort(pair.fields.begin(), pair.fields.end(), by_id);
    after->fields.insert(after->fields.end(), added.begin(), added.end());
    pair.after = after;
    // Records are deleted after these drops, when they no longer have the fields dropped first.
    auto before = std::make_shared<Table_Description>(*name_of(*pair.before));
    for (const Field_Description& field : pair.before->fields) {
      const bool stays = after->find_field(field.id) != nullptr;
      const bool has_name_clash = b.find_field(b.find_field(field.name)) != nullptr;
      if (!stays) drop_field(has_name_clash ? early_drops_ : drops_, a, *pair.before, field);
      if (stays || !has_name_clash) before->fields.push_back(field);
    }
    pair.before = before;
    for (Field_Description& field : added) add_field(*pair.before, std::move(field));
    tables_.emplace(a.id(), std::move(pair));
  }

  void add_field(const Table_Description& table, Field_Description field) {
    fields_added_.push_back(
        change_of_schema(Kind::field_added, name_of(table), {.field = std::move(field)}));
  }

  void drop_field(std::vector<Change>& out, const Table& table, const Table_Description& before,
                  const Field_Description& field) {
    Schema_Change schema{.field = field, .rows = table.records().used_count()};
    schema.has_lost = may_keep(schema.rows, 1);
    const Description description = describe(before.id, before.name, {field});
    if (schema.has_lost)
      for_each_run(table, [&](index_t first, index_t size) {
        schema.lost.push_back(
            lost_values(description, first, read_values(table, field.id, first, size)));
      });
    out.push_back(change_of_schema(Kind::field_dropped, name_of(before), std::move(schema)));
  }

  void drop_table(const Table& table) {
    const Description before = describe(a_, table);
    Schema_Change schema{.rows = table.records().used_count()};
    schema.has_lost = may_keep(schema.rows, before->fields.size());
    if (schema.has_lost)
      for_each_run(table, [&](index_t first, index_t size) {
        schema.lost.push_back(deleted_records(before, table, first, size));
      });
    drops_.push_back(change_of_schema(Kind::table_dropped, before, std::move(schema)));
  }

  void create_table(const Table& table, Table_Id id) {
    auto after = std::make_shared<Table_Description>();
    after->id = id;
    after->name = table.name();
    Table_Pair pair{nullptr, &table, after, after, {}};
    std::uint16_t next_id = 0;
    for (const Field& field : table.fields()) {
      if (!field.column) continue;
      const Field_Id field_id(++next_id);
      after->fields.push_back(describe(b_, field_id, field));
      pair.fields.push_back({field_id, nullptr, field.column.get()});
    }
    tables_made_.push_back(change_of_schema(Kind::table_created, name_of(*after), {}));
    for (const Field_Description& field : after->fields) add_field(*after, field);
    tables_.emplace(id, std::move(pair));
  }

  // ---- records

  static Change insertion(const Table_Pair& table, index_t first, index_t size) {
    Change inserted = change_of_records(Kind::inserted, table.after, first, size);
    for (const Pair& field : table.fields)
      inserted.fields.push_back(
          {field.id, Values(field.b->type().code), read_values(*field.b, first, size)});
    return inserted;
  }

  void add_records(const Table_Pair& table) {
    table.b->expect_scan();
    Runs b(table.b->records());
    if (table.a == nullptr) {
      for (; !b.is_at_end(); b.go_to(b.end()))
        records_.push_back(insertion(table, b.first(), b.end() - b.first()));
      return;
    }
    table.a->expect_scan();
    Runs a(table.a->records());
    while (!a.is_at_end() || !b.is_at_end()) {
      if (b.is_at_end() || (!a.is_at_end() && a.first() < b.first())) {
        const index_t end = b.is_at_end() ? a.end() : std::min(a.end(), b.first());
        records_.push_back(deleted_records(table.before, *table.a, a.first(), end - a.first()));
        a.go_to(end);
      } else if (a.is_at_end() || b.first() < a.first()) {
        const index_t end = a.is_at_end() ? b.end() : std::min(b.end(), a.first());
        records_.push_back(insertion(table, b.first(), end - b.first()));
        b.go_to(end);
      } else {
        const index_t end = std::min(a.end(), b.end());
        add_updates(table, a.first(), end);
        a.go_to(end);
        b.go_to(end);
      }
    }
  }

  void add_updates(const Table_Pair& table, index_t first, index_t end) {
    constexpr index_t rows_of_block = 4096;
    Change* last = nullptr;  // the last update, which the next block may extend
    const std::size_t start = records_.size();
    for (index_t begin = first; begin < end; begin += rows_of_block) {
      places_.clear();
      const index_t block_end = std::min(end, begin + rows_of_block);
      for (std::size_t i = 0; i < table.fields.size(); ++i)
        find_places(table.fields[i], i, begin, block_end);
      if (places_.empty()) continue;
      if (table.fields.size() > 1) std::sort(places_.begin(), places_.end());
      last = records_.size() > start ? &records_.back() : nullptr;
      add_places(table, last);
    }
  }

  // Adds updates for places_, which has the differing values of a block, sorted.
  void add_places(const Table_Pair& table, Change* last) {
    for (std::size_t i = 0; i < places_.size();) {
      // Find a run of records in which the same fields differ.
      const index_t first = places_[i].record;
      std::size_t fields_end = i;
      while (fields_end < places_.size() && places_[fields_end].record == first) ++fields_end;
      const std::size_t count = fields_end - i;
      std::size_t end = fields_end;
      index_t size = 1;
      while (has_same_fields(i, end, count, first + size)) {
        end += count;
        ++size;
      }
      if (last == nullptr || !continues(*last, table, first, i, count)) {
        records_.push_back(change_of_records(Kind::updated, table.after, first, 0));
        last = &records_.back();
        for (std::size_t f = 0; f < count; ++f) {
          const Pair& pair = table.fields[places_[i + f].pair];
          const Type_Code code = pair.b->type().code;
          last->fields.push_back({pair.id, Values(code), Values(code)});
        }
      }
      for (std::size_t f = 0; f < count; ++f) {
        const Pair& pair = table.fields[places_[i + f].pair];
        Field_Change& field = last->fields[f];
        if (pair.a != nullptr)
          field.old_values.append(*pair.a, first, size);
        else
          field.old_values.append_defaults(size);
        field.new_values.append(*pair.b, first, size);
      }
      last->size += size;
      i = end;
    }
  }

  // Returns true if the `count` places from `place` on are all in this record, and have the same
  // fields as the places from `model` on.
  bool has_same_fields(std::size_t model, std::size_t place, std::size_t count,
                       index_t record) const {
    if (place + count > places_.size()) return false;
    for (std::size_t f = 0; f < count; ++f)
      if (places_[place + f] != Place{record, places_[model + f].pair}) return false;
    return place + count == places_.size() || places_[place + count].record != record;
  }
  bool continues(const Change& change, const Table_Pair& table, index_t first, std::size_t place,
                 std::size_t count) const {
    if ((change.record + change.size).value() != first || change.fields.size() != count)
      return false;
    for (std::size_t f = 0; f < count; ++f)
      if (change.fields[f].field != table.fields[places_[place + f].pair].id) return false;
    return true;
  }

  void find_places(const Pair& pair, std::size_t number, index_t begin, index_t end) {
    visit_type(pair.b->type().code, [&]<class T>(std::type_identity<T>) {
      const auto& b = static_cast<const Column<T>&>(*pair.b);
      if (pair.a == nullptr) return find_non_defaults(b, number, begin, end);
      const auto& a = static_cast<const Column<T>&>(*pair.a);
      if constexpr (!std::is_same_v<T, std::string_view> && !std::is_same_v<T, Blob>) {
        const auto bytes = static_cast<std::size_t>(end - begin) * sizeof(T);
        if (std::memcmp(a.data() + begin, b.data() + begin, bytes) == 0) return;
      }
      for (index_t id = begin; id < end; ++id)
        if (!has_same_value(a.get(id), b.get(id))) places_.push_back({id, number});
    });
  }
  template <class T>
  void find_non_defaults(const Column<T>& column, std::size_t number, index_t begin, index_t end) {
    for (index_t id = begin; id < end; ++id)
      if (!has_same_bits(T(), T(column.get(id)))) places_.push_back({id, number});
  }

  template <class T>
  bool has_same_value(const T& a, const T& b) const {
    if constexpr (std::is_same_v<T, Blob>)
      return is_same_blob(a, b);
    else
      return has_same_bits(a, b);
  }

  bool is_same_blob(Blob a, Blob b) const {
    if (options_.blobs_of_a == nullptr || options_.blobs_of_b == nullptr) return a == b;
    if (a.is_null() != b.is_null() || a.get_size() != b.get_size()) return false;
    constexpr std::int64_t block = std::int64_t{1} << 20;
    for (std::int64_t done = 0; done < a.get_size(); done += block) {
      const std::int64_t size = std::min(block, a.get_size() - done);
      if (options_.blobs_of_a->read_blob(Blob(a.get_position() + done, size)) !=
          options_.blobs_of_b->read_blob(Blob(b.get_position() + done, size)))
        return false;
    }
    return true;
  }

  const Database& a_;
  const Database& b_;
  const Difference_Options options_;
  index_t kept_left_ = options_.kept_values;
  std::map<Table_Id, Table_Pair> tables_;
  std::vector<Place> places_;
  std::vector<Change> early_drops_, tables_made_, fields_added_, records_, drops_;
};

}  // namespace

std::vector<Change> differences(const Database& a, const Database& b,
                                const Difference_Options& options) {
  return Comparison(a, b, options).run();
}

}  // namespace joedb::inline v1
