#include <algorithm>
#include <memory>
#include <variant>
#include <vector>

#include "commands/commands.h"
#include "joedb/format/entry.h"
#include "kernel/base/time.h"
#include "kernel/table/declaration.h"

namespace joedb::inline v1 {

// ---- values -------------------------------------------------------------------------------------

std::int64_t read_timestamp(Line_Reader& in, const std::function<std::int64_t()>& now) {
  const bool is_given = in.has_more();
  const std::int64_t seconds = in.read_integer_or(0, "seconds");
  if (!is_given || in.has_failed()) return now();
  if (in.is_classic()) return seconds;
  const std::string text = dump_time_text(seconds);
  Line_Reader expected(text);
  while (in.has_more() && expected.has_more()) {
    const std::string_view word = expected.read_word("word");
    if (in.read_word(word) != word) throw in.unexpected("end of line or " + text);
  }
  in.require_end();
  return seconds;
}

template <>
Record_Id read_field_value<Record_Id>(Line_Reader& in) {
  const std::int64_t id = in.read_value<Record_Id>().value();
  if (id >= static_cast<std::int64_t>(max_compact))
    throw in.error("a reference is too big: " + std::to_string(id));
  if (id < -1 && !in.is_classic()) throw in.unexpected("record id or -1");
  return id < 0 ? Record_Id() : Record_Id(id);
}

template <>
Blob read_field_value<Blob>(Line_Reader& in) {
  const Blob blob = in.read_value<Blob>();
  constexpr auto limit = static_cast<std::int64_t>(max_compact);
  const auto is_storable = [](std::int64_t n) { return n >= 0 && n <= limit; };
  if (!is_storable(blob.get_position()) || !is_storable(blob.get_size()))
    throw in.error("the position and the size of a blob can be neither negative nor that big");
  return blob;
}

namespace {

// ---- commands -----------------------------------------------------------------------------------

// A value of any type for one field of a row.
struct Row_Value {
  Field_Id field;
  std::variant<std::string_view, std::int8_t, std::int16_t, std::int32_t, std::int64_t, float,
               double, bool, Record_Id, Blob>
      value;
};

// Keeps the table of the previous command, because consecutive commands often use the same table.
class Data_Commands {
 public:
  Data_Commands(Writable_Database& database, const Command_Options& options)
      : database_(database),
        max_record_id_(options.max_record_id),
        has_limit_option_(options.has_limit_option) {}

  void insert_into(Line_Reader& in) {
    const Table& table = read_table(in);
    const bool has_id = in.has_more();
    index_t id = in.read_integer_or(-1, "record id");
    if (id < 0) id = table.records().size();
    if (max_record_id_ > 0 && id > max_record_id_) throw in.error("insert_into: too big");
    const bool has_values = in.has_more();
    read_row(in, table);
    if (id > table.records().size()) note_journal_size();
    insert({table.id(), Record_Id(id)}, table);
    // With an id and without values, the line is an entry of a dump.
    if (!has_id) write_missing(database_, table, Record_Id(id), 1, [](Field_Id) { return false; });
    if (has_values) require_read(in);
  }

  void delete_from(Line_Reader& in) {
    const Table& table = read_table(in);
    const Record_Id record = read_record(in);
    const bool is_alone = read_alone(in);
    require_read(in);
    if (!table.is_used(record))
      throw Data_Error("delete_from: table " + table.name() + " has no record " +
                       std::to_string(record.value()));
    write_deletion(Delete{table.id(), record}, is_alone);
  }

  void insert_vector(Line_Reader& in) {
    const Table& table = read_table(in);
    const Record_Id record = read_record(in);
    const std::int64_t size = in.read_integer("number of records", 0);
    in.require_end();
    require_read(in);
    require_room(table, record.value(), size);
    database_.write(Insert_Vector{table.id(), record, size});
  }

  void delete_vector(Line_Reader& in) {
    const Table& table = read_table(in);
    const Record_Id record = read_record(in);
    const std::int64_t size = in.read_integer("number of records", 0);
    const bool is_alone = read_alone(in);
    require_read(in);
    write_deletion(Delete_Vector{table.id(), record, size}, is_alone);
  }

  void update(Line_Reader& in) {
    const Table& table = read_table(in);
    const Record_Id record = read_record(in);
    const Field_Id field = read_field(in, table);
    const Column_Base& column = *table.find_field(field)->column;
    visit_type(column.type().code, [&]<class T>(std::type_identity<T>) {
      const T value = read_field_value<T>(in, column.logical());
      in.require_end();
      database_.write(Update<T>{table.id(), record, field, value});
    });
  }

  void update_vector(Line_Reader& in) {
    const Table& table = read_table(in);
    const Record_Id record = read_record(in);
    const Field_Id field = read_field(in, table);
    const std::int64_t size = in.read_integer("number of values", 0);
    if (max_record_id_ > 0 && size >= max_record_id_) throw in.error("vector is too big");
    const index_t table_size = table.records().size();
    const index_t id = record.value();
    if (size <= 0 || id < 0 || id > table_size || size > table_size - id)
      throw Data_Error("update: invalid record_id");
    const Column_Base& column = *table.find_field(field)->column;
    visit_type(column.type().code, [&]<class T>(std::type_identity<T>) {
      write_values<T>(in, {table.id(), field}, column.logical(), record,
                      static_cast<std::size_t>(size));
    });
  }

 private:
  const Table& read_table(Line_Reader& in) {
    const std::string_view name = in.read_word("table name");
    const Table* table = database_.get_database().find_table(last_table_);
    if (table == nullptr || table->name() != name) {
      table = database_.get_database().find_table(name);
      if (table == nullptr) throw no_such_table(in, database_.get_database(), name);
      last_table_ = table->id();
    }
    return *table;
  }

