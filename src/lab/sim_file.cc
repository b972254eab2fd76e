#include "lab/sim_file.h"

#include <algorithm>
#include <charconv>
#include <exception>

#include "joedb/base/bytes.h"
#include "joedb/format/header.h"
#include "joedb/io/memory_file.h"

namespace joedb::testing {

namespace {

constexpr std::size_t sector_size = 512;
constexpr std::size_t word_size = 8;

// Entries, so that they can be taken for the file's own.
constexpr std::string_view foreign_bytes = "\x0a\x05other";

std::string lock_name(Offset start) {
  if (start == head_lock.start) return "head";
  if (start == presence_lock.start) return "presence";
  return start == tail_lock.start ? "tail" : std::to_string(start);
}

void apply(std::string& file, const Sim_Operation& operation) {
  const auto offset = static_cast<std::size_t>(operation.offset);
  switch (operation.kind) {
    case Sim_Operation::Kind::write:
      if (operation.bytes.empty()) return;
      if (file.size() < offset + operation.bytes.size())
        file.resize(offset + operation.bytes.size());
      file.replace(offset, operation.bytes.size(), operation.bytes);
      break;
    case Sim_Operation::Kind::truncate:
      file.resize(offset);
      break;
    case Sim_Operation::Kind::sync:
    case Sim_Operation::Kind::failed_sync:
    case Sim_Operation::Kind::sync_directory:
    case Sim_Operation::Kind::failed_directory_sync:
      break;
  }
}

std::size_t size_after(const Sim_Operation& operation, std::size_t size) {
  const auto offset = static_cast<std::size_t>(operation.offset);
  if (operation.kind == Sim_Operation::Kind::truncate) return offset;
  return operation.bytes.empty() ? size : std::max(size, offset + operation.bytes.size());
}

// The end of the piece of a file that reaches the disk as a whole or not at all.
std::size_t piece_end(std::size_t offset, std::size_t sector) {
  if (offset < header_size)
    return std::min(offset / word_size * word_size + word_size, header_size);
  return offset / sector * sector + sector;
}

void append_units(std::vector<Sim_Unit>& units, const Sim_Operation& operation,
                  std::size_t size_before, std::size_t sector) {
  if (const std::size_t size = size_after(operation, size_before); size != size_before)
    units.push_back({Sim_Unit::Kind::size, static_cast<Offset>(size), {}});
  if (operation.kind != Sim_Operation::Kind::write) return;
  const auto start = static_cast<std::size_t>(operation.offset);
  const std::size_t end = start + operation.bytes.size();
  for (std::size_t at = start; at < end;) {
    const std::size_t next = std::min(piece_end(at, sector), end);
    units.push_back({Sim_Unit::Kind::bytes, static_cast<Offset>(at),
                     std::string_view(operation.bytes).substr(at - start, next - at)});
    at = next;
  }
}

}  // namespace

std::string text_of(const Sim_Operation& operation) {
  switch (operation.kind) {
    case Sim_Operation::Kind::truncate:
      return "truncate " + std::to_string(operation.offset);
    case Sim_Operation::Kind::sync:
      return "sync";
    case Sim_Operation::Kind::failed_sync:
      return "failed sync";
    case Sim_Operation::Kind::sync_directory:
      return "sync directory";
    case Sim_Operation::Kind::failed_directory_sync:
      return "failed sync of the directory";
    case Sim_Operation::Kind::write:
      break;
  }
  std::string text = operation.has_failed ? "failed " : "";
  text +=
      "write " + std::to_string(operation.bytes.size()) + "@" + std::to_string(operation.offset);
  if (operation.bytes.size() == word_size && operation.offset < static_cast<Offset>(header_size))
    text += ": " + std::to_string(load<std::int64_t>(operation.bytes.data()));
  return text;
}

// ---- Sim_Mask -----------------------------------------------------------------------------------

std::string Sim_Mask::text() const {
  std::string text;
  for (std::size_t i = words_.size(); i-- > 0;)
    for (int shift = 60; shift >= 0; shift -= 4) {
      const auto digit = static_cast<std::size_t>(words_[i] >> shift & 15);
      if (digit != 0 || !text.empty()) text += "0123456789abcdef"[digit];
    }
  return text.empty() ? "0" : text;
}

std::optional<Sim_Mask> Sim_Mask::parse(std::string_view text) {
  constexpr std::size_t digits = 16;
  if (text.empty() || text.size() > max_size / 4) return std::nullopt;
  Sim_Mask mask;
  for (std::size_t i = 0; !text.empty(); ++i) {
    const std::string_view part = text.substr(text.size() - std::min(text.size(), digits));
    const auto [end, error] =
        std::from_chars(part.data(), part.data() + part.size(), mask.words_[i], 16);
    if (error != std::errc() || end != part.data() + part.size()) return std::nullopt;
    text.remove_suffix(part.size());
  }
  return mask;
}

// ---- Sim_State ----------------------------------------------------------------------------------

void Sim_State::advance(const Sim_History& history) {
  const Sim_Operation& operation = history[applied_];
  switch (operation.kind) {
    case Sim_Operation::Kind::write:
    case Sim_Operation::Kind::truncate:
      pending_.push_back({applied_, content_.size()});
      apply(content_, operation);
      has_failure_ = has_failure_ || operation.has_failed;
      break;
    case Sim_Operation::Kind::sync:
      for (const Pending& earlier : pending_) {
        if (durable_.size() > old_bytes_.size()) old_bytes_.resize(durable_.size());
        old_bytes_.replace(0, durable_.size(), durable_);
        apply(durable_, history[earlier.operation]);
      }
      pending_.clear();
      break;
    case Sim_Operation::Kind::failed_sync:
      fail_sync(history);
      has_failure_ = true;
      break;
    case Sim_Operation::Kind::sync_directory:
      has_durable_name_ = true;
      break;
    case Sim_Operation::Kind::failed_directory_sync:
      has_durable_name_ = has_durable_name_ || Random(applied_).flip();
      break;
  }
  ++applied_;
}

// Some pages were written, and all are clean now.
void Sim_State::fail_sync(const Sim_History& history) {
  Random random(applied_);
  const std::vector<Sim_Unit> all = units(history, sector_size);
  Sim_Mask mask;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (random.flip()) mask.add(i);
  std::string image;
  power_cut(all, mask, Sim_Fill::zeros, image);
  durable_ = std::move(image);
  pending_.clear();
}

std::vector<Sim_Unit> Sim_State::units(const Sim_History& history, std::size_t sector) const {
  std::vector<Sim_Unit> result;
  for (;; sector *= 2) {
    for (const Pending& pending : pending_)
      append_units(result, history[pending.operation], pending.size_before, sector);
    if (result.size() <= Sim_Mask::max_size) return result;
    if (sector > std::size_t{1} << 30)
      throw std::logic_error("too many unsynced changes for a simulated power cut");
    result.clear();
  }
}

void Sim_State::power_cut(std::span<const Sim_Unit> units, const Sim_Mask& mask, Sim_Fill fill,
                          std::string& image) const {
  std::size_t end = durable_.size();
  for (const Sim_Unit& unit : units)
    end = std::max(end, static_cast<std::size_t>(unit.offset) + unit.bytes.size());
  // What stands behind the size of the file is there as well, until the end.
  const auto refill = [&](std::size_t from) {
    if (fill == Sim_Fill::zeros) {
      std::fill(image.begin() + static_cast<std::ptrdiff_t>(from), image.end(), '\0');
      return;
    }
    for (std::size_t i = from; i < end; ++i) {
      if (i < header_size)
        image[i] = '\0';
      else if (fill == Sim_Fill::noise)
        image[i] = static_cast<char>((i * 0x9e3779b97f4a7c15 ^ durable_.size()) >> 29);
      else
        image[i] = i < durable_.size()     ? durable_[i]
                   : i < old_bytes_.size() ? old_bytes_[i]
                                           : foreign_bytes[i % foreign_bytes.size()];
    }
  };
  image = durable_;
  image.resize(end);
  if (end > durable_.size()) refill(durable_.size());
  std::size_t size = durable_.size();
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (!mask.has(i)) continue;
    const Sim_Unit& unit = units[i];
    const auto offset = static_cast<std::size_t>(unit.offset);
    if (unit.kind == Sim_Unit::Kind::bytes) {
      image.replace(offset, unit.bytes.size(), unit.bytes);
    } else {
      if (offset < size) refill(offset);
      size = offset;
    }
  }
  image.resize(size);
}

