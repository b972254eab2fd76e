#include "tools/compiler/model.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "joedb/format/codec.h"
#include "kernel/base/byte_order_mark.h"
#include "kernel/base/split.h"
#include "kernel/schema/logical_type.h"
#include "tools/compiler/names.h"

namespace joedb::compiler {

namespace {

// Returns the names of all custom entries, in their order, without duplicates.
std::vector<std::string> find_customs(const std::string& schema_entries) {
  struct Find_Customs : Ignore_Entries {
    using Ignore_Entries::operator();
    void operator()(const Custom& entry) {
      if (std::find(names.begin(), names.end(), entry.name) == names.end())
        names.emplace_back(entry.name);
    }
    std::vector<std::string> names;
  } handler;
  decode_entries(schema_entries, handler);
  return handler.names;
}

Model_Table make_table(const Database& schema, const Table& table) {
  Model_Table result{table.id(), table.name(), {}};
  for (std::size_t i = 0; i < table.fields().size(); ++i) {
    const Field& field = table.fields()[i];
    if (!field.column) continue;
    const Type type = field.column->type();
    const Table* const referenced = schema.find_table(type.referenced);
    result.fields.push_back({Field_Id(static_cast<std::uint16_t>(i + 1)), field.name, type.code,
                             referenced ? referenced->name() : ""});
    result.fields.back().logical = field.column->logical();
  }
  result.has_values = table.records().first() != Record_Ids::no_id;
  return result;
}

// Returns the values of the first record of each table; without a record, of its optional fields.
// Omits blobs, because their bytes are in another file.
std::string initial_values(const Database& schema, const std::vector<Model_Table>& tables) {
  std::string entries;
  Context context;
  for (const Model_Table& model : tables) {
    const Table& table = schema.table(model.id);
    const index_t first = table.records().first();
    for (const Model_Field& field : model.fields) {
      if (!model.has_values && !field.logical.is_optional) continue;
      visit_type(field.type, [&]<class T>(std::type_identity<T>) {
        const T value = model.has_values ? T(table.column<T>(field.id).get(first))
                                         : missing_value<T>(field.logical);
        if constexpr (!std::is_same_v<T, Blob>)
          append_encoded(entries, context, Update<T>{model.id, Record_Id(0), field.id, value});
      });
    }
  }
  return entries;
}

class Model_Maker {
 public:
  Model_Maker(const Database& schema, const Options& options, std::string source)
      : schema_(schema), options_(options) {
    model_.source = std::move(source);
    model_.name_space = options.name_space;
    model_.has_timestamps = options.has_timestamps;
    model_.has_no_marks = options.has_no_marks;
    model_.schema_entries = schema.schema_entries();
  }

  // For a message schema: uses the types of ids of the main schema.
  void use_ids_of(const Model& main) {
    main_ = &main;
    model_.main_name_space = main.name_space;
  }

  Model make() {
    for (const auto& table : schema_.tables())
      if (table) model_.tables.push_back(make_table(schema_, *table));
    check_tables();
    if (main_ != nullptr) share_ids();
    name_enums();
    set_single_rows();
    add_indexes();
    add_back_references();
    add_customs();
    model_.initial_values = initial_values(schema_, model_.tables);
    model_.declarations = schema_.declarations();
    if (!errors_.empty()) throw Schema_Errors(std::move(errors_));
    return std::move(model_);
  }

 private:
  void error(std::string text, std::vector<std::string> names) {
    errors_.push_back({model_.source, 0, std::move(text), 0, std::move(names)});
  }

  void check_tables() {
    for (const Model_Table& table : model_.tables) {
      if (schema_.find_table("vector_of_" + table.name) != nullptr)
        error("the tables " + table.name + " and vector_of_" + table.name +
                  " would both have a function new_vector_of_" + table.name,
              {"vector_of_" + table.name});
      for (const Model_Field& field : table.fields)
        if (field.type == Type_Code::reference && field.referenced_table.empty())
          error("field " + field.name + " of table " + table.name +
                    " references a table that was dropped: drop the field, too",
                {table.name, field.name});
    }
  }

