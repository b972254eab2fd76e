#ifndef JOEDB_TABLE_TYPED_H
#define JOEDB_TABLE_TYPED_H

#include <algorithm>
#include <array>
#include <compare>
#include <concepts>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "joedb/table/database.h"
#include "joedb/table/span.h"

// What the code that joedbc generates stands on: everything of a typed database that is the same
// for every schema. Users see the generated functions; this header says how they behave.

namespace joedb::inline v1 {

// ---- ids and values -----------------------------------------------------------------------------

// A record of the table that Id belongs to; a default-constructed one is null.
// struct id_of_city : joedb::Typed_Id<id_of_city> { using Typed_Id::Typed_Id; };
template <class Id>
class Typed_Id {
 public:
  constexpr Typed_Id() = default;
  constexpr explicit Typed_Id(index_t id) : record_(id) {}
  constexpr explicit Typed_Id(Record_Id record) : record_(record) {}

  constexpr bool is_null() const { return record_.is_null(); }
  constexpr bool is_not_null() const { return record_.is_not_null(); }
  constexpr index_t get_id() const { return record_.value(); }
  constexpr Record_Id get_record_id() const { return record_; }

  // Record number i of a vector that starts here.
  constexpr Id operator[](std::size_t i) const { return Id(get_id() + static_cast<index_t>(i)); }

  friend constexpr bool operator==(Typed_Id, Typed_Id) = default;
  friend constexpr auto operator<=>(Typed_Id, Typed_Id) = default;

 private:
  Record_Id record_;
};

template <class T>
concept Reference_Value = std::derived_from<T, Typed_Id<T>>;

// How a field of C++ type T is stored in its column, and what its getter and setter exchange.
template <class T>
struct Field_Traits {
  using Stored = T;
  using Getter = T;
  using Setter = T;
};

template <>
struct Field_Traits<std::string> {
  using Stored = std::string_view;
  using Getter = String;
  using Setter = std::string_view;
};

template <Reference_Value T>
struct Field_Traits<T> {
  using Stored = Record_Id;
  using Getter = T;
  using Setter = T;
};

template <class T>
typename Field_Traits<T>::Stored to_stored(typename Field_Traits<T>::Setter value) {
  if constexpr (Reference_Value<T>) {
    // The end of a list, as next() gives it, is no record either.
    return value.get_id() < 0 ? Record_Id() : value.get_record_id();
  } else {
    if constexpr (std::is_same_v<T, Blob>) Database::require_valid(value);
    if constexpr (std::is_same_v<T, std::string>) Database::require_size(value);
    return value;
  }
}

// ---- tables -------------------------------------------------------------------------------------

// The used records of a table, in the order of their insertion: for (id_of_city city: table) …
// Iterators stay good while records are added; not when theirs is deleted.
template <class Id>
class Container {
 public:
  explicit Container(const Record_Ids& records) : records_(&records) {}

  class iterator {
   public:
    using iterator_category = std::bidirectional_iterator_tag;
    using value_type = Id;
    using difference_type = std::ptrdiff_t;
    using pointer = const Id*;
    using reference = Id;

    iterator() = default;
    iterator(const Record_Ids& records, index_t id) : records_(&records), id_(id) {}
    Id operator*() const { return Id(id_); }
    iterator& operator++() {
      id_ = records_->next(id_);
      return *this;
    }
    iterator operator++(int) {
      const iterator old = *this;
      ++*this;
      return old;
    }
    iterator& operator--() {
      id_ = id_ == Record_Ids::no_id ? records_->last() : records_->previous(id_);
      return *this;
    }
    iterator operator--(int) {
      const iterator old = *this;
      --*this;
      return old;
    }
    friend bool operator==(const iterator& a, const iterator& b) { return a.id_ == b.id_; }

   private:
    const Record_Ids* records_ = nullptr;
    index_t id_ = Record_Ids::no_id;
  };

  iterator begin() const { return {*records_, records_->first()}; }
  iterator end() const { return {*records_, Record_Ids::no_id}; }

  // Number of records in use.
  std::size_t get_size() const { return static_cast<std::size_t>(records_->used_count()); }
  bool is_empty() const { return records_->used_count() == 0; }
  // The ends of the list; get_end() if it is empty.
  Id first() const { return Id(records_->first()); }
  Id last() const { return Id(records_->last()); }
  static constexpr Id get_end() { return Id(Record_Ids::no_id); }

  // The id with number i, whether or not it is in use.
  static constexpr Id get_at(std::size_t i) { return Id(static_cast<index_t>(i)); }
  bool is_valid_at(std::size_t i) const { return records_->is_used(static_cast<index_t>(i)); }

 private:
  const Record_Ids* records_;
};

// What does not depend on the types of a table: generated functions pass this on, so that there are
// fewer templates to instantiate.
class Any_Typed_Table {
 public:
  Table& table() { return *table_; }
  const Table& table() const { return *table_; }
  const Record_Ids& records() const { return table_->records(); }
  void require_used(Record_Id record) const { table_->require_used(record); }

