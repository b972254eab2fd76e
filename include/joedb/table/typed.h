#ifndef JOEDB_TABLE_TYPED_H
#define JOEDB_TABLE_TYPED_H

#include <compare>
#include <concepts>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>

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

  Id get_at(std::size_t i) const { return Id(static_cast<index_t>(i)); }
  bool is_valid_at(std::size_t i) const { return records_->is_used(static_cast<index_t>(i)); }

 private:
  const Record_Ids* records_;
};

// A table whose number is known at compile time. Generated code derives from it and adds the
// fields.
template <class Id_Type, std::uint16_t number>
class Typed_Table {
 public:
  using Id = Id_Type;
  static constexpr Table_Id id{number};

  template <class... Fields>
  void bind(Database& database, Fields&... fields) {
    table_ = &database.table(id);
    (fields.bind(*table_), ...);
    table_->make_room_for_one();
  }
  Table& table() { return *table_; }
  const Table& table() const { return *table_; }
  const Record_Ids& records() const { return table_->records(); }

  bool is_used(Id record) const { return records().is_used(record.get_id()); }
  void require_used(Id record) const { table_->require_used(record.get_record_id()); }
  Id next(Id record) const {
    require_used(record);
    return Id(records().next(record.get_id()));
  }
  Id previous(Id record) const {
    require_used(record);
    return Id(records().previous(record.get_id()));
  }
  Container<Id> records_in_order() const { return Container<Id>(records()); }

 private:
  Table* table_ = nullptr;
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

  void bind(Table& table) { column_ = &table.column<Stored>(id); }
  Column<Stored>& column() { return *column_; }
  Getter get(index_t record) const { return Getter(column_->get(record)); }

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

// ---- the database -------------------------------------------------------------------------------

// Base of the generated class Database: the tables, read only.
class Typed_Database {
 public:
  Typed_Database() = default;
  Typed_Database(const Typed_Database&) = delete;
  Typed_Database& operator=(const Typed_Database&) = delete;

  // The content with its schema at run time, as tools see it.
  const Database& get_untyped() const { return engine_; }

 protected:
  ~Typed_Database() = default;

  // Throws Data_Error if the record is not in use.
  template <class Table_Type, class Field_Type>
  static typename Field_Type::Getter read(const Table_Type& table, const Field_Type& field,
                                          typename Table_Type::Id id) {
    table.require_used(id);
    return field.get(id.get_id());
  }

  Database engine_{Deleted_Values::reset};
};

}  // namespace joedb::inline v1

#endif
