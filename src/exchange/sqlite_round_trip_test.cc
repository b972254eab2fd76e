#include <gtest/gtest.h>

#include <cmath>

#include "exchange/sqlite_export.h"
#include "exchange/sqlite_import.h"
#include "joedb/io/memory_file.h"
#include "kernel/table/declaration.h"
#include "support/property.h"
#include "support/temporary_directory.h"
#include "text/dump.h"

namespace joedb {
namespace {

// ---- random databases ---------------------------------------------------------------------------

// Generates a value. One in three is a special value.
template <class T>
T any_value(std::vector<T> special) {
  if (*rc::gen::inRange(0, 3) == 0) return *rc::gen::elementOf(special);
  return *rc::gen::arbitrary<T>();
}

template <class T>
T any_number() {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>)
    return any_value<T>({Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(),
                         Limits::denorm_min(), Limits::max(), Limits::lowest(), T(0.1), T(-0.0)});
  else
    return any_value<T>({Limits::min(), Limits::max(), 0, -1});
}

std::string any_string() {
  return any_value<std::string>({"", std::string(1, '\0'), std::string("a\0b", 3), "\xff",
                                 "h\xc3\xa9", "\xed\xa0\x80", "'\"\n", std::string(5000, 'x')});
}

// Types with a logical part.
Declared_Type any_logical_type() {
  const std::string text = *rc::gen::elementOf(std::vector<std::string>{
      "date", "timestamp", "timestamp(s)", "duration(ms)", "decimal(2)", "decimal(18)",
      "enum(open,paid)", "bytes", "uuid", "json", "int8", "int16", "int32", "int64", "float32",
      "float64", "string", "boolean"});
  std::string problem;
  return parse_declared_type(text + (*rc::gen::arbitrary<bool>() ? " optional" : ""), problem)
      .value();
}

// Returns a value that the logical type has.
template <class T>
T any_logical_number(const Logical_Type& logical) {
  using Kind = Logical_Type::Kind;
  const auto below = [](std::int64_t limit) {
    return static_cast<T>(any_value<std::int64_t>({0, limit - 1, 1 - limit}) % limit);
  };
  if (logical.is_optional && *rc::gen::inRange(0, 4) == 0) return missing_value<T>(logical);
  switch (logical.kind) {
    case Kind::boolean:
      return static_cast<T>(*rc::gen::inRange(0, 2));
    case Kind::date:
      return below(1'000'000);
    case Kind::timestamp:
      // Years with 4 digits: other times are stored as numbers, which no import takes.
      return below(logical.scale == 0 ? 50'000'000'000 : 8'000'000'000'000'000);
    case Kind::decimal:
    case Kind::duration:
      return below(1'000'000'000'000'000'000);
    case Kind::enumeration:
      return static_cast<T>(*rc::gen::inRange<std::size_t>(0, logical.names.size()));
    default:
      return any_number<T>();
  }
}

std::string any_logical_string(const Logical_Type& logical) {
  constexpr std::size_t uuid_size = 16;
  if (logical.is_optional && *rc::gen::inRange(0, 4) == 0)
    return std::string(missing_value<std::string_view>(logical));
  std::string text = any_string();
  if (logical.kind == Logical_Type::Kind::uuid) text.resize(uuid_size, 'x');
  return text;
}

class Any_Database {
 public:
  Any_Database() {
    tables_ = *rc::gen::inRange(1, 4);
    for (int i = 0; i < tables_; ++i)
      db.write(Create_Table{*rc::gen::elementOf(std::vector<std::string>{"a", "Table", "t_"}) +
                            std::to_string(i)});
    for (int i = 1; i <= tables_; ++i) add_fields(Table_Id(static_cast<std::uint16_t>(i)));
    for (int i = 1; i <= tables_; ++i) add_rows(Table_Id(static_cast<std::uint16_t>(i)));
    db.soft_checkpoint();
  }

  Memory_File file;
  Writable_Database db{file};

 private:
  void add_fields(Table_Id table) {
    const int fields = *rc::gen::inRange(0, 12);
    for (int i = 0; i < fields; ++i) {
      const auto code = static_cast<Type_Code>(*rc::gen::inRange(1, type_count + 1));
      Declared_Type declared{code, {}};
      if (*rc::gen::arbitrary<bool>()) declared = any_logical_type();
      Type type{declared.stored, {}};
      if (type.code == Type_Code::reference)
        type.referenced = Table_Id(static_cast<std::uint16_t>(*rc::gen::inRange(1, tables_ + 1)));
      add_field(db, Add_Field{table, "f" + std::to_string(i), type}, declared.logical);
    }
    if (fields > 2 && *rc::gen::arbitrary<bool>()) db.write(Drop_Field{table, Field_Id(2)});
  }

