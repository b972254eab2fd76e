#include "kernel/io/new_file.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "kernel/base/parse_number.h"
#include "kernel/io/descriptor.h"
#include "kernel/io/lock_wait.h"

namespace joedb::inline v1 {

namespace {

// ---- signals ------------------------------------------------------------------------------------

constexpr std::array fatal_signals{SIGINT, SIGTERM, SIGHUP};

// The file and the directory that the signal handler removes; empty if there are none. These
// variables change only while the signals are blocked.
char signal_path[PATH_MAX];
char signal_folder[PATH_MAX];
std::array<struct sigaction, fatal_signals.size()> old_actions;

void restore_actions() {
  for (std::size_t i = 0; i < fatal_signals.size(); ++i)
    ::sigaction(fatal_signals[i], &old_actions[i], nullptr);
}

// Calls only async-signal-safe functions.
void remove_and_raise(int signal) {
  ::unlink(signal_path);
  if (signal_folder[0] != 0) ::rmdir(signal_folder);
  restore_actions();
  ::raise(signal);  // delivered when this handler returns
}

class Blocked_Signals {
 public:
  Blocked_Signals() {
    sigset_t signals;
    ::sigemptyset(&signals);
    for (const int signal : fatal_signals) ::sigaddset(&signals, signal);
    ::pthread_sigmask(SIG_BLOCK, &signals, &old_);
  }
  ~Blocked_Signals() { ::pthread_sigmask(SIG_SETMASK, &old_, nullptr); }
  Blocked_Signals(const Blocked_Signals&) = delete;
  Blocked_Signals& operator=(const Blocked_Signals&) = delete;

