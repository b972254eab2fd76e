#include "joedb/table/index.h"

#include <absl/container/btree_set.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>

#include "joedb/base/error.h"
#include "joedb/base/types.h"
#include "joedb/table/column.h"
#include "joedb/table/table.h"
#include "kernel/base/interrupts.h"
#include "kernel/schema/logical_type.h"
#include "kernel/schema/value_text.h"
#include "kernel/table/index_run.h"

// Invariants:
//
// 1. The state of a record says where the record is: nowhere, waiting for insert_waiting() or
//    insert(), in the run, or in the tree. A record is in at most one of these places.
// 2. The tree and the live entries of the run are sorted by key and then id, with the current keys
//    in the columns. The columns of entries that were erased from the run are never read.
// 3. A Place holds the position of its tree record in the run: live entries before this position
//    are less than the tree record, and live entries from this position on are greater. So a scan
//    of the index searches the run once for each tree record, and needs no comparison for entries
//    of the run.

namespace joedb::inline v1 {

// ---- keys ---------------------------------------------------------------------------------------

static std::uint64_t in_order(std::int64_t value) {
  return static_cast<std::uint64_t>(value) ^ (std::uint64_t{1} << 63);
}

// The bits of positive IEEE 754 numbers have the order of the numbers; for negative numbers, the
// order is reversed.
static std::uint64_t in_order(double value) {
  if (std::isnan(value)) return std::numeric_limits<std::uint64_t>::max();
  const auto bits = std::bit_cast<std::uint64_t>(value == 0 ? 0.0 : value);
  return value < 0 ? ~bits : bits | std::uint64_t{1} << 63;
}

static std::uint64_t first_bytes(std::string_view text) {
  if (text.size() >= 8) return __builtin_bswap64(load<std::uint64_t>(text.data()));
  unsigned char bytes[8] = {};
  if (!text.empty()) std::memcpy(bytes, text.data(), text.size());
  std::uint64_t number = 0;
  for (const unsigned char byte : bytes) number = number << 8 | byte;
  return number;
}

template <class T>
Key_Part key_part(T value) {
  static_assert(Field_Value<T>);
  if constexpr (std::is_same_v<T, std::string_view>)
    return {first_bytes(value), value};
  else if constexpr (std::is_same_v<T, Record_Id>)
    return {in_order(std::int64_t{value.value()})};
  else if constexpr (std::is_same_v<T, Blob>)
    return {in_order(value.get_position())};
  else if constexpr (std::is_floating_point_v<T>)
    return {in_order(double{value})};
  else
    return {in_order(std::int64_t{value})};
}

template Key_Part key_part(std::string_view);
template Key_Part key_part(std::int8_t);
template Key_Part key_part(std::int16_t);
template Key_Part key_part(std::int32_t);
template Key_Part key_part(std::int64_t);
template Key_Part key_part(Record_Id);
template Key_Part key_part(bool);
template Key_Part key_part(float);
template Key_Part key_part(double);
template Key_Part key_part(Blob);

// ---- the tree -----------------------------------------------------------------------------------

struct Index::Entry {
  std::uint64_t number;  // Key_Part::number of the first part of the key
  index_t id;
};

// A position in the order of the index: directly after all records whose keys begin with `key` and
// whose ids are at most `id`.
struct Index::Bound {
  Key key;
  index_t id;
};
static constexpr index_t no_record = -1;
static constexpr index_t every_record = std::numeric_limits<index_t>::max();

namespace {

// Memory for the nodes of a tree, allocated before an insertion, so that the insertion cannot fail.
class Node_Pool {
 public:
  Node_Pool() = default;
  ~Node_Pool() {
    for (Class& c : classes_)
      while (c.count > 0) ::operator delete(take(c));
  }
  Node_Pool(const Node_Pool&) = delete;
  Node_Pool& operator=(const Node_Pool&) = delete;

  // Allocates the nodes that one insertion may need: leaves, and an inner node for each level of
  // the largest tree.
  void reserve() {
    while (classes_[0].count < 2) put(classes_[0], ::operator new(sizes[0]));
    while (classes_[1].count < 18) put(classes_[1], ::operator new(sizes[1]));
  }
  void* allocate(std::size_t size) {
    const std::size_t i = size <= sizes[0] ? 0 : 1;
    return classes_[i].count > 0 ? take(classes_[i]) : ::operator new(std::max(size, sizes[i]));
  }
  void deallocate(void* block, std::size_t size) {
    Class& c = classes_[size <= sizes[0] ? 0 : 1];
    if (c.count < 64 && size <= sizes[1])
      put(c, block);
    else
      ::operator delete(block);
  }

