#include "sim/lab/sim_file.h"

#include <algorithm>

#include "joedb/format/header.h"

namespace joedb::testing {

static constexpr std::size_t word_size = 8;

static std::string lock_name(Offset start) {
  if (start == head_lock.start) return "head";
  if (start == presence_lock.start) return "presence";
  return start == tail_lock.start ? "tail" : std::to_string(start);
}

// ---- Sim_Disk -----------------------------------------------------------------------------------

void Sim_Disk::change(Sim_Operation operation) {
  history_.push_back(std::move(operation));
  state_.advance(history_);
  ++identity_.change;
}

Sim_Disk Sim_Disk::at(std::size_t io_count) const {
  Sim_Disk disk(start_);
  for (std::size_t i = 0; i < io_count; ++i) disk.change(history_.at(i));
  return disk;
}

std::string Sim_Disk::power_cut(std::uint64_t seed) const {
  Random random(seed);
  return state_.power_cut(history_, Sim_Fill::zeros, random);
}

Sim_Disk Sim_Disk::after_power_cut(std::uint64_t seed) const {
  Random random(seed);
  const auto fill = static_cast<Sim_Fill>(random.below(sim_fill_count));
  std::string image = state_.power_cut(history_, fill, random);
  if (!state_.has_durable_name() && random.flip()) image.clear();
  Sim_Disk disk(std::move(image), folder_.power_cut(random));
  disk.set_identity({identity_.file, identity_.change + 1});
  return disk;
}

bool Sim_Disk::is_free(const Lock& wanted) const {
  return std::none_of(locks_.begin(), locks_.end(), [&](const Lock& lock) {
    return lock.owner != wanted.owner && !lock.process->is_killed() && lock.start == wanted.start &&
           (lock.is_exclusive || wanted.is_exclusive);
  });
}

bool Sim_Disk::has_exclusive_lock(const Abstract_File* owner, Offset start) const {
  return std::any_of(locks_.begin(), locks_.end(), [&](const Lock& lock) {
    return lock.owner == owner && lock.start == start && lock.is_exclusive;
  });
}

void Sim_Disk::unlock(const Abstract_File* owner, Offset start) {
  std::erase_if(locks_,
                [&](const Lock& lock) { return lock.owner == owner && lock.start == start; });
}

std::string Sim_Disk::take_calls() {
  std::string text;
  for (const Call& call : calls_) {
    const std::string_view name = call.name;
    text += name;
    if (name == "read" || name == "write")
      text += " " + std::to_string(call.size) + "@" + std::to_string(call.offset);
    else if (name == "truncate")
      text += " " + std::to_string(call.offset);
    else if (name == "share" || name == "lock" || name == "unlock")
      text += " " + lock_name(call.offset);
    text += "\n";
  }
  calls_.clear();
  return text;
}

// ---- Sim_File -----------------------------------------------------------------------------------

Sim_File::Sim_File(Sim_Disk& disk, Open_Mode mode)
    : Sim_File(disk, mode, std::make_shared<Sim_Process>()) {}

Sim_File::Sim_File(Sim_Disk& disk, Open_Mode mode, std::shared_ptr<Sim_Process> process)
    : Named_File("sim", mode), disk_(disk), process_(std::move(process)) {
  if (!is_readonly()) set_new_name();
  if (disk_.faults_.fails(Sim_Fault::Calls::opens))
    throw_io_error("opening", get_name(), -1, disk_.faults_.fault().code);
  if (!is_readonly() && !is_shared()) {
    if (!disk_.is_free({this, process_.get(), tail_lock.start, true}))
      throw_io_error("locking", get_name(), -1, EAGAIN);
    lock(tail_lock.start, true);
  }
  disk_.locks_.push_back({this, process_.get(), presence_lock.start, false});
}

Sim_File::~Sim_File() {
  std::erase_if(disk_.locks_, [&](const auto& lock) { return lock.owner == this; });
}

Offset Sim_File::get_size() const {
  process_->require_alive();
  disk_.calls_.push_back({"size", 0, 0});
  if (disk_.faults_.fails(Sim_Fault::Calls::sizes))
    throw_io_error("reading the size of", get_name(), -1, disk_.faults_.fault().code);
  return static_cast<Offset>(disk_.content().size());
}

std::size_t Sim_File::pread(char* data, std::size_t size, Offset offset) const {
  process_->require_alive();
  disk_.calls_.push_back({"read", offset, size});
  if (disk_.faults_.fails(Sim_Fault::Calls::reads))
    throw_io_error("reading", get_name(), offset, disk_.faults_.fault().code);
  if (offset < 0 || static_cast<std::size_t>(offset) >= disk_.content().size()) return 0;
  return disk_.content().copy(data, size, static_cast<std::size_t>(offset));
}

void Sim_File::require_tail_lock() const {
  if (is_shared() && !disk_.has_exclusive_lock(this, tail_lock.start))
    throw std::logic_error("a shared file is changed by a process that has not locked its tail");
}

// Throws if the process dies or the fault occurs. A failing write leaves its written part.
void Sim_File::change(Sim_Operation operation) {
  process_->begin_change();
  if (operation.kind == Sim_Operation::Kind::write ||
      operation.kind == Sim_Operation::Kind::truncate)
    require_tail_lock();
  using Calls = Sim_Fault::Calls;
  const Calls calls = operation.kind == Sim_Operation::Kind::write      ? Calls::writes
                      : operation.kind == Sim_Operation::Kind::truncate ? Calls::truncations
                                                                        : Calls::syncs;
  const bool kind_fails = disk_.faults_.fails(calls);
  if (disk_.faults_.fails(Calls::changes) || kind_fails) fail(operation);
  if (disk_.ignores_syncs_ && calls == Calls::syncs) return;
  disk_.change(std::move(operation));
}

void Sim_File::fail(const Sim_Operation& operation) {
  const Sim_Fault& fault = disk_.faults_.fault();
  if (operation.kind == Sim_Operation::Kind::sync) {
    disk_.change({Sim_Operation::Kind::failed_sync, 0, {}});
    throw_io_error("syncing", get_name(), -1, fault.code);
  }
  if (operation.kind == Sim_Operation::Kind::sync_directory) {
    disk_.change({Sim_Operation::Kind::failed_directory_sync, 0, {}});
    throw_io_error("syncing the directory of", get_name(), -1, fault.code);
  }
  if (operation.kind == Sim_Operation::Kind::truncate)
    throw_io_error("truncating", get_name(), operation.offset, fault.code);
  if (std::string part = written_part(operation, fault); !part.empty())
    disk_.change({Sim_Operation::Kind::write, operation.offset, std::move(part), true});
  throw_io_error("writing", get_name(), operation.offset, fault.code);
}

// Stores checkpoint words one by one, like File.
void Sim_File::pwrite(const char* data, std::size_t size, Offset offset) {
  process_->require_alive();
  disk_.calls_.push_back({"write", offset, size});
  while (!is_shared() && size > word_size &&
         offset + static_cast<Offset>(size) <= static_cast<Offset>(checkpoint_words_size)) {
    change({Sim_Operation::Kind::write, offset, std::string(data, word_size)});
    data += word_size;
    size -= word_size;
    offset += static_cast<Offset>(word_size);
  }
  change({Sim_Operation::Kind::write, offset, std::string(data, size)});
}

bool Sim_File::map(Offset start, Offset end) {
  process_->require_alive();
  if (start % map_page != 0 || end > static_cast<Offset>(disk_.content().size()))
    throw std::logic_error("a map beyond the end of the file");
  map_start_ = start;
  map_end_ = end;
  return true;
}

void Sim_File::store(const char* data, std::size_t size, Offset offset) {
  process_->require_alive();
  require_tail_lock();
  const Offset end = offset + static_cast<Offset>(size);
  if (offset < map_start_ || end > map_end_ || end > static_cast<Offset>(disk_.content().size()))
    throw std::logic_error("a store beyond the map, or the end of the file");
  const std::string_view bytes(data, size);
  const std::size_t half = size / 2;
  for (const std::size_t start : {half, std::size_t{0}}) {
    const std::string_view part = start == half ? bytes.substr(half) : bytes.substr(0, half);
    process_->begin_change();
    disk_.change(
        {Sim_Operation::Kind::write, offset + static_cast<Offset>(start), std::string(part)});
    if (half == 0) return;
  }
}

void Sim_File::sync_content() {
  process_->require_alive();
  disk_.calls_.push_back({"sync", 0, 0});
  change({Sim_Operation::Kind::sync, 0, {}});
}

void Sim_File::datasync_content() {
  process_->require_alive();
  disk_.calls_.push_back({"datasync", 0, 0});
  change({Sim_Operation::Kind::sync, 0, {}});
}

void Sim_File::sync_directory() {
  process_->require_alive();
  disk_.calls_.push_back({"sync directory", 0, 0});
  change({Sim_Operation::Kind::sync_directory, 0, {}});
}

bool Sim_File::truncate(Offset size) {
  process_->require_alive();
  disk_.calls_.push_back({"truncate", size, 0});
  change({Sim_Operation::Kind::truncate, size, {}});
  return true;
}

void Sim_File::lock(Offset start, bool is_exclusive) {
  process_->require_alive();
  if (disk_.faults_.fails(Sim_Fault::Calls::locks))
    throw_io_error("locking", get_name(), -1, disk_.faults_.fault().code);
  if (!disk_.is_free({this, process_.get(), start, is_exclusive}))
    throw std::logic_error("this lock would wait for ever: " + lock_name(start));
  disk_.unlock(this, start);
  disk_.locks_.push_back({this, process_.get(), start, is_exclusive});
}

void Sim_File::shared_lock(Offset start, Offset) {
  disk_.calls_.push_back({"share", start, 0});
  lock(start, false);
}

void Sim_File::exclusive_lock(Offset start, Offset) {
  disk_.calls_.push_back({"lock", start, 0});
  lock(start, true);
}

void Sim_File::unlock(Offset start, Offset) noexcept {
  disk_.calls_.push_back({"unlock", start, 0});
  disk_.unlock(this, start);
}

bool Sim_File::try_exclusive_lock(Offset start, Offset) {
  disk_.calls_.push_back({"try", start, 0});
  if (!disk_.is_free({this, process_.get(), start, true})) return false;
  lock(start, true);
  return true;
}

class Sim_File::Beside final : public Abstract_Directory {
 public:
  explicit Beside(const Sim_File& file) : file_(file), folder_(file.disk_.folder_) {}

