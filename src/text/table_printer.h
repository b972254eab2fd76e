#ifndef JOEDB_SRC_TEXT_TABLE_PRINTER_H
#define JOEDB_SRC_TEXT_TABLE_PRINTER_H

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "joedb/table/database.h"
#include "joedb/text/table_text.h"
#include "text/columns.h"
#include "text/display.h"
#include "text/reference_names.h"
#include "text/text_buffer.h"

namespace joedb::inline v1 {

// How to show the rows of a table.
struct Row_Style {
  std::size_t max_column_width = Table_View().max_column_width;  // 0: no limit
  std::size_t screen_width = 0;  // shrink the columns to this width; 0: no limit
  index_t limit = 0;             // number of rows; 0: all
  bool has_colours = false;
  const Database* names = nullptr;   // to look up names of references; null: show only ids
  const Display* display = nullptr;  // asked regularly if the user stops the output; may be null

  Row_Style() = default;
  // Uses the settings in `display`. With `requested_width`, columns are at most this wide, and are
  // not shrunk to fit the screen.
  Row_Style(const Display& display, const Database& database,
            std::optional<std::size_t> requested_width = std::nullopt);
};

// Prints rows of a table, see write_table.
class Table_Printer {
 public:
  Table_Printer(const Table& table, const Table_View& view, const Row_Style& style);
  Table_Printer(const Table& table, std::vector<index_t> records, const Row_Style& style);

  // Throws Display_Stopped.
  void print(std::ostream& stream);

  // The records omitted because of the limit: their number, and the first id. If counting them
  // would take long, `count` is the number of ids, including unused ones.
  struct Rest {
    index_t count = 0;
    index_t first = 0;
  };
  const Rest& rest() const { return rest_; }

 private:
  struct Shown_Column : Text_Columns::Column {
    const Field* field;
  };

  bool is_named(const Field& field) const {
    return names_ && field.column->type().code == Type_Code::reference;
  }
  void apply_limit();
  void add_columns();
  void fit();
  template <class F>
  void for_each_record(F f) const;
  void check(index_t& counter) const;
  std::string_view text_of(const Field& field, index_t id);
  std::size_t width_of(const Field& field);
  std::size_t total_width() const;
  void add_heading(Text_Buffer& out) const;
  void add_cell(Text_Buffer& out, const Shown_Column& column, index_t id);
  void add_left_out(Text_Buffer& out) const;

  const Table& table_;
  const Row_Style style_;
  std::optional<Reference_Names> names_;
  std::optional<std::vector<index_t>> records_;  // ids to print; nullopt: [begin_, end_)
  index_t begin_ = 0;
  index_t end_ = 0;
  Rest rest_;
  std::size_t id_width_ = 0;
  std::vector<Shown_Column> columns_;
  std::vector<const Field*> left_out_;  // fields that do not fit on the screen
  std::string text_;
};

// Prints one record, with one line per field. If the record is not in use, prints information about
// the records of the table instead.
void print_record(std::ostream& out, const Table& table, Record_Id record, const Row_Style& style);

}  // namespace joedb::inline v1

#endif