 protected:
  Table* table_ = nullptr;
};

// A table whose number is known at compile time. Generated code derives from it and adds the
// fields.
template <class Id_Type, std::uint16_t number>
class Typed_Table : public Any_Typed_Table {
 public:
  using Id = Id_Type;
  static constexpr Table_Id id{number};

  template <class... Fields>
  void bind(Database& database, Fields&... fields) {
    table_ = &database.table(id);
    (fields.bind(*table_), ...);
    table_->make_room_for_one();
  }

  bool is_used(Id record) const { return records().is_used(record.get_id()); }
  Id next(Id record) const {
    require_used(record.get_record_id());
    return Id(records().next(record.get_id()));
  }
  Id previous(Id record) const {
    require_used(record.get_record_id());
    return Id(records().previous(record.get_id()));
  }
  Container<Id> records_in_order() const { return Container<Id>(records()); }
};

// A field whose number and type are known at compile time.
template <class T, std::uint16_t number>
class Typed_Field {
 public:
  using Value = T;
  using Stored = typename Field_Traits<T>::Stored;
  using Getter = typename Field_Traits<T>::Getter;
  using Setter = typename Field_Traits<T>::Setter;
  static constexpr Field_Id id{number};

  void bind(Table& table) {
    column_ = static_cast<Column<Stored>*>(&table.find_column(id, code_of<Stored>));
  }
  Column<Stored>& column() { return *column_; }
  Getter get(index_t record) const { return Getter(column_->get(record)); }
  static Key_Part key_part(Setter value) { return joedb::key_part(to_stored<T>(value)); }

  // The values of records [first, first + size), in place.
  Span<T> span(index_t first, std::size_t size) {
    if constexpr (std::is_same_v<T, std::string>) {
      return {*column_, first, size};
    } else {
      static_assert(sizeof(T) == sizeof(Stored));
      return {reinterpret_cast<T*>(column_->data() + first), size};
    }
  }

 private:
  Column<Stored>* column_ = nullptr;
};

// ---- indexes ------------------------------------------------------------------------------------

// The records with one key, in the order of their ids. Goes on to the next one whatever is done to
// the records or to the index on the way.
template <class Id, std::size_t field_count>
class Index_Range {
 public:
  using Parts = std::array<Key_Part, field_count>;

  Index_Range(const Index& index, Parts key) : index_(&index), key_(key) {
    std::string text;
    for (const Key_Part& part : key) text += part.text;
    if (text.empty()) return;
    // Copies of the range share the text.
    text_ = std::make_shared<const std::string>(std::move(text));
    std::size_t start = 0;
    for (Key_Part& part : key_) {
      part.text = std::string_view(*text_).substr(start, part.text.size());
      start += part.text.size();
    }
  }

  class iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Id;
    using difference_type = std::ptrdiff_t;
    using pointer = const Id*;
    using reference = Id;

    iterator() = default;
    iterator(const Index_Range& range, Index::Cursor cursor) : range_(&range), cursor_(cursor) {}
    Id operator*() const { return Id(cursor_.record()); }
    iterator& operator++() {
      cursor_ = range_->index_->next_with(range_->key_, cursor_);
      return *this;
    }
    iterator operator++(int) {
      const iterator old = *this;
      ++*this;
      return old;
    }
    friend bool operator==(const iterator& a, const iterator& b) { return a.cursor_ == b.cursor_; }

   private:
    const Index_Range* range_ = nullptr;
    Index::Cursor cursor_;
  };

  // Iterators need the range.
  iterator begin() const {
    const Record_Id first = index_->find(key_);
    return first.is_null() ? end() : iterator(*this, index_->at(first));
  }
  iterator end() const { return {*this, index_->end()}; }
  bool empty() const { return index_->find(key_).is_null(); }
  // Counts.
  std::size_t size() const { return static_cast<std::size_t>(std::distance(begin(), end())); }

 private:
  const Index* index_;
  Parts key_;
  std::shared_ptr<const std::string> text_;
};

// The records of a table in the order of some fields, as a std::map or std::multimap shows them:
// for (const auto& [name, city] : db.get_index_of_city_by_name()) … With several fields, keys are
// tuples.
//
// Iterators stay good when the index changes: they go on from where their record is then, or was
// when it left.
template <class Id, class... Fields>
class Typed_Index {
  static constexpr bool has_one_field = sizeof...(Fields) == 1;
  template <class... T>
  struct Key_Of {
    using type = std::tuple<T...>;
  };
  template <class T>
  struct Key_Of<T> {
    using type = T;
  };

 public:
  using key_type = typename Key_Of<typename Fields::Getter...>::type;
  using mapped_type = Id;
  using value_type = std::pair<key_type, Id>;
  using Range = Index_Range<Id, sizeof...(Fields)>;
  // What is looked for.
  using Wanted = typename Key_Of<typename Fields::Setter...>::type;

  class iterator {
   public:
    using iterator_category = std::bidirectional_iterator_tag;
    using value_type = Typed_Index::value_type;
    using difference_type = std::ptrdiff_t;
    // Constant, so that `for (auto& entry : index)` compiles, as with a std::map.
    using reference = const value_type;
    struct pointer {
      value_type value;
      const value_type* operator->() const { return &value; }
    };

