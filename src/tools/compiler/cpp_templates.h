#ifndef JOEDB_SRC_TOOLS_COMPILER_CPP_TEMPLATES_H
#define JOEDB_SRC_TOOLS_COMPILER_CPP_TEMPLATES_H

#include <string_view>

// Templates of the generated files. fill() replaces {{names}} in them.

namespace joedb::compiler::templates {

inline constexpr std::string_view id_class =
    R"(/// A record of {{table}}, by its number; null by default.
class id_of_{{table}} : public joedb::Typed_Id<id_of_{{table}}> {
 public:
  using Typed_Id::Typed_Id;
};
/// What get_{{table}}_table() returns: the records, for loops.
using container_of_{{table}} = joedb::Container<id_of_{{table}}>;

)";

inline constexpr std::string_view shared_id =
    R"(/// A record of {{table}} of the main schema.
using id_of_{{table}} = ::{{main}}::id_of_{{table}};
)";

inline constexpr std::string_view shared_container =
    R"(/// What get_{{table}}_table() returns: the records, for loops.
using container_of_{{table}} = joedb::Container<id_of_{{table}}>;

)";

inline constexpr std::string_view enumeration =
    R"({{comment}}/// A value of {{table}}.{{field}}.
enum class {{enum}} : {{stored}} {
  {{values}}
};
/// The names of the values, in their order.
inline constexpr std::array<std::string_view, {{size}}> names_of_{{enum}}{
    {{names}}};
/// The name of a value; empty if it has none.
inline std::string_view to_string({{enum}} value) {
  const auto place = static_cast<std::size_t>(value);
  return place < names_of_{{enum}}.size() ? names_of_{{enum}}[place] : std::string_view();
}
/// The value with this name.
inline std::optional<{{enum}}> parse_{{enum}}(std::string_view name) {
  const auto found = std::find(names_of_{{enum}}.begin(), names_of_{{enum}}.end(), name);
  if (found == names_of_{{enum}}.end()) return std::nullopt;
  return static_cast<{{enum}}>(found - names_of_{{enum}}.begin());
}

)";

// The enumeration of the main schema, in a message schema.
inline constexpr std::string_view shared_enumeration =
    R"(using ::{{main}}::{{enum}};
using ::{{main}}::names_of_{{enum}};
using ::{{main}}::parse_{{enum}};

)";

inline constexpr std::string_view values_struct =
    R"({{comment}}/// A value for each field of {{table}}. Owns its strings.
struct values_of_{{table}} {
{{members}}};

)";

inline constexpr std::string_view row_struct =
    R"(/// Used by joedb: the table {{table}}, for templates.
struct row_of_{{table}} {
  using Id = id_of_{{table}};
  using Values = values_of_{{table}};
  static constexpr joedb::Table_Id table{{{number}}};
  static void assign([[maybe_unused]] Values& row, joedb::Field_Id field,
                     [[maybe_unused]] const joedb::Values& values,
                     [[maybe_unused]] joedb::index_t i) {
    switch (field.value()) {
{{cases}}      default:
        break;
    }
  }
};

)";

inline constexpr std::string_view row_case =
    R"(      case {{number}}:
        row.{{name}} = {{value}};
        break;
)";

inline constexpr std::string_view index_types =
    R"({{comment}}/// What get_index_of_{{index}}() returns: pairs of key and id, by key.
using index_of_{{index}} = joedb::Typed_Index<id_of_{{table}}{{fields}}>;
/// What find_{{index}}() returns: ids, for loops.
using range_of_{{index}} = index_of_{{index}}::Range;

)";

inline constexpr std::string_view index_definition =
    R"(,
             {"{{index}}", joedb::Table_Id({{table}}), {{{fields}}}, {{is_unique}}, "{{name}}"})";

inline constexpr std::string_view table_readers =
    R"(
  // {{table}}{{fields}}

