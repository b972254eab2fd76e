#ifndef JOEDB_JOURNAL_WRITABLE_JOURNAL_H
#define JOEDB_JOURNAL_WRITABLE_JOURNAL_H

#include <algorithm>
#include <atomic>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include "joedb/base/process_mark.h"
#include "joedb/format/encoder.h"
#include "joedb/io/fail_stop_file.h"
#include "joedb/journal/append_buffer.h"
#include "joedb/journal/checkpoint_reader.h"
#include "joedb/journal/checkpoint_writer.h"
#include "joedb/journal/integrity_writer.h"
#include "joedb/journal/journal_options.h"
#include "joedb/journal/journal_recovery.h"
#include "joedb/journal/replay.h"
#include "joedb/journal/sync_group.h"

namespace joedb::inline v1 {

// Appends entries to a journal and writes checkpoints.
//
// append → Append_Buffer → (full, or flush) file → Checkpoint_Writer → Sync_Group.
//
// An entry is appended whole or not at all: it is encoded in memory before any of it counts.
// Entries too large for the buffer (vectors, blobs) go to the file in pieces; only a failing write
// can cut one. Entries are not checked against tables: Writable_Database does that.
//
// Functions that write throw Io_Error if the file cannot be written, Disk_Full if there is no room.
// After a failed write or sync nothing more is written through this object: every function that
// writes throws Write_Disabled, the checkpoint does not advance, and reading continues. They throw
// Exception if the journal has not been replayed, if a shared file is not locked (lock_pull), and
// while a blob is appended in pieces. In a child process they throw Inherited_Object (io/file.h),
// and the destructor does nothing.
//
// lock_pull and hard checkpoints throw File_Replaced if another program has removed, replaced, cut
// or restored the file.
//
// Not thread-safe, except as wait() says.
class Writable_Journal {
 public:
  // Opens the journal of `file`, which must outlive this object; an empty file gets a header.
  // Throws what Readonly_Journal throws; Unfinished_Transaction if the file goes on behind its
  // checkpoint, unless options.recovery says what to do then; Exception for Recovery::hard, if
  // others have the file open, and for a preallocation that is not possible. Nothing but that
  // header is written before recover(). The journal must be replayed up to its checkpoint before
  // anything is appended.
  explicit Writable_Journal(Abstract_File& file, const Journal_Options& options = {});

  // Writes the buffer to the file, behind the checkpoint, after a warning to Destructor_Logger. No
  // checkpoint is written. Errors go to Destructor_Logger, too. Truncates preallocated zeros.
  ~Writable_Journal();

  Writable_Journal(const Writable_Journal&) = delete;
  Writable_Journal& operator=(const Writable_Journal&) = delete;

  // Does what `recovery` says with the bytes behind the checkpoint, and invalidates header words
  // that claim bytes which the file does not have. Each function that writes to the file calls this
  // first; so a file that cannot be read does not change. Call it for a file that is only opened to
  // be recovered, after everything that may fail. Requires the lock of a shared file. Throws
  // Io_Error; the last checkpoint counts then.
  void recover();
  // The name of the file in which the bytes behind the checkpoint were saved (Recovery::keep);
  // empty if there is none.
  const std::string& get_saved_tail() const { return recovery_.saved_tail(); }

  Abstract_File& get_file() const { return file_; }
  bool is_shared() const { return file_.is_shared(); }

