#ifndef JOEDB_IO_PREALLOCATOR_H
#define JOEDB_IO_PREALLOCATOR_H

#include "joedb/io/fail_stop_file.h"

namespace joedb::inline v1 {

// Extends a file past its content with zeros, in steps, so that a sync of content written there
// need not write a new size. The zeros are really written, because a file system that has only
// reserved the blocks still changes metadata at the first write to each of them.
//
// Idea: RocksDB's preallocation, etcd's log segments.
class Preallocator {
 public:
  static constexpr Offset max_step = Offset{1} << 30;

  // Both files must outlive this object. Zeros are written to `file`, so that a full disk does not
  // count as a failure of `guard`, through which the content is written. Nothing is preallocated
  // before set_step.
  Preallocator(Abstract_File& file, const Fail_Stop_File& guard) : file_(file), guard_(guard) {}

  // Sets the number of bytes to preallocate at a time; 0: none. Throws Exception if it is negative
  // or greater than max_step.
  void set_step(Offset step);
  Offset step() const { return step_; }
  void stop() { step_ = 0; }

  // A lower bound of the file size, preallocated zeros included.
  Offset end() const { return end_; }
  // Call this after the file was truncated, or its content has grown.
  void set_end(Offset end) { end_ = end; }

  // Call this before writing content up to `content_end`. If the file ends before that, fills it
  // with zeros from `start` to the next multiple of the step after `content_end`. Returns false if
  // the zeros cannot be written; preallocation then stops, some of the zeros may be in the file,
  // and there may still be room for the content. Throws Write_Disabled if `guard` has failed.
  [[nodiscard]] bool reserve(Offset start, Offset content_end);

 private:
  Abstract_File& file_;
  const Fail_Stop_File& guard_;
  Offset step_ = 0;
  Offset end_ = 0;
};

}  // namespace joedb::inline v1

#endif
