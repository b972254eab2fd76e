#ifndef JOEDB_TABLE_COLUMN_H
#define JOEDB_TABLE_COLUMN_H

#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "joedb/base/types.h"
#include "joedb/io/zeroed_memory.h"
#include "joedb/schema/type.h"

namespace joedb::inline v1 {

// True for std::filesystem::path, whose header is not included because it is slow to compile.
template <class T>
concept File_Path = std::constructible_from<T, std::string> && requires(const T& path) {
  path.lexically_normal();
  path.root_directory();
};

// A std::string_view that converts implicitly to std::string: `std::string s = text;` makes a copy.
// The characters must outlive the view. They need not be followed by a zero byte.
class Text_View : public std::string_view {
 public:
  constexpr Text_View() = default;
  constexpr explicit Text_View(std::string_view text) : std::string_view(text) {}

  std::string str() const { return std::string(data(), size()); }
  operator std::string() const { return str(); }
  template <File_Path Path>
  operator Path() const {
    return Path(str());
  }

  // Returns a view of the characters [start, start + count), but not past the end. Throws
  // std::out_of_range if start > size().
  constexpr Text_View substr(std::size_t start = 0, std::size_t count = npos) const {
    return Text_View(std::string_view::substr(start, count));
  }

  // The result is a copy, as it is for a std::string.
  friend std::string operator+(std::string a, Text_View b) { return std::move(a.append(b)); }
  friend std::string operator+(Text_View a, const std::string& b) { return a.str().append(b); }
  friend std::string operator+(Text_View a, const char* b) { return a.str().append(b); }
  friend std::string operator+(const char* a, Text_View b) { return std::string(a).append(b); }
  friend std::string operator+(Text_View a, char b) { return a.str().append(1, b); }
  friend std::string operator+(char a, Text_View b) { return std::string(1, a).append(b); }
  friend std::string operator+(Text_View a, Text_View b) { return a.str().append(b); }
};

// A string in a column: a view of characters that are followed by a zero byte. The view is valid
// until any table of the database changes; after that, it may refer to other bytes, or to freed
// memory. To keep the text, copy it: `std::string name = db.get_name(id);`, or `const std::string&
// name = db.get_name(id);`.
class String : public Text_View {
 public:
  constexpr String() : Text_View("") {}
  // The byte at data[size] must be 0.
  constexpr String(const char* data, std::size_t size) : Text_View({data, size}) {}
  // This conversion is implicit, so that `is_known ? db.get_name(id) : "unknown"` is a String.
  constexpr String(const char* text) : Text_View(std::string_view(text)) {}
  String(std::nullptr_t) = delete;

  // If the text contains a zero byte, the C string ends there.
  constexpr const char* c_str() const { return data(); }
};

}  // namespace joedb::inline v1

template <>
struct std::hash<joedb::Text_View> : std::hash<std::string_view> {};
template <>
struct std::hash<joedb::String> : std::hash<std::string_view> {};

namespace joedb::inline v1 {

// ---- record ids ---------------------------------------------------------------------------------

// The snapshot of an object is a sequence of items: numbers, texts, and sections. A section is a
// block of bytes that is used in place when it is read. Items are read in the order in which they
// were written, so the functions save and restore of an object make the same list of calls.

// Writes the items of an object. Functions throw Io_Error.
class Section_Writer {
 public:
  virtual ~Section_Writer() = default;

  virtual void number(std::int64_t value) = 0;
  virtual void text(std::string_view value) = 0;
  // Begins a section, which ends where the next item begins. The bytes of the section are written
  // by any number of calls of append.
  virtual void begin_section() = 0;
  virtual void append(const void* bytes, std::size_t size) = 0;

  void section(const void* bytes, std::size_t size) {
    begin_section();
    append(bytes, size);
  }
};

// Reads the items of an object. A snapshot file may have been forged: the caller must check all
// numbers, texts and sizes. Functions throw Corruption_Error if there is no next item, or if it is
// of another kind.
class Section_Reader {
 public:
  virtual ~Section_Reader() = default;

