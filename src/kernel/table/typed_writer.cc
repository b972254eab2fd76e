#include "joedb/table/typed_writer.h"

#include <algorithm>
#include <ctime>
#include <set>

#include "kernel/table/declaration.h"
#include "kernel/table/retype.h"
#include "kernel/table/schema_text.h"

namespace joedb::inline v1 {

Schema_Relation compare_schemas(std::string_view file, std::string_view program) {
  if (!program.starts_with(file)) return Schema_Relation::incompatible;
  return file.size() == program.size() ? Schema_Relation::equal : Schema_Relation::file_is_older;
}

namespace {

std::string schema_text(std::string_view entries) {
  std::string text;
  for (const std::string& line : schema_lines(entries)) text.append(line).append("\n");
  return text;
}

[[noreturn]] void throw_mismatch(const std::string& what, const Database& database,
                                 const Program_Schema& program) {
  throw Schema_Mismatch(what, schema_text(database.schema_entries()), schema_text(program.entries));
}

Schema_Relation require_compatible(const Database& database, const Program_Schema& program,
                                   const std::string& file) {
  const std::string_view in_file = database.schema_entries();
  const Schema_Relation relation = compare_schemas(in_file, program.entries);
  if (relation != Schema_Relation::incompatible) return relation;
  const bool is_newer = in_file.starts_with(program.entries);
  throw_mismatch(file + ": its schema is " + (is_newer ? "newer than" : "not") +
                     " the one of this program (" + std::string(program.name) + "): " +
                     schema_difference(in_file, "in the file", program.entries, "in the program") +
                     (is_newer ? ". A newer version of the program has changed the file: use that"
                               : ". Is it the file of another program? If not, compile the program "
                                 "with the lines of the file, and append new lines at the end"),
                 database, program);
}

// Returns true if the file lacks a declaration of the program: the field is `should`. Throws
// Schema_Mismatch if the file has another one.
bool lacks_declaration(const Database& database, const Program_Schema& program,
                       const std::string& file, const Table& table, const Field& field,
                       const Logical_Type& should) {
  const Logical_Type& is = field.column->logical();
  if (is.is_plain()) return !should.is_plain();
  Logical_Type renamed = is;
  renamed.names = should.names;
  const bool is_older = is_extension(is.names, should.names);
  if (renamed != should || !(is_older || is_extension(should.names, is.names))) {
    const Type_Code stored = field.column->type().code;
    throw_mismatch(file + ": " + table.name() + "." + field.name + " is " +
                       declared_type_text(stored, is) + " in the file, " +
                       declared_type_text(stored, should) + " in the program (" +
                       std::string(program.name) + ")",
                   database, program);
  }
  return is_older && is.names.size() < should.names.size();
}

// True if the file lacks an index of the program whose fields exist, or has one that the program
// drops.
bool is_missing(const Database& database, const Index_Declaration& wanted) {
  if (wanted.is_drop) return database.find_declared_index(wanted.name) != nullptr;
  const auto definition = definition_of(wanted, database);
  if (!definition) return false;
  const Index* const index = database.find_index(*definition);
  return index == nullptr || !database.is_declared(*index);
}

// An index replaces another one of the same name.
void write_index_declaration(Writable_Database& database, std::string_view comment) {
  const auto index = parse_index_declaration(comment);
  const Database& content = std::as_const(database).get_database();
  if (content.find_declared_index(index->name) != nullptr) drop_index(database, index->name);
  if (!index->is_drop) declare_index(database, definition_of(*index, content).value());
}

// Returns the declarations of the program that the file lacks, of fields that exist. Throws
// Schema_Mismatch if the file declares another type.
std::vector<std::string_view> missing_declarations(const Database& database,
                                                   const Program_Schema& program,
                                                   const std::string& file) {
  std::vector<std::string_view> missing;
  for (const std::string_view comment : program.declarations) {
    if (const auto index = parse_index_declaration(comment)) {
      if (is_missing(database, *index)) missing.push_back(comment);
      continue;
    }
    const Type_Declaration wanted = parse_declaration(comment).value();
    const Table* const table = database.find_table(wanted.table);
    const Field_Id id = table == nullptr ? Field_Id() : table->find_field(wanted.field);
    if (!id.is_null() && lacks_declaration(database, program, file, *table, *table->find_field(id),
                                           wanted.type.logical))
      missing.push_back(comment);
  }
  return missing;
}

void require_single_rows(const Database& database, const Program_Schema& program,
                         const std::string& file) {
  for (const Table_Id id : program.single_rows) {
    const Table& table = database.table(id);
    if (table.records().used_count() != 1 || !table.is_used(Record_Id(0)))
      throw Exception(file + ": Single-row constraint failure for table " + table.name() +
                      ": it has " + std::to_string(table.records().used_count()) +
                      " records, but must have only record 0");
  }
}

// Adds the tables and fields that a file lacks. `store` is a Database or a Writable_Database with
// this content. write(entry) must apply the entry, and log it if there is a journal.
template <class Store, class Write>
class Upgrade {
 public:
  Upgrade(Store& store, const Database& database, const Program_Schema& program,
          const std::string& file, Write write)
      : store_(store), database_(database), program_(program), file_(file), write_(write) {}

