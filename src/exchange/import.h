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

// The user's settings of an import. `first` names a field or, for a rename, a column, also by its
// number from 1.
using Named_Settings = std::vector<std::pair<std::string, std::string>>;
struct Import_Settings {
  std::string table = {};
  std::vector<std::string> key = {};
  bool deletes_missing = false;
  std::size_t memory = 0;                 // Import_Target::memory
  Named_Settings types = {};              // type of a new field
  Named_Settings renames = {};            // field for a column
  std::vector<std::string> skipped = {};  // columns to leave out: names, or numbers from 1
  Named_Settings references = {};         // "TABLE.FIELD" in which values are looked up
  Named_Settings enums = {};  // table of names, created if it is missing; "": named like the field
  bool creates_references = false;  // inserts missing records for `references`
  bool adds_fields = false;         // to an existing table
  bool has_preview = false;         // the plan must have examples
  bool reads_times = false;         // new fields whose values are times become int64
  bool only_strings = false;        // new fields are strings, unless `types` says otherwise
  // Number of rows from which types are guessed. 0: all rows or, if the input can be read only
  // once, the first 10,000.
  std::int64_t sample = 0;
};

// The table and the fields that get the values of a source.
struct Import_Plan {
  struct Column {
    std::size_t source;  // index in Row_Source::columns
    std::string field;
    Type_Code type;  // of a value; for a lookup, of the field that is searched
    bool is_new;
    std::string renamed_from = {};  // the column, if its name cannot be the one of a new field
    // For a reference:
    std::string referenced = {};
    std::string lookup = {};
    bool creates_missing = false;
    bool makes_table = false;
    // From the rows that were read:
    std::vector<std::string> examples = {};
    std::int64_t empty_count = 0;
    bool has_times = false;                    // values are times, but the type is string
    Type_Code similar_type = Type_Code::none;  // Type_Guess::similar_type

    std::string type_text() const;
  };

  std::string table;
  bool is_new_table = false;
  bool adds_fields = false;  // to a new or an existing table
  std::vector<Column> columns;
  std::optional<std::size_t> id_source;  // column with record ids
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

// Matches the columns of a source with the fields of a table by name: names become identifiers as
// by to_identifiers() (exchange/identifiers.h). For new fields, reads the source to its end, or as
// far as settings.sample says, and rewinds it. Calls `after_row` after each row that it has read.
// Throws Data_Error.
Import_Plan plan_import(
    Row_Source& source, const Database& database, const Import_Settings& settings,
    const std::function<void()>& after_row = [] {});

// Imports the rows of the source from its current position. Calls `after_row` after each row.
// Throws the exceptions of Row_Importer, and Data_Error with the place in the file at the beginning
// of the message.
Import_Counts import_rows(Row_Source& source, Writable_Database& database, const Import_Plan& plan,
                          const std::function<void()>& after_row);

// Returns an identifier that resembles the text.
std::string identifier_of(std::string_view text);

}  // namespace joedb

#endif