  const std::string& get_name() const override { return file_.get_name(); }
  std::vector<std::string> list() const override { return folder_.list(*file_.process_); }
  std::unique_ptr<Abstract_File> open(const std::string& name, Open_Mode mode) override {
    file_.process_->require_alive();
    if (name.empty())
      return std::unique_ptr<Sim_File>(new Sim_File(file_.disk_, mode, file_.process_));
    return folder_.open(name, get_name() + name, mode, file_.process_);
  }
  void remove(const std::string& name) override { remove_durably(name); }
  void rename(const std::string& from, const std::string& to) override {
    folder_.rename(from, to, *file_.process_);
  }
  void remove_durably(const std::string& name) override { folder_.remove(name, *file_.process_); }

 private:
  const Sim_File& file_;
  Sim_Folder& folder_;
};

std::unique_ptr<Abstract_Directory> Sim_File::beside() const {
  return std::make_unique<Beside>(*this);
}

std::string words_text(std::string_view file) {
  if (file.size() < checkpoint_words_size) return "no header";
  std::array<char, checkpoint_words_size> bytes;
  file.copy(bytes.data(), bytes.size());
  std::string text;
  for (const std::int64_t word : decode_checkpoints(bytes)) text += std::to_string(word) + " ";
  text.pop_back();
  return text;
}

}  // namespace joedb::testing