  static Record_Id read_record(Line_Reader& in) {
    const std::int64_t id = in.read_integer("record id", -1);
    return id < 0 ? Record_Id() : Record_Id(id);
  }

  // Reads the end of a deletion. Returns true for the word `alone`: nothing follows from it.
  static bool read_alone(Line_Reader& in) {
    const bool is_alone = !in.is_classic() && in.has_more();
    if (is_alone && in.read_word("end of line") != "alone")
      throw in.unexpected("end of line or alone");
    in.require_end();
    return is_alone;
  }

  template <class Entry>
  void write_deletion(const Entry& entry, bool is_alone) {
    if (is_alone)
      database_.write_alone(entry);
    else
      database_.write(entry);
  }

  // With Reading::classic, throws Data_Error if reading the line has failed. Strict reading throws
  // by itself.
  static void require_read(const Line_Reader& in) {
    if (in.has_failed()) throw Data_Error("failed parsing value");
  }

  // Reads one value per field, or none. With Reading::classic, stops at the first failure.
  void read_row(Line_Reader& in, const Table& table) {
    row_.clear();
    std::uint16_t field_id = 0;
    if (in.has_more()) {
      for (const Field& field : table.fields()) {
        ++field_id;
        if (!field.column) continue;
        visit_type(field.column->type().code, [&]<class T>(std::type_identity<T>) {
          row_.push_back({Field_Id(field_id), read_field_value<T>(in, field.column->logical())});
        });
        if (in.has_failed()) break;
      }
    }
    in.require_end();
  }

  // Inserts the record with all values, or not at all: if memory is exhausted, the record is
  // deleted again.
  void insert(const Insert& entry, const Table& table) {
    if (!table.indexes().empty() && !row_.empty()) {
      std::vector<New_Value> keys;
      for (const Row_Value& v : row_)
        keys.push_back({v.field, std::visit([](auto value) { return key_part(value); }, v.value)});
      database_.require_unique(entry, keys);
    }
    database_.write(entry);
    try {
      for (const Row_Value& v : row_)
        std::visit(
            [&]<class T>(T value) {
              database_.write(Update<T>{entry.table, entry.record, v.field, value});
            },
            v.value);
    } catch (...) {
      database_.write_alone(Delete{entry.table, entry.record});
      throw;
    }
  }

  void note_journal_size() {
    database_.get_database().note_journal_size(database_.get_journal().get_position());
  }

  // Limits a vector of records. The limit is the number of records without values that the journal
  // allows, because values may never follow, and a longer vector would be unreadable. If
  // max_record_id is given, it is the limit instead.
  void require_room(const Table& table, index_t id, index_t size) {
    if (max_record_id_ > 0) {
      if (id >= max_record_id_ || size >= max_record_id_)
        throw Data_Error("insert_vector: null record_id, or too big");
      return;
    }
    if (id < 0 || size < 0) return;  // writing the entry will report the error
    note_journal_size();
    const index_t skipped = std::max<index_t>(id - table.records().size(), 0);
    const index_t room = database_.get_database().budget().skip;
    if (skipped > room || size > room - skipped)
      throw Data_Error("insert_vector: too big: a journal of this size can have " +
                       std::to_string(room) + " more records without values; " +
                       (has_limit_option_
                            ? "--max-record-id sets another limit, if values will follow"
                            : "insert fewer at a time, and give them values"));
  }

  template <Field_Value T>
  void write_values(Line_Reader& in, std::pair<Table_Id, Field_Id> place,
                    const Logical_Type& logical, Record_Id record, std::size_t size) {
    const auto read = [&] { return read_field_value<T>(in, logical); };
    const auto values = std::make_unique<T[]>(size);
    std::size_t i = 0;
    for (; i < size && !in.has_failed(); ++i) values[i] = read();
    if (i < size) std::fill(values.get() + i, values.get() + size, read());
    in.require_end();
    database_.write_vector(place.first, record, place.second,
                           std::span<const T>(values.get(), size));
  }

  Writable_Database& database_;
  const index_t max_record_id_;
  const bool has_limit_option_;
  Table_Id last_table_;
  std::vector<Row_Value> row_;  // values in the current command
};

}  // namespace

void add_data_commands(Command_Loop& loop, Writable_Database& database,
                       const Command_Options& options) {
  const auto data = std::make_shared<Data_Commands>(database, options);
  const auto run = [data](void (Data_Commands::*command)(Line_Reader&)) {
    return [data, command](Line_Reader& in, std::ostream&) { (*data.*command)(in); };
  };
  loop.add_group(
      {"Data manipulation",
       {{"insert_into", "insert_into <table_name> [<record_id> [<value> ...]]",
         run(&Data_Commands::insert_into)},
        {"delete_from", "delete_from <table_name> <record_id> [alone]",
         run(&Data_Commands::delete_from)},
        {"insert_vector", "insert_vector <table_name> <record_id> <size>",
         run(&Data_Commands::insert_vector)},
        {"delete_vector", "delete_vector <table_name> <record_id> <size> [alone]",
         run(&Data_Commands::delete_vector)},
        {"update", "update <table_name> <record_id> <field_name> <value>",
         run(&Data_Commands::update)},
        {"update_vector", "update_vector <table_name> <record_id> <field_name> <N> <v_1> ... <v_N>",
         run(&Data_Commands::update_vector)}}});
}

}  // namespace joedb::inline v1