  virtual std::int64_t number() = 0;
  // The text is valid for the lifetime of the reader.
  virtual std::string_view text() = 0;
  // Fills `memory`, which must be empty, with the next section, so that memory.size() == `size`.
  // Throws Io_Error, std::bad_alloc, and Corruption_Error if the section has another size.
  // `reserved`: see Zeroed_Memory::begin_with.
  virtual void section(Zeroed_Memory& memory, std::size_t size, std::size_t reserved = 0) = 0;
};

// The ids of the rows of a table: stores which ids are in use, the order in which they were
// inserted, and the id of the next new row. Ids are 0 … size() - 1; ids that are not in use are
// free.
//
// A table is dense as long as its ids are exactly 0 … size - 1, inserted in this order; then
// nothing needs to be stored. The first hole (a deletion, or an insertion beyond the size)
// permanently changes the representation to linked lists: iteration follows the order of insertion,
// and a new row takes the id that was freed or skipped last.
//
// A link whose bytes are zero describes the usual case: an id less than the size of the dense part
// is in use, any other id is free, and the neighbours of an id in its list are its numeric
// neighbours. So neither leaving the dense state nor skipping millions of ids costs time or memory.
//
// All functions take constant time, except are_free, are_used and insertions of vectors. Arguments
// are not checked. The caller must reserve memory: after reserve_lists(n), insertions and deletions
// cannot throw as long as size() <= n. In a dense table, appending needs no memory.
//
// Not thread-safe. Several threads may call const functions while none changes the object.
class Record_Ids {
 public:
  // The result of first, last, next and previous if there is no such record. It differs from a null
  // Record_Id, which is -1.
  static constexpr index_t no_id = -2;

  // Largest id ever inserted, plus one. Deletions do not reduce it.
  index_t size() const { return size_; }
  index_t used_count() const { return used_count_; }
  bool is_dense() const { return is_dense_; }

  // False for any id outside 0 … size() - 1, including negative ones.
  bool is_used(index_t id) const {
    return static_cast<std::size_t>(id) < static_cast<std::size_t>(size_) &&
           (is_dense_ || is_used_in_list(id));
  }
  // are_free: true if no id in [id, id + n) is in use; requires id >= 0. are_used: true if all
  // these ids are in use. Both functions take time linear in n if the table is not dense.
  bool are_free(index_t id, index_t n) const;
  bool are_used(index_t id, index_t n) const;

  // The first and the last used id, in insertion order; no_id if no id is in use.
  index_t first() const { return is_dense_ ? (size_ > 0 ? 0 : no_id) : first_used_; }
  index_t last() const { return is_dense_ ? (size_ > 0 ? size_ - 1 : no_id) : last_used_; }
  // The next and the previous used id, in insertion order; no_id if there is none. `id` must be in
  // use.
  index_t next(index_t id) const {
    if (is_dense_) return id + 1 < size_ ? id + 1 : no_id;
    return moved(id, 1, links()[id].next);
  }
  index_t previous(index_t id) const {
    if (is_dense_) return id > 0 ? id - 1 : no_id;
    return moved(id, -1, links()[id].previous);
  }

  // Returns the id for a new row: the free id that was freed or skipped last, or size() if no id is
  // free.
  index_t next_free() const { return is_dense_ || first_free_ == no_id ? size_ : first_free_; }

  // Allocates memory for lists of at most `size` ids. If this throws std::bad_alloc, nothing has
  // changed.
  void reserve_lists(index_t size);

  // Insert an id, or the ids [id, id + n). Require are_free(id, n), with n = 1 for insert. If id >
  // size(), the ids from size() to id - 1 become free.
  void insert(index_t id) {
    if (is_dense_ && id == size_) {
      ++size_;
      ++used_count_;
    } else {
      insert_at_hole(id);
    }
  }
  void insert_vector(index_t id, index_t n);

  // Requires is_used(id).
  void erase(index_t id);

  // ---- loops that erase
  //
  // A loop holds an id, and the value of erasures() when it reached this id. The next step of the
  // loop goes to the neighbour of this record, even if the record has been erased since, and even
  // if its id was reused. If there were more than 128 erasures since, and the record may be one of
  // the erased records, its neighbour is no longer known, and these functions throw Exception.