// ---- Sim_Disk -----------------------------------------------------------------------------------

void Sim_Disk::change(Sim_Operation operation) {
  history_.push_back(std::move(operation));
  state_.advance(history_);
}

Sim_Disk Sim_Disk::at(std::size_t io_count) const {
  Sim_Disk disk(start_);
  for (std::size_t i = 0; i < io_count; ++i) disk.change(history_.at(i));
  return disk;
}

std::string Sim_Disk::power_cut(std::uint64_t seed) const {
  Random random(seed);
  const std::vector<Sim_Unit> units = state_.units(history_, sector_size);
  Sim_Mask mask;
  for (std::size_t i = 0; i < units.size();) {
    // Units of one change: its size, then its bytes.
    std::size_t end = i + 1;
    while (end < units.size() && units[end].kind == Sim_Unit::Kind::bytes &&
           units[end - 1].offset + static_cast<Offset>(units[end - 1].bytes.size()) ==
               units[end].offset)
      ++end;
    const std::size_t fate = random.below(4);  // lost, whole, torn, or its size only
    for (; i < end; ++i) {
      const bool is_size = units[i].kind == Sim_Unit::Kind::size;
      if (fate == 1 || (fate == 2 && random.flip()) || (fate == 3 && is_size)) mask.add(i);
    }
  }
  std::string image;
  state_.power_cut(units, mask, Sim_Fill::zeros, image);
  return image;
}