  void share_ids() {
    for (Model_Table& table : model_.tables)
      table.has_id_of_main =
          std::any_of(main_->tables.begin(), main_->tables.end(),
                      [&](const Model_Table& other) { return other.name == table.name; });
  }

  void name_enums() {
    std::vector<std::string> taken;
    for (Model_Table& table : model_.tables)
      for (Model_Field& field : table.fields)
        if (field.logical.kind == Logical_Type::Kind::enumeration) {
          taken.push_back(field.enum_name = cpp_enum(table.name, field.name, taken));
          field.has_enum_of_main = main_ != nullptr && has_enum(*main_, field);
        }
  }

  static bool has_enum(const Model& model, const Model_Field& field) {
    for (const Model_Table& table : model.tables)
      for (const Model_Field& other : table.fields)
        if (other.enum_name == field.enum_name)
          return other.type == field.type && other.logical.names == field.logical.names;
    return false;
  }

  void set_single_rows() {
    for (const Single_Row_Option& option : options_.single_rows) {
      const auto table = std::find_if(model_.tables.begin(), model_.tables.end(),
                                      [&](const Model_Table& t) { return t.name == option.table; });
      if (table != model_.tables.end())
        table->has_single_row = true;
      else
        errors_.push_back(
            {options_.file, option.line, no_such_table(option.table, schema_), option.column});
    }
  }

  void add_indexes() {
    const std::size_t errors_before = errors_.size();
    auto indexes = resolve_indexes(options_, schema_, errors_);
    if (errors_.size() > errors_before) return;
    add_declared(indexes);
    for (const Index_Definition& index : indexes) {
      const auto table = std::find_if(model_.tables.begin(), model_.tables.end(),
                                      [&](const Model_Table& t) { return t.id == index.table; });
      const auto option = std::find_if(options_.indexes.begin(), options_.indexes.end(),
                                       [&](const Index_Option& o) { return o.name == index.name; });
      Model_Index added{index.name, index.is_unique, &*table, {}, ""};
      if (option != options_.indexes.end()) added.comment = option->comment;
      for (const Field_Id id : index.fields)
        added.fields.push_back(&*std::find_if(table->fields.begin(), table->fields.end(),
                                              [&](const Model_Field& f) { return f.id == id; }));
      model_.indexes.push_back(std::move(added));
    }
  }

  // Adds the indexes of the schema. The options may have the same ones.
  void add_declared(std::vector<Index_Definition>& indexes) {
    for (const Index* const declared : schema_.indexes()) {
      const Index_Definition& index = declared->definition();
      const auto found = std::find_if(indexes.begin(), indexes.end(),
                                      [&](const auto& other) { return other.name == index.name; });
      if (found == indexes.end())
        indexes.push_back(index);
      else if (found->table != index.table || found->fields != index.fields ||
               found->is_unique != index.is_unique)
        error("the schema and " + options_.file + " have different indexes " + index.name,
              {index.name});
    }
  }

  template <class F>
  void for_each_rule(F f) const {
    for (const Model_Table& table : model_.tables)
      for (const Model_Field& field : table.fields)
        if (field.logical.on_delete != Logical_Type::On_Delete::keep) f(table, field);
  }

  const Model_Index* find_index_for(const Model_Table& table, const Model_Field& field) const {
    const auto found =
        std::find_if(model_.indexes.begin(), model_.indexes.end(), [&](const Model_Index& index) {
          return index.table == &table && index.fields.front() == &field &&
                 (!index.is_unique || index.fields.size() == 1);  // others may lack records
        });
    return found == model_.indexes.end() ? nullptr : &*found;
  }

