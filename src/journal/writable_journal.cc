#include "joedb/journal/writable_journal.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "joedb/base/log.h"
#include "joedb/format/seal.h"

// The header has two slots of two words. What is always true, at every instant between two writes:
//
// 1. One slot holds the last acknowledged hard checkpoint, twice or with a seal that fits, and all
//    bytes before it are on disk. The other slot is not written to before this one is on disk, too.
// 2. The last acknowledged checkpoint, soft or hard, can be read from the header: a soft word is
//    replaced only after a newer checkpoint stands in another word. So a process may be killed
//    anywhere and loses nothing that was checkpointed.
// 3. A word never claims a byte that was not written to the file before it.
// 4. No soft word points beyond the end of the file when the file grows: such a word (the system
//    wrote the header before a power cut, but not the entries) would come back to life over other
//    bytes.
// 5. Memory claims a checkpoint only after the file has it.
//
// Whoever writes words has locked the tail of the file. Readers need no lock against that: what the
// words say is true at every instant, they read them before the size of the file, and they never go
// back.
//
// A sealed hard checkpoint at X (format/seal.h): entries and (X, seal) are written, then synced
// once, in any order. What is true then:
//
// 6. The seal covers the bytes from a hard checkpoint that is known to be on disk to X. So if it
//    fits, everything before X is what was written, whatever the sync had done when the power
//    failed; and if the sync had returned, it fits.
// 7. It stands alone. Until the sync has returned, the slot with the hard checkpoint before is not
//    touched (1), and no other word is written to this slot: whoever would, waits
//    (finish_hard_checkpoint). If the power fails earlier, either the seal fits, or the slot before
//    counts.
// 8. The seal gives way to X only after a sync that covers both: our own, or that of whoever finds
//    it (replace_seal). So two equal copies mean the same for programs that do not know seals.
// 9. A seal that does not fit is buried like a soft word beyond the end (4), for it is larger than
//    any file: the bytes that will stand there cannot make it fit.
//
// A hard checkpoint that was read from the file may be one that a process wrote and did not live to
// sync, or half a commit. So nobody relies on it before a sync of our own (sync_hard_slot).

