#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <utility>

#include "exchange/arrow/arrays.h"
#include "joedb/arrow/arrow.h"
#include "joedb/io/memory_file.h"
#include "joedb/table/writable_database.h"
#include "kernel/schema/logical_type.h"
#include "kernel/table/declaration.h"
#include "support/arrow_values.h"
#include "support/error_of.h"

namespace joedb::logical_types {
namespace {

using testing::Arrow_Items;
using testing::error_of;
using testing::rows_of;

Declared_Type type_of(const std::string& text) {
  std::string problem;
  return parse_declared_type(text, problem).value();
}

const Table_Id t(1);

// A table `t` whose fields have logical types: a, b, …
class Arrow_Logical_Test : public ::testing::Test {
 protected:
  Arrow_Logical_Test() : db_(file_), pins_(db_.get_database()) { db_.write(Create_Table{"t"}); }
  void TearDown() override { db_.soft_checkpoint(); }

  const Table& table() { return db_.get_database().table(t); }
  Field_Id add(const std::string& name, const std::string& type) {
    const Declared_Type declared = type_of(type);
    db_.write(Add_Field{t, name, Type{declared.stored, {}}});
    const Field_Id field = table().find_field(name);
    declare_type(db_, t, field, declared.logical);
    return field;
  }
  template <class T>
  void set(Field_Id field, const std::vector<T>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Record_Id record(static_cast<index_t>(i));
      if (!table().is_used(record)) db_.write(Insert{t, record});
      db_.write(Update<T>{t, record, field, values[i]});
    }
  }
  Arrow_Items items(const Arrow_Options& options = {}) {
    ArrowArrayStream stream{};
    export_table(pins_, t, options, &stream);
    return Arrow_Items(stream);
  }
  // Exports the only field: its Arrow format, whether it can be null, and its values.
  std::string exported(const Arrow_Options& options = {}) {
    const Arrow_Items all = items(options);
    const ArrowSchema& type = *all.schema().children[0];
    std::string text = type.format + std::string(type.flags == ARROW_FLAG_NULLABLE ? "?" : "");
    for (const std::string& row : all.rows()) text += ' ' + row.substr(1, row.size() - 2);
    return text;
  }