 private:
  static constexpr std::size_t sizes[] = {256, 512};
  struct Class {
    void* first = nullptr;  // each block begins with the address of the next
    int count = 0;
  };
  static void put(Class& c, void* block) {
    std::memcpy(block, &c.first, sizeof c.first);
    c.first = block;
    ++c.count;
  }
  static void* take(Class& c) {
    void* const block = c.first;
    std::memcpy(&c.first, block, sizeof c.first);
    --c.count;
    return block;
  }
  Class classes_[2];
};

template <class T>
struct Pool_Allocator {
  using value_type = T;
  explicit Pool_Allocator(Node_Pool& p) : pool(&p) {}
  template <class U>
  Pool_Allocator(const Pool_Allocator<U>& other) : pool(other.pool) {}
  T* allocate(std::size_t n) { return static_cast<T*>(pool->allocate(n * sizeof(T))); }
  void deallocate(T* block, std::size_t n) { pool->deallocate(block, n * sizeof(T)); }
  friend bool operator==(const Pool_Allocator&, const Pool_Allocator&) = default;
  Node_Pool* pool;
};

}  // namespace

struct Index::Tree {
  struct Less {
    using is_transparent = void;
    bool operator()(const Entry& a, const Entry& b) const {
      if (a.number != b.number) return a.number < b.number;
      const int order = is_exact ? 0 : index->compare(a.id, b.id);
      return order == 0 ? a.id < b.id : order < 0;
    }
    bool operator()(const Entry& a, const Bound& b) const {
      if (!b.key.empty() && a.number != b.key[0].number) return a.number < b.key[0].number;
      const int order = index->compare(a.id, b.key);
      return order == 0 ? a.id <= b.id : order < 0;
    }
    bool operator()(const Bound& a, const Entry& b) const { return !(*this)(b, a); }
    const Index* index;
    bool is_exact;  // true if Entry::number is the whole key
  };
  using Set = absl::btree_set<Entry, Less, Pool_Allocator<Entry>>;

  Tree(const Index& index, bool is_exact)
      : set(Less{&index, is_exact}, Pool_Allocator<Entry>(pool)) {}
  Node_Pool pool;
  Set set;
  Set::const_iterator end() const { return set.end(); }
  // The place that prepare() has found for a record. Valid until the index changes.
  struct Prepared_Place {
    index_t id = no_record;
    std::uint64_t changes = 0;
    Set::const_iterator iterator;
    std::size_t position = 0;
  } prepared;
  std::vector<Key_Part> new_key;  // reused by prepare(), to avoid an allocation for each call
};

// The first record of the tree and the first live entry of the run that are not before a place.
struct Index::Place {
  Tree::Set::const_iterator tree;
  std::size_t run;
  // Position of the first live entry of the run that is greater than the tree record (invariant 3).
  std::size_t tree_position;
};

Index::Index(Index_Definition definition, const Table& table)
    : definition_(std::move(definition)),
      table_(table),
      highest_field_(*std::max_element(definition_.fields.begin(), definition_.fields.end())),
      run_(std::make_unique<Index_Run>()) {
  find_columns();
}

void Index::find_columns() {
  const auto is_missing = [&](Field_Id field) { return table_.find_field(field) == nullptr; };
  const auto& fields = definition_.fields;
  if (!is_complete() && std::any_of(fields.begin(), fields.end(), is_missing)) {
    if (tree_ == nullptr) tree_ = std::make_unique<Tree>(*this, false);
    return;
  }
  if (is_complete()) return;
  for (const Field_Id field : fields) {
    const Column_Base& column = *table_.find_field(field)->column;
    columns_.push_back({field, column.type().code, &column});
  }
  const bool is_exact = columns_.size() == 1 && columns_[0].code != Type_Code::string;
  tree_ = std::make_unique<Tree>(*this, is_exact);
}

Index::~Index() = default;

std::size_t Index::size() const { return run_->live_count() + tree_->set.size(); }

// ---- keys in columns ----------------------------------------------------------------------------

static std::string_view text_at(const Column_Base& column, index_t id) {
  return static_cast<const Column<std::string_view>&>(column).get(id);
}

Key_Part Index::part(std::size_t i, index_t id) const {
  return visit_type(columns_[i].code, [&]<class T>(std::type_identity<T>) {
    return key_part<T>(static_cast<const Column<T>&>(*columns_[i].column).get(id));
  });
}

int Index::compare(index_t a, index_t b) const {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Key_Column& column = columns_[i];
    if (column.code == Type_Code::string) {
      const int order = text_at(*column.column, a).compare(text_at(*column.column, b));
      if (order != 0) return order;
    } else {
      const std::uint64_t x = part(i, a).number, y = part(i, b).number;
      if (x != y) return x < y ? -1 : 1;
    }
  }
  return 0;
}

int Index::compare(index_t id, Key key) const {
  for (std::size_t i = 0; i < key.size(); ++i) {
    if (columns_[i].code == Type_Code::string) {
      const int order = text_at(*columns_[i].column, id).compare(key[i].text);
      if (order != 0) return order;
    } else if (const std::uint64_t number = part(i, id).number; number != key[i].number) {
      return number < key[i].number ? -1 : 1;
    }
  }
  return 0;
}

