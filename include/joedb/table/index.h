#ifndef JOEDB_TABLE_INDEX_H
#define JOEDB_TABLE_INDEX_H

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/base/error.h"
#include "joedb/io/zeroed_memory.h"
#include "joedb/schema/type.h"
#include "joedb/table/column.h"

namespace joedb::inline v1 {

class Column_Base;
class Index_Run;
class Key_Coder;
class Table;

// Thrown if a row would have the same key as another row in a unique index. When a journal is
// loaded, this exception is thrown after the last entry; the tables have been changed already then
// (table/load.h).
class Unique_Violation : public Data_Error {
 public:
  Unique_Violation(const std::string& what, std::string_view index_name, Record_Id new_record,
                   Record_Id old_record)
      : Data_Error(what), index(index_name), record(new_record), other(old_record) {}
  const std::string index;
  const Record_Id record;  // the row that would get the key
  const Record_Id other;   // the row that has the key
};

// ---- keys ---------------------------------------------------------------------------------------

// A value in the form that indexes compare. Numbers, booleans, references and blobs are converted
// to one number that has the same order. NaN is greater than all numbers, and 0 equals -0; the null
// reference is first; blobs are ordered by position. Texts are ordered by their bytes; `number`
// holds the first eight bytes.
struct Key_Part {
  std::uint64_t number = 0;
  std::string_view text = {};
};

// Does not copy a text: the result refers to the argument. T must be a Field_Value. This is not a
// constraint of the template, because the symbol would then differ between g++ and clang 18 or
// newer, and a program built with one compiler could not use a library built with the other.
template <class T>
Key_Part key_part(T value);

// The values of all fields of an index, or of its first fields, in the order of the definition.
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
  std::string schema_name = {};  // prefix of messages, if not empty
};

// The records of a table in the order of the values of some fields; records with equal values are
// ordered by id.
//
// An index is either one that the file declares, or one of this program only.
//
// A declared index has every record of the table, so its content follows from the values alone. If
// it is unique, a record is not inserted, and no value set, that would give a second record its
// key; but keys are not compared if they do not count (counts()). A program that does not know
// declarations can write a key twice: the index then has both records, and is reported by
// find_duplicates().
//
// In an index of this program only, a record is inserted when a field that triggers insertion is
// updated, and stays in the index until it is deleted. So records without values are not in the
// index, and two such records do not violate a unique index. In a unique index, only the field with
// the highest id triggers insertion; in other indexes, every field of the index does. After the
// insertion, every update of a key field moves the record at once.
//
// An index consists of a run and a tree. The run is a sorted array of record ids, with 4 or 8 bytes
// of each key. It is built after a journal is loaded, or comes from a snapshot, and takes 9 to 14
// bytes a record. Records that are inserted later are in a B-tree; records that are erased from the
// run are only marked. If the stored part of a key does not decide a comparison, the values in the
// columns are compared. Therefore Table must erase a record from its indexes before the values of
// the record change, and insert it again afterwards.
class Index {
 public:
  // The table must outlive the index. The table need not have all fields of the index yet: until it
  // has them, the index is empty, and only records which records must be inserted later.
  Index(Index_Definition definition, const Table& table);
  // Call this after fields were added to the table.
  void find_columns();
  bool is_complete() const { return !columns_.empty(); }
  ~Index();
  Index(const Index&) = delete;
  Index& operator=(const Index&) = delete;

  const Index_Definition& definition() const { return definition_; }
  // True if the index has every record of the table. It is then declared, or was so.
  bool has_all() const { return has_all_; }
  // Makes the index one that has every record. They are inserted by insert_waiting().
  void take_all();
  // Makes the index empty for ever, because its declaration or a field ends. Cursors are at its end
  // then.
  void drop();
  // Number of records in the index. The table may have more records.
  std::size_t size() const;
  bool contains(Record_Id record) const { return is_present(state(record.value())); }

  // ---- reading

  // A position in the index: a record, or the end.
  //
  // When the index changes, a cursor continues from the new place of its record. If the record was
  // deleted, the cursor continues from the key that the record had. So a loop that gives records
  // larger keys visits them again. If the id of the deleted record was reused, its key is lost, and
  // next() and previous() throw Exception. The index must outlive the cursor.
  class Cursor {
   public:
    Cursor() = default;
    // Returns the record; null at the end of the index.
    Record_Id record() const { return record_; }
    // Moves to the next record. At the end, does nothing.
    void next();
    // Moves to the previous record. At the beginning, does nothing.
    void previous();
    // Like previous(), but returns false if there is no previous record.
    bool move_back();
    friend bool operator==(const Cursor& a, const Cursor& b) { return a.record_ == b.record_; }

