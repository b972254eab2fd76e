#include "kernel/table/snapshot_source.h"

#include <chrono>
#include <exception>
#include <system_error>

#include "joedb/base/log.h"
#include "joedb/io/posix_file.h"
#include "kernel/io/guarded_map.h"

namespace joedb::inline v1 {

namespace {
struct Stopped {};
}  // namespace

Snapshot_Source::Snapshot_Source(std::shared_ptr<const Snapshot_File> file)
    : file_(std::move(file)) {}

Snapshot_Source::~Snapshot_Source() {
  if (process_.is_inherited()) {
    keep_until_exit(std::make_shared<std::thread>(std::move(thread_)));
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    must_stop_ = true;
  }
  stopping_->notify_all();
  if (thread_.joinable()) thread_.join();
  if (is_damaged_ && !is_reported_) Destructor_Logger::warning(damage_);
}

void Snapshot_Source::note_damage(const std::string& reason, Offset offset) {
  const std::string name = file_->file().get_name();
  const std::lock_guard lock(mutex_);
  if (damage_.empty())
    damage_ = name + " is damaged at offset " + std::to_string(offset) + ": " + reason +
              ". Values that were read from it may be wrong. Close the database; joedb_snapshot "
              "writes it again from the journal, joedb_snapshot --remove removes it";
  damage_offset_ = offset;
  is_damaged_ = true;
  Guarded_Map::note_damage();
}

void Snapshot_Source::verify() {
  try {
    file_->verify();
  } catch (const Corruption_Error& error) {
    note_damage(error.reason(), error.offset);
  }
  require_good();
}

void Snapshot_Source::require_good() {
  if (!is_damaged_) return;
  const std::lock_guard lock(mutex_);
  is_reported_ = true;
  throw Corruption_Error(damage_, damage_offset_, file_->file().get_name());
}

void Snapshot_Source::verify_in_background(const Abstract_File& journal) {
  if (thread_.joinable() || dynamic_cast<const File*>(&file_->file()) == nullptr) return;
  try {
    if (!file_->is_unchanged(journal)) journal_ = journal.reopen(Open_Mode::read_existing);
    if (!journal_ && file_->size_of_sections() <= verified_at_opening) return;
    thread_ = std::thread([this] { run(); });
  } catch (const Io_Error&) {           // the journal file was removed or renamed
  } catch (const std::system_error&) {  // too many threads
  }
}

void Snapshot_Source::run() noexcept {
  using namespace std::chrono_literals;
  constexpr auto pause = 100ms;
  const auto stops_within = [&](std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return stopping_->wait_for(lock, time, [&] { return must_stop_; });
  };
  const auto check_stop = [&](Offset, Offset) {
    if (stops_within(0ms)) throw Stopped();
  };
  try {
    if (stops_within(pause)) return;
    file_->verify(check_stop);
    if (journal_ && !file_->fits_wholly(*journal_, check_stop))
      note_damage("it belongs to another journal", 0);
  } catch (const Corruption_Error& error) {
    note_damage(error.reason(), error.offset);
  } catch (const Stopped&) {
  } catch (const std::exception&) {  // not damage: a read failed, or there is no memory
  }
  journal_.reset();
}

}  // namespace joedb::inline v1