  std::uint64_t erasures() const { return erasures_; }
  index_t next(index_t id, std::uint64_t erasures) const {
    return erasures == erasures_ ? next(id) : neighbour_since(id, erasures, true);
  }
  index_t previous(index_t id, std::uint64_t erasures) const {
    return erasures == erasures_ ? previous(id) : neighbour_since(id, erasures, false);
  }
  // Call this before an iterator at record `id` steps back to the previous record (or to the last
  // record if `id` is no_id). Throws Exception if the previous record was erased since `erasures`:
  // a std::reverse_iterator, whose base is the record after the visited record, would skip a
  // record.
  void require_previous(index_t id, std::uint64_t erasures) const {
    if (erasures != erasures_) require_neighbour(id, erasures);
  }
  // True if the id was erased since `erasures`, and is in use again. Throws Exception as described
  // above.
  bool was_replaced_since(index_t id, std::uint64_t erasures) const {
    return erasures != erasures_ && is_used(id) && was_erased_since(id, erasures);
  }
  // Takes the erasure log of `other`, which must have the same ids. Loops over `other` can then
  // continue with this object.
  void take_loops(Record_Ids& other) {
    erasures_ = other.erasures_;
    last_reuse_ = other.last_reuse_;
    erased_ = std::move(other.erased_);
  }

  // ---- undoing
  //
  // These functions undo changes, which must be undone in reverse order. Afterwards, the ids and
  // the order of both lists are as before the change, but a table that is no longer dense does not
  // become dense again. `before` is the result of before_…, called before the change.

  struct Before {
    index_t size;
    index_t previous, next;  // neighbours of the id in its list
  };
  // Requires that the id is not in use.
  Before before_insert(index_t id) const;
  // Requires is_used(id).
  Before before_erase(index_t id) const {
    assert(is_used(id));
    return {size_, previous(id), next(id)};
  }
  void undo_insert(index_t id, const Before& before);
  void undo_erase(index_t id, const Before& before);

  // ---- snapshots (snapshot/sections.h)

  void save(Section_Writer& out) const;
  // Requires that this object is new, or has the same ids. Throws Corruption_Error for inconsistent
  // numbers. Does not read the links: if they are damaged, the order of the records is wrong, but
  // no id is outside 0 … size() - 1.
  void restore(Section_Reader& in);
  // See Zeroed_Memory::spill.
  void spill(File& file) {
    if (!is_dense_) links_.spill(file, static_cast<std::size_t>(size_) * sizeof(Link));
  }

 private:
  // All zeros describe the usual state.
  struct Link {
    index_t next;      // next id in the list, minus the usual next id
    index_t previous;  // the usual previous id, minus the previous id in the list
    // 1 for a free id in the dense part, and for a used id after the dense part; otherwise 0. Not a
    // bool, because in a snapshot it may have any value.
    std::uint8_t is_unusual;
  };

  // Returns the id `distance` steps beyond the numeric neighbour of `id` in this direction; no_id
  // if there is no such id.
  index_t moved(index_t id, index_t direction, index_t distance) const {
    const auto unsigned_of = [](index_t i) { return static_cast<std::uint64_t>(i); };
    const std::uint64_t to = unsigned_of(id) + unsigned_of(direction) * (1 + unsigned_of(distance));
    return to < unsigned_of(size_) ? static_cast<index_t>(to) : no_id;
  }
  Link* links() { return reinterpret_cast<Link*>(links_.data()); }
  const Link* links() const { return reinterpret_cast<const Link*>(links_.data()); }
  bool is_used_in_list(index_t id) const {
    return (links()[id].is_unusual != 0) != (id < dense_size_);
  }
  // Distance to the usual next id: 1 for a used id, -1 for a free id.
  static index_t step(bool is_used) { return is_used ? 1 : -1; }
  // An erasure, with the neighbours that the id had before the erasure, and has again after
  // undo_erase().
  struct Erased {
    index_t id, previous, next;
    bool is_undone;
  };
  static constexpr std::uint64_t erased_size = 128;
  void remember_erased(const Erased& erased) {
    if (erased_) erased_[erasures_ % erased_size] = erased;
    ++erasures_;
  }
  [[gnu::cold]] index_t neighbour_since(index_t id, std::uint64_t erasures, bool is_next) const;
  [[gnu::cold]] void require_neighbour(index_t id, std::uint64_t erasures) const;
  [[gnu::cold]] bool was_erased_since(index_t id, std::uint64_t erasures) const;
  // True if the log has all erasures since `erasures`. If it does not have all, throws Exception if
  // the record may be one of the erased records, and otherwise returns false.
  bool are_remembered(index_t id, std::uint64_t erasures) const;

  index_t next_in_list(index_t id) const;
  index_t previous_in_list(index_t id) const;
  void set_next(index_t id, index_t next);
  void set_previous(index_t id, index_t previous);
  void set_link(index_t id, bool is_used, index_t next, index_t previous);
  void unlink(index_t id, index_t& first, index_t& last);
  void link(index_t id, bool is_used, const Before& neighbours, index_t& first, index_t& last);
  void make_lists();
  void skip_to(index_t id);
  void insert_at_hole(index_t id);
  void insert_in_list(index_t id);