  // Adds an index for each reference with a rule that is not the first field of another index.
  void add_back_references() {
    for_each_rule([&](const Model_Table& table, const Model_Field& field) {
      if (table.has_single_row && field.logical.on_delete == Logical_Type::On_Delete::cascade)
        error("table " + table.name + " has a single row, which " + table.name + "." + field.name +
                  " could delete: on_delete cascade is not possible",
              {table.name, field.name});
      if (find_index_for(table, field) != nullptr) return;
      const std::string name = table.name + "_by_" + field.name;
      for (const Model_Index& index : model_.indexes)
        if (index.name == name)
          error("there is an index " + name + " already, and joedbc needs one for " + table.name +
                    "." + field.name + ": add create_index NAME " + table.name + " " + field.name +
                    " to the options",
                {table.name, field.name});
      model_.indexes.push_back({name, false, &table, {&field}});
    });
    for_each_rule([&](const Model_Table& table, const Model_Field& field) {
      const auto referenced =
          std::find_if(model_.tables.begin(), model_.tables.end(),
                       [&](const Model_Table& t) { return t.name == field.referenced_table; });
      const std::string name = table.name + "_by_" + field.name;
      if (referenced != model_.tables.end())
        model_.back_references.push_back({name, find_index_for(table, field), &*referenced});
    });
  }

  // A custom becomes a static member function of Writable_Database.
  void add_customs() {
    model_.customs = find_customs(model_.schema_entries);
    for (const std::string& name : model_.customs) {
      if (!is_identifier(name) || is_cpp_keyword(name))
        error("custom: invalid identifier: " + name + ": it is to be the name of a C++ function",
              {name});
    }
  }

  const Database& schema_;
  const Options& options_;
  const Model* main_ = nullptr;
  Model model_;
  std::vector<Diagnostic> errors_;
};

}  // namespace

std::string schema_type(const Model_Field& field) {
  return declared_type_text(field.type, field.logical, field.referenced_table);
}

Model make_model(const Database& schema, const Options& options, std::string source,
                 const Model* main) {
  Model_Maker maker(schema, options, std::move(source));
  if (main != nullptr) maker.use_ids_of(*main);
  return maker.make();
}

const Model_Field& field_of(const Model& model, Table_Id table_id, Field_Id field_id) {
  const auto has_id = [](auto id) { return [id](const auto& item) { return item.id == id; }; };
  const Model_Table& table =
      *std::find_if(model.tables.begin(), model.tables.end(), has_id(table_id));
  return *std::find_if(table.fields.begin(), table.fields.end(), has_id(field_id));
}

// Follows the names of tables and fields through the commands.
void add_comments(Model& model, std::string_view schema_text) {
  std::map<std::string, std::string> of_tables;
  std::map<std::pair<std::string, std::string>, std::string> of_fields;
  std::map<std::string, std::string> of_indexes;
  std::set<std::string> dropped_indexes;
  Comment_Above above;
  for (const std::string_view line : split(without_mark(schema_text), "\n")) {
    const auto words = split_words(line);
    std::string comment = above.take(line, words);
    const auto word = [&](std::size_t i) {
      return i < words.size() ? std::string(words[i]) : std::string();
    };
    if (word(0) == "create_table") {
      of_tables[word(1)] = std::move(comment);
    } else if (word(0) == "add_field") {
      of_fields[{word(1), word(2)}] = std::move(comment);
    } else if (word(0) == "rename_table") {
      of_tables[word(2)] = std::exchange(of_tables[word(1)], "");
      for (auto& [field, text] : of_fields)
        if (field.first == word(1)) of_fields[{word(2), field.second}] = std::exchange(text, "");
    } else if (word(0) == "rename_field") {
      of_fields[{word(1), word(3)}] = std::exchange(of_fields[{word(1), word(2)}], "");
    } else if (word(0) == "create_index" || word(0) == "create_unique_index") {
      of_indexes[word(1)] = std::move(comment);
    } else if (word(0) == "drop_index") {
      dropped_indexes.insert(word(1));
    }
  }
  for (Model_Table& table : model.tables) {
    table.comment = of_tables[table.name];
    for (Model_Field& field : table.fields) field.comment = of_fields[{table.name, field.name}];
  }
  for (Model_Index& index : model.indexes) {
    dropped_indexes.erase(index.name);
    if (const auto found = of_indexes.find(index.name); found != of_indexes.end())
      index.comment = found->second;
  }
  for (const std::string& name : dropped_indexes)
    model.declarations.push_back(std::string(declaration_mark).append("drop_index ").append(name));
}

}  // namespace joedb::compiler
