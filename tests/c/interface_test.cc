// The C interface, as seen by a program that links libjoedb_c.so.

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <optional>
#include <thread>

#include "joedb/arrow/arrow.h"
#include "joedb_c.h"
#include "support/temporary_directory.h"

namespace joedb {
namespace {

class C_Interface_Test : public ::testing::Test {
 protected:
  C_Interface_Test() { open(); }
  ~C_Interface_Test() override { joedb_close(db_); }

  static joedb_options options_of(std::int32_t mode) {
    joedb_options options{};
    options.size = sizeof(options);
    options.mode = mode;
    return options;
  }
  void open() {
    EXPECT_EQ(joedb_open(path_.c_str(), nullptr, &db_), JOEDB_OK) << joedb_error_text();
  }
  void open_again() {
    joedb_close(db_);
    open();
  }
  // Makes a table with a field of each type; the number of a field is the code of its type.
  void make_table() {
    EXPECT_EQ(joedb_create_table(db_, "t", &table_), JOEDB_OK);
    for (int type = JOEDB_STRING; type <= JOEDB_BLOB; ++type) {
      const std::string name = "field_" + std::to_string(type);
      joedb_field field = 0;
      EXPECT_EQ(
          joedb_add_field(db_, table_, name.c_str(), static_cast<joedb_type>(type), table_, &field),
          JOEDB_OK);
      EXPECT_EQ(field, type);
    }
  }
  std::int64_t insert(joedb_field field, joedb_value value) {
    std::int64_t record = -1;
    EXPECT_EQ(joedb_insert(db_, table_, 1, &field, &value, &record), JOEDB_OK)
        << joedb_error_text();
    return record;
  }
  joedb_code try_insert(joedb_field field, joedb_value value) {
    return joedb_insert(db_, table_, 1, &field, &value, nullptr);
  }
  joedb_value get(std::int64_t record, joedb_field field) {
    joedb_value value{};
    EXPECT_EQ(joedb_get(db_, table_, record, field, &value), JOEDB_OK) << joedb_error_text();
    return value;
  }
  std::string text(std::int64_t record) {
    const joedb_value value = get(record, JOEDB_STRING);
    return {value.is.bytes.data, value.is.bytes.size};
  }
  std::int64_t count() {
    std::int64_t n = -1;
    EXPECT_EQ(joedb_count(db_, table_, &n), JOEDB_OK);
    return n;
  }

