#include "support/entries.h"

#include <cmath>
#include <limits>
#include <set>
#include <sstream>
#include <stdexcept>

namespace joedb::testing {

std::string_view keep(std::string_view text) {
  static std::set<std::string, std::less<>> texts;
  const auto found = texts.find(text);
  return found != texts.end() ? *found : *texts.emplace(text).first;
}

template <class Entry>
requires(!std::is_same_v<Entry, Any_Entry>) Any_Entry::Any_Entry(Entry entry)
    : value_(std::move(entry)) {}
Any_Entry::Any_Entry(const Any_Entry&) = default;
Any_Entry::Any_Entry(Any_Entry&&) noexcept = default;
Any_Entry& Any_Entry::operator=(const Any_Entry&) = default;
Any_Entry& Any_Entry::operator=(Any_Entry&&) noexcept = default;
Any_Entry::~Any_Entry() = default;
bool Any_Entry::operator==(const Any_Entry& other) const = default;

// ---- text ---------------------------------------------------------------------------------------

namespace {

void print(std::ostream& out, std::string_view text) { out << '"' << text << '"'; }
void print(std::ostream& out, Record_Id record) { out << record.value(); }
void print(std::ostream& out, bool value) { out << (value ? "true" : "false"); }
void print(std::ostream& out, std::int8_t value) { out << static_cast<int>(value); }
void print(std::ostream& out, Blob blob) {
  out << '(' << blob.get_position() << ',' << blob.get_size() << ')';
}
template <class T>
void print(std::ostream& out, T value) {
  out << value;
}

struct Printer {
  std::ostream& out;

  void operator()(const Create_Table& e) const { out << "create_table " << e.name; }
  void operator()(const Drop_Table& e) const { out << "drop_table " << e.table.value(); }
  void operator()(const Rename_Table& e) const {
    out << "rename_table " << e.table.value() << ' ' << e.name;
  }
  void operator()(const Add_Field& e) const {
    out << "add_field " << e.table.value() << ' ' << e.name << ' ' << type_name(e.type.code);
    if (e.type.code == Type_Code::reference) out << ' ' << e.type.referenced.value();
  }
  void operator()(const Drop_Field& e) const {
    out << "drop_field " << e.table.value() << ' ' << e.field.value();
  }
  void operator()(const Rename_Field& e) const {
    out << "rename_field " << e.table.value() << ' ' << e.field.value() << ' ' << e.name;
  }
  void operator()(const Custom& e) const { out << "custom " << e.name; }
  void operator()(const Comment& e) const {
    out << "comment ";
    print(out, e.text);
  }
  void operator()(const Timestamp& e) const { out << "timestamp " << e.seconds; }
  void operator()(const Valid_Data&) const { out << "valid_data"; }
  void operator()(const Insert& e) const { records("insert_into", e); }
  void operator()(const Delete& e) const { records("delete_from", e); }
  void operator()(const Insert_Vector& e) const {
    records("insert_vector", e);
    out << ' ' << e.size;
  }
  void operator()(const Delete_Vector& e) const {
    records("delete_vector", e);
    out << ' ' << e.size;
  }
  void operator()(const Blob_Bytes& e) const {
    out << "blob ";
    print(out, e.bytes);
  }
  template <Field_Value T>
  void operator()(const Update<T>& e) const {
    cell<T>("update ", e);
    print(out, e.value);
  }
  template <Field_Value T>
  void operator()(const Vector_Update<T>& e) const {
    cell<T>("update_vector ", e);
    out << '[';
    for (std::size_t i = 0; i < e.values.size(); ++i) {
      if (i > 0) out << ' ';
      print(out, static_cast<T>(e.values[i]));
    }
    out << ']';
  }

