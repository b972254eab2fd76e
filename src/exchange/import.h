#ifndef JOEDB_EXCHANGE_IMPORT_H
#define JOEDB_EXCHANGE_IMPORT_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exchange/row_importer.h"
#include "exchange/row_source.h"

namespace joedb {

// What users say about an import. `first` names a field.
using Named_Settings = std::vector<std::pair<std::string, std::string>>;
struct Import_Settings {
  std::string table = {};
  std::vector<std::string> key = {};
  bool deletes_missing = false;
  std::size_t memory = 0;                 // Import_Target::memory
  Named_Settings types = {};              // the type of a new field
  Named_Settings renames = {};            // of a column, and the field it is for
  std::vector<std::string> skipped = {};  // columns
  Named_Settings references = {};         // "TABLE.FIELD", in which the values are looked up
  Named_Settings enums = {};  // a table, made if there is none, of names; "": that of the field
  bool creates_references = false;  // of `references`, the records that are not there
  bool adds_fields = false;         // to a table that exists
  bool has_preview = false;         // the plan must have examples
  bool reads_times = false;         // int64 for new fields whose values are times
  // Types are guessed from so many rows; 0: all of them, or, if the input can be read only once,
  // the first 10,000.
  std::int64_t sample = 0;
};

// The table and the fields that get the values of a source.
struct Import_Plan {
  struct Column {
    std::size_t source;  // index in Row_Source::columns
    std::string field;
    Type_Code type;  // of a value; for what is looked up, of the field where it is
    bool is_new;
    // For a reference.
    std::string referenced = {};
    std::string lookup = {};
    bool creates_missing = false;
    bool makes_table = false;
    // What was seen.
    std::vector<std::string> examples = {};
    std::int64_t empty_count = 0;
    bool has_times = false;                    // but is a string
    Type_Code similar_type = Type_Code::none;  // Type_Guess::similar_type

    std::string type_text() const;
  };

  std::string table;
  bool is_new_table = false;
  bool adds_fields = false;  // to the table, which is new or not
  std::vector<Column> columns;
  std::optional<std::size_t> id_source;  // the column with record ids
  std::vector<std::string> key;
  bool deletes_missing = false;
  std::size_t memory = 0;  // Import_Target::memory
  std::size_t source_columns = 0;
  std::int64_t rows_seen = 0;
  bool has_seen_all = false;

  // As text, for people.
  std::string text() const;
  // Makes the tables and fields that are not there.
  Import_Target make(Writable_Database& database) const;
};

// Matches the columns of a source with the fields of a table, by name: characters that no field can
// have become _. For new fields it reads the source, to its end or as far as settings.sample says,
// and rewinds it. Throws Data_Error.
// `after_row` is called after each row that it has read.
Import_Plan plan_import(
    Row_Source& source, const Database& database, const Import_Settings& settings,
    const std::function<void()>& after_row = [] {});

// Imports the rows of the source, from where it is. `after_row` is called after each. Throws
// Data_Error, with the place in the file in front of it, and what Row_Importer throws.
Import_Counts import_rows(Row_Source& source, Writable_Database& database, const Import_Plan& plan,
                          const std::function<void()>& after_row);

// An identifier that resembles a text.
std::string identifier_of(std::string_view text);

}  // namespace joedb

#endif
