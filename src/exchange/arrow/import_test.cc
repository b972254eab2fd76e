#include "joedb/arrow/arrow.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>

#include "exchange/arrow/arrays.h"
#include "joedb/format/header.h"
#include "joedb/io/memory_file.h"
#include "kernel/table/declaration.h"
#include "sim/lab/database_text.h"
#include "sim/lab/random.h"
#include "sim/lab/random_changes.h"
#include "support/arrow_values.h"
#include "support/error_of.h"

namespace joedb {
namespace {

using testing::Arrow_Items;
using testing::content_text;
using testing::error_of;
using testing::Random;
using testing::Random_Changes;
using testing::rows_of;

// ---- arrays of other libraries ------------------------------------------------------------------

template <class T>
Arrow_Buffer buffer_of(const std::vector<T>& values) {
  Arrow_Buffer result(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(result.data(), values.data(), values.size() * sizeof(T));
  return result;
}

// Adds a validity bitmap: elements are null where `valid` is 0.
void add_validity(Arrow_Array_Builder& array, const std::vector<int>& valid) {
  if (valid.empty()) return array.add_buffer(nullptr);
  std::vector<unsigned char> bits(valid.size() / 8 + 1);
  for (std::size_t i = 0; i < valid.size(); ++i)
    if (valid[i] != 0) bits[i / 8] = static_cast<unsigned char>(bits[i / 8] | 1u << (i % 8));
  array.add_buffer(buffer_of(bits));
}

template <class T>
ArrowArray numbers(const std::vector<T>& values, const std::vector<int>& valid = {}) {
  Arrow_Array_Builder array;
  add_validity(array, valid);
  array.add_buffer(buffer_of(values));
  return array.finish(static_cast<index_t>(values.size()), valid.empty() ? 0 : -1);
}

ArrowArray bits(const std::vector<int>& values) {
  Arrow_Array_Builder array;
  array.add_buffer(nullptr);
  add_validity(array, values);
  return array.finish(static_cast<index_t>(values.size()), 0);
}

template <class Offset_Type>
ArrowArray texts(const std::vector<std::string>& values, const std::vector<int>& valid = {}) {
  std::vector<Offset_Type> offsets{0};
  std::string all;
  for (const std::string& value : values) {
    all += value;
    offsets.push_back(static_cast<Offset_Type>(all.size()));
  }
  Arrow_Array_Builder array;
  add_validity(array, valid);
  array.add_buffer(buffer_of(offsets));
  array.add_buffer(buffer_of(std::vector<char>(all.begin(), all.end())));
  return array.finish(static_cast<index_t>(values.size()), valid.empty() ? 0 : -1);
}

struct Foreign_Column {
  Arrow_Type type;
  ArrowArray array;
};

ArrowArray item_of(const std::vector<ArrowArray>& columns) {
  Arrow_Array_Builder item;
  item.add_buffer(nullptr);
  for (const ArrowArray& column : columns) item.add_child(column);
  return item.finish(columns.empty() ? 0 : columns[0].length, 0);
}

// Creates a stream of these items.
ArrowArrayStream stream_of(const ArrowSchema& schema, std::vector<ArrowArray> items) {
  struct Source {
    ArrowSchema schema;
    std::vector<ArrowArray> items;
    std::size_t next = 0;
    ~Source() {
      if (schema.release != nullptr) schema.release(&schema);
      for (; next < items.size(); ++next) items[next].release(&items[next]);
    }
  };
  ArrowArrayStream result{};
  result.get_schema = [](ArrowArrayStream* stream, ArrowSchema* out) {
    Source& source = *static_cast<Source*>(stream->private_data);
    *out = std::exchange(source.schema, {});
    return 0;
  };
  result.get_next = [](ArrowArrayStream* stream, ArrowArray* out) {
    Source& source = *static_cast<Source*>(stream->private_data);
    *out = source.next < source.items.size() ? source.items[source.next++] : ArrowArray{};
    return 0;
  };
  result.get_last_error = [](ArrowArrayStream*) -> const char* { return nullptr; };
  result.release = [](ArrowArrayStream* stream) {
    delete static_cast<Source*>(stream->private_data);
    stream->release = nullptr;
  };
  result.private_data = new Source{schema, std::move(items)};
  return result;
}

ArrowArrayStream stream_of(const std::vector<Foreign_Column>& columns) {
  Arrow_Type type{.format = "+s", .name = ""};
  std::vector<ArrowArray> arrays;
  for (const Foreign_Column& column : columns) {
    type.children.push_back(column.type);
    arrays.push_back(column.array);
  }
  return stream_of(make_arrow_schema(type), {item_of(arrays)});
}

// ---- the table ----------------------------------------------------------------------------------

const Table_Id t(1);

class Arrow_Import_Test : public ::testing::Test {
 protected:
  explicit Arrow_Import_Test(std::vector<Index_Definition> indexes = {})
      : db_(file_, {}, Deleted_Values::reset, std::move(indexes)) {
    db_.write(Create_Table{"t"});
    const auto add = [&](const char* name, Type_Code type) {
      db_.write(Add_Field{t, name, Type{type, type == Type_Code::reference ? t : Table_Id()}});
    };
    add("text", Type_Code::string);
    add("tiny", Type_Code::int8);
    add("large", Type_Code::int64);
    add("single", Type_Code::float32);
    add("real", Type_Code::float64);
    add("yes", Type_Code::boolean);
    add("to", Type_Code::reference);
    add("bytes", Type_Code::blob);
  }
  void TearDown() override {
    db_.soft_checkpoint();
    Database read;
    Readonly_Journal journal(file_);
    load(read, journal);
    EXPECT_EQ(content_text(read), content_text(db_.get_database()));
  }

  const Table& table() { return db_.get_database().table(t); }
  Arrow_Imported import(ArrowArrayStream stream, const Arrow_Import_Options& options = {}) {
    const Arrow_Imported result = import_stream(db_, t, &stream, options);
    EXPECT_EQ(stream.release, nullptr);
    return result;
  }
  Arrow_Imported import(const std::vector<Foreign_Column>& columns,
                        const Arrow_Import_Options& options = {}) {
    return import(stream_of(columns), options);
  }
  // Imports a stream, and returns the error. Verifies that the import changed nothing, and released
  // the stream.
  std::string failure(ArrowArrayStream stream, const Arrow_Import_Options& options = {}) {
    const std::string before = content_text(db_.get_database());
    const Offset position = db_.get_journal().get_position();
    const std::string result = error_of([&] { import_stream(db_, t, &stream, options); });
    EXPECT_EQ(stream.release, nullptr);
    EXPECT_EQ(content_text(db_.get_database()), before);
    EXPECT_EQ(db_.get_journal().get_position(), position);
    return result;
  }
  std::string failure(const std::vector<Foreign_Column>& columns,
                      const Arrow_Import_Options& options = {}) {
    return failure(stream_of(columns), options);
  }
  template <class T>
  T value(std::uint16_t field, index_t id) {
    return table().column<T>(Field_Id(field)).get(id);
  }

  Memory_File file_;
  Writable_Database db_;
};

TEST_F(Arrow_Import_Test, AddsRecordsWithTheValuesOfTheColumns) {
  const Arrow_Imported done = import(
      {{{"g", "real"}, numbers<double>({1.5, 2.5})}, {{"u", "text"}, texts<int>({"a", "b"})}});
  EXPECT_EQ(done.rows, 2);
  EXPECT_EQ(done.first, Record_Id(0));
  EXPECT_EQ(import({{{"l", "large"}, numbers<std::int64_t>({7})}}).first, Record_Id(2));
  EXPECT_EQ(rows_of(table()), (std::vector<std::string>{"{a, 0, 0, 0, 1.5, 0, null, null}",
                                                        "{b, 0, 0, 0, 2.5, 0, null, null}",
                                                        "{, 0, 7, 0, 0, 0, null, null}"}));
}

TEST_F(Arrow_Import_Test, ConvertsNumbersThatFit) {
  import({{{"L", "tiny"}, numbers<std::uint64_t>({127, 1})},
          {{"g", "large"}, numbers<double>({-9223372036854775808.0, 3})},
          {{"g", "single"}, numbers<double>({0.5, std::numeric_limits<double>::quiet_NaN()})},
          {{"l", "real"}, numbers<std::int64_t>({1ll << 62, 5})},
          {{"C", "yes"}, numbers<std::uint8_t>({1, 0})},
          { {"i", "to"},
            numbers<std::int32_t>({-1, 1}) }});
  import({{{"b", "tiny"}, bits({1, 0, 1})},
          {{"e", "single"}, numbers<std::uint16_t>({0x3c00, 0xc000, 0x0001})},
          { {"b", "yes"},
            bits({0, 1, 1}) }});
  EXPECT_EQ(rows_of(table()), (std::vector<std::string>{
                                  "{, 127, -9223372036854775808, 0.5, 4.6116860184273879e+18, 1, "
                                  "null, null}",
                                  "{, 1, 3, nan, 5, 0, 1, null}", "{, 1, 0, 1, 0, 0, null, null}",
                                  "{, 0, 0, -2, 0, 1, null, null}",
                                  "{, 1, 0, 5.9604644775390625e-08, 0, 1, null, null}"}));
}

TEST_F(Arrow_Import_Test, ANumberThatDoesNotFitIsAnErrorAndNothingIsWritten) {
  EXPECT_EQ(failure({{{"l", "tiny"}, numbers<std::int64_t>({1, 2, 128})}}),
            "column tiny, row 2: 128 does not fit a field of type int8");
  EXPECT_EQ(failure({{{"g", "large"}, numbers<double>({0.5})}}),
            "column large, row 0: 0.5 does not fit a field of type int64");
  EXPECT_EQ(failure({{{"g", "large"}, numbers<double>({9223372036854775808.0})}}),
            "column large, row 0: 9.2233720368547758e+18 does not fit a field of type int64");
  EXPECT_EQ(failure({{{"L", "large"}, numbers<std::uint64_t>({1ull << 63})}}),
            "column large, row 0: 9223372036854775808 does not fit a field of type int64");
  EXPECT_EQ(failure({{{"g", "single"}, numbers<double>({0.1})}}),
            "column single, row 0: 0.10000000000000001 does not fit a field of type float32");
  EXPECT_EQ(failure({{{"l", "real"}, numbers<std::int64_t>({(1ll << 53) + 1})}}),
            "column real, row 0: 9007199254740993 does not fit a field of type float64");
  EXPECT_EQ(failure({{{"g", "single"}, numbers<double>({1e300})}}, {.round = true}),
            "column single, row 0: 1.0000000000000001e+300 does not fit a field of type float32");
  EXPECT_EQ(failure({{{"c", "yes"}, numbers<std::int8_t>({2})}}),
            "column yes, row 0: 2 does not fit a field of type boolean");
  EXPECT_EQ(failure({{{"c", "to"}, numbers<std::int8_t>({-2})}}),
            "column to, row 0: -2 does not fit a field of type references");
  import({{ {"g", "single"}, numbers<double>({0.1}) }}, {.round = true});
  EXPECT_EQ(value<float>(4, 0), 0.1f);
}

TEST_F(Arrow_Import_Test, RowsAreCountedThroughAllItems) {
  const Arrow_Type type{.format = "+s", .name = "", .children = {{"s", "tiny"}}};
  EXPECT_EQ(
      failure(stream_of(make_arrow_schema(type), {item_of({numbers<std::int16_t>({1, 2})}),
                                                  item_of({numbers<std::int16_t>({})}),
                                                  item_of({numbers<std::int16_t>({3, 999})})})),
      "column tiny, row 3: 999 does not fit a field of type int8");
}

TEST_F(Arrow_Import_Test, TypesThatFitNoValueAreErrors) {
  EXPECT_EQ(failure({{{"u", "tiny"}, texts<int>({"1"})}}),
            "column tiny: its values do not fit a field of type int8");
  EXPECT_EQ(failure({{{"l", "text"}, numbers<std::int64_t>({1})}}),
            "column text: its values do not fit a field of type string");
  EXPECT_EQ(failure({{{"tDs", "large"}, numbers<std::int64_t>({1})}}),
            "column large: its values do not fit a field of type int64");
  EXPECT_EQ(failure({{{"tss:", "tiny"}, numbers<std::int64_t>({1})}}),
            "column tiny: its values do not fit a field of type int8");
}

TEST_F(Arrow_Import_Test, TimesBecomeSeconds) {
  const auto imported = [&](const char* format, ArrowArray values, bool round = false) {
    const Arrow_Imported result = import({{{format, "large"}, values}}, {.round = round});
    return value<std::int64_t>(3, result.first.value());
  };
  EXPECT_EQ(imported("tss:", numbers<std::int64_t>({-5})), -5);
  EXPECT_EQ(imported("tsm:UTC", numbers<std::int64_t>({-5000})), -5);
  EXPECT_EQ(imported("tsu:", numbers<std::int64_t>({7'000'000})), 7);
  EXPECT_EQ(imported("tsn:Europe/Paris", numbers<std::int64_t>({7'000'000'000})), 7);
  EXPECT_EQ(imported("tdD", numbers<std::int32_t>({2})), 172800);
  EXPECT_EQ(imported("tdm", numbers<std::int64_t>({86'400'000})), 86400);
  EXPECT_EQ(failure({{{"tsm:", "large"}, numbers<std::int64_t>({-5001})}}),
            "column large, row 0: a time with a fraction of a second, which a field of type int64 "
            "cannot hold, if it is not rounded");
  EXPECT_EQ(imported("tsm:", numbers<std::int64_t>({-5001}), true), -6);
}

TEST_F(Arrow_Import_Test, FloatsCanBeReferences) {
  import({{ {"g", "to"}, numbers<double>({1, std::nan("")}) }});
  EXPECT_EQ(value<Record_Id>(7, 0), Record_Id(1));
  EXPECT_TRUE(value<Record_Id>(7, 1).is_null());
  EXPECT_EQ(failure({{{"g", "to"}, numbers<double>({1.5})}}),
            "column to, row 0: 1.5 does not fit a field of type references");
}

TEST_F(Arrow_Import_Test, ColumnsCanBeRenamed) {
  import({{ {"c", "Alter"}, numbers<std::int8_t>({4}) }}, {.rename = { { "Alter", "tiny" } }});
  EXPECT_EQ(value<std::int8_t>(2, 0), 4);
}

TEST_F(Arrow_Import_Test, NullIsAnErrorOrTheDefault) {
  const auto columns = [] {
    return std::vector<Foreign_Column>{
        {{"c", "tiny"}, numbers<std::int8_t>({1, 2, 3}, {1, 0, 1})},
        {{"U", "text"}, texts<std::int64_t>({"a", "b", "c"}, {0, 1, 1})}};
  };
  EXPECT_EQ(failure(columns()), "column text, row 0: null, which a field of type string cannot be");
  import(columns(), {.null_is_default = true});
  EXPECT_EQ(rows_of(table()), (std::vector<std::string>{"{, 1, 0, 0, 0, 0, null, null}",
                                                        "{b, 0, 0, 0, 0, 0, null, null}",
                                                        "{c, 3, 0, 0, 0, 0, null, null}"}));
}

TEST_F(Arrow_Import_Test, ReferencesAndBlobsCanBeNull) {
  import({{{"l", "to"}, numbers<std::int64_t>({5, 6}, {1, 0})},
          { {"z", "bytes"},
            texts<int>({"ab", ""}, {1, 0}) }});
  import({{ {"u", "bytes"}, texts<int>({""}) }});
  EXPECT_EQ(value<Record_Id>(7, 0), Record_Id(5));
  EXPECT_TRUE(value<Record_Id>(7, 1).is_null());
  EXPECT_EQ(db_.read_blob(value<Blob>(8, 0)), "ab");
  EXPECT_TRUE(value<Blob>(8, 1).is_null());
  EXPECT_FALSE(value<Blob>(8, 2).is_null());
  EXPECT_EQ(db_.read_blob(value<Blob>(8, 2)), "");
}

TEST_F(Arrow_Import_Test, ReadsDictionaries) {
  ArrowArray dictionary = texts<int>({"Lisbon", "Oslo", "?"}, {1, 1, 0});
  dictionary.null_count = 1;
  ArrowSchema words = make_arrow_schema({"u", ""});
  for (const std::int8_t code : std::vector<std::int8_t>{1, 3, -1}) {
    ArrowArray codes = numbers<std::int8_t>({1, 0, code, 2}, {1, 1, 1, 1});
    codes.dictionary = &dictionary;
    ArrowSchema schema =
        make_arrow_schema({.format = "+s", .name = "", .children = {{"c", "text"}}});
    schema.children[0]->dictionary = &words;
    ArrowArrayStream stream = stream_of(schema, {item_of({codes})});
    const Arrow_Import_Options options{.null_is_default = true};
    if (code == 1)
      import(stream, options);
    else
      EXPECT_EQ(failure(stream, options),
                "column text: the array contradicts itself: an index is not in the dictionary");
  }
  dictionary.release(&dictionary);
  words.release(&words);
  EXPECT_EQ(rows_of(table()),
            (std::vector<std::string>{
                "{Oslo, 0, 0, 0, 0, 0, null, null}", "{Lisbon, 0, 0, 0, 0, 0, null, null}",
                "{Oslo, 0, 0, 0, 0, 0, null, null}", "{, 0, 0, 0, 0, 0, null, null}"}));
}

TEST_F(Arrow_Import_Test, UnknownColumnsAreErrorsOrIgnored) {
  const auto columns = [] {
    return std::vector<Foreign_Column>{{{"c", "tiny"}, numbers<std::int8_t>({1})},
                                       {{"c", "other"}, numbers<std::int8_t>({2})}};
  };
  EXPECT_EQ(failure(columns()), "table t has no field other");
  EXPECT_EQ(import(columns(), {.ignore_unknown = true}).rows, 1);
  EXPECT_EQ(failure({{{"c", "tiny"}, numbers<std::int8_t>({1})},
                     {{"c", "tiny"}, numbers<std::int8_t>({1})}}),
            "column tiny: it comes twice");
}

TEST_F(Arrow_Import_Test, IdsAreSkippedOrUsed) {
  const auto columns = [](const std::vector<std::int32_t>& ids) {
    return std::vector<Foreign_Column>{
        {{"i", "__id"}, numbers(ids)},
        {{"i", "tiny"}, numbers(std::vector<std::int32_t>(ids.size(), 5))}};
  };
  EXPECT_EQ(import(columns({9, 8})).first, Record_Id(0));
  const Arrow_Import_Options options{.use_ids = true};
  EXPECT_EQ(import(columns({7, 8, 9, 4, 12}), options).first, Record_Id(7));
  std::vector<index_t> used;
  for (index_t id = 0; id < table().records().size(); ++id)
    if (table().records().is_used(id)) used.push_back(id);
  EXPECT_EQ(used, (std::vector<index_t>{0, 1, 4, 7, 8, 9, 12}));
  EXPECT_EQ(failure(columns({20, 8}), options), "column __id: record 8 exists already");
  EXPECT_EQ(failure(columns({20, 20}), options), "column __id: record 20 comes twice");
  EXPECT_EQ(failure(columns({20, -3}), options), "column __id: record -3 cannot exist");
  EXPECT_EQ(failure(columns({20, 1 << 30}), options),
            "column __id: record 1073741824: too many ids are skipped");
  EXPECT_EQ(failure({{{"c", "tiny"}, numbers<std::int8_t>({1})}}, options),
            "there is no column __id");
}

TEST_F(Arrow_Import_Test, PositionsOfBlobsAreWrittenOnlyWhenAskedFor) {
  const Blob blob = db_.write_blob("abc");
  const auto columns = [&] {
    Arrow_Array_Builder array;
    array.add_buffer(nullptr);
    array.add_child(numbers<std::int64_t>({blob.get_position()}));
    array.add_child(numbers<std::int64_t>({blob.get_size()}));
    Arrow_Type type{
        .format = "+s", .name = "bytes", .children = {{"l", "position"}, {"l", "size"}}};
    return std::vector<Foreign_Column>{{type, array.finish(1, 0)}};
  };
  EXPECT_EQ(failure(columns()),
            "column bytes: it has positions and sizes of blobs, which belong to the file that they "
            "come from, and not their bytes");
  import(columns(), {.blob_positions = true});
  EXPECT_EQ(value<Blob>(8, 0), blob);
}

// ---- streams that contradict themselves ---------------------------------------------------------

TEST_F(Arrow_Import_Test, ArraysThatContradictThemselvesAreErrors) {
  const auto fails = [&](const char* format, ArrowArray array, auto change) {
    change(array);
    const std::string field = std::string_view(format) == "c" ? "tiny" : "text";
    const std::string text = failure({{{format, field}, array}});
    const std::string start = "column " + field + ": the array contradicts itself: ";
    EXPECT_EQ(text.substr(0, start.size()), start);
    return text.size() < start.size() ? text : text.substr(start.size());
  };
  const auto tiny = [] { return numbers<std::int8_t>({1, 2, 3}); };
  const auto words = [] { return texts<int>({"a", "b", "c"}); };
  EXPECT_EQ(fails("c", tiny(), [](auto& a) { a.n_buffers = 1; }), "it has 1 buffers, not 2");
  EXPECT_EQ(fails("c", tiny(), [](auto& a) { a.buffers[1] = nullptr; }), "a buffer is missing");
  EXPECT_EQ(fails("c", tiny(), [](auto& a) { a.offset = -1; }),
            "a length or an offset is impossible");
  EXPECT_EQ(fails("c", tiny(), [](auto& a) { a.null_count = 2; }),
            "it has nulls, and no bitmap of them");
  EXPECT_EQ(fails("u", words(), [](auto& a) { a.buffers[2] = nullptr; }), "a buffer is missing");
  EXPECT_EQ(fails("u", words(), [](auto& a) { a.n_buffers = 2; }), "it has 2 buffers, not 3");
  EXPECT_EQ(fails("vu", words(), [](auto& a) { a.n_buffers = 2; }), "it has 2 buffers");
  const auto set_offset = [](int i, std::int32_t value) {
    return [=](ArrowArray& a) {
      std::memcpy(static_cast<char*>(const_cast<void*>(a.buffers[1])) + 4 * i, &value, 4);
    };
  };
  EXPECT_EQ(fails("u", words(), set_offset(1, 9)), "offsets decrease");
  EXPECT_EQ(fails("u", words(), set_offset(0, -1)), "an offset is negative");
  const auto view = [](std::int32_t size, std::int32_t part, std::int32_t offset) {
    Arrow_Array_Builder array;
    array.add_buffer(nullptr);
    array.add_buffer(buffer_of(std::vector<std::int32_t>{size, 0, part, offset}));
    array.add_buffer(buffer_of(std::vector<char>(20, 'a')));
    array.add_buffer(buffer_of(std::vector<std::int64_t>{20}));
    return array.finish(1, 0);
  };
  const auto same = [](ArrowArray&) {};
  EXPECT_EQ(fails("vu", view(-1, 0, 0), same), "a text has a negative size");
  EXPECT_EQ(fails("vu", view(13, 1, 0), same), "a text is in no buffer");
  EXPECT_EQ(fails("vu", view(13, 0, 8), same), "a text ends behind its buffer");
  EXPECT_EQ(fails("vu", view(13, 0, -8), same), "a text is in no buffer");
  import({{ {"vu", "text"}, view(13, 0, 7) }});
  EXPECT_EQ(value<std::string_view>(1, 0), std::string(13, 'a'));
}

TEST_F(Arrow_Import_Test, ItemsThatContradictTheSchemaAreErrors) {
  const Arrow_Type type{.format = "+s", .name = "", .children = {{"c", "tiny"}}};
  const auto fails = [&](auto change) {
    ArrowArray item = item_of({numbers<std::int8_t>({1, 2, 3})});
    change(item);
    return failure(stream_of(make_arrow_schema(type), {item}));
  };
  EXPECT_EQ(fails([](auto& item) { item.n_children = 0; }),
            "Arrow: an item with 0 children; the schema has 1");
  EXPECT_EQ(fails([](auto& item) { item.children = nullptr; }),
            "Arrow: an item without its children");
  EXPECT_EQ(fails([](auto& item) { item.length = 4; }),
            "column tiny: the array contradicts itself: it has 3 elements, not 4");
  EXPECT_EQ(fails([](auto& item) { item.offset = 1; }),
            "column tiny: the array contradicts itself: it has 3 elements, not 4");
  EXPECT_EQ(fails([](auto& item) { item.length = -4; }),
            "Arrow: an item with an impossible length or offset");
  EXPECT_EQ(failure(stream_of(make_arrow_schema({"i", ""}), {})),
            "Arrow: the items must be structs (record batches)");
}

TEST_F(Arrow_Import_Test, APartOfAnItemIsImported) {
  const Arrow_Type type{.format = "+s", .name = "", .children = {{"c", "tiny"}, {"u", "text"}}};
  ArrowArray item = item_of({numbers<std::int8_t>({1, 2, 3}), texts<int>({"a", "b", "c"})});
  item.offset = 1;
  item.length = 2;
  import(stream_of(make_arrow_schema(type), {item}));
  EXPECT_EQ(rows_of(table()), (std::vector<std::string>{"{b, 2, 0, 0, 0, 0, null, null}",
                                                        "{c, 3, 0, 0, 0, 0, null, null}"}));
}

TEST_F(Arrow_Import_Test, TheErrorOfAStreamIsReported) {
  ArrowArrayStream stream = stream_of({{{"c", "tiny"}, numbers<std::int8_t>({1})}});
  stream.get_next = [](ArrowArrayStream*, ArrowArray*) { return 5; };
  EXPECT_EQ(failure(stream), "Arrow: the stream fails with error 5");
  stream = stream_of({{{"c", "tiny"}, numbers<std::int8_t>({1})}});
  stream.get_next = [](ArrowArrayStream*, ArrowArray*) { return 5; };
  stream.get_last_error = [](ArrowArrayStream*) { return "the disk is on fire"; };
  EXPECT_EQ(failure(stream), "Arrow: the disk is on fire");
}

TEST_F(Arrow_Import_Test, WhatAFailingStreamLeavesIsNotReleased) {
  ArrowArrayStream stream = stream_of({{{"c", "tiny"}, numbers<std::int8_t>({1})}});
  stream.get_next = [](ArrowArrayStream*, ArrowArray* out) {
    out->release = [](ArrowArray*) { FAIL(); };
    return 5;
  };
  EXPECT_EQ(failure(stream), "Arrow: the stream fails with error 5");
  stream = stream_of({{{"c", "tiny"}, numbers<std::int8_t>({1})}});
  stream.get_schema = [](ArrowArrayStream*, ArrowSchema* out) {
    out->release = [](ArrowSchema*) { FAIL(); };
    return 7;
  };
  EXPECT_EQ(failure(stream), "Arrow: the stream fails with error 7");
}

TEST_F(Arrow_Import_Test, ImpossibleOffsetsAreErrorsWhateverTheyAreAddedTo) {
  const Arrow_Type type{.format = "+s", .name = "", .children = {{"c", "tiny"}}};
  for (const std::int64_t offset : {INT64_MAX, INT64_MIN}) {
    ArrowArray tiny = numbers<std::int8_t>({1, 2, 3});
    tiny.offset = offset;
    ArrowArray item = item_of({tiny});
    item.offset = item.length = 1;
    EXPECT_EQ(failure(stream_of(make_arrow_schema(type), {item})),
              "column tiny: the array contradicts itself: a length or an offset is impossible");
  }
  ArrowArray empty = numbers<std::int8_t>({});
  empty.buffers[1] = nullptr;
  empty.offset = 5;
  EXPECT_EQ(import({{{"c", "tiny"}, empty}}).rows, 0);
}

TEST_F(Arrow_Import_Test, ARowThatIsNullAsAWholeIsAnError) {
  const Arrow_Type type{.format = "+s", .name = "", .children = {{"c", "tiny"}}};
  const unsigned char valid = 0b1101;
  const auto stream = [&](std::int64_t offset, std::int64_t null_count, const void* bitmap) {
    ArrowArray item = item_of({numbers<std::int8_t>({1, 2, 3, 4})});
    item.offset = offset;
    item.length = 4 - offset;
    item.null_count = null_count;
    item.buffers[0] = bitmap;
    return stream_of(make_arrow_schema(type), {item});
  };
  EXPECT_EQ(failure(stream(0, 1, &valid)), "Arrow: row 1 is null");
  EXPECT_EQ(failure(stream(1, -1, &valid)), "Arrow: row 0 is null");
  EXPECT_EQ(failure(stream(0, 1, nullptr)),
            "Arrow: an item with nulls, and without a bitmap of them");
  EXPECT_EQ(import(stream(2, -1, &valid)).rows, 2);
  EXPECT_EQ(import(stream(0, -1, nullptr)).rows, 4);
  EXPECT_EQ(import(stream(0, 0, &valid)).rows, 4);
}

TEST_F(Arrow_Import_Test, OffsetsOfItemsAndOfTheirChildrenAreAdded) {
  // Of 12 elements, the item (offset 3) has elements from 3 on; a child with offset 2 has elements
  // from 5 on.
  std::vector<std::string> words;
  std::vector<std::int8_t> tiny;
  std::vector<int> valid, bools;
  for (int i = 0; i < 12; ++i) {
    words.push_back(std::string(static_cast<std::size_t>(i), 'a'));
    tiny.push_back(static_cast<std::int8_t>(i));
    valid.push_back(i % 3 != 0);
    bools.push_back(i % 2);
  }
  Arrow_Type type{
      .format = "+s",
      .name = "",
      .children = {
          {"c", "tiny"},
          {"u", "text"},
          {"b", "yes"},
          {"l", "to"},
          {"c", "large"},
          {.format = "+s", .name = "bytes", .children = {{"l", "position"}, {"l", "size"}}}}};
  ArrowSchema schema = make_arrow_schema(type);
  ArrowSchema words_schema = make_arrow_schema({"l", ""});
  schema.children[4]->dictionary = &words_schema;
  ArrowArray dictionary = numbers<std::int64_t>({-1, 100, 101, 102, 103, 104}, {1, 1, 1, 0, 1, 1});
  dictionary.offset = 1;
  dictionary.length = 5;
  ArrowArray codes = numbers<std::int8_t>({-1, -1, -1, -1, -1, 0, 1, 2, 3, 4, 0, 99});
  codes.dictionary = &dictionary;
  Arrow_Array_Builder places;
  add_validity(places, valid);
  std::vector<std::int64_t> positions(14), sizes(12);
  for (std::size_t i = 0; i < 14; ++i) positions[i] = static_cast<std::int64_t>(100 * i);
  for (std::size_t i = 0; i < 12; ++i) sizes[i] = static_cast<std::int64_t>(i);
  ArrowArray position = numbers(positions);
  position.offset = 2;
  position.length = 12;
  places.add_child(position);
  places.add_child(numbers(sizes));
  std::vector<ArrowArray> columns{numbers(tiny), texts<int>(words),
                                  bits(bools),   numbers(std::vector<std::int64_t>(12, 7), valid),
                                  codes,         places.finish(12, -1)};
  for (ArrowArray& column : columns) {
    column.offset = 2;
    column.length = 10;
  }
  ArrowArray item = item_of(columns);
  item.offset = 3;
  item.length = 6;
  import(stream_of(schema, {item}), {.null_is_default = true, .blob_positions = true});
  dictionary.release(&dictionary);
  words_schema.release(&words_schema);
  EXPECT_EQ(
      rows_of(table()),
      (std::vector<std::string>{
          "{aaaaa, 5, 100, 0, 0, 1, 7, {700, 5}}", "{aaaaaa, 6, 101, 0, 0, 0, null, null}",
          "{aaaaaaa, 7, 0, 0, 0, 1, 7, {900, 7}}", "{aaaaaaaa, 8, 103, 0, 0, 0, 7, {1000, 8}}",
          "{aaaaaaaaa, 9, 104, 0, 0, 1, null, null}",
          "{aaaaaaaaaa, 10, 100, 0, 0, 0, 7, {1200, 10}}"}));
}

TEST_F(Arrow_Import_Test, ColumnsThatAreSkippedCanHaveAnyType) {
  const auto columns = [] {
    return std::vector<Foreign_Column>{{{"c", "tiny"}, numbers<std::int8_t>({1})},
                                       {{"tdD", "other"}, numbers<std::int32_t>({2})},
                                       {{"tdD", "__id"}, numbers<std::int32_t>({2})}};
  };
  EXPECT_EQ(import(columns(), {.ignore_unknown = true}).rows, 1);
  EXPECT_EQ(failure(columns()), "table t has no field other");
}

TEST_F(Arrow_Import_Test, ManyRowsAreWrittenInPieces) {
  std::vector<std::string> words;
  std::vector<std::int32_t> tiny, ids;
  for (int i = 0; i < 50000; ++i) {
    words.push_back("the word " + std::to_string(i * 7919));
    tiny.push_back(i % 128);
    ids.push_back(50000 + (i ^ 1));
  }
  import({{{"vu", "text"}, [&] {
             Arrow_Array_Builder array;
  array.add_buffer(nullptr);
  std::vector<std::int32_t> views;
  std::string bytes;
  for (const std::string& word : words) {
    std::int32_t view[4] = {static_cast<std::int32_t>(word.size()), 0, 0,
                            static_cast<std::int32_t>(bytes.size())};
    std::memcpy(&view[1], word.data(), word.size() <= 12 ? word.size() : 4);
    views.insert(views.end(), view, view + 4);
    bytes += word;
  }
  array.add_buffer(buffer_of(views));
  array.add_buffer(buffer_of(std::vector<char>(bytes.begin(), bytes.end())));
  array.add_buffer(buffer_of(std::vector<std::int64_t>{std::ssize(bytes)}));
  return array.finish(50000, 0);
}
()
}
, { {"i", "tiny"}, numbers(tiny) }
});
import({{{"u", "text"}, texts<int>(words)},
        {{"i", "tiny"}, numbers(tiny)},
        { {"i", "__id"},
          numbers(ids) }},
       {.use_ids = true});
for (index_t i = 0; i < 50000; ++i) {
  const std::string& word = words[static_cast<std::size_t>(i)];
  ASSERT_EQ(value<std::string_view>(1, i), word);
  ASSERT_EQ(value<std::string_view>(1, 50000 + (i ^ 1)), word);
  ASSERT_EQ(value<std::int8_t>(2, i), i % 128);
  ASSERT_EQ(value<std::int8_t>(2, 50000 + (i ^ 1)), i % 128);
}
}

// ---- given ids ----------------------------------------------------------------------------------

std::vector<Foreign_Column> tiny_with_ids(const std::vector<std::int64_t>& ids,
                                          const std::vector<int>& valid = {}) {
  return {{{"l", "__id"}, numbers(ids, valid)},
          {{"l", "tiny"}, numbers(std::vector<std::int64_t>(ids.size(), 5))}};
}

TEST_F(Arrow_Import_Test, ANewRecordHasNoValueOfADeletedOneWithItsId) {
  import({{{"c", "tiny"}, numbers<std::int8_t>({1, 2, 3, 4, 5})},
          {{"U", "text"}, texts<std::int64_t>({"a", "a long text, and far", "c", "d", ""})},
          {{"l", "to"}, numbers<std::int64_t>({1, 1, 1, 1, 1})},
          {{"g", "real"}, numbers<double>({1, 2, -0.0, 4, 5})},
          { {"z", "bytes"},
            texts<int>({"a", "b", "c", "d", "e"}) }});
  for (const index_t id : {0, 1, 2, 4}) db_.write(Delete{t, Record_Id(id)});
  import(tiny_with_ids({7, 2, 1, 0}), {.use_ids = true});
  const std::string fresh = ", 5, 0, 0, 0, 0, null, null}";
  EXPECT_EQ(rows_of(table(), true)[1], "{1, " + fresh);
  EXPECT_EQ(rows_of(table(), true)[2], "{2, " + fresh);
  EXPECT_EQ(rows_of(table(), true)[4], "{7, " + fresh);
  EXPECT_FALSE(std::signbit(value<double>(5, 2)));
}

TEST_F(Arrow_Import_Test, AnIdCannotBeNull) {
  EXPECT_EQ(failure(tiny_with_ids({1, 2}, {1, 0}), {.null_is_default = true, .use_ids = true}),
            "column __id, row 1: null, which a field of type int64 cannot be");
}

TEST_F(Arrow_Import_Test, IdsThatSkipTooManyAreFoundBeforeTheFirstIsWritten) {
  const Arrow_Import_Options options{.use_ids = true};
  EXPECT_EQ(failure(tiny_with_ids({3, INT64_MAX}), options),
            "column __id: record 9223372036854775807: too many ids are skipped");
  // Use up the limit on records without values, except for six records.
  db_.write(Create_Table{"other"});
  db_.write(Insert_Vector{Table_Id(2), Record_Id(0), (1 << 24) - 6});
  db_.write(Drop_Table{Table_Id(2)});
  EXPECT_EQ(failure(tiny_with_ids({0, 1, 2, 7}), options),
            "column __id: record 7: too many ids are skipped");
  EXPECT_EQ(import(tiny_with_ids({0, 1, 2, 6}), options).rows, 4);
}

// ---- blobs --------------------------------------------------------------------------------------

TEST_F(Arrow_Import_Test, ABlobThatLooksLikeAnIntegrityEntryIsAnErrorAndNothingIsWritten) {
  const auto entry = encode_integrity({41, 0, Integrity::sparse});
  const std::string payload(entry.begin() + 2, entry.end());
  EXPECT_EQ(failure({{{"z", "bytes"}, texts<int>({"a", payload})}}),
            "column bytes, row 1: a blob must not look like an integrity entry");
  EXPECT_EQ(import({{{"u", "text"}, texts<int>({"a", payload})}}).rows, 2);
}

TEST_F(Arrow_Import_Test, APositionOrASizeThatIsNullIsAnError) {
  const auto columns = [](bool has_size) {
    Arrow_Array_Builder array;
    add_validity(array, {1, 0});
    array.add_child(numbers<std::int64_t>({1, 2}));
    array.add_child(numbers<std::int64_t>({1, 2}, {has_size ? 1 : 0, 0}));
    return std::vector<Foreign_Column>{
        {Arrow_Type{
             .format = "+s", .name = "bytes", .children = {{"l", "position"}, {"l", "size"}}},
         array.finish(2, -1)}};
  };
  EXPECT_EQ(failure(columns(false), {.blob_positions = true}),
            "column bytes, row 0: a blob whose position or size is null");
  EXPECT_EQ(import(columns(true), {.blob_positions = true}).rows, 2);
}

// ---- unique indexes -----------------------------------------------------------------------------

class Arrow_Import_Unique_Test : public Arrow_Import_Test {
 protected:
  Arrow_Import_Unique_Test()
      : Arrow_Import_Test({{"by_text_and_tiny", t, {Field_Id(1), Field_Id(2)}, true},
                           {"by_large", t, {Field_Id(3)}, false}}) {}
};

TEST_F(Arrow_Import_Unique_Test, AKeyThatExistsOrComesTwiceIsAnErrorAndNothingIsWritten) {
  const auto columns = [](const std::vector<std::string>& text,
                          const std::vector<std::int8_t>& tiny) {
    return std::vector<Foreign_Column>{
        {{"c", "tiny"}, numbers(tiny)},
        {{"u", "text"}, texts<int>(text)},
        {{"c", "large"}, numbers(std::vector<std::int8_t>(tiny.size(), 1))}};
  };
  import(columns({"a", "a", "b", ""}, {1, 2, 1, 0}));
  EXPECT_EQ(db_.get_database().find_index("by_large")->size(), 4u);
  EXPECT_EQ(failure(columns({"c", "a"}, {0, 2})),
            "table t, unique index by_text_and_tiny: row 1 has a key that record 1 has");
  EXPECT_EQ(failure(columns({"c", "d", "c"}, {0, 2, 0})),
            "table t, unique index by_text_and_tiny: rows 0 and 2 have the same key");
  EXPECT_EQ(failure({{{"c", "tiny"}, numbers<std::int8_t>({0})}}),
            "table t, unique index by_text_and_tiny: row 0 has a key that record 3 has");
  import(columns({"c", "d", "c"}, {0, 2, 1}));
  EXPECT_EQ(db_.get_database().find_index("by_text_and_tiny")->size(), 7u);
}

class Arrow_Import_Unique_Blob_Test : public Arrow_Import_Test {
 protected:
  Arrow_Import_Unique_Blob_Test()
      : Arrow_Import_Test({{"by_tiny_and_bytes", t, {Field_Id(2), Field_Id(8)}, true}}) {}
};

TEST_F(Arrow_Import_Unique_Blob_Test, NewBlobsAreDifferentKeys) {
  const auto columns = [](const std::vector<std::int8_t>& tiny, const std::vector<int>& valid) {
    return std::vector<Foreign_Column>{
        {{"c", "tiny"}, numbers(tiny)},
        {{"z", "bytes"}, texts<int>(std::vector<std::string>(tiny.size(), "a"), valid)}};
  };
  EXPECT_EQ(import(columns({1, 1, 1, 2}, {1, 1, 0, 0})).rows, 4);
  EXPECT_EQ(failure(columns({3, 1}, {0, 0})),
            "table t, unique index by_tiny_and_bytes: row 1 has a key that record 2 has");
  EXPECT_EQ(failure(columns({3, 3}, {0, 0})),
            "table t, unique index by_tiny_and_bytes: rows 0 and 1 have the same key");
  EXPECT_EQ(db_.get_database().find_index("by_tiny_and_bytes")->size(), 4u);
}

TEST_F(Arrow_Import_Unique_Test, ARecordWithTheIdOfADeletedOneHasNoneOfItsKeys) {
  import({{{"c", "tiny"}, numbers<std::int8_t>({1, 2})},
          { {"u", "text"},
            texts<int>({"a", "b"}) }});
  db_.write(Delete{t, Record_Id(0)});
  db_.write(Delete{t, Record_Id(1)});
  const Arrow_Import_Options options{.use_ids = true};
  EXPECT_EQ(failure(tiny_with_ids({0, 1}), options),
            "table t, unique index by_text_and_tiny: rows 0 and 1 have the same key");
  import(tiny_with_ids({0}), options);
  import({{{"l", "__id"}, numbers<std::int64_t>({1})},
          { {"u", "text"},
            texts<int>({"b"}) }},
         options);
  EXPECT_EQ(rows_of(table()), (std::vector<std::string>{"{, 5, 0, 0, 0, 0, null, null}",
                                                        "{b, 0, 0, 0, 0, 0, null, null}"}));
  EXPECT_EQ(db_.get_database().find_index("by_text_and_tiny")->size(), 1u);
}

// ---- tables for a schema ------------------------------------------------------------------------

TEST_F(Arrow_Import_Test, MakesATableForASchema) {
  ArrowSchema schema = make_arrow_schema(
      {.format = "+s",
       .name = "",
       .children = {
           {"l", "__id"},
           {"b", "a"},
           {"C", "b"},
           {"S", "c"},
           {"I", "d"},
           {"L", "e"},
           {"e", "f"},
           {"g", "g"},
           {"vu", "h"},
           {"z", "i"},
           {"l", "j", {{"joedb.type", "references t"}}},
           {"l", "k", {{"other", ""}, {"joedb.type", "references made on_delete cascade"}}},
           {"Z", "l", {{"joedb.type", "string"}}}}});
  const Table_Id made = create_table_for(db_, "made", schema);
  schema.release(&schema);
  std::string text;
  for (const Field& field : db_.get_database().table(made).fields())
    text += field.name + ' ' + std::string(type_name(field.column->type().code)) + ' ' +
            std::to_string(field.column->type().referenced.value()) + '\n';
  EXPECT_EQ(db_.get_database().table(made).fields()[10].column->logical().on_delete,
            Logical_Type::On_Delete::cascade);
  EXPECT_EQ(text,
            "a boolean 0\nb int16 0\nc int32 0\nd int64 0\ne int64 0\nf float32 0\ng float64 0\n"
            "h string 0\ni blob 0\nj references 1\nk references 2\nl string 0\n");
}

TEST_F(Arrow_Import_Test, ASchemaThatFitsNoTableIsAnErrorAndNothingIsWritten) {
  const auto fails = [&](const std::string& name, const Arrow_Type& column) {
    ArrowSchema schema =
        make_arrow_schema({.format = "+s", .name = "", .children = {column, column}});
    const Offset position = db_.get_journal().get_position();
    const std::string text = error_of([&] { create_table_for(db_, name, schema); });
    EXPECT_EQ(db_.get_journal().get_position(), position);
    schema.release(&schema);
    return text;
  };
  EXPECT_EQ(fails("u", {"tiM", "a"}), "column a: no field has the Arrow type interval (\"tiM\")");
  EXPECT_EQ(fails("u", {"d:38,20", "a"}),
            "column a: a decimal has 0 to 18 digits behind the point, not 20");
  EXPECT_EQ(fails("u", {"n", "a"}), "column a: all its values are null, which have no type");
  EXPECT_EQ(fails("u", {"c", "a"}), "column a: it comes twice");
  EXPECT_EQ(fails("u", {"c", "a b"}).substr(0, 14), "column \"a b\": ");
  EXPECT_EQ(fails("u", {"l", "a", {{"joedb.type", "references w"}}}),
            "column a: it refers to a table w, which does not exist");
  EXPECT_NE(fails("t", {"c", "a"}), "");
}

// ---- from one database to another ---------------------------------------------------------------

TEST(Arrow_Import, RandomTablesComeBackAsTheyWere) {
  const std::uint64_t first = testing::first_seed();
  for (std::uint64_t seed = first; seed < first + 40; ++seed) {
    SCOPED_TRACE("JOEDB_TEST_SEED=" + std::to_string(seed));
    Random random(seed);
    Random_Changes changes(random);
    Memory_File file, new_file;
    Writable_Database from(file), to(new_file);
    for (int step = 0; step < 400; ++step) changes.change(from);
    Arrow_Pins pins(from.get_database());
    for (const auto& table : from.get_database().tables()) {
      if (!table) continue;
      const bool with_ids = random.flip();
      const Arrow_Options options{.with_ids = with_ids,
                                  .text = std::array{Arrow_Text::utf8_view, Arrow_Text::large_utf8,
                                                     Arrow_Text::binary}[random.below(3)],
                                  .max_rows = random.flip() ? 5 : 1000,
                                  .min_run = static_cast<index_t>(1 + random.below(5))};
      const Table_Id id(static_cast<std::uint16_t>(to.get_database().tables().size() + 1));
      to.write(Create_Table{table->name()});
      for (const Field& field : table->fields()) {
        if (!field.column) continue;
        Type type = field.column->type();
        if (type.code == Type_Code::reference) type.referenced = id;
        to.write(Add_Field{id, field.name, type});
        // A UUID without 16 bytes comes as null, and a place without a name.
        Logical_Type logical = field.column->logical();
        logical.is_optional = !logical.has_plain_values();
        const Field_Id new_field = to.get_database().table(id).find_field(field.name);
        declare_type(to, id, new_field, logical);
      }
      ArrowArrayStream stream{};
      export_table(pins, table->id(), options, &stream);
      Arrow_Imported done;
      try {
        done = import_stream(to, id, &stream, {.use_ids = with_ids, .blob_positions = true});
      } catch (const Exception& e) {
        EXPECT_NE(std::string(e.what()).find("is not UTF-8"), std::string::npos) << e.what();
        continue;
      }
      EXPECT_EQ(done.rows, table->records().used_count());
      EXPECT_EQ(rows_of(to.get_database().table(id), with_ids), rows_of(*table, with_ids));
    }
    from.soft_checkpoint();
    to.soft_checkpoint();
    Database read;
    Readonly_Journal journal(new_file);
    load(read, journal);
    EXPECT_EQ(content_text(read), content_text(to.get_database()));
  }
}

TEST_F(Arrow_Import_Test, AnExportOfTheSameTableIsAppended) {
  import({{{"c", "tiny"}, numbers<std::int8_t>({1, 2})},
          { {"u", "text"},
            texts<int>({"a", "long enough to be far"}) }});
  Arrow_Pins pins(db_.get_database());
  ArrowArrayStream stream{};
  export_table(pins, t, {.text = Arrow_Text::utf8_view, .blob_file = {}}, &stream);
  pins.before_change(t);
  EXPECT_EQ(import(stream, {.blob_positions = true}).rows, 2);
  EXPECT_EQ(value<std::string_view>(1, 3), "long enough to be far");
}

}  // namespace
}  // namespace joedb
