#ifndef JOEDB_JOURNAL_WRITABLE_JOURNAL_H
#define JOEDB_JOURNAL_WRITABLE_JOURNAL_H

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "joedb/format/encoder.h"
#include "joedb/io/fail_stop_file.h"
#include "joedb/journal/readonly_journal.h"

namespace joedb::inline v1 {

// How safe a checkpoint is.
enum class Checkpoint_Level {
  soft,  // survives a killed process
  half,  // hard, but for the last sync
  hard   // survives a power cut
};

// Appends entries to a journal and writes checkpoints.
//
// append → buffer → (buffer full, or flush) file → checkpoint → sync.
//
// An entry is appended whole or not at all: it is encoded in memory before any of it counts.
// Entries too large for the buffer (vectors, blobs) go to the file in pieces; only a failing write
// can cut one. After a failed write or sync nothing more is written through this object: every
// function that writes throws, the checkpoint does not advance, reading goes on.
//
// Not thread-safe.
class Writable_Journal : public Readonly_Journal {
 public:
  // Opens the journal of `file`, which must outlive this object; an empty file gets a header.
  // Throws what Readonly_Journal throws; Unfinished_Transaction if the file goes on behind its
  // checkpoint, unless `recovery` says what to do then; and Exception for Recovery::hard, if others
  // have the file open. Nothing but that header is written before recover(). The journal must be
  // replayed up to its checkpoint before anything is appended.
  explicit Writable_Journal(Abstract_File& file, Recovery recovery = Recovery::none);

  // Writes what is in the buffer, behind the checkpoint, after a warning to Destructor_Logger.
  ~Writable_Journal();

  // Does what `recovery` says with the bytes behind the checkpoint, and invalidates header words
  // that claim bytes which the file does not have. Whatever writes the file does this first; so a
  // file that cannot be read is left as it is. Call it for a file that is only opened to be
  // recovered, when everything that may fail has been done. Requires the lock of a shared file.
  // Throws Io_Error; the last checkpoint counts then.
  void recover() {
    if (!is_recovered_) finish_recovery();
  }
  // Where the bytes behind the checkpoint have been saved (Recovery::keep); empty: nowhere.
  const std::string& get_saved_tail() const { return saved_tail_; }

  bool is_shared() const { return file_.is_shared(); }

  // Where the next entry will stand.
  Offset get_position() const { return flushed_ + static_cast<Offset>(used_); }
  // Number of bytes appended since the checkpoint.
  Offset ahead_of_checkpoint() const { return get_position() - get_checkpoint(); }

  // Appends any entries of format/entry.h but Blob_Data and Update_Vector: all of them or none.
  template <Encodable... Entries>
  void append(const Entries&... entries) {
    if (!is_ready_) [[unlikely]]
      get_ready();
    char* out = reserve((encoded_size_limit(entries) + ...));
    ((out = encode(out, context_, entries)), ...);
    use_to(out);
  }

  // Throws what append would throw before it does anything: the journal has not been replayed, is
  // shared and not locked, or has failed.
  void require_ready() {
    if (!is_ready_) get_ready();
  }

  // Appends an update of records [record, record + values.size()).
  template <Field_Value T>
  requires has_fixed_size<T>
  void append_vector(Table_Id table, Record_Id record, Field_Id field, std::span<const T> values);

  // The same; get(i) gives value i. If it throws, nothing has been appended.
  template <Field_Value T, class Get>
  void append_vector(Table_Id table, Record_Id record, Field_Id field, std::int64_t size, Get get);

  // Appends the bytes and returns where they stand.
  Blob append_blob(std::string_view bytes);
  // The same in pieces: read(data, size) gives the next `size` bytes, until there are `size` of
  // them in all. If it throws, nothing has been appended. It may read this journal, also its blobs,
  // but nothing else: what would write throws.
  template <class Read>
  Blob append_blob(std::int64_t size, Read&& read);
  std::string read_blob(Blob blob, std::int64_t max_size = -1);

