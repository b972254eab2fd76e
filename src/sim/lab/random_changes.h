#ifndef JOEDB_SRC_SIM_LAB_RANDOM_CHANGES_H
#define JOEDB_SRC_SIM_LAB_RANDOM_CHANGES_H

#include <algorithm>
#include <deque>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "joedb/table/writable_database.h"
#include "kernel/table/references.h"
#include "sim/lab/random.h"

namespace joedb::testing {

// Makes random changes to a database: tables and fields, rows, vectors, values, and entries that do
// not affect tables. The changes depend only on the random numbers and the database. Table 1 has
// the fields "i" (int32) and "s" (string), which are never dropped, for indexes.
class Random_Changes {
 public:
  // The history of a database (src/history) does not take back declarations of indexes, so its
  // tests do without them.
  enum class Indexes { none, declared };
  explicit Random_Changes(Random& random, Indexes indexes = Indexes::none)
      : random_(random), declares_indexes_(indexes == Indexes::declared) {}

  // Returns a random selection of three indexes of table 1.
  static std::vector<Index_Definition> indexes(Random& random) {
    const Table_Id table(1);
    const Field_Id i(1), s(2);
    std::vector<Index_Definition> all{
        {"by_i", table, {i}}, {"by_s", table, {s}}, {"by_s_i", table, {s, i}, random.flip()}};
    std::erase_if(all, [&](const auto&) { return random.below(3) == 0; });
    return all;
  }

  // Makes one change. Does nothing if the change is invalid, or violates a unique index.
  void change(Writable_Database& db) {
    texts_.clear();
    try {
      if (db.get_database().tables().empty()) return begin(db);
      const Table* const table = pick_table(db);
      if (table != nullptr) change(db, *table);
    } catch (const Data_Error&) {
    }
    require_kept_references(db.get_database());
  }

  // Inserts a row into table 1 with a text of `size` equal letters.
  void change_text(Writable_Database& db, std::size_t size) {
    if (db.get_database().tables().empty()) begin(db);
    const Table& table = *db.get_database().tables()[0];
    const Record_Id record(table.records().next_free());
    const std::string text(size, static_cast<char>('a' + random_.below(26)));
    try {
      db.write(Insert{table.id(), record});
      db.write(Update<std::string_view>{table.id(), record, Field_Id(2), text});
    } catch (const Data_Error&) {  // violates a unique index
    }
  }

 private:
  static void require_kept_references(const Database& database) {
    for (const Dangling& one : dangling_references(database))
      if (one.table->find_field(one.field)->column->logical().on_delete !=
          Logical_Type::On_Delete::keep)
        throw std::logic_error("a reference with a rule refers to no record");
  }

  static void begin(Writable_Database& db) {
    db.write(Create_Table{"t"});
    db.write(Add_Field{Table_Id(1), "i", {Type_Code::int32, {}}});
    db.write(Add_Field{Table_Id(1), "s", {Type_Code::string, {}}});
  }

  void change(Writable_Database& db, const Table& table) {
    switch (random_.below(20)) {
      case 0:
        return change_tables(db);
      case 1:
        return change_fields(db, table);
      case 2:
        if (random_.flip()) return db.write(Comment{text()});
        return declares_indexes_ && random_.flip() ? declare_index(db, table) : declare(db, table);
      case 3:
        return other_entry(db);
      case 4:
      case 5:
        return insert_vector(db, table);
      case 6:
      case 7:
      case 8:
        return erase(db, table);
      case 9:
      case 10:
        return update_vector(db, table);
      case 11:
      case 12:
      case 13:
      case 14:
        return update(db, table);
      default:
        return insert(db, table);
    }
  }

  const Table* pick_table(const Writable_Database& db) {
    const auto& tables = db.get_database().tables();
    return random_.flip() ? tables[0].get() : tables[random_.below(tables.size())].get();
  }