 private:
  sigset_t old_;
};

void remove_at_signal(const std::string& path, const std::string& folder) {
  if (signal_path[0] != 0 || std::max(path.size(), folder.size()) >= PATH_MAX) return;
  std::strcpy(signal_path, path.c_str());
  std::strcpy(signal_folder, folder.c_str());
  for (std::size_t i = 0; i < fatal_signals.size(); ++i) {
    ::sigaction(fatal_signals[i], nullptr, &old_actions[i]);
    if (old_actions[i].sa_handler == SIG_IGN) continue;  // nohup, for example
    struct sigaction action {};
    action.sa_handler = remove_and_raise;
    action.sa_flags = SA_ONSTACK;  // see guarded_map.cc
    ::sigaction(fatal_signals[i], &action, nullptr);
  }
}

void keep_at_signal(const std::string& path) {
  if (path != signal_path) return;
  signal_path[0] = 0;
  restore_actions();
}

// ---- names --------------------------------------------------------------------------------------

// Renames a file. Fails with EEXIST if the new name exists.
int rename_to_new(const char* from, const char* to) {
  if (::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return -1;
  // This file system has no RENAME_NOREPLACE. The two steps are a race: another process may create
  // the file between them.
  if (::access(to, F_OK) == 0) return errno = EEXIST, -1;
  return ::rename(from, to);
}

}  // namespace

Temporary_Path::Temporary_Path(std::string path, std::string folder)
    : path_(std::move(path)), folder_(std::move(folder)) {
  const Blocked_Signals blocked;
  remove_at_signal(path_, folder_);
}

Temporary_Path::~Temporary_Path() {
  if (stays_) return;
  const Blocked_Signals blocked;
  ::unlink(path_.c_str());
  if (!folder_.empty()) ::rmdir(folder_.c_str());
  keep_at_signal(path_);
}

void Temporary_Path::rename_to(const std::string& name, bool may_replace) {
  const Blocked_Signals blocked;
  const int result = may_replace ? ::rename(path_.c_str(), name.c_str())
                                 : rename_to_new(path_.c_str(), name.c_str());
  if (result != 0) throw_io_error("renaming a temporary file to", name, -1, errno);
  stays_ = true;
  keep_at_signal(path_);
}

void Temporary_Path::keep() {
  const Blocked_Signals blocked;
  stays_ = true;
  keep_at_signal(path_);
}

// ---- temporary files of processes that have ended ----------------------------------------------

// Removes a temporary file, unless a process may be writing it. A process that writes the file
// holds its tail lock; but on a network file system, a lock of another machine may not be visible.
// Returns true if there is no file of this name afterwards.
static bool remove_left(const std::string& path) {
  const Descriptor left(
      open_descriptor(AT_FDCWD, path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  if (!left.is_open()) return errno == ENOENT;
  struct stat status;
  if (::fstat(left.number(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  struct stat named;
  return is_on_local_disk(left.number()) && try_lock(left.number(), F_WRLCK, tail_lock) &&
         ::lstat(path.c_str(), &named) == 0 && named.st_ino == status.st_ino &&
         ::unlink(path.c_str()) == 0;
}

// True if the process whose number is in a name of temporary_path() may be running. `digits` follow
// the prefix of the name, and are "12" or "12-2", for example.
static bool is_running(std::string_view digits) {
  constexpr pid_t most = 1 << 22;  // pid_max (proc(5)): a larger number is not of a process
  const auto process = parse_number<pid_t>(digits.substr(0, digits.find('-')));
  return !process || *process <= 0 || *process > most || digits.front() == '0' ||
         ::kill(*process, 0) == 0 || errno != ESRCH;
}

// Returns an unused path for a temporary file beside `name`. The process number alone is not
// enough, because programs in two containers may have the same number. Removes the temporary files
// of processes that have ended.
static std::string temporary_path(const std::string& name) {
  namespace fs = std::filesystem;
  const std::string prefix = name + ".tmp-";
  const std::string file_prefix = fs::path(prefix).filename().string();
  const fs::path folder = fs::path(name).parent_path();
  std::error_code error;
  for (fs::directory_iterator entry(folder.empty() ? "." : folder, error), end;
       !error && entry != end; entry.increment(error)) {
    const std::string found = entry->path().filename().string();
    if (found.starts_with(file_prefix) && !is_running(found.substr(file_prefix.size())))
      remove_left(entry->path().string());
  }
  constexpr int max_number = 1000;
  const std::string own = prefix + std::to_string(::getpid());
  std::string path = own;
  for (int number = 2; !remove_left(path) && number <= max_number; ++number)
    path = own + '-' + std::to_string(number);
  return path;
}

// ---- a new file ---------------------------------------------------------------------------------

static const std::string& require_new(const std::string& name, New_File::Existing existing) {
  if (existing == New_File::Existing::refuse && ::access(name.c_str(), F_OK) == 0)
    throw_io_error("opening", name, -1, EEXIST);
  return name;
}

// Opens the file that will be replaced, to copy its permissions. O_PATH works even for files that
// this user cannot read.
static Descriptor find(const std::string& name, New_File::Existing existing) {
  const bool is_replaced = existing == New_File::Existing::replace;
  return Descriptor(is_replaced ? open_descriptor(AT_FDCWD, name.c_str(), O_PATH) : -1);
}

New_File::New_File(const std::string& name, Existing existing, unsigned permissions)
    : New_File(require_new(name, existing), existing, permissions, find(name, existing)) {}

New_File::New_File(const std::string& name, Existing existing, unsigned permissions,
                   const Descriptor& replaced)
    : Temporary_Path(temporary_path(name)),
      File(name, Open_Mode::create_new, AT_FDCWD, path(), permissions, replaced.number()),
      existing_(existing) {}

New_File::New_File(const File& replaced)
    : Temporary_Path(temporary_path(replaced.get_name())),
      File(replaced.get_name(), Open_Mode::create_new, AT_FDCWD, path(), 0600),
      existing_(Existing::replace) {
  const Descriptor old = find(replaced.get_name(), existing_);
  if (!old.is_open()) throw_io_error("reading the owner of", replaced.get_name(), -1, ENOENT);
  copy_permissions(old.number(), descriptor(), replaced.get_name(), Ownership::required);
}

void New_File::take_permissions(const Abstract_File& model) {
  if (dynamic_cast<const File*>(&model) == nullptr) return;
  const Descriptor found = find(model.get_name(), Existing::replace);
  if (found.is_open())
    copy_permissions(found.number(), descriptor(), get_name(), Ownership::best_effort);
}

std::string make_temporary_folder() {
  std::string path = (std::filesystem::temp_directory_path() / "joedb-XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr) throw_io_error("creating", path, -1, errno);
  return path;
}

// The content is synced before the file is renamed. Otherwise, after a power cut, the new name
// could refer to an incomplete file.
void New_File::publish() {
  sync();
  rename_to(get_name(), existing_ == Existing::replace);
  set_own_name();
  sync_name();
}

void fill_new_file(const std::string& name, New_File::Existing existing,
                   const std::function<void(New_File&)>& fill, unsigned permissions) {
  const bool may_replace = existing == New_File::Existing::replace;
  New_File file(may_replace ? file_to_replace(name) : file_to_create(name), existing, permissions);
  fill(file);
  file.publish();
}

void write_new_file(const std::string& name, New_File::Existing existing, std::string_view text,
                    unsigned permissions) {
  fill_new_file(
      name, existing, [&](New_File& file) { file.pwrite(text.data(), text.size(), 0); },
      permissions);
}

// ---- a text -------------------------------------------------------------------------------------

static std::string new_text_path(const std::string& suffix) {
  std::random_device random;
  const std::string name = "joedb-" + std::to_string(::getpid()) + '-' + std::to_string(random());
  return (std::filesystem::temp_directory_path() / (name + suffix)).string();
}

Temporary_Text::Temporary_Text(const std::string& suffix, std::string_view text)
    : Temporary_Path(new_text_path(suffix)) {
  // A plain descriptor is used, because a File would take locks.
  const int file = open_descriptor(AT_FDCWD, path().c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (file < 0) throw_io_error("opening", path(), -1, errno);
  while (!text.empty()) {
    const ssize_t n = ::write(file, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const int error = n < 0 ? errno : ENOSPC;
      ::close(file);
      throw_io_error("writing", path(), -1, error);
    }
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  if (::close(file) != 0) throw_io_error("writing", path(), -1, errno);
}

void Temporary_Text::remove() {
  keep();
  ::unlink(path().c_str());
}

std::string Temporary_Text::read() const {
  std::ifstream in(path(), std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in.is_open() || in.bad()) throw_io_error("opening", path(), -1, errno);
  return text;
}

std::string file_to_create(const std::string& name) {
  namespace fs = std::filesystem;
  constexpr int max_links = 40;  // the limit of Linux
  std::error_code error;
  fs::path path = name;
  for (int i = 0; i < max_links && !fs::exists(path, error) && fs::is_symlink(path, error); ++i)
    path = path.parent_path() / fs::read_symlink(path, error);
  return path.string();
}

void require_folder_for_new_file(const std::string& name) {
  const std::string folder = std::filesystem::path(file_to_create(name)).parent_path().string();
  if (::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0)
    throw_io_error("opening", name, -1, errno);
}

std::string file_to_replace(const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (!fs::exists(name, ignored)) return file_to_create(name);
  if (!fs::is_regular_file(name, ignored))
    throw Exception(name + ": is no regular file, and cannot be replaced; write to another file");
  return fs::is_symlink(name, ignored) ? fs::canonical(name).string() : name;
}

}  // namespace joedb::inline v1