  // See Readonly_Journal. Writers find what others have written by lock_pull.
  Offset get_checkpoint() const { return header_.checkpoint(); }
  Offset get_hard_checkpoint() const { return header_.hard_checkpoint(); }
  const Checkpoints& get_checkpoints() const { return header_.checkpoints(); }
  // Of the integrity entries that this object appends, or of the last one that was found so far;
  // nothing: there was none.
  std::optional<Integrity> get_integrity() const {
    return has_integrity() ? integrity_.kind() : header_.integrity();
  }
  // Whether such entries cover everything before the checkpoint, as far as that is known.
  bool is_covered() const { return header_.is_covered(); }
  // True with Recovery::hard until the first write. Opening the file a second time blocks then.
  bool has_file_alone() const { return recovery_.has_file_alone(); }
  Offset get_replay_position() const { return replay_.position(); }
  Replay_Place get_replay_place() const { return replay_.place(); }
  void resume(const Replay_Place& place) { replay_.resume(place); }
  template <class Handler>
  void replay(Handler&& handler, Offset until = std::numeric_limits<Offset>::max()) {
    replay_.run(handler, get_checkpoint(), std::min(until, get_checkpoint()));
  }

  // The offset of the next entry in the file.
  Offset get_position() const { return buffer_.position(); }
  // Number of bytes appended since the checkpoint.
  Offset ahead_of_checkpoint() const { return get_position() - get_checkpoint(); }

  // True if entries follow the last end of a transaction (is_transaction_end), in the file or in
  // the buffer. The next entry then belongs to the same transaction. Comments without text and
  // integrity entries do not count. Requires that the journal was replayed. Throws Io_Error.
  bool is_unfinished() const;

  // Appends any entries of format/entry.h but Blob_Data and Update_Vector: all of them or none.
  // Where others have left entries without an end, a Valid_Data comes before the first entry
  // (Journal_Options::ends_transactions).
  template <Encodable... Entries>
  void append(const Entries&... entries) {
    if (!is_ready_ || process_.is_inherited()) [[unlikely]]
      get_ready((is_transaction_end<Entries> || ...));
    char* out = buffer_.reserve((encoded_size_limit(entries) + ...));
    ((out = encode(out, replay_.context(), entries)), ...);
    buffer_.use_to(out);
    if constexpr ((is_transaction_end<Entries> || ...)) replay_.set_transaction_end(get_position());
  }

  // Throws what append would throw before it does anything: the journal has not been replayed, is
  // shared and not locked, or has failed. Appends the Valid_Data that append would begin with.
  void require_ready() {
    if (!is_ready_ || process_.is_inherited()) get_ready();
  }

  // Whether a write or a sync has failed: nothing more is written then. Any thread may call this.
  bool has_failed() const { return out_.has_failed(); }

  // Appends an update of records [record, record + values.size()).
  template <Field_Value T>
  requires has_fixed_size<T>
  void append_vector(Table_Id table, Record_Id record, Field_Id field, std::span<const T> values);

  // The same; get(i) gives value i. If it throws, nothing has been appended.
  template <Field_Value T, class Get>
  void append_vector(Table_Id table, Record_Id record, Field_Id field, std::int64_t size, Get get);

  // Appends the bytes, and returns their position. Throws Data_Error for 24 bytes that look like an
  // integrity entry (format/integrity.h).
  Blob append_blob(std::string_view bytes);
  // The same in pieces: read(data, n), with n of at most 65536, must fill [data, data + n), until
  // there are `size` bytes in all. Throws Exception unless `size` is in 0 … 2^61 - 1. If read()
  // throws, nothing has been appended. It may read this journal, also its blobs; functions that
  // write throw.
  template <class Read>
  Blob append_blob(std::int64_t size, Read&& read);
  // The first max_size bytes of a blob (-1: all). Flushes the buffer if the blob is in it. Throws
  // Corruption_Error if the journal ends before the blob.
  std::string read_blob(Blob blob, std::int64_t max_size = -1);

  // Appends [get_position(), end) of another journal that begins like this one. This one need not
  // have been replayed. If it throws, nothing has been appended; so it does, Corruption_Error,
  // where integrity entries say that the bytes are damaged. They are not decoded: call
  // replay_copied, and rollback() if that throws.
  void copy_from(const Abstract_File& source, Offset end);
  // Replays what copy_from has appended, to validate it before a checkpoint claims it.
  template <class Handler>
  void replay_copied(Handler&& handler) {
    replay_.run(handler, buffer_.flushed(), buffer_.flushed());
  }

