#include "joedb/journal/writable_journal.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <span>
#include <vector>

#include "kernel/format/seal.h"
#include "kernel/io/file_pieces.h"

// The header has two slots of two words. These invariants hold at every instant between two writes:
//
// 1. One slot holds the last acknowledged hard checkpoint, twice or with a matching seal, and all
//    bytes before this checkpoint are on disk. The other slot is not written to until this slot is
//    on disk, too.
// 2. The last acknowledged checkpoint, soft or hard, can be read from the header: a soft word is
//    replaced only after another word holds a newer checkpoint. So a process that is killed at any
//    point loses nothing that has a checkpoint.
// 3. A word never claims a byte that was not written to the file before the word.
// 4. When the file grows, no soft word points beyond its end. A power cut leaves such a word if the
//    system had written the header, but not the entries. The word would later claim different bytes
//    that are written at these offsets.
// 5. Memory claims a checkpoint only after the file has it.
//
// A process that writes words holds the tail lock. Readers need no lock to exclude this process:
// the words are true at every instant, readers read the words before the size of the file, and the
// words never return to an earlier state.
//
// A sealed hard checkpoint at X (kernel/format/seal.h): the entries and (X, seal) are written, then
// synced once, in any order. Then:
//
// 6. The seal covers the bytes between a hard checkpoint that is known to be on disk and X. So if
//    the seal matches, everything before X is as it was written, even if the power failed during
//    the sync. If the sync has returned, the seal matches.
// 7. Nothing else in the header changes until the sync has returned: neither the slot with the
//    previous hard checkpoint (1), nor the words of this slot. Code that writes one of these words
//    first waits for the sync (Sync_Group::finish). If the power fails earlier, either the seal
//    matches, or the previous slot counts.
// 8. The seal is replaced by X only after a sync of both, by this process or by the next writer,
//    which finds the seal (replace_seal). So two equal copies mean the same to programs that do not
//    know seals.
// 9. A seal that does not match is invalidated like a soft word beyond the end (4), because its
//    word is greater than the size of any file. So bytes that are later written before X cannot
//    make the seal match.
//
// A hard checkpoint that was read from the file may be a half checkpoint, or written by a process
// that died before its sync. So this process relies on it only after a sync of its own (sync_hard).

