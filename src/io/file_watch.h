#ifndef IO_FILE_WATCH_H
#define IO_FILE_WATCH_H

#include <chrono>
#include <string>

namespace joedb::inline v1 {

// Notices that others write to a file.
class File_Watch {
 public:
  // Throws Io_Error.
  explicit File_Watch(const std::string& path);
  ~File_Watch();
  File_Watch(const File_Watch&) = delete;
  File_Watch& operator=(const File_Watch&) = delete;

  // Returns when the file has been written since the last call, when the time is over, or when a
  // signal comes. Writes through memory maps, and of other machines, are not noticed.
  void wait(std::chrono::milliseconds duration);

 private:
  const std::string path_;
  int descriptor_;
};

}  // namespace joedb::inline v1

#endif
