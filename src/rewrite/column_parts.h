#ifndef JOEDB_SRC_REWRITE_COLUMN_PARTS_H
#define JOEDB_SRC_REWRITE_COLUMN_PARTS_H

#include <memory>
#include <string_view>
#include <vector>

#include "joedb/table/database.h"

namespace joedb::inline v1 {

// Items indexed by the id of a table or field. An item is created on first access.
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

// For each field, the total size in bytes of the texts that do not fit into a row.
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

// The values of tables, which need not fit in memory: only one part of them is in memory at a time.
// The journals are replayed to load each part. The values are ordered by place; a part is a
// sequence of at least one value. Call add_texts() first, then estimate(), then get().
class Column_Parts {
 public:
  // The order of places: by_run sorts by table, run of records, field and row; by_field by table,
  // field and row.
  enum class Order { by_run, by_field };
  // With by_field, a run is all rows of the table: [0, size). The end of all values is a place in
  // table 0xffff.
  struct Place {
    Table_Id table;
    index_t run_first, run_end;
    Field_Id field;
    index_t row;
  };

  // `shape` has the tables and records; its values are ignored. It must outlive this object, and
  // must not change after estimate(). `memory` is the approximate size in bytes of a part.
  Column_Parts(const Database& shape, Order order, std::size_t memory)
      : shape_(shape), order_(order), memory_(static_cast<double>(memory)) {}

  // Adds the sizes of texts, for estimate().
  void add_texts(Text_Sizes sizes) { text_sizes_.push_back(std::move(sizes)); }
  void estimate();

  // Returns the value at a place. If it is not in memory, first calls load(), which must pass all
  // values to find() and set(); values that are not set have their default. Access in the order of
  // places is fastest. A returned text is valid until the next call. Throws std::bad_alloc, and the
  // exceptions of load(); afterwards, this object is unusable. Precondition: the field exists and
  // has type T.
  template <Field_Value T, class Load>
  T get(const Place& place, Load load) {
    if (!is_loaded(place.table, place.field, place.row)) [[unlikely]] {
      start_part(place);
      load();
    }
    return static_cast<const Column<T>&>(column(place.table, place.field)).get(place.row);
  }

  // Returns the column of a value if the value is in the current part. Returns null for any other
  // value, and for unknown tables, fields and rows.
  Column_Base* find(Table_Id table, Field_Id field, index_t row);
  // Sets a value in a column that find() has returned. Does nothing if the column has another type.
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
