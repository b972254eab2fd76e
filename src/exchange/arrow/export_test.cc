#include "joedb/arrow/arrow.h"

#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "joedb/io/memory_file.h"
#include "joedb/table/writable_database.h"
#include "sim/lab/random.h"
#include "sim/lab/random_changes.h"
#include "support/arrow_values.h"
#include "support/error_of.h"

namespace joedb {
namespace {

using testing::Arrow_Items;
using testing::error_of;
using testing::Random;
using testing::Random_Changes;
using testing::rows_of;

const Table_Id person(1);
const Field_Id name(1), age(2), home(3), height(4), is_here(5), picture(6), small(7), shorter(8),
    large(9), weight(10);

// A table in memory that has a field of each type.
class Arrow_Export_Test : public ::testing::Test {
 protected:
  Arrow_Export_Test() {
    database_.emplace(file_);
    pins_.emplace(db().get_database());
    db().write(Create_Table{"person"});
    const auto add = [&](const char* field, Type_Code type, Table_Id referenced = {}) {
      db().write(Add_Field{person, field, Type{type, referenced}});
    };
    add("name", Type_Code::string);
    add("age", Type_Code::int32);
    add("home", Type_Code::reference, person);
    add("height", Type_Code::float64);
    add("is_here", Type_Code::boolean);
    add("picture", Type_Code::blob);
    add("small", Type_Code::int8);
    add("shorter", Type_Code::int16);
    add("large", Type_Code::int64);
    add("weight", Type_Code::float32);
  }

  void TearDown() override {
    if (database_) db().soft_checkpoint();
  }

  Writable_Database& db() { return *database_; }
  const Table& table() { return db().get_database().table(person); }
  Arrow_Pins& pins() { return *pins_; }

  void insert(index_t id) {
    const Record_Id record(id);
    db().write(Insert{person, record});
    std::string text;
    for (index_t i = 0; i < id % 30; ++i) text += static_cast<char>('a' + i % 26);
    db().write(Update<std::string_view>{person, record, name, text});
    db().write(Update<std::int32_t>{person, record, age, static_cast<std::int32_t>(7 * id)});
    if (id % 3 != 0) db().write(Update<Record_Id>{person, record, home, Record_Id(id / 2)});
    db().write(Update<double>{person, record, height, static_cast<double>(id) / 3});
    db().write(Update<bool>{person, record, is_here, id % 5 < 2});
    if (id % 7 != 0) db().write(Update<Blob>{person, record, picture, db().write_blob(text)});
    db().write(Update<std::int8_t>{person, record, small, static_cast<std::int8_t>(id)});
    db().write(Update<std::int16_t>{person, record, shorter, static_cast<std::int16_t>(-id)});
    db().write(Update<std::int64_t>{person, record, large, id << 40});
    db().write(Update<float>{person, record, weight, static_cast<float>(id) / 4});
  }
  void fill(index_t size) {
    for (index_t id = 0; id < size; ++id) insert(id);
  }

  ArrowArrayStream stream(const Arrow_Options& options = {}) {
    ArrowArrayStream result{};
    export_table(pins(), person, options, &result);
    return result;
  }
  Arrow_Items items(const Arrow_Options& options = {}) {
    ArrowArrayStream s = stream(options);
    return Arrow_Items(s);
  }

