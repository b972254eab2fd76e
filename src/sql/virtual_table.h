#ifndef JOEDB_SRC_SQL_VIRTUAL_TABLE_H
#define JOEDB_SRC_SQL_VIRTUAL_TABLE_H

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sql/plan.h"
#include "sql/shared_file.h"
#include "sql/sqlite_api.h"
#include "sql/values.h"

namespace joedb {

// A table of a joedb file as SQLite sees it. It has a column for each field that exists when this
// object is created, and two hidden columns: `__moment` (Shared_File::past) and `__id`, the record
// id, which is also the rowid. The table and its fields are identified by their ids, so they may be
// renamed.
class Virtual_Table : public sqlite3_vtab {
 public:
  // `sql_name` is the name of the table in SQL. Throws Exception if the file has no such table, or
  // if SQLite would refuse a name.
  Virtual_Table(sqlite3* connection, std::shared_ptr<Shared_File> file,
                const std::string& table_name, const std::string& sql_name);

  sqlite3* connection() const { return connection_; }
  // The name in SQL.
  const std::string& name() const { return name_; }

  Shared_File& file() { return *file_; }
  // Returns the statement for sqlite3_declare_vtab, which declares the table.
  std::string declaration() const;

  int column_count() const { return column_count_; }
  int moment_column() const { return column_count(); }
  int id_column() const { return column_count() + 1; }
  Kind kind(int column) const {
    return column == Plan::record_id ? Kind::integer : columns_[index_of(column)].kind;
  }
  // Returns true if a Range can have a condition with this operator.
  bool understands(unsigned char op, int column) const;
  Field_Id field(int column) const { return columns_[index_of(column)].field; }
  // Returns the logical type of a column when this object was made, with the names of then.
  const Logical_Type& logical(int column) const { return get(columns_[index_of(column)].logical); }
  // Returns the name of a column in SQL.
  const std::string& name(int column) const { return columns_[index_of(column)].name; }
  // Returns the name of a field in SQL; that of the file if it was added after this object was
  // made.
  const std::string& name_of(Field_Id field, const Table& table) const;

  // The columns that a cursor reads in one state. `table` is null if the state has no such table.
  struct Source {
    const Table* table = nullptr;
    std::vector<Column_Source> columns;
  };
  Source past_source(State& state) const;
  // Throws Exception if the table was dropped.
  const Source& present_source();

  // The index of a plan: plans have the numbers that plan_number() returns, which stay valid when
  // indexes are declared and dropped.
  int plan_number(const Index& index);
  const Index_Definition* planned_index(int number) const {
    const auto i = static_cast<std::size_t>(number);
    return i < planned_.size() ? &planned_[i] : nullptr;
  }

  // Implements xBestIndex. Returns an SQLite result code.
  int choose(sqlite3_index_info* info);

  // True if texts are compared by their bytes. False if the connection uses UTF-16.
  bool compares_bytes() const { return compares_bytes_; }
  void set_compares_bytes(bool value) { compares_bytes_ = value; }

  // Replaces the error message that SQLite will report.
  void set_error(const char* text);

 private:
  struct Field_Column {
    std::string name;
    Field_Id field;
    Type_Code code;
    Kind kind;
    // What SQL shows in all states. Only the names of an enumeration are those of the state.
    Shared_Logical_Type logical;
  };
  class Planner;

  static std::size_t index_of(int column) { return static_cast<std::size_t>(column); }
  // Estimates, from a sample, how many records have equal values in the first `fields` fields of an
  // index.
  double group_size(const Index& index, std::size_t fields);

  sqlite3* const connection_;
  const std::shared_ptr<Shared_File> file_;
  std::string name_;
  Table_Id table_;
  std::vector<Field_Column> columns_;
  int column_count_ = 0;  // columns_.size(): computing it for each value would cost a division
  bool compares_bytes_ = true;
  Source present_;
  std::uint64_t present_version_ = ~std::uint64_t{0};
  std::vector<Index_Definition> planned_;
  struct Group_Size {
    std::size_t of_records;
    double size;
  };
  std::map<std::pair<const Index*, std::size_t>, Group_Size> group_sizes_;
};

}  // namespace joedb

#endif
