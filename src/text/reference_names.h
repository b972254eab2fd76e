#ifndef JOEDB_SRC_TEXT_REFERENCE_NAMES_H
#define JOEDB_SRC_TEXT_REFERENCE_NAMES_H

#include <map>
#include <string>

#include "joedb/table/database.h"

namespace joedb::inline v1 {

// Names records by the value of a string field: the first that alone has a unique index or, if
// there is none, the first string field. Valid until the schema changes.
class Reference_Names {
 public:
  explicit Reference_Names(const Database& database) : database_(database) {}

  // Returns the name without quotes, as one line of at most 25 terminal columns. Empty if the table
  // has no string field, or if the record does not exist.
  std::string name(Table_Id table, Record_Id record);

  // Appends the id and, in parentheses, the name: "3 (Lyon)". Appends only the id if there is no
  // name.
  void append(std::string& out, Table_Id table, Record_Id record);

 private:
  const Field* naming_field(const Table& table);

  const Database& database_;
  std::map<Table_Id, const Field*> fields_;  // null if the table has no string field
};

}  // namespace joedb::inline v1

#endif
