#ifndef JOEDB_SNAPSHOT_SECTIONS_H
#define JOEDB_SNAPSHOT_SECTIONS_H

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "joedb/io/zeroed_memory.h"

namespace joedb::inline v1 {

// The snapshot of one object: numbers, texts, and sections, which are blocks of bytes that are used
// in place when they are read. Items are read in the order in which they were written, so that save
// and restore of an object are the same list of calls.

// Writes the items of an object. Functions throw Io_Error.
class Section_Writer {
 public:
  virtual ~Section_Writer() = default;

  virtual void number(std::int64_t value) = 0;
  virtual void text(std::string_view value) = 0;
  // Begins a section, which ends where the next item begins. Its bytes follow, in any number of
  // calls of append.
  virtual void begin_section() = 0;
  virtual void append(const void* bytes, std::size_t size) = 0;

  void section(const void* bytes, std::size_t size) {
    begin_section();
    append(bytes, size);
  }
};

// Reads the items of an object. A snapshot file may have been forged: the caller must check all
// numbers, texts and sizes. Functions throw Corruption_Error if the next item is of another kind,
// or there is none.
class Section_Reader {
 public:
  virtual ~Section_Reader() = default;

  virtual std::int64_t number() = 0;
  // The text is valid for the lifetime of the reader.
  virtual std::string_view text() = 0;
  // Fills `memory`, which must be empty, with the next section, so that memory.size() == `size`.
  // Throws Corruption_Error if the section has another size, Io_Error, std::bad_alloc. `reserved`:
  // see Zeroed_Memory::begin_with.
  virtual void section(Zeroed_Memory& memory, std::size_t size, std::size_t reserved = 0) = 0;
};

}  // namespace joedb::inline v1

#endif
