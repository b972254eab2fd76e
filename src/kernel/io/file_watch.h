#ifndef JOEDB_SRC_KERNEL_IO_FILE_WATCH_H
#define JOEDB_SRC_KERNEL_IO_FILE_WATCH_H

#include <chrono>
#include <string>

namespace joedb::inline v1 {

// Waits until a file is written to (inotify).
class File_Watch {
 public:
  // Throws Io_Error.
  explicit File_Watch(const std::string& path);
  ~File_Watch();
  File_Watch(const File_Watch&) = delete;
  File_Watch& operator=(const File_Watch&) = delete;

  // Returns if the file has been written to since the last call, or as soon as it is written to; at
  // the latest when `duration` is over or a signal arrives. Does not detect writes through memory
  // maps or from other machines. Throws Io_Error.
  void wait(std::chrono::milliseconds duration);

 private:
  const std::string path_;
  int descriptor_;
};

}  // namespace joedb::inline v1

#endif