// The key of a record, from the columns.
class Index::Record_Key {
 public:
  Record_Key(const Index& index, index_t id) {
    const std::size_t size = index.columns_.size();
    if (size > few_.size()) many_.resize(size);
    const std::span<Key_Part> parts = many_.empty() ? std::span(few_).first(size) : many_;
    for (std::size_t i = 0; i < size; ++i) parts[i] = index.part(i, id);
    key_ = parts;
  }
  Record_Key(const Record_Key&) = delete;
  Record_Key& operator=(const Record_Key&) = delete;
  Key key() const { return key_; }

 private:
  std::array<Key_Part, 3> few_;
  std::vector<Key_Part> many_;
  Key key_;
};

// ---- searching ----------------------------------------------------------------------------------

struct Index::Found {
  std::size_t position;  // position of a live entry, or the end
  bool is_equal;         // true if the entry has the key
};

// Returns the first live entry of the run after a bound. Entries with the same slice are compared
// by their keys; if no other key has this slice, only by their ids.
Index::Found Index::search_run(const Bound& bound) const {
  const Index_Run& run = *run_;
  if (bound.key.empty())
    return {run.next_live(bound.id == no_record ? 0 : run.size()), bound.id == no_record};
  const Key_Coder::Slice slice = run.coder().encode(bound.key[0]);
  std::size_t low = run.lower_bound(slice.value);
  if (low == run.size() || run.slice(low) != slice.value) return {run.next_live(low), false};
  std::size_t high = run.end_of_equal(low);
  if (slice.is_exact && bound.key.size() == 1) {
    if (bound.id == every_record) return {run.next_live(high), false};
    const std::size_t end = high;
    while (bound.id != no_record && low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (run.id(middle) <= bound.id)
        low = middle + 1;
      else
        high = middle;
    }
    low = run.next_live(low);
    return {low, low < end};
  }
  bool is_equal = false;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    const std::size_t next = run.next_live(middle);
    if (next >= high) {
      high = middle;
      continue;
    }
    const int order = compare(run.id(next), bound.key);
    if (order < 0 || (order == 0 && run.id(next) <= bound.id)) {
      low = next + 1;
    } else {
      high = middle;
      is_equal = order == 0;
    }
  }
  return {run.next_live(low), is_equal};
}

Index::Place Index::first_behind(const Bound& bound) const {
  return place_at(tree_->set.empty() ? tree_->end() : std::as_const(tree_->set).lower_bound(bound),
                  run_->size() == 0 ? 0 : search_run(bound).position);
}

template <class Iterator>
Index::Place Index::place_at(Iterator tree, std::size_t run) const {
  return {tree, run, tree == tree_->end() ? run_->size() : position_of(tree->id)};
}

// Returns the position of the first live entry of the run that is greater than a record of the
// tree.
std::size_t Index::position_of(index_t id) const {
  return run_->size() == 0 ? 0 : search_run(Bound{Record_Key(*this, id).key(), id}).position;
}

Index::Place Index::end_place() const { return place_at(tree_->end(), run_->size()); }

Record_Id Index::find(Key key) const {
  Record_Id result;
  if (key.size() < columns_.size()) {
    const Record_Id first = lower_bound(key).record();
    return first.is_not_null() && compare(first.value(), key) == 0 ? first : result;
  }
  if (run_->size() > 0) {
    const Found found = search_run(Bound{key, no_record});
    if (found.is_equal) result = Record_Id(run_->id(found.position));
  }
  if (tree_->set.empty()) return result;
  const auto found = std::as_const(tree_->set).lower_bound(Bound{key, no_record});
  // Most keys differ in `number`; their texts need not be read.
  if (found == tree_->end() || found->number != key[0].number || compare(found->id, key) != 0)
    return result;
  return result.is_null() || found->id < result.value() ? Record_Id(found->id) : result;
}

// ---- cursors ------------------------------------------------------------------------------------

bool Index::is_in_tree(const Place& place) const {
  return place.tree != tree_->end() && place.tree_position <= place.run;
}

index_t Index::record_at(const Place& place) const {
  return is_in_tree(place) ? place.tree->id : run_->id(place.run);
}

// Requires that the place is not the end.
void Index::move_on(Place& place) const {
  if (is_in_tree(place))
    place = place_at(std::next(place.tree), place.run);
  else
    place.run = run_->next_live(place.run + 1);
}

// Returns false at the beginning.
bool Index::move_back(Place& place) const {
  const std::size_t previous = run_->previous_live(place.run);
  if (place.tree != tree_->set.begin()) {
    const Place in_tree = place_at(std::prev(place.tree), place.run);
    if (previous == Index_Run::none || in_tree.tree_position > previous) {
      place = in_tree;
      return true;
    }
  }
  if (previous == Index_Run::none) return false;
  place.run = previous;
  return true;
}

