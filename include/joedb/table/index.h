#ifndef JOEDB_TABLE_INDEX_H
#define JOEDB_TABLE_INDEX_H

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/io/zeroed_memory.h"
#include "joedb/schema/type.h"
#include "joedb/snapshot/sections.h"

namespace joedb::inline v1 {

class Column_Base;
class Table;

// ---- keys ---------------------------------------------------------------------------------------

// A value as indexes compare it. Numbers, booleans, references (null first) and blobs (by their
// position) are one number in the same order; NaN is larger than all numbers, and 0 equals -0. A
// text is ordered by its bytes; `number` has the first eight.
struct Key_Part {
  std::uint64_t number = 0;
  std::string_view text = {};
};

// The text of the result is the argument, not a copy.
template <Field_Value T>
Key_Part key_part(T value);

// The values of the first fields of an index, or of all of them, in the order of its definition.
using Key = std::span<const Key_Part>;

// A new value for a field.
struct New_Value {
  Field_Id field;
  Key_Part value;
};

// ---- the index ----------------------------------------------------------------------------------

struct Index_Definition {
  std::string name;
  Table_Id table;
  std::vector<Field_Id> fields;  // at least one
  bool is_unique = false;
  std::string schema_name = {};  // begins messages, if not empty
};

// The records of a table in the order of the values of some fields; records with equal values in
// the order of their ids.
//
// A record is inserted when a field that triggers it is updated, and stays until it is deleted: so
// records that have no values yet are not in it, and two of them are no violation of a unique
// index. In a unique index only the field with the highest id triggers, else every field does. Once
// a record is inserted, every update of a key moves it at once.
//
// It is a B-tree of record ids, each with the first eight bytes of its key, that compares through
// the columns. So Table erases a record from the tree before its values
// change, and inserts it again afterwards.
class Index {
 public:
  // The table must outlive the index. It need not have all the fields yet: until it has them, the
  // index is empty, and only notes which records are to be inserted.
  Index(Index_Definition definition, const Table& table);
  // Call it when fields were added to the table.
  void find_columns();
  bool is_complete() const { return !columns_.empty(); }
  ~Index();
  Index(const Index&) = delete;
  Index& operator=(const Index&) = delete;

  const Index_Definition& definition() const { return definition_; }
  // Number of records in the index, which may be fewer than the table has.
  std::size_t size() const;
  bool contains(Record_Id record) const { return state(record.value()) == State::present; }

  // ---- reading

  // A place in the index: a record, or the end.
  //
  // When the index changes, a cursor continues from where its record is now; if the record was
  // erased from the index, from the values that it has. So a loop that gives records larger keys
  // visits them again. The index must outlive the cursor.
  class Cursor {
   public:
    Cursor() = default;
    // Null at the end.
    Record_Id record() const { return record_; }
    // Stays at the end.
    void next();
    // Stays at the beginning.
    void previous();
    friend bool operator==(const Cursor& a, const Cursor& b) { return a.record_ == b.record_; }

   private:
    friend class Index;
    const Index* index_ = nullptr;
    std::uint64_t changes_ = 0;            // of the index, when `place_` was found
    alignas(8) std::byte place_[16] = {};  // of the tree
    Record_Id record_;
  };

  Cursor begin() const;
  Cursor end() const;
  // The first record whose key is not less than `key` (lower_bound), or greater (upper_bound). If
  // `key` has fewer values than the index has fields, only these are compared. All searches take
  // logarithmic time.
  Cursor lower_bound(Key key) const;
  Cursor upper_bound(Key key) const;
  // At a record; the end if it is not in the index. Requires that the table has its id.
  Cursor at(Record_Id record) const;
  // The next record behind `cursor` that has this key, in the order of ids; the end if there is
  // none. The key has a value for each field. The record of the cursor had the key when the cursor
  // was made, and need not have it any more.
  Cursor next_with(Key key, const Cursor& cursor) const;
  // The first record with this key, or null.
  Record_Id find(Key key) const;

  // ---- changing

  bool has_field(Field_Id field) const;

  // Throws Data_Error if a unique index would hold a key twice when `record` gets these values.
  // Then takes the memory that insert() needs.
  void prepare(Record_Id record, std::span<const New_Value> values);

  // Takes memory to note something about records with ids less than `size`.
  void reserve(index_t size);

  // Before values of the record change: out of the tree.
  void erase(Record_Id record) {
    if (state(record.value()) == State::present) take_out(record.value());
  }
  // After `field` of the record has changed: into the tree, if it was there or the field triggers
  // it. Cannot fail after prepare() or require_unique_vector(), but for memory in the second case.
  void insert(Record_Id record, Field_Id field) {
    const State old = state(record.value());
    if (old == State::waiting || (old == State::absent && triggers(field))) put_in(record.value());
  }
  // For an update of `field` of used ones among these records, between erase() and insert(): throws
  // Data_Error if a unique index would hold a key twice.
  void require_unique_vector(index_t first, index_t size, Field_Id field) const;
  // After erase(), when the old values are there again. Without memory the record stays outside
  // until the next prepare() or insert_waiting().
  void insert_again(Record_Id record) noexcept;

  // The record is deleted.
  void forget(Record_Id record) {
    erase(record);
    if (state(record.value()) != State::absent) set_state(record.value(), State::absent);
  }

  // ---- snapshots (snapshot/sections.h)

  void save(Section_Writer& out) const;
  // For an index without records, or with the same ones, of a table that has its records. Throws
  // Corruption_Error.
  void restore(Section_Reader& in);

  // ---- loading

  // From here on, insert() only notes the record, and keys may be there twice…
  void defer() { is_deferred_ = true; }
  bool is_deferred() const { return is_deferred_; }
  // … until all of them are inserted here, in one go. Throws Data_Error at the first violation of a
  // unique index; what is not inserted then will be tried again the next time, and by prepare().
  void insert_waiting();

 private:
  enum class State : std::uint8_t { absent, waiting, present };
  struct Tree;
  struct Entry;
  struct Bound;
  struct Key_Column {
    Field_Id field;
    const Column_Base* column;
    Key_Part (*read)(const Column_Base& column, index_t id);
    void (*append_text)(std::string& out, const Column_Base& column, index_t id);
  };

  State state(index_t id) const {
    return static_cast<std::size_t>(id) < states_.size() ? static_cast<State>(states_.data()[id])
                                                         : State::absent;
  }
  void set_state(index_t id, State next);
  bool triggers(Field_Id field) const;
  void take_out(index_t id);
  void put_in(index_t id);
  Key_Part part(std::size_t i, index_t id) const {
    return columns_[i].read(*columns_[i].column, id);
  }
  Entry entry(index_t id) const;
  int compare(index_t a, index_t b) const;
  int compare(index_t id, Key key) const;
  bool has_key(const Entry& e, Key key) const;
  void require_unique(index_t id, std::span<const New_Value> values) const;
  void sort(std::vector<Entry>& entries) const;
  void build();
  void insert_unlisted();
  [[noreturn]] void throw_violation(index_t id, index_t other) const;
  template <class Iterator>
  Cursor cursor(Iterator place) const;

  const Index_Definition definition_;
  const Table& table_;
  std::vector<Key_Column> columns_;
  Field_Id highest_field_;
  bool is_deferred_ = true;
  bool has_unlisted_ = false;  // records that wait, but may not be in `waiting_`
  std::uint64_t changes_ = 0;
  Zeroed_Memory states_;  // one byte for each record
  std::vector<index_t> waiting_;
  std::size_t waiting_count_ = 0;
  std::unique_ptr<Tree> tree_;
};

}  // namespace joedb::inline v1

#endif
