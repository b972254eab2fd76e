#ifndef JOEDB_SRC_EXCHANGE_ARROW_ARRAYS_H
#define JOEDB_SRC_EXCHANGE_ARROW_ARRAYS_H

#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "joedb/arrow/arrow.h"
#include "joedb/schema/type.h"

namespace joedb::inline v1 {

// Uninitialized memory for a buffer. Its address and its end are multiples of 64, as Arrow
// recommends.
class Arrow_Buffer {
 public:
  Arrow_Buffer() = default;
  // Throws std::bad_alloc.
  explicit Arrow_Buffer(std::size_t size) {
    constexpr std::size_t unit = 64;
    if (size > SIZE_MAX - unit) throw std::bad_alloc();
    data_.reset(static_cast<char*>(std::aligned_alloc(unit, (size / unit + 1) * unit)));
    if (!data_) throw std::bad_alloc();
  }
  char* data() const { return data_.get(); }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data_.get());
  }

 private:
  struct Free {
    void operator()(char* data) const { std::free(data); }
  };
  std::unique_ptr<char, Free> data_;
};

// Builds an array that owns all memory to which it refers. A consumer may move children out of the
// array; they then outlive it.
class Arrow_Array_Builder {
 public:
  // Adds a buffer in memory that is kept alive by add_owner() or add_memory().
  void add_buffer(const void* buffer) { buffers_.push_back(buffer); }
  void add_buffer(Arrow_Buffer buffer) {
    add_buffer(buffer.data());
    add_memory(std::move(buffer));
  }
  void add_memory(Arrow_Buffer buffer) { memory_.push_back(std::move(buffer)); }
  void add_owner(std::shared_ptr<const void> owner) { owner_ = std::move(owner); }
  // Takes ownership of the child. If memory is exhausted, releases the child and throws
  // std::bad_alloc.
  void add_child(ArrowArray child);
  // Takes ownership of the dictionary, to which the values of the array are indexes.
  void set_dictionary(ArrowArray dictionary) { dictionary_ = dictionary; }
  // Returns the array, which the caller must release. Throws std::bad_alloc.
  ArrowArray finish(index_t length, index_t null_count);

  Arrow_Array_Builder() = default;
  Arrow_Array_Builder(const Arrow_Array_Builder&) = delete;
  Arrow_Array_Builder& operator=(const Arrow_Array_Builder&) = delete;
  ~Arrow_Array_Builder();

 private:
  static void release(ArrowArray* array);

  std::vector<const void*> buffers_;
  std::vector<Arrow_Buffer> memory_;
  std::shared_ptr<const void> owner_;
  std::vector<ArrowArray> children_;
  std::vector<ArrowArray*> child_pointers_;
  ArrowArray dictionary_{};  // marked as released if there is none
};

// An Arrow type as in the C data interface.
struct Arrow_Type {
  std::string format;
  std::string name;
  std::vector<std::pair<std::string, std::string>> metadata = {};
  bool is_nullable = false;
  std::vector<Arrow_Type> children = {};
  // The type of the values, of which the array has indexes; at most one.
  std::vector<Arrow_Type> dictionary = {};
};
// Throws std::bad_alloc.
ArrowSchema make_arrow_schema(const Arrow_Type& type);

}  // namespace joedb::inline v1

#endif
