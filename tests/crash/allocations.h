#ifndef CRASH_ALLOCATIONS_H
#define CRASH_ALLOCATIONS_H

#include <cstddef>
#include <cstdint>

// A program that links allocations.cc counts what it takes from operator new, and from the maps and
// blocks of columns, and can be refused memory. Not for threads.

namespace joedb::testing::allocations {

// Of operator new, alive.
struct Live {
  std::int64_t count = 0;
  std::int64_t bytes = 0;
};
Live live();
// The most that was alive since the last call of reset_peak(), and the same for columns.
std::int64_t peak();
std::int64_t column_peak();
void reset_peak();

// Beyond this many live bytes the program aborts, with a text on standard error.
void set_limit(std::int64_t bytes);

// The allocation after the next `count` ones fails, once; -1: none does.
void fail_after(std::int64_t count);
// Whether it has failed.
bool has_failed();

}  // namespace joedb::testing::allocations

#endif