Index::Cursor Index::cursor(const Place& place) const {
  static_assert(sizeof(place.tree) == sizeof(Cursor::place_));
  static_assert(std::is_trivially_copyable_v<Tree::Set::const_iterator>);
  Cursor cursor;
  cursor.index_ = this;
  cursor.changes_ = changes_;
  cursor.erasures_ = table_.records().erasures();
  std::memcpy(cursor.place_, &place.tree, sizeof place.tree);
  cursor.position_ = place.run;
  cursor.tree_position_ = place.tree_position;
  if (place.tree != tree_->end() || place.run != run_->size())
    cursor.record_ = Record_Id(record_at(place));
  return cursor;
}

// Returns the place of the record of the cursor. If the record is not in the index, returns the
// place that it would have.
Index::Place Index::place(const Cursor& cursor) const {
  if (cursor.changes_ == changes_) {
    Place place;
    std::memcpy(&place.tree, cursor.place_, sizeof place.tree);
    place.run = cursor.position_;
    place.tree_position = cursor.tree_position_;
    return place;
  }
  if (cursor.record_.is_null() || is_dropped_) return end_place();
  const index_t id = cursor.record_.value();
  if (table_.records().was_replaced_since(id, cursor.erasures_))
    throw Exception("a loop over index " + definition_.name + " cannot go on: its record " +
                    std::to_string(id) +
                    " was deleted, and a new one has its id. Collect the ids first, and delete "
                    "afterwards");
  return first_behind(Bound{Record_Key(*this, id).key(), id - 1});
}

Index::Cursor Index::begin() const {
  return cursor(place_at(std::as_const(tree_->set).begin(), run_->next_live(0)));
}

// Does not search for a place, because loops compare each cursor with end().
Index::Cursor Index::end() const {
  Cursor cursor;
  cursor.index_ = this;
  cursor.changes_ = std::numeric_limits<std::uint64_t>::max();
  return cursor;
}

Index::Cursor Index::lower_bound(Key key) const {
  return cursor(first_behind(Bound{key, no_record}));
}

Index::Cursor Index::upper_bound(Key key) const {
  return cursor(first_behind(Bound{key, every_record}));
}

Index::Cursor Index::at(Record_Id record) const {
  const index_t id = record.value();
  if (!contains(record)) return end();
  const Cursor found = cursor(first_behind(Bound{Record_Key(*this, id).key(), id - 1}));
  return found.record() == record ? found : end();
}

Index::Cursor Index::next_with(Key key, const Cursor& old) const {
  Cursor next = old;
  if (old.changes_ == changes_)
    next.next();
  else
    next = cursor(first_behind(Bound{key, old.record_.value()}));
  const bool has_key = next.record_.is_not_null() && compare(next.record_.value(), key) == 0;
  return has_key ? next : end();
}

void Index::Cursor::next() {
  if (record_.is_null()) return;
  const Index_Run& run = *index_->run_;
  Place place = index_->place(*this);
  if (changes_ == index_->changes_) {
    // Only entries of the run remain.
    if (place.tree == index_->tree_->end()) [[likely]] {
      position_ = run.next_live(position_ + 1);
      record_ = position_ < run.size() ? Record_Id(run.id(position_)) : Record_Id();
      return;
    }
    index_->move_on(place);
  } else {
    const bool is_end = place.tree == index_->tree_->end() && place.run == run.size();
    // If the record was erased, `place` is already the next record.
    if (!is_end && Record_Id(index_->record_at(place)) == record_) index_->move_on(place);
  }
  *this = index_->cursor(place);
}

void Index::Cursor::previous() { move_back(); }

bool Index::Cursor::move_back() {
  if (index_ == nullptr) return false;
  Place place = index_->place(*this);
  const bool has_moved = index_->move_back(place);
  *this = index_->cursor(place);
  return has_moved;
}

// ---- changing -----------------------------------------------------------------------------------

bool Index::has_field(Field_Id field) const {
  return std::find(definition_.fields.begin(), definition_.fields.end(), field) !=
         definition_.fields.end();
}

bool Index::triggers(Field_Id field) const {
  return refuses_when_inserted() ? field == highest_field_ : has_field(field);
}

void Index::set_state(index_t id, State next) {
  const State old = state(id);
  waiting_count_ += static_cast<std::size_t>(next == State::waiting);
  // waiting_count_ may be wrong if a damaged snapshot was restored.
  waiting_count_ -= static_cast<std::size_t>(old == State::waiting && waiting_count_ > 0);
  states_.data()[id] = static_cast<char>(next);
}

void Index::prepare(Record_Id record, std::span<const New_Value> values) {
  const index_t id = record.value();
  if (has_unlisted_ && !is_deferred_) insert_unlisted();
  if (definition_.is_unique && !is_deferred_) require_unique(id, values);
  reserve(id + 1);
  if (!is_deferred_)
    tree_->pool.reserve();
  else if (size() > 0 && waiting_.size() == waiting_.capacity())
    waiting_.reserve(2 * waiting_.capacity() + 64);
}