{{comment}}  /// All records of {{table}}, in insertion order.
  container_of_{{table}} get_{{table}}_table() const {
    return {{table}}_table_.records_in_order();
  }
  /// No record of {{table}}: null.
  static id_of_{{table}} null_{{table}}() { return id_of_{{table}}(); }
  /// True if the record is in use; false for null.
  bool is_valid(id_of_{{table}} id) const { return {{table}}_table_.is_used(id); }
  /// The next record in insertion order; get_end() after the last one.
  id_of_{{table}} next(id_of_{{table}} id) const { return {{table}}_table_.next(id); }
  /// The previous record in insertion order; get_end() before the first one.
  id_of_{{table}} previous(id_of_{{table}} id) const { return {{table}}_table_.previous(id); }
)";

inline constexpr std::string_view many_rows_readers =
    R"(  /// All records, sorted by is_before(a, b), which takes two ids. The sort is stable.
  template <class Compare>
  std::vector<id_of_{{table}}> sorted_{{table}}(Compare is_before) const {
    return sorted({{table}}_table_, is_before);
  }
)";

// The history of a table (joedb/history/typed_history.h).
inline constexpr std::string_view table_history =
    R"(  /// All versions of the record, the oldest one first.
  joedb::Typed_Versions<row_of_{{table}}> history(id_of_{{table}} id) const {
    return Typed_History::versions<row_of_{{table}}>(id.get_record_id());
  }
  /// The changes of {{table}} in a transaction of changes().
  static joedb::Typed_Changes<row_of_{{table}}> changes_of_{{table}}(
      const joedb::Transaction& transaction) {
    return joedb::Typed_Changes<row_of_{{table}}>(transaction);
  }
  /// Calls f(id, old values, new values) for each updated record, after each commit.
  template <class Function>
  joedb::Subscription on_{{table}}_updated(Function f) const {
    return Typed_History::on_updated<row_of_{{table}}>(std::move(f));
  }
)";

inline constexpr std::string_view many_rows_history =
    R"(  /// Calls f(id, values) for each new record, after each commit.
  template <class Function>
  joedb::Subscription on_{{table}}_inserted(Function f) const {
    return Typed_History::on_inserted<row_of_{{table}}>(std::move(f));
  }
  /// Calls f(id, old values) for each deleted record, after each commit.
  template <class Function>
  joedb::Subscription on_{{table}}_deleted(Function f) const {
    return Typed_History::on_deleted<row_of_{{table}}>(std::move(f));
  }
  /// The records for which predicate(values) is true, kept up to date after each commit.
  template <class Predicate>
  joedb::Live_Query<id_of_{{table}}> live_{{table}}(Predicate predicate) const {
    return Typed_History::live<row_of_{{table}}>(std::move(predicate));
  }
  /// The same as a joedb::Live_List, in the order of key(values).
  template <std::predicate<const values_of_{{table}}&> Predicate, class Key>
  auto live_list_of_{{table}}(Predicate predicate, Key key) const {
    return Typed_History::live_list<row_of_{{table}}>(std::move(predicate), std::move(key));
  }
)";

inline constexpr std::string_view single_row_readers =
    R"(  /// The only record of {{table}}.
  static id_of_{{table}} the_{{table}}() { return id_of_{{table}}(0); }
)";

inline constexpr std::string_view getter =
    R"({{comment}}  /// {{table}}.{{field}}: {{schema_type}}
  {{type}} get_{{field}}(id_of_{{table}} id) const {
    {{table}}_table_.require_used(id.get_record_id());
    return {{table}}_table_.{{field}}_.get(id.get_id());
  }
)";

inline constexpr std::string_view single_row_getter =
    R"({{comment}}  /// {{table}}.{{field}} of the only record: {{schema_type}}
  {{type}} get_{{field}}() const { return get_{{field}}(the_{{table}}()); }
)";

inline constexpr std::string_view index_readers =
    R"(
  // {{index}}: {{is_unique}}index of {{table}} by {{fields}}

