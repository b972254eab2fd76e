#ifndef JOEDB_SNAPSHOT_SECTIONS_H
#define JOEDB_SNAPSHOT_SECTIONS_H

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "joedb/io/zeroed_memory.h"

namespace joedb::inline v1 {

// What a snapshot has of one object: numbers and texts, and sections, which are blocks of bytes
// that are used in place when they come back. They come back in the order in which they were
// written, so that save and restore of an object are the same list of calls.

// Where they go. Functions throw Io_Error.
class Section_Writer {
 public:
  virtual ~Section_Writer() = default;

  virtual void number(std::int64_t value) = 0;
  virtual void text(std::string_view value) = 0;
  // Begins a section, which ends where the next one begins. Its bytes follow, in any number of
  // pieces.
  virtual void begin_section() = 0;
  virtual void append(const void* bytes, std::size_t size) = 0;

  void section(const void* bytes, std::size_t size) {
    begin_section();
    append(bytes, size);
  }
};

// From where they come. The numbers, texts and sizes are those of a file that somebody may have
// made by hand: who reads them checks them. Functions throw Corruption_Error if the next item is of
// another kind, or there is none.
class Section_Reader {
 public:
  virtual ~Section_Reader() = default;

  virtual std::int64_t number() = 0;
  // Valid as long as the reader.
  virtual std::string_view text() = 0;
  // Makes `memory`, which must be empty, begin with the next section. Its size is then
  // memory.size(): `size`, else Corruption_Error is thrown. Throws Io_Error, std::bad_alloc.
  // `reserved`: see Zeroed_Memory::begin_with.
  virtual void section(Zeroed_Memory& memory, std::size_t size, std::size_t reserved = 0) = 0;
};

}  // namespace joedb::inline v1

#endif