  Memory_File file_;
  Writable_Database db_;
  Arrow_Pins pins_;
};

template <class T>
constexpr T smallest = std::numeric_limits<T>::min();

// ---- export -------------------------------------------------------------------------------------

TEST_F(Arrow_Logical_Test, DatesAndTimesAreNotCopied) {
  set<std::int32_t>(add("a", "date"), {-1, 20000});
  EXPECT_EQ(exported(), "tdD -1 20000");
  const Arrow_Items all = items();
  EXPECT_EQ(all.items()[0]->children[0]->buffers[1],
            table().column<std::int32_t>(Field_Id(1)).data());
  for (const auto& [type, format] :
       std::vector<std::pair<std::string, std::string>>{{"timestamp", "tsu:UTC"},
                                                        {"timestamp(s)", "tss:UTC"},
                                                        {"timestamp(ms)", "tsm:UTC"},
                                                        {"timestamp(ns)", "tsn:UTC"},
                                                        {"duration(s)", "tDs"},
                                                        {"duration(ms)", "tDm"},
                                                        {"duration", "tDu"},
                                                        {"duration(ns)", "tDn"}}) {
    db_.write(Drop_Field{t, Field_Id(static_cast<std::uint16_t>(table().fields().size()))});
    const Field_Id field = add("a", type);
    set<std::int64_t>(field, {-5, 7});
    EXPECT_EQ(exported(), format + " -5 7");
    const Arrow_Items times = items();
    EXPECT_EQ(times.items()[0]->children[0]->buffers[1],
              table().column<std::int64_t>(field).data());
  }
}

TEST_F(Arrow_Logical_Test, MissingNumbersAreNull) {
  const Field_Id day = add("a", "date optional");
  set<std::int32_t>(day, {3, smallest<std::int32_t>, 5});
  EXPECT_EQ(exported(), "tdD? 3 null 5");
  const Arrow_Items all = items();
  EXPECT_EQ(all.items()[0]->children[0]->null_count, 1);
  EXPECT_EQ(all.items()[0]->children[0]->buffers[1], table().column<std::int32_t>(day).data());
  set<std::int32_t>(day, {3, 4, 5});
  EXPECT_EQ(exported(), "tdD? 3 4 5");
  EXPECT_EQ(items().items()[0]->children[0]->buffers[0], nullptr);
}

TEST_F(Arrow_Logical_Test, ANullDurationIsZero) {
  set<std::int64_t>(add("a", "duration(s) optional"), {5, smallest<std::int64_t>});
  EXPECT_EQ(exported(), "tDs? 5 null");
  const Arrow_Items all = items();
  EXPECT_EQ(static_cast<const std::int64_t*>(all.items()[0]->children[0]->buffers[1])[1], 0);
}

TEST_F(Arrow_Logical_Test, MissingValuesOfPlainTypesAreNull) {
  set<std::int64_t>(add("a", "int64 optional"), {1, smallest<std::int64_t>});
  set<double>(add("b", "float64 optional"), {1.5, std::numeric_limits<double>::quiet_NaN()});
  set<std::int8_t>(add("c", "boolean optional"), {1, -1});
  EXPECT_EQ(items().rows(), (std::vector<std::string>{"{1, 1.5, 1}", "{null, null, null}"}));
  EXPECT_EQ(items({.max_rows = 1}).rows(), items().rows());
}

TEST_F(Arrow_Logical_Test, DecimalsHave128Bits) {
  set<std::int64_t>(add("a", "decimal(2) optional"), {1250, -1, smallest<std::int64_t>});
  EXPECT_EQ(exported(), "d:19,2? 1250 -1 null");
}

TEST_F(Arrow_Logical_Test, EnumerationsAreDictionaries) {
  const Field_Id state = add("a", "enum(open,paid) optional");
  set<std::int8_t>(state, {1, 0, smallest<std::int8_t>, 2, -3});
  EXPECT_EQ(exported(), "c? paid open null null null");
  const Arrow_Items all = items();
  const auto* const places =
      static_cast<const std::int8_t*>(all.items()[0]->children[0]->buffers[1]);
  EXPECT_EQ(std::vector<int>(places, places + 5), (std::vector<int>{1, 0, 0, 0, 0}));
  set<std::int8_t>(state, {1, 0, 0, 1, 1});
  EXPECT_EQ(items().items()[0]->children[0]->buffers[1], table().column<std::int8_t>(state).data());
}

TEST_F(Arrow_Logical_Test, ADictionaryThatWasMovedOutOutlivesItsArray) {
  set<std::int8_t>(add("a", "enum(open,paid)"), {1, 0});
  ArrowArray dictionary{};
  {
    const Arrow_Items all = items();
    std::swap(dictionary, *all.items()[0]->children[0]->dictionary);
  }
  EXPECT_EQ(dictionary.length, 2);
  EXPECT_EQ(std::string(static_cast<const char*>(dictionary.buffers[2]), 8), "openpaid");
  dictionary.release(&dictionary);
}

TEST_F(Arrow_Logical_Test, AMissingTextIsNullAndNoTextThatIsNotUtf8) {
  const std::string text = "a text that is not short";
  set<std::string_view>(add("a", "string optional"), {"", "\xff", text, "\xff"});
  for (const Arrow_Text format :
       {Arrow_Text::large_utf8, Arrow_Text::utf8_view, Arrow_Text::binary})
    EXPECT_TRUE(exported({.text = format}).ends_with("?  null " + text + " null"));
  set<std::string_view>(Field_Id(1), {"\xff\xff"});
  EXPECT_THROW(exported(), Exception);
}

TEST_F(Arrow_Logical_Test, BytesAreBinaryAndJsonIsText) {
  const Field_Id bytes = add("a", "bytes optional");
  set<std::string_view>(bytes, {"\xff\xff", "\xff", "\x80"});
  for (const Arrow_Text format : {Arrow_Text::large_utf8, Arrow_Text::utf8_view})
    EXPECT_EQ(exported({.text = format}), "Z? \xff\xff null \x80");
  db_.write(Drop_Field{t, bytes});
  set<std::string_view>(add("a", "json optional"), {"{\"a\": 1}", "\xff", "1"});
  EXPECT_EQ(exported(), "U? {\"a\": 1} null 1");
}

TEST_F(Arrow_Logical_Test, AUuidWithout16BytesIsNull) {
  set<std::string_view>(add("a", "uuid"), {"0123456789abcdef", "", "0123456789abcdefg"});
  EXPECT_EQ(exported(), "w:16? 0123456789abcdef null null");
}

TEST_F(Arrow_Logical_Test, TheMetadataHaveTheLogicalType) {
  add("a", "decimal(2) optional");
  const Arrow_Items all = items();
  const std::string metadata(all.schema().children[0]->metadata, 41);
  EXPECT_EQ(metadata.substr(8), std::string("joedb.type\23\0\0\0decimal(2) optional", 33));
}

TEST_F(Arrow_Logical_Test, DeletedRecordsAreLeftOut) {
  const Field_Id state = add("a", "enum(open,paid)");
  const Field_Id day = add("b", "date optional");
  set<std::int8_t>(state, {0, 1, 1, 0});
  set<std::int32_t>(day, {0, 1, smallest<std::int32_t>, 3});
  db_.write(Delete{t, Record_Id(1)});
  EXPECT_EQ(items().rows(), (std::vector<std::string>{"{open, 0}", "{paid, null}", "{open, 3}"}));
}

// ---- import -------------------------------------------------------------------------------------

// A column in the memory of these vectors, for one import.
template <class T>
struct Source_Column {
  Arrow_Type type;
  std::vector<T> values;
  std::vector<bool> valid = {};
};

template <class T>
Arrow_Buffer buffer_of(const std::vector<T>& values) {
  Arrow_Buffer result(values.size() * sizeof(T) + 1);
  if (!values.empty()) std::memcpy(result.data(), values.data(), values.size() * sizeof(T));
  return result;
}

void add_validity(Arrow_Array_Builder& array, const std::vector<bool>& valid) {
  if (valid.empty()) return array.add_buffer(nullptr);
  std::vector<unsigned char> bits(valid.size() / 8 + 1);
  for (std::size_t i = 0; i < valid.size(); ++i)
    if (valid[i]) bits[i / 8] = static_cast<unsigned char>(bits[i / 8] | 1u << (i % 8));
  array.add_buffer(buffer_of(bits));
}

template <class T>
ArrowArray array_of(const Source_Column<T>& column) {
  Arrow_Array_Builder array;
  add_validity(array, column.valid);
  index_t size = static_cast<index_t>(column.values.size());
  if (column.type.format.starts_with("d:")) size /= 2;
  if (column.type.format.starts_with("w:")) size /= 16;
  array.add_buffer(buffer_of(column.values));
  return array.finish(size, column.valid.empty() ? 0 : -1);
}
ArrowArray array_of(const Source_Column<std::string>& column) {
  Arrow_Array_Builder array;
  add_validity(array, column.valid);
  std::vector<std::int32_t> offsets{0};
  std::string all;
  for (const std::string& value : column.values) {
    all += value;
    offsets.push_back(static_cast<std::int32_t>(all.size()));
  }
  array.add_buffer(buffer_of(offsets));
  array.add_buffer(buffer_of(std::vector<char>(all.begin(), all.end())));
  return array.finish(static_cast<index_t>(column.values.size()), column.valid.empty() ? 0 : -1);
}

// A stream of one item.
ArrowArrayStream stream_of(const Arrow_Type& column, ArrowArray array) {
  struct Source {
    ArrowSchema schema;
    ArrowArray item;
    ~Source() {
      if (schema.release != nullptr) schema.release(&schema);
      if (item.release != nullptr) item.release(&item);
    }
  };
  Arrow_Array_Builder item;
  item.add_buffer(nullptr);
  const index_t rows = array.length;
  item.add_child(array);
  ArrowArrayStream result{};
  result.get_schema = [](ArrowArrayStream* stream, ArrowSchema* out) {
    *out = std::exchange(static_cast<Source*>(stream->private_data)->schema, {});
    return 0;
  };
  result.get_next = [](ArrowArrayStream* stream, ArrowArray* out) {
    *out = std::exchange(static_cast<Source*>(stream->private_data)->item, {});
    return 0;
  };
  result.get_last_error = [](ArrowArrayStream*) -> const char* { return nullptr; };
  result.release = [](ArrowArrayStream* stream) {
    delete static_cast<Source*>(stream->private_data);
    stream->release = nullptr;
  };
  result.private_data = new Source{
      make_arrow_schema({.format = "+s", .name = "", .children = {column}}), item.finish(rows, 0)};
  return result;
}

class Arrow_Logical_Import_Test : public Arrow_Logical_Test {
 protected:
  // Imports a column into the field `a`, and returns all values of the table, or the error.
  template <class T>
  std::string imported(Source_Column<T> column, const Arrow_Import_Options& options = {}) {
    if (column.type.name.empty()) column.type.name = "a";
    ArrowArrayStream stream = stream_of(column.type, array_of(column));
    const std::string error = error_of([&] { import_stream(db_, t, &stream, options); });
    return error == "no error" ? values() : error;
  }
  std::string values() {
    std::string text;
    for (index_t id = 0; id < table().records().size(); ++id)
      for (const Field& field : table().fields()) {
        if (!field.column) continue;
        if (!text.empty()) text += ' ';
        visit_type(field.column->type().code, [&]<class T>(std::type_identity<T>) {
          append_value(text, field.column->logical(),
                       T(static_cast<const Column<T>&>(*field.column).get(id)));
        });
      }
    return text;
  }
  // Adds a field of this type to an empty table, and imports a column.
  template <class T>
  std::string into(const std::string& type, Source_Column<T> column,
                   const Arrow_Import_Options& options = {}) {
    if (!table().find_field("a").is_null()) db_.write(Drop_Field{t, table().find_field("a")});
    for (index_t id = table().records().size(); id-- > 0;)
      if (table().records().is_used(id)) db_.write(Delete{t, Record_Id(id)});
    add("a", type);
    const index_t before = table().records().size();
    const std::string all = imported(column, options);
    if (table().records().size() == before) return all;
    std::string text;
    for (const std::string& word : last_words(all, table().records().size() - before))
      text += (text.empty() ? "" : " ") + word;
    return text;
  }
  static std::vector<std::string> last_words(const std::string& text, index_t count) {
    std::vector<std::string> words;
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(' ', begin), text.size());
      words.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
    return {words.end() - count, words.end()};
  }
};