{{comment}}  /// {{found}}
  {{result}} find_{{index}}({{parameters}}) const {
    return {{index}}_index_.{{find}}({{{names}}});
  }
{{prefixes}}  /// All records with a key, by {{fields}}.
  const index_of_{{index}}& get_index_of_{{index}}() const { return {{index}}_index_; }
  /// The next record by {{fields}}; null after the last one.
  id_of_{{table}} next_{{index}}(id_of_{{table}} id) const { return {{index}}_index_.next(id); }
  /// The previous record by {{fields}}; null before the first one.
  id_of_{{table}} previous_{{index}}(id_of_{{table}} id) const {
    return {{index}}_index_.previous(id);
  }
  /// The records from one key to another one, both included, kept up to date after each commit.
  joedb::Live_Query<id_of_{{table}}> live_{{index}}(
      const index_of_{{index}}::Prefix& from, const index_of_{{index}}::Prefix& to) const {
    return Typed_History::live_range<row_of_{{table}}>({{index}}_index_, from, to, key_of_{{index}});
  }
  /// The same as a joedb::Live_List, in the order of the index.
  auto live_list_of_{{index}}(const index_of_{{index}}::Prefix& from,
                              const index_of_{{index}}::Prefix& to) const {
    return Typed_History::live_list_of_range<row_of_{{table}}, index_of_{{index}}>(
        from, to, key_of_{{index}});
  }
  /// Used by joedb: the key of a record with these values.
  static index_of_{{index}}::Wanted key_of_{{index}}(const values_of_{{table}}& row) {
    return index_of_{{index}}::Wanted({{keys}});
  }
)";

// find_INDEX with values for the first fields only.
inline constexpr std::string_view prefix_finder =
    R"({{comment}}  /// The records whose keys begin with these values, in the order of the index.
  index_of_{{index}}::Between find_{{index}}({{parameters}}) const {
    return {{index}}_index_.between({{{names}}}, {{{names}}});
  }
)";

inline constexpr std::string_view back_reference =
    R"(
  /// The records of {{table}} whose {{field}} is this {{referenced}}, {{order}}.
  {{result}} get_{{name}}(id_of_{{referenced}} id) const {
    return {{found}};
  }
)";

inline constexpr std::string_view table_struct =
    R"(  struct {{table}}_table : joedb::Typed_Table<id_of_{{table}}, {{number}}> {
{{members}}    void bind(joedb::Database& database) { Typed_Table::bind(database{{names}}); }
  };
)";

inline constexpr std::string_view table_member =
    R"(    joedb::Typed_Field<{{type}}, {{number}}> {{field}}_;
)";

inline constexpr std::string_view new_row =
    R"(  /// A new record of {{table}} with default values: 0, "", false, null. Initial values of the schema
  /// do not count here.
  id_of_{{table}} new_{{table}}() { return Typed_Writer::add_row({{table}}_table_); }
)";

// The same for a table with optional fields.
inline constexpr std::string_view new_row_with_missing =
    R"(  /// A new record of {{table}} with default values: 0, "", false, null, missing.
  id_of_{{table}} new_{{table}}() {
    return Typed_Writer::add_row({{table}}_table_{{missing}});
  }
)";

inline constexpr std::string_view new_with_values =
    R"(  /// A new record of {{table}} with a value for each field.
  id_of_{{table}} new_{{table}}({{parameters}}) {
    return Typed_Writer::add_row({{table}}_table_{{assignments}});
  }
)";

// A function new_TABLE that takes the values by name. Its parameter is a struct of arguments, which
// exists only during the call, so it can refer to strings; other code cannot name this struct.
// values_of_TABLE can be stored. Its overload has lower priority, because it is a template, whose
// parameters braces do not match. If there is one field, the function for arguments is a template,
// too, so that the function with a parameter for the field has priority: new_item({"text"}) is not
// ambiguous.
inline constexpr std::string_view new_with_struct =
    R"( private:
  struct arguments_of_{{table}} {
{{members}}  };

 public:
  /// new_{{table}}({.field = value}): a new record; a field without a value gets its initial value.
  {{template}}id_of_{{table}} new_{{table}}(const arguments_of_{{table}}& values) {
    return new_{{table}}({{arguments}});
  }
  /// A new record of {{table}} with these values.
  template <std::derived_from<values_of_{{table}}> Values>
  id_of_{{table}} new_{{table}}(const Values& values) {
    return new_{{table}}({{arguments}});
  }
)";

inline constexpr std::string_view assignment = R"(,
                   Typed_Writer::assign({{table}}_table_.{{field}}_, {{parameter}}))";