  // Appends what the next checkpoint of this level would append, also where only others have
  // appended something. If nothing else is appended, that is at get_position() then.
  void prepare_checkpoint(Checkpoint_Level level);
  // Reads into data[0, size) what is at `offset`, also what has been appended and is not in the
  // file. Throws Exception if [offset, offset + size) is not before get_position(), Io_Error.
  void read(char* data, std::size_t size, Offset offset) const;

  // Writes the buffer to the file. Readers see the entries after a checkpoint. If it throws, the
  // buffer stays.
  void flush();

  // After a soft checkpoint, what was appended survives the death of this process; after a hard
  // one, also a power cut. A soft one does nothing where there is nothing new; a hard one may have
  // to sync a soft one, or that of another process. If one throws, the checkpoint before it counts.
  void soft_checkpoint();
  void hard_checkpoint();
  // Syncs the last hard checkpoint if it is not known to be on the disk: one that another process
  // has left, or half a commit. Requires the lock of a shared file. Throws Io_Error.
  void sync_hard_checkpoint();

  // Group commit: several threads, or several clients of one thread, share a sync. A thread that
  // wants a hard checkpoint takes a position, and waits for it when there is nothing else to do.
  //
  //     std::unique_lock lock(mutex);       // of the program, around all it does with the journal
  //     journal.append(…);
  //     const joedb::Offset position = journal.hard_checkpoint_async();
  //     journal.wait(position, lock);       // others work while the disk does
  //
  // hard_checkpoint_async only returns the position of what was appended. wait returns when it is
  // durable: the first waiting thread makes a hard checkpoint of all that was appended by then, and
  // releases `lock` during the sync. `lock` is locked again when wait returns or throws. Meanwhile
  // others may append, flush and wait, in their turns under the same lock; functions that write a
  // checkpoint or drop something wait for the end of the sync. Throws if the sync fails, or
  // Exception if the position was rolled back. Shared files: the transaction must not end before
  // wait returns.
  Offset hard_checkpoint_async() const { return get_position(); }
  template <class Lock>
  void wait(Offset position, Lock& lock);
  // For a single thread.
  void wait(Offset position);

  // From here on an integrity entry (format/integrity.h) is written before each checkpoint, or
  // those that Integrity::sparse says; at once a first one, for everything so far, with a hard
  // checkpoint. So is it, without this call, in every journal that has such entries. What is copied
  // from another journal (copy_from) gets none. Those before each checkpoint also detect what a
  // power cut has damaged that a soft checkpoint has survived. All writers of a shared file should
  // write them. Does nothing if they are written already.
  void enable_integrity(Integrity kind = Integrity::each_checkpoint);
  // Whether this object writes them: from the first append on.
  bool has_integrity() const { return integrity_.is_enabled(); }
  // This is a copy of a journal that others also write, elsewhere: what they have not is never
  // appended. A checkpoint then appends no integrity entry; only prepare_checkpoint does, before
  // what was appended is pushed.
  void set_copy() { is_copy_ = true; }

  // The older names. half_commit is a hard checkpoint without its last sync: the entries are on
  // disk, but if the power fails before the system has written both copies, the checkpoint before
  // it counts.
  void checkpoint_full_commit() { hard_checkpoint(); }
  void checkpoint_half_commit();
  void checkpoint_no_commit() { soft_checkpoint(); }
  void checkpoint() { checkpoint(default_level_); }
  void checkpoint(Checkpoint_Level level);
  Checkpoint_Level get_default_level() const { return default_level_; }
  // Only a flush and a sync, no checkpoint.
  void commit();

  // From here on, nothing can be appended before the journal is replayed again from its start.
  void require_replay();

  // Drops everything behind the checkpoint, in memory and in the file. If there was anything, the
  // journal must be replayed from its start again before anything is appended. Throws Exception if
  // the file cannot be truncated, Write_Disabled after a failure; what was flushed stays then.
  void rollback();

