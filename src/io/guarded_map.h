#ifndef JOEDB_SRC_IO_GUARDED_MAP_H
#define JOEDB_SRC_IO_GUARDED_MAP_H

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace joedb::inline v1 {

// A map of a file, in which the process survives that somebody cuts the file. Bytes that are read
// there would kill it (SIGBUS). The first object installs a handler of this signal for the whole
// process, which puts zeros in place of what is missing, and notes that. The handler that was there
// before gets all other signals.
//
// Objects are never freed, only used again, for the handler goes through all of them. Different
// ones may be used by different threads.
class Guarded_Map {
 public:
  // Guards [start, start + size), which the caller has mapped, with the same protection. The caller
  // unmaps it after release(). Throws Exception without a handler, std::bad_alloc.
  static Guarded_Map* add(char* start, std::size_t size, int protection);
  void release();

  std::size_t size() const { return size_; }
  // It has another size now.
  void resize(std::size_t size) { size_ = size; }
  // Whether it was cut where it had been read.
  bool was_cut() const { return was_cut_; }
  // How often any map of this process was cut, or found to be damaged.
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
