#ifndef TESTING_ENTRIES_H
#define TESTING_ENTRIES_H

#include <rapidcheck.h>

#include <iosfwd>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "joedb/format/decoder.h"
#include "joedb/format/encoder.h"
#include "joedb/format/entry.h"
#include "testing/hex.h"

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

using Any_Entry =
    std::variant<Create_Table, Drop_Table, Rename_Table, Add_Field, Drop_Field, Rename_Field,
                 Custom, Comment, Timestamp, Valid_Data, Insert, Delete, Insert_Vector,
                 Delete_Vector, Blob_Bytes, Update<std::string_view>, Update<std::int32_t>,
                 Update<std::int64_t>, Update<Record_Id>, Update<bool>, Update<float>,
                 Update<double>, Update<std::int8_t>, Update<std::int16_t>, Update<Blob>,
                 Vector_Update<std::string_view>, Vector_Update<std::int32_t>,
                 Vector_Update<std::int64_t>, Vector_Update<Record_Id>, Vector_Update<bool>,
                 Vector_Update<float>, Vector_Update<double>, Vector_Update<std::int8_t>,
                 Vector_Update<std::int16_t>, Vector_Update<Blob>>;

// A view of the same text that stays good until the program ends.
std::string_view keep(std::string_view text);

// "insert_into 1 0", "update_vector int32 1 0 2: 5 6", …
std::string to_text(const Any_Entry& entry);
std::ostream& operator<<(std::ostream& out, const Any_Entry& entry);

// Encodes any entry behind `out`.
void append_any(std::string& out, Context& context, const Any_Entry& entry);

// A handler that keeps all entries. `bytes` is where blobs are taken from; it begins at `offset`.
class Entry_Keeper {
 public:
  explicit Entry_Keeper(std::string_view bytes = {}, Offset offset = 0)
      : bytes_(bytes), offset_(offset) {}

  const std::vector<Any_Entry>& entries() const { return entries_; }

  template <class Entry>
  void operator()(Entry entry) {
    if constexpr (requires { entry.name; }) entry.name = keep(entry.name);
    if constexpr (requires { entry.text; }) entry.text = keep(entry.text);
    entries_.push_back(entry);
  }
  template <Field_Value T>
  void operator()(Update<T> entry) {
    entry.value = kept(entry.value);
    entries_.push_back(entry);
  }
  template <Field_Value T>
  void operator()(const Update_Vector<T>& entry) {
    Vector_Update<T> update{entry.table, entry.record, entry.field, {}};
    while (entry.values.remaining() > 0) update.values.push_back(kept(entry.values.next()));
    entries_.push_back(std::move(update));
  }
  void operator()(const Blob_Data& entry) {
    if (bytes_.empty() && entry.blob.get_size() > 0) {
      entries_.push_back(Blob_Bytes{"(not read)"});
    } else {
      const auto start = static_cast<std::size_t>(entry.blob.get_position() - offset_);
      const auto size = static_cast<std::size_t>(entry.blob.get_size());
      entries_.push_back(Blob_Bytes{keep(bytes_.substr(start, size))});
    }
  }

 private:
  template <class T>
  static T kept(T value) {
    if constexpr (std::is_same_v<T, std::string_view>)
      return keep(value);
    else
      return value;
  }

  std::string_view bytes_;
  Offset offset_;
  std::vector<Any_Entry> entries_;
};

// One of each kind: what tests/golden/format/entries.txt shows.
std::vector<Any_Entry> one_entry_of_each_kind();

// Any entries whatsoever, with small ids, so that short forms are frequent, and no NaN.
rc::Gen<Any_Entry> any_entry();

// And back; throws if the text is none.
std::string from_hex(std::string_view text);

}  // namespace joedb::testing

#endif