  const testing::Temporary_Directory directory_;
  const std::string path_ = directory_.path() + "/t.joedb";
  joedb_db* db_ = nullptr;
  joedb_table table_ = 0;
};

TEST_F(C_Interface_Test, AllTypesAreWrittenAndRead) {
  make_table();
  const std::int64_t record = insert(JOEDB_STRING, joedb_text("a\0b", 3));
  const joedb_field fields[] = {2, 3, 4, 5, 6, 7, 8, 9, 10};
  const joedb_value values[] = {
      joedb_integer(JOEDB_INT32, -5),    joedb_integer(JOEDB_INT64, INT64_MIN),
      joedb_integer(JOEDB_REFERENCE, 0), joedb_integer(JOEDB_BOOLEAN, 1),
      joedb_number(JOEDB_FLOAT32, 0.5),  joedb_number(JOEDB_FLOAT64, 0.1),
      joedb_integer(JOEDB_INT8, -128),   joedb_integer(JOEDB_INT16, 32767),
      joedb_bytes("\0\1\2", 3)};
  ASSERT_EQ(joedb_update(db_, table_, record, 9, fields, values), JOEDB_OK) << joedb_error_text();
  open_again();
  EXPECT_EQ(joedb_find_table(db_, "t", &table_), JOEDB_OK);
  EXPECT_EQ(text(record), std::string("a\0b", 3));
  EXPECT_EQ(get(record, 1).is.bytes.data[3], '\0');
  EXPECT_EQ(get(record, 2).is.integer, -5);
  EXPECT_EQ(get(record, 3).is.integer, INT64_MIN);
  EXPECT_EQ(get(record, 4).is.integer, 0);
  EXPECT_EQ(get(record, 5).is.integer, 1);
  EXPECT_EQ(get(record, 6).is.number, 0.5);
  EXPECT_EQ(get(record, 7).is.number, 0.1);
  EXPECT_EQ(get(record, 8).is.integer, -128);
  EXPECT_EQ(get(record, 9).is.integer, 32767);
  const joedb_value blob = get(record, 10);
  ASSERT_EQ(blob.is.blob.size, 3);
  char bytes[3];
  EXPECT_EQ(joedb_read_blob(db_, &blob, bytes), JOEDB_OK);
  EXPECT_EQ(std::memcmp(bytes, "\0\1\2", 3), 0);
}

TEST_F(C_Interface_Test, OtherFieldsHaveDefaultValuesAlsoWhereAnIdIsUsedAgain) {
  make_table();
  insert(3, joedb_integer(JOEDB_INT64, 7));
  EXPECT_EQ(joedb_delete(db_, table_, 0), JOEDB_OK);
  EXPECT_EQ(insert(JOEDB_STRING, joedb_text("x", 1)), 0);
  EXPECT_EQ(get(0, 3).is.integer, 0);
  EXPECT_EQ(get(0, 4).is.integer, -1);
  EXPECT_EQ(get(0, 10).is.blob.position, 0);
}

TEST_F(C_Interface_Test, WhatDoesNotFitIsAnErrorAndChangesNothing) {
  make_table();
  for (const auto& [field, value] :
       {std::pair<joedb_field, joedb_value>{JOEDB_INT8, joedb_integer(JOEDB_INT8, 128)},
        {JOEDB_INT32, joedb_integer(JOEDB_INT32, INT64_MAX)},
        {JOEDB_BOOLEAN, joedb_integer(JOEDB_BOOLEAN, 2)},
        {JOEDB_FLOAT32, joedb_number(JOEDB_FLOAT32, 1e300)},
        {JOEDB_REFERENCE, joedb_integer(JOEDB_REFERENCE, -2)},
        {JOEDB_REFERENCE, joedb_integer(JOEDB_REFERENCE, (INT64_C(1) << 61) - 1)},
        {JOEDB_INT32, joedb_integer(JOEDB_INT64, 1)},
        {JOEDB_STRING, joedb_bytes("x", 1)},
        {11, joedb_integer(JOEDB_INT64, 1)},
        {0, joedb_integer(JOEDB_INT64, 1)}}) {
    EXPECT_EQ(try_insert(field, value), JOEDB_DATA) << field;
    EXPECT_STRNE(joedb_error_text(), "");
  }
  EXPECT_EQ(count(), 0);
  EXPECT_EQ(joedb_delete(db_, table_, 0), JOEDB_DATA);
  EXPECT_EQ(joedb_delete(db_, table_, -1), JOEDB_DATA);
  EXPECT_EQ(joedb_update(db_, table_, 5, 0, nullptr, nullptr), JOEDB_DATA);
  joedb_value value;
  EXPECT_EQ(joedb_get(db_, table_, 0, 1, &value), JOEDB_DATA);
  EXPECT_EQ(joedb_count(db_, 99, nullptr), JOEDB_DATA);
  EXPECT_EQ(joedb_create_table(db_, "no name", nullptr), JOEDB_DATA);
  EXPECT_EQ(joedb_create_table(db_, "t", nullptr), JOEDB_DATA);
  EXPECT_EQ(joedb_add_field(db_, table_, "r", JOEDB_REFERENCE, 9, nullptr), JOEDB_DATA);
}

TEST_F(C_Interface_Test, NullPointersAreMisuse) {
  EXPECT_EQ(joedb_count(nullptr, 1, nullptr), JOEDB_MISUSE);
  EXPECT_EQ(joedb_open(nullptr, nullptr, nullptr), JOEDB_MISUSE);
  EXPECT_EQ(joedb_open("x", nullptr, nullptr), JOEDB_MISUSE);
  EXPECT_EQ(joedb_create_table(db_, nullptr, nullptr), JOEDB_MISUSE);
  make_table();
  EXPECT_EQ(joedb_insert(db_, table_, 1, nullptr, nullptr, nullptr), JOEDB_MISUSE);
  EXPECT_EQ(try_insert(JOEDB_STRING, joedb_text(nullptr, 5)), JOEDB_MISUSE);
  EXPECT_EQ(joedb_add_field(db_, table_, "x", 12, 0, nullptr), JOEDB_MISUSE);
  joedb_options options{};
  joedb_db* db = nullptr;
  EXPECT_EQ(joedb_open(path_.c_str(), &options, &db), JOEDB_MISUSE);
  options.size = sizeof(options);
  options.mode = 7;
  EXPECT_EQ(joedb_open(path_.c_str(), &options, &db), JOEDB_MISUSE);
  EXPECT_EQ(db, nullptr);
  joedb_close(nullptr);
}

TEST_F(C_Interface_Test, ATransactionIsRolledBack) {
  make_table();
  insert(JOEDB_STRING, joedb_text("one", 3));
  ASSERT_EQ(joedb_begin(db_, "nothing counts", nullptr), JOEDB_OK);
  insert(JOEDB_STRING, joedb_text("two", 3));
  EXPECT_EQ(joedb_begin(db_, nullptr, nullptr), JOEDB_ERROR);
  EXPECT_EQ(joedb_delete(db_, table_, 0), JOEDB_OK);
  EXPECT_EQ(joedb_rollback(db_), JOEDB_OK);
  EXPECT_EQ(joedb_rollback(db_), JOEDB_ERROR);
  EXPECT_EQ(count(), 1);
  EXPECT_EQ(text(0), "one");

  ASSERT_EQ(joedb_begin(db_, nullptr, nullptr), JOEDB_OK);
  EXPECT_EQ(joedb_add_field(db_, table_, "more", JOEDB_INT8, 0, nullptr), JOEDB_OK);
  insert(11, joedb_integer(JOEDB_INT8, 1));
  EXPECT_EQ(joedb_rollback(db_), JOEDB_OK);
  EXPECT_EQ(count(), 1);
  joedb_field field = 1;
  EXPECT_EQ(joedb_find_field(db_, table_, "more", &field), JOEDB_OK);
  EXPECT_EQ(field, 0);
  // Closing the database rolls back an open transaction.
  ASSERT_EQ(joedb_begin(db_, nullptr, nullptr), JOEDB_OK);
  insert(JOEDB_STRING, joedb_text("three", 5));
  open_again();
  EXPECT_EQ(joedb_find_table(db_, "t", &table_), JOEDB_OK);
  EXPECT_EQ(count(), 1);
}

TEST_F(C_Interface_Test, RecordsTablesAndFieldsAreWalked) {
  make_table();
  for (int i = 0; i < 4; ++i) insert(3, joedb_integer(JOEDB_INT64, i));
  EXPECT_EQ(joedb_delete(db_, table_, 0), JOEDB_OK);
  EXPECT_EQ(joedb_delete(db_, table_, 2), JOEDB_OK);
  std::vector<std::int64_t> records;
  for (std::int64_t record = -1;;) {
    ASSERT_EQ(joedb_next(db_, table_, record, &record), JOEDB_OK);
    if (record < 0) break;
    records.push_back(record);
  }
  EXPECT_EQ(records, (std::vector<std::int64_t>{1, 3}));
  std::int64_t record = 0;
  EXPECT_EQ(joedb_next(db_, table_, INT64_MAX, &record), JOEDB_OK);
  EXPECT_EQ(record, -1);
  EXPECT_EQ(joedb_next(db_, table_, -2, &record), JOEDB_MISUSE);

  EXPECT_EQ(joedb_drop_field(db_, table_, 1), JOEDB_OK);
  EXPECT_EQ(joedb_rename_field(db_, table_, 2, "second"), JOEDB_OK);
  EXPECT_EQ(joedb_rename_table(db_, table_, "u"), JOEDB_OK);
  joedb_field field = 9;
  EXPECT_EQ(joedb_next_field(db_, table_, 0, &field), JOEDB_OK);
  EXPECT_EQ(field, 2);
  const char* name = nullptr;
  joedb_type type = JOEDB_NONE;
  joedb_table referenced = 0;
  EXPECT_EQ(joedb_describe_field(db_, table_, 4, &name, &type, &referenced), JOEDB_OK);
  EXPECT_STREQ(name, "field_4");
  EXPECT_EQ(type, JOEDB_REFERENCE);
  EXPECT_EQ(referenced, table_);
  EXPECT_EQ(joedb_table_name(db_, table_, &name), JOEDB_OK);
  EXPECT_STREQ(name, "u");
  joedb_table next = 9;
  EXPECT_EQ(joedb_next_table(db_, 0, &next), JOEDB_OK);
  EXPECT_EQ(next, table_);
  EXPECT_EQ(joedb_next_table(db_, next, &next), JOEDB_OK);
  EXPECT_EQ(next, 0);
  EXPECT_EQ(joedb_drop_table(db_, table_), JOEDB_OK);
  EXPECT_EQ(joedb_count(db_, table_, nullptr), JOEDB_DATA);
}

TEST_F(C_Interface_Test, FilesThatCannotBeOpenedHaveTheirCodes) {
  joedb_db* other = nullptr;
  EXPECT_EQ(joedb_open(path_.c_str(), nullptr, &other), JOEDB_LOCKED);
  joedb_options options = options_of(JOEDB_NEW);
  EXPECT_EQ(joedb_open(path_.c_str(), &options, &other), JOEDB_FILE_EXISTS);
  options.mode = JOEDB_READ;
  EXPECT_EQ(joedb_open((directory_.path() + "/none").c_str(), &options, &other), JOEDB_NO_FILE);
  const std::string damaged = directory_.path() + "/damaged";
  std::ofstream(damaged) << "this is no database, though it is long enough to have a header";
  EXPECT_EQ(joedb_open(damaged.c_str(), &options, &other), JOEDB_CORRUPT);
  EXPECT_EQ(other, nullptr);
}

TEST_F(C_Interface_Test, AReaderFollowsAWriter) {
  joedb_options options = options_of(JOEDB_READ);
  make_table();
  joedb_db* reader = nullptr;
  ASSERT_EQ(joedb_open(path_.c_str(), &options, &reader), JOEDB_OK);
  insert(3, joedb_integer(JOEDB_INT64, 1));
  std::int64_t n = 0;
  EXPECT_EQ(joedb_count(reader, table_, &n), JOEDB_OK);
  EXPECT_EQ(n, 0);
  EXPECT_EQ(joedb_pull(reader, 0, &n), JOEDB_OK);
  EXPECT_GT(n, 0);
  EXPECT_EQ(joedb_count(reader, table_, &n), JOEDB_OK);
  EXPECT_EQ(n, 1);
  EXPECT_EQ(joedb_delete(reader, table_, 0), JOEDB_ERROR);
  joedb_close(reader);
}

TEST_F(C_Interface_Test, AWaitForTheLockEndsByTheTimeoutAndByAnInterrupt) {
  make_table();
  joedb_close(db_);
  joedb_options options = options_of(JOEDB_SHARED);
  ASSERT_EQ(joedb_open(path_.c_str(), &options, &db_), JOEDB_OK);
  joedb_db* patient = nullptr;
  options.timeout = 0.01;
  ASSERT_EQ(joedb_open(path_.c_str(), &options, &patient), JOEDB_OK);
  joedb_db* other = nullptr;
  int calls = 0;
  options.timeout = 0;
  options.interrupt = [](void* n) { return ++*static_cast<int*>(n) > 3 ? 1 : 0; };
  options.interrupt_argument = &calls;
  ASSERT_EQ(joedb_open(path_.c_str(), &options, &other), JOEDB_OK);
  ASSERT_EQ(joedb_begin(db_, nullptr, nullptr), JOEDB_OK);
  EXPECT_EQ(joedb_begin(patient, nullptr, nullptr), JOEDB_LOCKED);
  joedb_close(patient);
  EXPECT_EQ(joedb_begin(other, nullptr, nullptr), JOEDB_INTERRUPTED);
  EXPECT_EQ(joedb_commit(db_), JOEDB_OK);
  calls = 0;
  EXPECT_EQ(joedb_begin(other, nullptr, nullptr), JOEDB_OK);
  EXPECT_EQ(joedb_commit(other), JOEDB_OK);
  joedb_close(other);
}

TEST_F(C_Interface_Test, APastStateOutlivesTheDatabase) {
  make_table();
  insert(JOEDB_STRING, joedb_text("one", 3));
  std::int64_t position = 0;
  ASSERT_EQ(joedb_checkpoint(db_, &position), JOEDB_OK);
  const joedb_value two = joedb_text("two", 3);
  const joedb_field field = JOEDB_STRING;
  ASSERT_EQ(joedb_update(db_, table_, 0, 1, &field, &two), JOEDB_OK);
  joedb_db* past = nullptr;
  ASSERT_EQ(joedb_at(db_, std::to_string(position).c_str(), &past), JOEDB_OK);
  EXPECT_EQ(joedb_at(db_, "..", &past), JOEDB_MISUSE);
  EXPECT_EQ(joedb_at(db_, "42", &past), JOEDB_ERROR);
  joedb_close(db_);
  db_ = past;
  EXPECT_EQ(text(0), "one");
  EXPECT_EQ(joedb_delete(db_, table_, 0), JOEDB_ERROR);
}

TEST_F(C_Interface_Test, AnArrowStreamOutlivesTheDatabaseAndIsTakenByAnotherOne) {
  make_table();
  for (int i = 0; i < 3; ++i) insert(3, joedb_integer(JOEDB_INT64, i));
  const joedb_field field = 3;
  ArrowArrayStream stream{};
  ASSERT_EQ(joedb_export_arrow(db_, table_, 1, &field, JOEDB_ARROW_IDS, &stream), JOEDB_OK);
  const joedb_value five = joedb_integer(JOEDB_INT64, 5);
  EXPECT_EQ(joedb_update(db_, table_, 0, 1, &field, &five), JOEDB_OK);
  joedb_close(db_);
  ASSERT_EQ(joedb_open(":memory:", nullptr, &db_), JOEDB_OK);
  make_table();
  std::int64_t first = -1, n = 0;
  ASSERT_EQ(joedb_import_arrow(db_, table_, &stream, 0, &first, &n), JOEDB_OK)
      << joedb_error_text();
  EXPECT_EQ(stream.release, nullptr);
  EXPECT_EQ(first, 0);
  EXPECT_EQ(n, 3);
  EXPECT_EQ(get(0, 3).is.integer, 0);
  EXPECT_EQ(get(2, 3).is.integer, 2);
  EXPECT_EQ(joedb_import_arrow(db_, table_, &stream, 0, nullptr, nullptr), JOEDB_MISUSE);
  EXPECT_EQ(joedb_export_arrow(db_, 9, 0, nullptr, 0, &stream), JOEDB_DATA);
}

TEST_F(C_Interface_Test, ABlobThatWasReadIsAValue) {
  make_table();
  insert(JOEDB_BLOB, joedb_bytes("abc", 3));
  insert(JOEDB_BLOB, get(0, JOEDB_BLOB));
  insert(JOEDB_BLOB, joedb_null_blob());
  char bytes[3];
  const joedb_value blob = get(1, JOEDB_BLOB);
  ASSERT_EQ(joedb_read_blob(db_, &blob, bytes), JOEDB_OK) << joedb_error_text();
  EXPECT_EQ(std::memcmp(bytes, "abc", 3), 0);
  EXPECT_EQ(get(2, JOEDB_BLOB).is.blob.position, 0);
  joedb_value wrong = joedb_null_blob();
  wrong.is.blob.size = -1;
  EXPECT_EQ(try_insert(JOEDB_BLOB, wrong), JOEDB_DATA);
}

class C_Types_Test : public C_Interface_Test {
 protected:
  C_Types_Test() { EXPECT_EQ(joedb_create_table(db_, "t", &table_), JOEDB_OK); }
  joedb_field add(const char* name, const char* type) {
    joedb_field field = 0;
    EXPECT_EQ(joedb_add_typed_field(db_, table_, name, type, &field), JOEDB_OK)
        << joedb_error_text();
    return field;
  }
  void insert_empty() {
    EXPECT_EQ(joedb_insert(db_, table_, 0, nullptr, nullptr, nullptr), JOEDB_OK);
  }
  std::string type(joedb_field field) {
    const char* result = nullptr;
    EXPECT_EQ(joedb_field_type(db_, table_, field, &result), JOEDB_OK) << joedb_error_text();
    return result;
  }
  static joedb_value as_text(std::string_view text) {
    return joedb_as_text(text.data(), text.size());
  }
  joedb_code update(joedb_field field, joedb_value value) {
    return joedb_update(db_, table_, 0, 1, &field, &value);
  }
  // The text; nullopt for null.
  std::optional<std::string> get_text(joedb_field field) {
    const char* out = nullptr;
    std::size_t size = 0;
    int is_null = 2;
    EXPECT_EQ(joedb_get_text(db_, table_, 0, field, &out, &size), JOEDB_OK) << joedb_error_text();
    EXPECT_EQ(joedb_is_null(db_, table_, 0, field, &is_null), JOEDB_OK);
    EXPECT_EQ(is_null, out == nullptr ? 1 : 0);
    if (out == nullptr) return {};
    EXPECT_EQ(out[size], '\0');
    return std::string(out, size);
  }
};

TEST_F(C_Types_Test, ValuesOfAllTypesAreTexts) {
  struct {
    const char *type, *text;
  } const cases[] = {{"date", "1815-12-10"},
                     {"date optional", "-9999-01-01"},
                     {"timestamp", "2026-01-31T12:00:00.000000Z"},
                     {"timestamp(s)", "2026-01-31T12:00:00Z"},
                     {"duration(ms) optional", "PT1H30M0.005S"},
                     {"decimal(2)", "-12.50"},
                     {"enum(open,paid)", "paid"},
                     {"enum(open,paid) optional", "open"},
                     {"bytes", "00ff10"},
                     {"uuid", "2f1acc6c-3d9a-4f5b-8b1e-0c2b1f1d9a77"},
                     {"json", "{\"a\": 1}"},
                     {"boolean optional", "true"},
                     {"int32 optional", "-7"},
                     {"string optional", "a \"b\" null"},
                     {"string", ""},
                     {"boolean", "false"},
                     {"float64 optional", "0.1"},
                     {"references t", "0"}};
  insert_empty();
  int i = 0;
  for (const auto& [text_of_type, text] : cases) {
    const joedb_field field = add(("f" + std::to_string(i++)).c_str(), text_of_type);
    EXPECT_EQ(type(field), text_of_type);
    ASSERT_EQ(update(field, as_text(text)), JOEDB_OK) << text << ": " << joedb_error_text();
    EXPECT_EQ(get_text(field), text);
    if (std::string_view(text_of_type).ends_with("optional") || i == std::ssize(cases)) {
      EXPECT_EQ(update(field, joedb_null()), JOEDB_OK) << joedb_error_text();
      EXPECT_EQ(get_text(field), std::nullopt);
    } else {
      EXPECT_EQ(update(field, joedb_null()), JOEDB_DATA);
      EXPECT_NE(std::string(joedb_error_text()).find("not optional"), std::string::npos);
    }
  }
}

TEST_F(C_Types_Test, RecordsHaveNoValueInFieldsThatAreLeftOut) {
  insert_empty();
  const joedb_field born = add("born", "date optional");
  EXPECT_EQ(get_text(born), std::nullopt);
  EXPECT_EQ(joedb_delete(db_, table_, 0), JOEDB_OK);
  const joedb_field name = add("name", "string");
  insert(name, joedb_text("Ada", 3));
  EXPECT_EQ(get_text(born), std::nullopt);
  EXPECT_EQ(update(born, joedb_integer(JOEDB_INT32, 1)), JOEDB_OK);  // the stored value
  EXPECT_EQ(get_text(born), "1970-01-02");
  EXPECT_EQ(get(0, born).is.integer, 1);
}

TEST_F(C_Types_Test, WhatATypeDoesNotHaveIsAnErrorWithTheField) {
  insert_empty();
  const joedb_field state = add("state", "enum(open, paid)"), number = add("n", "int8 optional"),
                    picture = add("picture", "blob"), born = add("born", "date");
  for (const auto& [field, text, error] :
       {std::tuple{state, "payed", "t.state: open or paid expected"},
        {number, "128", "t.n: int8 expected"},
        {number, "-128", "t.n: this value means null"},
        {number, "1 2", "t.n: "},
        {picture, "abc", "t.picture: a blob has no text"},
        {born, "yesterday", "t.born: date like"}}) {
    EXPECT_EQ(update(field, as_text(text)), JOEDB_DATA);
    EXPECT_TRUE(std::string_view(joedb_error_text()).starts_with(error)) << joedb_error_text();
  }
  EXPECT_EQ(joedb_get_text(db_, table_, 0, picture, nullptr, nullptr), JOEDB_DATA);
  EXPECT_EQ(joedb_add_typed_field(db_, table_, "x", "dat", nullptr), JOEDB_DATA);
  EXPECT_NE(std::string(joedb_error_text()).find("date"), std::string::npos) << joedb_error_text();
  EXPECT_EQ(joedb_add_typed_field(db_, table_, "x", nullptr, nullptr), JOEDB_MISUSE);
  EXPECT_EQ(get_text(state), "open");
}

TEST_F(C_Types_Test, TheTypeOfAFieldIsDeclared) {
  joedb_field state = 0;
  ASSERT_EQ(joedb_add_field(db_, table_, "state", JOEDB_INT8, 0, &state), JOEDB_OK);
  insert(state, joedb_integer(JOEDB_INT8, 1));
  EXPECT_EQ(joedb_set_type(db_, table_, state, "date"), JOEDB_DATA);
  EXPECT_EQ(joedb_set_type(db_, table_, state, "int16"), JOEDB_DATA);
  ASSERT_EQ(joedb_set_type(db_, table_, state, "enum(open, paid)"), JOEDB_OK);
  open_again();
  EXPECT_EQ(type(state), "enum(open,paid)");
  EXPECT_EQ(get_text(state), "paid");
  EXPECT_EQ(joedb_set_type(db_, table_, state, "enum(open)"), JOEDB_DATA);
  EXPECT_EQ(joedb_set_type(db_, table_, state, "int8"), JOEDB_OK);
  EXPECT_EQ(type(state), "int8");
}

TEST_F(C_Interface_Test, BlobsAreExportedOutsideOfATransaction) {
  make_table();
  insert(JOEDB_BLOB, joedb_bytes("abc", 3));
  ArrowArrayStream stream{};
  ASSERT_EQ(joedb_begin(db_, nullptr, nullptr), JOEDB_OK);
  ASSERT_EQ(joedb_export_arrow(db_, table_, 0, nullptr, 0, &stream), JOEDB_OK);
  stream.release(&stream);
  insert(JOEDB_BLOB, joedb_bytes("def", 3));
  EXPECT_EQ(joedb_export_arrow(db_, table_, 0, nullptr, 0, &stream), JOEDB_ERROR);
  const joedb_field number = JOEDB_INT64;
  ASSERT_EQ(joedb_export_arrow(db_, table_, 1, &number, 0, &stream), JOEDB_OK);
  stream.release(&stream);
  EXPECT_EQ(joedb_commit(db_), JOEDB_OK);
  EXPECT_EQ(joedb_export_arrow(db_, table_, 0, nullptr, 0x80, &stream), JOEDB_MISUSE);
}

TEST_F(C_Interface_Test, AnyThreadMayEndATransaction) {
  make_table();
  ASSERT_EQ(joedb_begin(db_, nullptr, nullptr), JOEDB_OK);
  std::thread([&] {
    insert(3, joedb_integer(JOEDB_INT64, 1));
    EXPECT_EQ(joedb_commit(db_), JOEDB_OK);
  }).join();
  EXPECT_EQ(count(), 1);
}

TEST_F(C_Interface_Test, AnInterruptFunctionCannotUseItsDatabase) {
  make_table();
  joedb_close(db_);
  joedb_options options = options_of(JOEDB_SHARED);
  ASSERT_EQ(joedb_open(path_.c_str(), &options, &db_), JOEDB_OK);
  struct Argument {
    joedb_db* db;
    joedb_table table;
    joedb_code code;
  } argument{nullptr, table_, JOEDB_OK};
  options.interrupt_argument = &argument;
  options.interrupt = [](void* p) {
    auto* const a = static_cast<Argument*>(p);
    a->code = joedb_count(a->db, a->table, nullptr);
    return 1;
  };
  ASSERT_EQ(joedb_open(path_.c_str(), &options, &argument.db), JOEDB_OK);
  ASSERT_EQ(joedb_begin(db_, nullptr, nullptr), JOEDB_OK);
  EXPECT_EQ(joedb_begin(argument.db, nullptr, nullptr), JOEDB_INTERRUPTED);
  EXPECT_EQ(argument.code, JOEDB_MISUSE);
  joedb_close(argument.db);
}

}  // namespace
}  // namespace joedb