  index_t size_ = 0;
  index_t used_count_ = 0;
  bool is_dense_ = true;
  // The links of both lists, if the table is not dense. The first free id is the next id to use.
  Zeroed_Memory links_;
  index_t dense_size_ = 0;  // size_ when the table became lists
  index_t first_used_ = no_id;
  index_t last_used_ = no_id;
  index_t first_free_ = no_id;
  index_t last_free_ = no_id;
  // The erasure log, for loops.
  std::uint64_t erasures_ = 0;
  std::uint64_t last_reuse_ = 0;      // erasures_ when an id was last reused
  std::unique_ptr<Erased[]> erased_;  // the last 128 erasures; null before reserve_lists()
};

// ---- columns ------------------------------------------------------------------------------------

// The memory of a column: its values, and the texts of a column of strings.
struct Column_Memory {
  Zeroed_Memory values;
  Zeroed_Memory texts;
};

// The values of one field of a table, in one contiguous array. The value of record i is at index i,
// even if the record is not in use.
//
// A column has room for `capacity` rows; the table grows all its columns together. Elements that
// were never written hold the default value of the type, whose bytes are all zero: 0, false, the
// empty string, the null reference, the null blob.
//
// Indexes into the array are not checked: they must be less than the capacity. A value that is
// changed here is not logged, and indexes are not updated: use Writable_Database or generated code
// to change values. Not thread-safe; several threads may read while none writes.
class Column_Base {
 public:
  explicit Column_Base(Type type) : type_(type) {}
  virtual ~Column_Base() = default;
  Column_Base(const Column_Base&) = delete;
  Column_Base& operator=(const Column_Base&) = delete;

  // The type of the field, and for a reference, the table it refers to.
  const Type& type() const { return type_; }

  // What the values mean. Plain unless the journal declares it (Database::declarations).
  const Logical_Type& logical() const { return get(logical_); }
  const Shared_Logical_Type& shared_logical() const { return logical_; }
  void set_logical(Shared_Logical_Type type) { logical_ = std::move(type); }

  // True if the field is part of the key of an index.
  bool is_indexed() const { return is_indexed_; }
  void set_indexed(bool value, bool is_observed) {
    is_indexed_ = value;
    is_followed_ = value || is_observed;
  }
  // True if the field is part of an index or its table is observed: then it is not enough to set
  // the value.
  bool is_followed() const { return is_followed_; }
  void set_observed(bool value) { is_followed_ = value || is_indexed_; }

  // Makes room for `capacity` rows, which must not be fewer than now. Addresses of values change.
  // If this throws std::bad_alloc, nothing has changed. `will_be_filled` says that most of the rows
  // are about to be set, so that huge pages pay off.
  virtual void grow(std::size_t capacity, bool will_be_filled) = 0;

  // Sets the default value.
  virtual void reset(index_t id) = 0;

  // ---- snapshots (table/record_ids.h)

  // Saves the values of rows 0 … rows - 1.
  virtual void save(Section_Writer& out, std::size_t rows) const = 0;
  // Requires that the column is new, or has the same values. Afterwards the column has room for
  // these rows. If this throws Corruption_Error, the column has not changed. Does not read the
  // values: if the place of a text is damaged, the text is empty, and no memory outside the column
  // is accessed.
  virtual void restore(Section_Reader& in, std::size_t rows) = 0;
  // Moves the values of rows 0 … rows - 1 to a temporary file (Zeroed_Memory::spill).
  virtual void spill(File& file, std::size_t rows) = 0;
  // See Zeroed_Memory.
  virtual bool was_cut() const = 0;
  virtual void expect_scan() const noexcept = 0;

  // ---- values that stay as they are while the column changes (arrow/arrow.h)

  // Returns the memory of the column. The column gets new memory with a copy of rows 0 … rows - 1,
  // followed by default values. As long as the result exists, addresses of values that were taken
  // before stay readable, and these values do not change. If this throws std::bad_alloc, nothing
  // has changed.
  [[nodiscard]] Column_Memory detach(std::size_t rows) { return replace(copy(rows)); }
  // Returns the memory of the column; afterwards only the destructor may be called.
  [[nodiscard]] Column_Memory release() noexcept { return replace({}); }

