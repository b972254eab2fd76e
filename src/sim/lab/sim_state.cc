#include "sim/lab/sim_state.h"

#include <algorithm>
#include <charconv>
#include <exception>
#include <utility>

#include "joedb/base/types.h"
#include "joedb/format/header.h"

namespace joedb::testing {

namespace {

constexpr std::size_t sector_size = 512;
constexpr std::size_t header_word_size = 8;

// These bytes are valid entries, so that they can be mistaken for entries of the file.
constexpr std::string_view foreign_bytes = "\x0a\x05other";

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

// Returns the end of the atomic piece at `offset`, which reaches the disk as a whole or not at all.
std::size_t piece_end(std::size_t offset, std::size_t sector) {
  if (offset < header_size)
    return std::min(offset / header_word_size * header_word_size + header_word_size, header_size);
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
  if (operation.bytes.size() == header_word_size &&
      operation.offset < static_cast<Offset>(header_size))
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

// A failed sync writes some pages, and marks all pages as clean.
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
  // Until the end of this function, `image` keeps the bytes past the size of the file.
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

std::string Sim_State::power_cut(const Sim_History& history, Sim_Fill fill, Random& random) const {
  const std::vector<Sim_Unit> all = units(history, sector_size);
  Sim_Mask mask;
  for (std::size_t i = 0; i < all.size();) {
    // [i, end) are the units of one change: the new size, then the bytes.
    std::size_t end = i + 1;
    while (end < all.size() && all[end].kind == Sim_Unit::Kind::bytes &&
           all[end - 1].offset + static_cast<Offset>(all[end - 1].bytes.size()) == all[end].offset)
      ++end;
    const std::size_t fate = random.below(4);  // lost, whole, torn, or only the size
    for (; i < end; ++i) {
      const bool is_size = all[i].kind == Sim_Unit::Kind::size;
      if (fate == 1 || (fate == 2 && random.flip()) || (fate == 3 && is_size)) mask.add(i);
    }
  }
  std::string image;
  power_cut(all, mask, fill, image);
  return image;
}

// ---- faults and processes -----------------------------------------------------------------------

bool Sim_Faults::fails(Sim_Fault::Calls calls) {
  const std::size_t number = counts_[static_cast<std::size_t>(calls)]++;
  if (!fault_ || fault_->calls != calls || fault_->room) return false;
  const bool result = fault_->lasts ? number >= fault_->number : number == fault_->number;
  if (result) note_failure();
  return result;
}

bool Sim_Faults::fills() {
  if (!fault_ || !fault_->room || has_filled_) return false;
  return has_filled_ = count(Sim_Fault::Calls::writes) > fault_->number;
}

void Sim_Faults::note_failure() {
  has_failed_ = true;
  has_failed_in_unwinding_ = std::uncaught_exceptions() > 0;
}

std::string written_part(const Sim_Operation& operation, const Sim_Fault& fault) {
  auto written =
      static_cast<std::size_t>(static_cast<double>(operation.bytes.size()) * fault.part_written);
  // The system never writes only a part of a word, because a word is inside one sector.
  if (static_cast<std::size_t>(operation.offset) < header_size)
    written = written / header_word_size * header_word_size;
  return operation.bytes.substr(0, written);
}

void Sim_Process::begin_change() {
  require_alive();
  if (call && changes_until_call-- == 0) std::exchange(call, nullptr)();
  require_alive();
  if (changes_left == 0) {
    is_killed_ = true;
    throw Sim_Killed();
  }
  --changes_left;
}

}  // namespace joedb::testing