namespace joedb::inline v1 {

static constexpr std::size_t first_buffer_size = std::size_t{1} << 12;
static constexpr std::size_t full_buffer_size = std::size_t{1} << 18;
static constexpr Offset writeback_step = Offset{1} << 23;

Writable_Journal::Writable_Journal(Abstract_File& file, Recovery recovery)
    : Readonly_Journal(file, Unopened()),
      out_(file, [this] { is_ready_ = false; }),
      buffer_(before_size + first_buffer_size),
      recovery_(recovery) {
  if (file.is_readonly() || recovery == Recovery::ignore_signature)
    throw Exception(file.get_name() + " is opened for reading only and cannot be written");
  if (recovery == Recovery::hard) require_presence_alone();
  std::optional<File_Lock> tail;
  if (is_shared()) tail.emplace(file, tail_lock, File_Lock::Kind::exclusive);
  const File_Lock head(file, head_lock, File_Lock::Kind::exclusive);
  open();
  go_to(get_checkpoint());
  has_integrity_ = has_integrity_ || is_covered();
  committed_covered_ = get_covered();
  start_replay_at(journal_start);
}

// ---- opening ------------------------------------------------------------------------------------

// Requires the locks: a size that was read before them may be that of another writer's half
// transaction.
void Writable_Journal::open() {
  const Offset size = file_.get_size();
  if (is_blank(size)) return create_header();
  open_header(recovery_, true);
  written_from_ = get_checkpoint();
  find_durable_end(read_words());
  is_recovered_ = false;
  if (size == Abstract_File::unknown_size) return;
  require_no_tail(size);
  if (recovery_ == Recovery::ignore_header) note_header_checkpoint(size);
}

// A new file or device; or a file that was created just before a power cut, or by a process that
// was killed then, so that it has zeros, or a piece of a header.
bool Writable_Journal::is_blank(Offset file_size) const {
  if (file_size == 0 || file_size > journal_start) return file_size == 0;
  std::array<char, header_size> bytes;
  const std::size_t size = file_.pread(bytes.data(), bytes.size(), 0);
  const std::string_view content(bytes.data(), size);
  if (content.find_first_not_of('\0') == content.npos)
    return file_size != Abstract_File::unknown_size || size == header_size;
  const auto header = encode_header(Header());
  return size < header_size && std::string_view(header.data(), header.size()).starts_with(content);
}

void Writable_Journal::create_header() {
  const auto bytes = encode_header(Header());
  out_.pwrite(bytes.data(), bytes.size(), 0);
  written_from_ = 0;
}

// Others may have been told of a soft checkpoint that would be lost.
void Writable_Journal::require_presence_alone() {
  if (is_shared())
    throw Exception(file_.get_name() +
                    ": Recovery::hard may remove checkpoints that others rely on. Open the file "
                    "alone (not shared)");
  if (!file_.try_exclusive_lock(presence_lock.start, presence_lock.size))
    throw Exception(file_.get_name() +
                    ": Recovery::hard may remove checkpoints that others rely on, and other "
                    "processes have the file open: end them first");
}

void Writable_Journal::require_no_tail(Offset file_size) const {
  const Offset checkpoint = get_checkpoint();
  if (recovery_ == Recovery::none && file_size > checkpoint &&
      !(file_size - checkpoint <= 2 * max_preallocation && file_.is_zero(checkpoint, file_size)))
    throw Unfinished_Transaction(file_.get_name(), checkpoint, file_size);
}

void Writable_Journal::note_header_checkpoint(Offset file_size) {
  Checkpoints in_header;
  in_header.read(without_seals(read_words(), file_size), get_checkpoint());
  for (const Offset end : {in_header.checkpoint, in_header.hard_checkpoint})
    has_integrity_ = has_integrity_ || Integrity_Reader(file_).entry_before(end);
  if (in_header.checkpoint < get_checkpoint()) header_checkpoint_ = in_header.checkpoint;
}

void Writable_Journal::finish_recovery() {
  require_lock();
  out_.require_no_failure();
  sync_hard_slot();
  if (had_seal()) replace_seal();
  const Offset checkpoint = get_checkpoint();
  const Offset size = file_.get_size();
  if (size == Abstract_File::unknown_size) {
    if (recovery_ == Recovery::hard) invalidate_words_beyond(checkpoint);
  } else {
    if (size > checkpoint && recovery_ == Recovery::keep) keep_tail(size);
    create_hard_slot();
    invalidate_words_beyond(checkpoint);
    if (size > checkpoint) drop_tail(size);
    if (recovery_ == Recovery::overwrite && size == checkpoint)
      write_soft_word(checkpoint);  // as joedb 10 does
  }
  if (recovery_ == Recovery::hard) file_.shared_lock(presence_lock.start, presence_lock.size);
  // From here on, only others can leave something behind the checkpoint.
  recovery_ = Recovery::keep;
  is_recovered_ = true;
}

// The journal has entries, and its header no checkpoint (Recovery::ignore_header). It must not look
// like an empty database before its next checkpoint, which is the first of the header.
bool Writable_Journal::is_header_behind(const Checkpoint_Words& words) const {
  Checkpoints in_header;
  in_header.read(words, get_checkpoint());
  return in_header.checkpoint == journal_start && get_checkpoint() > journal_start;
}

// Invariant 1, where a power cut has left a header without a hard checkpoint.
void Writable_Journal::create_hard_slot() {
  if (get_hard_checkpoint() > journal_start) return;
  const Checkpoint_Words words = read_words();
  const auto first = 2 * static_cast<std::size_t>(checkpoints_.hard_index);
  if (words[first] == journal_start && words[first + 1] == journal_start) return;
  if (is_header_behind(words)) return;
  for (const int copy : {0, 1}) write_word(checkpoints_.hard_index, copy, journal_start);
  out_.datasync();
}

void Writable_Journal::keep_tail(Offset file_size) {
  const Offset start = get_checkpoint();
  if (file_size - start <= 2 * max_preallocation && file_.is_zero(start, file_size)) return;
  constexpr int most_tails = 1000;
  const std::string suffix = ".tail-" + std::to_string(start);
  for (int number = 1; number <= most_tails; ++number) {
    const auto tail =
        file_.open_beside(number == 1 ? suffix : suffix + "-" + std::to_string(number),
                          Open_Mode::write_existing_or_create_new);
    if (!tail) break;
    if (tail->get_size() > 0) continue;
    file_.copy_end_to(*tail, start);
    tail->sync();
    saved_tail_ = tail->get_name();
    return;
  }
  throw Exception(file_.get_name() + ": the " + std::to_string(file_size - start) +
                  " bytes behind the checkpoint cannot be saved beside it. Recovery::overwrite "
                  "removes them");
}

// Invariant 4. A word of 41 says no more than that the file has a header, 0 says nothing. The sync
// keeps the order of this write and of those that make the file grow. The soft word that counts is
// the smallest, and is invalidated last: an older one must not count meanwhile.
void Writable_Journal::invalidate_words_beyond(Offset file_size) {
  const Checkpoint_Words words = read_words();
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

// The seal of a process that did not live to replace it. Programs that do not know seals must see
// the position before this file grows; and it must be on disk before it stands without its proof.
void Writable_Journal::replace_seal() {
  const Checkpoint_Words words = read_words();
  for (int slot = 0; slot < 2; ++slot) {
    const auto first = 2 * static_cast<std::size_t>(slot);
    if (words[first] != get_hard_checkpoint() || sealed_size(words[first + 1]) == 0) continue;
    sync_hard_slot();
    write_word(slot, 1, get_hard_checkpoint());
  }
}

Writable_Journal::~Writable_Journal() {
  try {
    finish_hard_checkpoint();
  } catch (const std::exception& error) {
    Destructor_Logger::warning(error.what());
  }
  if (get_position() > get_checkpoint() && !out_.has_failed()) {
    Destructor_Logger::warning("Writable_Journal: ahead of checkpoint");
    try {
      if (used_ > 0) {
        std::optional<File_Lock> tail;
        if (is_shared() && !is_locked_) tail.emplace(file_, tail_lock, File_Lock::Kind::exclusive);
        if (tail && has_tail_been_overtaken()) {
          Destructor_Logger::warning("dropping File_Buffer: another process has written since");
        } else {
          Destructor_Logger::warning("flushing File_Buffer");
          write_buffer();
        }
      }
    } catch (const std::exception& error) {
      Destructor_Logger::warning(error.what());
    }
  }
  if (out_.has_failed()) cut_after_failure();
  try {
    if (allocated_ > flushed_ && !out_.has_failed()) cut_to(flushed_);
    if (has_integrity_ && is_recovered_ && !is_shared() && !out_.has_failed()) fill_spare_words();
  } catch (const std::exception& error) {
    Destructor_Logger::warning(error.what());
  }
  unlock();
}

// After a failed write or sync, the program knows that its transaction has failed: a piece of it
// that stayed in the file would only make the next writer refuse the file. What a checkpoint of the
// header claims stays; so does what is behind the checkpoint of another process.
void Writable_Journal::cut_after_failure() noexcept {
  if (!is_recovered_) return;
  try {
    std::optional<File_Lock> tail;
    if (is_shared() && !is_locked_) tail.emplace(file_, tail_lock, File_Lock::Kind::exclusive);
    const Offset old = get_checkpoint();
    const Offset size = read_checkpoints(read_words());
    if (is_shared() && get_checkpoint() != old) return;
    const Offset end = std::max(get_checkpoint(), header_checkpoint_ ? flushed_ : journal_start);
    if (size > end) file_.truncate(end);
  } catch (const std::exception& error) {
    Destructor_Logger::warning(error.what());
  }
}

// Requires the tail lock: has another process written where our buffer would go?
bool Writable_Journal::has_tail_been_overtaken() {
  const Offset old = get_checkpoint();
  return read_checkpoints(read_words()) != flushed_ || get_checkpoint() != old;
}

// A tail that was taken in is not checkpointed: another process may have cut it off since.
void Writable_Journal::require_tail() const {
  if (!header_checkpoint_) return;
  Checkpoints in_header;
  in_header.read(read_words(), get_checkpoint());
  const Offset size = file_.get_size();
  const bool has_zeros =
      !is_recovered_ && size > get_checkpoint() && file_.is_zero(get_checkpoint(), size);
  if (in_header.checkpoint != *header_checkpoint_ || (size != get_checkpoint() && !has_zeros))
    throw Exception(file_.get_name() +
                    ": another process has written since the tail was taken in: open it again");
}

void Writable_Journal::cut_to(Offset size) {
  if (file_.get_size() != Abstract_File::unknown_size && !out_.truncate(size))
    throw Exception(file_.get_name() + " cannot be truncated");
  allocated_ = 0;
}

// What a dead writer has left may end with an integrity entry. Should the next one's soft
// checkpoint reach the disk and its bytes not, these must not stand there instead, at the same
// position.
void Writable_Journal::drop_tail(Offset file_size) {
  const bool is_short = file_size - get_checkpoint() <= 2 * max_preallocation;
  if ((has_integrity_ || is_covered()) && is_short && !file_.is_zero(get_checkpoint(), file_size)) {
    out_.write_zeros(get_checkpoint(), file_size);
    out_.datasync();
  }
  cut_to(get_checkpoint());
}

// ---- locks --------------------------------------------------------------------------------------

void Writable_Journal::lock_pull() {
  finish_hard_checkpoint();
  if (used_ > 0 || ahead_of_checkpoint() > 0)
    throw Exception("locking journal with uncheckpointed data (try rollback?)");
  if (!is_shared() || is_locked_) return;
  file_.exclusive_lock(tail_lock.start, tail_lock.size);
  is_locked_ = true;
  try {
    require_tail();
    const int hard_index = checkpoints_.hard_index;
    const Checkpoint_Words words = read_words();
    const Offset size = read_checkpoints(words);
    // The same position in the other slot may not be on disk there.
    if (checkpoints_.hard_index != hard_index)
      synced_hard_checkpoint_ = own_hard_checkpoint_ = journal_start;
    find_durable_end(words);
    is_recovered_ = is_recovered_ && !had_seal() && size <= get_checkpoint();
    if (flushed_ != get_checkpoint()) {
      go_to(get_checkpoint());
      written_from_ = get_checkpoint();
    }
    has_integrity_ = has_integrity_ || is_covered();
    committed_covered_ = get_covered();
  } catch (...) {
    unlock();
    throw;
  }
}

void Writable_Journal::unlock() noexcept {
  if (!is_locked_) return;
  try {
    finish_hard_checkpoint();
  } catch (const std::exception&) {  // out_ remembers
  }
  file_.unlock(tail_lock.start, tail_lock.size);
  is_locked_ = false;
  is_ready_ = false;
}

// ---- appending ----------------------------------------------------------------------------------

void Writable_Journal::require_lock() const {
  if (is_shared() && !is_locked_)
    throw Exception(file_.get_name() + " is shared: it can be written only in a transaction");
}

void Writable_Journal::require_no_blob() const {
  if (is_in_blob_)
    throw Exception(file_.get_name() + ": a blob is being written, and nothing else can be");
}

void Writable_Journal::get_ready() {
  require_no_blob();
  require_lock();
  out_.require_no_failure();
  if (!is_replayed() || ahead_of_checkpoint() > 0)
    throw Exception(file_.get_name() + ": the journal must be replayed before it is written");
  recover();
  is_ready_ = true;
  if (out_.has_failed()) is_ready_ = false;  // in another thread, just now
}

// Between entries the buffer holds whole entries, so that is what a flush writes.
void Writable_Journal::make_room(std::size_t size) {
  flush_buffer();
  const std::size_t old = buffer_.size() - before_size;
  const std::size_t wanted = std::max(size, std::min(full_buffer_size, 4 * old));
  if (wanted > old) buffer_.resize(before_size + wanted);
}

void Writable_Journal::append_bytes(const char* data, std::size_t size) {
  if (size < full_buffer_size) {
    char* const out = reserve(size);
    if (size > 0) std::memcpy(out, data, size);
    used_ += size;
  } else {
    flush();
    write(data, size);
  }
}

Blob Writable_Journal::begin_blob(std::int64_t size) {
  char* const out = reserve(entry_size_limit);
  use_to(encode_blob(out, static_cast<std::size_t>(size)));
  return {get_position(), size};
}

Blob Writable_Journal::append_blob(std::string_view bytes) {
  require_ready();
  if (bytes.size() == std::size_t{integrity_payload_size} && decode_integrity_payload(bytes))
    throw Data_Error("a blob must not look like an integrity entry");
  return append_whole([&] {
    const Blob blob = begin_blob(static_cast<std::int64_t>(bytes.size()));
    append_bytes(bytes.data(), bytes.size());
    return blob;
  });
}

void Writable_Journal::copy_from(const Abstract_File& source, Offset end) {
  require_lock();
  recover();
  flush();
  make_space(end);
  try {
    source.copy_to(out_, flushed_, end - flushed_);
  } catch (...) {
    if (!out_.has_failed()) cut_to(flushed_);
    throw;
  }
  go_to(std::max(flushed_, end));
  is_ready_ = false;
}

std::string Writable_Journal::read_blob(Blob blob, std::int64_t max_size) {
  if (used_ > 0 && blob.get_position() > flushed_ - blob.get_size()) flush();
  return file_.read_blob(blob, max_size);
}

void Writable_Journal::flush() {
  require_no_blob();
  flush_buffer();
}

void Writable_Journal::flush_buffer() {
  if (used_ == 0) return;
  require_lock();
  write_buffer();
}

void Writable_Journal::write_buffer() {
  write(body(), used_);
  used_ = 0;
}

void Writable_Journal::write(const char* data, std::size_t size) {
  const Offset end = flushed_ + static_cast<Offset>(size);
  make_space(end);
  out_.pwrite(data, size, flushed_);
  flushed_ = end;
  if (flushed_ - sent_ >= writeback_step) {
    out_.start_writeback(sent_, flushed_);
    sent_ = flushed_;
  }
  if (data == body()) {
    std::memmove(buffer_.data(), buffer_.data() + size, before_size);
    knows_before_ = knows_before_ || size >= before_size;
  } else {
    knows_before_ = false;
  }
}

// The buffer will be written at `offset`; what stands before it may be new.
void Writable_Journal::go_to(Offset offset) noexcept {
  flushed_ = sent_ = offset;
  knows_before_ = false;
}

// ---- preallocation ------------------------------------------------------------------------------

void Writable_Journal::preallocate(Offset step) {
  if (is_shared() || file_.get_size() == Abstract_File::unknown_size)
    throw Exception(file_.get_name() + ": only a file that is opened alone can grow ahead");
  if (step < 0 || step > max_preallocation)
    throw Exception("a file grows ahead by 0 to " + std::to_string(max_preallocation) +
                    " bytes at a time, not " + std::to_string(step));
  preallocation_ = step;
}

// Zeros are written, for a file that only has room still changes its metadata at the first write to
// each block. What fails here has cost nothing: a disk that is full refuses the entries, too.
void Writable_Journal::make_space(Offset end) {
  if (preallocation_ == 0 || end <= allocated_) return;
  out_.require_no_failure();
  const Offset new_end = (end / preallocation_ + 1) * preallocation_;
  try {
    file_.write_zeros(end, new_end);
    allocated_ = new_end;
  } catch (const Io_Error&) {
    preallocation_ = 0;
    cut_to(flushed_);
  }
}

// ---- checkpoints --------------------------------------------------------------------------------

void Writable_Journal::write_word(int slot, int copy, std::int64_t word) {
  char bytes[sizeof word];
  store(bytes, word);
  out_.pwrite(bytes, sizeof bytes, checkpoint_word_offset(slot, copy));
}

// Invariant 1: the other slot is not written to before the hard checkpoint is on disk. So if it
// holds something else than the hard checkpoint before, the newest one is on disk; otherwise only
// that one is known to be.
void Writable_Journal::find_durable_end(const Checkpoint_Words& words) {
  const auto other = 2 * static_cast<std::size_t>(checkpoints_.next_slot());
  const std::int64_t before = words[other];
  const bool is_hard = before == words[other + 1] && before >= journal_start;
  const Offset end = is_hard ? std::min(before, get_hard_checkpoint()) : get_hard_checkpoint();
  if (end > journal_start) durable_end_ = std::max(durable_end_, end);
}

// The system may show bytes that a failed sync of another process has lost. It takes their pages
// for clean, so that no later sync would write them. The same bytes, written again, are written by
// the next sync, or that fails.
void Writable_Journal::rewrite(Offset start, Offset end) {
  std::vector<char> bytes(static_cast<std::size_t>(
      std::clamp<Offset>(end - start, 0, static_cast<Offset>(full_buffer_size))));
  while (start < end) {
    const auto size = std::min(bytes.size(), static_cast<std::size_t>(end - start));
    file_.read_exactly(bytes.data(), size, start);
    out_.pwrite(bytes.data(), size, start);
    start += static_cast<Offset>(size);
  }
}

// Before a sync on which a hard checkpoint at `end`, or behind it, relies.
void Writable_Journal::rewrite_unproven_entries(Offset end) {
  constexpr auto words_end = static_cast<Offset>(checkpoint_words_size);
  if (!is_header_proven()) rewrite_words();
  rewrite(std::max(durable_end_, words_end), std::min(end, written_from_));
  if (end >= written_from_) written_from_ = std::min(written_from_, durable_end_);
}

void Writable_Journal::rewrite_hard_slot() {
  if (synced_hard_checkpoint_ == get_hard_checkpoint()) return;
  const bool has_words = is_header_proven();
  rewrite_unproven_entries(get_hard_checkpoint());
  if (has_words && own_hard_checkpoint_ != get_hard_checkpoint()) rewrite_words();
}

void Writable_Journal::rewrite_words() {
  const Checkpoint_Words words = read_words();
  for (std::size_t i = 0; i < words.size(); ++i)
    write_word(static_cast<int>(i / 2), static_cast<int>(i % 2), words[i]);
}

// Invariant 1.
void Writable_Journal::sync_hard_slot() {
  if (synced_hard_checkpoint_ == get_hard_checkpoint()) return;
  rewrite_hard_slot();
  out_.datasync();
  synced_hard_checkpoint_ = get_hard_checkpoint();
  durable_end_ = std::max(durable_end_, get_hard_checkpoint());
}

void Writable_Journal::soft_checkpoint() {
  finish_hard_checkpoint();
  if (get_checkpoint() >= get_position() && !header_checkpoint_) return;
  require_lock();
  recover();
  append_integrity();
  flush();
  write_soft_word(get_position());
  start_replay_after_checkpoint();
}

void Writable_Journal::write_soft_word(Offset position) {
  sync_hard_slot();
  const int copy = checkpoints_.soft_index ^ 1;
  write_word(checkpoints_.next_slot(), copy, -position);
  checkpoints_.soft_index = copy;
  checkpoints_.checkpoint = position;
  header_checkpoint_.reset();
  committed_covered_ = get_covered();
}

// What this object has appended need not be replayed.
void Writable_Journal::start_replay_after_checkpoint() {
  if (is_ready_) start_replay_at(get_checkpoint());
}

// Entries first, then the claim, made twice; a sync between the two. The sync also completes a half
// commit before this one, which thus costs one sync each.
void Writable_Journal::write_hard_checkpoint(Offset position) {
  flush();
  rewrite_hard_slot();
  rewrite_unproven_entries(position);
  out_.sync();
  synced_hard_checkpoint_ = get_hard_checkpoint();
  durable_end_ = position;
  write_slot(position, position);
}

// Requires that the hard checkpoint is on disk, for the seal covers only what stands behind it.
void Writable_Journal::write_sealed_checkpoint(Offset position) {
  rewrite_unproven_entries(position);
  std::int64_t seal;
  if (flushed_ == get_hard_checkpoint()) {
    seal = make_seal({body(), used_}, position);
    flush();
  } else {
    flush();
    seal = seal_of(get_hard_checkpoint(), position);
  }
  write_slot(position, seal);
}

// The last soft checkpoint may be in this slot; it is the smaller of the two words, for it is
// negative. Its copy is written second (invariant 2).
void Writable_Journal::write_slot(std::int64_t copy_0, std::int64_t copy_1) {
  const Checkpoint_Words words = read_words();
  const int slot = checkpoints_.next_slot();
  const auto first = 2 * static_cast<std::size_t>(slot);
  if (words[first] >= 0 && words[first + 1] >= 0) {
    char bytes[2 * sizeof copy_0];
    store(store(bytes, copy_0), copy_1);
    out_.pwrite(bytes, sizeof bytes, checkpoint_word_offset(slot, 0));
  } else if (words[first] < words[first + 1]) {
    write_word(slot, 1, copy_1);
    write_word(slot, 0, copy_0);
  } else {
    write_word(slot, 0, copy_0);
    write_word(slot, 1, copy_1);
  }
}

void Writable_Journal::hard_checkpoint() {
  finish_hard_checkpoint();
  if (get_hard_checkpoint() >= get_position()) return sync_hard_slot();
  begin_hard_checkpoint();
  sync_hard_checkpoint();
  finish_hard_checkpoint();
}

void Writable_Journal::wait(Offset position) {
  require_position(position);
  if (!is_durable(position)) hard_checkpoint();
}

void Writable_Journal::require_position(Offset position) const {
  if (position > get_position())
    throw Exception(file_.get_name() + ": what should become durable was rolled back");
}

// What is done under the lock of the program: all but the last sync.
void Writable_Journal::begin_hard_checkpoint() {
  require_lock();
  recover();
  append_integrity();
  const Offset position = get_position();
  const bool is_sealed = has_seals_ && is_header_proven() &&
                         synced_hard_checkpoint_ == get_hard_checkpoint() &&
                         position - get_hard_checkpoint() < seal_limit;
  if (is_sealed)
    write_sealed_checkpoint(position);
  else
    write_hard_checkpoint(position);
  pending_ = {position, is_sealed};
  ++sync_number_;
}

// Without that lock.
void Writable_Journal::sync_hard_checkpoint() noexcept {
  std::exception_ptr error;
  try {
    out_.datasync();
  } catch (...) {
    error = std::current_exception();
  }
  {
    const std::lock_guard lock(sync_mutex_);
    sync_error_ = error;
    ++done_number_;
  }
  sync_done_.notify_all();
}

bool Writable_Journal::is_syncing() {
  const std::lock_guard lock(sync_mutex_);
  return done_number_ < sync_number_;
}

void Writable_Journal::wait_for_sync(std::uint64_t number) {
  std::unique_lock lock(sync_mutex_);
  sync_done_.wait(lock, [&] { return done_number_ >= number; });
}

// Under the lock of the program, by whoever comes first.
void Writable_Journal::finish_hard_checkpoint() {
  if (!pending_) return;
  wait_for_sync(sync_number_);
  const Pending done = *pending_;
  pending_.reset();
  if (sync_error_) std::rethrow_exception(std::exchange(sync_error_, nullptr));
  synced_hard_checkpoint_ = durable_end_ = done.position;
  // It is durable, and a soft checkpoint that stood in this slot is gone: whatever happens now,
  // this one is there. If the seal stays, whoever opens the file next replaces it.
  claim_hard_checkpoint(done.position);
  if (!done.is_sealed) return;
  try {
    write_word(checkpoints_.hard_index, 1, done.position);
  } catch (const Exception&) {
  }
}

void Writable_Journal::checkpoint_half_commit() {
  finish_hard_checkpoint();
  if (get_hard_checkpoint() >= get_position()) return;
  require_lock();
  recover();
  append_integrity();
  const Offset position = get_position();
  write_hard_checkpoint(position);
  claim_hard_checkpoint(position);
}

// ---- integrity entries --------------------------------------------------------------------------

void Writable_Journal::enable_integrity() {
  require_ready();
  finish_hard_checkpoint();
  if (has_integrity_) return;
  append_integrity_entry();
  has_integrity_ = true;
  hard_checkpoint();
}

void Writable_Journal::append_integrity() {
  if (!has_integrity_) return hide_false_integrity();
  if (get_position() == get_covered()) return;
  if (!is_ready_ && is_replayed() && ahead_of_checkpoint() == 0) get_ready();
  if (is_ready_) append_integrity_entry();
}

// A text that ends like an integrity entry must not be taken for one.
void Writable_Journal::hide_false_integrity() {
  if (!is_ready_ || get_position() < journal_start + integrity_entry_size) return;
  if (!knows_before_ && used_ < before_size) {
    file_.read_exactly(buffer_.data(), before_size, flushed_ - integrity_entry_size);
    knows_before_ = true;
  }
  if (resembles_integrity({buffer_.data() + used_, before_size})) append(Comment{""});
}

void Writable_Journal::append_integrity_entry() {
  const Offset start = get_covered();
  std::uint64_t hash;
  if (start >= flushed_) {
    hash = integrity_hash(
        std::string_view(body(), used_).substr(static_cast<std::size_t>(start - flushed_)),
        static_cast<std::uint64_t>(start));
  } else {
    flush();
    hash = Integrity_Reader(file_, start).hash(start, flushed_).value();
  }
  const auto entry = encode_integrity({start, hash});
  append_bytes(entry.data(), entry.size());
  set_covered(get_position());
}

// A bit of the last checkpoint's only word may change on the disk while the file is closed, and
// the one before it would count. So the words that are left say the same. Nothing depends on them.
void Writable_Journal::fill_spare_words() {
  if (get_checkpoint() == journal_start || ahead_of_checkpoint() > 0) return;
  const Checkpoint_Words words = read_words();
  const int slot = checkpoints_.next_slot();
  const auto is = [&](int copy, std::int64_t word) {
    return words[static_cast<std::size_t>(2 * slot + copy)] == word;
  };
  const Offset position = get_checkpoint();
  if (position > get_hard_checkpoint()) {
    const int spare = checkpoints_.soft_index ^ 1;
    if (is(spare ^ 1, -position) && !is(spare, -position)) write_word(slot, spare, -position);
  } else if (synced_hard_checkpoint_ == position && !(is(0, position) && is(1, position))) {
    write_slot(position, position);
  }
}

void Writable_Journal::claim_hard_checkpoint(Offset position) {
  checkpoints_.hard_index ^= 1;
  checkpoints_.hard_checkpoint = checkpoints_.checkpoint = position;
  own_hard_checkpoint_ = position;
  header_checkpoint_.reset();
  committed_covered_ = get_covered();
  start_replay_after_checkpoint();
}

void Writable_Journal::checkpoint(Checkpoint_Level level) {
  switch (level) {
    case Checkpoint_Level::soft:
      return soft_checkpoint();
    case Checkpoint_Level::half:
      return checkpoint_half_commit();
    case Checkpoint_Level::hard:
      return hard_checkpoint();
  }
}

void Writable_Journal::commit() {
  finish_hard_checkpoint();
  flush();
  rewrite_hard_slot();
  out_.sync();
  synced_hard_checkpoint_ = get_hard_checkpoint();
}

// ---- rollback -----------------------------------------------------------------------------------

void Writable_Journal::require_replay() {
  is_ready_ = false;
  if (ahead_of_checkpoint() == 0) rewind();
}

void Writable_Journal::rollback() {
  require_no_blob();
  finish_hard_checkpoint();
  if (ahead_of_checkpoint() == 0) return;
  if (flushed_ > get_checkpoint()) {
    std::optional<File_Lock> tail;
    if (is_shared() && !is_locked_) tail.emplace(file_, tail_lock, File_Lock::Kind::exclusive);
    if (!tail || !has_tail_been_overtaken()) cut_to(get_checkpoint());
  }
  used_ = 0;
  go_to(get_checkpoint());
  set_covered(committed_covered_);
  is_ready_ = false;
  rewind();
}

void Writable_Journal::rewind() {
  finish_hard_checkpoint();
  if (ahead_of_checkpoint() > 0)
    throw Exception(file_.get_name() + ": rewinding a journal with uncheckpointed data");
  is_ready_ = false;
  Readonly_Journal::rewind();
}

// After a failed write the piece of an entry stays in the file, behind all checkpoints to come.
void Writable_Journal::forget_after(Offset position, const Context& context) noexcept {
  context_ = context;
  try {
    if (flushed_ > position && !out_.has_failed()) {
      out_.truncate(position);
      go_to(position);
      allocated_ = 0;
    }
  } catch (const std::exception&) {  // what is being thrown says more
  }
  used_ = flushed_ <= position ? static_cast<std::size_t>(position - flushed_) : 0;
}

}  // namespace joedb::inline v1
