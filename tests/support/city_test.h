#ifndef JOEDB_TESTS_SUPPORT_CITY_TEST_H
#define JOEDB_TESTS_SUPPORT_CITY_TEST_H

#include <gtest/gtest.h>

#include <string_view>
#include <utility>
#include <vector>

#include "joedb/io/memory_file.h"
#include "joedb/table/writable_database.h"

namespace joedb::testing {

// A database with the table city, and two cities: Oslo, of size 1, and Lima, of size 2.
class City_Test : public ::testing::Test {
 protected:
  static inline const Table_Id city{1};
  static inline const Field_Id name{1}, size{2};

  explicit City_Test(Deleted_Values deleted_values = Deleted_Values::reset,
                     std::vector<Index_Definition> indexes = {})
      : db(file, {}, deleted_values, std::move(indexes)) {
    db.write(Create_Table{"city"});
    db.write(Add_Field{city, "name", {Type_Code::string, {}}});
    db.write(Add_Field{city, "size", {Type_Code::int32, {}}});
    insert(0, "Oslo", 1);
    insert(1, "Lima", 2);
  }

  void insert(index_t id, std::string_view text, std::int32_t number) {
    db.write(Insert{city, Record_Id(id)});
    set(id, text);
    set(id, number);
  }
  void set(index_t id, std::string_view text) {
    db.write(Update<std::string_view>{city, Record_Id(id), name, text});
  }
  void set(index_t id, std::int32_t number) {
    db.write(Update<std::int32_t>{city, Record_Id(id), size, number});
  }
  void erase(index_t id) { db.write(Delete{city, Record_Id(id)}); }
  // Writes a hard checkpoint and returns its position.
  Offset checkpoint() {
    db.hard_checkpoint();
    return db.get_journal().get_position();
  }

  Memory_File file;
  Writable_Database db;
};

}  // namespace joedb::testing

#endif
