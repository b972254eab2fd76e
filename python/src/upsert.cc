#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <vector>

#include "objects.h"
#include "search.h"
#include "values.h"

// Rows of one table put into another, for Table.upsert: finds the records that have their keys, and
// copies values. The rows are in another session, in a table with the same fields.

namespace joedb::python {

namespace {

struct Key_Column {
  Type_Code type;
  const Column_Base* column;
};
using Key_Columns = std::vector<Key_Column>;

template <class T>
T value_of(const Key_Column& column, index_t record) {
  return static_cast<const Column<T>*>(column.column)->get(record);
}

// Returns equal hashes for equal keys.
std::uint64_t hash_of_key(const Key_Columns& columns, index_t record) {
  std::uint64_t hash = 0;
  for (const Key_Column& column : columns)
    visit_type(column.type, [&]<class T>(std::type_identity<T>) {
      std::size_t part = 0;
      if constexpr (std::is_same_v<T, Record_Id>)
        part = std::hash<index_t>()(value_of<T>(column, record).value());
      else if constexpr (!std::is_same_v<T, Blob>)
        part = std::hash<T>()(value_of<T>(column, record));
      hash = (hash ^ part) * 0x9e3779b97f4a7c15;
      hash ^= hash >> 32;
    });
  return hash;
}

bool are_equal_keys(const Key_Columns& a, index_t i, const Key_Columns& b, index_t k) {
  for (std::size_t column = 0; column < a.size(); ++column) {
    const bool is_equal = visit_type(a[column].type, [&]<class T>(std::type_identity<T>) {
      return value_of<T>(a[column], i) == value_of<T>(b[column], k);
    });
    if (!is_equal) return false;
  }
  return true;
}

// The keys of some rows, in a hash table.
class Row_Keys {
 public:
  static constexpr std::size_t none = ~std::size_t{0};

  // The arguments must outlive this object. Throws Data_Error if two rows have the same key.
  Row_Keys(const Table& table, const Key_Columns& columns, const std::vector<index_t>& rows)
      : columns_(columns), rows_(rows) {
    std::size_t size = 16;
    while (size < 2 * rows.size()) size *= 2;
    places_.assign(size, none);
    Interrupt_Counter look;
    for (std::size_t i = 0; i < rows.size(); ++i, look()) {
      if (!are_equal_keys(columns, rows[i], columns, rows[i])) continue;  // NaN: equal to no key
      std::size_t& place = places_[place_of(columns, rows[i])];
      if (place != none) throw Data_Error(table.name() + ": two rows have the same key");
      place = i;
    }
  }

  // Returns the position in `rows` of the row with the key of a record; `none` if there is none.
  std::size_t find(const Key_Columns& columns, index_t record) const {
    return places_[place_of(columns, record)];
  }

 private:
  // Returns the place of this key, or the free place where it would be.
  std::size_t place_of(const Key_Columns& columns, index_t record) const {
    const std::size_t mask = places_.size() - 1;
    std::size_t i = static_cast<std::size_t>(hash_of_key(columns, record)) & mask;
    while (places_[i] != none && !are_equal_keys(columns, record, columns_, rows_[places_[i]]))
      i = (i + 1) & mask;
    return i;
  }

