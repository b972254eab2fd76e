#include "joedb/io/posix_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <utility>

#include "joedb/base/types.h"
#include "kernel/io/descriptor.h"

namespace joedb::inline v1 {

namespace {

// Repeats f while a signal interrupts it.
template <class F>
auto retry(F f) {
  decltype(f()) result;
  do result = f();
  while (result < 0 && errno == EINTR);
  return result;
}

// Linux transfers at most 2 GiB - 4 KiB in one call.
constexpr std::size_t max_transfer = std::size_t{1} << 30;

std::size_t read_all(int descriptor, const std::string& name, char* data, std::size_t size,
                     Offset offset) {
  std::size_t done = 0;
  while (done < size) {
    const Offset at = offset + static_cast<Offset>(done);
    const ssize_t n = retry(
        [&] { return ::pread(descriptor, data + done, std::min(size - done, max_transfer), at); });
    if (n < 0) throw_io_error("reading", name, at, errno);
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

// Number of bytes that are mapped for words.
constexpr std::size_t word_page = 4096;

// Returns the size of the file, or 0 if the file must not be mapped. A file may be mapped only on
// file systems where a store to a mapped page of the file never fails before the next sync.
Offset size_to_map(int descriptor) {
  struct stat file;
  if (::fstat(descriptor, &file) != 0 || !S_ISREG(file.st_mode)) return 0;
  return is_on_local_disk(descriptor) ? file.st_size : 0;
}

// The file to which a name refers: this file, another file, or none; `unknown` if this cannot be
// determined.
enum class Name { own, others, missing, unknown };

// Reads the type, inode number and size of a file. Does not read its times: after they are queried,
// Linux gives the next write a new time, which makes the next sync slower (by half, on ext4).
// Returns 0, or an errno value.
int read_status(int directory, const char* name, int flags, struct statx& status) {
  const unsigned wanted = STATX_TYPE | STATX_INO | STATX_SIZE;
  return ::statx(directory, name, flags, wanted, &status) == 0 ? 0 : errno;
}

struct statx status_of(int descriptor, const std::string& name) {
  struct statx status;
  if (const int error = read_status(descriptor, "", AT_EMPTY_PATH, status); error != 0)
    throw_io_error("reading the size of", name, -1, error);
  return status;
}

Offset size_in(const struct statx& status) { return static_cast<Offset>(status.stx_size); }

Name look_up(int directory, const std::string& name, const struct statx& own) {
  if (name.empty()) return Name::unknown;
  struct statx named;
  if (const int error = read_status(directory, name.c_str(), 0, named); error != 0)
    return error == ENOENT ? Name::missing : Name::unknown;
  return named.stx_ino == own.stx_ino && named.stx_dev_major == own.stx_dev_major &&
                 named.stx_dev_minor == own.stx_dev_minor
             ? Name::own
             : Name::others;
}

}  // namespace

File::File(const std::string& name, Open_Mode mode, System::Duration busy_timeout, System& system)
    : File(name, mode, AT_FDCWD, name, 0644, -1, busy_timeout, system) {}

File::File(const std::string& name, Open_Mode mode, int directory, const std::string& path,
           unsigned permissions, int model, System::Duration busy_timeout, System& system,
           bool is_device)
    : Named_File(name, mode), busy_timeout_(busy_timeout), system_(system) {
  // The limit is for file systems whose inode numbers change each time they are read: there, the
  // loop would not end.
  constexpr int max_attempts = 20;
  try {
    open_directory_of(directory, path);
    for (int attempt = 1;; ++attempt) {
      const bool is_new = open(model >= 0 ? 0600 : permissions);
      require_file(is_device);
      if (is_new && model >= 0) copy_permissions(model, descriptor_, name, Ownership::best_effort);
      lock_at_opening();
      if (has_name()) break;
      if (attempt == max_attempts) {
        forget_name();
        break;
      }
      ::close(std::exchange(descriptor_, -1));
    }
    watch();
  } catch (...) {
    close();
    throw;
  }
  if (can_sync_directory_) set_new_name();
}

// Starts to detect changes by other programs. If the file is not shared, only this object may
// change it.
void File::watch() {
  const struct statx status = status_of(descriptor_, get_name());
  const bool is_regular = S_ISREG(status.stx_mode);
  if (!is_regular) allowed_end_ = std::numeric_limits<Offset>::max();  // it has no limit
  is_watched_ = !is_readonly() && !is_shared() && is_regular;
  const Mutex_Lock lock(written_mutex_);
  end_ = is_watched_ ? size_in(status) : 0;
}

void File::close() noexcept {
  if (descriptor_ >= 0) ::close(descriptor_);
}

// The directory is opened now for two reasons: a relative path may refer to another directory
// later; and if a sync by another process fails, the error is also reported to this descriptor.
// Without read permission, this process cannot sync the directory.
void File::open_directory_of(int directory, const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string parent =
      slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
  own_name_ = slash == std::string::npos ? path : path.substr(slash + 1);
  if (own_name_.empty() && !path.empty()) own_name_ = ".";  // "NAME/" names a directory
  int opened = -1;
  if (!is_readonly()) opened = open_descriptor(directory, parent.c_str(), O_RDONLY | O_DIRECTORY);
  can_sync_directory_ = opened >= 0;
  if (opened < 0) opened = open_descriptor(directory, parent.c_str(), O_PATH | O_DIRECTORY);
  if (opened < 0) throw_io_error("opening", get_name(), -1, errno);
  directory_ = std::make_shared<const Descriptor>(opened);
}

// Returns true if the file is new. O_NONBLOCK is set so that opening a pipe or a device does not
// block.
bool File::open(unsigned permissions) {
  const auto open_with = [&](int flags) {
    return open_descriptor(directory_->number(), own_name_.c_str(), flags | O_NONBLOCK | O_NOCTTY,
                           permissions);
  };
  bool is_new = false;
  switch (get_mode()) {
    case Open_Mode::read_existing:
      descriptor_ = open_with(O_RDONLY);
      break;
    case Open_Mode::write_existing:
      descriptor_ = open_with(O_RDWR);
      break;
    case Open_Mode::create_new:
      descriptor_ = open_with(O_RDWR | O_CREAT | O_EXCL);
      is_new = true;
      break;
    case Open_Mode::write_existing_or_create_new:
    case Open_Mode::shared_write:
    case Open_Mode::write_lock:
      descriptor_ = open_with(O_RDWR | O_CREAT | O_EXCL);
      is_new = descriptor_ >= 0;
      if (descriptor_ < 0 && errno == EEXIST) descriptor_ = open_with(O_RDWR);
      // If the name is a link to a file that does not exist, the file is created where the link
      // points.
      if (descriptor_ < 0 && errno == ENOENT) descriptor_ = open_with(O_RDWR | O_CREAT);
      break;
  }
  if (descriptor_ < 0) throw_io_error("opening", get_name(), -1, errno);
  return is_new;
}

void File::require_file(bool may_be_device) const {
  struct stat status;
  if (::fstat(descriptor_, &status) != 0) return;
  if (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode))
    throw_io_error("opening as a file, but it is a pipe:", get_name(), -1, ESPIPE);
  if (!may_be_device && (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)))
    throw_io_error("opening as a file, but it is a device:", get_name(), -1, ENOTSUP);
}

// Called after waiting for a lock: if the file was replaced meanwhile, bytes written to it would be
// lost.
bool File::has_name() const {
  const Name name = look_up(directory_->number(), own_name_, status_of(descriptor_, get_name()));
  return name == Name::own || name == Name::unknown;
}

bool File::is_replaced() const {
  return look_up(directory_->number(), own_name_, status_of(descriptor_, get_name())) ==
         Name::others;
}

// ---- changes by others --------------------------------------------------------------------------

// Records the last 8 bytes of a write. Zeros are not recorded, because the file also has zeros at
// this place if another program truncates and extends it. The first 64 bytes of the file are not
// recorded, because they hold words that other programs may change, also through maps.
void File::note_written(const char* data, std::size_t size, Offset offset) {
  constexpr Offset words_size = 64;
  if (!is_watched_ || size == 0) return;
  Written written;
  const Mutex_Lock lock(written_mutex_);
  const Offset end = offset + static_cast<Offset>(size);
  end_ = std::max(end_, end);
  if (size < written.bytes.size() || offset < words_size) return;
  written.offset = end - static_cast<Offset>(written.bytes.size());
  std::memcpy(written.bytes.data(), data + size - written.bytes.size(), written.bytes.size());
  if (written.bytes != std::array<char, 8>{}) recent_ = written;
}

// Called before [start, end) is changed.
void File::forget_written(Offset start, Offset end) {
  if (!is_watched_) return;
  const Mutex_Lock lock(written_mutex_);
  for (Written* const written : {&recent_, &synced_})
    if (written->offset >= 0 && written->offset < end &&
        start < written->offset + static_cast<Offset>(written->bytes.size()))
      written->offset = -1;
}

// Another thread may be writing meanwhile. So a difference counts only if the recorded state
// (cuts_, synced_) has not changed since it was copied.
void File::require_not_replaced() const {
  Offset end;
  unsigned cuts;
  Written expected;
  {
    const Mutex_Lock lock(written_mutex_);
    end = end_;
    cuts = cuts_;
    expected = synced_;
  }
  const struct statx status = status_of(descriptor_, get_name());
  const Offset size = size_in(status);
  const Name name = look_up(directory_->number(), own_name_, status);
  if (name == Name::others) throw File_Replaced(get_name(), "was replaced by another file");
  if (name == Name::missing) throw File_Replaced(get_name(), "was removed");
  std::array<char, 8> found = expected.bytes;
  if (expected.offset >= 0 && size >= end)
    read_all(descriptor_, get_name(), found.data(), found.size(), expected.offset);
  const Mutex_Lock lock(written_mutex_);
  if (size < end && cuts == cuts_)
    throw File_Replaced(get_name(), "was truncated by another program, from " +
                                        std::to_string(end) + " to " + std::to_string(size) +
                                        " bytes");
  if (found != expected.bytes && synced_ == expected)
    throw File_Replaced(get_name(), "was overwritten by another program");
}

// ---- the file -----------------------------------------------------------------------------------

// Unlocks explicitly: closing releases the locks only if no child process has inherited the file.
File::~File() {
  unmap();
  unmap_words();
  if (!is_inherited()) try_lock(F_UNLCK, {0, 0});
  close();
}

Offset File::get_size() const { return size_in(status_of(descriptor_, get_name())); }

std::unique_ptr<Abstract_Directory> File::beside() const {
  return std::unique_ptr<Directory>(new Directory(*this));
}

static bool map_at(char* address, std::size_t size, int flags, int descriptor, Offset offset) {
  return ::mmap(address, size, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_NORESERVE | flags,
                descriptor, offset) != MAP_FAILED;
}

bool File::map_privately(char* address, std::size_t size, Offset offset) const {
  return map_at(address, size, MAP_PRIVATE, descriptor_, offset);
}

bool File::map_shared(char* address, std::size_t size, Offset offset) {
  {
    const Mutex_Lock lock(written_mutex_);
    is_watched_ = false;
    recent_ = synced_ = {};
  }
  return map_at(address, size, MAP_SHARED, descriptor_, offset);
}

// The status of a block device does not contain its size.
Offset File::find_end() const {
  const Offset end = ::lseek(descriptor_, 0, SEEK_END);
  if (end < 0) throw_io_error("reading the size of", get_name(), -1, errno);
  return end;
}

std::size_t File::pread(char* data, std::size_t size, Offset offset) const {
  return read_all(descriptor_, get_name(), data, size, offset);
}

// If the file system does not support RWF_NOWAIT, this returns false, as if no bytes were cached.
bool File::pread_cached(char* data, std::size_t size, Offset offset) const {
  const iovec part{data, size};
  return ::preadv2(descriptor_, &part, 1, offset, RWF_NOWAIT) == static_cast<ssize_t>(size);
}

std::size_t File_Slice::pread(char* data, std::size_t size, Offset offset) const {
  if (offset < 0 || offset >= size_) return 0;
  const auto left = static_cast<std::size_t>(size_ - offset);
  return read_all(descriptor_, get_name(), data, std::min(size, left), start_ + offset);
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
  ::mlock(page, word_page);  // keeps the page in memory; may fail because of a limit
}

void File::unmap_words() {
  if (words_) ::munmap(words_, word_page);
  words_ = nullptr;
  words_end_ = 0;
}

// If the words cannot be mapped into memory, they are written while the head lock is held. A
// network file system sends all earlier writes to its server before it grants a lock, so no reader
// sees a word before the bytes to which the word refers.
void File::store_words(std::span<const std::int64_t> words, Offset offset) {
  const Offset end = offset + static_cast<Offset>(words.size_bytes());
  const bool can_be_mapped = end <= static_cast<Offset>(word_page);
  if (end > words_end_ && can_be_mapped && may_map_words_) map_words(end);
  if (end > words_end_) {
    lock(F_WRLCK, head_lock, std::max(busy_timeout_, default_busy_timeout));
    struct Unlock {
      File& file;
      ~Unlock() { file.unlock(head_lock.start, head_lock.size); }
    } const at_end{*this};
    return Abstract_File::store_words(words, offset);
  }
  require_own_process();
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

// Returns how many of `size` bytes may be written at `offset`. A write past RLIMIT_FSIZE would
// raise SIGXFSZ, which by default ends the process; a library must not change the action of a
// signal. The limit is read again when the file has grown by 1 MiB.
std::size_t File::allowed(std::size_t size, Offset offset) {
  constexpr Offset step = Offset{1} << 20;
  const Offset end = offset + static_cast<Offset>(size);
  if (end <= allowed_end_.load(std::memory_order_relaxed)) return size;
  rlimit limit;
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0) return size;
  const auto max_end = static_cast<Offset>(
      std::min<rlim_t>(limit.rlim_cur, std::numeric_limits<Offset>::max() - step));
  allowed_end_.store(std::min(max_end, end + step), std::memory_order_relaxed);
  return end <= max_end ? size : static_cast<std::size_t>(std::max<Offset>(max_end - offset, 0));
}

void File::pwrite(const char* data, std::size_t size, Offset offset) {
  require_own_process();
  forget_written(offset, offset + static_cast<Offset>(size));
  std::size_t done = 0;
  while (done < size) {
    const Offset at = offset + static_cast<Offset>(done);
    const std::size_t next = allowed(std::min(size - done, max_transfer), at);
    if (next == 0) throw_io_error("writing", get_name(), at, EFBIG);
    const ssize_t n = retry([&] { return ::pwrite(descriptor_, data + done, next, at); });
    if (n <= 0) throw_io_error("writing", get_name(), at, n < 0 ? errno : ENOSPC);
    done += static_cast<std::size_t>(n);
  }
  note_written(data, size, offset);
}

// Idea: bytes_per_sync of RocksDB.
void File::start_writeback(Offset start, Offset end) noexcept {
  ::sync_file_range(descriptor_, start, end - start, SYNC_FILE_RANGE_WRITE);
}

// A sync is never retried: after a failure the kernel may have dropped the dirty pages, and a
// second call would succeed without having written them.
// require_not_replaced comes after the sync, to detect a replacement during the sync.
void File::sync_by(int (*call)(int)) {
  require_own_process();
  Written recent;
  {
    const Mutex_Lock lock(written_mutex_);
    recent = recent_;
  }
  if (call(descriptor_) != 0) throw_io_error("syncing", get_name(), -1, errno);
  require_not_replaced();
  const Mutex_Lock lock(written_mutex_);
  if (recent == recent_) synced_ = recent;  // otherwise a concurrent write may have overwritten it
}

void File::sync_content() { sync_by(::fsync); }
void File::datasync_content() { sync_by(::fdatasync); }

void File::set_own_name() {
  own_name_ = base_name();
  if (can_sync_directory_) set_new_name();
}

// If the name is a link, the directory of the target of the link must be synced, because it
// contains the name of the file.
void File::sync_directory() {
  bool is_synced = ::fsync(directory_->number()) == 0;
  struct stat named;
  if (is_synced &&
      ::fstatat(directory_->number(), own_name_.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
      S_ISLNK(named.st_mode)) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    const fs::path path =
        fs::read_symlink("/proc/self/fd/" + std::to_string(descriptor_), ignored).parent_path();
    const Descriptor target(open_descriptor(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY));
    is_synced = !target.is_open() || ::fsync(target.number()) == 0;
  }
  if (!is_synced) throw_io_error("syncing the directory of", get_name(), -1, errno);
}

bool File::truncate(Offset size) {
  require_own_process();
  if (is_watched_) {
    const Mutex_Lock lock(written_mutex_);
    // The truncation is counted before the file changes, so that a concurrent sync does not report
    // it as a truncation by another program.
    ++cuts_;
    end_ = std::min(end_, size);
  }
  forget_written(size, std::numeric_limits<Offset>::max());
  if (size < words_end_) {
    words_end_ = size;
    may_map_words_ = true;  // words can be mapped again when the file has grown
  }
  // ftruncate would also raise SIGXFSZ if the file grew past RLIMIT_FSIZE.
  if (size > 0 && allowed(1, size - 1) == 0 && size > get_size())
    throw_io_error("truncating", get_name(), size, EFBIG);
  if (retry([&] { return ::ftruncate(descriptor_, size); }) != 0)
    throw_io_error("truncating", get_name(), size, errno);
  return true;
}

void File::touch() {
  require_own_process();
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

Device_File::Device_File(const std::string& name, Open_Mode mode, System::Duration busy_timeout)
    : File(name, existing_device(name, mode), AT_FDCWD, name, 0644, -1, busy_timeout,
           System::real(), true),
      capacity_(find_end()) {}

void Device_File::pwrite(const char* data, std::size_t size, Offset offset) {
  if (offset + static_cast<Offset>(size) > capacity_)
    throw_io_error("writing", get_name(), offset, ENOSPC);
  File::pwrite(data, size, offset);
}

}  // namespace joedb::inline v1
