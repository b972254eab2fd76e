#include <algorithm>
#include <deque>
#include <memory>

#include "interpreter/commands.h"
#include "joedb/format/compact.h"

namespace joedb::inline v1 {

// ---- values -------------------------------------------------------------------------------------

template <>
Record_Id read_field_value<Record_Id>(Line_Reader& in) {
  const std::int64_t id = in.read_value<std::int64_t>();
  if (id >= static_cast<std::int64_t>(max_compact))
    throw Data_Error("a reference is too big: " + std::to_string(id));
  return id < 0 ? Record_Id() : Record_Id(id);
}

template <>
Blob read_field_value<Blob>(Line_Reader& in) {
  const Blob blob = in.read_value<Blob>();
  constexpr auto limit = static_cast<std::int64_t>(max_compact);
  const auto is_storable = [](std::int64_t n) { return n >= 0 && n <= limit; };
  if (!is_storable(blob.get_position()) || !is_storable(blob.get_size()))
    throw Data_Error("the position and the size of a blob can be neither negative nor that big");
  return blob;
}

namespace {

// ---- commands -----------------------------------------------------------------------------------

// Remembers which table the command before was about: there are often many about the same.
class Data_Commands {
 public:
  Data_Commands(Writable_Database& database, index_t max_record_id)
      : database_(database), max_record_id_(max_record_id) {}

  void insert_into(Line_Reader& in) {
    const Table& table = read_table(in);
    index_t id = in.read_integer_or(-1);
    if (id < 0) id = table.records().size();
    if (max_record_id_ > 0 && id > max_record_id_) throw Data_Error("insert_into: too big");
    const bool has_values = in.has_more();
    const Record_Id record(id);
    if (has_values && !table.indexes().empty()) require_unique(in, table, record);
    database_.write(Insert{table.id(), record});
    if (!has_values) return;
    std::uint16_t field_id = 0;
    for (const Field& field : table.fields()) {
      ++field_id;
      if (!field.column) continue;
      visit_type(field.column->type().code, [&]<class T>(std::type_identity<T>) {
        write_value<T>(in, {table.id(), record, Field_Id(field_id), {}});
      });
      require_read(in);
    }
  }

  // Reads ahead, so that a row that a unique index refuses leaves no trace.
  void require_unique(Line_Reader in, const Table& table, Record_Id record) {
    std::deque<std::string> texts;
    std::vector<New_Value> values;
    std::uint16_t field_id = 0;
    for (const Field& field : table.fields()) {
      ++field_id;
      if (!field.column) continue;
      visit_type(field.column->type().code, [&]<class T>(std::type_identity<T>) {
        T value = read_field_value<T>(in);
        if constexpr (std::is_same_v<T, std::string_view>) value = texts.emplace_back(value);
        values.push_back({Field_Id(field_id), key_part(value)});
      });
      // What cannot be read is still written, as the default or the nearest value.
      if (in.has_failed()) break;
    }
    database_.require_unique({table.id(), record}, values);
  }

  void delete_from(Line_Reader& in) {
    const Table& table = read_table(in);
    const Record_Id record = read_record(in);
    require_read(in);
    if (!table.is_used(record))
      throw Data_Error("delete_from: table " + table.name() + " has no record " +
                       std::to_string(record.value()));
    database_.write(Delete{table.id(), record});
  }

  void insert_vector(Line_Reader& in) {
    const Table& table = read_table(in);
    const Record_Id record = read_record(in);
    const std::int64_t size = in.read_integer_or(0);
    require_read(in);
    if (max_record_id_ > 0 && (record.value() >= max_record_id_ || size >= max_record_id_))
      throw Data_Error("insert_vector: null record_id, or too big");
    database_.write(Insert_Vector{table.id(), record, size});
  }

  void delete_vector(Line_Reader& in) {
    const Table& table = read_table(in);
    const Record_Id record = read_record(in);
    const std::int64_t size = in.read_integer_or(0);
    require_read(in);
    database_.write(Delete_Vector{table.id(), record, size});
  }