void Index::reserve(index_t size) {
  const auto wanted = static_cast<std::size_t>(size);
  if (wanted > states_.size())
    states_.grow(std::max({wanted, 2 * states_.size(), std::size_t{64}}));
}

void Index::prepare_enter(Record_Id record, index_t size) {
  if (!has_all_ || is_listed_later(record)) return;
  const index_t first = record.value();
  if (has_unlisted_ && !is_deferred_) insert_unlisted();
  // Default values do not count.
  if (definition_.is_unique && !is_deferred_ && !table_.resets_values())
    for (index_t id = first; id < std::min(first + size, table_.records().size()); ++id)
      require_unique(id, {});
  reserve(first + size);
  if (!is_deferred_)
    tree_->pool.reserve();
  else if (this->size() > 0 && waiting_.size() == waiting_.capacity())
    waiting_.reserve(2 * waiting_.capacity() + 64);
}

void Index::enter(Record_Id first, index_t size) noexcept {
  if (!has_all_ || is_listed_later(first)) return;
  for (index_t id = first.value(); id < first.value() + size; ++id) {
    set_state(id, State::waiting);
    insert_again(Record_Id(id));
  }
}

void Index::require_unique(index_t id, std::span<const New_Value> values) const {
  const auto is_trigger = [&](const New_Value& v) { return triggers(v.field); };
  if (!has_all_ && state(id) == State::absent &&
      std::none_of(values.begin(), values.end(), is_trigger))
    return;
  const bool is_reset = has_all_ && !table_.is_used(Record_Id(id)) && table_.resets_values();
  std::vector<Key_Part>& key = tree_->new_key;
  key.clear();
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const auto given = std::find_if(values.begin(), values.end(), [&](const New_Value& v) {
      return v.field == columns_[i].field;
    });
    key.push_back(given != values.end() ? given->value
                  : is_reset            ? special_part(i, false)
                                        : part(i, id));
  }
  const Bound bound{key, no_record};
  const Found in_run = run_->size() > 0 ? search_run(bound) : Found{0, false};
  if (in_run.is_equal && run_->id(in_run.position) != id && is_new_violation(id, key))
    throw_violation(id, run_->id(in_run.position));
  const auto place = std::as_const(tree_->set).lower_bound(bound);
  if (place != tree_->end() && place->id != id && place->number == key[0].number &&
      compare(place->id, key) == 0 && is_new_violation(id, key))
    throw_violation(id, place->id);
  tree_->prepared = {id, changes_, place, in_run.position};
}

// Of the record that would get the key. A record may get the key that it has, even if another one
// has it, too.
bool Index::is_new_violation(index_t id, Key key) const {
  if (!has_all_) return true;
  const bool has_key = table_.is_used(Record_Id(id)) && compare(id, key) == 0;
  return !has_key && counts(key);
}

// Returns the default value of a field, or the one that means that there is none.
Key_Part Index::special_part(std::size_t i, bool is_missing) const {
  return visit_type(columns_[i].code, [&]<class T>(std::type_identity<T>) {
    if constexpr (!std::is_same_v<T, bool>)  // optional booleans are integers
      if (is_missing) return key_part<T>(missing_value<T>(columns_[i].column->logical()));
    return key_part<T>(T());
  });
}

bool Index::counts(Key key) const {
  if (!has_all_) return true;
  const auto is_special = [&](std::size_t i, bool is_missing) {
    const Key_Part special = special_part(i, is_missing);
    return key[i].number == special.number && key[i].text == special.text;
  };
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].field == highest_field_ && is_special(i, false)) return false;
    if (columns_[i].column->logical().is_optional && is_special(i, true)) return false;
  }
  return true;
}

Index::Duplicates Index::find_duplicates() const {
  Duplicates result;
  Interrupt_Counter look;
  index_t last = no_record;
  for (Cursor cursor = begin(); cursor.record().is_not_null(); cursor.next(), look()) {
    const index_t id = cursor.record().value();
    if (last != no_record && compare(last, id) == 0 && counts(Record_Key(*this, id).key())) {
      if (result.count++ == 0) result = {1, Record_Id(last), Record_Id(id)};
    }
    last = id;
  }
  return result;
}

void Index::throw_violation(index_t id, index_t other) const {
  throw Unique_Violation(violation_text(Record_Id(id), Record_Id(other)), definition_.name,
                         Record_Id(id), Record_Id(other));
}

// Has the values of `other`, the record that already has the key.
std::string Index::violation_text(Record_Id record, Record_Id other) const {
  std::string text = definition_.schema_name.empty() ? "" : definition_.schema_name + ": ";
  text += definition_.name + " unique index failure: (";
  for (const Key_Column& column : columns_) {
    if (&column != columns_.data()) text += ", ";
    visit_type(column.code, [&]<class T>(std::type_identity<T>) {
      append_value(text, T(static_cast<const Column<T>&>(*column.column).get(other.value())));
    });
  }
  return text + ") at id = " + std::to_string(record.value()) +
         " was already at id = " + std::to_string(other.value());
}