namespace joedb::inline v1 {

// ---- opening ------------------------------------------------------------------------------------

void Checkpoint_Writer::create_header() {
  const auto bytes = encode_header(Header());
  out_.pwrite(bytes.data(), bytes.size(), 0);
  written_from_ = 0;
}

void Checkpoint_Writer::open() {
  written_from_ = header_.checkpoint();
  find_durable_end(header_.read_words());
}

Offset Checkpoint_Writer::update(const Checkpoint_Words& words) {
  const int hard_index = header_.checkpoints().hard_index;
  const Offset hard = header_.hard_checkpoint();
  const Offset size = header_.update(words);
  is_filled_ = is_filled_ && header_.hard_checkpoint() == hard;
  // If both slots hold the same position, the slot that is known to be on disk stays current.
  const auto first = 2 * static_cast<std::size_t>(hard_index);
  if (is_filled_ && words[first] == hard && words[first + 1] == hard) {
    Checkpoints checkpoints = header_.checkpoints();
    checkpoints.hard_index = hard_index;
    header_.set(checkpoints);
  }
  // If the slot has changed, the new slot may not be on disk, even if it holds the same position.
  if (header_.checkpoints().hard_index != hard_index)
    synced_hard_checkpoint_ = own_hard_checkpoint_ = journal_start;
  find_durable_end(words);
  return size;
}

// A slot contains a position twice only after the entries before the position were synced (8). If
// the slot has a seal, the other slot is not written to until the sealed checkpoint is on disk (1).
// So if the other slot holds anything but the previous hard checkpoint, the sealed checkpoint is on
// disk; otherwise only the previous hard checkpoint is known to be on disk.
void Checkpoint_Writer::find_durable_end(const Checkpoint_Words& words) {
  const Offset hard = header_.hard_checkpoint();
  const auto is_twice = [&](int slot) {
    const auto first = 2 * static_cast<std::size_t>(slot);
    return words[first] == words[first + 1] && words[first] >= journal_start;
  };
  const int other = header_.checkpoints().next_slot();
  Offset end = hard;
  if (!is_twice(1 - other) && is_twice(other))
    end = std::min(words[2 * static_cast<std::size_t>(other)], hard);
  if (end > journal_start) durable_end_ = std::max(durable_end_, end);
}

// ---- words --------------------------------------------------------------------------------------

void Checkpoint_Writer::write_word(int slot, int copy, std::int64_t word) {
  out_.store_words(std::span(&word, 1), checkpoint_word_offset(slot, copy));
}

// The last soft checkpoint may be in this slot. Then it is the smaller word of the slot, because it
// is negative. So the smaller word is overwritten last (invariant 2).
void Checkpoint_Writer::write_slot(std::int64_t copy_0, std::int64_t copy_1) {
  const Checkpoint_Words words = header_.read_words();
  const int slot = header_.checkpoints().next_slot();
  const auto first = 2 * static_cast<std::size_t>(slot);
  assert(is_hard_durable());  // invariant 1
  if (words[first] >= 0 && words[first + 1] >= 0) {
    out_.store_words(std::array{copy_0, copy_1}, checkpoint_word_offset(slot, 0));
  } else if (words[first] < words[first + 1]) {
    write_word(slot, 1, copy_1);
    write_word(slot, 0, copy_0);
  } else {
    write_word(slot, 0, copy_0);
    write_word(slot, 1, copy_1);
  }
}

// ---- checkpoints --------------------------------------------------------------------------------

void Checkpoint_Writer::write_soft(Offset position) {
  assert(position >= header_.checkpoint());
  sync_hard();
  Checkpoints next = header_.checkpoints();
  next.soft_index ^= 1;
  next.checkpoint = position;
  write_word(next.next_slot(), next.soft_index, -position);
  header_.set(next);
}

// A seal covers only the bytes after the previous hard checkpoint, so the previous hard checkpoint
// must be on disk.
bool Checkpoint_Writer::begin_hard(Offset position, std::string_view entries) {
  const Offset before = header_.hard_checkpoint();
  assert(position > before && position >= header_.checkpoint());
  const bool is_sealed =
      has_seals_ && is_header_proven() && is_hard_durable() && position - before < seal_limit;
  if (!is_sealed) {
    write_unsealed(position);
    return false;
  }
  rewrite_unproven_entries(position);
  const bool has_all = static_cast<Offset>(entries.size()) == position - before;
  write_slot(position, has_all ? make_seal(entries, position) : header_.seal_of(before, position));
  return true;
}

// Syncs the entries, and then writes the position twice. The sync also makes an earlier half
// checkpoint durable, so that each half checkpoint takes one sync.
void Checkpoint_Writer::write_unsealed(Offset position) {
  rewrite_hard_slot();
  rewrite_unproven_entries(position);
  out_.sync();
  synced_hard_checkpoint_ = header_.hard_checkpoint();
  durable_end_ = position;
  write_slot(position, position);
}

// The checkpoint is durable, and may have overwritten a soft checkpoint. So memory claims the new
// checkpoint even if a later step fails.
void Checkpoint_Writer::finish_hard(Offset position) {
  assert(position > header_.hard_checkpoint());
  synced_hard_checkpoint_ = durable_end_ = position;
  claim_hard(position);
}

void Checkpoint_Writer::replace_own_seal() noexcept {
  try {
    write_word(header_.checkpoints().hard_index, 1, header_.hard_checkpoint());
  } catch (const std::exception&) {
  }
}

void Checkpoint_Writer::write_half(Offset position) {
  write_unsealed(position);
  claim_hard(position);
}

void Checkpoint_Writer::claim_hard(Offset position) {
  Checkpoints next = header_.checkpoints();
  next.hard_index ^= 1;
  next.hard_checkpoint = next.checkpoint = own_hard_checkpoint_ = position;
  header_.set(next);
  is_filled_ = false;
}

// Called before the other slot is written to (invariant 1).
void Checkpoint_Writer::sync_hard() {
  if (is_hard_durable()) return;
  rewrite_hard_slot();
  out_.datasync();
  synced_hard_checkpoint_ = header_.hard_checkpoint();
  durable_end_ = std::max(durable_end_, header_.hard_checkpoint());
}

void Checkpoint_Writer::sync() {
  rewrite_hard_slot();
  out_.sync();
  synced_hard_checkpoint_ = header_.hard_checkpoint();
}

// ---- after a failed sync of another process -----------------------------------------------------

// Writes the bytes [start, end) again. A failed sync of another process may have lost these bytes,
// although they can still be read: their pages are marked as clean, so no later sync would write
// them. After they have been written again, the next sync writes them to the disk, or fails.
void Checkpoint_Writer::rewrite(Offset start, Offset end) {
  for_each_piece(out_, start, end, std::size_t{1} << 18,
                 [&](std::string_view bytes, Offset offset) {
                   out_.pwrite(bytes.data(), bytes.size(), offset);
                 });
}

// Called before a sync that must make the bytes before `end` durable for a hard checkpoint.
void Checkpoint_Writer::rewrite_unproven_entries(Offset end) {
  constexpr auto words_end = static_cast<Offset>(checkpoint_words_size);
  if (!is_header_proven()) rewrite_words();
  rewrite(std::max(durable_end_, words_end), std::min(end, written_from_));
  if (end >= written_from_) written_from_ = std::min(written_from_, durable_end_);
}

void Checkpoint_Writer::rewrite_hard_slot() {
  const Offset hard = header_.hard_checkpoint();
  if (is_hard_durable()) return;
  const bool has_words = is_header_proven();
  rewrite_unproven_entries(hard);
  if (has_words && own_hard_checkpoint_ != hard) rewrite_words();
}

void Checkpoint_Writer::rewrite_words() {
  const Checkpoint_Words words = header_.read_words();
  for (std::size_t i = 0; i < words.size(); ++i)
    write_word(static_cast<int>(i / 2), static_cast<int>(i % 2), words[i]);
}

// ---- recovery -----------------------------------------------------------------------------------

// The seal is replaced before the file grows, for programs that do not know seals. Before that, the
// checkpoint must be on disk (invariant 8).
void Checkpoint_Writer::replace_seal() {
  const Offset hard = header_.hard_checkpoint();
  const Checkpoint_Words words = header_.read_words();
  for (int slot = 0; slot < 2; ++slot) {
    const auto first = 2 * static_cast<std::size_t>(slot);
    if (words[first] != hard || sealed_size(words[first + 1]) == 0) continue;
    sync_hard();
    write_word(slot, 1, hard);
  }
}

// True if the journal has entries, but its header has no checkpoint (Recovery::ignore_header).
// Before its first checkpoint, such a file must not look like an empty database.
bool Checkpoint_Writer::is_header_behind(const Checkpoint_Words& words) const {
  Checkpoints in_header;
  in_header.read(words, header_.checkpoint());
  return in_header.checkpoint == journal_start && header_.checkpoint() > journal_start;
}

// Restores invariant 1 after a power cut that has left a header without a hard checkpoint.
void Checkpoint_Writer::create_hard_slot() {
  if (header_.hard_checkpoint() > journal_start) return;
  const Checkpoint_Words words = header_.read_words();
  const int slot = header_.checkpoints().hard_index;
  const auto first = 2 * static_cast<std::size_t>(slot);
  if (words[first] == journal_start && words[first + 1] == journal_start) return;
  if (is_header_behind(words)) return;
  for (const int copy : {0, 1}) write_word(slot, copy, journal_start);
  out_.datasync();
}

// Maintains invariants 4 and 9. The new word is 41, which claims only the header, or 0, which
// claims nothing. The sync orders this write before the writes that extend the file. The soft word
// that counts is the smallest word. It is invalidated last, so that no older soft word counts in
// between.
void Checkpoint_Writer::invalidate_words_beyond(Offset file_size) {
  const Checkpoint_Words words = header_.read_words();
  std::array<std::size_t, 4> order{0, 1, 2, 3};
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return words[a] > words[b]; });
  bool found = false;
  const std::int64_t invalid = is_header_behind(words) ? 0 : journal_start;
  for (const std::size_t i : order) {
    if (words[i] >= -file_size && words[i] <= file_size) continue;
    write_word(static_cast<int>(i / 2), static_cast<int>(i % 2), invalid);
    found = true;
  }
  if (found) out_.datasync();
}

// If a bit of the only word with the last checkpoint flipped on the disk, the previous checkpoint
// would count. So the spare words repeat the last checkpoint. No invariant depends on them.
void Checkpoint_Writer::fill_spare_words() {
  const Offset position = header_.checkpoint();
  if (position == journal_start) return;
  const Checkpoint_Words words = header_.read_words();
  const int slot = header_.checkpoints().next_slot();
  const auto is = [&](int copy, std::int64_t word) {
    return words[static_cast<std::size_t>(2 * slot + copy)] == word;
  };
  if (position > header_.hard_checkpoint()) {
    const int spare = header_.checkpoints().soft_index ^ 1;
    if (is(spare ^ 1, -position) && !is(spare, -position)) write_word(slot, spare, -position);
  } else if (is_hard_durable() && !(is(0, position) && is(1, position))) {
    write_slot(position, position);
    is_filled_ = true;
  }
}

}  // namespace joedb::inline v1
