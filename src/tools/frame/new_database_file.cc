#include "tools/frame/new_database_file.h"

#include <cerrno>
#include <filesystem>

#include "joedb/base/log.h"
#include "joedb/table/load.h"
#include "kernel/io/unnamed_file.h"
#include "tools/frame/output.h"
#include "tools/frame/source.h"

namespace joedb {

namespace fs = std::filesystem;

// Returns true if `kept` is another name of the file, because a process was killed before it
// replaced the file.
static bool has_name(const std::string& path, const std::string& kept) {
  if (kept.empty()) return false;
  std::error_code ignored;
  const fs::path own = fs::absolute(path, ignored), other = fs::absolute(kept, ignored);
  const bool is_own = own.filename() == other.filename() &&
                      fs::equivalent(own.parent_path(), other.parent_path(), ignored);
  return !is_own && !fs::is_symlink(other, ignored) && fs::equivalent(own, other, ignored);
}

static void require_one_name(const std::string& path, const std::string& kept) {
  const auto names = fs::hard_link_count(path);
  if (names == (has_name(path, kept) ? 2 : 1)) return;
  throw Exception("the file has " + std::to_string(names) +
                  " names (hard links), and the others would keep the old content. Remove them, "
                  "or write to another file");
}

static void require_alone(File& file) {
  if (file.try_exclusive_lock(presence_lock.start, presence_lock.size)) return;
  throw Exception(
      file.get_name() +
      ": another process has the file open, and would keep using the old file: stop it first");
}

New_Database_File::New_Database_File(const std::string& name, Existing existing,
                                     const std::string& kept)
    : path_(existing == Existing::refuse ? file_to_create(name) : file_to_replace(name)),
      existing_(existing),
      kept_(kept) {
  const bool is_rewritten = existing == Existing::rewrite;
  std::error_code ignored;
  const bool is_locked =
      existing == Existing::replace && !is_classic() && fs::exists(path_, ignored);
  if (!is_rewritten && !is_locked) return;
  try {
    replaced_ = std::make_unique<File>(path_, Open_Mode::write_existing);
  } catch (const Io_Error& error) {
    if (!is_rewritten && (error.code == EACCES || error.code == EROFS)) return;
    throw;
  }
  if (is_rewritten && replaced_->get_size() == 0)
    throw Exception("the file is empty; it is not a database");
  require_alone(*replaced_);
  if (is_rewritten) require_one_name(path_, kept_);
}

Offset New_Database_File::write(const Fill& fill) {
  const auto write_to = [&](New_File&& made) {
    fill(made);
    const Offset size = made.get_size();
    publish(made);
    return size;
  };
  return existing_ == Existing::rewrite
             ? write_to(New_File(*replaced_))
             : write_to(New_File(path_, existing_ == Existing::replace
                                            ? New_File::Existing::replace
                                            : New_File::Existing::refuse));
}

// Keeps the replaced file by a hard link, which is removed if that file still has its own name.
// Syncs the new file first, so that a killed process is unlikely to leave the link.
void New_Database_File::publish(New_File& file) {
  std::error_code error;
  if (!kept_.empty()) {
    file.sync();
    if (!has_name(path_, kept_)) fs::create_hard_link(path_, kept_, error);
    if (error) throw_io_error("keeping " + path_ + " as", kept_, -1, error.value());
  }
  try {
    if (replaced_) remove_snapshots(file);
    file.publish();
  } catch (...) {
    if (has_name(path_, kept_)) fs::remove(kept_, error);
    throw;
  }
}

Journal_Options options_of_new_file() {
  Journal_Options options;
  options.has_integrity = !is_classic();
  return options;
}

void write_journal(Abstract_File& file, const std::function<void(Writable_Journal&)>& fill,
                   const Journal_Options& options) {
  Writable_Journal journal(file, options);
  try {
    fill(journal);
  } catch (...) {
    Destructor_Logger::remove_logger();
    throw;
  }
}

void write_new_database(const std::string& name, bool force,
                        const std::function<void(Writable_Journal&)>& fill) {
  using Existing = New_Database_File::Existing;
  require_absent(name, force);
  if (!is_classic()) require_writable_output(name);
  const auto write = [&](Abstract_File& file) {
    write_journal(file, [&](Writable_Journal& journal) {
      fill(journal);
      journal.checkpoint(is_classic() ? Checkpoint_Level::soft : Checkpoint_Level::hard);
    });
  };
  const bool is_compressed = !is_classic() && is_zstd_name(name);
  New_Database_File made(name, force ? Existing::replace : Existing::refuse);
  made.write([&](New_File& file) {
    if (!is_compressed) return write(file);
    Unnamed_File unpacked(name);
    write(unpacked);
    write_packed(unpacked, file);
  });
}

}  // namespace joedb