 private:
  // Returns a copy of the memory of rows 0 … rows - 1. Throws std::bad_alloc.
  virtual Column_Memory copy(std::size_t rows) const = 0;
  // Replaces the memory, and returns the old memory.
  virtual Column_Memory replace(Column_Memory memory) noexcept = 0;

  const Type type_;
  Shared_Logical_Type logical_;
  bool is_indexed_ = false;
  bool is_followed_ = false;
};

// A column of numbers, booleans, references or blobs.
template <Field_Value T>
class Column final : public Column_Base {
 public:
  using Column_Base::Column_Base;

  // Allocates memory for one value, so that the next set cannot fail. Does nothing, because only
  // strings need memory.
  void prepare(T) {}

  // Compares bools with 0, because in a snapshot a byte may be neither 0 nor 1.
  T get(index_t id) const {
    if constexpr (std::is_same_v<T, bool>)
      return memory_.data()[id] != 0;
    else
      return data()[id];
  }
  void set(index_t id, T value) { data()[id] = value; }
  // The values of all rows up to the capacity. Valid until the column grows.
  T* data() { return reinterpret_cast<T*>(memory_.data()); }
  const T* data() const { return reinterpret_cast<const T*>(memory_.data()); }

  void grow(std::size_t capacity, bool will_be_filled) override {
    memory_.grow(capacity * sizeof(T), will_be_filled);
  }
  // Announces that `rows` rows are about to be set.
  void expect(std::size_t rows) { memory_.expect(rows * sizeof(T)); }
  void reset(index_t id) override { set(id, T()); }

  void save(Section_Writer& out, std::size_t rows) const override {
    out.section(memory_.data(), rows * sizeof(T));
  }
  void restore(Section_Reader& in, std::size_t rows) override {
    Zeroed_Memory memory;
    in.section(memory, rows * sizeof(T));
    memory_ = std::move(memory);
  }
  void spill(File& file, std::size_t rows) override { memory_.spill(file, rows * sizeof(T)); }
  bool was_cut() const override { return memory_.was_cut(); }
  void expect_scan() const noexcept override { memory_.expect_scan(); }

 private:
  Column_Memory copy(std::size_t rows) const override {
    Column_Memory result;
    result.values.grow(memory_.size(), true);
    if (rows > 0) std::memcpy(result.values.data(), memory_.data(), rows * sizeof(T));
    result.values.copy_cut_state(memory_);
    return result;
  }
  Column_Memory replace(Column_Memory memory) noexcept override {
    Column_Memory result{std::move(memory_), {}};
    memory_ = std::move(memory.values);
    return result;
  }

  static_assert(std::is_trivially_copyable_v<T>);
  Zeroed_Memory memory_;
};

// The place of the text of a row. A text of at most 11 bytes is in this handle; a longer text is in
// the texts of the column. In both cases, a zero byte follows the text.
struct alignas(8) String_Handle {
  static constexpr std::size_t max_inline_size = 11;

  std::uint32_t size;
  // The text and a zero byte; or, at bytes + 4, the offset of the text in the texts of the column.
  char bytes[max_inline_size + 1];

  bool is_inline() const { return size <= max_inline_size; }
  std::uint64_t offset() const { return load<std::uint64_t>(bytes + 4); }
  void set_offset(std::uint64_t offset) { store(bytes + 4, offset); }
};
static_assert(sizeof(String_Handle) == 16);

// A column of strings. Texts of more than 11 bytes are stored one after the other in a block of
// memory, to which new texts are appended. When the block moves, its old memory stays readable
// until the column grows, because a new value may be a text of this column. Replaced texts leave
// garbage in the block. The block is compacted when more than half of it is garbage, and the
// garbage exceeds both 64 KiB and the size of the handles.
template <>
class Column<std::string_view> final : public Column_Base {
 public:
  using Column_Base::Column_Base;

  // The maximum size of a text, in bytes.
  static constexpr std::size_t max_size = 0xffffffff;

  // Valid until any value of this column is set, or the column grows.
  String get(index_t id) const {
    const String_Handle& h = handles()[id];
    if (h.is_inline()) return {h.bytes, h.size};
    // In a damaged snapshot, an offset may have any value.
    const std::uint64_t offset = h.offset();
    if (offset >= used_ || h.size >= used_ - offset) [[unlikely]]
      return {};
    return {texts_.data() + offset, h.size};
  }