   private:
    friend class Index;
    const Index* index_ = nullptr;
    std::uint64_t changes_ = 0;   // Index::changes_ when `place_` was found
    std::uint64_t erasures_ = 0;  // Record_Ids::erasures() at that time
    // The three members of a Place. `place_` is its iterator of the tree.
    alignas(8) std::byte place_[16] = {};
    std::size_t position_ = 0;       // `run` of the Place
    std::size_t tree_position_ = 0;  // `tree_position` of the Place
    Record_Id record_;
  };

  Cursor begin() const;
  Cursor end() const;
  // lower_bound returns the first record whose key is not less than `key`; upper_bound returns the
  // first record whose key is greater. If `key` has fewer values than the index has fields, only
  // these values are compared. All searches take logarithmic time.
  Cursor lower_bound(Key key) const;
  Cursor upper_bound(Key key) const;
  // Returns a cursor at this record, or at the end if the record is not in the index. The id of the
  // record must be less than the size of the table.
  Cursor at(Record_Id record) const;
  // Returns the next record after `cursor` that has this key, in the order of ids, or the end if
  // there is none. The key must have a value for each field. The record of the cursor must have had
  // this key when the cursor was made; it may have another key now.
  Cursor next_with(Key key, const Cursor& cursor) const;
  // Returns the first record with this key, or null.
  Record_Id find(Key key) const;
  // Returns false if two records of a unique index may have this key, which has a value for each
  // field. So it is in a declared index if an optional field has no value, as in SQL, or if the
  // last field (that with the highest id) has the default value: format 5 does not distinguish it
  // from a value that was never written.
  bool counts(Key key) const;
  // The records whose keys count and that have the key of a record with a smaller id: their number,
  // and the first with that record. find_duplicates() takes time linear in the size of the index.
  struct Duplicates {
    index_t count = 0;
    Record_Id first, second;
  };
  Duplicates find_duplicates() const;
  // Returns the message of the Unique_Violation for a record with the key of another one.
  std::string violation_text(Record_Id record, Record_Id other) const;

  // ---- changing

  bool has_field(Field_Id field) const;

  // Throws Unique_Violation if this is a unique index and would hold a key twice after `record` has
  // got these values. Otherwise allocates the memory that insert() needs.
  void prepare(Record_Id record, std::span<const New_Value> values);

  // Allocates memory for the states of records with ids less than `size`.
  void reserve(index_t size);

  // For the insertion of records that have the values that they will have when they are inserted.
  // Allocates the memory that enter() needs. Throws Unique_Violation.
  void prepare_enter(Record_Id record, index_t size);
  // Inserts new records in an index that has every record. If memory is exhausted, which can happen
  // if there are several, records are missing until the next prepare() or insert_waiting().
  void enter(Record_Id first, index_t size) noexcept;

  // Erases the record from the index. Call this before values of the record change.
  void erase(Record_Id record) {
    if (is_present(state(record.value()))) take_out(record.value());
  }
  // Inserts the record if it was in the index before erase(), or if `field` triggers insertion.
  // Call this after `field` has changed. Cannot fail after prepare(). After
  // require_unique_vector(), fails only if memory is exhausted.
  void insert(Record_Id record, Field_Id field) {
    const State old = state(record.value());
    if (old == State::waiting || (old == State::absent && triggers(field))) put_in(record.value());
  }
  // For an update of `field` in records [first, first + size). Called after erase() and before
  // insert(). Throws Unique_Violation if a unique index would hold a key twice. Ignores records
  // that are not in use.
  void require_unique_vector(index_t first, index_t size, Field_Id field) const;
  // Inserts the record again if its old values were restored after erase(). If memory is exhausted,
  // the record is not in the index until the next prepare() or insert_waiting().
  void insert_again(Record_Id record) noexcept;

  // Removes a record from this index, because the record is being deleted from the table.
  void forget(Record_Id record) {
    erase(record);
    if (state(record.value()) != State::absent) set_state(record.value(), State::absent);
  }

  // ---- snapshots (table/record_ids.h)