bool Sim_Disk::fails(Sim_Fault::Calls calls) {
  const std::size_t number = counts_[static_cast<std::size_t>(calls)]++;
  if (!fault_ || fault_->calls != calls) return false;
  const bool result = fault_->lasts ? number >= fault_->number : number == fault_->number;
  has_failed_ = has_failed_ || result;
  if (result) has_failed_in_unwinding_ = std::uncaught_exceptions() > 0;
  return result;
}

bool Sim_Disk::is_free(const Lock& wanted) const {
  return std::none_of(locks_.begin(), locks_.end(), [&](const Lock& lock) {
    return lock.owner != wanted.owner && lock.start == wanted.start &&
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

Sim_File::Sim_File(Sim_Disk& disk, Open_Mode mode) : Named_File("sim", mode), disk_(disk) {
  if (!is_readonly()) set_new_name();
  if (disk_.fails(Sim_Fault::Calls::opens))
    throw_io_error("opening", get_name(), -1, disk_.fault_->code);
  if (!is_readonly() && !is_shared()) {
    if (!disk_.is_free({this, tail_lock.start, true}))
      throw_io_error("locking", get_name(), -1, EAGAIN);
    lock(tail_lock.start, true);
  }
  disk_.locks_.push_back({this, presence_lock.start, false});
}

Sim_File::~Sim_File() {
  std::erase_if(disk_.locks_, [&](const auto& lock) { return lock.owner == this; });
}

void Sim_File::require_alive() const {
  if (is_killed_) throw Sim_Killed();
}

Offset Sim_File::get_size() const {
  require_alive();
  disk_.calls_.push_back({"size", 0, 0});
  if (disk_.fails(Sim_Fault::Calls::sizes))
    throw_io_error("reading the size of", get_name(), -1, disk_.fault_->code);
  return static_cast<Offset>(disk_.content().size());
}

std::size_t Sim_File::pread(char* data, std::size_t size, Offset offset) const {
  require_alive();
  disk_.calls_.push_back({"read", offset, size});
  if (disk_.fails(Sim_Fault::Calls::reads))
    throw_io_error("reading", get_name(), offset, disk_.fault_->code);
  if (offset < 0 || static_cast<std::size_t>(offset) >= disk_.content().size()) return 0;
  return disk_.content().copy(data, size, static_cast<std::size_t>(offset));
}

void Sim_File::die_if_it_is_time() {
  if (changes_left_ == 0) {
    is_killed_ = true;
    std::erase_if(disk_.locks_, [&](const auto& lock) { return lock.owner == this; });
    throw Sim_Killed();
  }
  --changes_left_;
}

// Throws if the process dies, or if the fault says so. A failing write leaves its part.
void Sim_File::require_tail_lock() const {
  if (is_shared() && !disk_.has_exclusive_lock(this, tail_lock.start))
    throw std::logic_error("a shared file is changed by a process that has not locked its tail");
}

void Sim_File::change(Sim_Operation operation) {
  die_if_it_is_time();
  if (operation.kind == Sim_Operation::Kind::write ||
      operation.kind == Sim_Operation::Kind::truncate)
    require_tail_lock();
  using Calls = Sim_Fault::Calls;
  const Calls calls = operation.kind == Sim_Operation::Kind::write      ? Calls::writes
                      : operation.kind == Sim_Operation::Kind::truncate ? Calls::truncations
                                                                        : Calls::syncs;
  const bool kind_fails = disk_.fails(calls);
  if (disk_.fails(Calls::changes) || kind_fails) fail(operation);
  if (disk_.is_lying_ && calls == Calls::syncs) return;
  disk_.change(std::move(operation));
}

void Sim_File::fail(const Sim_Operation& operation) {
  const Sim_Fault& fault = *disk_.fault_;
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
  auto written =
      static_cast<std::size_t>(static_cast<double>(operation.bytes.size()) * fault.part_written);
  // The system does not write a part of a word that is inside one sector.
  if (static_cast<std::size_t>(operation.offset) < header_size)
    written = written / word_size * word_size;
  if (written > 0)
    disk_.change(
        {Sim_Operation::Kind::write, operation.offset, operation.bytes.substr(0, written), true});
  throw_io_error("writing", get_name(), operation.offset, fault.code);
}

// The checkpoint words are stored one by one, as by File.
void Sim_File::pwrite(const char* data, std::size_t size, Offset offset) {
  require_alive();
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
  require_alive();
  if (start % map_page != 0 || end > static_cast<Offset>(disk_.content().size()))
    throw std::logic_error("a map beyond the end of the file");
  map_start_ = start;
  map_end_ = end;
  return true;
}

void Sim_File::store(const char* data, std::size_t size, Offset offset) {
  require_alive();
  require_tail_lock();
  const Offset end = offset + static_cast<Offset>(size);
  if (offset < map_start_ || end > map_end_ || end > static_cast<Offset>(disk_.content().size()))
    throw std::logic_error("a store beyond the map, or the end of the file");
  const std::string_view bytes(data, size);
  const std::size_t half = size / 2;
  for (const std::size_t start : {half, std::size_t{0}}) {
    const std::string_view part = start == half ? bytes.substr(half) : bytes.substr(0, half);
    die_if_it_is_time();
    disk_.change(
        {Sim_Operation::Kind::write, offset + static_cast<Offset>(start), std::string(part)});
    if (half == 0) return;
  }
}

void Sim_File::sync_content() {
  require_alive();
  disk_.calls_.push_back({"sync", 0, 0});
  change({Sim_Operation::Kind::sync, 0, {}});
}

void Sim_File::datasync_content() {
  require_alive();
  disk_.calls_.push_back({"datasync", 0, 0});
  change({Sim_Operation::Kind::sync, 0, {}});
}

void Sim_File::sync_directory() {
  require_alive();
  disk_.calls_.push_back({"sync directory", 0, 0});
  change({Sim_Operation::Kind::sync_directory, 0, {}});
}

bool Sim_File::truncate(Offset size) {
  require_alive();
  disk_.calls_.push_back({"truncate", size, 0});
  change({Sim_Operation::Kind::truncate, size, {}});
  return true;
}

void Sim_File::lock(Offset start, bool is_exclusive) {
  require_alive();
  if (disk_.fails(Sim_Fault::Calls::locks))
    throw_io_error("locking", get_name(), -1, disk_.fault_->code);
  if (!disk_.is_free({this, start, is_exclusive}))
    throw std::logic_error("this lock would wait for ever: " + lock_name(start));
  disk_.unlock(this, start);
  disk_.locks_.push_back({this, start, is_exclusive});
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
  if (!disk_.is_free({this, start, true})) return false;
  lock(start, true);
  return true;
}

// A file of its own, which no fault and no power cut reaches.
class Sim_File_Beside : public Memory_File {
 public:
  explicit Sim_File_Beside(std::string& content) : content_(content) {
    get_data().assign(content.begin(), content.end());
  }
  void sync() override { content_.assign(get_data().begin(), get_data().end()); }

 private:
  std::string& content_;
};

std::unique_ptr<Abstract_File> Sim_File::open_beside(const std::string& suffix, Open_Mode) const {
  require_alive();
  return std::make_unique<Sim_File_Beside>(disk_.beside_[suffix]);
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
