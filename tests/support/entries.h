#ifndef JOEDB_TESTS_SUPPORT_ENTRIES_H
#define JOEDB_TESTS_SUPPORT_ENTRIES_H

#include <rapidcheck.h>

#include <iosfwd>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "joedb/format/codec.h"
#include "joedb/format/entry.h"
#include "joedb/journal/readonly_journal.h"
#include "sim/lab/hex.h"

// Entries as values that can be kept, compared, printed and generated.

namespace joedb::testing {

// An update of a vector with its values, and a blob with its bytes.
template <Field_Value T>
struct Vector_Update {
  Table_Id table;
  Record_Id record;
  Field_Id field;
  std::vector<T> values;
  friend bool operator==(const Vector_Update&, const Vector_Update&) = default;
};

struct Blob_Bytes {
  std::string_view bytes;
  friend bool operator==(const Blob_Bytes&, const Blob_Bytes&) = default;
};

// Any entry. The code for all the kinds is large, so it is compiled once, in the library.
class Any_Entry {
 public:
  using Value =
      std::variant<Create_Table, Drop_Table, Rename_Table, Add_Field, Drop_Field, Rename_Field,
                   Custom, Comment, Timestamp, Valid_Data, Insert, Delete, Insert_Vector,
                   Delete_Vector, Blob_Bytes, Update<std::string_view>, Update<std::int32_t>,
                   Update<std::int64_t>, Update<Record_Id>, Update<bool>, Update<float>,
                   Update<double>, Update<std::int8_t>, Update<std::int16_t>, Update<Blob>,
                   Vector_Update<std::string_view>, Vector_Update<std::int32_t>,
                   Vector_Update<std::int64_t>, Vector_Update<Record_Id>, Vector_Update<bool>,
                   Vector_Update<float>, Vector_Update<double>, Vector_Update<std::int8_t>,
                   Vector_Update<std::int16_t>, Vector_Update<Blob>>;

  template <class Entry>
  requires(!std::is_same_v<Entry, Any_Entry>) Any_Entry(Entry entry);
  Any_Entry(const Any_Entry&);
  Any_Entry(Any_Entry&&) noexcept;
  Any_Entry& operator=(const Any_Entry&);
  Any_Entry& operator=(Any_Entry&&) noexcept;
  ~Any_Entry();
  bool operator==(const Any_Entry& other) const;

  // For std::visit.
  const Value& value() const { return value_; }
  Value& value() { return value_; }

 private:
  Value value_;
};

// Returns a view of the same text that stays valid until the program ends.
std::string_view keep(std::string_view text);

// "insert_into 1 0", "update_vector int32 1 0 2: 5 6", …
std::string to_text(const Any_Entry& entry);
std::ostream& operator<<(std::ostream& out, const Any_Entry& entry);

// Encodes an entry and appends it to `out`.
void append_any(std::string& out, Context& context, const Any_Entry& entry);

// A handler that keeps all entries. Blobs are read from `bytes`, which starts at the offset
// `offset`.
class Entry_Keeper {
 public:
  explicit Entry_Keeper(std::string_view bytes = {}, Offset offset = 0)
      : bytes_(bytes), offset_(offset) {}

  const std::vector<Any_Entry>& entries() const { return entries_; }

  // Called by decode_entry for each entry. Instantiated in the library.
  template <class Entry>
  void operator()(const Entry& entry);

 private:
  std::string_view bytes_;
  Offset offset_;
  std::vector<Any_Entry> entries_;
};

}  // namespace joedb::testing

// Instantiated once, because the sanitizers make them large.
namespace joedb::inline v1 {

extern template void decode_entry(Decoder_Input&, Context&, testing::Entry_Keeper&);
extern template void Replay::run(testing::Entry_Keeper&, Offset, Offset);
extern template void Replay::run(Ignore_Entries&, Offset, Offset);

}  // namespace joedb::inline v1

namespace joedb::testing {

// Returns one entry of each kind: the content of tests/golden/format/entries.txt.
std::vector<Any_Entry> one_entry_of_each_kind();

// Generates arbitrary entries, without NaN. Most ids are small, so that short forms are frequent.
rc::Gen<Any_Entry> any_entry();

// The inverse of hex() (sim/lab/hex.h). Throws std::invalid_argument if a word is not a byte.
std::string from_hex(std::string_view text);

}  // namespace joedb::testing

#endif