  // Appends [get_position(), end) of another journal that begins like this one. This one need not
  // have been replayed. If it throws, nothing has been appended.
  void copy_from(const Abstract_File& source, Offset end);
  // Replays what copy_from has appended, to see that it makes sense before a checkpoint says so.
  template <class Handler>
  void replay_copied(Handler&& handler) {
    replay_range(handler, flushed_, flushed_);
  }

  // For readers: a writer sees what others have written by lock_pull.
  Offset pull() = delete;

  // Writes the buffer to the file.
  void flush();

  // After a soft checkpoint, what was appended survives the death of this process; after a hard
  // one, also a power cut.
  void soft_checkpoint();
  void hard_checkpoint();

  // Group commit: several threads, or several clients of one thread, share a sync. Whoever wants a
  // hard checkpoint takes a position, and waits for it when there is nothing else to do.
  //
  //     std::unique_lock lock(mutex);       // of the program, around all it does with the journal
  //     journal.append(…);
  //     const joedb::Offset position = journal.hard_checkpoint_async();
  //     journal.wait(position, lock);       // others work while the disk does
  //
  // hard_checkpoint_async only returns the position of what was appended. wait returns when it is
  // durable: the first who waits makes a hard checkpoint of all that was appended by then, and
  // releases `lock` during the sync. Meanwhile others may append, flush and wait, in their turns
  // under the same lock; functions that write a checkpoint or drop something wait for the end of
  // the sync. Throws if the sync fails, or Exception if the position was rolled back. Shared files:
  // the transaction must not end before wait returns.
  Offset hard_checkpoint_async() const { return get_position(); }
  template <class Lock>
  void wait(Offset position, Lock& lock);
  // Where there is one thread only.
  void wait(Offset position);

  // Whether hard checkpoints of less than 4 MiB are sealed (format/seal.h), which takes one sync
  // instead of two. Yes, unless this says no.
  void set_seals(bool has_seals) { has_seals_ = has_seals; }

  // From here on an integrity entry (format/integrity.h) is written before each checkpoint, and at
  // once a first one, for everything so far, with a hard checkpoint. So is it, without this call,
  // in every journal where such an entry stands before the checkpoint when it is opened or locked.
  // What is copied from another journal (copy_from) gets none. Then nothing damaged is taken for
  // good: neither what a power cut left of a soft checkpoint, nor bits that have changed on the
  // disk. All writers of a shared file should write them.
  void enable_integrity();
  bool has_integrity() const { return has_integrity_; }

  // From here on the file grows ahead, in steps of so many bytes, filled with zeros: a sync then
  // has no new size to write. 0: no more. The file is cut when the journal is closed; after a
  // crash, opening it drops the zeros, without asking. Where the disk has no room for it, the file
  // grows as usual. Throws Exception if the file is shared or has no size, or the step is above
  // max_preallocation.
  void preallocate(Offset step);
  static constexpr Offset max_preallocation = Offset{1} << 30;

  // The older names. half_commit is a hard checkpoint without its last sync: the entries are on
  // disk, but if the power fails before the system has written both copies, the checkpoint before
  // it counts.
  void checkpoint_full_commit() { hard_checkpoint(); }
  void checkpoint_half_commit();
  void checkpoint_no_commit() { soft_checkpoint(); }
  void checkpoint() { checkpoint(default_level_); }
  void checkpoint(Checkpoint_Level level);
  void set_default_level(Checkpoint_Level level) { default_level_ = level; }
  Checkpoint_Level get_default_level() const { return default_level_; }
  // Only a flush and a sync, no checkpoint.
  void commit();

  // Nothing can be appended before the journal was replayed again from its start.
  void require_replay();

  // Drops everything behind the checkpoint, in memory and in the file. If there was anything, the
  // journal must be replayed from its start again before anything is appended.
  void rollback();

  // The next replay starts at the first entry again. Throws if anything is behind the checkpoint.
  void rewind();

