#ifndef JOEDB_COMPILER_MODEL_H
#define JOEDB_COMPILER_MODEL_H

#include <string>
#include <vector>

#include "compiler/options.h"
#include "joedb/table/database.h"

// What the back ends see: a schema in which every name is resolved and every default filled in.

namespace joedb::compiler {

struct Model_Field {
  Field_Id id;
  std::string name;
  Type_Code type;
  std::string referenced_table;  // name; for references only
};

struct Model_Table {
  Table_Id id;
  std::string name;
  std::vector<Model_Field> fields;
  bool has_single_row = false;
  bool has_id_of_main = false;  // the main schema has a table of this name
};

struct Model_Index {
  std::string name;
  bool is_unique;
  const Model_Table* table;
  std::vector<const Model_Field*> fields;
};

struct Model {
  std::string source;                   // name of the schema file, for the reader
  std::vector<std::string> name_space;  // its parts; at least one
  std::vector<Model_Table> tables;      // in the order of their ids
  std::vector<Model_Index> indexes;     // point to them
  std::vector<std::string> customs;     // names of functions, each once
  std::string schema_entries;           // encoded as in a file
  std::string initial_values;           // updates of records 0, encoded (Program_Schema)
  bool has_timestamps = false;
  bool has_no_marks = false;
  std::vector<std::string> main_name_space;  // of a message schema
};

// Throws Schema_Errors where the schema cannot be compiled. A message schema (docs/rpc.md) has a
// main one, whose types of ids it uses for tables of the same name.
Model make_model(const Database& schema, const Options& options, std::string source,
                 const Model* main = nullptr);

}  // namespace joedb::compiler

#endif