inline constexpr std::string_view many_rows_writers =
    R"(  /// A new record with a chosen id, which must be free.
  void insert_{{table}}(id_of_{{table}} id) {
    Typed_Writer::add_row_at({{table}}_table_, id.get_record_id(){{missing}});
  }
  /// `size` new records with consecutive ids and default values; returns the first.
  id_of_{{table}} new_vector_of_{{table}}(std::size_t size) {
    return Typed_Writer::add_vector({{table}}_table_, size{{optional_fields}});
  }
  /// Deletes the record. A new record may take its id, unless references still refer to it.
{{deletion}}  void delete_{{table}}(id_of_{{table}} id) { Typed_Writer::erase({{table}}_table_, id); }
  /// Deletes `size` records with consecutive ids.
  void delete_vector_of_{{table}}(id_of_{{table}} id, std::size_t size) {
    Typed_Writer::erase_vector({{table}}_table_, id, size);
  }
  /// Deletes all records of {{table}}.
  void clear_{{table}}_table() { Typed_Writer::erase_all({{table}}_table_); }
)";

inline constexpr std::string_view setter =
    R"({{comment}}  /// Sets {{table}}.{{field}}: {{schema_type}}
  void set_{{field}}(id_of_{{table}} id, {{type}} value) {
    Typed_Writer::update({{table}}_table_, {{table}}_table_.{{field}}_, id.get_record_id(), value);
  }
)";

inline constexpr std::string_view single_row_setter =
    R"({{comment}}  /// Sets {{table}}.{{field}} of the only record: {{schema_type}}
  void set_{{field}}({{type}} value) { set_{{field}}(the_{{table}}(), value); }
)";

inline constexpr std::string_view vector_setter =
    R"(  /// function(joedb::Span) changes {{table}}.{{field}} of `size` records in place.
  template <class Function>
  void update_vector_of_{{field}}(id_of_{{table}} id, std::size_t size, Function function) {
    Typed_Writer::update_vector({{table}}_table_, {{table}}_table_.{{field}}_,
                                id.get_record_id(), size, function);
  }
)";

inline constexpr std::string_view macros_comment =
    R"(
// A macro with one of these names, such as EOF, is no macro in this file.
)";

inline constexpr std::string_view saved_macro =
    R"(#pragma push_macro("{{name}}")
#undef {{name}}
)";

inline constexpr std::string_view restored_macro =
    R"(#pragma pop_macro("{{name}}")
)";

inline constexpr std::string_view header =
    R"(// Generated by joedbc {{version}} from {{source}}. Do not edit: change the schema instead.
#ifndef {{guard}}
#define {{guard}}

{{includes}}#include "joedb/compiled.h"
{{content}}
#endif
)";

inline constexpr std::string_view header_content =
    R"(
namespace {{namespace}} {

static_assert(joedb::generated_code_version == {{code_version}},
              "this code was generated for another version of joedb: run joedbc again");

{{id_declarations}}
{{id_classes}}{{index_types}}class Readonly_Database;

/// The functions that read. They throw joedb::Exception for a record that is not in use.
/// joedb/history/typed_history.h has the rules of observers, live queries and histories.
class Database : public joedb::Typed_History {
 public:
  Database() = default;
  /// Cannot be copied: pass a reference.
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

{{database_using}}  /// Used by joedb: what joedbc knows of the schema.
  [[gnu::noinline]] static joedb::Program_Schema program_schema() {
    static constexpr std::string_view entries{
        {{schema}},
        {{schema_size}}};
    static constexpr std::string_view initial_values{
        {{initial_values}},
        {{initial_values_size}}};
    return {"{{name}}", entries, initial_values, {{{single_rows}}}, {{{index_definitions}}}, {{times}}, {{no_marks}}};
  }

