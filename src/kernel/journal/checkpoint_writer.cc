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
// 1. One slot holds the last acknowledged hard checkpoint, twice or with a seal that matches its
//    bytes, and all bytes before this checkpoint are on disk. The other slot is not written to
//    until this slot is on disk, too.
// 2. The last acknowledged checkpoint, soft or hard, can be read from the header: a soft word is
//    replaced only after another word holds a newer checkpoint. So a process may be killed at any
//    point and loses nothing that was checkpointed.
// 3. A word never claims a byte that was not written to the file before the word.
// 4. No soft word points beyond the end of the file when the file grows. A power cut leaves such a
//    word if the system had written the header, but not the entries. The word would claim the
//    different bytes that are written at these offsets later.
// 5. Memory claims a checkpoint only after the file has it.
//
// A process that writes words holds the tail lock. Readers need no lock against it: the words are
// true at every instant, readers read them before the size of the file, and the words never return
// to an earlier state.
//
// A sealed hard checkpoint at X (kernel/format/seal.h): the entries and (X, seal) are written, then
// synced once, in any order. Then:
//
// 6. The seal covers the bytes from a hard checkpoint that is known to be on disk to X. So if the
//    seal matches these bytes, everything before X is as it was written, even if the power failed
//    during the sync. If the sync had returned, the seal matches.
// 7. Nothing else in the header changes until the sync has returned: neither the slot with the
//    previous hard checkpoint (1), nor the words of this slot. Code that writes one of these words
//    first waits for the sync (Sync_Group::finish). If the power fails earlier, either the seal
//    matches, or the previous slot counts.
// 8. The seal is replaced by X only after a sync of both, by this process or by the next writer,
//    which finds the seal (replace_seal). So two equal copies mean the same to programs that do not
//    know seals.
// 9. A seal that does not match is invalidated like a soft word beyond the end (4), because its
//    word is larger than any file. So bytes that are written before X later cannot make it match.
//
// A hard checkpoint that was read from the file may have been written by a process that died before
// its sync, or be a half checkpoint. So it is relied on only after a sync by this process
// (sync_hard).

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
  // The slot has changed: the new slot may not be on disk, even if it holds the same position.
  if (header_.checkpoints().hard_index != hard_index)
    synced_hard_checkpoint_ = own_hard_checkpoint_ = journal_start;
  find_durable_end(words);
  return size;
}

// A position is twice in its slot only after a sync of the entries before it (8). If the slot has a
// seal instead, the other slot tells more: the other slot is not written to until the sealed
// checkpoint is on disk (1). So if the other slot holds anything but the previous hard checkpoint,
// the sealed checkpoint is on disk; otherwise only the previous checkpoint is known to be on disk.
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

// The last soft checkpoint may be in this slot. Its word is the smaller word of the slot, because
// it is negative. The smaller word is overwritten second (invariant 2).
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

// Writes the entries, syncs, then writes the position twice. The sync also completes an earlier
// half checkpoint, so that each half checkpoint takes one sync.
void Checkpoint_Writer::write_unsealed(Offset position) {
  rewrite_hard_slot();
  rewrite_unproven_entries(position);
  out_.sync();
  synced_hard_checkpoint_ = header_.hard_checkpoint();
  durable_end_ = position;
  write_slot(position, position);
}

// The checkpoint is durable, and a soft checkpoint in its slot has been overwritten, so memory
// claims the new checkpoint even if a later step fails.
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

// Writes [start, end) again. The system may show bytes that a failed sync of another process has
// lost: their pages are marked as clean, so no later sync would write them. Once the same bytes
// have been written again, the next sync writes them, or fails.
void Checkpoint_Writer::rewrite(Offset start, Offset end) {
  for_each_piece(out_, start, end, std::size_t{1} << 18,
                 [&](std::string_view bytes, Offset offset) {
                   out_.pwrite(bytes.data(), bytes.size(), offset);
                 });
}

// Called before a sync that a hard checkpoint at or after `end` relies on.
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

// Programs that do not know seals must find the position twice before the file grows, and the
// checkpoint must be on disk before its seal is replaced (invariant 8).
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

// True if the journal has entries, but its header has no checkpoint (Recovery::ignore_header). Such
// a file must not look like an empty database before its next checkpoint, the first of the header.
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

// Invariants 4 and 9. A word of 41 says only that the file has a header, 0 says nothing. The sync
// orders this write before the writes that extend the file. The soft word that counts is the
// smallest word. It is invalidated last, so that no older soft word counts in between.
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

// A bit of the last checkpoint's only word may flip on the disk while no process writes, and then
// the previous checkpoint would count. So the spare words repeat the last checkpoint. Nothing
// depends on them.
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
