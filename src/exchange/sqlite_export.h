#ifndef JOEDB_EXCHANGE_SQLITE_EXPORT_H
#define JOEDB_EXCHANGE_SQLITE_EXPORT_H

#include <functional>
#include <string>
#include <vector>

#include "joedb/io/file.h"
#include "joedb/table/database.h"

namespace joedb {

// A database as one of SQLite: a table for each table, a column for each field, and the record id
// as INTEGER PRIMARY KEY "__id".
//
// The declared types of columns are those that the command sql of joedbi writes, but each type has
// one of its own here, so that an import finds the fields as they were. A null reference or blob is
// NULL, and so is nan, which SQLite has no value for; -0 becomes 0. A string that is not UTF-8, or
// has zero bytes, which most functions of SQLite would take for its end, becomes a BLOB.
struct Sqlite_Export {
  const Database& database;
  const Abstract_File& file;  // that has the bytes of blobs
  std::vector<Index_Definition> indexes = {};
  std::function<void(index_t)> progress = [](index_t) {};  // gets the number of rows, now and then

  // Makes the file, which must not exist or be empty; `name` is its name for people. It is not
  // synced. Throws Exception where SQLite would refuse a name, Sqlite_Error; then the file is of no
  // use.
  void write(const std::string& path, const std::string& name) const;
};

// The type that a column is declared with, without REFERENCES.
const char* sqlite_type(Type_Code code);

}  // namespace joedb

#endif
