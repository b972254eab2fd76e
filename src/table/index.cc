#include "joedb/table/index.h"

#include <absl/container/btree_set.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>

#include "joedb/base/error.h"
#include "joedb/table/column.h"
#include "joedb/table/table.h"
#include "schema/value_text.h"

namespace joedb::inline v1 {

// ---- keys ---------------------------------------------------------------------------------------

static std::uint64_t in_order(std::int64_t value) {
  return static_cast<std::uint64_t>(value) ^ (std::uint64_t{1} << 63);
}

// As IEEE 754 numbers are made, their bits have the order of their values, but for the sign.
static std::uint64_t in_order(double value) {
  if (std::isnan(value)) return std::numeric_limits<std::uint64_t>::max();
  const auto bits = std::bit_cast<std::uint64_t>(value == 0 ? 0.0 : value);
  return value < 0 ? ~bits : bits | std::uint64_t{1} << 63;
}

static std::uint64_t first_bytes(std::string_view text) {
  unsigned char bytes[8] = {};
  if (!text.empty()) std::memcpy(bytes, text.data(), std::min(text.size(), sizeof bytes));
  std::uint64_t number = 0;
  for (const unsigned char byte : bytes) number = number << 8 | byte;
  return number;
}

template <Field_Value T>
Key_Part key_part(T value) {
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

static int compare_parts(const Key_Part& a, const Key_Part& b) {
  if (a.number != b.number) return a.number < b.number ? -1 : 1;
  return a.text.compare(b.text);
}

// ---- the tree -----------------------------------------------------------------------------------

struct Index::Entry {
  std::uint64_t number;  // of the first part of its key
  index_t id;
};

// Of the records whose keys begin with `key`: behind those with ids up to this one.
struct Index::Bound {
  Key key;
  index_t id;
};
static constexpr index_t no_record = -1;
static constexpr index_t every_record = std::numeric_limits<index_t>::max();

namespace {

// Memory for the nodes of a tree. What an insertion may need is taken before it.
class Node_Pool {
 public:
  Node_Pool() = default;
  ~Node_Pool() {
    for (Class& c : classes_)
      while (c.count > 0) ::operator delete(take(c));
  }
  Node_Pool(const Node_Pool&) = delete;
  Node_Pool& operator=(const Node_Pool&) = delete;

  // For one insertion: a leaf, and an inner node for each level of the largest tree.
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
    bool is_exact;  // Entry::number is the whole key
  };
  using Set = absl::btree_set<Entry, Less, Pool_Allocator<Entry>>;

  Tree(const Index& index, bool is_exact)
      : set(Less{&index, is_exact}, Pool_Allocator<Entry>(pool)) {}
  Node_Pool pool;
  Set set;
  // Where prepare() has found that a record would go. Good until the tree changes.
  struct Place {
    index_t id = no_record;
    std::uint64_t changes = 0;
    Set::const_iterator iterator;
  } prepared;
  std::vector<Key_Part> new_key;  // of prepare(): so it needs no memory each time
};

Index::Index(Index_Definition definition, const Table& table)
    : definition_(std::move(definition)),
      table_(table),
      highest_field_(*std::max_element(definition_.fields.begin(), definition_.fields.end())) {
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
    visit_type(column.type().code, [&]<class T>(std::type_identity<T>) {
      columns_.push_back({field, &column,
                          [](const Column_Base& c, index_t id) {
                            return key_part<T>(static_cast<const Column<T>&>(c).get(id));
                          },
                          [](std::string& out, const Column_Base& c, index_t id) {
                            append_value(out, T(static_cast<const Column<T>&>(c).get(id)));
                          }});
    });
  }
  const bool is_exact =
      columns_.size() == 1 && columns_[0].column->type().code != Type_Code::string;
  tree_ = std::make_unique<Tree>(*this, is_exact);
}

Index::~Index() = default;

std::size_t Index::size() const { return tree_->set.size(); }

Index::Entry Index::entry(index_t id) const { return {part(0, id).number, id}; }

int Index::compare(index_t a, index_t b) const {
  for (std::size_t i = 0; i < columns_.size(); ++i)
    if (const int order = compare_parts(part(i, a), part(i, b)); order != 0) return order;
  return 0;
}

int Index::compare(index_t id, Key key) const {
  for (std::size_t i = 0; i < key.size(); ++i)
    if (const int order = compare_parts(part(i, id), key[i]); order != 0) return order;
  return 0;
}

// ---- reading ------------------------------------------------------------------------------------

template <class Iterator>
Index::Cursor Index::cursor(Iterator place) const {
  static_assert(sizeof(place) == sizeof(Cursor::place_));
  static_assert(std::is_trivially_copyable_v<Iterator>);
  Cursor cursor;
  cursor.index_ = this;
  cursor.changes_ = changes_;
  std::memcpy(cursor.place_, &place, sizeof place);
  if (place != tree_->set.end()) cursor.record_ = Record_Id(place->id);
  return cursor;
}

Index::Cursor Index::begin() const { return cursor(std::as_const(tree_->set).begin()); }
Index::Cursor Index::end() const { return cursor(std::as_const(tree_->set).end()); }

Index::Cursor Index::lower_bound(Key key) const {
  return cursor(std::as_const(tree_->set).lower_bound(Bound{key, no_record}));
}

Index::Cursor Index::upper_bound(Key key) const {
  return cursor(std::as_const(tree_->set).lower_bound(Bound{key, every_record}));
}

Index::Cursor Index::at(Record_Id record) const {
  return cursor(std::as_const(tree_->set).find(entry(record.value())));
}

// Most keys differ in their number, and then their texts need not be read.
bool Index::has_key(const Entry& e, Key key) const {
  return (key.empty() || e.number == key[0].number) && compare(e.id, key) == 0;
}

Record_Id Index::find(Key key) const {
  const auto found = tree_->set.lower_bound(Bound{key, no_record});
  return found != tree_->set.end() && has_key(*found, key) ? Record_Id(found->id) : Record_Id();
}

Index::Cursor Index::next_with(Key key, const Cursor& old) const {
  Cursor next = old;
  if (old.changes_ == changes_)
    next.next();
  else
    next = cursor(std::as_const(tree_->set).lower_bound(Bound{key, old.record_.value()}));
  const bool has_key = next.record_.is_not_null() && compare(next.record_.value(), key) == 0;
  return has_key ? next : end();
}

void Index::Cursor::next() {
  if (record_.is_null()) return;
  Tree::Set::const_iterator place;
  if (changes_ == index_->changes_) {
    std::memcpy(&place, place_, sizeof place);
    ++place;
  } else {
    place = std::as_const(index_->tree_->set).upper_bound(index_->entry(record_.value()));
  }
  *this = index_->cursor(place);
}

void Index::Cursor::previous() {
  if (index_ == nullptr) return;
  Tree::Set::const_iterator place;
  if (changes_ == index_->changes_)
    std::memcpy(&place, place_, sizeof place);
  else if (record_.is_null())
    place = std::as_const(index_->tree_->set).end();
  else
    place = std::as_const(index_->tree_->set).lower_bound(index_->entry(record_.value()));
  if (place != std::as_const(index_->tree_->set).begin()) --place;
  *this = index_->cursor(place);
}

// ---- changing -----------------------------------------------------------------------------------

bool Index::has_field(Field_Id field) const {
  return std::find(definition_.fields.begin(), definition_.fields.end(), field) !=
         definition_.fields.end();
}

bool Index::triggers(Field_Id field) const {
  return definition_.is_unique ? field == highest_field_ : has_field(field);
}

void Index::set_state(index_t id, State next) {
  const State old = state(id);
  waiting_count_ += static_cast<std::size_t>(next == State::waiting);
  waiting_count_ -= static_cast<std::size_t>(old == State::waiting);
  states_.data()[id] = static_cast<char>(next);
}

void Index::prepare(Record_Id record, std::span<const New_Value> values) {
  const index_t id = record.value();
  if (has_unlisted_ && !is_deferred_) insert_unlisted();
  if (definition_.is_unique && !is_deferred_) require_unique(id, values);
  reserve(id + 1);
  if (!is_deferred_)
    tree_->pool.reserve();
  else if (!tree_->set.empty() && waiting_.size() == waiting_.capacity())
    waiting_.reserve(2 * waiting_.capacity() + 64);
}

void Index::reserve(index_t size) {
  const auto wanted = static_cast<std::size_t>(size);
  if (wanted > states_.size())
    states_.grow(std::max({wanted, 2 * states_.size(), std::size_t{64}}));
}

void Index::require_unique(index_t id, std::span<const New_Value> values) const {
  const auto is_trigger = [&](const New_Value& v) { return triggers(v.field); };
  if (state(id) == State::absent && std::none_of(values.begin(), values.end(), is_trigger)) return;
  std::vector<Key_Part>& key = tree_->new_key;
  key.clear();
  for (const Key_Column& column : columns_) {
    const auto given = std::find_if(values.begin(), values.end(),
                                    [&](const New_Value& v) { return v.field == column.field; });
    key.push_back(given != values.end() ? given->value : column.read(*column.column, id));
  }
  const auto place = tree_->set.lower_bound(Bound{key, no_record});
  if (place != tree_->set.end() && place->id != id && has_key(*place, key))
    throw_violation(id, place->id);
  tree_->prepared = {id, changes_, place};
}

// The values are those of the record that has them already.
void Index::throw_violation(index_t id, index_t other) const {
  std::string text = definition_.schema_name.empty() ? "" : definition_.schema_name + ": ";
  text += definition_.name + " unique index failure: (";
  for (const Key_Column& column : columns_) {
    if (&column != columns_.data()) text += ", ";
    column.append_text(text, *column.column, other);
  }
  throw Unique_Violation(
      text + ") at id = " + std::to_string(id) + " was already at id = " + std::to_string(other),
      definition_.name, Record_Id(id), Record_Id(other));
}

void Index::take_out(index_t id) {
  tree_->set.erase(entry(id));
  ++changes_;
  set_state(id, State::waiting);
}

void Index::put_in(index_t id) {
  if (is_deferred_) {
    if (!tree_->set.empty()) waiting_.push_back(id);
    return set_state(id, State::waiting);
  }
  tree_->pool.reserve();
  const Tree::Set& set = tree_->set;
  const Entry added = entry(id);
  const auto fits = [&](Tree::Set::const_iterator place) {
    return (place == set.end() || set.key_comp()(added, *place)) &&
           (place == set.begin() || set.key_comp()(*std::prev(place), added));
  };
  const Tree::Place& prepared = tree_->prepared;
  const bool is_known =
      prepared.id == id && prepared.changes == changes_ && fits(prepared.iterator);
  const auto place = is_known ? prepared.iterator : set.lower_bound(added);
  if (definition_.is_unique) {
    const auto has_same_key = [&](const Entry& e) {
      return e.number == added.number && compare(e.id, id) == 0;
    };
    if (place != set.end() && has_same_key(*place)) throw_violation(id, place->id);
    if (place != set.begin() && has_same_key(*std::prev(place)))
      throw_violation(id, std::prev(place)->id);
  }
  tree_->set.insert(place, added);
  ++changes_;
  set_state(id, State::present);
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
  std::vector<Entry> entries;
  for (index_t id = first; id < first + size; ++id)
    if (table_.is_used(Record_Id(id)) && (state(id) == State::waiting || triggers(field)))
      entries.push_back(entry(id));
  sort(entries);
  for (const Entry& e : entries) {
    std::vector<Key_Part> key;
    for (std::size_t i = 0; i < columns_.size(); ++i) key.push_back(part(i, e.id));
    if (const Record_Id other = find(key); other.is_not_null())
      throw_violation(e.id, other.value());
  }
}

void Index::sort(std::vector<Entry>& entries) const {
  std::sort(entries.begin(), entries.end(), tree_->set.key_comp());
  if (!definition_.is_unique) return;
  const auto twice =
      std::adjacent_find(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
        return a.number == b.number && compare(a.id, b.id) == 0;
      });
  if (twice != entries.end()) throw_violation(std::next(twice)->id, twice->id);
}

