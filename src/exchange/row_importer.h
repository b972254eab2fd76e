#ifndef JOEDB_SRC_EXCHANGE_ROW_IMPORTER_H
#define JOEDB_SRC_EXCHANGE_ROW_IMPORTER_H

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "exchange/record_index.h"
#include "exchange/row_writer.h"
#include "kernel/table/references.h"

namespace joedb {

// Thrown if a row cannot be imported. `column` is an index in Import_Target::columns; nullopt if
// the row as a whole is invalid. `place` is the argument of Row_Importer::add(). `is_dangling` is
// true if the column refers to a record that does not exist.
class Row_Error : public Data_Error {
 public:
  Row_Error(const std::string& text, std::optional<std::size_t> in_column, std::int64_t at)
      : Data_Error(text), column(in_column), place(at) {}
  Row_Error(const Data_Error& cause, std::optional<std::size_t> in_column, std::int64_t at);
  const std::optional<std::size_t> column;
  const std::int64_t place;
  const bool is_dangling = false;
  bool is_about_id = false;       // the cell of the record id has another value
  bool is_about_missing = false;  // Import_Column::refuses_missing
};

// How to use one cell of a row.
struct Import_Column {
  Field_Id field;
  // For a reference field: the field of the referenced table whose value the cell contains. If
  // null, the cell contains a record id.
  Field_Id lookup = {};
  // With `lookup`: if no record is found, inserts one that has only this value.
  bool creates_missing = false;
  // With `lookup`: if no record is found, the reference becomes null.
  bool ignores_missing = false;
  // A missing value that would become 0 or false is an error.
  bool refuses_missing = false;
};

struct Import_Target {
  Table_Id table;
  std::vector<Import_Column> columns;
  // Fields whose values identify a record; each must be in `columns`. A row updates the record that
  // it identifies, or inserts a new one. If empty, all rows are inserted.
  std::vector<Field_Id> key = {};
  // True if the cells of a row begin with the record id, before those of `columns`. An id without a
  // value means a new record. Cannot be combined with a key.
  bool has_ids = false;
  // finish() deletes the records that no row has matched. Requires a key or ids.
  bool deletes_missing = false;
  // If this is not null, finish() adds the records that it deletes, and the caller does what the
  // rules of references to them say, when it has imported all tables. Otherwise, finish() does it.
  Deleted_Records* deleted = nullptr;
  // Cells of the kind `word` are numbers that are too large for an integer. Otherwise they are
  // texts.
  bool has_number_words = false;
  // Limit in bytes: whenever this process has more private memory, the tables are moved to a
  // temporary file (Writable_Database::limit_memory). 0: no limit.
  std::size_t memory = 0;
};

struct Import_Counts {
  std::int64_t inserted = 0;
  std::int64_t updated = 0;
  std::int64_t unchanged = 0;
  std::int64_t deleted = 0;
  std::int64_t created = 0;  // inserted into referenced tables
  // For each field: the number of rows without a value for it, in which it was set to 0, false or
  // "". Optional fields, and those of floats, references and blobs are not counted, because a NaN
  // or null shows that the value is missing.
  std::map<std::string, std::int64_t> missing = {};
  // For each string field: the number of rows whose value was a number or boolean.
  std::map<std::string, std::int64_t> texts = {};
  // For each field with Import_Column::ignores_missing: the number of references to records that do
  // not exist, which became null.
  std::map<std::string, std::int64_t> dangling = {};

  friend bool operator==(const Import_Counts&, const Import_Counts&) = default;
};

// Inserts and updates records of a table, row by row. Writes only values that differ from the
// stored ones. So a second import of the same rows, with a key, changes nothing.
//
//     Row_Importer importer(database, {table, {{name}, {country, country_name}}, {name}});
//     for (…) importer.add({Cell::of(Cell::Kind::text, "Lyon"), …}, line);
//     const Import_Counts counts = importer.finish();
//     database.soft_checkpoint();
//
// Makes no checkpoint. After any exception, the caller must call Writable_Database::rollback, or
// close the database without a checkpoint. While this object exists, nothing else may change the
// database.
class Row_Importer {
 public:
  // Throws Data_Error if the target does not match the tables, or if several records could match a
  // key or lookup.
  Row_Importer(Writable_Database& database, Import_Target target);
  ~Row_Importer();
  Row_Importer(const Row_Importer&) = delete;
  Row_Importer& operator=(const Row_Importer&) = delete;

  // Imports a row with one cell per column; missing cells at the end count as absent. `place` is
  // for messages. Returns the record. Throws Row_Error, and the exceptions of
  // Writable_Database::write except Data_Error.
  Record_Id add(std::span<const Cell> cells, std::int64_t place);

  // Completes the import; call it once. Looks up references to records of the table itself, deletes
  // unmatched records, and builds the indexes that were empty and, with a key or ids, the declared
  // unique indexes, which detects keys that two records share. Throws the exceptions of
  // add().
  Import_Counts finish();

 private:
  enum class State : std::uint8_t { untouched, unchanged, updated, inserted };
  class Lookup;
  struct Column;
  struct Pending;  // a reference to a record of the table itself, which finish() looks up

  void make_lookups();
  Lookup& find_lookup(Table_Id table, Field_Id field);
  Record_Id look_up(std::size_t i, const Cell& cell);
  static bool is_missing(const Column& column, const Cell& cell);
  bool is_number(const Cell& cell) const;
  void read(std::size_t i, const Cell& cell);
  void read_row(std::span<const Cell> cells);
  Record_Id find_by_id(const Cell& cell, bool& is_new);
  Record_Id find_by_key(bool& is_new);
  void update(Record_Id record);
  void remember_pending(std::span<const Cell> cells, Record_Id record);
  void resolve_pending(bool creates_missing);
  void resolve(const Pending& pending, Column_Writer& writer);
  void delete_missing();
  void follow_rules();
  void defer_indexes();
  void build_indexes();
  void release_memory();
  State& state(Record_Id record);

  Writable_Database& database_;
  const Import_Target target_;
  Row_Writer writer_;
  std::map<std::pair<Table_Id, Field_Id>, std::unique_ptr<Lookup>> lookups_;
  std::vector<Column> columns_;
  std::vector<Column_Writer*> key_columns_;
  std::vector<Key_Part> key_;
  std::optional<Record_Index> index_;
  std::vector<State> states_;  // by record id
  std::vector<Pending> pending_;
  struct Deferred {
    Index* index;
    index_t duplicates;  // that were there before
    bool was_empty;
  };
  std::vector<Deferred> deferred_;
  bool has_places_ = false;           // true if a deferred index is unique
  std::vector<std::int64_t> places_;  // by record id
  Import_Counts counts_;
  Deleted_Records deleted_;
  std::int64_t place_ = 0;
  std::int64_t rows_ = 0;
};

}  // namespace joedb

#endif
