#ifndef JOEDB_INTERPRETER_PAST_VALUES_H
#define JOEDB_INTERPRETER_PAST_VALUES_H

#include <memory>
#include <vector>

#include "joedb/journal/readonly_journal.h"
#include "joedb/table/database.h"

namespace joedb::inline v1 {

// The values of a past state, which need not fit in memory: the journal is read again for each part
// of them. A value is the last one written to its id, even if that record was deleted since. Do not
// ask for fields that were not written since their record was inserted.
class Past_Values {
 public:
  struct Source {
    Abstract_File& file;
    Recovery recovery;
    Offset end;  // end of the entries that make the state
  };
  // `memory`: approximate number of bytes of the values in memory at a time. `shape` has the tables
  // of the state; its values are not used. All arguments must outlive this object.
  Past_Values(const Source& source, const Database& shape, std::size_t memory)
      : source_(source), shape_(shape), memory_(static_cast<double>(memory)) {}

  // Adds the size of a text of the field to the estimate, if the text does not fit into a row. Call
  // it for each text, then call estimate().
  void note_text(Table_Id table, Field_Id field, std::string_view text) {
    if (text.size() > String_Handle::max_inline_size)
      at(table, field).text_bytes += static_cast<double>(text.size() + 1);
  }
  void estimate();

  // Returns a value. Precondition: the field exists and has this type. A text is valid until the
  // next call. Fastest if called in the order of table, field and row. Throws what a replay throws,
  // and std::bad_alloc.
  template <Field_Value T>
  T get(Table_Id table, Field_Id field, index_t row) {
    const Part* part = &columns_[table.value()][field.value()];
    if (row < part->begin || row >= part->end) [[unlikely]]
      part = &load(table, field, row);
    return static_cast<const Column<T>&>(*part->values).get(row);
  }

 private:
  class Loader;

  // A column, with rows [begin, end) in memory.
  struct Part {
    double text_bytes = 0;
    double row_size = 0;
    index_t begin = 0, end = 0;
    std::unique_ptr<Column_Base> values;
  };

  Part& at(Table_Id table, Field_Id field);
  Part& load(Table_Id table, Field_Id field, index_t row);

  const Source source_;
  const Database& shape_;
  const double memory_;
  std::vector<std::vector<Part>> columns_;  // by table id and field id
};

}  // namespace joedb::inline v1

#endif
