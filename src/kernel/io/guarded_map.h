#ifndef JOEDB_SRC_KERNEL_IO_GUARDED_MAP_H
#define JOEDB_SRC_KERNEL_IO_GUARDED_MAP_H

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace joedb::inline v1 {

// Guards a map of a file against the truncation of the file. Otherwise, reading a truncated page
// would kill the process (SIGBUS). The first object installs a process-wide handler for this
// signal, which maps zeros in place of the missing pages and sets was_cut(). All other SIGBUS
// signals go to the previous handler.
//
// Objects are never freed, only reused, because the signal handler iterates over all of them.
// Different objects may be used by different threads.
class Guarded_Map {
 public:
  // Guards [start, start + size), which the caller has mapped with `protection`, until release().
  // After that, the caller unmaps the memory. Throws std::bad_alloc, and Exception if the signal
  // handler cannot be installed.
  static Guarded_Map* add(char* start, std::size_t size, int protection);
  void release();

  std::size_t size() const { return size_; }
  // Call this when the size of the map has changed.
  void resize(std::size_t size) { size_ = size; }
  // True if an access touched a page that could not be read, or that is past the end of the file
  // because the file was truncated.
  bool was_cut() const { return was_cut_; }
  // Number of times that an access to a map of this process touched such a page, or that
  // note_damage() was called.
  static std::uint64_t cut_count() { return cuts; }
  static void note_damage() { ++cuts; }

 private:
  Guarded_Map() = default;
  static Guarded_Map* take();
  static void install_handler();
  bool cover(char* address);

  static inline std::atomic<Guarded_Map*> all = nullptr;
  static inline std::atomic<std::uint64_t> cuts = 0;

  std::atomic<char*> start_ = nullptr;
  std::atomic<std::size_t> size_ = 0;
  std::atomic<int> protection_ = 0;
  std::atomic<bool> is_used_ = false;
  std::atomic<bool> was_cut_ = false;
  Guarded_Map* next_ = nullptr;
};

}  // namespace joedb::inline v1

#endif
