#ifndef JOEDB_SRC_TOOLS_COMPILER_MODEL_H
#define JOEDB_SRC_TOOLS_COMPILER_MODEL_H

#include <string>
#include <string_view>
#include <vector>

#include "joedb/table/database.h"
#include "kernel/table/retype.h"
#include "tools/compiler/options.h"

// The input of the back ends: a schema with all names resolved and all defaults filled in.

namespace joedb::compiler {

struct Model_Field {
  Field_Id id;
  std::string name;
  Type_Code type;
  std::string referenced_table;  // name; empty unless the type is a reference
  std::string comment = {};      // of the schema, in lines without an end of line; may be empty
  Logical_Type logical = {};
  std::string enum_name = {};  // Invoice_State; empty unless the logical type is an enumeration
  bool has_enum_of_main =
      false;  // the main schema has an enumeration of this name with these names
};

// Returns the type as joedbi writes it: "date", or "references city".
std::string schema_type(const Model_Field& field);

struct Model_Table {
  Table_Id id;
  std::string name;
  std::vector<Model_Field> fields;
  bool has_single_row = false;
  bool has_id_of_main = false;  // the main schema has a table with this name
  std::string comment = {};
  bool has_values = false;  // the schema has a record, whose values are the initial values
};

struct Model_Index {
  std::string name;
  bool is_unique;
  const Model_Table* table;
  std::vector<const Model_Field*> fields;
  std::string comment = {};
};

// A reference with a rule for deletions (Logical_Type::On_Delete), and the index that finds it.
struct Back_Reference {
  std::string name;  // of its function: person_by_home
  const Model_Index* index;
  const Model_Table* referenced;
};

struct Model {
  std::string source;                   // file name of the schema, for comments and messages
  std::vector<std::string> name_space;  // the parts of the namespace, at least one
  std::vector<Model_Table> tables;      // in the order of their ids
  std::vector<Model_Index> indexes;     // pointers to tables and fields; also of back references
  std::vector<Back_Reference> back_references;
  std::vector<std::string> customs;       // names of functions, without duplicates
  std::string schema_entries;             // encoded as in a file
  std::string initial_values;             // encoded updates of the records 0 (Program_Schema)
  std::vector<std::string> declarations;  // Database::declarations, and dropped indexes
  std::vector<Retyping> retypings = {};
  bool has_timestamps = false;
  bool has_no_marks = false;
  std::vector<std::string> main_name_space;  // the main schema's; empty unless for messages
};

// Makes the model of a schema. Throws Schema_Errors if the schema cannot be compiled. For a message
// schema (docs/rpc.md), `main` is the main schema, whose types of ids are used for tables of the
// same name; otherwise null.
Model make_model(const Database& schema, const Options& options, std::string source,
                 const Model* main = nullptr);

// Returns a field of the model, which must have it.
const Model_Field& field_of(const Model& model, Table_Id table, Field_Id field);

// Gives tables and fields the comments of the schema: the lines that begin with # directly above
// the command that makes them.
void add_comments(Model& model, std::string_view schema_text);

}  // namespace joedb::compiler

#endif
