#ifndef JOEDB_INTERPRETER_MERGE_H
#define JOEDB_INTERPRETER_MERGE_H

#include <string>
#include <vector>

#include "joedb/table/database.h"

namespace joedb::inline v1 {

// The tables of several databases with the same schema, one behind the other. Blob fields keep
// their values, which say where in a file the bytes are.
class Merged_Database {
 public:
  const Database& database() const { return database_; }

  // The first database gives the schema. Throws if another has not the same.
  void add(const std::string& name, const Database& added);

 private:
  void take_schema(const Database& from);
  void add_records(const Database& added, const Table& from);
  template <class T>
  void add_values(const Database& added, const Record_Ids& records, const Column<T>& from,
                  Column<T>& to, index_t shift);
  Record_Id shifted(Record_Id reference, const Table* table) const;

  Database database_;
  bool has_schema_ = false;
  std::string first_name_;
  std::vector<index_t> shifts_;  // by table id: what is to be added to record ids
};

}  // namespace joedb::inline v1

#endif
