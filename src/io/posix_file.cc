#include "joedb/io/posix_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <optional>

#include "joedb/base/bytes.h"
#include "joedb/io/directory.h"

namespace joedb::inline v1 {

namespace {

// Calls f until a signal does not interrupt it.
template <class F>
auto retry(F f) {
  decltype(f()) result;
  do result = f();
  while (result < 0 && errno == EINTR);
  return result;
}

int open_file(const std::string& name, int flags, unsigned permissions = 0644) {
  return retry([&] { return ::open(name.c_str(), flags | O_CLOEXEC, permissions); });
}

// Linux transfers at most 2 GiB - 4 KiB in one call.
constexpr std::size_t largest_transfer = std::size_t{1} << 30;

// What is mapped for words.
constexpr std::size_t word_page = 4096;

// File systems where a store to a mapped page that is in the file can only fail as a write does: at
// the next sync. XFS_SUPER_MAGIC is not in every magic.h.
//
// Returns the size of the file; 0 if it cannot be mapped.
Offset size_to_map(int descriptor) {
  struct stat file;
  struct statfs status;
  if (::fstat(descriptor, &file) != 0 || !S_ISREG(file.st_mode)) return 0;
  if (::fstatfs(descriptor, &status) != 0) return 0;
  constexpr auto xfs_magic = 0x58465342;
  const bool is_local = status.f_type == EXT4_SUPER_MAGIC || status.f_type == xfs_magic ||
                        status.f_type == OVERLAYFS_SUPER_MAGIC || status.f_type == TMPFS_MAGIC;
  return is_local ? file.st_size : 0;
}

}  // namespace

File::File(const std::string& name, Open_Mode mode) : File(name, mode, name) {}

File::File(const std::string& name, Open_Mode mode, const std::string& path, unsigned permissions)
    : Named_File(name, mode) {
  // Numbers of files that are never the same twice must not keep anybody out.
  constexpr int most_attempts = 20;
  for (int attempt = 1;; ++attempt) {
    open(path, permissions);
    try {
      lock_at_opening();
    } catch (...) {
      ::close(descriptor_);
      throw;
    }
    if (attempt == most_attempts || has_name(path)) break;
    ::close(descriptor_);
  }
  if (!is_readonly()) open_directory();
}

void File::open(const std::string& path, unsigned permissions) {
  constexpr int create_flags = O_RDWR | O_CREAT | O_EXCL;
  switch (get_mode()) {
    case Open_Mode::read_existing:
      descriptor_ = open_file(path, O_RDONLY | O_NONBLOCK);  // a pipe would wait for its writer
      break;
    case Open_Mode::write_existing:
      descriptor_ = open_file(path, O_RDWR);
      break;
    case Open_Mode::create_new:
      descriptor_ = open_file(path, create_flags, permissions);
      break;
    case Open_Mode::write_existing_or_create_new:
    case Open_Mode::shared_write:
    case Open_Mode::write_lock:
      descriptor_ = open_file(path, create_flags, permissions);
      if (descriptor_ < 0 && errno == EEXIST) descriptor_ = open_file(path, O_RDWR);
      break;
  }
  if (descriptor_ < 0) throw_io_error("opening", get_name(), -1, errno);
  struct stat status;
  if (::fstat(descriptor_, &status) == 0 &&
      (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode))) {
    ::close(descriptor_);
    throw_io_error("opening as a file, but it is a pipe:", get_name(), -1, ESPIPE);
  }
}

void File::lock_at_opening() {
  if (get_mode() == Open_Mode::write_lock)
    lock(F_OFD_SETLKW, F_WRLCK, tail_lock.start, tail_lock.size);
  else if (!is_readonly() && !is_shared())
    lock(F_OFD_SETLK, F_WRLCK, tail_lock.start, tail_lock.size);
  // A reader needs no lock where there are none.
  if (!try_lock(F_OFD_SETLKW, F_RDLCK, presence_lock) && !is_readonly())
    throw_io_error("locking", get_name(), -1, errno);
}

