#ifndef JOEDB_SRC_TOOLS_COMPILER_OPTIONS_H
#define JOEDB_SRC_TOOLS_COMPILER_OPTIONS_H

#include <string>
#include <string_view>
#include <vector>

#include "joedb/base/error.h"
#include "joedb/table/database.h"

namespace joedb::compiler {

// An error or warning about the input. `line` counts from 1; 0 means that it is not about a line.
struct Diagnostic {
  std::string file;
  int line = 0;
  std::string text;
  int column = 0;  // in characters, counted from 1; 0: unknown
  // If there is no line, the subject: {table}, {table, field}, or the name of a custom.
  std::vector<std::string> names = {};
};

// All errors of one run. The text has one line "FILE:LINE: TEXT" for each error.
class Schema_Errors : public Exception {
 public:
  explicit Schema_Errors(std::vector<Diagnostic> found);
  const std::vector<Diagnostic> diagnostics;
};

// The comment of a command in a schema or options file: the lines that begin with # directly above
// it, without #.
class Comment_Above {
 public:
  // Takes the next line, which has these words. Returns the comment of its command.
  std::string take(std::string_view line, const std::vector<std::string_view>& words);

 private:
  std::string comment_;
};

// create_index NAME TABLE FIELD,…
struct Index_Option {
  int line = 0;
  int name_column = 0;
  int table_column = 0;
  std::vector<int> field_columns;
  std::string name;
  std::string table;
  std::vector<std::string> fields;
  bool is_unique = false;
  std::string comment = {};
};

// The option set_single_row TABLE true
struct Single_Row_Option {
  int line = 0;
  int column = 0;  // of the table name
  std::string table;
};

// The content of a .joedbc file.
struct Options {
  std::string file;
  std::vector<std::string> name_space;
  int name_space_line = 0;  // 0: the namespace is the default
  std::vector<Index_Option> indexes;
  std::vector<Single_Row_Option> single_rows;
  bool has_timestamps = false;  // the option timestamp_transactions
  bool has_no_marks = false;    // the option unmarked_transactions
  std::vector<Diagnostic> warnings;
};

// Parses a .joedbc file. Throws Schema_Errors. `file` is its name, for messages. The default
// namespace is `parent`, followed by the name of the file without its extension.
Options parse_options(std::string_view text, const std::string& file,
                      const std::vector<std::string>& parent = {});

// Completes the error `text` of line `number` of a schema file, for users who do not know which
// commands belong in which file, and in which order. `schema` is the text of the file, and
// `options_file` the name of its .joedbc file.
std::string with_hint(std::string text, std::string_view schema, int number,
                      const std::string& options_file);

// Returns a warning for each line of a valid schema that gives the name of a dropped field to
// another field, because an upgrade then loses the values: retype_field keeps them. A comment
// directly above drop_field says that they are meant to go.
std::vector<Diagnostic> dropped_values(std::string_view schema, const std::string& file);

// Returns the column at which `part` begins in `line`, in characters, counted from 1.
int column_of(std::string_view line, std::string_view part);

// Returns an error about a name in the options, with a suggestion.
std::string no_such_table(const std::string& name, const Database& schema);

// Returns the indexes for a database with this schema. For each index that does not fit the schema,
// adds an error to `errors`. The result is valid only if no error was added.
std::vector<Index_Definition> resolve_indexes(const Options& options, const Database& schema,
                                              std::vector<Diagnostic>& errors);

}  // namespace joedb::compiler

#endif