  void run() {
    decode_entries(program_.entries.substr(database_.schema_entries().size()), *this);
    for (const Table_Id table : program_.single_rows)
      if (new_tables_.contains(table)) write_(Insert{table, Record_Id(0)});
    decode_entries(program_.initial_values, Initial_Values{*this});
  }

  // Declares logical types of fields and indexes. Throws Data_Error if values of the file would
  // mean something else, and Unique_Violation.
  void declare(const std::vector<std::string_view>& declarations) {
    for (const std::string_view comment : declarations) {
      if (parse_index_declaration(comment)) {
        write_index_declaration(store_, comment);
        continue;
      }
      const Type_Declaration declared = parse_declaration(comment).value();
      const Table& table = *database_.find_table(declared.table);
      const Field_Id id = table.find_field(declared.field);
      const Field& field = *table.find_field(id);
      if (!new_fields_.contains({table.id(), id}))
        require_same_meaning(table, field, field.column->logical(), declared.type.logical);
      write_(Comment{comment});
    }
    for (const Index_Definition& index : kept_indexes_)
      if (!drops_index(index.name) && database_.declaration_problem(index).empty())
        declare_index(store_, index);
  }

  // The names of the new custom entries.
  const std::vector<std::string>& customs() const { return customs_; }

  template <class Entry>
  void operator()(const Entry& entry) {
    if constexpr (std::is_same_v<Entry, Drop_Field>) keep_values(entry);
    if constexpr (Encodable<Entry>) write_(entry);
    if constexpr (std::is_same_v<Entry, Create_Table>)
      new_tables_.insert(database_.tables().back()->id());
    if constexpr (std::is_same_v<Entry, Add_Field>)
      new_fields_.insert({entry.table, Field_Id(static_cast<std::uint16_t>(
                                           database_.table(entry.table).fields().size()))});
    if constexpr (std::is_same_v<Entry, Custom>) customs_.emplace_back(entry.name);
  }

 private:
  // If the field that is about to be dropped was retyped, gives its values to the new field. A
  // field that this upgrade has added has no values yet.
  void keep_values(const Drop_Field& entry) {
    const auto found = std::find_if(
        program_.retyped.begin(), program_.retyped.end(),
        [&](const auto& r) { return r.table == entry.table && r.from == entry.field; });
    // The new field must be one of this upgrade: a user may have a field of its name.
    if (found == program_.retyped.end() || !new_fields_.contains({entry.table, found->to})) return;
    const Table& table = database_.table(entry.table);
    const Logical_Type after = logical_type(found->after);
    const Field &from = *table.find_field(entry.field), &to = *table.find_field(found->to);
    const Type type = to.column->type();
    if (!after.is_plain())
      write_(Comment{type_declaration(table.name(), to.name, type.code, after)});
    keep_indexes(table, entry.field, found->to);
    if (new_fields_.contains({entry.table, entry.field})) return;
    new_fields_.erase({entry.table, found->to});
    Logical_Type before = logical_type(found->before);
    if (!before.is_plain() && lacks_declaration(database_, program_, file_, table, from, before))
      require_same_meaning(table, from, from.column->logical(), before);
    else
      before = from.column->logical();
    require_convertible(database_, table, from, before, type, after);
    convert_values(store_, table, entry.field, before, found->to);
  }
  // The declared indexes of the field end with it, and must be declared again.
  void keep_indexes(const Table& table, Field_Id from, Field_Id to) {
    for (const auto& index : table.indexes()) {
      if (!database_.is_declared(*index) || !index->has_field(from)) continue;
      Index_Definition kept = index->definition();
      std::replace(kept.fields.begin(), kept.fields.end(), from, to);
      kept_indexes_.push_back(std::move(kept));
    }
  }
  bool drops_index(const std::string& name) const {
    return std::any_of(program_.declarations.begin(), program_.declarations.end(),
                       [&](std::string_view comment) {
                         const auto index = parse_index_declaration(comment);
                         return index && index->is_drop && index->name == name;
                       });
  }
  static Logical_Type logical_type(std::string_view text) {
    return text.empty() ? Logical_Type() : parse_type_words(text).value().logical;
  }

  // For each update of a new field, sets the value in all records.
  struct Initial_Values : Ignore_Entries {
    explicit Initial_Values(Upgrade& u) : upgrade(u) {}
    using Ignore_Entries::operator();
    template <Field_Value T>
    void operator()(const Update<T>& entry) {
      if (!upgrade.new_fields_.contains({entry.table, entry.field})) return;
      const Record_Ids& records = upgrade.database_.table(entry.table).records();
      for (index_t id = records.first(); id != Record_Ids::no_id; id = records.next(id))
        upgrade.write_(Update<T>{entry.table, Record_Id(id), entry.field, entry.value});
    }
    Upgrade& upgrade;
  };