  // Shared files: takes the write lock and reads the checkpoints. What a dead writer left behind
  // the checkpoint is saved in a file beside this one, and removed, before anything is written
  // (recover()). The new entries must be replayed before anything is appended. Files that are not
  // shared are locked as long as they are open: nothing happens.
  void lock_pull();
  // The same, then replay(), which replays them. If it throws, the lock is not held. Returns the
  // number of bytes that are new.
  template <class Replay>
  Offset lock_pull(Replay&& replay) {
    const Offset old = get_checkpoint();
    lock_pull();
    try {
      replay();
      if (is_shared() && recovery_ == Recovery::keep) recover();
    } catch (...) {
      unlock();
      throw;
    }
    return get_checkpoint() - old;
  }
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
  void require_no_blob() const;
  char* reserve(std::size_t size) {
    if (buffer_.size() - before_size - used_ < size) [[unlikely]]
      make_room(size);
    return body() + used_;
  }
  char* body() { return buffer_.data() + before_size; }
  // Entries have been encoded up to there.
  void use_to(const char* end) { used_ = static_cast<std::size_t>(end - body()); }
  void require_lock() const;
  void get_ready();
  void make_room(std::size_t size);
  void flush_buffer();
  void write_buffer();
  void append_bytes(const char* data, std::size_t size);
  Blob begin_blob(std::int64_t size);
  // Calls f, which appends one entry in pieces; if it throws, they are forgotten.
  template <class F>
  auto append_whole(F f);
  bool is_durable(Offset position) const {
    return get_hard_checkpoint() >= position && synced_hard_checkpoint_ == get_hard_checkpoint();
  }
  void require_position(Offset position) const;
  void begin_hard_checkpoint();
  void sync_hard_checkpoint() noexcept;
  bool is_syncing();
  void wait_for_sync(std::uint64_t number);
  void finish_hard_checkpoint();
  void write(const char* data, std::size_t size);
  void go_to(Offset offset) noexcept;
  void make_space(Offset end);
  void replace_seal();
  void append_integrity();
  void append_integrity_entry();
  void hide_false_integrity();
  void fill_spare_words();
  void open();
  bool is_blank(Offset file_size) const;
  void create_header();
  bool is_header_behind(const Checkpoint_Words& words) const;
  void create_hard_slot();
  void require_no_tail(Offset file_size) const;
  void note_header_checkpoint(Offset file_size);
  void require_presence_alone();
  void finish_recovery();
  void require_tail() const;
  void cut_to(Offset size);
  void keep_tail(Offset file_size);
  void drop_tail(Offset file_size);
  void cut_after_failure() noexcept;
  void invalidate_words_beyond(Offset file_size);
  void write_word(int slot, int copy, std::int64_t word);
  void write_soft_word(Offset position);
  void write_hard_checkpoint(Offset position);
  void write_sealed_checkpoint(Offset position);
  void write_slot(std::int64_t copy_0, std::int64_t copy_1);
  void claim_hard_checkpoint(Offset position);
  void find_durable_end(const Checkpoint_Words& words);
  void rewrite(Offset start, Offset end);
  void rewrite_unproven_entries(Offset end);
  void rewrite_hard_slot();
  void rewrite_words();
  // The header is on disk, or was written by this object.
  bool is_header_proven() const { return durable_end_ > 0 || written_from_ == 0; }
  void sync_hard_slot();
  void start_replay_after_checkpoint();
  void forget_after(Offset position, const Context& context) noexcept;
  bool has_tail_been_overtaken();