  void update(Line_Reader& in) {
    const Table& table = read_table(in);
    const Record_Id record = read_record(in);
    const Field_Id field = read_field(in, table);
    visit_type(type_of(table, field), [&]<class T>(std::type_identity<T>) {
      write_value<T>(in, {table.id(), record, field, {}});
    });
  }

  void update_vector(Line_Reader& in) {
    const Table& table = read_table(in);
    const Record_Id record = read_record(in);
    const Field_Id field = read_field(in, table);
    const std::int64_t size = in.read_integer_or(0);
    if (max_record_id_ > 0 && size >= max_record_id_) throw Data_Error("vector is too big");
    const index_t table_size = table.records().size();
    const index_t id = record.value();
    if (size <= 0 || id < 0 || id > table_size || size > table_size - id)
      throw Data_Error("update: invalid record_id");
    visit_type(type_of(table, field), [&]<class T>(std::type_identity<T>) {
      write_values<T>(in, table.id(), record, field, static_cast<std::size_t>(size));
    });
  }

 private:
  const Table& read_table(Line_Reader& in) {
    const std::string_view name = in.read_word();
    const Table* table = database_.get_database().find_table(last_table_);
    if (table == nullptr || table->name() != name) {
      table = database_.get_database().find_table(name);
      if (table == nullptr) throw Data_Error("No such table: " + std::string(name));
      last_table_ = table->id();
    }
    return *table;
  }

  static Record_Id read_record(Line_Reader& in) {
    const std::int64_t id = in.read_integer_or(-1);
    return id < 0 ? Record_Id() : Record_Id(id);
  }

  static void require_read(const Line_Reader& in) {
    if (in.has_failed()) throw Data_Error("failed parsing value");
  }

  static Field_Id read_field(Line_Reader& in, const Table& table) {
    const Field_Id field = table.find_field(in.read_word());
    if (field.is_null()) throw Data_Error("bad field");
    return field;
  }

  static Type_Code type_of(const Table& table, Field_Id field) {
    return table.find_field(field)->column->type().code;
  }

  template <Field_Value T>
  void write_value(Line_Reader& in, Update<T> update) {
    update.value = read_field_value<T>(in);
    database_.write(update);
  }

  template <Field_Value T>
  void write_values(Line_Reader& in, Table_Id table, Record_Id record, Field_Id field,
                    std::size_t size) {
    const auto values = std::make_unique<T[]>(size);
    std::deque<std::string> texts;  // the reader keeps only the last one
    std::size_t i = 0;
    for (; i < size && !in.has_failed(); ++i) {
      values[i] = read_field_value<T>(in);
      if constexpr (std::is_same_v<T, std::string_view>) values[i] = texts.emplace_back(values[i]);
    }
    if (i < size) std::fill(values.get() + i, values.get() + size, read_field_value<T>(in));
    database_.write_vector(table, record, field, std::span<const T>(values.get(), size));
  }

  Writable_Database& database_;
  const index_t max_record_id_;
  Table_Id last_table_;
};

}  // namespace

void add_data_commands(Command_Loop& loop, Writable_Database& database,
                       const Command_Options& options) {
  const auto commands = std::make_shared<Data_Commands>(database, options.max_record_id);
  const auto run = [commands](void (Data_Commands::*command)(Line_Reader&)) {
    return [commands, command](Line_Reader& in, std::ostream&) { (*commands.*command)(in); };
  };
  loop.add_group(
      {"Data manipulation",
       {{"insert_into", "insert_into <table_name> <record_id>", run(&Data_Commands::insert_into)},
        {"delete_from", "delete_from <table_name> <record_id>", run(&Data_Commands::delete_from)},
        {"insert_vector", "insert_vector <table_name> <record_id> <size>",
         run(&Data_Commands::insert_vector)},
        {"delete_vector", "delete_vector <table_name> <record_id> <size>",
         run(&Data_Commands::delete_vector)},
        {"update", "update <table_name> <record_id> <field_name> <value>",
         run(&Data_Commands::update)},
        {"update_vector", "update_vector <table_name> <record_id> <field_name> <N> <v_1> ... <v_N>",
         run(&Data_Commands::update_vector)}}});
}

}  // namespace joedb::inline v1