void Index::take_out(index_t id) {
  const Record_Key key(*this, id);
  if (state(id) == State::in_run) {
    const std::size_t i = search_run(Bound{key.key(), id - 1}).position;
    if (i < run_->size() && run_->id(i) == id) run_->mark(i);
  } else {
    tree_->set.erase(Entry{key.key()[0].number, id});
  }
  ++changes_;
  set_state(id, State::waiting);
}

void Index::put_in(index_t id) {
  if (is_deferred_) {
    // The list may be long, because a record that changes often is in it several times.
    if (waiting_.size() > size() / 4 + 64) {
      waiting_.clear();
      has_unlisted_ = true;
    }
    if (size() > 0 && !has_unlisted_) waiting_.push_back(id);
    return set_state(id, State::waiting);
  }
  tree_->pool.reserve();
  const Tree::Set& set = tree_->set;
  const Key_Part first = part(0, id);
  const Entry added{first.number, id};
  const auto fits = [&](const Tree::Prepared_Place& prepared) {
    return (prepared.iterator == set.end() || set.key_comp()(added, *prepared.iterator)) &&
           (prepared.iterator == set.begin() ||
            set.key_comp()(*std::prev(prepared.iterator), added)) &&
           (run_->size() == 0 ||
            run_->is_between(prepared.position, run_->coder().encode(first).value));
  };
  const Tree::Prepared_Place& prepared = tree_->prepared;
  const bool is_known = prepared.id == id && prepared.changes == changes_ && fits(prepared);
  const auto place = is_known ? prepared.iterator : set.lower_bound(added);
  if (!is_known && refuses_when_inserted() && run_->size() > 0) {
    const Found same = search_run(Bound{Record_Key(*this, id).key(), no_record});
    if (same.is_equal) throw_violation(id, run_->id(same.position));
  }
  if (refuses_when_inserted()) {
    const auto has_same_key = [&](const Entry& e) {
      return e.number == added.number && compare(e.id, id) == 0;
    };
    if (place != set.end() && has_same_key(*place)) throw_violation(id, place->id);
    if (place != set.begin() && has_same_key(*std::prev(place)))
      throw_violation(id, std::prev(place)->id);
  }
  tree_->set.insert(place, added);
  ++changes_;
  set_state(id, State::in_tree);
}

void Index::insert_again(Record_Id record) noexcept {
  if (state(record.value()) != State::waiting) return;
  try {
    put_in(record.value());
  } catch (const std::exception&) {
    has_unlisted_ = true;
  }
}

void Index::require_unique_vector(index_t first, index_t size, Field_Id field) const {
  if (!definition_.is_unique || is_deferred_) return;
  std::vector<index_t> ids;
  for (index_t id = first; id < first + size; ++id)
    if (table_.is_used(Record_Id(id)) && (state(id) == State::waiting || triggers(field)))
      ids.push_back(id);
  sort_equal<index_t>(ids, 0);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const Record_Key key(*this, ids[i]);
    const bool is_repeated = i > 0 && compare(ids[i - 1], ids[i]) == 0;
    const Record_Id other = is_repeated ? Record_Id(ids[i - 1]) : find(key.key());
    if (other.is_not_null() && counts(key.key())) throw_violation(ids[i], other.value());
  }
}

void Index::take_all() {
  has_all_ = true;
  first_new_ = 0;
  defer();
}

void Index::defer() {
  is_deferred_ = true;
  first_new_ = std::min(first_new_, table_.records().size());
}

void Index::drop() {
  is_dropped_ = true;
  states_ = {};
  waiting_.clear();
  waiting_count_ = 0;
  has_unlisted_ = false;
  tree_->set.clear();
  run_ = std::make_unique<Index_Run>();
  ++changes_;
}

// Marks the records that replay has appended as waiting.
void Index::list_new_records() {
  const index_t size = table_.records().size();
  if (first_new_ >= size) return;
  reserve(size);
  for (index_t id = first_new_; id < size; ++id)
    if (state(id) == State::absent && table_.is_used(Record_Id(id))) put_in(id);
  first_new_ = size;
}

void Index::insert_waiting() {
  if (!is_complete()) return;
  try {
    if (has_all_) list_new_records();
    is_deferred_ = false;
    if (waiting_count_ > size() / 2)
      has_wide_ids() ? build<std::uint64_t>() : build<std::uint32_t>();
    else if (has_unlisted_)
      insert_unlisted();
    else
      for (const index_t id : waiting_)
        if (state(id) == State::waiting) put_in(id);
  } catch (...) {
    // prepare() retries, so that later changes find all records in the index.
    is_deferred_ = false;
    has_unlisted_ = true;
    throw;
  }
  waiting_.clear();
}