  void change_tables(Writable_Database& db) {
    const std::size_t number = db.get_database().tables().size();
    const Table_Id last(static_cast<std::uint16_t>(number));
    const std::size_t what = random_.below(4);
    if (what == 0 && number > 1)
      db.write(Drop_Table{last});
    else if (what == 1)
      db.write(Rename_Table{last, new_name()});
    else if (number < 5)
      db.write(Create_Table{new_name()});
  }

  void change_fields(Writable_Database& db, const Table& table) {
    const std::size_t fields = table.fields().size();
    const std::size_t what = random_.below(4);
    if (what < 2 && fields < 8) {
      const auto code = static_cast<Type_Code>(1 + random_.below(type_count));
      const Table_Id referenced(code == Type_Code::reference ? 1 : 0);
      return db.write(Add_Field{table.id(), new_name(), {code, referenced}});
    }
    if (fields == 0) return;
    const Field_Id field(static_cast<std::uint16_t>(1 + random_.below(fields)));
    const bool is_kept = table.id() == Table_Id(1) && field.value() <= 2;
    if (what == 2)
      db.write(Rename_Field{table.id(), field, new_name()});
    else if (!is_kept)
      db.write(Drop_Field{table.id(), field});
  }

  // Declares a logical type, which may not suit the field.
  void declare(Writable_Database& db, const Table& table) {
    static constexpr std::string_view types[] = {
        "date optional", "timestamp(s)",   "duration",       "decimal(3)",
        "enum(a,b)",     "int32 optional", "int64 optional", "string optional",
        "uuid",          "int32",          "int64"};
    static constexpr std::string_view reference_types[] = {
        "references on_delete clear", "references on_delete cascade", "references on_delete refuse",
        "references"};
    if (table.fields().empty()) return;
    const Field& field = table.fields()[random_.below(table.fields().size())];
    const bool is_reference = field.column && field.column->type().code == Type_Code::reference;
    const std::string_view type = is_reference
                                      ? reference_types[random_.below(std::size(reference_types))]
                                      : types[random_.below(std::size(types))];
    // A rule is for references to records.
    for (const Dangling& one : dangling_references(db.get_database()))
      if (one.table == &table && table.find_field(one.field) == &field) return;
    const std::string comment = std::string("joedb: type ")
                                    .append(table.name())
                                    .append(".")
                                    .append(field.name)
                                    .append(" ")
                                    .append(type);
    db.write(Comment{comment});
  }

  // Declares or drops an index. Sometimes, it is one of indexes(), which programs have, too; such
  // an index is not dropped, because it would keep its records only in this process.
  void declare_index(Writable_Database& db, const Table& table) {
    const std::size_t number = random_.below(4);
    const std::string name = "declared_" + std::to_string(number);
    std::string comment = "joedb: ";
    if (random_.below(20) == 0) {
      comment += "create_index by_s t s";
    } else if (random_.below(3) == 0) {
      comment += "drop_index " + name;
    } else {
      comment += number == 0 ? "create_unique_index " : "create_index ";
      comment += name + ' ' + table.name();
      char separator = ' ';
      for (std::size_t n = 1 + random_.below(2); n > 0 && !table.fields().empty(); --n) {
        comment += std::exchange(separator, ',');
        comment += table.fields()[random_.below(table.fields().size())].name;
      }
    }
    db.write(Comment{comment});
  }

  void other_entry(Writable_Database& db) {
    const std::size_t what = random_.below(4);
    if (what == 0)
      db.write(Timestamp{static_cast<std::int64_t>(random_.below(1'000'000))});
    else if (what == 1)
      db.write(Custom{new_name()});
    else if (what == 2)
      db.write(Valid_Data{});
    else
      db.write_blob(text());
  }

  void insert(Writable_Database& db, const Table& table) {
    const Record_Ids& records = table.records();
    for (std::size_t n = 1 + random_.below(4); n > 0; --n) {
      index_t id = random_.below(6) > 0 ? records.next_free() : any_id(records.size() + 20);
      db.write(Insert{table.id(), Record_Id(id)});
      if (random_.flip()) update(db, table, id);
    }
  }

