#include "joedb/format/codec.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "joedb/format/header.h"
#include "support/entries.h"
#include "support/property.h"

// Tests of the decoder with bytes that no encoder has written.

namespace joedb {
namespace {

using testing::Any_Entry;
using testing::from_hex;

// An input whose window has at most the requested bytes and `spare` more bytes.
class Narrow_Input final : public Decoder_Input {
 public:
  Narrow_Input(std::string_view bytes, std::size_t spare) : bytes_(bytes), spare_(spare) {
    reset(journal_start, journal_start + static_cast<Offset>(bytes.size()));
  }
  std::size_t max_request() const { return max_request_; }

 private:
  void refill(std::size_t size) override {
    max_request_ = std::max(max_request_, size);
    const Offset start = position();
    window_ = std::string(bytes_.substr(static_cast<std::size_t>(start - journal_start),
                                        size + spare_));  // at another address each time
    set_window(window_.data(), window_.size(), start + static_cast<Offset>(window_.size()));
  }
  void read_at(char* out, std::size_t size, Offset offset) override {
    ASSERT_EQ(bytes_.copy(out, size, static_cast<std::size_t>(offset - journal_start)), size);
  }

  std::string_view bytes_;
  std::size_t spare_;
  std::string window_;
  std::size_t max_request_ = 0;
};

struct Result {
  std::vector<Any_Entry> entries;
  std::string error;
  Offset error_offset = -1;
  friend bool operator==(const Result&, const Result&) = default;
};

void showValue(const Result& result, std::ostream& out) {  // name required by RapidCheck
  for (const Any_Entry& entry : result.entries) out << entry << '\n';
  out << "error: " << result.error;
}

Result decode_all(Decoder_Input& in, std::string_view bytes) {
  testing::Entry_Keeper keeper(bytes, journal_start);
  Context context;
  try {
    while (in.remaining() > 0) decode_entry(in, context, keeper);
  } catch (const Corruption_Error& error) {
    return {keeper.entries(), error.what(), error.offset};
  }
  return {keeper.entries(), {}};
}

Result decode_all(std::string_view bytes) {
  Memory_Decoder_Input in(bytes, journal_start);
  return decode_all(in, bytes);
}

std::string error_of(const std::string& hex_bytes) { return decode_all(from_hex(hex_bytes)).error; }

TEST(Decoder, SaysWhatIsWrongAndWhere) {
  const struct {
    const char* when;
    std::string bytes;
    std::string error;
  } cases[] = {
      {"a byte that is no opcode", "00",
       "Unexpected operation: get_position() = 42 (entry at offset 41)"},
      {"an opcode of earlier versions", "0e 07",
       "Unexpected operation: get_position() = 43 (entry at offset 42)"},
      {"the first byte behind the updates", "a9",
       "Unexpected operation: get_position() = 42 (entry at offset 41)"},
      {"an unknown type", "03 01 01 61 0b", "unknown type code 11 (add_field entry at offset 41)"},
      {"type zero", "03 01 01 61 00", "unknown type code 0 (add_field entry at offset 41)"},
      {"a table id of 17 bits", "0e 05 41 00 00 01",
       "table or field id too big: 65536 (insert_into entry at offset 42)"},
      {"a field id of 17 bits", "82 41 00 00",
       "table or field id too big: 65536 (update_last string entry at offset 41)"},
      {"a string longer than the journal", "01 05 61",
       "Trying to read past the end of file: 5 bytes needed at offset 43, but the journal ends at "
       "44 (create_table entry at offset 41)"},
      {"a string of 2^61 - 1 bytes", "0a ff ff ff ff ff ff ff ff",
       "Trying to read past the end of file: 2305843009213693951 bytes needed at offset 50, but "
       "the journal ends at 50 (comment entry at offset 41)"},
      {"a number that is cut", "05 01 e0 00",
       "Trying to read past the end of file: 8 bytes needed at offset 43, but the journal ends at "
       "45 (insert_into entry at offset 41)"},
      {"a blob longer than the journal", "0e 13 05 61",
       "Trying to read past the end of file: 5 bytes needed at offset 44, but the journal ends at "
       "45 (blob entry at offset 42)"},
      {"a vector of numbers larger than the journal", "88 01 01 01 02 00 00 00 00 00 00 00",
       "update_vector too big: 2 values do not fit in the 7 bytes before the checkpoint "
       "(update_vector int32 entry at offset 41)"},
      {"a vector of strings larger than the journal", "84 01 01 01 03 00 00",
       "update_vector too big: 3 values do not fit in the 2 bytes before the checkpoint "
       "(update_vector string entry at offset 41)"},
      {"a vector of 2^61 - 1 booleans", "94 01 01 01 ff ff ff ff ff ff ff ff",
       "update_vector too big: 2305843009213693951 values do not fit in the 0 bytes before the "
       "checkpoint (update_vector boolean entry at offset 41)"},
      {"a vector whose last string is cut", "84 01 01 01 02 00 02 61",
       "Trying to read past the end of file: 2 bytes needed at offset 48, but the journal ends at "
       "49 (update_vector string entry at offset 41)"},
  };
  for (const auto& [when, bytes, error] : cases) EXPECT_EQ(error_of(bytes), error) << when;
}

TEST(Decoder, RefusesAllBytesThatAreNoOpcodes) {
  const auto is_opcode = [](int byte) {
    return (byte >= 0x01 && byte <= 0x14 && byte != 0x07 && byte != 0x09 && byte != 0x11 &&
            byte != 0x12) ||
           (byte >= 0x81 && byte <= 0xa8);
  };
  for (int byte = 0; byte < 256; ++byte) {
    const std::string bytes{static_cast<char>(byte)};
    EXPECT_EQ(decode_all(bytes).error.starts_with("Unexpected operation"), !is_opcode(byte))
        << byte;
  }
}

// Truncates every entry at every byte. The entries before the truncated entry must be decoded, and
// the error must name the truncated entry.
TEST(Decoder, FindsEveryCut) {
  const auto entries = testing::one_entry_of_each_kind();
  std::string bytes;
  Context context;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::size_t start = bytes.size();
    testing::append_any(bytes, context, entries[i]);
    for (std::size_t end = start + 1; end < bytes.size(); ++end) {
      const Result result = decode_all(std::string_view(bytes).substr(0, end));
      EXPECT_EQ(result.entries.size(), i) << entries[i];
      EXPECT_EQ(result.error_offset, journal_start + static_cast<Offset>(start)) << entries[i];
    }
  }
}

void expect_error_names_its_place(const Result& result, std::string_view bytes) {
  if (result.error.empty()) return;
  RC_ASSERT(result.error_offset >= journal_start);
  RC_ASSERT(result.error_offset < journal_start + static_cast<Offset>(bytes.size()));
  const std::string place = "at offset " + std::to_string(result.error_offset) + ")";
  RC_ASSERT(result.error.ends_with(place));
}

TEST(Decoder, TakesAnyBytesAndNamesTheOffsetOfAnError) {
  testing::expect_property(
      [] {
        auto bytes = *rc::gen::container<std::string>(
            rc::gen::oneOf(rc::gen::arbitrary<char>(), rc::gen::inRange<char>(0, 0x15),
                           rc::gen::map(rc::gen::inRange(0x81, 0xa9),
                                        [](int c) { return static_cast<char>(c); })));
        expect_error_names_its_place(decode_all(bytes), bytes);
      },
      3000);
}

std::string pick_damaged_journal() {
  std::string bytes;
  Context context;
  for (const Any_Entry& entry :
       *rc::gen::container<std::vector<Any_Entry>>(testing::any_entry()).as("entries"))
    testing::append_any(bytes, context, entry);
  for (int i = *rc::gen::inRange(0, 4); i > 0 && !bytes.empty(); --i)
    bytes[*rc::gen::inRange<std::size_t>(0, bytes.size())] = *rc::gen::arbitrary<char>();
  return bytes;
}

TEST(Decoder, TakesDamagedJournals) {
  testing::expect_property(
      [] {
        const std::string bytes = pick_damaged_journal();
        expect_error_names_its_place(decode_all(bytes), bytes);
      },
      1000);
}

struct Lazy {
  std::vector<std::string> kinds;
  void operator()(const auto&) { kinds.push_back("entry"); }
  template <Field_Value T>
  void operator()(const Update_Vector<T>& e) {
    kinds.push_back("vector");
    if (e.size > 1) e.values.next();
  }
};

// A handler that skips the values of vectors gets the same entries as a handler that reads them
// all.
TEST(Decoder, SkipsWhatAHandlerDoesNotRead) {
  testing::expect_property(
      [] {
        const std::string bytes = pick_damaged_journal();
        const Result all = decode_all(bytes);
        for (const std::size_t spare : {std::size_t{0}, bytes.size()}) {
          Narrow_Input in(bytes, spare);
          Lazy lazy;
          Context context;
          std::string error;
          try {
            while (in.remaining() > 0) decode_entry(in, context, lazy);
          } catch (const Corruption_Error& e) {
            error = e.what();
            // The handler sees a vector before its values are checked.
            if (!lazy.kinds.empty() && lazy.kinds.size() > all.entries.size())
              lazy.kinds.pop_back();
          }
          RC_ASSERT(lazy.kinds.size() == all.entries.size());
          RC_ASSERT(error == all.error);
        }
      },
      300);
}

// The size of a request depends on the entries, not on the window.
TEST(Decoder, ReadsTheSameThroughAnyWindow) {
  testing::expect_property(
      [] {
        const std::string bytes = pick_damaged_journal();
        const Result expected = decode_all(bytes);
        for (const std::size_t spare : {0u, 1u, 2u, 3u, 7u, 64u}) {
          Narrow_Input in(bytes, spare);
          const Result result = decode_all(in, bytes);
          RC_ASSERT(result == expected);
          RC_ASSERT(in.max_request() <= bytes.size());
        }
      },
      300);
}

TEST(Decoder, ReadsWholeVectorsAtOnceThroughAnyWindow) {
  std::string bytes;
  Context context;
  std::vector<std::int32_t> values(100);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int32_t>(i * i);
  testing::append_any(
      bytes, context,
      testing::Vector_Update<std::int32_t>{Table_Id(1), Record_Id(0), Field_Id(1), values});
  testing::append_any(
      bytes, context,
      testing::Vector_Update<bool>{Table_Id(1), Record_Id(0), Field_Id(1), {true, false}});
  testing::append_any(bytes, context, Comment{"behind"});
  struct Reader : Ignore_Entries {
    using Ignore_Entries::operator();
    void operator()(const Update_Vector<std::int32_t>& e) {
      const std::int32_t first = e.values.next();
      numbers.resize(static_cast<std::size_t>(e.size));
      e.values.read_all(numbers.data() + 1);
      numbers[0] = first;
    }
    void operator()(const Update_Vector<bool>& e) { e.values.read_all(booleans); }
    void operator()(const Comment& e) { comment = e.text; }
    std::vector<std::int32_t> numbers;
    bool booleans[2] = {false, true};
    std::string comment;
  };
  for (std::size_t spare = 0; spare < 40; ++spare) {
    Narrow_Input in(bytes, spare);
    Reader reader;
    Context decoder;
    while (in.remaining() > 0) decode_entry(in, decoder, reader);
    EXPECT_EQ(reader.numbers, values);
    EXPECT_TRUE(reader.booleans[0]);
    EXPECT_FALSE(reader.booleans[1]);
    EXPECT_EQ(reader.comment, "behind");
  }
}

}  // namespace
}  // namespace joedb