    iterator() = default;
    iterator(const Typed_Index& index, Index::Cursor cursor) : index_(&index), cursor_(cursor) {}
    reference operator*() const {
      return {index_->key(cursor_.record().value()), Id(cursor_.record())};
    }
    pointer operator->() const { return {**this}; }
    iterator& operator++() {
      cursor_.next();
      return *this;
    }
    iterator operator++(int) {
      const iterator old = *this;
      cursor_.next();
      return old;
    }
    iterator& operator--() {
      cursor_.previous();
      return *this;
    }
    iterator operator--(int) {
      const iterator old = *this;
      cursor_.previous();
      return old;
    }
    friend bool operator==(const iterator& a, const iterator& b) { return a.cursor_ == b.cursor_; }

   private:
    const Typed_Index* index_ = nullptr;
    Index::Cursor cursor_;
  };
  using const_iterator = iterator;

  // Number of records in the index: those that have been given a key.
  std::size_t size() const { return index_->size(); }
  bool empty() const { return size() == 0; }
  iterator begin() const { return {*this, index_->begin()}; }
  iterator end() const { return {*this, index_->end()}; }
  auto rbegin() const { return std::make_reverse_iterator(end()); }
  auto rend() const { return std::make_reverse_iterator(begin()); }

  // The first with this key, or end().
  iterator find(const Wanted& key) const {
    const Record_Id found = index_->find(parts(key));
    return found.is_null() ? end() : iterator(*this, index_->at(found));
  }
  bool contains(const Wanted& key) const { return index_->find(parts(key)).is_not_null(); }
  std::size_t count(const Wanted& key) const { return range(key).size(); }
  iterator lower_bound(const Wanted& key) const { return {*this, index_->lower_bound(parts(key))}; }
  iterator upper_bound(const Wanted& key) const { return {*this, index_->upper_bound(parts(key))}; }
  std::pair<iterator, iterator> equal_range(const Wanted& key) const {
    return {lower_bound(key), upper_bound(key)};
  }

  // ---- for generated code

  void bind(Database& database, std::string_view name) {
    index_ = database.find_index(name);
    Table& table = database.table(index_->definition().table);
    std::apply([&](auto&... field) { (field.bind(table), ...); }, fields_);
  }
  // Null if there is none.
  Id first(const Wanted& key) const { return Id(index_->find(parts(key))); }
  Range range(const Wanted& key) const { return {*index_, parts(key)}; }
  // Neighbours in the order of keys; null at the ends, and for a record that is not in the index.
  Id next(Id id) const { return neighbour(id, &Index::Cursor::next); }
  Id previous(Id id) const {
    return index_->begin().record() == id.get_record_id() ? Id()
                                                          : neighbour(id, &Index::Cursor::previous);
  }

 private:
  Id neighbour(Id id, void (Index::Cursor::*move)()) const {
    if (!index_->contains(id.get_record_id())) return Id();
    Index::Cursor cursor = index_->at(id.get_record_id());
    (cursor.*move)();
    return Id(cursor.record());
  }
  key_type key(index_t id) const {
    return std::apply([&](const auto&... field) { return key_type(field.get(id)...); }, fields_);
  }
  static std::array<Key_Part, sizeof...(Fields)> parts(const Wanted& key) {
    if constexpr (has_one_field)
      return {Fields::key_part(key)...};
    else
      return std::apply(
          [](const auto&... value) {
            return std::array<Key_Part, sizeof...(Fields)>{Fields::key_part(value)...};
          },
          key);
  }

  const Index* index_ = nullptr;
  std::tuple<Fields...> fields_;
};

// ---- the database -------------------------------------------------------------------------------

// The schema of a program, as joedbc writes it.
struct Program_Schema {
  std::string_view name;            // the namespace; begins messages
  std::string_view entries;         // of the journal, encoded
  std::string_view initial_values;  // updates of records 0, encoded: values for new fields
  std::vector<Table_Id> single_rows;
  std::vector<Index_Definition> indexes;
  bool has_timestamps = false;  // checkpoints write time stamps
};

// Base of the generated class Database: the tables, read only.
class Typed_Database {
 public:
  Typed_Database() = default;
  Typed_Database(const Typed_Database&) = delete;
  Typed_Database& operator=(const Typed_Database&) = delete;

  // The content with its schema at run time, as tools see it.
  const Database& get_untyped() const { return *engine_; }

 protected:
  ~Typed_Database() = default;

  void bind(Database& engine) { engine_ = &engine; }

  // is_before(a, b) tells whether record a comes before b.
  template <class Table_Type, class Compare>
  static std::vector<typename Table_Type::Id> sorted(const Table_Type& table, Compare is_before) {
    const auto records = table.records_in_order();
    std::vector<typename Table_Type::Id> ids(records.begin(), records.end());
    std::stable_sort(ids.begin(), ids.end(), is_before);
    return ids;
  }

 private:
  Database* engine_ = nullptr;
};

}  // namespace joedb::inline v1

#endif