 private:
  void records(const char* name, const auto& e) const {
    out << name << ' ' << e.table.value() << ' ' << e.record.value();
  }
  template <class T>
  void cell(const char* name, const auto& e) const {
    out << name << type_name(code_of<T>) << ' ' << e.table.value() << ' ' << e.record.value() << ' '
        << e.field.value() << ' ';
  }
};

}  // namespace

std::string to_text(const Any_Entry& entry) {
  std::ostringstream out;
  std::visit(Printer{out}, entry.value());
  return out.str();
}

std::ostream& operator<<(std::ostream& out, const Any_Entry& entry) {
  return out << to_text(entry);
}

std::string from_hex(std::string_view text) {
  std::string bytes;
  std::istringstream in{std::string(text)};
  for (std::string word; in >> word;) {
    if (word.size() != 2) throw std::invalid_argument("not a byte: " + word);
    bytes += static_cast<char>(std::stoi(word, nullptr, 16));
  }
  return bytes;
}

// ---- encoding -----------------------------------------------------------------------------------

namespace {

struct Appender {
  std::string& out;
  Context& context;

  template <class Entry>
  void operator()(const Entry& entry) const {
    append_encoded(out, context, entry);
  }
  void operator()(const Blob_Bytes& e) const {
    char start[entry_size_limit];
    out.append(start, encode_blob(start, e.bytes.size()));
    out.append(e.bytes);
  }
  template <Field_Value T>
  void operator()(const Vector_Update<T>& e) const {
    char start[entry_size_limit];
    out.append(start, encode_update_vector<T>(start, context, e.table, e.record, e.field,
                                              static_cast<std::int64_t>(e.values.size())));
    for (std::size_t i = 0; i < e.values.size(); ++i) {
      const T value = e.values[i];
      std::string bytes(value_size_limit(value), '\0');
      out.append(bytes.data(), encode_value(bytes.data(), value));
    }
  }
};

}  // namespace

void append_any(std::string& out, Context& context, const Any_Entry& entry) {
  std::visit(Appender{out, context}, entry.value());
}

// ---- keeping ------------------------------------------------------------------------------------

namespace {

template <class T>
T kept(T value) {
  if constexpr (std::is_same_v<T, std::string_view>)
    return keep(value);
  else
    return value;
}

}  // namespace

template <class Entry>
void Entry_Keeper::operator()(const Entry& entry) {
  if constexpr (requires { entry.values; }) {
    using T = decltype(entry.values.next());
    Vector_Update<T> update{entry.table, entry.record, entry.field, {}};
    while (entry.values.remaining() > 0) update.values.push_back(kept(entry.values.next()));
    entries_.emplace_back(std::move(update));
  } else if constexpr (std::is_same_v<Entry, Blob_Data>) {
    const auto start = static_cast<std::size_t>(entry.blob.get_position() - offset_);
    const auto size = static_cast<std::size_t>(entry.blob.get_size());
    const bool is_read = !bytes_.empty() || size == 0;
    entries_.emplace_back(Blob_Bytes{is_read ? keep(bytes_.substr(start, size)) : "(not read)"});
  } else {
    Entry copy = entry;
    if constexpr (requires { copy.name; }) copy.name = keep(copy.name);
    if constexpr (requires { copy.text; }) copy.text = keep(copy.text);
    if constexpr (requires { copy.value; }) copy.value = kept(copy.value);
    entries_.emplace_back(copy);
  }
}

}  // namespace joedb::testing

namespace joedb::inline v1 {

template void decode_entry(Decoder_Input&, Context&, testing::Entry_Keeper&);
template void Replay::run(testing::Entry_Keeper&, Offset, Offset);
template void Replay::run(Ignore_Entries&, Offset, Offset);

}  // namespace joedb::inline v1