  Memory_File file_;
  std::optional<Writable_Database> database_;
  std::optional<Arrow_Pins> pins_;
};

TEST_F(Arrow_Export_Test, HasTheValuesOfAllTypes) {
  fill(100);
  for (const Arrow_Text text : {Arrow_Text::large_utf8, Arrow_Text::utf8_view, Arrow_Text::binary})
    EXPECT_EQ(items({.text = text}).rows(), rows_of(table()));
}

TEST_F(Arrow_Export_Test, DescribesTheFields) {
  const Arrow_Items all = items({.with_ids = true});
  std::string text;
  for (std::int64_t i = 0; i < all.schema().n_children; ++i) {
    const ArrowSchema& field = *all.schema().children[i];
    text += std::string(field.name) + ' ' + field.format + ' ' + std::to_string(field.flags) + '\n';
  }
  EXPECT_EQ(text,
            "__id l 0\nname U 0\nage i 0\nhome l 2\nheight g 0\nis_here b 0\npicture +s 2\n"
            "small c 0\nshorter s 0\nlarge l 0\nweight f 0\n");
  const std::string metadata("\1\0\0\0\12\0\0\0joedb.type\21\0\0\0references person", 35);
  EXPECT_EQ(std::string(all.schema().children[3]->metadata, metadata.size()), metadata);
  EXPECT_TRUE(all.items().empty());
}

TEST_F(Arrow_Export_Test, DoesNotCopyNumbers) {
  fill(100);
  const Arrow_Items all = items({.fields = {{age, height, small, shorter, large, weight}}});
  ASSERT_EQ(all.items().size(), 1u);
  const auto buffer = [&](int child) { return all.items()[0]->children[child]->buffers[1]; };
  EXPECT_EQ(buffer(0), table().column<std::int32_t>(age).data());
  EXPECT_EQ(buffer(1), table().column<double>(height).data());
  EXPECT_EQ(buffer(2), table().column<std::int8_t>(small).data());
  EXPECT_EQ(buffer(3), table().column<std::int16_t>(shorter).data());
  EXPECT_EQ(buffer(4), table().column<std::int64_t>(large).data());
  EXPECT_EQ(buffer(5), table().column<float>(weight).data());
}

TEST_F(Arrow_Export_Test, DoesNotCopyLongTextsAsViews) {
  fill(100);
  const Arrow_Items all = items({.fields = {{name}}, .text = Arrow_Text::utf8_view});
  const std::string_view texts = table().column<std::string_view>(name).texts();
  const auto* const part = static_cast<const char*>(all.items()[0]->children[0]->buffers[2]);
  EXPECT_GE(part, texts.data());
  EXPECT_LT(part, texts.data() + texts.size());
}

TEST_F(Arrow_Export_Test, HasTheBytesOfBlobsWhereThereIsAFile) {
  fill(31);
  db().flush();
  const std::shared_ptr<const Abstract_File> file(&file_, [](const Abstract_File*) {});
  const Arrow_Items all = items({.fields = {{picture}}, .blob_file = file});
  const std::vector<std::string> rows = all.rows();
  ASSERT_EQ(rows.size(), 31u);
  EXPECT_EQ(rows[0], "{null}");
  EXPECT_EQ(rows[3], "{abc}");
  EXPECT_EQ(rows[30], "{}");
  EXPECT_EQ(std::string(all.schema().children[0]->format), "Z");
}

TEST_F(Arrow_Export_Test, ABlobThatIsNotInTheFileIsAnError) {
  fill(2);
  db().write(Update<Blob>{person, Record_Id(1), picture, Blob(1000000, 5)});
  db().flush();
  const std::shared_ptr<const Abstract_File> file(&file_, [](const Abstract_File*) {});
  EXPECT_EQ(error_of([&] { items({.fields = {{picture}}, .blob_file = file}); }),
            "table person, field picture, record 1: the blob is not in the file");
}

TEST_F(Arrow_Export_Test, HasOnlyUsedRecordsAndTheirIds) {
  fill(200);
  for (const index_t id : {0, 1, 50, 51, 52, 99, 101, 199})
    db().write(Delete{person, Record_Id(id)});
  for (const index_t max_rows : {1, 3, 8, 1000})
    for (const index_t min_run : {1, 2, 20, 1000}) {
      const Arrow_Items all = items({.with_ids = true, .max_rows = max_rows, .min_run = min_run});
      EXPECT_EQ(all.rows(), rows_of(table(), true)) << max_rows << ' ' << min_run;
      for (const auto& item : all.items()) EXPECT_LE(item->length, max_rows);
    }
  EXPECT_EQ(items({.min_run = 20}).items().size(), 4u);  // ids 2-49, 53-98, 100, 102-198
}

TEST_F(Arrow_Export_Test, HasTheGivenRecordsInTheirOrder) {
  fill(200);
  const auto all = rows_of(table(), true);
  for (const index_t min_run : {1, 20}) {
    const Arrow_Items some =
        items({.records = {{7, 3, 4, 5, 199}}, .with_ids = true, .min_run = min_run});
    EXPECT_EQ(some.rows(), (std::vector{all[7], all[3], all[4], all[5], all[199]}));
  }
  EXPECT_EQ(items({.records = {std::vector<index_t>()}}).items().size(), 0u);
  EXPECT_NE(error_of([&] { items({.records = {{200}}}); }), "");
}

TEST_F(Arrow_Export_Test, ATextThatIsNotUtf8IsAnErrorOrReplaced) {
  fill(20);
  const std::string bad = "\xff and more than twelve \xc3\xa9 bytes \xe2\x82";
  db().write(Update<std::string_view>{person, Record_Id(7), name, bad});
  db().write(Update<std::string_view>{person, Record_Id(8), name, "a\xc3"});
  const Arrow_Options options{.fields = {{name}}};
  EXPECT_EQ(error_of([&] { items(options); }),
            "table person, field name, record 7: the text is not UTF-8; export texts as bytes, or "
            "let such bytes be replaced");
  for (const Arrow_Text text : {Arrow_Text::large_utf8, Arrow_Text::utf8_view}) {
    Arrow_Options replaced = options;
    replaced.text = text;
    replaced.invalid_text = Arrow_Invalid_Text::replace;
    const std::vector<std::string> rows = items(replaced).rows();
    EXPECT_EQ(rows[7],
              "{\xef\xbf\xbd and more than twelve \xc3\xa9 bytes \xef\xbf\xbd\xef\xbf\xbd}");
    EXPECT_EQ(rows[8], "{a\xef\xbf\xbd}");
    EXPECT_EQ(rows[19], "{abcdefghijklmnopqrs}");
  }
  Arrow_Options binary = options;
  binary.text = Arrow_Text::binary;
  EXPECT_EQ(items(binary).rows()[7], "{" + bad + "}");
}

// This includes the last text of a block, and texts between replaced ones.
TEST_F(Arrow_Export_Test, HasTextsOfAllLengths) {
  index_t rows = 0;
  const auto check = [&] {
    for (const Arrow_Text text :
         {Arrow_Text::large_utf8, Arrow_Text::utf8_view, Arrow_Text::binary})
      for (const index_t max_rows : {7, 1000})
        ASSERT_EQ(items({.text = text, .max_rows = max_rows}).rows(), rows_of(table())) << rows;
  };
  for (std::size_t size = 0; size < 80; ++size) {
    const Record_Id record(rows++);
    db().write(Insert{person, record});
    std::string text(size, 'a');
    if (size > 50) text.replace(size / 2, 2, "\xc3\xa9");
    db().write(Update<std::string_view>{person, record, name, text});
    check();
  }
  const std::string bad(70, '\xff');
  for (const index_t id : {0, 20, 79}) {
    db().write(Update<std::string_view>{person, Record_Id(id), name, bad});
    db().write(Update<std::string_view>{person, Record_Id(id), name, "now short"});
    check();
  }
}

TEST_F(Arrow_Export_Test, FieldsAndTablesThatDoNotExistAreErrors) {
  ArrowArrayStream out{};
  EXPECT_EQ(error_of([&] { export_table(pins(), Table_Id(2), {}, &out); }),
            error_of([&] { db().get_database().table(Table_Id(2)); }));
  EXPECT_EQ(error_of([&] { export_table(pins(), person, {.fields = {{Field_Id(99)}}}, &out); }),
            "table person has no such field");
  EXPECT_EQ(out.release, nullptr);
}

// ---- lifetime -----------------------------------------------------------------------------------

TEST_F(Arrow_Export_Test, ArraysKeepTheirValuesWhenTheTableChanges) {
  fill(1000);
  const std::vector<std::string> before = rows_of(table());
  const Arrow_Items all = items();
  const Arrow_Items views = items({.text = Arrow_Text::utf8_view});
  ArrowArrayStream late = stream();
  EXPECT_TRUE(pins().has_live_arrays());
  pins().before_change(person);
  EXPECT_FALSE(pins().has_live_arrays());
  for (index_t id = 0; id < 1000; ++id) {
    db().write(Update<std::int32_t>{person, Record_Id(id), age, -1});
    db().write(Update<std::string_view>{person, Record_Id(id), name, "changed to another text"});
    db().write(Update<Record_Id>{person, Record_Id(id), home, Record_Id(3)});
  }
  for (index_t id = 1000; id < 5000; ++id) insert(id);
  db().write(Delete{person, Record_Id(5)});
  EXPECT_EQ(all.rows(), before);
  EXPECT_EQ(views.rows(), before);
  EXPECT_EQ(Arrow_Items(late).rows(), before);
  EXPECT_EQ(items().rows(), rows_of(table()));
}

TEST_F(Arrow_Export_Test, ArraysOutliveTheDatabase) {
  fill(1000);
  const std::vector<std::string> before = rows_of(table());
  const Arrow_Items all = items();
  const Arrow_Items views = items({.text = Arrow_Text::utf8_view});
  ArrowArrayStream late = stream();
  db().soft_checkpoint();
  pins_.reset();
  database_.reset();
  EXPECT_EQ(all.rows(), before);
  EXPECT_EQ(views.rows(), before);
  EXPECT_EQ(Arrow_Items(late).rows(), before);
}

TEST_F(Arrow_Export_Test, ArraysOutliveAChangeAndADroppedTableAndARollback) {
  fill(300);
  db().soft_checkpoint();
  const std::vector<std::string> before = rows_of(table());
  const Arrow_Items all = items();
  pins().before_change();
  insert(300);
  const std::vector<std::string> later = rows_of(table());
  const Arrow_Items more = items();
  pins().before_change();
  db().write(Drop_Table{person});
  pins().before_change();
  db().rollback();
  const Arrow_Items again = items();
  EXPECT_EQ(all.rows(), before);
  EXPECT_EQ(more.rows(), later);
  EXPECT_EQ(again.rows(), before);
}

TEST_F(Arrow_Export_Test, ReleasedArraysCostNothing) {
  fill(100);
  items();
  const std::int32_t* const data = table().column<std::int32_t>(age).data();
  EXPECT_FALSE(pins().has_live_arrays());
  pins().before_change(person);
  EXPECT_EQ(table().column<std::int32_t>(age).data(), data);
}

TEST_F(Arrow_Export_Test, AChildThatWasMovedOutOutlivesItsBatch) {
  fill(100);
  ArrowArray child{};
  {
    const Arrow_Items all = items({.fields = {{age, name}}});
    ArrowArray& place = *all.items()[0]->children[0];
    child = place;
    place.release = nullptr;
  }
  db().soft_checkpoint();
  pins_.reset();
  database_.reset();
  EXPECT_EQ(static_cast<const std::int32_t*>(child.buffers[1])[99], 7 * 99);
  child.release(&child);
  EXPECT_EQ(child.release, nullptr);
}

TEST_F(Arrow_Export_Test, ArraysAreReleasedByOtherThreads) {
  fill(5000);
  std::vector<std::string> before = rows_of(table());
  for (int round = 0; round < 20; ++round) {
    ArrowArrayStream s = stream();
    std::thread consumer([&] { EXPECT_EQ(Arrow_Items(s).rows().size(), before.size()); });
    pins().before_change(person);
    db().write(Update<std::int32_t>{person, Record_Id(round), age, -round});
    consumer.join();
  }
}

// Exports some states of a database, between random changes, and compares the arrays later.
TEST(Arrow_Export, ArraysHaveTheStateOfTheirExportWhateverComesLater) {
  const std::uint64_t first = testing::first_seed();
  for (std::uint64_t seed = first; seed < first + 30; ++seed) {
    SCOPED_TRACE("JOEDB_TEST_SEED=" + std::to_string(seed));
    Random random(seed);
    Random_Changes changes(random);
    struct Export {
      ArrowArrayStream stream;
      std::optional<Arrow_Items> items;
      std::vector<std::string> rows;
    };
    std::vector<std::unique_ptr<Export>> exports;
    const auto check = [&](Export& e) {
      if (!e.items) e.items.emplace(e.stream);
      EXPECT_EQ(e.items->rows(), e.rows);
    };
    {
      Memory_File file;
      Writable_Database db(file);
      Arrow_Pins pins(db.get_database());
      for (int step = 0; step < 300; ++step) {
        pins.before_change();
        if (random.below(40) == 0)
          db.rollback();
        else if (random.below(20) == 0)
          db.soft_checkpoint();
        else
          changes.change(db);
        for (const auto& table : db.get_database().tables()) {
          if (!table || random.below(8) != 0) continue;
          exports.push_back(std::make_unique<Export>());
          Export& e = *exports.back();
          const bool with_ids = random.flip();
          e.rows = rows_of(*table, with_ids);
          export_table(pins, table->id(),
                       {.with_ids = with_ids,
                        .text = random.flip() ? Arrow_Text::utf8_view : Arrow_Text::binary,
                        .invalid_text = Arrow_Invalid_Text::replace,
                        .max_rows = random.flip() ? 7 : 1000,
                        .min_run = static_cast<index_t>(1 + random.below(5))},
                       &e.stream);
          if (random.flip()) e.items.emplace(e.stream);
        }
        if (exports.size() > 10) {
          const std::size_t i = random.below(exports.size());
          check(*exports[i]);
          std::swap(exports[i], exports.back());
          exports.pop_back();
        }
      }
      db.soft_checkpoint();
    }
    for (const auto& e : exports) check(*e);
  }
}

}  // namespace
}  // namespace joedb
