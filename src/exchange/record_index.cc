#include "exchange/record_index.h"

#include <absl/container/flat_hash_set.h>

#include "interpreter/dump.h"
#include "schema/value_text.h"

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

struct Hash {
  using is_transparent = void;
  const Key_Columns* columns;
  std::size_t operator()(index_t id) const {
    std::size_t hash = 0;
    for (const Key_Column& column : *columns) hash = combine(hash, column.part(id));
    return hash;
  }
  std::size_t operator()(Key key) const {
    std::size_t hash = 0;
    for (const Key_Part& part : key) hash = combine(hash, part);
    return hash;
  }
};

bool is_same(const Key_Part& a, const Key_Part& b) {
  return a.number == b.number && a.text == b.text;
}

struct Equal {
  using is_transparent = void;
  const Key_Columns* columns;
  bool operator()(index_t a, index_t b) const {
    for (const Key_Column& column : *columns)
      if (!is_same(column.part(a), column.part(b))) return false;
    return true;
  }
  bool operator()(index_t id, Key key) const {
    for (std::size_t i = 0; i < key.size(); ++i)
      if (!is_same((*columns)[i].part(id), key[i])) return false;
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
                        append_value(out, T(static_cast<const Column<T>&>(column).get(record)));
                      }};
  });
}

}  // namespace

struct Record_Index::Records {
  Key_Columns columns;
  absl::flat_hash_set<index_t, Hash, Equal> set{0, Hash{&columns}, Equal{&columns}};
};

Record_Index::Record_Index(const Table& table, std::vector<Field_Id> fields)
    : records_(std::make_unique<Records>()) {
  for (const Field_Id field : fields) records_->columns.push_back(key_column(table, field));
  records_->set.reserve(static_cast<std::size_t>(table.records().used_count()));
  for_each_run(table.records(), [&](index_t first, index_t size) {
    for (index_t id = first; id < first + size; ++id) {
      const auto [place, is_new] = records_->set.insert(id);
      if (!is_new)
        throw Data_Error("records " + std::to_string(*place) + " and " + std::to_string(id) +
                         " of table " + table.name() + " have both " + key_text(Record_Id(id)) +
                         ": this does not identify a record");
    }
  });
}

Record_Index::~Record_Index() = default;

Record_Id Record_Index::find(Key key) const {
  const auto found = records_->set.find(key);
  return found == records_->set.end() ? Record_Id() : Record_Id(*found);
}

void Record_Index::insert(Record_Id record) { records_->set.insert(record.value()); }

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