  const Key_Columns& columns_;
  const std::vector<index_t>& rows_;
  std::vector<std::size_t> places_;
};

Key_Columns key_columns(Shared_Session& session, const Table& table,
                        const std::vector<std::string>& names) {
  Key_Columns result;
  for (const std::string& name : names) {
    const Field_Id id = table.find_field(name);
    if (id.is_null())
      throw_no_field(session, table, nb::str(name.c_str(), name.size()), PyExc_KeyError);
    const Column_Base& column = *table.find_field(id)->column;
    if (column.type().code == Type_Code::blob)
      fail(PyExc_TypeError, table.name() + '.' + name + " is a blob, which cannot be in a key");
    result.push_back({column.type().code, &column});
  }
  return result;
}

// Returns a key as Python shows it.
std::string key_text(const Key_Columns& columns, index_t record) {
  nb::list values;
  for (const Key_Column& column : columns)
    visit_type(column.type, [&]<class T>(std::type_identity<T>) {
      const T value = value_of<T>(column, record);
      if constexpr (std::is_same_v<T, Record_Id>)
        values.append(value.value());
      else if constexpr (std::is_same_v<T, std::string_view>)
        values.append(text_object(value));
      else if constexpr (!std::is_same_v<T, Blob>)
        values.append(value);
    });
  return shown(columns.size() == 1 ? nb::object(values[0]) : nb::object(nb::tuple(values)));
}

// The records to compare: what an index finds, if there is one and it helps; otherwise all.
std::vector<index_t> candidates(const Database& database, const Table& table, Field_Id field,
                                const Key_Column& keys, const std::vector<index_t>& rows) {
  const auto values = [&] {
    Inputs inputs;
    inputs.reserve(rows.size());
    visit_type(keys.type, [&]<class T>(std::type_identity<T>) {
      for (const index_t row : rows) {
        Input input;
        input.field = field;
        input.value = value_of<T>(keys, row);
        inputs.add(std::move(input));
      }
    });
    return inputs;
  };
  if (auto found = find_by_index(database, table, field, rows.size(), values))
    return *std::move(found);
  return all_ids(table);
}

// Returns, for each row, the id of the record with the same values of these fields; -1 if there is
// none.
std::vector<index_t> find_same(const Table_Object& self, const Table_Object& new_table,
                               const std::vector<index_t>& rows,
                               const std::vector<std::string>& names) {
  Shared_Session& session = *self.session;
  Shared_Session& other = *new_table.session;
  const Shared_Session::Use use(session), other_use(other);
  const Shared_Session::Call call(session), other_call(other);
  const Table& table = session->table(self.id);
  const Table& row_table = other->table(new_table.id);
  const Key_Columns columns = key_columns(session, table, names);
  const Key_Columns row_columns = key_columns(other, row_table, names);
  std::vector<index_t> result(rows.size(), -1);
  index_t twice = -1;
  in_long_call([&] {
    const Row_Keys keys(table, row_columns, rows);
    Interrupt_Counter look;
    for (const index_t id :
         candidates(session->database(), table, table.find_field(names[0]), row_columns[0], rows)) {
      look();
      const std::size_t row = keys.find(columns, id);
      if (row == Row_Keys::none) continue;
      if (result[row] >= 0) twice = id;
      result[row] = id;
    }
  });
  if (twice >= 0)
    throw Data_Error(table.name() + ": two records have the key " + key_text(columns, twice));
  return result;
}

// Copies the values of these fields from rows to records, one row to each record.
void copy_fields(const Table_Object& self, const std::vector<index_t>& records,
                 const Table_Object& new_table, const std::vector<index_t>& rows,
                 const std::vector<std::string>& names) {
  Shared_Session& session = *self.session;
  Shared_Session& other = *new_table.session;
  const Shared_Session::Turn turn(session);
  const Shared_Session::Use other_use(other);
  const Table& from = other->table(new_table.id);
  std::vector<std::pair<Field_Id, Type>> sources;
  std::vector<Field_Input> inputs(names.size());
  std::vector<std::string> blobs(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Field_Id source = from.find_field(names[i]);
    sources.emplace_back(source, from.find_field(source)->column->type());
    inputs[i].field = session->table(self.id).find_field(names[i]);
  }
  session.change_together([&] {
    const Shared_Session::Call call(session), other_call(other);
    Signal_Check check;
    for (std::size_t i = 0; i < records.size(); ++i, check()) {
      for (std::size_t k = 0; k < inputs.size(); ++k) {
        const auto& [field, type] = sources[k];
        inputs[k].value = read_value(from, field, type, Record_Id(rows[i]));
        inputs[k].bytes.reset();
        const Blob* const blob = std::get_if<Blob>(&inputs[k].value);
        if (blob == nullptr || blob->is_null()) continue;
        blobs[k] = other->read_blob(*blob);
        inputs[k].bytes = blobs[k];
      }
      session->update(self.id, Record_Id(records[i]), inputs);
    }
  });
}

}  // namespace

void add_upsert(nb::class_<Table_Object>& type) {
  type.def("_find_same", &find_same).def("_copy_fields", &copy_fields);
}

}  // namespace joedb::python
