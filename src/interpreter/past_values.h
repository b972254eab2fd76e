#ifndef JOEDB_INTERPRETER_PAST_VALUES_H
#define JOEDB_INTERPRETER_PAST_VALUES_H

#include <memory>
#include <vector>

#include "joedb/journal/readonly_journal.h"
#include "joedb/table/database.h"

namespace joedb::inline v1 {

// The values of a past state, which need not fit in memory: the journal is read again for each part
// of them. They are the last ones that were written to each id, also of a record that was deleted
// since: fields that were not written since their record was inserted are not to be asked for.
class Past_Values {
 public:
  struct Source {
    Abstract_File& file;
    Recovery recovery;
    Offset end;  // of the entries that make the state
  };
  // Values of about so many bytes are in memory at a time. `shape` has the tables of the state, and
  // need have no values. All must outlive this object.
  Past_Values(const Source& source, const Database& shape, std::size_t memory)
      : source_(source), shape_(shape), memory_(static_cast<double>(memory)) {}

  // So many bytes of texts that do not fit into a row have been given to the field so far. Once all
  // is noted, estimate() must be called.
  void note_text(Table_Id table, Field_Id field, std::string_view text) {
    if (text.size() > String_Handle::max_inline_size)
      at(table, field).text_bytes += static_cast<double>(text.size() + 1);
  }
  void estimate();

  // Requires that the field exists, with this type. A text is valid until the next call. It is
  // cheapest by table, by field, by row. Throws what a replay throws, std::bad_alloc.
  template <Field_Value T>
  T get(Table_Id table, Field_Id field, index_t row) {
    const Part* part = &columns_[table.value()][field.value()];
    if (row < part->begin || row >= part->end) [[unlikely]]
      part = &load(table, field, row);
    return static_cast<const Column<T>&>(*part->values).get(row);
  }

 private:
  class Loader;

  // Of a column: rows [begin, end) are in memory.
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
  std::vector<std::vector<Part>> columns_;  // by table and field, from 1
};

}  // namespace joedb::inline v1

#endif