  Store& store_;
  const Database& database_;
  const Program_Schema& program_;
  const std::string& file_;
  Write write_;
  std::set<Table_Id> new_tables_;
  std::set<std::pair<Table_Id, Field_Id>> new_fields_;
  std::vector<std::string> customs_;
  std::vector<Index_Definition> kept_indexes_;  // of the file, of retyped fields
};

}  // namespace

void require_same_schema(const Database& database, const Program_Schema& program,
                         const std::string& file) {
  if (require_compatible(database, program, file) == Schema_Relation::file_is_older)
    throw Out_Of_Date(file + ": its schema is older than the one of this program (" +
                      std::string(program.name) + "): " +
                      schema_difference(database.schema_entries(), "in the file", program.entries,
                                        "in the program") +
                      ". It was opened read-only: open it once for writing, which upgrades it "
                      "(File_Database or File_Client)");
  missing_declarations(database, program, file);  // throws if another one is declared
  require_single_rows(database, program, file);
}

void require_unchanged_schema(const Database& database, const Program_Schema& program,
                              const std::string& file, std::uint64_t& seen) {
  if (database.schema_entries() != program.entries)
    throw_mismatch(file + ": another program has changed its schema while this one (" +
                       std::string(program.name) + ") had it open: " +
                       schema_difference(database.schema_entries(), "in the file", program.entries,
                                         "in the program") +
                       ". Nothing is damaged: start the new version of this program",
                   database, program);
  if (seen != database.schema_version())
    missing_declarations(database, program, file);  // throws if another one is declared
  seen = database.schema_version();
  require_single_rows(database, program, file);
}

void read_file(Database& database, Abstract_File& file, std::optional<Moment> moment,
               const Program_Schema& program) {
  if (moment) {
    load(database, file, *moment);
    if (require_compatible(database, program, file.get_name()) == Schema_Relation::file_is_older)
      Upgrade(database, database, program, file.get_name(), [&](const auto& entry) {
        database(entry);
      }).run();
    // The moment may be between the creation of a table and its single row.
    for (const Table_Id id : program.single_rows)
      if (database.table(id).records().used_count() == 0) database(Insert{id, Record_Id(0)});
  } else {
    Readonly_Journal journal(file);
    load(database, journal);
  }
  require_same_schema(database, program, file.get_name());
}

void throw_above_limit(const char* entry, index_t value, index_t limit) {
  throw Data_Error(std::string(entry) + ": too big: " + std::to_string(value) +
                   ", set_max_record_id allows less than " + std::to_string(limit));
}

void throw_out_of_range(const std::string& value) {
  throw Data_Error(value + " is not a value of this field");
}

void require_no_declaration(std::string_view text) {
  if (is_declaration(text))
    throw Data_Error("a comment cannot be a declaration: " + std::string(text));
}

void throw_means_missing() {
  throw Data_Error("this value of an optional field means that there is none: set std::nullopt");
}

void write_missing_values(Writable_Database& database, const Table& table, Record_Id first,
                          index_t size, std::initializer_list<Field_Id> fields) {
  try {
    for (const Field_Id field : fields) write_missing(database, table, field, first, size);
  } catch (const Data_Error&) {
    database.write_alone(Delete_Vector{table.id(), first, size});
    throw;
  }
}

void throw_above_int64(std::uint64_t value) {
  throw Data_Error(std::to_string(value) + " does not fit into a field of type int64");
}

void upgrade_schema(Writable_Database& database, const Program_Schema& program,
                    const std::function<void()>& bind,
                    const std::function<void(std::string_view)>& run_custom) {
  const Database& content = std::as_const(database).get_database();
  const std::string file = std::as_const(database).get_journal().get_file().get_name();
  if (require_compatible(content, program, file) == Schema_Relation::equal &&
      missing_declarations(content, program, file).empty()) {
    require_single_rows(content, program, file);
    bind();
    return database.recover();
  }
  try {
    const Writable_Database::No_Checkpoints guard(database);
    database.write(Comment{"Automatic schema upgrade"});
    Upgrade upgrade(database, content, program, file,
                    [&](const auto& entry) { database.write(entry); });
    upgrade.run();
    upgrade.declare(missing_declarations(content, program, file));
    bind();
    for (const std::string& name : upgrade.customs()) run_custom(name);
    require_single_rows(database.get_database(), program, file);
    database.write(Valid_Data{});
    if (program.has_timestamps) database.write(Timestamp{std::time(nullptr)});
  } catch (...) {
    database.rollback();
    throw;
  }
  database.soft_checkpoint();
}

}  // namespace joedb::inline v1