  void add_rows(Table_Id id) {
    const Table& table = db.get_database().table(id);
    const int rows = *rc::gen::inRange(0, 20);
    for (int i = 0; i < rows; ++i) {
      const Record_Id record(table.records().size() + *rc::gen::inRange(0, 3));
      db.write(Insert{id, record});
      std::uint16_t field = 0;
      for (const Field& f : table.fields()) {
        ++field;
        if (f.column) set(id, record, Field_Id(field), *f.column);
      }
    }
    for (int i = 0; i < rows / 4; ++i)
      if (const Record_Id record(*rc::gen::inRange(0, rows)); table.is_used(record))
        db.write(Delete{id, record});
  }

  void set(Table_Id table, Record_Id record, Field_Id field, const Column_Base& column) {
    visit_type(column.type().code, [&]<class T>(std::type_identity<T>) {
      if constexpr (std::is_same_v<T, std::string_view>) {
        db.write(
            Update<std::string_view>{table, record, field, any_logical_string(column.logical())});
      } else if constexpr (std::is_same_v<T, Blob>) {
        if (*rc::gen::arbitrary<bool>())
          db.write(Update<Blob>{table, record, field, db.write_blob(any_string())});
      } else if constexpr (std::is_same_v<T, Record_Id>) {
        db.write(Update<Record_Id>{table, record, field, Record_Id(*rc::gen::inRange(-1, 30))});
      } else if constexpr (std::is_same_v<T, bool>) {
        db.write(Update<bool>{table, record, field, *rc::gen::arbitrary<bool>()});
      } else {
        db.write(Update<T>{table, record, field, any_logical_number<T>(column.logical())});
      }
    });
  }

  int tables_ = 0;
};

// ---- comparison ---------------------------------------------------------------------------------

// Formats a value. Omits the sign of 0 and the bits of NaN, which SQLite cannot store.
template <class T>
std::string value_text(const Column_Base& column, index_t id, const Abstract_File& file) {
  const auto value = static_cast<const Column<T>&>(column).get(id);
  if constexpr (std::is_same_v<T, Blob>) {
    return value.is_null() ? "null" : "blob " + file.read_blob(value);
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    return std::string(std::string_view(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::isnan(value)
               ? "nan"
               : std::to_string(std::bit_cast<
                                std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>(
                     value == 0 ? T(0) : value));
  } else if constexpr (std::is_same_v<T, Record_Id>) {
    return std::to_string(value.value());
  } else {
    return std::to_string(value);
  }
}

std::vector<std::string> content(const Database& database, const Abstract_File& file) {
  std::vector<std::string> lines;
  for (const Table* table : live_tables(database)) {
    lines.push_back("table " + table->name());
    for_each_field(*table, [&](Field_Id, const Field& field) {
      const Type type = field.column->type();
      const Table* const referenced = database.find_table(type.referenced);
      lines.push_back("field " + field.name + ' ' +
                      declared_type_text(type.code, field.column->logical()) +
                      (referenced ? ' ' + referenced->name() : ""));
      visit_type(type.code, [&]<class T>(std::type_identity<T>) {
        for_each_run(*table, [&](index_t first, index_t size) {
          for (index_t id = first; id < first + size; ++id)
            lines.push_back(std::to_string(id) + ' ' + value_text<T>(*field.column, id, file));
        });
      });
    });
    lines.push_back("rows " + std::to_string(table->records().used_count()));
  }
  return lines;
}

Sqlite_Plan plan_of(const Sqlite& file) {
  return {file, {}, [](std::int64_t) {}};
}

TEST(Sqlite_Round_Trip, GivesTheSameContent) {
  testing::expect_property(
      [] {
        Any_Database original;
        const testing::Temporary_Directory directory;
        const std::string path = directory.file("copy.sqlite");
        Sqlite_Export{original.db.get_database(), original.file}.write(path, "copy");

        const Sqlite in(path, "copy", Sqlite::Use::read);
        const Sqlite_Plan plan = plan_of(in);
        Memory_File file;
        Writable_Database copy(file);
        Sqlite_Import(in, plan, {}).run(copy, [](std::int64_t) {});
        copy.soft_checkpoint();
        RC_ASSERT(plan.notes.empty());
        RC_ASSERT(content(copy.get_database(), file) ==
                  content(original.db.get_database(), original.file));

        // A second import must change nothing.
        Sqlite_Import(in, plan, {.deletes_missing = true}).run(copy, [](std::int64_t) {});
        RC_ASSERT(copy.ahead_of_checkpoint() == 0);
      },
      200);
}

}  // namespace
}  // namespace joedb
