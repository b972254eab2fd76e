#include <gtest/gtest.h>

#include <cmath>

#include "exchange/sqlite_export.h"
#include "exchange/sqlite_import.h"
#include "joedb/io/memory_file.h"
#include "kernel/table/declaration.h"
#include "support/arbitrary_values.h"
#include "support/temporary_directory.h"
#include "text/dump.h"

namespace joedb {
namespace {

// ---- random databases ---------------------------------------------------------------------------

using testing::Foreign_Values;

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
      if (*rc::gen::arbitrary<bool>()) declared = testing::arbitrary_logical_type();
      Type type{declared.stored, {}};
      if (type.code == Type_Code::reference) {
        type.referenced = Table_Id(static_cast<std::uint16_t>(*rc::gen::inRange(1, tables_ + 1)));
        declared.logical.on_delete = static_cast<Logical_Type::On_Delete>(*rc::gen::inRange(0, 4));
      }
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
      if (const Record_Id record(*rc::gen::inRange(0, rows)); table.is_used(record)) try {
          db.write(Delete{id, record});
        } catch (const Data_Error&) {  // a rule refuses it
        }
  }

  void set(Table_Id table, Record_Id record, Field_Id field, const Column_Base& column) {
    visit_type(column.type().code, [&]<class T>(std::type_identity<T>) {
      if constexpr (std::is_same_v<T, std::string_view>) {
        const std::string text =
            testing::arbitrary_logical_text(column.logical(), Foreign_Values::none);
        db.write(Update<std::string_view>{table, record, field, text});
      } else if constexpr (std::is_same_v<T, Blob>) {
        if (*rc::gen::arbitrary<bool>())
          db.write(
              Update<Blob>{table, record, field, db.write_blob(testing::arbitrary_text() + "x")});
      } else if constexpr (std::is_same_v<T, Record_Id>) {
        db.write(Update<Record_Id>{table, record, field, Record_Id(*rc::gen::inRange(-1, 30))});
      } else if constexpr (std::is_same_v<T, bool>) {
        db.write(Update<bool>{table, record, field, *rc::gen::arbitrary<bool>()});
      } else {
        const T value =
            testing::arbitrary_logical_number<T>(column.logical(), Foreign_Values::none);
        db.write(Update<T>{table, record, field, value});
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
