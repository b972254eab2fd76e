#include "kernel/journal/late_file.h"

#include <array>
#include <cerrno>
#include <filesystem>

#include "joedb/format/header.h"
#include "kernel/io/new_file.h"

namespace joedb::inline v1 {

namespace fs = std::filesystem;

// A file that another program is making may have a part of its header only.
static bool is_there(const std::string& name) {
  std::error_code error;
  const auto size = fs::file_size(name, error);
  return !error && size >= header_size;
}

// Makes a database without entries under this name. Returns null if there is a file.
static std::unique_ptr<New_File> make(const std::string& name, const Memory_File& content) {
  try {
    auto made = std::make_unique<New_File>(file_to_create(name), New_File::Existing::refuse);
    made->pwrite(content.get_data().data(), content.get_data().size(), 0);
    made->publish();
    return made;
  } catch (const Io_Error& error) {
    if (error.code == EEXIST) return nullptr;
    throw;
  }
}

// Opens a file that another program may have made.
static std::unique_ptr<File> open_made(const std::string& name, Open_Mode mode,
                                       System::Duration busy_timeout) {
  auto file = std::make_unique<File>(name, mode, busy_timeout);
  std::array<char, header_size> bytes{};
  file->pread(bytes.data(), bytes.size(), 0);
  const Header header = decode_header(bytes);
  if (!header.has_signature() || header.version != format_version)
    throw Corruption_Error(name +
                               ": another program has made this file meanwhile, and it does not "
                               "begin with the header of a joedb file",
                           0, name);
  return file;
}

Late_File::Late_File(const std::string& name, Open_Mode mode, System::Duration busy_timeout)
    : Abstract_File(name, mode), busy_timeout_(busy_timeout) {
  require_folder_for_new_file(name);
  const auto header = encode_header(Header());
  draft_.pwrite(header.data(), header.size(), 0);
}

File* Late_File::find_file(Abstract_File& file) {
  if (auto* const late = dynamic_cast<Late_File*>(&file)) return late->file_.get();
  return dynamic_cast<File*>(&file);
}

// The new file keeps the locks of a file that this process has alone.
void Late_File::ensure_exists() {
  if (file_ || is_readonly()) return;
  auto made = make(get_name(), draft_);
  if (is_shared()) {
    made.reset();
    file_ = open_made(get_name(), get_mode(), busy_timeout_);
  } else if (made) {
    file_ = std::move(made);
  } else {
    throw Exception(get_name() + ": another program has made it meanwhile; open it again");
  }
}

// An exclusive writer would take the new file's content for its own.
void Late_File::open_if_there() {
  if (file_ || (!is_shared() && !is_readonly()) || !is_there(get_name())) return;
  file_ = open_made(get_name(), get_mode(), busy_timeout_);
}

void Late_File::pwrite(const char* data, std::size_t size, Offset offset) {
  if (offset + static_cast<Offset>(size) > journal_start) ensure_exists();
  current().pwrite(data, size, offset);
}

void Late_File::shared_lock(Offset start, Offset size) {
  open_if_there();
  current().shared_lock(start, size);
}

void Late_File::exclusive_lock(Offset start, Offset size) {
  open_if_there();
  current().exclusive_lock(start, size);
}

bool Late_File::try_exclusive_lock(Offset start, Offset size) {
  open_if_there();
  return current().try_exclusive_lock(start, size);
}

void Late_File::set_busy_timeout(System::Duration timeout) {
  busy_timeout_ = timeout;
  if (file_) file_->set_busy_timeout(timeout);
}

std::unique_ptr<Abstract_File> Late_File::reopen(Open_Mode mode) const {
  if (file_) return file_->reopen(mode);
  if (mode != Open_Mode::read_existing)
    make(get_name(), draft_);
  else if (!is_there(get_name()))
    return nullptr;
  return std::make_unique<File>(get_name(), mode, busy_timeout_);
}

}  // namespace joedb::inline v1