// Inserts in key order, so that successive insertions are at nearby places.
void Index::insert_unlisted() {
  std::vector<index_t> ids;
  for (index_t id = 0; id < table_.records().size(); ++id)
    if (state(id) == State::waiting && table_.is_used(Record_Id(id))) ids.push_back(id);
  sort_equal<index_t>(ids, 0);
  for (const index_t id : ids) put_in(id);
  has_unlisted_ = false;
}

// ---- building a run -----------------------------------------------------------------------------

bool Index::has_wide_ids() const { return table_.records().size() > index_t{1} << 31; }

// Sorts records by key and then id. Requires ids in ascending order. If many keys have the same
// first part, or the same beginning of a text, comparing values in columns is slow. So this
// function sorts by the next eight bytes, and recurses into groups that are equal in these bytes.
template <class Id>
void Index::sort_equal(std::span<Id> ids, int depth) const {
  Interrupt_Counter look;
  const auto is_less = [&](Id a, Id b) {
    look();
    const int order = compare(static_cast<index_t>(a), static_cast<index_t>(b));
    return order == 0 ? a < b : order < 0;
  };
  if (std::is_sorted(ids.begin(), ids.end(), is_less)) return;
  constexpr int max_depth = 16;
  if (ids.size() < 32 || depth == max_depth) return std::sort(ids.begin(), ids.end(), is_less);

  std::vector<Entry> entries;
  entries.reserve(ids.size());
  for (std::size_t i = 0; i < columns_.size() && entries.empty(); ++i) {
    const auto part_of = [&](Id id) { return part(i, static_cast<index_t>(id)); };
    const Key_Part first = part_of(ids[0]);
    std::size_t common = first.text.size();
    bool is_equal = true;
    for (const Id id : ids) {
      const Key_Part other = part_of(id);
      if (other.number == first.number && other.text == first.text) continue;
      is_equal = false;
      const std::string_view start = first.text.substr(0, common);
      common = static_cast<std::size_t>(
          std::mismatch(start.begin(), start.end(), other.text.begin(), other.text.end()).first -
          start.begin());
    }
    if (is_equal) continue;
    const bool is_text = columns_[i].code == Type_Code::string;
    for (const Id id : ids) {
      const Key_Part key = part_of(id);
      entries.push_back(
          {is_text ? first_bytes(key.text.substr(common)) : key.number, static_cast<index_t>(id)});
    }
  }
  const auto is_less_entry = [](const Entry& a, const Entry& b) {
    return a.number != b.number ? a.number < b.number : a.id < b.id;
  };
  std::sort(entries.begin(), entries.end(), is_less_entry);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<Id>(entries[i].id);
  for (std::size_t i = 0, end; i < ids.size(); i = end) {
    for (end = i + 1; end < ids.size() && entries[end].number == entries[i].number;) ++end;
    if (end - i > 1) sort_equal(ids.subspan(i, end - i), depth + 1);
  }
}

// Builds a run of all records that are in the index or wait for their insertion. If this throws,
// the index is unchanged.
template <class Id>
void Index::build() {
  const index_t size = table_.records().size();
  const auto is_wanted = [&](index_t id) {
    return state(id) != State::absent && table_.is_used(Record_Id(id));
  };
  std::size_t count = 0;
  for (index_t id = 0; id < size; ++id) count += is_wanted(id) ? std::size_t{1} : 0;
  Zeroed_Memory id_memory, key_memory;
  id_memory.grow(count * sizeof(Id), true);
  key_memory.grow(count * sizeof(std::uint64_t), true);
  const std::span ids(reinterpret_cast<Id*>(id_memory.data()), count);
  for (index_t id = 0, i = 0; id < size; ++id)
    if (is_wanted(id)) ids[static_cast<std::size_t>(i++)] = static_cast<Id>(id);

  const Key_Coder coder = make_coder(count);
  const Key_Coder wide = coder.with_width(true);
  const std::span keys(reinterpret_cast<std::uint64_t*>(key_memory.data()), count);
  visit_type(columns_[0].code, [&]<class T>(std::type_identity<T>) {
    const auto& column = static_cast<const Column<T>&>(*columns_[0].column);
    Interrupt_Counter look;
    for (std::size_t i = 0; i < count; ++i, look())
      keys[i] = wide.encode(key_part<T>(column.get(static_cast<index_t>(ids[i])))).value;
  });
  Index_Run::sort<Id>(key_memory, id_memory, count);
  finish_sorting<Id>({reinterpret_cast<std::uint64_t*>(key_memory.data()), count},
                     {reinterpret_cast<Id*>(id_memory.data()), count});

  auto run = std::make_unique<Index_Run>(coder, std::move(key_memory), std::move(id_memory), count,
                                         sizeof(Id) == sizeof(std::uint64_t));
  was_cut_ = was_cut();
  tree_->set.clear();
  run_ = std::move(run);
  ++changes_;
  for (index_t id = 0; id < size; ++id)
    if (is_wanted(id)) set_state(id, State::in_run);
  has_unlisted_ = false;
}