  /// A past state: at(joedb::at(position)), at(joedb::at_time(seconds)).
  Readonly_Database at(joedb::Moment moment) const;
{{readers}}{{index_readers}}
 protected:
{{structs}}
{{members}}
  void bind(joedb::Database& database) {
    Typed_Database::bind(database);
{{binds}}  }
};

/// A database in a file that is read once.
class Readonly_Database : public joedb::Typed_Reader<Database> {
 public:
  using Typed_Reader::Typed_Reader;
  /// Cannot be copied: pass a reference.
  Readonly_Database(const Readonly_Database&) = delete;
  Readonly_Database& operator=(const Readonly_Database&) = delete;
};

inline Readonly_Database Database::at(joedb::Moment moment) const {
  return Readonly_Database(Typed_Database::file(), moment);
}

/// The functions that write. Those for checkpoints, blobs and comments: joedb/table/typed_writer.h.
class Writable_Database : public joedb::Typed_Writer<Database> {
 public:
  /// Opens the file, and upgrades its schema. The file must outlive this object.
  explicit Writable_Database(joedb::Abstract_File& file,
                             const joedb::Journal_Options& options = {})
      : Typed_Writer(file, options) {
    Typed_Writer::lock_and_upgrade([this](std::string_view name) { run_custom(name); });
  }
  /// Cannot be copied: pass a reference.
  Writable_Database(const Writable_Database&) = delete;
  Writable_Database& operator=(const Writable_Database&) = delete;
{{writable_using}}{{customs}}
  /// Undoes a transaction: the last one, or the one at a position (joedb/history/undo.h).
  [[nodiscard]] joedb::Plan undo_transaction(
      joedb::Offset position = 0, joedb::Conflicts conflicts = joedb::Conflicts::refuse) {
    return Typed_Writer::change_untyped([&](joedb::Writable_Database& store) {
      return joedb::undo_transaction(store, {position, conflicts, false});
    });
  }
  /// An undo stack, of all transactions or of those of one author (joedb/history/undo.h). The new
  /// transaction is complete, and has no checkpoint yet.
  [[nodiscard]] joedb::Plan undo(const std::string& author = {},
                                 joedb::Conflicts conflicts = joedb::Conflicts::refuse) {
    return Typed_Writer::change_untyped([&](joedb::Writable_Database& store) {
      return joedb::undo(store, {author, conflicts, false});
    });
  }
  /// Undoes the last undo().
  [[nodiscard]] joedb::Plan redo(const std::string& author = {},
                                 joedb::Conflicts conflicts = joedb::Conflicts::refuse) {
    return Typed_Writer::change_untyped([&](joedb::Writable_Database& store) {
      return joedb::redo(store, {author, conflicts, false});
    });
  }
  /// True if there is something to undo.
  bool can_undo(const std::string& author = {}) {
    return Typed_Writer::change_untyped([&](joedb::Writable_Database& store) {
      return joedb::can_undo(store, {author, {}, false});
    });
  }
  /// True if there is something to redo.
  bool can_redo(const std::string& author = {}) {
    return Typed_Writer::change_untyped([&](joedb::Writable_Database& store) {
      return joedb::can_redo(store, {author, {}, false});
    });
  }
{{writers}}
 protected:
  Writable_Database(joedb::Upgraded_Later, joedb::Abstract_File& file,
                    const joedb::Journal_Options& options)
      : Typed_Writer(file, options) {}
  void bring_up_to_date() {
    Typed_Writer::upgrade([this](std::string_view name) { run_custom(name); });
  }