  // For readers of many texts: the handles of all rows, and the block to which their offsets refer.
  // In a damaged snapshot, an offset may have any value: check it, as get() does. The result is
  // valid as long as a result of get().
  const String_Handle* handles() const {
    return reinterpret_cast<const String_Handle*>(memory_.data());
  }
  std::string_view texts() const { return {texts_.data(), used_}; }

  // Allocates memory for one value, so that the next set cannot fail. Throws std::bad_alloc.
  void prepare(std::string_view value) {
    const std::size_t size = value.size();
    if (size > String_Handle::max_inline_size && size >= texts_.size() - used_) make_room(size + 1);
  }

  // `value` may be a text of this column. Requires value.size() <= max_size. If prepare() was not
  // called, may throw std::bad_alloc; then nothing has changed.
  void set(index_t id, std::string_view value) {
    assert(value.size() <= max_size);
    String_Handle& h = handles()[id];
    if (value.size() <= String_Handle::max_inline_size && h.is_inline()) [[likely]]
      set_inline(h, value);
    else
      set_far(h, value);
  }

  void grow(std::size_t capacity, bool will_be_filled) override {
    memory_.grow(capacity * sizeof(String_Handle), will_be_filled);
    capacity_ = capacity;
    earlier_texts_.clear();
  }
  // Announces that `rows` rows are about to be set.
  void expect(std::size_t rows) { memory_.expect(rows * sizeof(String_Handle)); }
  void reset(index_t id) override { set(id, {}); }

  void save(Section_Writer& out, std::size_t rows) const override;
  void restore(Section_Reader& in, std::size_t rows) override;
  void spill(File& file, std::size_t rows) override {
    memory_.spill(file, rows * sizeof(String_Handle));
    texts_.spill(file, used_);
    earlier_texts_.clear();
  }
  bool was_cut() const override { return memory_.was_cut() || texts_.was_cut(); }
  void expect_scan() const noexcept override {
    memory_.expect_scan();
    texts_.expect_scan();
  }

 private:
  Column_Memory copy(std::size_t rows) const override;
  Column_Memory replace(Column_Memory memory) noexcept override;
  String_Handle* handles() { return reinterpret_cast<String_Handle*>(memory_.data()); }

  // Builds the handle in registers. If it were written to memory in pieces and then copied as a
  // whole, each copy would wait for the stores (store-forwarding stall).
  static void set_inline(String_Handle& h, std::string_view value) {
    const char* const text = value.data();
    const std::size_t size = value.size();
    std::uint64_t start = 0;  // the first 8 bytes
    std::uint64_t rest = 0;
    if (size >= 8) {
      start = load<std::uint64_t>(text);
      rest = load<std::uint64_t>(text + size - 8) >> 1 >> (8 * (16 - size) - 1);
    } else if (size >= 4) {
      start = load<std::uint32_t>(text) | std::uint64_t{load<std::uint32_t>(text + size - 4)}
                                              << (8 * (size - 4));
    } else if (size > 0) {
      const auto byte = [text](std::size_t i) {
        return std::uint64_t{static_cast<unsigned char>(text[i])} << (8 * i);
      };
      start = byte(0) | byte(size / 2) | byte(size - 1);
    }
    char* const out = reinterpret_cast<char*>(&h);
    store(out, size | start << 32);
    store(out + 8, start >> 32 | rest << 32);
  }
  // Returns the number of bytes of the block that a handle uses, including the zero byte after the
  // text; 0 if the text is inline or its place is invalid.
  std::size_t space_of(const String_Handle& h) const {
    return h.is_inline() || h.offset() >= used_ || h.size >= used_ - h.offset() ? 0 : h.size + 1u;
  }
  void set_far(String_Handle& h, std::string_view value);
  void make_room(std::size_t size);
  std::size_t allocate(std::size_t size);
  void collect_garbage() noexcept;

  Zeroed_Memory memory_;
  std::size_t capacity_ = 0;
  Zeroed_Memory texts_;
  std::size_t used_ = 0;  // bytes of texts_ in use
  // Number of bytes at the beginning of texts_ that come from a snapshot; they are never moved.
  std::size_t mapped_ = 0;
  // Number of bytes after mapped_ that no handle uses any more.
  std::size_t garbage_ = 0;
  std::vector<Zeroed_Memory> earlier_texts_;  // previous blocks, still readable
};

}  // namespace joedb::inline v1

#endif
