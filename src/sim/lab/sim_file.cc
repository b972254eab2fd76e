#include "sim/lab/sim_file.h"

#include <algorithm>

#include "joedb/format/header.h"

namespace joedb::testing {

using Calls = Sim_Fault::Calls;

static constexpr std::size_t word_size = 8;

static std::string lock_name(Offset start) {
  if (start == head_lock.start) return "head";
  if (start == presence_lock.start) return "presence";
  return start == tail_lock.start ? "tail" : std::to_string(start);
}

// ---- Sim_Node -----------------------------------------------------------------------------------

void Sim_Node::change(Sim_Operation operation) {
  if (operation.kind == Sim_Operation::Kind::truncate) free_blocks(operation.offset);
  history_.push_back(std::move(operation));
  state_.advance(history_);
  ++identity_.change;
}

bool Sim_Node::has_block(Offset offset) const {
  const Offset start = offset / block_size_ * block_size_;
  bool result = start < static_cast<Offset>(start_.size());
  for (const Sim_Operation& operation : history_) {
    if (operation.kind == Sim_Operation::Kind::truncate)
      result = result && operation.offset > start;
    else if (operation.kind == Sim_Operation::Kind::write)
      result = result || (operation.offset < start + block_size_ &&
                          operation.offset + static_cast<Offset>(operation.bytes.size()) > start);
  }
  return result;
}

void Sim_Node::fill(std::size_t room, Offset block_size) {
  room_ = room;
  block_size_ = block_size;
}

std::size_t Sim_Node::take_blocks(Offset offset, std::size_t size) {
  if (!room_) return size;
  const Offset end = offset + static_cast<Offset>(size);
  for (Offset at = offset; at < end; at = next_block(at)) {
    if (has_block(at)) continue;
    if (*room_ == 0) return static_cast<std::size_t>(at - offset);
    --*room_;
  }
  return size;
}

void Sim_Node::free_blocks(Offset new_size) {
  if (!room_) return;
  const auto size = static_cast<Offset>(content().size());
  for (Offset at = (new_size + block_size_ - 1) / block_size_ * block_size_; at < size;
       at += block_size_)
    if (has_block(at)) ++*room_;
}

bool Sim_Node::is_free(const Lock& wanted) const {
  return std::none_of(locks_.begin(), locks_.end(), [&](const Lock& lock) {
    return lock.owner != wanted.owner && !lock.process->is_killed() && lock.start == wanted.start &&
           (lock.is_exclusive || wanted.is_exclusive);
  });
}

bool Sim_Node::has_exclusive_lock(const Abstract_File* owner, Offset start) const {
  return std::any_of(locks_.begin(), locks_.end(), [&](const Lock& lock) {
    return lock.owner == owner && lock.start == start && lock.is_exclusive;
  });
}

void Sim_Node::unlock(const Abstract_File* owner, Offset start) {
  std::erase_if(locks_,
                [&](const Lock& lock) { return lock.owner == owner && lock.start == start; });
}

std::string Sim_Node::take_calls() {
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

// ---- Sim_Disk -----------------------------------------------------------------------------------

Sim_Disk Sim_Disk::at(std::size_t io_count) const {
  Sim_Disk disk(start().content());
  for (std::size_t i = 0; i < io_count; ++i) disk.change(history().at(i));
  return disk;
}

std::string Sim_Disk::power_cut(std::uint64_t seed) const {
  Random random(seed);
  return state().power_cut(history(), Sim_Fill::zeros, random);
}

Sim_Disk Sim_Disk::after_power_cut(std::uint64_t seed) const {
  Random random(seed);
  const auto fill = static_cast<Sim_Fill>(random.below(sim_fill_count));
  std::string image = state().power_cut(history(), fill, random);
  if (!state().has_durable_name() && random.flip()) image.clear();
  Sim_Disk disk(std::move(image), directory_.power_cut(random));
  disk.set_identity({identity().file, identity().change + 1});
  return disk;
}

// ---- Sim_File -----------------------------------------------------------------------------------

Sim_File::Sim_File(Sim_Disk& disk, Open_Mode mode)
    : Sim_File(disk.directory(), Sim_Directory::no_file, {std::shared_ptr<void>(), &disk}, "sim",
               mode, std::make_shared<Sim_Process>()) {}

Sim_File::Sim_File(Sim_Directory& directory, std::size_t file, std::shared_ptr<Sim_Node> node,
                   const std::string& title, Open_Mode mode, std::shared_ptr<Sim_Process> process)
    : Named_File(title, mode),
      directory_(directory),
      file_(file),
      owned_(std::move(node)),
      node_(*owned_),
      process_(std::move(process)) {
  if (!is_readonly()) set_new_name();
  // For a file beside a Sim_Disk, which need not exist, Sim_Directory has already counted the call.
  if (!is_beside() && faults().fails(Calls::opens)) fail("opening");
  if (!is_readonly() && !is_shared()) {
    if (!node_.is_free({this, process_.get(), tail_lock.start, true}))
      throw_io_error("locking", get_name(), -1, EAGAIN);
    lock(tail_lock.start, true);
  }
  node_.locks_.push_back({this, process_.get(), presence_lock.start, false});
}

Sim_File::~Sim_File() {
  std::erase_if(node_.locks_, [&](const auto& lock) { return lock.owner == this; });
}

void Sim_File::fail(const char* action, Offset offset) const {
  throw_io_error(action, get_name(), offset, faults().fault().code);
}

Offset Sim_File::get_size() const {
  process_->begin_call();
  node_.calls_.push_back({"size", 0, 0});
  if (faults().fails(Calls::sizes)) fail("reading the size of");
  return static_cast<Offset>(node_.content().size());
}

std::size_t Sim_File::pread(char* data, std::size_t size, Offset offset) const {
  process_->begin_call();
  node_.calls_.push_back({"read", offset, size});
  if (faults().fails(Calls::reads)) fail("reading", offset);
  if (offset < 0 || static_cast<std::size_t>(offset) >= node_.content().size()) return 0;
  return node_.content().copy(data, size, static_cast<std::size_t>(offset));
}

void Sim_File::require_not_replaced() const {
  if (file_ != Sim_Directory::no_file && !directory_.has_name(node_))
    throw File_Replaced(get_name(), "was removed");
}

void Sim_File::require_room(Sim_Operation& operation) {
  if (faults().fills()) node_.fill(*faults().fault().room, faults().fault().block_size);
  const std::size_t size = node_.take_blocks(operation.offset, operation.bytes.size());
  if (size == operation.bytes.size()) return;
  operation.bytes.resize(size);
  operation.has_failed = true;
  const Offset end = operation.offset + static_cast<Offset>(size);
  if (size > 0) apply(std::move(operation));
  faults().note_failure();
  throw_io_error("writing", get_name(), end, ENOSPC);
}

void Sim_File::require_tail_lock() const {
  if (is_shared() && !node_.has_exclusive_lock(this, tail_lock.start))
    throw std::logic_error("a shared file is changed by a process that has not locked its tail");
}

// Throws if the process dies or the fault occurs. A write that fails leaves the part that was
// written in the file.
void Sim_File::change(Sim_Operation operation) {
  is_beside() ? process_->begin_other_change() : process_->begin_change();
  using Kind = Sim_Operation::Kind;
  const Calls calls = operation.kind == Kind::write      ? Calls::writes
                      : operation.kind == Kind::truncate ? Calls::truncations
                                                         : Calls::syncs;
  if (calls != Calls::syncs) require_tail_lock();
  const bool kind_fails = faults().fails(calls);
  if (faults().fails(Calls::changes) || kind_fails) fail(operation);
  if (calls == Calls::writes) require_room(operation);
  if (node_.ignores_syncs_ && calls == Calls::syncs) return;
  apply(std::move(operation));
}

void Sim_File::apply(Sim_Operation operation) {
  node_.change(std::move(operation));
  if (file_ != Sim_Directory::no_file) directory_.order_.push_back(file_);
}

void Sim_File::fail(const Sim_Operation& operation) {
  using Kind = Sim_Operation::Kind;
  if (operation.kind == Kind::sync) {
    apply({Kind::failed_sync, 0, {}});
    fail("syncing");
  }
  if (operation.kind == Kind::sync_directory) {
    apply({Kind::failed_directory_sync, 0, {}});
    fail("syncing the directory of");
  }
  if (operation.kind == Kind::truncate) fail("truncating", operation.offset);
  if (std::string part = written_part(operation, faults().fault()); !part.empty())
    apply({Kind::write, operation.offset, std::move(part), true});
  fail("writing", operation.offset);
}

// Checkpoint words are stored one by one, as in File.
void Sim_File::pwrite(const char* data, std::size_t size, Offset offset) {
  process_->begin_call();
  node_.calls_.push_back({"write", offset, size});
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
  if (start % map_page != 0 || end > static_cast<Offset>(node_.content().size()))
    throw std::logic_error("a map beyond the end of the file");
  map_start_ = start;
  map_end_ = end;
  return true;
}

void Sim_File::store(const char* data, std::size_t size, Offset offset) {
  process_->require_alive();
  require_tail_lock();
  const Offset end = offset + static_cast<Offset>(size);
  if (offset < map_start_ || end > map_end_ || end > static_cast<Offset>(node_.content().size()))
    throw std::logic_error("a store beyond the map, or the end of the file");
  for (Offset at = offset; node_.room_ && at < end; at = node_.next_block(at))
    if (!node_.has_block(at))
      throw std::logic_error("a store to a page for which the disk has no room");
  const std::string_view bytes(data, size);
  const std::size_t half = size / 2;
  for (const std::size_t start : {half, std::size_t{0}}) {
    const std::string_view part = start == half ? bytes.substr(half) : bytes.substr(0, half);
    process_->begin_change();
    apply({Sim_Operation::Kind::write, offset + static_cast<Offset>(start), std::string(part)});
    if (half == 0) return;
  }
}

void Sim_File::sync_content() {
  process_->begin_call();
  require_not_replaced();
  node_.calls_.push_back({"sync", 0, 0});
  change({Sim_Operation::Kind::sync, 0, {}});
}

void Sim_File::datasync_content() {
  process_->begin_call();
  require_not_replaced();
  node_.calls_.push_back({"datasync", 0, 0});
  change({Sim_Operation::Kind::sync, 0, {}});
}

void Sim_File::sync_directory() {
  process_->begin_call();
  node_.calls_.push_back({"sync directory", 0, 0});
  if (is_beside()) {
    process_->begin_other_change();
    return directory_.sync_names(get_name());
  }
  change({Sim_Operation::Kind::sync_directory, 0, {}});
}

bool Sim_File::truncate(Offset size) {
  process_->begin_call();
  node_.calls_.push_back({"truncate", size, 0});
  change({Sim_Operation::Kind::truncate, size, {}});
  return true;
}

void Sim_File::lock(Offset start, bool is_exclusive) {
  process_->require_alive();
  if (faults().fails(Calls::locks)) fail("locking");
  if (!node_.is_free({this, process_.get(), start, is_exclusive}))
    throw std::logic_error("this lock would wait for ever: " + lock_name(start));
  node_.unlock(this, start);
  node_.locks_.push_back({this, process_.get(), start, is_exclusive});
}

void Sim_File::shared_lock(Offset start, Offset) {
  node_.calls_.push_back({"share", start, 0});
  lock(start, false);
}

void Sim_File::exclusive_lock(Offset start, Offset) {
  node_.calls_.push_back({"lock", start, 0});
  lock(start, true);
}

void Sim_File::unlock(Offset start, Offset) noexcept {
  node_.calls_.push_back({"unlock", start, 0});
  node_.unlock(this, start);
}

bool Sim_File::try_exclusive_lock(Offset start, Offset) {
  node_.calls_.push_back({"try", start, 0});
  if (!node_.is_free({this, process_.get(), start, true})) return false;
  lock(start, true);
  return true;
}

std::string Sim_File::name_beside(const std::string& suffix) const {
  return file_ == Sim_Directory::no_file ? suffix : directory_.files_[file_].name + suffix;
}

class Sim_File::Beside final : public Abstract_Directory {
 public:
  explicit Beside(const Sim_File& file) : file_(file), directory_(file.directory_) {}

  const std::string& get_name() const override { return file_.get_name(); }
  std::vector<std::string> list() const override {
    const std::string prefix = file_.name_beside({});
    std::vector<std::string> names;
    for (const std::string& name : directory_.list(*file_.process_))
      if (name.starts_with(prefix)) names.push_back(name.substr(prefix.size()));
    return names;
  }
  std::unique_ptr<Abstract_File> open(const std::string& name, Open_Mode mode) override {
    file_.process_->require_alive();
    if (name.empty() && file_.file_ == Sim_Directory::no_file)
      return std::unique_ptr<Sim_File>(
          new Sim_File(directory_, file_.file_, file_.owned_, get_name(), mode, file_.process_));
    return directory_.open(file_.name_beside(name), get_name() + name, mode, file_.process_);
  }
  void remove(const std::string& name) override { remove_durably(name); }
  void rename(const std::string& from, const std::string& to) override {
    directory_.rename(file_.name_beside(from), file_.name_beside(to), *file_.process_);
  }
  void remove_durably(const std::string& name) override {
    directory_.remove(file_.name_beside(name), *file_.process_);
  }

 private:
  const Sim_File& file_;
  Sim_Directory& directory_;
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