namespace joedb::testing {

#define MAKE(Entry) template Any_Entry::Any_Entry(Entry)
#define KEEP(Entry) template void Entry_Keeper::operator()(const Entry&)
#define MAKE_AND_KEEP(Entry) \
  MAKE(Entry);               \
  KEEP(Entry)
#define MAKE_AND_KEEP_UPDATES(T) \
  MAKE_AND_KEEP(Update<T>);      \
  MAKE(Vector_Update<T>);        \
  KEEP(Update_Vector<T>)
MAKE_AND_KEEP(Create_Table);
MAKE_AND_KEEP(Drop_Table);
MAKE_AND_KEEP(Rename_Table);
MAKE_AND_KEEP(Add_Field);
MAKE_AND_KEEP(Drop_Field);
MAKE_AND_KEEP(Rename_Field);
MAKE_AND_KEEP(Custom);
MAKE_AND_KEEP(Comment);
MAKE_AND_KEEP(Timestamp);
MAKE_AND_KEEP(Valid_Data);
MAKE_AND_KEEP(Insert);
MAKE_AND_KEEP(Delete);
MAKE_AND_KEEP(Insert_Vector);
MAKE_AND_KEEP(Delete_Vector);
KEEP(Blob_Data);
MAKE(Blob_Bytes);
MAKE_AND_KEEP_UPDATES(std::string_view);
MAKE_AND_KEEP_UPDATES(std::int32_t);
MAKE_AND_KEEP_UPDATES(std::int64_t);
MAKE_AND_KEEP_UPDATES(Record_Id);
MAKE_AND_KEEP_UPDATES(bool);
MAKE_AND_KEEP_UPDATES(float);
MAKE_AND_KEEP_UPDATES(double);
MAKE_AND_KEEP_UPDATES(std::int8_t);
MAKE_AND_KEEP_UPDATES(std::int16_t);
MAKE_AND_KEEP_UPDATES(Blob);
#undef MAKE_AND_KEEP_UPDATES
#undef MAKE_AND_KEEP
#undef KEEP
#undef MAKE

// ---- examples -----------------------------------------------------------------------------------

template <Field_Value T>
static std::vector<T> example_values() {
  if constexpr (std::is_same_v<T, std::string_view>)
    return {"one", "", "three"};
  else if constexpr (std::is_same_v<T, Record_Id>)
    return {Record_Id(0), Record_Id(), Record_Id(300)};
  else if constexpr (std::is_same_v<T, Blob>)
    return {Blob(41, 5), Blob(), Blob(8192, 32)};
  else if constexpr (std::is_same_v<T, bool>)
    return {true, false, true};
  else
    return {T(1), T(-2), std::numeric_limits<T>::max()};
}

template <Field_Value T>
static void add_updates(std::vector<Any_Entry>& entries) {
  const std::vector<T> values = example_values<T>();
  const Table_Id table(2);
  const Field_Id field(3);
  entries.push_back(Update<T>{table, Record_Id(10), field, values[0]});  // the full form
  entries.push_back(Update<T>{table, Record_Id(11), field, values[1]});  // next
  entries.push_back(Update<T>{table, Record_Id(11), field, values[2]});  // last
  entries.push_back(Vector_Update<T>{table, Record_Id(20), field, values});
}

std::vector<Any_Entry> one_entry_of_each_kind() {
  std::vector<Any_Entry> entries{Create_Table{"city"},
                                 Rename_Table{Table_Id(1), "town"},
                                 Add_Field{Table_Id(1), "name", {Type_Code::string, {}}},
                                 Add_Field{Table_Id(1), "up", {Type_Code::reference, Table_Id(1)}},
                                 Rename_Field{Table_Id(1), Field_Id(1), "label"},
                                 Drop_Field{Table_Id(1), Field_Id(2)},
                                 Drop_Table{Table_Id(300)},
                                 Custom{"tidy"},
                                 Comment{"a note"},
                                 Timestamp{1700000000},
                                 Valid_Data{},
                                 Insert{Table_Id(1), Record_Id(7)},
                                 Insert{Table_Id(1), Record_Id(8)},  // append
                                 Delete{Table_Id(1), Record_Id(7)},
                                 Insert_Vector{Table_Id(1), Record_Id(9), 1000},
                                 Delete_Vector{Table_Id(1), Record_Id(9), 3},
                                 Blob_Bytes{"BLOB"}};
  for (int code = 1; code <= type_count; ++code)
    visit_type(static_cast<Type_Code>(code),
               [&]<class T>(std::type_identity<T>) { add_updates<T>(entries); });
  return entries;
}

// ---- generators ---------------------------------------------------------------------------------

namespace {

template <class T>
T pick(const rc::Gen<T>& gen) {
  return *gen;
}

// Mostly small numbers, and the numbers around each limit where a compact number gets longer.
rc::Gen<std::uint64_t> compact_number() {
  return rc::gen::exec([] {
    if (pick(rc::gen::inRange(0, 4)) > 0) return pick(rc::gen::inRange<std::uint64_t>(0, 5));
    const int bits = 5 + 8 * pick(rc::gen::inRange(0, 8));
    const std::uint64_t limit = std::uint64_t{1} << bits;
    const std::uint64_t number = limit - 2 + pick(rc::gen::inRange<std::uint64_t>(0, 4));
    return std::min(number, max_compact);
  });
}

Table_Id pick_table() {
  return Table_Id(pick(rc::gen::weightedOneOf<std::uint16_t>(
      {{9, rc::gen::inRange<std::uint16_t>(1, 4)}, {1, rc::gen::arbitrary<std::uint16_t>()}})));
}
Field_Id pick_field() {
  return Field_Id(pick(rc::gen::weightedOneOf<std::uint16_t>(
      {{9, rc::gen::inRange<std::uint16_t>(1, 4)}, {1, rc::gen::arbitrary<std::uint16_t>()}})));
}
Record_Id pick_record() { return Record_Id(static_cast<index_t>(pick(compact_number())) - 1); }

std::string_view pick_string() { return keep(pick(rc::gen::arbitrary<std::string>())); }

Type pick_type() {
  const auto code = static_cast<Type_Code>(pick(rc::gen::inRange(1, type_count + 1)));
  return {code, code == Type_Code::reference ? pick_table() : Table_Id()};
}

template <Field_Value T>
T pick_value() {
  if constexpr (std::is_same_v<T, std::string_view>) {
    return pick_string();
  } else if constexpr (std::is_same_v<T, Record_Id>) {
    return pick_record();
  } else if constexpr (std::is_same_v<T, Blob>) {
    const auto position = static_cast<std::int64_t>(pick(compact_number()));
    return Blob(position, static_cast<std::int64_t>(pick(compact_number())));
  } else {
    return pick(rc::gen::arbitrary<T>());
  }
}

template <Field_Value T>
Any_Entry pick_update() {
  const Table_Id table = pick_table();
  const Record_Id record = pick_record();
  const Field_Id field = pick_field();
  if (pick(rc::gen::inRange(0, 4)) > 0) return Update<T>{table, record, field, pick_value<T>()};
  Vector_Update<T> update{table, record, field, {}};
  for (int i = pick(rc::gen::inRange(0, 20)); i > 0; --i) update.values.push_back(pick_value<T>());
  return update;
}

std::int64_t pick_size() { return static_cast<std::int64_t>(pick(compact_number())); }

Any_Entry pick_entry() {
  switch (pick(rc::gen::inRange(0, 30))) {
    case 0:
      return Create_Table{pick_string()};
    case 1:
      return Drop_Table{pick_table()};
    case 2:
      return Rename_Table{pick_table(), pick_string()};
    case 3: {
      const Table_Id table = pick_table();
      const std::string_view name = pick_string();
      return Add_Field{table, name, pick_type()};
    }
    case 4: {
      const Table_Id table = pick_table();
      return Drop_Field{table, pick_field()};
    }
    case 5: {
      const Table_Id table = pick_table();
      const Field_Id field = pick_field();
      return Rename_Field{table, field, pick_string()};
    }
    case 6:
      return Custom{pick_string()};
    case 7:
      return Comment{pick_string()};
    case 8:
      return Timestamp{pick(rc::gen::arbitrary<std::int64_t>())};
    case 9:
      return Valid_Data{};
    case 10: {
      const Table_Id table = pick_table();
      return Delete{table, pick_record()};
    }
    case 11: {
      const Table_Id table = pick_table();
      const Record_Id record = pick_record();
      return Insert_Vector{table, record, pick_size()};
    }
    case 12: {
      const Table_Id table = pick_table();
      const Record_Id record = pick_record();
      return Delete_Vector{table, record, pick_size()};
    }
    case 13:
      return Blob_Bytes{pick_string()};
    case 14:
    case 15:
    case 16:
    case 17: {
      const Table_Id table = pick_table();
      return Insert{table, pick_record()};
    }
    default:
      return visit_type(static_cast<Type_Code>(pick(rc::gen::inRange(1, type_count + 1))),
                        []<class T>(std::type_identity<T>) { return pick_update<T>(); });
  }
}

}  // namespace

rc::Gen<Any_Entry> any_entry() { return rc::gen::exec(pick_entry); }

}  // namespace joedb::testing