  // A place behind the checkpoint, or there, that rollback_to() goes back to. It is valid until the
  // next checkpoint, or until something before it is rolled back.
  Replay_Place savepoint() const {
    return {get_position(), replay_.place().context, replay_.transaction_end(), 0};
  }
  // Drops everything behind the savepoint, in memory and in the file. The journal goes on there:
  // the caller has taken back what these entries have done to tables. Throws Exception while a blob
  // is appended in pieces, and Write_Disabled after a failure, also if the file cannot be
  // truncated; what was flushed stays then.
  void rollback_to(const Replay_Place& savepoint);

  // The next replay starts at the first entry again. Throws Exception if anything is behind the
  // checkpoint.
  void rewind();

  // Shared files: takes the write lock, waiting for it, and reads the checkpoints. What a dead
  // writer left behind the checkpoint is saved in a file beside this one, and removed, before
  // anything is written (recover()). The new entries must be replayed before anything is appended.
  // Files that are not shared are locked as long as they are open: nothing happens. Throws
  // Exception if anything is behind the checkpoint, Corruption_Error if the header is damaged,
  // Io_Error; the lock is not held then.
  void lock_pull();
  // The same, then replay(), which replays them. If it throws, the lock is not held. Returns the
  // number of bytes that are new.
  template <class Replay>
  Offset lock_pull(Replay&& replay) {
    const Offset old = get_checkpoint();
    lock_pull();
    try {
      replay();
      if (is_shared() && recovery_.mode() == Recovery::keep) recover();
    } catch (...) {
      unlock();
      throw;
    }
    return get_checkpoint() - old;
  }
  // Waits for a sync that goes on, and releases the write lock. After a failed write, removes what
  // it has left behind the checkpoint; with integrity entries, writes the last checkpoint to the
  // spare words of the header. Does nothing if the lock is not held.
  void unlock() noexcept;

 private:
  // While a blob is appended in pieces, its bytes are in the buffer.
  class Blob_Guard {
   public:
    explicit Blob_Guard(Writable_Journal& journal) : journal_(journal) {
      journal_.is_ready_ = false;
      journal_.is_in_blob_ = true;
    }
    ~Blob_Guard() {
      journal_.is_in_blob_ = false;
      journal_.is_ready_ = true;
      if (journal_.out_.has_failed()) journal_.is_ready_ = false;
    }
    Blob_Guard(const Blob_Guard&) = delete;
    Blob_Guard& operator=(const Blob_Guard&) = delete;

   private:
    Writable_Journal& journal_;
  };
  class Tail_Lock;

  void require_no_blob() const;
  void require_lock() const;
  void require_position(Offset position) const;
  static void require_no_integrity_payload(std::string_view bytes);
  void get_ready(bool is_for_end = false);
  Blob begin_blob(std::int64_t size);
  void cover_around_blob(std::int64_t size);
  // Calls f, which appends one entry in pieces; if it throws, they are forgotten.
  template <class F>
  auto append_whole(F f);
  void start_integrity();
  void append_integrity(Checkpoint_Level level);
  void prepare_own_checkpoint(Checkpoint_Level level);
  void cover_rest();
  void checkpoint_written();
  void preallocate(Offset step);
  void preallocate_if_frequent();
  void begin_hard_checkpoint();
  void finish_hard_checkpoint();
  void fill_spare_words();
  void require_not_replaced_at_end() const;
  void flush_at_end();

