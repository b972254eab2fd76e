#ifndef JOEDB_SRC_REWRITE_COLUMN_PARTS_H
#define JOEDB_SRC_REWRITE_COLUMN_PARTS_H

#include <memory>
#include <string_view>
#include <vector>

#include "joedb/table/database.h"

namespace joedb::inline v1 {

// Items by the id of a table or field, created on first access.
template <class T>
class By_Id {
 public:
  T& operator[](std::size_t id) {
    if (items_.size() <= id) items_.resize(id + 1);
    return items_[id];
  }
  const T* find(std::size_t id) const { return id < items_.size() ? &items_[id] : nullptr; }

 private:
  std::vector<T> items_;
};

// The number of bytes of all texts of each field that do not fit into a row.
class Text_Sizes {
 public:
  void note(Table_Id table, Field_Id field, std::string_view text) {
    if (text.size() > String_Handle::max_inline_size)
      sizes_[table.value()][field.value()] += text.size() + 1;
  }
  std::size_t find(Table_Id table, Field_Id field) const {
    const auto* const fields = sizes_.find(table.value());
    const std::size_t* const size = fields == nullptr ? nullptr : fields->find(field.value());
    return size == nullptr ? 0 : *size;
  }

 private:
  By_Id<By_Id<std::size_t>> sizes_;
};

// The values of tables, which need not fit in memory: only one part of the values is in memory at a
// time. A replay of the journals loads each part. Values are numbered by their places; a part has
// consecutive places, and at least one. First note the texts, then call estimate(), then get().
class Column_Parts {
 public:
  // Order of the places: by table, then run of records, field and row; or by table, field and row.
  enum class Order { by_run, by_field };
  // By field, the run is all rows of the table: [0, size). The end of all values is in table
  // 0xffff.
  struct Place {
    Table_Id table;
    index_t run_first, run_end;
    Field_Id field;
    index_t row;
  };

  // `shape` has the tables and records; its values are not used. `shape` must outlive this object,
  // and must not change after estimate(). `memory`: approximate number of bytes of the values in
  // memory at a time.
  Column_Parts(const Database& shape, Order order, std::size_t memory)
      : shape_(shape), order_(order), memory_(static_cast<double>(memory)) {}

  // Adds texts to the sizes that are estimated.
  void add_texts(Text_Sizes sizes) { text_sizes_.push_back(std::move(sizes)); }
  void estimate();

  // Returns the value at a place. If it is not in memory, first calls load(), which must pass all
  // values to find() and set(); values that load() does not set have their default. Fastest in the
  // order of places. A text is valid until the next call. Throws std::bad_alloc, and the exceptions
  // of load(); this object is unusable then. Precondition: the field exists and has this type.
  template <Field_Value T, class Load>
  T get(const Place& place, Load load) {
    if (!is_loaded(place.table, place.field, place.row)) [[unlikely]] {
      start_part(place);
      load();
    }
    return static_cast<const Column<T>&>(column(place.table, place.field)).get(place.row);
  }

  // Returns the column of a value that is in the current part; null for all other values, and for
  // unknown tables, fields and rows.
  Column_Base* find(Table_Id table, Field_Id field, index_t row);
  // Sets a value of a column that find() has returned. A no-op if its type is different.
  template <Field_Value T>
  static void set(Column_Base& column, index_t row, T value) {
    if (column.type().code != code_of<T>) return;
    auto& typed = static_cast<Column<T>&>(column);
    typed.prepare(value);
    typed.set(row, value);
  }

  // The current part.
  const Place& begin() const { return begin_; }
  const Place& end() const { return end_; }

 private:
  struct Part {
    double row_size = 0;  // bytes per row in memory
    std::unique_ptr<Column_Base> values;
  };

  static bool is_before(Table_Id table, Field_Id field, index_t row, const Place& place) {
    if (table != place.table) return table.value() < place.table.value();
    if (row < place.run_first || row >= place.run_end) return row < place.run_first;
    return field != place.field ? field.value() < place.field.value() : row < place.row;
  }
  bool is_loaded(Table_Id table, Field_Id field, index_t row) const {
    return !is_before(table, field, row, begin_) && is_before(table, field, row, end_);
  }
  void start_part(const Place& begin);
  Place end_of_part(const Place& begin) const;
  Column_Base& column(Table_Id table, Field_Id field);

  const Database& shape_;
  const Order order_;
  const double memory_;
  std::vector<Text_Sizes> text_sizes_;
  By_Id<By_Id<Part>> columns_;
  Place begin_{}, end_{};
};

}  // namespace joedb::inline v1

#endif
