#ifndef JOEDB_BASE_IDS_H
#define JOEDB_BASE_IDS_H

#include <compare>
#include <cstddef>
#include <cstdint>

namespace joedb::inline v1 {

// A record number in a table, or a count of records.
using index_t = std::ptrdiff_t;

// A position in a journal file, in bytes from its start; or a number of bytes.
using Offset = std::int64_t;

// The id of a table, or of a field within its table: 1 … 65535, in order of creation. 0, the value
// of a default-constructed id, is null. Ids are never reused after a drop.
template <class Tag>
class Small_Id {
 public:
  constexpr Small_Id() = default;
  constexpr explicit Small_Id(std::uint16_t value) : value_(value) {}
  constexpr std::uint16_t value() const { return value_; }
  constexpr bool is_null() const { return value_ == 0; }
  friend constexpr auto operator<=>(Small_Id, Small_Id) = default;

 private:
  std::uint16_t value_ = 0;
};

using Table_Id = Small_Id<struct Table_Tag>;
using Field_Id = Small_Id<struct Field_Tag>;

// A row number in a table, counted from 0. A default-constructed id is null and has the value -1.
//
// Ids of records are 0 or more, but any value can be stored. Only -1 is null; other negative
// values, such as the end of a list of records, are not. Null is less than any record.
//
// The id is stored as value + 1, as in the file, so that null is all zero bytes: a newly allocated
// column of references needs no initialisation.
class Record_Id {
 public:
  constexpr Record_Id() = default;
  constexpr explicit Record_Id(index_t value) : plus_one_(static_cast<std::uint64_t>(value) + 1) {}

  constexpr index_t value() const { return static_cast<index_t>(plus_one_ - 1); }
  constexpr index_t get_id() const { return value(); }
  constexpr bool is_null() const { return plus_one_ == 0; }
  constexpr bool is_not_null() const { return plus_one_ != 0; }
  // Returns the id of record number n in a vector that starts at this record.
  constexpr Record_Id operator+(index_t n) const { return Record_Id(value() + n); }

  friend constexpr bool operator==(Record_Id, Record_Id) = default;
  friend constexpr auto operator<=>(Record_Id a, Record_Id b) { return a.value() <=> b.value(); }

 private:
  std::uint64_t plus_one_ = 0;
};

}  // namespace joedb::inline v1

#endif