  Fail_Stop_File out_;
  // The last bytes before flushed_, for hide_false_integrity; then what is not written yet.
  static constexpr std::size_t before_size = integrity_entry_size;
  std::vector<char> buffer_;
  bool knows_before_ = false;
  std::size_t used_ = 0;
  Offset flushed_ = journal_start;      // where the buffer will be written
  Offset sent_ = journal_start;         // up to here the disk may have begun to write
  std::atomic<bool> is_ready_ = false;  // replayed, and locked
  bool is_locked_ = false;              // shared files only
  bool is_in_blob_ = false;
  // What the header says, after a tail was taken in that no checkpoint has.
  std::optional<Offset> header_checkpoint_;
  Recovery recovery_;
  bool is_recovered_ = true;
  std::string saved_tail_;
  Offset synced_hard_checkpoint_ = journal_start;  // this one is known to be on disk
  Offset own_hard_checkpoint_ = journal_start;     // the last one that this object wrote
  // The bytes of the file before durable_end_ are known to be on disk. Those from written_from_ on
  // were written by this object. Those in between may never reach the disk, even if a sync succeeds
  // (rewrite_unproven_entries).
  Offset durable_end_ = 0;
  Offset written_from_ = 0;
  Checkpoint_Level default_level_ = Checkpoint_Level::soft;

  // A hard checkpoint whose words are in the file, and whose sync may be running.
  struct Pending {
    Offset position;
    bool is_sealed;
  };
  std::optional<Pending> pending_;
  bool has_seals_ = true;
  bool has_integrity_ = false;
  Offset committed_covered_ = journal_start;  // get_covered() at the checkpoint
  std::uint64_t sync_number_ = 0;             // of the last sync that was begun
  // Shared with the thread that is in the sync.
  std::mutex sync_mutex_;
  std::condition_variable sync_done_;
  std::uint64_t done_number_ = 0;
  std::exception_ptr sync_error_;

  Offset preallocation_ = 0;  // the step
  Offset allocated_ = 0;      // where the file ends
};

template <class Lock>
void Writable_Journal::wait(Offset position, Lock& lock) {
  for (bool has_let_others_in = false; !is_durable(position);) {
    require_position(position);
    const bool is_first = !pending_;
    // Those who were woken by the last sync have more to write.
    if (is_first && !has_let_others_in) {
      has_let_others_in = true;
      lock.unlock();
      std::this_thread::yield();
      lock.lock();
      continue;
    }
    if (is_first) begin_hard_checkpoint();
    const std::uint64_t number = sync_number_;
    lock.unlock();
    if (is_first)
      sync_hard_checkpoint();
    else
      wait_for_sync(number);
    lock.lock();
    if (!is_syncing()) finish_hard_checkpoint();
  }
}

template <class F>
auto Writable_Journal::append_whole(F f) {
  const Offset start = get_position();
  const Context context = context_;
  try {
    return f();
  } catch (...) {
    forget_after(start, context);
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
    char* const out = reserve(entry_size_limit);
    const char* const end = encode_update_vector<T>(out, context_, table, record, field,
                                                    static_cast<std::int64_t>(values.size()));
    use_to(end);
    append_bytes(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  });
}

template <class Read>
Blob Writable_Journal::append_blob(std::int64_t size, Read&& read) {
  constexpr std::int64_t piece = 1 << 16;
  if (size < 0 || size > static_cast<std::int64_t>(max_compact))
    throw Exception("a blob cannot have " + std::to_string(size) + " bytes");
  require_ready();
  flush();  // earlier blobs are in the file, and need no flush when they are read
  const Blob_Guard guard(*this);
  return append_whole([&] {
    const Blob blob = begin_blob(size);
    for (std::int64_t done = 0; done < size;) {
      const auto n = static_cast<std::size_t>(std::min(piece, size - done));
      read(reserve(n), n);
      used_ += n;
      done += static_cast<std::int64_t>(n);
    }
    return blob;
  });
}

template <Field_Value T, class Get>
void Writable_Journal::append_vector(Table_Id table, Record_Id record, Field_Id field,
                                     std::int64_t size, Get get) {
  if (!is_ready_) [[unlikely]]
    get_ready();
  append_whole([&] {
    char* out = reserve(entry_size_limit);
    out = encode_update_vector<T>(out, context_, table, record, field, size);
    use_to(out);
    for (std::int64_t i = 0; i < size; ++i) {
      const T value = get(i);
      out = reserve(value_size_limit(value));
      use_to(encode_value(out, value));
    }
  });
}

}  // namespace joedb::inline v1

#endif