  void insert_vector(Writable_Database& db, const Table& table) {
    const auto size = static_cast<index_t>(random_.below(random_.below(50) == 0 ? 3000 : 10));
    const index_t end = table.records().size();
    const index_t id = random_.below(3) > 0 ? end : any_id(end + 5);
    db.write(Insert_Vector{table.id(), Record_Id(id), size});
  }

  void erase(Writable_Database& db, const Table& table) {
    const index_t size = table.records().size();
    for (std::size_t n = 1 + random_.below(3); n > 0 && size > 0; --n) {
      const index_t id = any_id(size);
      if (random_.below(4) == 0)
        db.write(Delete_Vector{table.id(), Record_Id(id), any_id(std::min<index_t>(size - id, 5))});
      else
        db.write(Delete{table.id(), Record_Id(id)});
    }
  }

  void update(Writable_Database& db, const Table& table) {
    const index_t size = table.records().size();
    for (std::size_t n = 1 + random_.below(3); n > 0 && size > 0; --n)
      update(db, table, any_id(size));
  }

  void update(Writable_Database& db, const Table& table, index_t id) {
    for (std::size_t n = random_.below(4); n > 0; --n)
      with_column(table, [&]<class T>(Field_Id field, std::type_identity<T>) {
        const T v = value<T>(db, table, field);
        db.write(Update<T>{table.id(), Record_Id(id), field, v});
      });
  }

  void update_vector(Writable_Database& db, const Table& table) {
    const index_t records = std::min<index_t>(table.records().size(), 200);
    if (records == 0) return;
    const index_t start = any_id(records);
    const auto size = static_cast<std::size_t>(any_id(records - start + 1));
    with_column(table, [&]<class T>(Field_Id field, std::type_identity<T>) {
      const std::unique_ptr<T[]> values(new T[size]());
      for (std::size_t i = 0; i < size; ++i) values[i] = value<T>(db, table, field);
      db.write_vector<T>(table.id(), Record_Id(start), field,
                         std::span<const T>(values.get(), size));
    });
  }

  template <class F>
  void with_column(const Table& table, F f) {
    if (table.fields().empty()) return;
    const std::size_t number = random_.below(table.fields().size());
    const Field& field = table.fields()[number];
    if (!field.column) return;
    visit_type(field.column->type().code, [&]<class T>(std::type_identity<T> type) {
      f(Field_Id(static_cast<std::uint16_t>(number + 1)), type);
    });
  }

  template <Field_Value T>
  T value(Writable_Database& db, const Table& table, Field_Id field) {
    if constexpr (std::is_same_v<T, std::string_view>)
      return text();
    else if constexpr (std::is_same_v<T, Record_Id>)
      return reference(db, *table.find_field(field)->column);
    else if constexpr (std::is_same_v<T, Blob>)
      return db.write_blob(text());
    else
      return static_cast<T>(random_.below(3) > 0 ? random_.below(10) : random_.next());
  }

  // With a rule, it refers to a record.
  Record_Id reference(const Writable_Database& db, const Column_Base& column) {
    const Record_Id target(any_id(20) - 1);
    if (column.logical().on_delete == Logical_Type::On_Delete::keep) return target;
    const Table* const referenced = db.get_database().find_table(column.type().referenced);
    return referenced != nullptr && referenced->is_used(target) ? target : Record_Id();
  }

  // The text is valid until the change is complete.
  std::string_view text() {
    const std::size_t kind = random_.below(300);
    const std::size_t limit = kind == 0 ? 20'000 : kind < 10 ? 600 : kind < 100 ? 40 : 12;
    return texts_.emplace_back(random_.below(limit), static_cast<char>('a' + random_.below(26)));
  }
  std::string_view new_name() {
    return texts_.emplace_back("n" + std::to_string(random_.below(1'000'000)));
  }
  // Returns a number from 0 to limit - 1; 0 if `limit` is not positive.
  index_t any_id(index_t limit) {
    return limit <= 0 ? 0 : static_cast<index_t>(random_.below(static_cast<std::size_t>(limit)));
  }

  Random& random_;
  const bool declares_indexes_;
  std::deque<std::string> texts_;
};

}  // namespace joedb::testing

#endif