  Abstract_File& file_;
  const Process_Mark process_;
  Fail_Stop_File out_;
  Checkpoint_Reader header_;
  Replay replay_;
  Append_Buffer buffer_;
  Checkpoint_Writer checkpoints_;
  Sync_Group syncs_;
  Integrity_Writer integrity_;
  Journal_Recovery recovery_;
  std::atomic<bool> is_ready_ = false;  // replayed, and locked
  bool has_appended_ = false;           // or was about to; since it was locked
  bool is_locked_ = false;              // shared files only
  bool is_in_blob_ = false;
  const bool ends_transactions_;
  const bool wants_integrity_;
  bool is_copy_ = false;
  bool is_preallocation_automatic_ = false;
  int hard_checkpoints_ = 0;  // while it is automatic
  const Checkpoint_Level default_level_;
  bool has_new_checkpoint_ = false;  // since the file was locked
};

template <class Lock>
void Writable_Journal::wait(Offset position, Lock& lock) {
  for (bool has_let_others_in = false; !checkpoints_.is_durable(position);) {
    require_position(position);
    const bool is_first = !syncs_.is_pending();
    // Those who were woken by the last sync have more to write.
    if (is_first && !has_let_others_in) {
      has_let_others_in = true;
      lock.unlock();
      std::this_thread::yield();
      lock.lock();
      continue;
    }
    if (is_first && get_hard_checkpoint() >= get_position()) return hard_checkpoint();
    if (is_first) begin_hard_checkpoint();
    const std::uint64_t number = syncs_.number();
    lock.unlock();
    if (is_first)
      syncs_.sync();
    else
      syncs_.wait(number);
    lock.lock();
    if (!syncs_.is_syncing()) finish_hard_checkpoint();
  }
}

template <class F>
auto Writable_Journal::append_whole(F f) {
  const Offset start = get_position();
  const Context context = replay_.context();
  try {
    return f();
  } catch (...) {
    replay_.context() = context;
    buffer_.drop_from(start);
    if (header_.covered() > start) integrity_.rollback();
    throw;
  }
}

template <Field_Value T>
requires has_fixed_size<T>
void Writable_Journal::append_vector(Table_Id table, Record_Id record, Field_Id field,
                                     std::span<const T> values) {
  if (!is_ready_) [[unlikely]]
    get_ready();
  append_whole([&] {
    char* const out = buffer_.reserve(entry_size_limit);
    const char* const end = encode_update_vector<T>(out, replay_.context(), table, record, field,
                                                    static_cast<std::int64_t>(values.size()));
    buffer_.use_to(end);
    buffer_.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  });
}

template <class Read>
Blob Writable_Journal::append_blob(std::int64_t size, Read&& read) {
  constexpr std::int64_t piece = 1 << 16;
  if (size < 0 || size > static_cast<std::int64_t>(max_compact))
    throw Exception("a blob cannot have " + std::to_string(size) + " bytes");
  require_ready();
  flush();  // earlier blobs are in the file, and need no flush when they are read
  const auto append = [&] {
    cover_around_blob(size);
    const Blob blob = begin_blob(size);
    for (std::int64_t done = 0; done < size;) {
      const auto n = static_cast<std::size_t>(std::min(piece, size - done));
      char* const out = buffer_.reserve(n);
      read(out, n);
      if (done == 0) require_no_integrity_payload({out, n});
      buffer_.use_to(out + n);
      done += static_cast<std::int64_t>(n);
    }
    return blob;
  };
  const Blob blob = [&] {
    const Blob_Guard guard(*this);
    return append_whole(append);
  }();
  cover_around_blob(size);
  return blob;
}

template <Field_Value T, class Get>
void Writable_Journal::append_vector(Table_Id table, Record_Id record, Field_Id field,
                                     std::int64_t size, Get get) {
  if (!is_ready_) [[unlikely]]
    get_ready();
  append_whole([&] {
    char* out = buffer_.reserve(entry_size_limit);
    out = encode_update_vector<T>(out, replay_.context(), table, record, field, size);
    buffer_.use_to(out);
    for (std::int64_t i = 0; i < size; ++i) {
      const T value = get(i);
      out = buffer_.reserve(value_size_limit(value));
      buffer_.use_to(encode_value(out, value));
    }
  });
}

}  // namespace joedb::inline v1

#endif
