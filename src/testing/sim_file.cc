#include "testing/sim_file.h"

#include <algorithm>
#include <stdexcept>

#include "joedb/format/header.h"
#include "testing/random.h"

namespace joedb::testing {

namespace {

constexpr std::size_t sector_size = 512;
constexpr std::size_t word_size = 8;

std::string lock_name(Offset start) {
  if (start == head_lock.start) return "head";
  return start == tail_lock.start ? "tail" : std::to_string(start);
}

void grow(std::string& file, std::size_t size) {
  if (file.size() < size) file.resize(size);
}

void apply(std::string& file, const Sim_Operation& operation) {
  const auto offset = static_cast<std::size_t>(operation.offset);
  switch (operation.kind) {
    case Sim_Operation::Kind::write:
      if (operation.bytes.empty()) return;
      grow(file, offset + operation.bytes.size());
      file.replace(offset, operation.bytes.size(), operation.bytes);
      break;
    case Sim_Operation::Kind::truncate:
      file.resize(offset);
      break;
    case Sim_Operation::Kind::sync:
    case Sim_Operation::Kind::failed_sync:
      break;
  }
}

// The end of the piece of a file that reaches the disk as a whole or not at all.
std::size_t piece_end(std::size_t offset) {
  if (offset < header_size)
    return std::min(offset / word_size * word_size + word_size, header_size);
  return offset / sector_size * sector_size + sector_size;
}

// Applies what a power cut leaves of an operation.
void apply_part(std::string& file, const Sim_Operation& operation, Random& random) {
  if (operation.kind == Sim_Operation::Kind::truncate) {
    if (random.flip()) apply(file, operation);
    return;
  }
  if (operation.kind != Sim_Operation::Kind::write) return;
  const auto start = static_cast<std::size_t>(operation.offset);
  const std::size_t end = start + operation.bytes.size();
  switch (random.below(4)) {
    case 0:  // lost
      break;
    case 1:
      apply(file, operation);
      break;
    case 2:  // torn
      for (std::size_t at = start; at < end;) {
        const std::size_t next = std::min(piece_end(at), end);
        if (random.flip()) {
          grow(file, next);
          file.replace(at, next - at, operation.bytes, at - start, next - at);
        }
        at = next;
      }
      break;
    case 3:  // the size, not the bytes
      grow(file, end);
      break;
  }
}

}  // namespace

// ---- Sim_Disk -----------------------------------------------------------------------------------

void Sim_Disk::change(Sim_Operation operation) {
  apply(content_, operation);
  switch (operation.kind) {
    case Sim_Operation::Kind::write:
    case Sim_Operation::Kind::truncate:
      unsynced_.push_back(operation);
      break;
    case Sim_Operation::Kind::sync:
      for (const Sim_Operation& earlier : unsynced_) apply(durable_, earlier);
      unsynced_.clear();
      break;
    case Sim_Operation::Kind::failed_sync: {
      Random random(history_.size());
      for (const Sim_Operation& earlier : unsynced_)
        if (random.flip()) apply(durable_, earlier);
      unsynced_.clear();
      break;
    }
  }
  history_.push_back(std::move(operation));
}

Sim_Disk Sim_Disk::at(std::size_t io_count) const {
  Sim_Disk disk(start_);
  for (std::size_t i = 0; i < io_count; ++i) disk.change(history_.at(i));
  return disk;
}

std::string Sim_Disk::power_cut(std::uint64_t seed) const {
  Random random(seed);
  std::string file = durable_;
  for (const Sim_Operation& operation : unsynced_) apply_part(file, operation, random);
  return file;
}

bool Sim_Disk::is_next(Sim_Fault::Calls calls, std::size_t number) const {
  if (!fault_ || fault_->calls != calls) return false;
  return fault_->lasts ? number >= fault_->number : number == fault_->number;
}

void Sim_Disk::count_change(const std::string& path, const Sim_Operation& operation) {
  if (!is_next(Sim_Fault::Calls::changes, changes_++)) return;
  if (operation.kind == Sim_Operation::Kind::sync) {
    change({Sim_Operation::Kind::failed_sync, 0, {}});
    throw Io_Error("syncing", path, -1, fault_->code);
  }
  if (operation.kind == Sim_Operation::Kind::truncate)
    throw Io_Error("truncating", path, operation.offset, fault_->code);
  auto written =
      static_cast<std::size_t>(static_cast<double>(operation.bytes.size()) * fault_->part_written);
  // The system does not write a part of a word that is inside one sector.
  if (static_cast<std::size_t>(operation.offset) < header_size)
    written = written / word_size * word_size;
  if (written > 0)
    change({Sim_Operation::Kind::write, operation.offset, operation.bytes.substr(0, written)});
  throw Io_Error("writing", path, operation.offset, fault_->code);
}

void Sim_Disk::count_read(const std::string& path, Offset offset) {
  if (is_next(Sim_Fault::Calls::reads, reads_++))
    throw Io_Error("reading", path, offset, fault_->code);
}

bool Sim_Disk::is_free(const Lock& wanted) const {
  return std::none_of(locks_.begin(), locks_.end(), [&](const Lock& lock) {
    return lock.owner != wanted.owner && lock.start == wanted.start &&
           (lock.is_exclusive || wanted.is_exclusive);
  });
}

void Sim_Disk::unlock(const Abstract_File* owner, Offset start) {
  std::erase_if(locks_,
                [&](const Lock& lock) { return lock.owner == owner && lock.start == start; });
}

std::string Sim_Disk::take_calls() {
  std::string text;
  for (const std::string& call : calls_) text += call + "\n";
  calls_.clear();
  return text;
}

// ---- Sim_File -----------------------------------------------------------------------------------

Sim_File::Sim_File(Sim_Disk& disk, Open_Mode mode) : Abstract_File("sim", mode), disk_(disk) {
  if (is_readonly() || is_shared()) return;
  if (!disk_.is_free({this, tail_lock.start, true}))
    throw Io_Error("locking", get_name(), -1, EAGAIN);
  lock(tail_lock.start, true);
}

Sim_File::~Sim_File() {
  std::erase_if(disk_.locks_, [&](const auto& lock) { return lock.owner == this; });
}

Offset Sim_File::get_size() const {
  disk_.calls_.push_back("size");
  return static_cast<Offset>(disk_.content_.size());
}

std::size_t Sim_File::pread(char* data, std::size_t size, Offset offset) const {
  disk_.calls_.push_back("read " + std::to_string(size) + "@" + std::to_string(offset));
  disk_.count_read(get_name(), offset);
  if (offset < 0 || static_cast<std::size_t>(offset) >= disk_.content_.size()) return 0;
  return disk_.content_.copy(data, size, static_cast<std::size_t>(offset));
}

void Sim_File::pwrite(const char* data, std::size_t size, Offset offset) {
  disk_.calls_.push_back("write " + std::to_string(size) + "@" + std::to_string(offset));
  Sim_Operation operation{Sim_Operation::Kind::write, offset, std::string(data, size)};
  disk_.count_change(get_name(), operation);
  disk_.change(std::move(operation));
}

void Sim_File::sync() {
  disk_.calls_.push_back("sync");
  disk_.count_change(get_name(), {Sim_Operation::Kind::sync, 0, {}});
  disk_.change({Sim_Operation::Kind::sync, 0, {}});
}

void Sim_File::datasync() {
  disk_.calls_.push_back("datasync");
  disk_.count_change(get_name(), {Sim_Operation::Kind::sync, 0, {}});
  disk_.change({Sim_Operation::Kind::sync, 0, {}});
}

bool Sim_File::truncate(Offset size) {
  disk_.calls_.push_back("truncate " + std::to_string(size));
  Sim_Operation operation{Sim_Operation::Kind::truncate, size, {}};
  disk_.count_change(get_name(), operation);
  disk_.change(std::move(operation));
  return true;
}

void Sim_File::lock(Offset start, bool is_exclusive) {
  if (!disk_.is_free({this, start, is_exclusive}))
    throw std::logic_error("this lock would wait for ever: " + lock_name(start));
  disk_.unlock(this, start);
  disk_.locks_.push_back({this, start, is_exclusive});
}

void Sim_File::shared_lock(Offset start, Offset) {
  disk_.calls_.push_back("share " + lock_name(start));
  lock(start, false);
}

void Sim_File::exclusive_lock(Offset start, Offset) {
  disk_.calls_.push_back("lock " + lock_name(start));
  lock(start, true);
}

void Sim_File::unlock(Offset start, Offset) noexcept {
  disk_.calls_.push_back("unlock " + lock_name(start));
  disk_.unlock(this, start);
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
