#include "exchange/record_index.h"

#include <absl/container/flat_hash_set.h>
#include <cassert>

#include "kernel/schema/logical_type.h"
#include "text/dump.h"

namespace joedb {

namespace {

struct Key_Column {
  const Field* field;
  Key_Part (*read)(const Column_Base& column, index_t id);
  void (*append_text)(std::string& out, const Column_Base& column, index_t id);

  Key_Part part(index_t id) const { return read(*field->column, id); }
};

using Key_Columns = std::vector<Key_Column>;

std::size_t combine(std::size_t hash, const Key_Part& part) {
  return absl::HashOf(hash, part.number, part.text);
}

bool is_same(const Key_Part& a, const Key_Part& b) {
  return a.number == b.number && a.text == b.text;
}

// Stores the hash, so that the hash table can grow without reading the columns.
struct Entry {
  std::size_t hash;
  index_t id;
};

// A key to look up.
struct Wanted {
  std::size_t hash;
  Key key;
};

struct Hash {
  using is_transparent = void;
  std::size_t operator()(const Entry& entry) const { return entry.hash; }
  std::size_t operator()(const Wanted& wanted) const { return wanted.hash; }
};

struct Equal {
  using is_transparent = void;
  const Key_Columns* columns;
  bool operator()(const Entry& a, const Entry& b) const {
    if (a.hash != b.hash) return false;
    for (const Key_Column& column : *columns)
      if (!is_same(column.part(a.id), column.part(b.id))) return false;
    return true;
  }
  bool operator()(const Entry& entry, const Wanted& wanted) const {
    if (entry.hash != wanted.hash) return false;
    for (std::size_t i = 0; i < wanted.key.size(); ++i)
      if (!is_same((*columns)[i].part(entry.id), wanted.key[i])) return false;
    return true;
  }
};

Key_Column key_column(const Table& table, Field_Id id) {
  const Field* const field = table.find_field(id);
  if (field == nullptr) throw Data_Error("table " + table.name() + " has no such field");
  if (field->column->type().code == Type_Code::blob)
    throw Data_Error("field " + field->name + " of table " + table.name() +
                     " is a blob: it cannot identify records");
  return visit_type(field->column->type().code, [&]<class T>(std::type_identity<T>) {
    return Key_Column{field,
                      [](const Column_Base& column, index_t record) {
                        return key_part<T>(static_cast<const Column<T>&>(column).get(record));
                      },
                      [](std::string& out, const Column_Base& column, index_t record) {
                        append_value(out, column.logical(),
                                     T(static_cast<const Column<T>&>(column).get(record)));
                      }};
  });
}

}  // namespace

struct Record_Index::Records {
  Key_Columns columns;
  absl::flat_hash_set<Entry, Hash, Equal> set{0, Hash(), Equal{&columns}};

  Entry entry(index_t id) const {
    std::size_t hash = 0;
    for (const Key_Column& column : columns) hash = combine(hash, column.part(id));
    return {hash, id};
  }
};

Record_Index::Record_Index(const Table& table, std::vector<Field_Id> fields)
    : records_(std::make_unique<Records>()) {
  for (const Field_Id field : fields) records_->columns.push_back(key_column(table, field));
  records_->set.reserve(static_cast<std::size_t>(table.records().used_count()));
  for_each_run(table, [&](index_t first, index_t size) {
    for (index_t id = first; id < first + size; ++id) {
      const auto [place, is_new] = records_->set.insert(records_->entry(id));
      if (!is_new)
        throw Duplicate_Key("records " + std::to_string(place->id) + " and " + std::to_string(id) +
                            " of table " + table.name() + " have both " + key_text(Record_Id(id)));
    }
  });
}

Record_Index::~Record_Index() = default;

Record_Id Record_Index::find(Key key) const {
  Wanted wanted{0, key};
  for (const Key_Part& part : key) wanted.hash = combine(wanted.hash, part);
  const auto found = records_->set.find(wanted);
  return found == records_->set.end() ? Record_Id() : Record_Id(found->id);
}

void Record_Index::insert(Record_Id record) {
  [[maybe_unused]] const bool is_new = records_->set.insert(records_->entry(record.value())).second;
  assert(is_new);
}

std::string Record_Index::key_text(Record_Id record) const {
  std::string text;
  for (const Key_Column& column : records_->columns) {
    if (!text.empty()) text += ", ";
    text += column.field->name + " = ";
    column.append_text(text, *column.field->column, record.value());
  }
  return text;
}

}  // namespace joedb
