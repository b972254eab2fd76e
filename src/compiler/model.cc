#include "compiler/model.h"

#include <algorithm>

#include "compiler/names.h"

namespace joedb::compiler {

static bool has_custom_entry(const std::string& schema_entries) {
  struct Find_Custom : Ignore_Entries {
    using Ignore_Entries::operator();
    void operator()(const Custom&) { found = true; }
    bool found = false;
  } handler;
  Memory_Decoder_Input input(schema_entries);
  Context context;
  while (input.remaining() > 0) decode_entry(input, context, handler);
  return handler.found;
}

static Model_Table make_table(const Database& schema, const Table& table) {
  Model_Table result{table.id(), table.name(), {}};
  for (std::size_t i = 0; i < table.fields().size(); ++i) {
    const Field& field = table.fields()[i];
    if (!field.column) continue;
    const Type type = field.column->type();
    const Table* const referenced = schema.find_table(type.referenced);
    result.fields.push_back({Field_Id(static_cast<std::uint16_t>(i + 1)), field.name, type.code,
                             referenced ? referenced->name() : ""});
  }
  return result;
}

Model make_model(const Database& schema, const Options& options, std::string source) {
  Model model{std::move(source), options.name_space, {}, schema.schema_entries()};
  std::vector<Diagnostic> errors;
  const auto error = [&](std::string text) {
    errors.push_back({model.source, 0, std::move(text)});
  };
  for (const auto& table : schema.tables())
    if (table) model.tables.push_back(make_table(schema, *table));

  for (const Model_Table& table : model.tables) {
    if (schema.find_table("vector_of_" + table.name) != nullptr)
      error("the tables " + table.name + " and vector_of_" + table.name +
            " would both have a function new_vector_of_" + table.name);
    for (const Model_Field& field : table.fields)
      if (field.type == Type_Code::reference && field.referenced_table.empty())
        error("field " + field.name + " of table " + table.name +
              " references a table that was dropped: drop the field, too");
  }
  if (has_custom_entry(model.schema_entries))
    error("custom: functions for a schema upgrade are not available in this version of joedbc");
  if (!errors.empty()) throw Schema_Errors(std::move(errors));
  return model;
}

}  // namespace joedb::compiler
