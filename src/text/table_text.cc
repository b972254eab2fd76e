#include "joedb/text/table_text.h"

#include "text/table_printer.h"

namespace joedb::inline v1 {

static Row_Style style_for_width(std::size_t max_column_width) {
  Row_Style style;
  style.max_column_width = max_column_width;
  return style;
}

void write_table(std::ostream& out, const Table& table, const Table_View& view) {
  Table_Printer(table, view, style_for_width(view.max_column_width)).print(out);
}

void write_records(std::ostream& out, const Table& table, std::vector<index_t> records) {
  Table_Printer(table, std::move(records), {}).print(out);
}

void write_record(std::ostream& out, const Table& table, Record_Id record) {
  print_record(out, table, record, {});
}

}  // namespace joedb::inline v1