// Sorts records with equal slices. Throws Unique_Violation if a unique index would hold a key
// twice.
template <class Id>
void Index::finish_sorting(std::span<const std::uint64_t> keys, std::span<Id> ids) const {
  const bool is_exact = tree_->set.key_comp().is_exact;
  if (is_exact && !refuses_when_inserted()) return;
  Interrupt_Counter look;
  for (std::size_t i = 0, end; i < ids.size(); i = end, look()) {
    for (end = i + 1; end < ids.size() && keys[end] == keys[i];) ++end;
    if (end - i == 1) continue;
    if (!is_exact) sort_equal(ids.subspan(i, end - i), 0);
    for (std::size_t k = i + 1; refuses_when_inserted() && k < end; ++k) {
      const auto first = static_cast<index_t>(ids[k - 1]), second = static_cast<index_t>(ids[k]);
      if (compare(first, second) == 0) throw_violation(second, first);
    }
  }
}

// Makes a coder from a sample of the `count` records that are in the index or wait for their
// insertion.
Key_Coder Index::make_coder(std::size_t count) const {
  constexpr std::size_t sample_size = 1 << 14;
  const std::size_t step = count / sample_size + 1;
  std::vector<std::uint64_t> numbers;
  std::vector<std::string_view> texts;
  std::size_t i = 0;
  for (index_t id = 0; id < table_.records().size(); ++id) {
    if (state(id) == State::absent || !table_.is_used(Record_Id(id)) || i++ % step != 0) continue;
    const Key_Part key = part(0, id);
    numbers.push_back(key.number);
    texts.push_back(key.text);
  }
  return columns_[0].code == Type_Code::string ? Key_Coder::of_texts(std::move(texts))
                                               : Key_Coder::of_numbers(std::move(numbers));
}

// ---- snapshots ----------------------------------------------------------------------------------

template <class F>
void Index::for_each_place(F f) const {
  const Place end = end_place();
  Place place = place_at(std::as_const(tree_->set).begin(), run_->next_live(0));
  for (; place.tree != end.tree || place.run != end.run; move_on(place)) f(place);
}

// The new run keeps the coder and slices of the old run, unless most records are in the tree: the
// coder was not made for these records.
void Index::save(Section_Writer& out) const {
  const index_t rows = table_.records().size();
  out.number(static_cast<std::int64_t>(waiting_count_));
  if (rows > 0) {
    const auto states = std::make_unique<Piece_Writer>(out);
    for (index_t id = 0; id < rows; ++id) {
      const State now = state(id);
      states->put(now == State::in_tree ? State::in_run : now);
    }
    states->flush();
  }
  std::size_t count = 0;
  for_each_place([&](const Place&) { ++count; });
  const bool is_new = tree_->set.size() > count / 2;
  Key_Coder coder = run_->coder();
  if (is_new) {
    coder = make_coder(count);
    const Key_Coder wide = coder.with_width(true);
    Width_Choice choice(coder);
    for_each_place(
        [&](const Place& place) { choice.add(wide.encode(part(0, record_at(place))).value); });
    coder = choice.result();
  }
  Index_Run::save(
      out, coder, count, has_wide_ids(),
      [&](auto put) { for_each_place([&](const Place& place) { put(record_at(place)); }); },
      [&](auto put) {
        for_each_place([&](const Place& place) {
          put(is_new || is_in_tree(place) ? coder.encode(part(0, record_at(place))).value
                                          : run_->slice(place.run));
        });
      });
}

void Index::restore(Section_Reader& in) {
  const index_t rows = table_.records().size();
  const auto waiting = static_cast<std::uint64_t>(in.number());
  if (waiting > static_cast<std::uint64_t>(rows))
    throw Corruption_Error("an index has more records than its table", 0);
  Zeroed_Memory states;
  if (rows > 0) in.section(states, static_cast<std::size_t>(rows));
  const bool is_text = is_complete() && columns_[0].code == Type_Code::string;
  auto run = std::make_unique<Index_Run>(Index_Run::restore(in, is_text, table_.records()));
  if (!is_complete() && run->size() > 0)
    throw Corruption_Error("an index has records without all its fields", 0);
  states_ = std::move(states);
  run_ = std::move(run);
  tree_->set.clear();
  waiting_.clear();
  waiting_count_ = waiting;
  has_unlisted_ = waiting > 0;
  first_new_ = rows;
  ++changes_;
}

bool Index::is_on_disk() const {
  constexpr std::size_t little = 1 << 16;
  return run_->size() < little ? tree_->set.size() < little
                               : run_->is_mapped() && tree_->set.size() < run_->size() / 16;
}

bool Index::was_cut() const { return was_cut_ || states_.was_cut() || run_->was_cut(); }

}  // namespace joedb::inline v1