using Days = Source_Column<std::int32_t>;
using Times = Source_Column<std::int64_t>;
using Names = Source_Column<std::string>;

TEST_F(Arrow_Logical_Import_Test, TimesAreConvertedIfTheyLoseNothing) {
  EXPECT_EQ(into("date", Days{{"tdD", ""}, {0, -1}}), "1970-01-01 1969-12-31");
  EXPECT_EQ(into("date", Times{{"tdm", ""}, {86400'000}}), "1970-01-02");
  EXPECT_EQ(into("date", Times{{"tss:", ""}, {-86400}}), "1969-12-31");
  EXPECT_EQ(into("date", Times{{"tss:", ""}, {-1}}),
            "column a, row 0: -1 does not fit a field of type date");
  EXPECT_EQ(into("date", Times{{"tss:", ""}, {-1}}, {.round = true}), "1969-12-31");
  EXPECT_EQ(into("timestamp", Times{{"tsn:UTC", ""}, {1000}}), "1970-01-01T00:00:00.000001Z");
  EXPECT_EQ(into("timestamp", Times{{"tsn:UTC", ""}, {1}}),
            "column a, row 0: 1 does not fit a field of type timestamp");
  EXPECT_EQ(into("timestamp(s)", Days{{"tdD", ""}, {1}}), "1970-01-02T00:00:00Z");
  EXPECT_EQ(into("timestamp(ns)", Times{{"tss:", ""}, {std::int64_t{1} << 40}}),
            "column a, row 0: 1099511627776 does not fit a field of type timestamp(ns)");
  EXPECT_EQ(into("duration(ms)", Times{{"tDs", ""}, {60}}), "PT1M");
  EXPECT_EQ(into("duration", Times{{"tsu:", ""}, {60}}),
            "column a: its values do not fit a field of type duration");
  EXPECT_EQ(into("int64", Times{{"tDs", ""}, {60}}),
            "column a: its values do not fit a field of type int64");
}

TEST_F(Arrow_Logical_Import_Test, NullIsAMissingValueOfAnOptionalField) {
  EXPECT_EQ(into("date optional", Days{{"tdD", ""}, {1, 2}, {true, false}}), "1970-01-02 null");
  EXPECT_EQ(into("int32 optional", Days{{"i", ""}, {1, 2}, {false, true}}), "null 2");
  EXPECT_EQ(into("string optional", Names{{"u", ""}, {"x", ""}, {true, false}}), "\"x\" null");
  EXPECT_EQ(into("date", Days{{"tdD", ""}, {1}, {false}}),
            "column a, row 0: null, which a field of type date cannot be");
  EXPECT_EQ(into("int32 optional", Days{{"i", ""}, {smallest<std::int32_t>}}),
            "column a, row 0: -2147483648 does not fit a field of type int32 optional");
  EXPECT_EQ(into("string optional", Names{{"z", ""}, {"\xff"}}),
            "column a, row 0: a text that would mean null does not fit a field of type string "
            "optional");
}

TEST_F(Arrow_Logical_Import_Test, DecimalsKeepTheirValue) {
  EXPECT_EQ(into("decimal(2)", Times{{"d:5,1", ""}, {125, 0, -5, -1}}), "12.50 -0.50");
  EXPECT_EQ(into("decimal(2)", Times{{"d:5,3", ""}, {1230, 0}}), "1.23");
  EXPECT_EQ(into("decimal(2)", Times{{"d:5,3", ""}, {1235, 0}}),
            "column a, row 0: a decimal number does not fit a field of type decimal(2)");
  EXPECT_EQ(into("decimal(2)", Times{{"d:5,3", ""}, {1235, 0}}, {.round = true}), "1.24");
  EXPECT_EQ(into("decimal(2)", Times{{"d:38,0", ""}, {0, 1}}),
            "column a, row 0: a decimal number does not fit a field of type decimal(2)");
  EXPECT_EQ(into("decimal(2)", Times{{"l", ""}, {7}}), "7.00");
  EXPECT_EQ(into("decimal(2)", Source_Column<double>{{"g", ""}, {0.1, -2.25}}), "0.10 -2.25");
  EXPECT_EQ(into("decimal(2)", Source_Column<float>{{"f", ""}, {0.1f}}), "0.10");
  EXPECT_EQ(into("decimal(2)", Source_Column<double>{{"g", ""}, {0.125}}),
            "column a, row 0: 0.125 does not fit a field of type decimal(2)");
}

TEST_F(Arrow_Logical_Import_Test, TextsAreNamesOfAnEnumeration) {
  const std::string type = "enum(open,paid) optional";
  EXPECT_EQ(into(type, Names{{"u", ""}, {"paid", "", "open"}, {true, false, true}}),
            "paid null open");
  EXPECT_EQ(into(type, Names{{"u", ""}, {"late"}}),
            "column a, row 0: late does not fit a field of type enum(open,paid) optional");
  EXPECT_EQ(into(type, Times{{"l", ""}, {1}}), "paid");
  EXPECT_EQ(into(type, Times{{"l", ""}, {2}}),
            "column a, row 0: 2 does not fit a field of type enum(open,paid) optional");
}

TEST_F(Arrow_Logical_Import_Test, UuidsAreBytesOrTexts) {
  const std::string uuid = "2f1acc6c-3d9a-4f5b-8b1e-0c2b1f1d9a77";
  const std::string bytes = parse_logical_bytes(uuid, type_of("uuid").logical).value();
  EXPECT_EQ(into("uuid", Names{{"u", ""}, {uuid}}), uuid);
  EXPECT_EQ(into("uuid", Names{{"z", ""}, {bytes}}), uuid);
  EXPECT_EQ(into("uuid", Source_Column<char>{{"w:16", ""}, {bytes.begin(), bytes.end()}}), uuid);
  EXPECT_EQ(into("uuid", Names{{"u", ""}, {"x"}}),
            "column a, row 0: x does not fit a field of type uuid");
}

TEST_F(Arrow_Logical_Import_Test, OptionalFieldsWithoutAColumnHaveNoValue) {
  add("b", "date optional");
  add("c", "float64 optional");
  add("d", "int64");
  EXPECT_EQ(into("int64", Times{{"l", ""}, {1}}), "1");
  EXPECT_EQ(values(), "null null 0 1");
}

TEST_F(Arrow_Logical_Import_Test, AnExportComesBackAsItWas) {
  add("a", "date optional");
  add("b", "timestamp(ns)");
  add("c", "duration(s) optional");
  add("d", "decimal(4) optional");
  add("e", "enum(open,paid) optional");
  add("f", "boolean optional");
  add("g", "uuid optional");
  add("h", "bytes optional");
  add("i", "json");
  add("j", "string optional");
  add("k", "float32 optional");
  set<std::int8_t>(Field_Id(5), {1, smallest<std::int8_t>});
  set<std::int64_t>(Field_Id(4), {123456, smallest<std::int64_t>});
  set<std::int8_t>(Field_Id(6), {1, -1});
  set<std::string_view>(Field_Id(7), {"0123456789abcdef", "\xff"});
  set<std::string_view>(Field_Id(8), {"\xff\x00", "\xff"});
  set<std::string_view>(Field_Id(10), {"a text that is not short", "\xff"});
  const std::string before = values();
  const Table_Id made = [&] {
    ArrowArrayStream stream{};
    export_table(pins_, t, {}, &stream);
    ArrowSchema schema{};
    EXPECT_EQ(stream.get_schema(&stream, &schema), 0);
    const Table_Id id = create_table_for(db_, "made", schema);
    schema.release(&schema);
    import_stream(db_, id, &stream);
    return id;
  }();
  const Table& copy = db_.get_database().table(made);
  for (std::size_t i = 0; i < copy.fields().size(); ++i)
    EXPECT_EQ(copy.fields()[i].column->logical(), table().fields()[i].column->logical());
  EXPECT_EQ(rows_of(copy), rows_of(table()));
  EXPECT_EQ(values(), before);
}

TEST_F(Arrow_Logical_Import_Test, NewTablesHaveLogicalTypes) {
  ArrowSchema schema =
      make_arrow_schema({.format = "+s",
                         .name = "",
                         .children = {{"tdD", "a"},
                                      {"tdm", "b"},
                                      {"tsm:", "c"},
                                      {"tDn", "d"},
                                      {"d:10,2", "e"},
                                      {"w:16", "f", {{"ARROW:extension:name", "arrow.uuid"}}},
                                      {"w:16", "g"},
                                      {"b", "h"},
                                      {"u", "i"},
                                      {"i", "j"},
                                      {"z", "k"},
                                      {"u", "m", {{"joedb.type", "date"}}}}});
  const std::vector<std::string> optional{"h", "i", "j", "k"};
  const Table_Id made = create_table_for(db_, "made", schema, optional);
  schema.release(&schema);
  std::string text;
  for (const Field& field : db_.get_database().table(made).fields())
    text += field.name + ' ' + type_text(db_.get_database(), *field.column, "") + '\n';
  EXPECT_EQ(text,
            "a date\nb date\nc timestamp(ms)\nd duration(ns)\ne decimal(2)\nf uuid\ng blob\n"
            "h boolean optional\ni string optional\nj int32 optional\nk blob\nm string\n");
}

}  // namespace
}  // namespace joedb::logical_types