namespace {

// Whose a name is: that of an open file, of another one, or of none; unknown if that cannot be
// told.
enum class Name { own, others, nobodys, unknown };

Name look_up(const std::string& path, int descriptor) {
  struct stat mine;
  struct stat named;
  if (::fstat(descriptor, &mine) != 0) return Name::unknown;
  if (::stat(path.c_str(), &named) != 0) return errno == ENOENT ? Name::nobodys : Name::unknown;
  return mine.st_dev == named.st_dev && mine.st_ino == named.st_ino ? Name::own : Name::others;
}

}  // namespace

// What is written to a file that was replaced while this waited for a lock would be lost.
bool File::has_name(const std::string& path) const {
  const Name name = look_up(path, descriptor_);
  return name == Name::own || name == Name::unknown;
}

bool File::is_replaced() const { return look_up(get_name(), descriptor_) == Name::others; }

File::~File() {
  unmap();
  unmap_words();
  ::close(directory_);
  ::close(descriptor_);  // releases the locks
}

Offset File::get_size() const {
  struct stat status;
  if (::fstat(descriptor_, &status) != 0)
    throw_io_error("reading the size of", get_name(), -1, errno);
  return status.st_size;
}

std::unique_ptr<Abstract_File> File::open_beside(const std::string& suffix, Open_Mode mode) const {
  struct stat status;
  if (::fstat(descriptor_, &status) != 0)
    throw_io_error("reading the status of", get_name(), -1, errno);
  const std::string name = get_name() + suffix;
  return std::unique_ptr<File>(new File(name, mode, name, status.st_mode & 0666));
}

namespace {

// What is done to names in a directory, until a power cut does not take it back.
class Name_Change {
 public:
  // Opens the directory before the change: an error of a sync that another process makes meanwhile
  // is then told to us, too. One that may not be read cannot be synced by us.
  Name_Change(const std::string& directory, const std::string& file)
      : file_(file), directory_(open_file(directory, O_RDONLY | O_DIRECTORY)) {}
  ~Name_Change() {
    if (directory_ >= 0) ::close(directory_);
  }
  Name_Change(const Name_Change&) = delete;
  Name_Change& operator=(const Name_Change&) = delete;

  void sync() const {
    if (directory_ >= 0 && ::fsync(directory_) != 0)
      throw_io_error("syncing the directory of", file_, -1, errno);
  }

 private:
  const std::string& file_;
  const int directory_;
};

}  // namespace

void File::rename_beside(const std::string& from, const std::string& to) const {
  const std::string old_name = get_name() + from;
  const Name_Change change(directory_name(), get_name());
  if (::rename(old_name.c_str(), (get_name() + to).c_str()) != 0)
    throw_io_error("renaming", old_name, -1, errno);
  change.sync();
}

void File::remove_beside(const std::string& suffix) const {
  const std::string name = get_name() + suffix;
  const Name_Change change(directory_name(), get_name());
  if (::unlink(name.c_str()) == 0) return change.sync();
  if (errno != ENOENT) throw_io_error("removing", name, -1, errno);
}

std::vector<std::string> File::list_beside(const std::string& prefix) const {
  const std::string own_name = get_name().substr(get_name().rfind('/') + 1);
  std::vector<std::string> suffixes;
  for (const std::string& name : Directory(directory_name()).list())
    if (name.starts_with(own_name + prefix)) suffixes.push_back(name.substr(own_name.size()));
  return suffixes;
}

static bool map_at(char* address, std::size_t size, int flags, int descriptor, Offset offset) {
  return ::mmap(address, size, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_NORESERVE | flags,
                descriptor, offset) != MAP_FAILED;
}

bool File::map_privately(char* address, std::size_t size, Offset offset) const {
  return map_at(address, size, MAP_PRIVATE, descriptor_, offset);
}

bool File::map_shared(char* address, std::size_t size, Offset offset) {
  return map_at(address, size, MAP_SHARED, descriptor_, offset);
}

// The size of a block device is not in its status.
Offset File::find_end() const {
  const Offset end = ::lseek(descriptor_, 0, SEEK_END);
  if (end < 0) throw_io_error("reading the size of", get_name(), -1, errno);
  return end;
}