 private:
  void run_custom([[maybe_unused]] std::string_view name) {
{{custom_calls}}  }
};

/// A database in a file of the system.
class File_Database : public joedb::Typed_File_Writer<Writable_Database> {
 public:
  using Typed_File_Writer::Typed_File_Writer;
  /// Cannot be copied: pass a reference.
  File_Database(const File_Database&) = delete;
  File_Database& operator=(const File_Database&) = delete;
};

/// A database in memory.
class Memory_Database : public joedb::Typed_Memory_Writer<Writable_Database> {
 public:
  Memory_Database() = default;
  /// Cannot be copied: pass a reference.
  Memory_Database(const Memory_Database&) = delete;
  Memory_Database& operator=(const Memory_Database&) = delete;
{{memory_using}}};

/// Shares a file, or a connection to another copy of it, with others: transaction by transaction.
class Client : public joedb::Typed_Client<Writable_Database> {
 public:
  using Typed_Client::Typed_Client;
  /// Cannot be copied: pass a reference.
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
};

/// A transaction of a client that you end explicitly.
class Client_Lock : public joedb::Typed_Client_Lock<Client> {
 public:
  using Typed_Client_Lock::Typed_Client_Lock;
  /// Cannot be copied: pass a reference.
  Client_Lock(const Client_Lock&) = delete;
  Client_Lock& operator=(const Client_Lock&) = delete;
};

/// A Client for a file of the system.
class File_Client : public joedb::Typed_File_Client<Client> {
 public:
  using Typed_File_Client::Typed_File_Client;
  /// Cannot be copied: pass a reference.
  File_Client(const File_Client&) = delete;
  File_Client& operator=(const File_Client&) = delete;
};

/// Follows a file that others write.
class Readonly_Client : public joedb::Typed_Readonly_Client<Database> {
 public:
  using Typed_Readonly_Client::Typed_Readonly_Client;
  /// Cannot be copied: pass a reference.
  Readonly_Client(const Readonly_Client&) = delete;
  Readonly_Client& operator=(const Readonly_Client&) = delete;
};

/// All ids and containers, for templates.
struct Types {
{{types}}};

}  // namespace {{namespace}}
)";

inline constexpr std::string_view custom_declaration =
    R"(
  /// Written by you; called once for each file, when its schema gets `custom {{custom}}`.
  static void {{custom}}(Writable_Database& db);
)";

inline constexpr std::string_view custom_call =
    R"(    if (name == "{{custom}}") return {{custom}}(*this);
)";

inline constexpr std::string_view forwarder =
    R"(// Generated by joedbc {{version}}.
#include <iostream>  // programs written for joedb 10 have it from here

#include "{{up}}{{name}}.h"
)";

inline constexpr std::string_view print_table_header =
    R"(// Generated by joedbc {{version}}.
#ifndef {{guard}}_PRINT_TABLE
#define {{guard}}_PRINT_TABLE

#include "../{{name}}.h"
#include "joedb/text/table_text.h"

// print_…_table: prints records [start, start + length), or all if length is 0, in columns that are
// at most max_width wide, or as wide as the values need if that is 0.
namespace {{namespace}} {
{{functions}}
}  // namespace {{namespace}}

#endif
)";

inline constexpr std::string_view print_function =
    R"(
/// Prints records of {{table}} in columns.
inline void print_{{table}}_table(std::ostream& out, const Database& db, std::size_t max_width = 0,
                                  joedb::index_t start = 0, joedb::index_t length = 0) {
  joedb::write_table(out, db.Typed_Database::get_untyped().table(joedb::Table_Id({{number}})),
                     {max_width, start, length});
}
)";

inline constexpr std::string_view interpreted_header =
    R"(// Generated by joedbc {{version}}.
#ifndef {{guard}}_INTERPRETED
#define {{guard}}_INTERPRETED

#include "../{{name}}.h"
#include "joedb/commands/interpreted_file.h"

namespace {{namespace}} {

/// A database in a text file of joedbi commands.
class Interpreted_File_Database : private joedb::File_Holder<joedb::Interpreted_File>,
                                  public Writable_Database {
 public:
  explicit Interpreted_File_Database(const std::string& file_name)
      : File_Holder(file_name, joedb::Open_Mode::write_existing_or_create_new),
        Writable_Database(file, joedb::Journal_Options::without_marks()) {}

 private:
  using File_Holder<joedb::Interpreted_File>::file;
};

/// A database in a text file that is read once.
class Readonly_Interpreted_File_Database : public Readonly_Database {
 public:
  explicit Readonly_Interpreted_File_Database(const std::string& file_name)
      : Readonly_Database(
            joedb::Interpreted_File(file_name, joedb::Open_Mode::read_existing)) {}
};

}  // namespace {{namespace}}

#endif
)";

inline constexpr std::string_view introspection_header =
    R"(// Generated by joedbc {{version}}. Define JOEDB_INTROSPECTION({{arguments}}), then include this file,
// as often as you like.
{{fields}}#undef JOEDB_INTROSPECTION
)";

}  // namespace joedb::compiler::templates

#endif
