#include "joedb/journal/readonly_journal.h"

#include <algorithm>
#include <cstring>

#include "kernel/base/interrupts.h"
#include "kernel/journal/integrity.h"

namespace joedb::inline v1 {

static constexpr std::size_t block_size = std::size_t{1} << 18;
static constexpr std::size_t piece_size = std::size_t{1} << 15;

void File_Decoder_Input::start(Offset offset, Offset limit) {
  if (offset == position())
    hash_to(offset);
  else
    hasher_.stop();
  reset(offset, limit);
  if (verifier_ == nullptr || !verifier_->checks_integrity() || limit <= verifier_->covered())
    hasher_.stop();
  else if (!hasher_.is_running())
    hasher_.start_at(offset);
}

// A damaged length can be greater than the size of the file, so memory is allocated only as bytes
// are read. Some bytes before the position stay in the buffer without being hashed: they may be the
// beginning of an integrity entry, which does not cover itself.
void File_Decoder_Input::refill(std::size_t size) {
  look_for_interrupt();
  const Offset start = position();
  Offset kept = 0;
  if (hasher_.is_running() && start >= buffer_start_ && start <= buffer_end_)
    kept =
        std::clamp<Offset>(start - std::max(buffer_start_, hasher_.end()), 0, integrity_entry_size);
  hash_to(start - kept);
  std::size_t have = window().size();
  const auto before = static_cast<std::size_t>(kept);
  if (before + have > 0)
    std::memmove(buffer_.data(), buffer_.data() + (start - kept - buffer_start_), before + have);
  buffer_start_ = start - kept;
  buffer_end_ = start + static_cast<Offset>(have);
  const auto wanted =
      std::max(size, static_cast<std::size_t>(std::min<Offset>(remaining(), block_size)));
  while (have < size) {
    const std::size_t target = std::min(wanted, std::max(block_size, 2 * have));
    if (buffer_.size() < before + target) buffer_.resize(before + target);
    char* const body = buffer_.data() + before;
    const std::size_t n =
        file_.pread(body + have, target - have, start + static_cast<Offset>(have));
    have += n;
    buffer_end_ = start + static_cast<Offset>(have);
    set_window(body, have, buffer_end_);
    if (n == 0)
      fail("Trying to read past the end of file: it ends at offset " +
           std::to_string(position() + static_cast<Offset>(have)));
  }
}

// If bytes are hashed, they are read in pieces, so that each piece is hashed while it is in the CPU
// cache.
void File_Decoder_Input::read_at(char* out, std::size_t size, Offset offset) {
  look_for_interrupt();
  hash_to(position());
  const Offset end = offset + static_cast<Offset>(size);
  while (offset < end && hasher_.is_running() && hasher_.end() == offset) {
    const std::size_t n = std::min(piece_size, static_cast<std::size_t>(end - offset));
    file_.read_exactly(out, n, offset);
    hasher_.add({out, n});
    out += n;
    offset += static_cast<Offset>(n);
  }
  if (offset < end) file_.read_exactly(out, static_cast<std::size_t>(end - offset), offset);
}

// ---- integrity entries --------------------------------------------------------------------------

// Hashes the decoded bytes up to `end` before they leave the buffer.
void File_Decoder_Input::hash_to(Offset end) {
  const Offset start = hasher_.end();
  if (!hasher_.is_running() || start >= end) return;
  if (start < buffer_start_ || end > buffer_end_)  // bytes were skipped
    hasher_.stop();
  else
    hasher_.add({buffer_.data() + (start - buffer_start_), static_cast<std::size_t>(end - start)});
}

// Returns the hash of [start, end), or nullopt if some of these bytes were skipped. If the range
// begins before the hashed bytes, it is read again. The number of such bytes is limited, because a
// hostile file could have many entries that cover bytes from its start.
std::optional<std::uint64_t> File_Decoder_Input::hash_of(Offset start, Offset end) {
  hash_to(end);
  if (!hasher_.is_running()) return std::nullopt;
  if (hasher_.start() == start && hasher_.end() <= end) return hasher_.hash();
  read_again_ += end - start;
  if (read_again_ > 4 * limit()) return std::nullopt;
  return Integrity_Reader(file_, start).hash(start, end);
}

// Throws Corruption_Error if the integrity entry that ends at position() does not match the bytes
// that it covers.
void File_Decoder_Input::compare(std::string_view payload) {
  const Offset end = position();
  const Offset start = end - integrity_entry_size;
  const Integrity_Reader reader(file_);
  const auto entry = decode_integrity_payload(payload);
  const bool is_damaged = entry ? entry->start < journal_start || entry->start > start
                                : resembles_integrity_payload(payload);
  if (is_damaged) throw reader.error_in_entry(end);
  if (!entry) return;
  if (!verifier_->may_begin_at(entry->start)) throw reader.error_without_entry(entry->start);
  const auto hash = hash_of(entry->start, start);
  if (hash && *hash != entry->hash) throw reader.error_before_entry(*entry, end);
  verifier_->set_covered(end, entry->kind);
}

void File_Decoder_Input::note_integrity(std::string_view payload) {
  if (verifier_ == nullptr) return;
  if (!verifier_->checks_integrity()) {
    // The entry counts as sparse, whatever its kind, because entries of the kind each_checkpoint
    // prove soft checkpoints only if the first of them precedes a hard checkpoint.
    if (resembles_integrity_payload(payload)) verifier_->note_unchecked_entry(Integrity::sparse);
    return;
  }
  const Offset end = position();
  try {
    if (end > verifier_->covered()) compare(payload);
  } catch (const Corruption_Error& error) {
    const Integrity_Reader reader(file_);
    // It is not an error if a later undamaged integrity entry covers these bytes: a writer with
    // Recovery::ignore_header has adopted them.
    read_again_ += limit() - end;
    if (read_again_ > 4 * limit()) verifier_->fail_in_replay(error, end);
    const auto good_end = reader.find_good_end(end, limit(), verifier_->covered());
    if (!good_end) verifier_->fail_in_replay(error, end);
    verifier_->set_covered(*good_end);
  }
  if (end == verifier_->covered()) hasher_.start_at(end);
}

// A text can end like an integrity entry, even like one whose range begins where the previous
// integrity entry ended. But such a text is rarely directly before the checkpoint, because a writer
// appends an empty comment after it (Integrity_Writer::ends_like_entry).
void File_Decoder_Input::require_last_entry() {
  const Offset end = position();
  if (verifier_ == nullptr || !verifier_->checks_integrity() || end != verifier_->checkpoint() ||
      end < verifier_->covered() + integrity_entry_size)
    return;
  const Offset start = end - integrity_entry_size;
  const bool is_in_buffer = start >= buffer_start_ && end <= buffer_end_;
  const auto entry = is_in_buffer ? decode_integrity({buffer_.data() + (start - buffer_start_),
                                                      std::size_t{integrity_entry_size}})
                                  : integrity_entry_before(file_, end);
  if (!entry || entry->start != verifier_->covered()) return;
  verifier_->fail_in_replay(Integrity_Reader(file_).error_before_entry(*entry, end), end);
}

void Replay::resume(const Replay_Place& place) {
  context_ = place.context;
  transaction_end_ = place.transaction_end;
  is_broken_ = false;
  header_.resume(place.position, place.covered);
  start_at(place.position);
}

}  // namespace joedb::inline v1
