#ifndef JOEDB_IO_PREALLOCATOR_H
#define JOEDB_IO_PREALLOCATOR_H

#include "joedb/io/fail_stop_file.h"

namespace joedb::inline v1 {

// Makes a file longer than its content, in steps, with zeros: a sync of what is written there has
// no new size to write. The zeros are written, because a file system that has only reserved room
// still changes its metadata at the first write to each block.
//
// Idea: RocksDB's preallocation, etcd's log segments.
class Preallocator {
 public:
  static constexpr Offset max_step = Offset{1} << 30;

  // Both must outlive this object. The zeros go to `file`: a disk that has no room for them is no
  // failure. `guard` is the file through which the content is written. Nothing is preallocated
  // before set_step.
  Preallocator(Abstract_File& file, const Fail_Stop_File& guard) : file_(file), guard_(guard) {}

  // Throws Exception if the step is negative or above max_step bytes.
  void set_step(Offset step);
  Offset step() const { return step_; }
  void stop() { step_ = 0; }

  // Where the file ends with its zeros, or an offset before that.
  Offset end() const { return end_; }
  // After the file was truncated, or its content has grown.
  void set_end(Offset end) { end_ = end; }

  // Before content is written up to `content_end`: if the file ends before that, it becomes zeros
  // from `start` to the next multiple of the step. False: the disk has no room for that. Nothing is
  // preallocated from then on; some of the zeros may be in the file, and content may still have
  // room. Throws Exception if `guard` has failed.
  [[nodiscard]] bool reserve(Offset start, Offset content_end);

 private:
  Abstract_File& file_;
  const Fail_Stop_File& guard_;
  Offset step_ = 0;
  Offset end_ = 0;
};

}  // namespace joedb::inline v1

#endif