static std::size_t read_all(int descriptor, const std::string& name, char* data, std::size_t size,
                            Offset offset) {
  std::size_t done = 0;
  while (done < size) {
    const Offset at = offset + static_cast<Offset>(done);
    const ssize_t n = retry([&] {
      return ::pread(descriptor, data + done, std::min(size - done, largest_transfer), at);
    });
    if (n < 0) throw_io_error("reading", name, at, errno);
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

std::size_t File::pread(char* data, std::size_t size, Offset offset) const {
  return read_all(descriptor_, get_name(), data, size, offset);
}

// Where the file system cannot say so, nothing is in its cache.
bool File::pread_cached(char* data, std::size_t size, Offset offset) const {
  const iovec part{data, size};
  return ::preadv2(descriptor_, &part, 1, offset, RWF_NOWAIT) == static_cast<ssize_t>(size);
}

std::size_t File_Slice::pread(char* data, std::size_t size, Offset offset) const {
  if (offset < 0 || offset >= size_) return 0;
  const auto left = static_cast<std::size_t>(size_ - offset);
  return read_all(descriptor_, get_name(), data, std::min(size, left), start_ + offset);
}

void File_Slice::pwrite(const char*, std::size_t, Offset) {
  throw Exception("a slice of a file can only be read");
}

bool File::map(Offset start, Offset end) {
  unmap();
  if (size_to_map(descriptor_) < end) return false;
  const auto size = static_cast<std::size_t>(end - start);
  void* const map = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, start);
  if (map == MAP_FAILED) return false;
  map_ = static_cast<char*>(map);
  map_start_ = start;
  map_size_ = size;
  return true;
}

void File::unmap() {
  if (map_) ::munmap(map_, map_size_);
  map_ = nullptr;
}

void File::map_words(Offset end) {
  unmap_words();
  may_map_words_ = false;
  const Offset size = size_to_map(descriptor_);
  if (size < end) return;
  void* const page =
      ::mmap(nullptr, word_page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, descriptor_, 0);
  if (page == MAP_FAILED) return;
  words_ = static_cast<std::int64_t*>(page);
  words_end_ = std::min(size, static_cast<Offset>(word_page));
  ::mlock(page, word_page);  // it need not be read again, then; a limit may forbid it
}

void File::unmap_words() {
  if (words_) ::munmap(words_, word_page);
  words_ = nullptr;
  words_end_ = 0;
}

// Where words are not mapped, they are written with the head locked: network file systems send
// what was written before they grant a lock, so nobody sees a word before what it refers to.
void File::store_words(std::span<const std::int64_t> words, Offset offset) {
  const Offset end = offset + static_cast<Offset>(words.size_bytes());
  const bool can_be_mapped = end <= static_cast<Offset>(word_page);
  if (end > words_end_ && can_be_mapped && may_map_words_) map_words(end);
  if (end > words_end_) {
    const File_Lock head(*this, head_lock, File_Lock::Kind::exclusive);
    return Abstract_File::store_words(words, offset);
  }
  std::int64_t* to = words_ + offset / static_cast<Offset>(sizeof *words_);
  for (const std::int64_t word : words)
    std::atomic_ref(*to++).store(word, std::memory_order_release);
}

void File::load_words(std::span<std::int64_t> words, Offset offset) const {
  if (offset + static_cast<Offset>(words.size_bytes()) > words_end_)
    return Abstract_File::load_words(words, offset);
  std::int64_t* from = words_ + offset / static_cast<Offset>(sizeof *words_);
  for (std::int64_t& word : words) word = std::atomic_ref(*from++).load(std::memory_order_acquire);
}

void File::pwrite(const char* data, std::size_t size, Offset offset) {
  std::size_t done = 0;
  while (done < size) {
    const Offset at = offset + static_cast<Offset>(done);
    const ssize_t n = retry([&] {
      return ::pwrite(descriptor_, data + done, std::min(size - done, largest_transfer), at);
    });
    if (n <= 0) throw_io_error("writing", get_name(), at, n < 0 ? errno : ENOSPC);
    done += static_cast<std::size_t>(n);
  }
}

// Idea: bytes_per_sync of RocksDB.
void File::start_writeback(Offset start, Offset end) noexcept {
  ::sync_file_range(descriptor_, start, end - start, SYNC_FILE_RANGE_WRITE);
}

// A sync is not tried again: after a failure the kernel may have dropped the dirty pages, and the
// next call would succeed without having written them.
void File::sync_content() {
  if (::fsync(descriptor_) != 0) throw_io_error("syncing", get_name(), -1, errno);
}

void File::datasync_content() {
  if (::fdatasync(descriptor_) != 0) throw_io_error("syncing", get_name(), -1, errno);
}

std::string File::directory_name() const {
  const std::size_t slash = get_name().rfind('/');
  return slash == std::string::npos ? "." : get_name().substr(0, std::max<std::size_t>(slash, 1));
}

// Now, because a relative name may mean another directory later. One that may not be read cannot be
// synced by us.
void File::open_directory() {
  directory_ = open_file(directory_name(), O_RDONLY | O_DIRECTORY);
  if (directory_ >= 0) set_new_name();
}

void File::sync_directory() {
  if (::fsync(directory_) != 0) throw_io_error("syncing the directory of", get_name(), -1, errno);
  ::close(directory_);
  directory_ = -1;
}

bool File::truncate(Offset size) {
  if (size < words_end_) {
    words_end_ = size;
    may_map_words_ = true;  // once the file has grown
  }
  if (retry([&] { return ::ftruncate(descriptor_, size); }) != 0)
    throw_io_error("truncating", get_name(), size, errno);
  return true;
}

static struct flock lock_argument(short type, Lock_Range range) {
  struct flock argument {};
  argument.l_type = type;
  argument.l_whence = SEEK_SET;
  argument.l_start = range.start;
  argument.l_len = range.size;
  return argument;
}

bool File::try_lock(int command, short type, Lock_Range range) const {
  struct flock argument = lock_argument(type, range);
  return retry([&] { return ::fcntl(descriptor_, command, &argument); }) == 0;
}

void File::lock(int command, short type, Offset start, Offset size) const {
  if (!try_lock(command, type, {start, size})) throw_io_error("locking", get_name(), -1, errno);
}

bool File::try_exclusive_lock(Offset start, Offset size) {
  if (try_lock(F_OFD_SETLK, F_WRLCK, {start, size})) return true;
  if (errno != EAGAIN && errno != EACCES) throw_io_error("locking", get_name(), -1, errno);
  return false;
}

bool File::is_being_written() const {
  struct flock argument = lock_argument(F_RDLCK, tail_lock);
  return ::fcntl(descriptor_, F_OFD_GETLK, &argument) == 0 && argument.l_type != F_UNLCK;
}

void File::shared_lock(Offset start, Offset size) { lock(F_OFD_SETLKW, F_RDLCK, start, size); }

void File::exclusive_lock(Offset start, Offset size) { lock(F_OFD_SETLKW, F_WRLCK, start, size); }

void File::unlock(Offset start, Offset size) noexcept {
  try {
    lock(F_OFD_SETLK, F_UNLCK, start, size);
  } catch (const Io_Error&) {  // closing the file will release the lock
  }
}

void File::touch() {
  if (::futimens(descriptor_, nullptr) != 0)
    throw_io_error("setting the time of", get_name(), -1, errno);
}

static Open_Mode existing_device(const std::string& name, Open_Mode mode) {
  if (mode == Open_Mode::create_new)
    throw Exception("opening " + name +
                    ": a device cannot be created; use --write, which starts a new database if the "
                    "first bytes of the device are zeros");
  if (::access(name.c_str(), F_OK) != 0) throw_io_error("opening", name, -1, errno);
  return mode == Open_Mode::write_existing_or_create_new ? Open_Mode::write_existing : mode;
}

Device_File::Device_File(const std::string& name, Open_Mode mode)
    : File(name, existing_device(name, mode)), capacity_(find_end()) {}

void Device_File::pwrite(const char* data, std::size_t size, Offset offset) {
  if (offset + static_cast<Offset>(size) > capacity_)
    throw_io_error("writing", get_name(), offset, ENOSPC);
  File::pwrite(data, size, offset);
}

}  // namespace joedb::inline v1