  // Writes run and tree as one run. Reads the keys of the records in the tree; if the tree has many
  // records, reads all keys. Requires that the index is not deferred.
  void save(Section_Writer& out) const;
  // Requires that the index is empty or has the same records, and that the table already has these
  // records. Takes constant time. If this throws Corruption_Error, Io_Error or std::bad_alloc,
  // nothing has changed. Does not read the bytes of sections: if they are damaged, searches may
  // return wrong records, but these are in use, and no memory outside the index is accessed.
  void restore(Section_Reader& in);
  // True if nearly all of the index is mapped from a file.
  bool is_on_disk() const;
  // True if the file of the snapshot was truncated under its mapping (Zeroed_Memory).
  bool was_cut() const;

  // ---- loading

  // From now on, insert() only records that the record must be inserted, and does not detect
  // duplicate keys. Ended by insert_waiting().
  void defer();
  bool is_deferred() const { return is_deferred_; }
  // Inserts all waiting records at once; if they are many, builds a new run. Throws
  // Unique_Violation for the first duplicate key in a unique index; the next call, and prepare(),
  // retry the records that were not inserted.
  void insert_waiting();

 private:
  enum class State : std::uint8_t { absent, waiting, in_run, in_tree };
  struct Tree;
  struct Entry;
  struct Bound;
  struct Place;
  struct Found;
  class Record_Key;
  struct Key_Column {
    Field_Id field;
    Type_Code code;
    const Column_Base* column;
  };

  // Checks the byte, because in a snapshot it may have any value.
  State state(index_t id) const {
    if (static_cast<std::size_t>(id) >= states_.size()) return State::absent;
    const auto byte = static_cast<std::uint8_t>(states_.data()[id]);
    return byte <= static_cast<std::uint8_t>(State::in_tree) ? static_cast<State>(byte)
                                                             : State::absent;
  }
  static bool is_present(State state) { return state >= State::in_run; }
  void set_state(index_t id, State next);
  bool triggers(Field_Id field) const;
  bool refuses_when_inserted() const { return definition_.is_unique && !has_all_; }
  Key_Part special_part(std::size_t i, bool is_missing) const;
  bool is_new_violation(index_t id, Key key) const;
  void list_new_records();
  // True for a record that list_new_records() will list: a vector of a hostile file costs nothing
  // before the limits are checked.
  bool is_listed_later(Record_Id record) const {
    return is_deferred_ && record.value() >= first_new_;
  }
  void take_out(index_t id);
  void put_in(index_t id);
  Key_Part part(std::size_t i, index_t id) const;
  int compare(index_t a, index_t b) const;
  int compare(index_t id, Key key) const;
  Found search_run(const Bound& bound) const;
  Place first_behind(const Bound& bound) const;
  Place end_place() const;
  template <class Iterator>
  Place place_at(Iterator tree, std::size_t run) const;
  std::size_t position_of(index_t id) const;
  Place place(const Cursor& cursor) const;
  bool is_in_tree(const Place& place) const;
  index_t record_at(const Place& place) const;
  void move_on(Place& place) const;
  bool move_back(Place& place) const;
  Cursor cursor(const Place& place) const;
  void require_unique(index_t id, std::span<const New_Value> values) const;
  [[noreturn]] void throw_violation(index_t id, index_t other) const;
  template <class Id>
  void sort_equal(std::span<Id> ids, int depth) const;
  template <class Id>
  void finish_sorting(std::span<const std::uint64_t> keys, std::span<Id> ids) const;
  Key_Coder make_coder(std::size_t count) const;
  template <class Id>
  void build();
  template <class F>
  void for_each_place(F f) const;
  void insert_unlisted();
  bool has_wide_ids() const;

  const Index_Definition definition_;
  const Table& table_;
  std::vector<Key_Column> columns_;
  Field_Id highest_field_;
  bool is_dropped_ = false;
  bool has_all_ = false;
  index_t first_new_ = 0;  // if has_all_: records from this id on may have been inserted unnoticed
  bool is_deferred_ = true;
  bool was_cut_ = false;       // true if a replaced run was cut
  bool has_unlisted_ = false;  // true if some waiting records may be missing in `waiting_`
  std::uint64_t changes_ = 0;
  Zeroed_Memory states_;  // one byte for each record
  std::vector<index_t> waiting_;
  std::size_t waiting_count_ = 0;
  std::unique_ptr<Index_Run> run_;
  std::unique_ptr<Tree> tree_;
};

}  // namespace joedb::inline v1

#endif
