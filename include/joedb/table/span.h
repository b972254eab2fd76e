#ifndef JOEDB_TABLE_SPAN_H
#define JOEDB_TABLE_SPAN_H

#include <cstddef>
#include <string>
#include <string_view>

#include "joedb/base/error.h"
#include "joedb/table/column.h"

namespace joedb::inline v1 {

// The values of consecutive records in a column, to be read and written in place: the argument of
// the function that update_vector_of_FIELD calls (typed_writer.h). Element i belongs to record
// first + i. Values of records that are not in use can be written, too.
//
// Valid until that function returns. A copy refers to the same values. Ranges are not checked.
template <class T>
class Span {
 public:
  Span(T* data, std::size_t size) : data_(data), size_(size) {}

  // Requires i < size().
  T& operator[](std::size_t i) const { return data_[i]; }
  // The number of records; get_size() is the older name.
  std::size_t get_size() const { return size_; }
  std::size_t size() const { return size_; }
  // The values are contiguous: [data(), data() + size()).
  T* data() const { return data_; }
  T* begin() const { return data_; }
  T* end() const { return data_ + size_; }

 private:
  T* data_;
  std::size_t size_;
};

// One string of a column: assign to it, or read it as a String. It refers to the column and the
// record, not to the text. Like the Span it comes from, it is valid while the vector is updated.
class String_Reference {
 public:
  String_Reference(Column<std::string_view>& column, index_t id) : column_(column), id_(id) {}
  String_Reference(const String_Reference&) = default;

  // Copies `text`, which may be a text of this column. Throws Data_Error if it has more than
  // 4294967295 bytes, and std::bad_alloc if memory is exhausted; the old text remains then.
  const String_Reference& operator=(std::string_view text) const {
    if (text.size() > Column<std::string_view>::max_size)
      throw Data_Error("a string can have at most 4294967295 bytes");
    column_.set(id_, text);
    return *this;
  }
  // Copies the text of `other`; this object still refers to its own record.
  const String_Reference& operator=(const String_Reference& other) const {
    return *this = other.get();
  }

  // Valid until the next assignment to a string of this column; a std::string is a copy.
  String get() const { return column_.get(id_); }
  operator String() const { return get(); }
  operator std::string() const { return get(); }
  friend bool operator==(const String_Reference& a, std::string_view b) { return a.get() == b; }

 private:
  Column<std::string_view>& column_;
  index_t id_;
};

// The same for strings: name[i] = "text". Elements are String_References. There is no data(),
// because texts are not contiguous. Iterators refer to the Span, which must outlive them.
template <>
class Span<std::string> {
 public:
  Span(Column<std::string_view>& column, index_t first, std::size_t size)
      : column_(column), first_(first), size_(size) {}

  // Requires i < size().
  String_Reference operator[](std::size_t i) const {
    return {column_, first_ + static_cast<index_t>(i)};
  }
  std::size_t get_size() const { return size_; }
  std::size_t size() const { return size_; }

  class iterator {
   public:
    using value_type = String_Reference;
    using difference_type = std::ptrdiff_t;
    iterator(const Span& span, std::size_t i) : span_(&span), i_(i) {}
    String_Reference operator*() const { return (*span_)[i_]; }
    iterator& operator++() {
      ++i_;
      return *this;
    }
    iterator operator++(int) { return {*span_, i_++}; }
    friend bool operator==(const iterator& a, const iterator& b) { return a.i_ == b.i_; }

   private:
    const Span* span_;
    std::size_t i_;
  };
  iterator begin() const { return {*this, 0}; }
  iterator end() const { return {*this, size_}; }

 private:
  Column<std::string_view>& column_;
  index_t first_;
  std::size_t size_;
};

}  // namespace joedb::inline v1

#endif
