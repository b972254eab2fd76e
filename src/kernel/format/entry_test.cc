#include "joedb/format/entry.h"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "joedb/format/codec.h"
#include "joedb/format/header.h"
#include "support/entries.h"
#include "support/golden.h"
#include "support/property.h"

// Tests of encoder and decoder together: the decoder reads everything that the encoder writes, and
// both have the same context.

namespace joedb {
namespace {

using testing::Any_Entry;
using testing::from_hex;
using testing::hex;
using testing::Vector_Update;

std::string encoded(const std::vector<Any_Entry>& entries) {
  std::string bytes;
  Context context;
  for (const Any_Entry& entry : entries) testing::append_any(bytes, context, entry);
  return bytes;
}

std::vector<Any_Entry> decoded(std::string_view bytes) {
  Memory_Decoder_Input in(bytes, journal_start);
  testing::Entry_Keeper keeper(bytes, journal_start);
  Context context;
  while (in.remaining() > 0) decode_entry(in, context, keeper);
  return keeper.entries();
}

TEST(Entry, ComesBackFromItsBytes) {
  testing::expect_property(
      [] {
        const auto entries =
            *rc::gen::container<std::vector<Any_Entry>>(testing::any_entry()).as("entries");
        std::string bytes;
        Context writer;
        std::vector<std::pair<std::size_t, Context>> ends;
        for (const Any_Entry& entry : entries) {
          testing::append_any(bytes, writer, entry);
          ends.emplace_back(bytes.size(), writer);
        }
        Memory_Decoder_Input in(bytes);
        testing::Entry_Keeper keeper(bytes);
        Context reader;
        for (const auto& [end, context] : ends) {
          decode_entry(in, reader, keeper);
          RC_ASSERT(static_cast<std::size_t>(in.position()) == end);
          RC_ASSERT(reader == context);
        }
        RC_ASSERT(in.remaining() == 0);
        RC_ASSERT(keeper.entries() == entries);
      },
      1000);
}

TEST(Entry, NeverNeedsMoreBytesThanItsLimit) {
  testing::expect_property([] {
    const auto entry = *testing::any_entry();
    std::visit(
        [](const auto& e) {
          if constexpr (requires(char* out, Context c) { encode(out, c, e); }) {
            std::string bytes(encoded_size_limit(e), '\0');
            Context context;
            RC_ASSERT(encode(bytes.data(), context, e) <= bytes.data() + bytes.size());
          }
        },
        entry.value());
  });
}

TEST(Entry, OfEachKindHasTheBytesOfTheGoldenFile) {
  std::ostringstream text;
  text << "# One entry of each kind, in one journal. A change of this file is a change of the\n"
          "# file format: it needs a second reviewer.\n";
  std::string bytes;
  Context context;
  for (const Any_Entry& entry : testing::one_entry_of_each_kind()) {
    const std::size_t start = bytes.size();
    testing::append_any(bytes, context, entry);
    text << '\n' << entry << '\n' << "    " << hex(std::string_view(bytes).substr(start)) << '\n';
  }
  testing::expect_golden("format/entries.txt", text.str());
  EXPECT_EQ(decoded(bytes), testing::one_entry_of_each_kind());
}

TEST(Entry, OfEveryOpcodeIsInTheGoldenFile) {
  std::vector<bool> seen(256);
  std::string bytes;
  Context context;
  for (const Any_Entry& entry : testing::one_entry_of_each_kind()) {
    const std::size_t start = bytes.size();
    testing::append_any(bytes, context, entry);
    seen[static_cast<unsigned char>(bytes[start])] = true;
  }
  for (int opcode = 0; opcode < 256; ++opcode)
    EXPECT_EQ(seen[static_cast<std::size_t>(opcode)],
              opcode_name(static_cast<std::uint8_t>(opcode)) != "entry")
        << opcode;
}

// The journal of section 7 of the format specification, without its header.
TEST(Entry, TheAnnotatedExampleComesOutByteForByte) {
  const Table_Id city(1), road(2);
  const auto id = [](index_t i) { return Record_Id(i); };
  const auto field = [](std::uint16_t i) { return Field_Id(i); };
  const std::vector<Any_Entry> entries{
      Create_Table{"city"},
      Add_Field{city, "name", {Type_Code::string, {}}},
      Add_Field{city, "size", {Type_Code::int32, {}}},
      Create_Table{"road"},
      Add_Field{road, "from", {Type_Code::reference, city}},
      Insert{city, id(0)},
      Update<std::string_view>{city, id(0), field(1), "Lyon"},
      Update<std::int32_t>{city, id(0), field(2), 500000},
      Insert{city, id(1)},
      Update<std::string_view>{city, id(1), field(1), "Brest"},
      Update<std::int32_t>{city, id(1), field(2), 140000},
      Insert{road, id(0)},
      Update<Record_Id>{road, id(0), field(1), id(1)},
      Update<std::int32_t>{city, id(0), field(2), 520000},
      Update<std::int32_t>{city, id(1), field(2), 139000},
      Insert_Vector{city, id(2), 2},
      Vector_Update<std::int32_t>{city, id(2), field(2), {1, -1}},
      Update<std::string_view>{city, id(3), field(1), "x"},
      Delete{city, id(1)},
      Delete_Vector{city, id(2), 2},
      Comment{"note"},
      Timestamp{1700000000},
      Valid_Data{},
      Custom{"tidy"},
      testing::Blob_Bytes{"BLOB"},
      Rename_Table{road, "street"},
      Rename_Field{city, field(2), "people"},
      Drop_Field{road, field(1)},
      Drop_Table{road},
  };
  const std::string bytes = from_hex(
      "01 04 63 69 74 79 "
      "03 01 04 6e 61 6d 65 01 "
      "03 01 04 73 69 7a 65 02 "
      "01 04 72 6f 61 64 "
      "03 02 04 66 72 6f 6d 04 01 "
      "05 01 01 "
      "82 01 04 4c 79 6f 6e "
      "86 02 20 a1 07 00 "
      "08 "
      "82 01 05 42 72 65 73 74 "
      "86 02 e0 22 02 00 "
      "05 02 01 "
      "8e 01 02 "
      "85 01 01 02 40 ef 07 00 "
      "87 f8 1e 02 00 "
      "0f 01 03 02 "
      "88 01 03 02 02 01 00 00 00 ff ff ff ff "
      "81 01 04 01 01 78 "
      "06 01 02 "
      "14 01 03 02 "
      "0a 04 6e 6f 74 65 "
      "0b 00 f1 53 65 00 00 00 00 "
      "0e "
      "10 04 74 69 64 79 "
      "13 04 42 4c 4f 42 "
      "0c 02 06 73 74 72 65 65 74 "
      "0d 01 02 06 70 65 6f 70 6c 65 "
      "04 02 01 "
      "02 02");
  EXPECT_EQ(hex(encoded(entries)), hex(bytes));
  EXPECT_EQ(decoded(bytes), entries);
}

// The form of an entry depends on the entry before it.
TEST(Entry, TakesTheShortFormOnlyWhereTheContextAllows) {
  const auto insert = [](std::uint16_t t, index_t r) -> Any_Entry {
    return Insert{Table_Id(t), Record_Id(r)};
  };
  const auto update = [](std::uint16_t t, index_t r, std::uint16_t f) -> Any_Entry {
    return Update<std::int8_t>{Table_Id(t), Record_Id(r), Field_Id(f), 7};
  };
  const auto insert_vector = [](std::uint16_t t, index_t r, std::int64_t n) -> Any_Entry {
    return Insert_Vector{Table_Id(t), Record_Id(r), n};
  };
  const auto update_vector = [](std::uint16_t t, index_t r, std::uint16_t f,
                                std::size_t n) -> Any_Entry {
    return Vector_Update<std::int8_t>{Table_Id(t), Record_Id(r), Field_Id(f),
                                      std::vector<std::int8_t>(n, 7)};
  };
  const struct {
    const char* when;
    std::vector<Any_Entry> before;
    Any_Entry entry;
    std::string bytes;
  } cases[] = {
      {"at the start, record 0", {}, insert(1, 0), "05 01 01"},
      {"the next record", {insert(1, 4)}, insert(1, 5), "08"},
      {"the record after the next", {insert(1, 4)}, insert(1, 6), "05 01 07"},
      {"the same record", {insert(1, 4)}, insert(1, 4), "05 01 05"},
      {"the next record of another table", {insert(1, 4)}, insert(2, 5), "05 02 06"},
      {"insert after an update", {update(1, 4, 2)}, insert(1, 5), "08"},
      {"insert after a deletion between",
       {insert(1, 4), Delete{Table_Id(1), Record_Id(4)}},
       insert(1, 5),
       "08"},
      {"insert after a vector: its first record", {insert_vector(1, 4, 9)}, insert(1, 5), "08"},
      {"insert behind a vector", {insert_vector(1, 4, 9)}, insert(1, 13), "05 01 0e"},
      {"insert after an empty vector of values", {update_vector(1, 4, 2, 0)}, insert(1, 5), "08"},
      {"update at the start", {}, update(1, 0, 1), "9d 01 01 01 07"},
      {"update of the inserted record", {insert(1, 4)}, update(1, 4, 3), "9e 03 07"},
      {"another field of the same record", {update(1, 4, 2)}, update(1, 4, 3), "9e 03 07"},
      {"the same field again", {update(1, 4, 2)}, update(1, 4, 2), "9e 02 07"},
      {"the same field of the next record", {update(1, 4, 2)}, update(1, 5, 2), "9f 07"},
      {"another field of the next record", {update(1, 4, 2)}, update(1, 5, 3), "9d 01 06 03 07"},
      {"the next record of another table", {update(1, 4, 2)}, update(2, 5, 2), "9d 02 06 02 07"},
      {"the record before", {update(1, 4, 2)}, update(1, 3, 2), "9d 01 04 02 07"},
      {"after an insertion, the field of the last update",
       {update(1, 9, 2), insert(1, 4)},
       update(1, 5, 2),
       "9f 07"},
      {"after a vector, its first record",
       {update_vector(1, 4, 2, 3)},
       update(1, 4, 2),
       "9e 02 07"},
      {"after a vector, its second record", {update_vector(1, 4, 2, 3)}, update(1, 5, 2), "9f 07"},
      {"a vector of one", {update(1, 4, 2)}, update_vector(1, 5, 2, 1), "a0 01 06 02 01 07"},
      {"an empty vector", {}, update_vector(1, 5, 2, 0), "a0 01 06 02 00"},
      {"insert of a vector of one", {insert(1, 4)}, insert_vector(1, 5, 1), "0f 01 06 01"},
      {"schema and comments between do not count",
       {update(1, 4, 2), Create_Table{"t"}, Comment{"c"}, Valid_Data{}, Timestamp{0},
        testing::Blob_Bytes{"b"}, Drop_Table{Table_Id(1)},
        Delete_Vector{Table_Id(7), Record_Id(7), 7}},
       update(1, 5, 2),
       "9f 07"},
  };
  for (const auto& [when, before, entry, bytes] : cases) {
    std::string all;
    Context context;
    for (const Any_Entry& e : before) testing::append_any(all, context, e);
    const std::size_t start = all.size();
    testing::append_any(all, context, entry);
    EXPECT_EQ(hex(std::string_view(all).substr(start)), bytes) << when;
    EXPECT_EQ(decoded(all).back(), entry) << when;
  }
}

// The decoder also reads long forms where a writer would use a short one.
TEST(Entry, IsReadInRedundantForms) {
  EXPECT_EQ(decoded(from_hex("05 01 01  05 01 02")),
            (std::vector<Any_Entry>{Insert{Table_Id(1), Record_Id(0)},
                                    Insert{Table_Id(1), Record_Id(1)}}));
  EXPECT_EQ(decoded(from_hex("05 20 01 60 00 00 05")),
            (std::vector<Any_Entry>{Insert{Table_Id(1), Record_Id(4)}}));
  EXPECT_EQ(decoded(from_hex("91 01 01 01 80")),  // any nonzero byte is true
            (std::vector<Any_Entry>{Update<bool>{Table_Id(1), Record_Id(0), Field_Id(1), true}}));
}

// Values at the limits of their types, alone and in vectors.
template <Field_Value T>
void expect_back(const std::vector<T>& values) {
  const Table_Id table(1);
  const Field_Id field(1);
  std::vector<Any_Entry> entries{Vector_Update<T>{table, Record_Id(0), field, values}};
  for (const T value : values) entries.push_back(Update<T>{table, Record_Id(9), field, value});
  EXPECT_EQ(decoded(encoded(entries)), entries);
}

template <class T>
void expect_limits_back() {
  using limits = std::numeric_limits<T>;
  expect_back<T>({T(0), T(1), T(-1), limits::min(), limits::max(), limits::lowest()});
}

TEST(Entry, KeepsValuesAtTheirLimits) {
  expect_limits_back<std::int8_t>();
  expect_limits_back<std::int16_t>();
  expect_limits_back<std::int32_t>();
  expect_limits_back<std::int64_t>();
  expect_limits_back<float>();
  expect_limits_back<double>();
  expect_back<float>({std::numeric_limits<float>::infinity(),
                      std::numeric_limits<float>::denorm_min(),
                      -std::numeric_limits<float>::infinity()});
  expect_back<double>({std::numeric_limits<double>::infinity(),
                       std::numeric_limits<double>::denorm_min(),
                       -std::numeric_limits<double>::infinity()});
  expect_back<bool>({true, false});
  expect_back<Record_Id>({Record_Id(), Record_Id(0), Record_Id(30), Record_Id(31),
                          Record_Id(static_cast<index_t>(max_compact) - 1)});
  expect_back<Blob>(
      {Blob(), Blob(41, 0),
       Blob(static_cast<std::int64_t>(max_compact), static_cast<std::int64_t>(max_compact))});
  for (const std::size_t size : {0u, 1u, 31u, 32u, 255u, 256u, 8191u, 8192u, 70000u}) {
    const std::string text(size, 'x');
    expect_back<std::string_view>({text, text, std::string_view()});
  }
  expect_back<std::string_view>({std::string_view("\0\n\xff", 3)});
}

// joedb 10 does the same; any other number would be a wrong value.
TEST(Entry, WritesNullForWhatNoCompactNumberCanSay) {
  const auto bytes_of = [](const auto& value) {
    char bytes[2 * max_compact_size] = {};
    return hex({bytes, static_cast<std::size_t>(encode_value(bytes, value) - bytes)});
  };
  const auto beyond = static_cast<std::int64_t>(max_compact) + 1;
  for (const index_t id : {index_t{-1}, index_t{-2}, std::numeric_limits<index_t>::min(), beyond,
                           std::numeric_limits<index_t>::max()})
    EXPECT_EQ(bytes_of(Record_Id(id)), "00") << id;
  EXPECT_EQ(bytes_of(Blob(-1, 5)), "00 05");
  EXPECT_EQ(bytes_of(Blob(5, -1)), "05 00");
  EXPECT_EQ(bytes_of(Blob(beyond, 1)), "00 01");
}

TEST(Entry, KeepsTheBitsOfFloats) {
  for (const std::uint32_t bits : {0x7fc00000u, 0xffc12345u, 0x7f800001u, 0x80000000u}) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    std::string bytes;
    Context context;
    append_encoded(bytes, context, Update<float>{Table_Id(1), Record_Id(0), Field_Id(1), value});
    EXPECT_EQ(load<std::uint32_t>(bytes.data() + bytes.size() - 4), bits);
    Memory_Decoder_Input in(bytes);
    struct : Ignore_Entries {
      using Ignore_Entries::operator();
      void operator()(const Update<float>& e) { std::memcpy(&found, &e.value, sizeof found); }
      std::uint32_t found = 0;
    } handler;
    Context reader;
    decode_entry(in, reader, handler);
    EXPECT_EQ(handler.found, bits);
  }
}

}  // namespace
}  // namespace joedb