void Index::insert_waiting() {
  if (!is_complete()) return;
  is_deferred_ = false;
  try {
    if (waiting_count_ > 0 && tree_->set.empty())
      build();
    else if (has_unlisted_)
      insert_unlisted();
    else
      for (const index_t id : waiting_)
        if (state(id) == State::waiting) put_in(id);
  } catch (...) {
    has_unlisted_ = true;  // prepare() tries again: all that is written is in the index
    throw;
  }
  waiting_.clear();
}

void Index::save(Section_Writer& out) const {
  out.number(static_cast<std::int64_t>(size()));
  out.begin_section();
  for (const Entry& e : tree_->set) out.append(&e.id, sizeof e.id);
}

void Index::restore(Section_Reader& in) {
  Zeroed_Memory ids;
  const auto count = static_cast<std::size_t>(in.number());
  in.section(ids, count * sizeof(index_t));
  tree_->set.clear();
  reserve(table_.records().size());
  for (std::size_t i = 0; i < count; ++i) {
    const index_t id = reinterpret_cast<const index_t*>(ids.data())[i];
    if (!table_.is_used(Record_Id(id))) throw Corruption_Error("an index does not fit", 0);
    tree_->set.insert(tree_->set.end(), entry(id));
    set_state(id, State::present);
  }
}

void Index::insert_unlisted() {
  for (index_t id = 0; id < table_.records().size(); ++id)
    if (state(id) == State::waiting) put_in(id);
  has_unlisted_ = false;
}

// All or nothing: without memory the tree stays empty.
void Index::build() {
  std::vector<Entry> entries;
  entries.reserve(waiting_count_);
  for (index_t id = 0; id < table_.records().size(); ++id)
    if (state(id) == State::waiting) entries.push_back(entry(id));
  sort(entries);
  ++changes_;
  try {
    for (const Entry& e : entries) tree_->set.insert(tree_->set.end(), e);
  } catch (...) {
    tree_->set.clear();
    throw;
  }
  for (const Entry& e : entries) set_state(e.id, State::present);
  has_unlisted_ = false;
}

}  // namespace joedb::inline v1
