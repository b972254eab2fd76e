#ifndef JOEDB_SRC_EXCHANGE_IMPORT_H
#define JOEDB_SRC_EXCHANGE_IMPORT_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exchange/row_importer.h"
#include "exchange/row_source.h"

namespace joedb {

// Settings of an import that are lists of pairs. `first` names a field; in `renames`, it is the
// name of a column, or its number from 1.
using Named_Settings = std::vector<std::pair<std::string, std::string>>;
struct Import_Settings {
  std::string table = {};
  std::vector<std::string> key = {};
  bool deletes_missing = false;
  std::size_t memory = 0;                 // Import_Target::memory
  Named_Settings types = {};              // the type of a new field
  Named_Settings renames = {};            // the field for a column
  std::vector<std::string> skipped = {};  // columns to omit: names, or numbers from 1
  Named_Settings references = {};         // TABLE.FIELD: the field in which values are looked up
  // For an enum: the table of names, which is created if it is missing; empty: has the name of the
  // field.
  Named_Settings enums = {};
  bool creates_references = false;  // if `references` find no record, insert one
  bool adds_fields = false;         // may add fields to an existing table
  bool has_preview = false;         // the plan must contain examples
  bool reads_times = false;         // a new field is int64 if its values are times
  bool only_strings = false;        // new fields are strings, except those in `types`
  bool only_plain_types = false;    // new fields have no logical types, except those in `types`
  // Number of rows from which types are guessed. 0: all rows; but if the input can be read only
  // once, the first 10,000.
  std::int64_t sample = 0;
};

// The table and fields into which a source is imported.
struct Import_Plan {
  struct Column {
    std::size_t source;  // index in Row_Source::columns
    std::string field;
    Type_Code type;  // type of a value; for a lookup, the type of the field to search
    bool is_new;
    bool is_guessed = false;
    Logical_Type logical = {};      // plain for a lookup
    std::string renamed_from = {};  // name of the column, if a field cannot have this name
    // For a reference:
    std::string referenced = {};
    std::string lookup = {};
    bool creates_missing = false;
    bool makes_table = false;
    // From the rows that have been read:
    std::vector<std::string> examples = {};
    std::int64_t empty_count = 0;
    bool has_times = false;                    // the values are times, but the type is string
    Type_Code plain_type = Type_Code::none;    // what --plain-types makes of them, if that differs
    std::string other_time_text = {};          // Type_Guess::other_time_text
    Type_Code similar_type = Type_Code::none;  // Type_Guess::similar_type

    std::string type_text() const;
  };

  std::string table;
  bool is_new_table = false;
  bool adds_fields = false;  // to a new or existing table
  std::vector<Column> columns;
  std::optional<std::size_t> id_source;  // the column with record ids
  std::vector<std::string> key;
  bool deletes_missing = false;
  std::size_t memory = 0;  // Import_Target::memory
  std::size_t source_columns = 0;
  std::int64_t rows_seen = 0;
  bool has_read_all = false;

  // Returns the plan as text for people.
  std::string text() const;
  // Creates the missing tables and fields.
  Import_Target make(Writable_Database& database) const;
};

// Matches the columns of a source with the fields of a table by name; names are first converted by
// to_identifiers() (exchange/identifiers.h). For new fields, reads the whole source, or as many
// rows as settings.sample says, and rewinds it. Calls `after_row` after each row. Throws
// Data_Error.
Import_Plan plan_import(
    Row_Source& source, const Database& database, const Import_Settings& settings,
    const std::function<void()>& after_row = [] {});

// Imports the rows of the source from its current position on. Calls `after_row` after each row.
// Throws the exceptions of Row_Importer. The text of a Data_Error begins with the place in the
// file.
Import_Counts import_rows(Row_Source& source, Writable_Database& database, const Import_Plan& plan,
                          const std::function<void()>& after_row);

// Returns an identifier that resembles the text.
std::string identifier_of(std::string_view text);

}  // namespace joedb

#endif
