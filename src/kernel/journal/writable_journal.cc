#include "joedb/journal/writable_journal.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "joedb/base/log.h"
#include "kernel/journal/integrity.h"

namespace joedb::inline v1 {

// Outside a transaction, holds the tail lock of a shared file for the lifetime of this object.
class Writable_Journal::Tail_Lock {
 public:
  explicit Tail_Lock(const Writable_Journal& journal) {
    if (journal.is_shared() && !journal.is_locked_)
      lock_.emplace(journal.file_, tail_lock, File_Lock::Kind::exclusive);
  }
  bool is_new() const { return lock_.has_value(); }

 private:
  std::optional<File_Lock> lock_;
};

// ---- opening and closing ------------------------------------------------------------------------

Writable_Journal::Writable_Journal(Abstract_File& file, const Journal_Options& options)
    : file_(file),
      out_(file, [this] { is_ready_ = false; }),
      header_(file),
      replay_(out_, header_),
      buffer_(file, out_),
      checkpoints_(out_, header_, options.has_seals),
      syncs_(out_),
      integrity_(file, buffer_, header_),
      recovery_(file, out_, header_, checkpoints_, buffer_, integrity_,
                options.recovery.value_or(Recovery::none)),
      ends_transactions_(options.ends_transactions.value_or(false)),
      wants_integrity_(options.has_integrity.value_or(ends_transactions_)),
      default_level_(options.default_level) {
  if (!is_shared()) out_.keep_recent(options.recent_size);
  const Tail_Lock tail(*this);
  const File_Lock head(file, head_lock, File_Lock::Kind::exclusive);
  if (options.preallocation)
    preallocate(*options.preallocation);
  else
    is_preallocation_automatic_ = !is_shared() && file.has_slow_growth();
  recovery_.open();
  buffer_.restart_at(get_checkpoint());
  if (header_.is_covered()) integrity_.enable(*header_.integrity());
  integrity_.keep();
  replay_.start_at(journal_start);
}

void Writable_Journal::recover() {
  if (recovery_.is_finished()) return;
  require_lock();
  recovery_.finish();
}

static void warn_of_tail(const Abstract_File& file) {
  Destructor_Logger::warning(
      file.get_name() +
      ": closed with an unfinished transaction after its last checkpoint, which " +
      "soft_checkpoint(), hard_checkpoint() or rollback() prevents");
}

Writable_Journal::~Writable_Journal() {
  if (file_.is_inherited()) return;
  const auto warn = [](auto f) {
    try {
      f();
    } catch (const std::exception& error) {
      Destructor_Logger::warning(error.what());
    }
  };
  warn([&] { finish_hard_checkpoint(); });
  try {
    require_not_replaced_at_end();
  } catch (const File_Replaced& error) {  // the file must not be written or truncated
    Destructor_Logger::warning(error.what());
    return;
  } catch (const std::exception& error) {  // it is unknown whether the file was replaced
    Destructor_Logger::warning(error.what());
  }
  if (ahead_of_checkpoint() > 0 && !out_.has_failed()) {
    if (buffer_.is_empty())
      warn_of_tail(file_);
    else
      warn([&] { flush_at_end(); });
  }
  if (!out_.has_failed() && !is_shared()) warn([&] { cover_rest(); });
  if (out_.has_failed() && !is_shared()) recovery_.cut_after_failure();
  if (!out_.has_failed())
    warn([&] {
      if (buffer_.has_zeros_ahead()) buffer_.truncate(buffer_.flushed());
      if (!is_shared()) fill_spare_words();
    });
  unlock();
}

// Covers bytes that have a soft checkpoint, but no integrity entry.
void Writable_Journal::cover_rest() {
  if (!has_appended_ || is_copy_ || is_in_blob_ || ahead_of_checkpoint() != 0) return;
  if (!has_integrity() || !integrity_.has_uncovered_bytes()) return;
  integrity_.append_entry();
  flush();
  checkpoints_.write_soft(get_position());
}

// Copies the last checkpoint to the spare words if the journal has integrity entries, so that a
// flipped bit of the header does not hide this checkpoint.
void Writable_Journal::fill_spare_words() {
  if (has_integrity() && recovery_.is_finished() && ahead_of_checkpoint() <= 0)
    checkpoints_.fill_spare_words();
}

// Does nothing if the destructor will not write anything.
void Writable_Journal::require_not_replaced_at_end() const {
  const bool has_more = ahead_of_checkpoint() > 0 || buffer_.has_zeros_ahead() || has_integrity();
  if (has_more && !is_shared()) file_.require_not_replaced();
}

void Writable_Journal::flush_at_end() {
  const Tail_Lock tail(*this);
  if (tail.is_new() && recovery_.has_tail_been_overtaken()) {
    Destructor_Logger::warning(file_.get_name() +
                               ": the changes after the last checkpoint are dropped, because "
                               "another process has written since");
  } else {
    warn_of_tail(file_);
    try {
      buffer_.flush();
    } catch (...) {
      recovery_.cut_after_failure();
      throw;
    }
  }
}

// ---- locks --------------------------------------------------------------------------------------

void Writable_Journal::require_no_entries_ahead() const {
  if (!buffer_.is_empty() || ahead_of_checkpoint() > 0)
    throw Exception("locking journal with uncheckpointed data (try rollback?)");
}

// Called after the checkpoints were read again.
void Writable_Journal::follow_others() {
  if (buffer_.flushed() != get_checkpoint()) {
    buffer_.restart_at(get_checkpoint());
    checkpoints_.set_written_from(get_checkpoint());
  }
  if (header_.is_covered()) integrity_.enable(*header_.integrity());
  integrity_.keep();
}

// If a tail was adopted, the size of the file must be read while the write lock is held.
void Writable_Journal::pull() {
  finish_hard_checkpoint();
  require_no_entries_ahead();
  if (is_locked_) return;
  if (is_shared() && recovery_.has_adopted_tail()) {
    lock_pull();
    return unlock();
  }
  file_.require_not_replaced();
  if (!is_shared()) return;
  const File_Lock head(file_, head_lock, File_Lock::Kind::shared);
  checkpoints_.update(header_.read_stable_words());
  follow_others();
}

bool Writable_Journal::try_lock() {
  if (!is_shared() || is_locked_ || is_tail_locked_) return true;
  file_.ensure_exists();
  return is_tail_locked_ = file_.try_exclusive_lock(tail_lock.start, tail_lock.size);
}

void Writable_Journal::lock_pull() {
  try {
    finish_hard_checkpoint();
    require_no_entries_ahead();
  } catch (...) {
    if (std::exchange(is_tail_locked_, false)) file_.unlock(tail_lock.start, tail_lock.size);
    throw;
  }
  if (is_locked_) return;
  if (!is_shared()) return file_.require_not_replaced();
  file_.ensure_exists();
  if (!is_tail_locked_) file_.exclusive_lock(tail_lock.start, tail_lock.size);
  is_tail_locked_ = false;
  is_locked_ = true;
  try {
    file_.require_not_replaced();
    recovery_.require_adopted_tail();
    recovery_.reopen(checkpoints_.update());
    follow_others();
  } catch (...) {
    unlock();
    throw;
  }
}

void Writable_Journal::unlock() noexcept {
  if (file_.is_inherited()) return;
  if (std::exchange(is_tail_locked_, false)) file_.unlock(tail_lock.start, tail_lock.size);
  if (!is_locked_) return;
  try {
    finish_hard_checkpoint();
    if (std::exchange(has_new_checkpoint_, false) && !out_.has_failed()) fill_spare_words();
  } catch (const std::exception&) {  // out_ remembers the failure
  }
  if (out_.has_failed()) recovery_.cut_after_failure();
  file_.unlock(tail_lock.start, tail_lock.size);
  is_locked_ = false;
  is_ready_ = has_appended_ = false;
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

bool Writable_Journal::is_unfinished() const {
  constexpr Offset empty_comment = 2;
  const bool ends_with_integrity = header_.covered() == get_position();
  if (ends_with_integrity && replay_.transaction_end() >= get_position() - integrity_entry_size)
    return false;
  for (Offset at = replay_.transaction_end(); at < get_position();) {
    char bytes[integrity_entry_size];
    const Offset size = std::min(get_position() - at, integrity_entry_size);
    read(bytes, static_cast<std::size_t>(size), at);
    if (size >= empty_comment && bytes[0] == static_cast<char>(Opcode::comment) && bytes[1] == 0)
      at += empty_comment;
    else if (size == integrity_entry_size && decode_integrity({bytes, sizeof bytes}))
      at += integrity_entry_size;
    else
      return true;
  }
  return false;
}

// `is_for_end` says that the caller is about to append the end of a transaction.
void Writable_Journal::get_ready(bool is_for_end) {
  file_.require_own_process();
  if (is_ready_) return;  // true in a child process that has the file in its own memory
  require_no_blob();
  require_lock();
  out_.require_no_failure();
  if (!replay_.is_complete() || ahead_of_checkpoint() > 0)
    throw Exception(file_.get_name() + ": the journal must be replayed before it is written" +
                    (ahead_of_checkpoint() > 0 ? ", after rollback()" : ""));
  file_.ensure_exists();
  recover();
  const bool must_end = ends_transactions_ && !is_for_end && is_unfinished();
  start_integrity();
  is_ready_ = has_appended_ = true;
  if (out_.has_failed()) is_ready_ = false;  // a sync in another thread has just failed
  if (must_end && is_ready_) append(Valid_Data{});
}

// Enables integrity entries if the journal already has such entries, or is new.
void Writable_Journal::start_integrity() {
  if (!has_integrity()) {
    const auto found = header_.integrity();
    if (found && (recovery_.has_file_size() || *found != Integrity::sparse))
      integrity_.enable(*found);
    else if (recovery_.has_file_size() && wants_integrity_ &&
             get_position() - journal_start <= integrity_step)
      integrity_.enable(Integrity::sparse);
  }
  integrity_.keep();
  integrity_.begin();
}

Blob Writable_Journal::begin_blob(std::int64_t size) {
  char* const out = buffer_.reserve(entry_size_limit);
  buffer_.use_to(encode_blob(out, static_cast<std::size_t>(size)));
  return {get_position(), size};
}

void Writable_Journal::require_no_integrity_payload(std::string_view bytes) {
  if (bytes.size() == std::size_t{integrity_payload_size} && resembles_integrity_payload(bytes))
    throw Data_Error("a blob must not look like an integrity entry");
}

Blob Writable_Journal::append_blob(std::string_view bytes) {
  require_ready();
  require_no_integrity_payload(bytes);
  const auto size = static_cast<std::int64_t>(bytes.size());
  const Blob blob = append_whole([&] {
    cover_around_blob(size);
    const Blob result = begin_blob(size);
    buffer_.append(bytes.data(), bytes.size());
    return result;
  });
  cover_around_blob(size);
  return blob;
}

// Called before and after a large blob. Readers skip the blob; with an entry on each side of it,
// they can still verify the bytes around it.
void Writable_Journal::cover_around_blob(std::int64_t size) {
  if (size >= integrity_step && has_integrity() && integrity_.has_uncovered_bytes())
    integrity_.append_entry();
}

void Writable_Journal::copy_from(const Abstract_File& source, Offset end) {
  require_lock();
  file_.ensure_exists();
  recover();
  flush();
  const Offset start = buffer_.flushed();
  try {
    source.copy_to(out_, start, end - start);
    buffer_.preallocate_behind(end);
    // Later integrity entries of this journal have the kind that the other journal has.
    Integrity_Reader reader(out_, end - integrity_entry_size);
    const auto last = end > start ? reader.entry_before(end) : std::nullopt;
    if (end > start && reader.check(end, header_.covered())) {
      header_.set_covered(end, last->kind);
      integrity_.enable(last->kind);
    }
  } catch (...) {
    if (!out_.has_failed()) buffer_.truncate(start);
    throw;
  }
  buffer_.restart_at(std::max(start, end));
  is_ready_ = has_appended_ = false;
}

std::string Writable_Journal::read_blob(Blob blob, std::int64_t max_size) {
  if (!buffer_.is_empty() && blob.get_position() > buffer_.flushed() - blob.get_size()) flush();
  return file_.read_blob(blob, max_size);
}

void Writable_Journal::flush() {
  require_no_blob();
  if (buffer_.is_empty()) return;
  require_lock();
  buffer_.flush();
}

void Writable_Journal::preallocate(Offset step) {
  if (step != 0 && (is_shared() || file_.get_size() == Abstract_File::unknown_size))
    throw Exception(file_.get_name() + ": only a file that is opened alone can be preallocated");
  buffer_.preallocate(step);
}

// Preallocates from the fourth hard checkpoint on, because writing zeros does not pay off for
// fewer. If the disk had no room for the zeros, the buffer has stopped preallocating, and its step
// is 0.
void Writable_Journal::preallocate_if_frequent() {
  constexpr int frequent = 4;
  constexpr Offset page = 4096;
  constexpr Offset most = Offset{1} << 20;
  if (!is_preallocation_automatic_ || ++hard_checkpoints_ < frequent) return;
  if (hard_checkpoints_ > frequent && buffer_.preallocation_step() == 0) {
    is_preallocation_automatic_ = false;
    return;
  }
  buffer_.preallocate(std::clamp(get_position() / 2 / page * page, page, most));
}

// ---- checkpoints --------------------------------------------------------------------------------

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

void Writable_Journal::read(char* data, std::size_t size, Offset offset) const {
  const Offset end = offset + static_cast<Offset>(size);
  if (offset < 0 || end > get_position()) throw Exception("these bytes have not been written");
  const Offset flushed = std::clamp(buffer_.flushed(), offset, end);
  file_.read_exactly(data, static_cast<std::size_t>(flushed - offset), offset);
  if (end > flushed)
    buffer_.unwritten().copy(data + (flushed - offset), static_cast<std::size_t>(end - flushed),
                             static_cast<std::size_t>(flushed - buffer_.flushed()));
}

void Writable_Journal::prepare_checkpoint(Checkpoint_Level level) {
  require_no_blob();
  require_lock();
  recover();
  append_integrity(level);
}

// Appends no sparse integrity entry for bytes that only other processes have written, because the
// file may be a copy for which set_copy() was not called.
void Writable_Journal::prepare_own_checkpoint(Checkpoint_Level level) {
  require_no_blob();
  require_lock();
  recover();
  const bool is_foreign = !has_appended_ && get_integrity() != Integrity::each_checkpoint;
  if (!is_copy_ && !is_foreign) append_integrity(level);
}

// Called after a checkpoint was written. Entries that this object has appended need not be
// replayed.
void Writable_Journal::checkpoint_written() {
  recovery_.forget_adopted_tail();
  has_new_checkpoint_ = true;
  integrity_.keep();
  if (is_ready_) replay_.start_at(get_checkpoint());
}

void Writable_Journal::soft_checkpoint() {
  finish_hard_checkpoint();
  if (get_checkpoint() >= get_position() && !recovery_.has_adopted_tail()) return;
  prepare_own_checkpoint(Checkpoint_Level::soft);
  flush();
  assert(buffer_.flushed() == get_position());  // invariant 3
  checkpoints_.write_soft(get_position());
  checkpoint_written();
}

void Writable_Journal::hard_checkpoint() {
  finish_hard_checkpoint();
  if (get_hard_checkpoint() >= get_position()) return sync_hard_checkpoint();
  begin_hard_checkpoint();
  syncs_.sync();
  finish_hard_checkpoint();
}

// The process that wrote the last hard checkpoint may have been killed before its sync. The words
// of the checkpoint are then written again, and synced.
void Writable_Journal::sync_hard_checkpoint() {
  if (checkpoints_.is_durable(get_hard_checkpoint())) return;
  const Tail_Lock tail(*this);
  checkpoints_.sync_hard();
}

// Does all steps of a hard checkpoint before its last sync. Called while the program holds its own
// lock.
void Writable_Journal::begin_hard_checkpoint() {
  prepare_own_checkpoint(Checkpoint_Level::hard);
  require_no_blob();
  preallocate_if_frequent();
  const std::string_view entries = buffer_.flush();
  assert(buffer_.flushed() == get_position());  // invariant 3
  const bool is_sealed = checkpoints_.begin_hard(get_position(), entries);
  syncs_.begin({get_position(), is_sealed});
}

// Does the steps of a hard checkpoint after its last sync; the first thread that calls this does
// them. Called while the program holds its own lock.
void Writable_Journal::finish_hard_checkpoint() {
  file_.require_own_process();  // a child must not wait for a thread of its parent
  const auto done = syncs_.finish();
  if (!done) return;
  assert(!is_shared() || is_locked_);  // unlock() waits for the sync
  checkpoints_.finish_hard(done->position);
  checkpoint_written();
  if (done->is_sealed) checkpoints_.replace_own_seal();
}

void Writable_Journal::checkpoint_half_commit() {
  finish_hard_checkpoint();
  if (get_hard_checkpoint() >= get_position()) return;
  prepare_own_checkpoint(Checkpoint_Level::half);
  flush();
  checkpoints_.write_half(get_position());
  checkpoint_written();
}

void Writable_Journal::commit() {
  finish_hard_checkpoint();
  flush();
  const Tail_Lock tail(*this);
  checkpoints_.sync();
}

void Writable_Journal::wait(Offset position) {
  require_position(position);
  if (!checkpoints_.is_durable(position)) hard_checkpoint();
}

void Writable_Journal::require_position(Offset position) const {
  if (position > get_position())
    throw Exception(file_.get_name() + ": what should become durable was rolled back");
}

void Writable_Journal::enable_integrity(Integrity kind) {
  const auto before = integrity_.kind();
  require_ready();
  finish_hard_checkpoint();
  if (before == Integrity::each_checkpoint) return;
  if (kind == Integrity::sparse && header_.integrity()) return;
  integrity_.enable(kind);
  integrity_.append_entry();
  hard_checkpoint();
}

// Called before a checkpoint. Appends an integrity entry if it is due. Otherwise, appends an empty
// comment after a text that ends like an integrity entry, so that readers do not mistake the text
// for an integrity entry.
void Writable_Journal::append_integrity(Checkpoint_Level level) {
  if (is_copy_ && ahead_of_checkpoint() == 0) return;
  const bool can_begin = !is_ready_ && replay_.is_complete() && ahead_of_checkpoint() == 0;
  if (can_begin) start_integrity();
  if (has_integrity()) {
    if (!integrity_.has_uncovered_bytes()) return;
    if (integrity_.is_due(level)) {
      if (can_begin) get_ready();
      if (has_appended_) integrity_.append_entry();
      return;
    }
  }
  if (is_ready_ && integrity_.ends_like_entry()) append(Comment{""});
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
  if (buffer_.flushed() > get_checkpoint()) {
    const Tail_Lock tail(*this);
    if (!tail.is_new() || !recovery_.has_tail_been_overtaken())
      buffer_.truncate(get_checkpoint());
    else
      checkpoints_.set_written_from(get_checkpoint());
  }
  integrity_.rollback();
  buffer_.restart_at(get_checkpoint());
  is_ready_ = false;
  rewind();
}

void Writable_Journal::rollback_to(const Replay_Place& savepoint) {
  require_no_blob();
  finish_hard_checkpoint();
  assert(savepoint.position <= get_position());
  // Without this check, the file could end before its checkpoint.
  if (savepoint.position < get_checkpoint())
    throw Exception(file_.get_name() + ": what has a checkpoint cannot be rolled back");
  if (savepoint.position == get_position()) return;
  out_.require_no_failure();
  buffer_.drop_from(savepoint.position);
  out_.require_no_failure();
  replay_.context() = savepoint.context;
  replay_.set_transaction_end(savepoint.transaction_end);
  // An integrity entry may have been appended for a push that failed.
  if (header_.covered() > savepoint.position) integrity_.rollback();
  // The next entry may again be the first of a transaction, which get_ready() prepares.
  if (savepoint.position == get_checkpoint()) is_ready_ = false;
}

void Writable_Journal::rewind() {
  finish_hard_checkpoint();
  if (ahead_of_checkpoint() > 0)
    throw Exception(file_.get_name() + ": rewinding a journal with uncheckpointed data");
  is_ready_ = false;
  replay_.rewind();
}

}  // namespace joedb::inline v1
