#ifndef JOEDB_JOURNAL_WRITABLE_JOURNAL_H
#define JOEDB_JOURNAL_WRITABLE_JOURNAL_H

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "joedb/base/threads.h"
#include "joedb/format/codec.h"
#include "joedb/format/header.h"
#include "joedb/io/fail_stop_file.h"
#include "joedb/journal/readonly_journal.h"

namespace joedb::inline v1 {

// ---- parts --------------------------------------------------------------------------------------

// The parts of Writable_Journal. Each has one task, and none depends on Writable_Journal.

// Collects bytes for the end of a file in memory, and writes them when the buffer is full or
// flushed. position() is the offset of the next byte, and flushed() is the end of the bytes that
// are in the file.
//
// Functions that write throw Io_Error. The bytes then stay in the buffer, and `out` is marked as
// failed, so that nothing more is written. The class does not depend on entries or checkpoints.
//
// Not thread-safe.
class Append_Buffer {
 public:
  // Appended bytes are written to `out`. `file` is the same file; this object reads from `file`,
  // and writes preallocated zeros to it. Both must outlive this object.
  Append_Buffer(Abstract_File& file, Fail_Stop_File& out);
  Append_Buffer(const Append_Buffer&) = delete;
  Append_Buffer& operator=(const Append_Buffer&) = delete;

  Offset position() const { return flushed_ + static_cast<Offset>(used_); }
  Offset flushed() const { return flushed_; }
  bool is_empty() const { return used_ == 0; }
  // The bytes [flushed(), position()).
  std::string_view unwritten() const { return {body(), used_}; }

  // Returns memory for `size` more bytes. They become part of the buffer when use_to() is called.
  // If there is no room, the buffer is flushed, and may be enlarged.
  char* reserve(std::size_t size) {
    if (memory_.size() - prefix_size - used_ < size) [[unlikely]]
      make_room(size);
    return body() + used_;
  }
  // Advances position() to `end`, which must be in the memory that reserve() has returned.
  void use_to(const char* end) {
    assert(end >= body() + used_ && end <= memory_.data() + memory_.size());
    used_ = static_cast<std::size_t>(end - body());
  }
  // Appends a copy of the bytes. If they are 256 KiB or more, the buffer is flushed, and the bytes
  // are written to the file at once.
  void append(const char* data, std::size_t size);

  // Writes the buffer to the file. Returns the bytes written, valid until the next reserve() or
  // append().
  std::string_view flush();

  // Drops the bytes from `position` on, and truncates the file at `position` if some of these bytes
  // were written. If the truncation fails, the written bytes stay in the file, and `out` is marked
  // as failed.
  void drop_from(Offset position) noexcept;
  // Drops the whole buffer. The next byte goes to `position`; the bytes of the file before
  // `position` need not have been written through this object.
  void restart_at(Offset position) noexcept;
  // Truncates the file at `position`, unless the file has no size (a device). Throws Exception if
  // the file cannot be truncated.
  void truncate(Offset position);

  // Starts a hash at `start`. The bytes of a write of 16 KiB or more are hashed on their way to the
  // file; the bytes of smaller writes are read back when the hash is needed. Requires flushed() <=
  // start <= position().
  void start_hash(Offset start);
  // Returns integrity_hash of [start, position()), or nullopt if no hash was started at `start`.
  // Throws Io_Error.
  std::optional<std::uint64_t> hash_since(Offset start);

  // Preallocates the file in steps of `step` bytes, filled with zeros (Preallocator). Throws
  // Exception if the step is out of range.
  void preallocate(Offset step) { preallocator_.set_step(step); }
  // 0 if the file is not preallocated, or is no longer preallocated because the disk had no room
  // for the zeros.
  Offset preallocation_step() const { return preallocator_.step(); }
  // True if preallocated zeros follow the bytes in the file.
  bool has_zeros_ahead() const { return preallocator_.end() > flushed_; }
  // Called before bytes up to `end` are written to the file without this buffer: preallocates the
  // file for these bytes.
  void preallocate_to(Offset end);

  // Returns the last integrity_entry_size bytes before position(), which must not be less than
  // integrity_entry_size. Bytes that were not appended through this object are read from the file.
  // Throws Io_Error.
  std::string_view last_bytes();

 private:
  const char* body() const { return memory_.data() + prefix_size; }
  char* body() { return memory_.data() + prefix_size; }
  void make_room(std::size_t size);
  void write(const char* data, std::size_t size);
  void hash_written(const char* data, Offset end);
  void hash_file(Offset end);

  Abstract_File& file_;
  Fail_Stop_File& out_;
  Preallocator preallocator_;
  // memory_ begins with the last prefix_size bytes before flushed_, valid if has_prefix_. The
  // unwritten bytes follow.
  static constexpr std::size_t prefix_size = integrity_entry_size;
  std::vector<char> memory_;
  bool has_prefix_ = false;
  std::size_t used_ = 0;
  Offset flushed_ = 0;
  Offset sent_ = 0;  // end of the bytes that the disk may have begun to write

  Integrity_Hasher hasher_;
};

// Writes the checkpoint words of a journal's header. No other code writes these words. Invariants 1
// to 9 of the words are listed in checkpoint_writer.cc.
//
// All functions require the tail lock of the file, and that the entries before a checkpoint have
// been written to the file. If a function throws, the previous checkpoint still counts, in the file
// and in memory.
//
// Not thread-safe. The caller does the last sync of a hard checkpoint (Sync_Group), and may let
// other threads append during this sync.
class Checkpoint_Writer {
 public:
  // `out` is the file that `header` reads. Both must outlive this object. `has_seals` is
  // Journal_Options::has_seals.
  Checkpoint_Writer(Fail_Stop_File& out, Checkpoint_Reader& header, bool has_seals = true)
      : out_(out), header_(header), has_seals_(has_seals) {}
  Checkpoint_Writer(const Checkpoint_Writer&) = delete;
  Checkpoint_Writer& operator=(const Checkpoint_Writer&) = delete;

  // ---- opening

  // Writes the header of a new file, without a checkpoint.
  void create_header();
  // Called after Checkpoint_Reader::open has read the header of an existing file.
  void open();
  // Reads the words of the header again, because other processes may have changed them. Returns the
  // size of the file.
  Offset update() { return update(header_.read_words()); }
  // The same for words that were just read. With Checkpoint_Reader::read_stable_words(), the tail
  // lock is not needed.
  Offset update(const Checkpoint_Words& words);
  // Notes that all bytes of the file from `position` on were written through `out`.
  void set_written_from(Offset position) { written_from_ = position; }

  // ---- checkpoints

  // Writes a soft checkpoint: the entries before `position` survive a killed process. `position`
  // must not be before the last checkpoint.
  void write_soft(Offset position);

  // Writes a hard checkpoint except for its last sync. `position` must be past the last hard
  // checkpoint. `entries` are the last bytes before `position`, as many as are in memory. Returns
  // true if the checkpoint is sealed.
  bool begin_hard(Offset position, std::string_view entries);
  // Called after the last sync of a hard checkpoint: the checkpoint counts in memory from here on.
  void finish_hard(Offset position);
  // Called after finish_hard() if the checkpoint is sealed: replaces the seal by the position. If
  // this fails, `out` is marked as failed, and the next writer replaces the seal (replace_seal).
  void replace_own_seal() noexcept;

  // Writes a hard checkpoint without its last sync: if the power fails before the system has
  // written both words, the previous checkpoint counts.
  void write_half(Offset position);

  // Makes the last hard checkpoint durable if another process has written this checkpoint, or if it
  // is a half checkpoint.
  void sync_hard();
  // Syncs the file, and with it the last hard checkpoint.
  void sync();
  // True if a hard checkpoint at or after `position` is durable.
  bool is_durable(Offset position) const {
    return header_.hard_checkpoint() >= position && is_hard_durable();
  }

  // ---- recovery

  // Replaces a seal that a writer has left because it died before it could replace the seal itself.
  void replace_seal();
  // Writes a hard checkpoint at the first entry if the header has none.
  void create_hard_slot();
  // Invalidates the words that claim more than `file_size` bytes.
  void invalidate_words_beyond(Offset file_size);
  // Writes the last checkpoint to the spare words, too, before the file is closed or unlocked.
  void fill_spare_words();

 private:
  bool is_hard_durable() const { return synced_hard_checkpoint_ == header_.hard_checkpoint(); }
  // True if the header is on disk, or was written by this object.
  bool is_header_proven() const { return durable_end_ > 0 || written_from_ == 0; }
  bool is_header_behind(const Checkpoint_Words& words) const;
  void write_word(int slot, int copy, std::int64_t word);
  void write_slot(std::int64_t copy_0, std::int64_t copy_1);
  void write_unsealed(Offset position);
  void claim_hard(Offset position);
  void find_durable_end(const Checkpoint_Words& words);
  void rewrite(Offset start, Offset end);
  void rewrite_unproven_entries(Offset end);
  void rewrite_hard_slot();
  void rewrite_words();

  Fail_Stop_File& out_;
  Checkpoint_Reader& header_;
  const bool has_seals_;
  bool is_filled_ = false;  // this object has written the last hard checkpoint to both slots
  Offset synced_hard_checkpoint_ = journal_start;  // the last hard checkpoint known to be on disk
  Offset own_hard_checkpoint_ = journal_start;     // the last one written by this object
  // Bytes of the file before durable_end_ are known to be on disk. Bytes from written_from_ on were
  // written by this object. Bytes in between may never reach the disk, even if a sync succeeds
  // (rewrite_unproven_entries).
  Offset durable_end_ = 0;
  Offset written_from_ = 0;
};

// Appends the integrity entries of a journal (format/header.h). Each entry covers the bytes
// appended since the previous entry.
//
// Not thread-safe.
class Integrity_Writer {
 public:
  // `header` keeps the end of the covered bytes. All arguments must outlive this object.
  Integrity_Writer(const Abstract_File& file, Append_Buffer& buffer, Checkpoint_Reader& header)
      : file_(file), buffer_(buffer), header_(header) {}

  // The kind of the integrity entries that are written; nullopt if none are written.
  std::optional<Integrity> kind() const { return kind_; }
  bool is_enabled() const { return kind_.has_value(); }
  void enable(Integrity kind) { kind_ = kind; }

  // Called before the first append: starts the hash of the next entry if all bytes so far are
  // covered.
  void begin() {
    if (is_enabled() && !has_uncovered_bytes()) buffer_.start_hash(buffer_.position());
  }

  // True if bytes were appended that no entry covers.
  bool has_uncovered_bytes() const { return buffer_.position() != header_.covered(); }
  // True if this checkpoint needs an entry. Requires has_uncovered_bytes().
  bool is_due(Checkpoint_Level level) const {
    assert(has_uncovered_bytes());
    return kind_ == Integrity::each_checkpoint || level != Checkpoint_Level::soft ||
           header_.has_unchecked_entries() ||
           buffer_.position() - header_.covered() >= integrity_step;
  }
  // Appends an entry that covers the uncovered bytes. Requires is_enabled(). Throws Io_Error.
  void append_entry();

  // True if the last bytes belong to a text, but readers would mistake them for an integrity entry.
  // Throws Io_Error.
  bool ends_like_entry();

  // keep() is called after a checkpoint; rollback() returns to the state of the last keep().
  void keep() { covered_at_checkpoint_ = header_.covered(); }
  void rollback() { header_.set_covered(covered_at_checkpoint_); }

 private:
  const Abstract_File& file_;
  Append_Buffer& buffer_;
  Checkpoint_Reader& header_;
  std::optional<Integrity> kind_;
  Offset covered_at_checkpoint_ = journal_start;
};

// Group commit: the sync that makes a hard checkpoint durable. The words of the checkpoint are
// already in the file; one thread syncs while other threads append, or wait for the end of the
// sync.
//
// All functions except sync() and wait() are called with the program's lock, which is held during
// all uses of the journal. sync() and wait() are called without this lock.
class Sync_Group {
 public:
  // A hard checkpoint that is in the file, but may not be durable yet.
  struct Checkpoint {
    Offset position;
    bool is_sealed;
  };

  // `out` must outlive this object.
  explicit Sync_Group(Fail_Stop_File& out) : out_(out) {}

  // True if finish() has a checkpoint to return.
  bool is_pending() const { return pending_.has_value(); }
  // The next sync() will make this checkpoint durable. Requires that no checkpoint is pending.
  void begin(Checkpoint checkpoint);
  // Number of the most recent sync; pass it to wait().
  std::uint64_t number() const { return number_; }

  // Syncs the file, and wakes the waiting threads. Called once after each begin(). If the sync
  // fails, finish() throws its error.
  void sync() noexcept;
  // Returns after the sync with this number, whether it has succeeded or failed.
  void wait(std::uint64_t number);
  // True if the most recent sync has not returned.
  bool is_syncing();

  // Waits for the sync, and returns the checkpoint that is now durable, or nullopt if no checkpoint
  // is pending. Throws the error of the sync, once; no checkpoint is pending then.
  std::optional<Checkpoint> finish();

 private:
  Fail_Stop_File& out_;
  std::optional<Checkpoint> pending_;
  std::uint64_t number_ = 0;
  // Shared with the thread that runs the sync.
  Mutex mutex_;
  Condition done_;
  std::uint64_t done_number_ JOEDB_GUARDED_BY(mutex_) = 0;
  std::exception_ptr error_ JOEDB_GUARDED_BY(mutex_);
};

// Brings a file into the state that a writer needs: handles a header that is missing or torn, and
// bytes after the checkpoint (the tail) left by a writer that died before it could checkpoint them.
//
// All functions require the tail lock of the file. Not thread-safe.
class Journal_Recovery {
 public:
  // The arguments are the parts of the journal of `file`; all must outlive this object. Throws
  // Exception if the file is read-only, or if a writer or a file of this kind cannot use this
  // recovery mode.
  Journal_Recovery(Abstract_File& file, Fail_Stop_File& out, Checkpoint_Reader& header,
                   Checkpoint_Writer& checkpoints, Append_Buffer& buffer,
                   Integrity_Writer& integrity, Recovery mode);
  ~Journal_Recovery();
  Journal_Recovery(const Journal_Recovery&) = delete;
  Journal_Recovery& operator=(const Journal_Recovery&) = delete;

  // Reads the header, or writes a header to an empty file; writes nothing else. Requires the head
  // lock, too. Throws what Checkpoint_Reader::open throws, and Unfinished_Transaction if there is a
  // tail and the mode does not say what to do with it.
  void open();
  // True if the file has a size. Without a size, bytes that are written may not be readable
  // (Upgradable_File).
  bool has_file_size() const { return has_file_size_; }

  // True if nothing is left to do for finish().
  bool is_finished() const { return is_finished_; }
  // Handles the tail as the mode says, and invalidates words that claim missing bytes. Throws
  // Io_Error; the last checkpoint still counts then.
  void finish();
  Recovery mode() const { return mode_; }
  // Called when other processes may have written the file, which now has `size` bytes: finish()
  // then handles a new tail. Throws Corruption_Error if a flipped bit of the header hides a
  // checkpoint.
  void reopen(Offset size);

  // Name of the file with the saved tail (Recovery::keep); empty if none was saved.
  const std::string& saved_tail() const { return saved_tail_; }

  // True if the tail was adopted (Recovery::ignore_header) and no checkpoint in the file includes
  // it yet.
  bool has_adopted_tail() const { return header_checkpoint_.has_value(); }
  void forget_adopted_tail() { header_checkpoint_.reset(); }
  // Throws Exception if another process may have removed the adopted tail. Does nothing if no tail
  // was adopted.
  void require_adopted_tail();

  // Reads the checkpoints of the file again. Returns true if another process has written where the
  // buffer would be flushed. Throws Io_Error.
  bool has_tail_been_overtaken();
  // Removes the bytes after the checkpoint that were written before a write or sync failed. With
  // integrity entries, first overwrites these bytes with zeros and syncs; if this fails, the bytes
  // stay. Requires that the tail lock has not been released since the failure.
  void cut_after_failure() noexcept;

  // True with Recovery::hard until the first write: this object holds the presence lock
  // exclusively, so no other process has the file open. While it does, a second attempt to open the
  // file waits, even in this process.
  bool has_file_alone() const { return is_alone_; }

 private:
  bool is_blank(Offset file_size) const;
  void require_presence_alone();
  void end_presence_alone();
  void end_recovery();
  void require_no_tail(Offset file_size) const;
  // Returns the checkpoints of the header, without words beyond `limit`.
  Checkpoints read_checkpoints(Offset file_size, Offset limit);
  void find_header_checkpoint(Offset file_size);
  bool is_preallocated(Offset start, Offset file_size) const;
  std::string copy_tail(Offset start) const;
  void keep_tail(Offset file_size);
  void note_dropped(Offset size) const;
  void erase(Abstract_File& file, Offset start, Offset end) const;
  void drop_tail(Offset file_size);

  Abstract_File& file_;
  Fail_Stop_File& out_;
  Checkpoint_Reader& header_;
  Checkpoint_Writer& checkpoints_;
  Append_Buffer& buffer_;
  Integrity_Writer& integrity_;
  Recovery mode_;
  bool is_alone_ = false;  // Recovery::hard: no other process has the file open
  bool is_finished_ = true;
  bool has_file_size_ = true;
  std::optional<Offset> header_checkpoint_;  // checkpoint of the header, if a tail was adopted
  std::string saved_tail_;
};

// ---- journal ------------------------------------------------------------------------------------

// Appends entries to a journal and writes checkpoints.
//
// append → Append_Buffer → (full, or flush) file → Checkpoint_Writer → Sync_Group.
//
// An entry is appended whole or not at all: it is encoded in memory completely before it becomes
// part of the journal. Entries too large for the buffer (vectors, blobs) go to the file in pieces;
// only a failed write can leave an incomplete entry. Entries are not checked against tables:
// Writable_Database checks them.
//
// Functions that write throw Io_Error if the file cannot be written, and Disk_Full if there is no
// room. After a failed write or sync this object writes nothing more: every function that writes
// throws Write_Disabled, and the checkpoint does not advance. Reading is still possible. Functions
// that write throw Exception if the journal has not been replayed, if a shared file is not locked
// (lock_pull), and while a blob is appended in pieces. In a child process they throw
// Inherited_Object (io/file.h), and the destructor does nothing.
//
// lock_pull and hard checkpoints throw File_Replaced if another program has removed, replaced,
// truncated or restored the file.
//
// Not thread-safe, except as wait() says.
class Writable_Journal {
 public:
  // Opens the journal of `file`, which must outlive this object; an empty file gets a header.
  // Throws what Readonly_Journal throws; Unfinished_Transaction if bytes follow the checkpoint and
  // options.recovery does not say what to do with them; Exception for Recovery::hard if other
  // processes have the file open, and for a preallocation that is not possible. Before recover(),
  // writes nothing except the header of an empty file. The journal must be replayed up to its
  // checkpoint before anything is appended.
  explicit Writable_Journal(Abstract_File& file, const Journal_Options& options = {});

  // If entries follow the checkpoint, warns with Destructor_Logger, and writes these entries to the
  // file, but no checkpoint. Otherwise, if integrity entries are in use and the file is not shared,
  // appends an integrity entry for the bytes that none covers yet, with a soft checkpoint.
  // Truncates preallocated zeros. Errors are passed to Destructor_Logger, too.
  ~Writable_Journal();

  Writable_Journal(const Writable_Journal&) = delete;
  Writable_Journal& operator=(const Writable_Journal&) = delete;

  // Handles the bytes after the checkpoint as options.recovery says, and invalidates header words
  // that claim bytes that the file does not have. Each function that writes to the file calls
  // recover() first; opening and replaying do not, so a file that cannot be read does not change.
  // If a file is opened only to be recovered, call recover() after everything else that may fail.
  // Requires the lock of a shared file. Tells Recovery_Logger what it removes. Throws Io_Error,
  // with the ways out if the bytes cannot be saved; the last checkpoint still counts then.
  void recover();
  // Name of the file in which the bytes after the checkpoint were saved (Recovery::keep); empty if
  // none were saved.
  const std::string& get_saved_tail() const { return recovery_.saved_tail(); }

  Abstract_File& get_file() const { return file_; }
  bool is_shared() const { return file_.is_shared(); }

  // See Readonly_Journal. lock_pull() reads the checkpoints that other processes have written.
  Offset get_checkpoint() const { return header_.checkpoint(); }
  Offset get_hard_checkpoint() const { return header_.hard_checkpoint(); }
  const Checkpoints& get_checkpoints() const { return header_.checkpoints(); }
  // Kind of the integrity entries that this object appends, or, if it appends none, of the last
  // integrity entry found so far; nullopt if none was found.
  std::optional<Integrity> get_integrity() const {
    return has_integrity() ? integrity_.kind() : header_.integrity();
  }
  // True if integrity entries are known to cover everything before the checkpoint.
  bool is_covered() const { return header_.is_covered(); }
  // True with Recovery::hard until the first write. While it is true, a second attempt to open the
  // file waits, even in this process.
  bool has_file_alone() const { return recovery_.has_file_alone(); }
  Offset get_replay_position() const { return replay_.position(); }
  Replay_Place get_replay_place() const { return replay_.place(); }
  void resume(const Replay_Place& place) { replay_.resume(place); }
  template <class Handler>
  void replay(Handler&& handler, Offset until = std::numeric_limits<Offset>::max()) {
    replay_.run(handler, get_checkpoint(), std::min(until, get_checkpoint()));
  }

  // Offset of the next entry in the file.
  Offset get_position() const { return buffer_.position(); }
  // Number of bytes appended since the checkpoint.
  Offset ahead_of_checkpoint() const { return get_position() - get_checkpoint(); }

  // True if entries follow the last end of a transaction (is_transaction_end), in the file or in
  // the buffer. The next entry then belongs to the same transaction. Empty comments and integrity
  // entries do not count. Requires that the journal was replayed. Throws Io_Error.
  bool is_unfinished() const;

  // Appends any entries of format/entry.h except Blob_Data and Update_Vector, all of them or none.
  // If another program has left a transaction without an end, a Valid_Data entry is appended first
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

  // Throws the exceptions that append() throws before it appends anything: if the journal has not
  // been replayed, is shared and not locked, or has failed. Appends the Valid_Data that the first
  // append() would begin with.
  void require_ready() {
    if (!is_ready_ || process_.is_inherited()) get_ready();
  }

  // True if a write or a sync has failed; nothing more is written then. Any thread may call this
  // function.
  bool has_failed() const { return out_.has_failed(); }

  // Appends an update of records [record, record + values.size()).
  template <Field_Value T>
  requires has_fixed_size<T>
  void append_vector(Table_Id table, Record_Id record, Field_Id field, std::span<const T> values);

  // The same for `size` values; get(i) returns value i. If get() throws, nothing has been appended.
  template <Field_Value T, class Get>
  void append_vector(Table_Id table, Record_Id record, Field_Id field, std::int64_t size, Get get);

  // Appends the bytes and returns their position and size. Throws Data_Error for 24 bytes that
  // resemble an integrity entry (format/header.h).
  Blob append_blob(std::string_view bytes);
  // The same in pieces: read(data, n), with n at most 65536, must fill [data, data + n), and is
  // called until there are `size` bytes. Throws Exception unless `size` is in 0 … 2^61 - 1. If
  // read() throws, nothing has been appended. read() may read this journal and its blobs; functions
  // that write throw when read() calls them.
  template <class Read>
  Blob append_blob(std::int64_t size, Read&& read);
  // Returns the first max_size bytes of a blob (-1: all). Flushes the buffer if the blob is in it.
  // Throws Corruption_Error if the file ends before the blob does.
  std::string read_blob(Blob blob, std::int64_t max_size = -1);

  // Appends [get_position(), end) of another journal that begins with the same bytes as this
  // journal. This journal need not have been replayed. Throws Corruption_Error if integrity entries
  // show that the bytes are damaged. If copy_from() throws, nothing has been appended. The bytes
  // are not decoded: call replay_copied(), and call rollback() if replay_copied() throws.
  void copy_from(const Abstract_File& source, Offset end);
  // Replays the bytes that copy_from() has appended, to validate them before they are checkpointed.
  template <class Handler>
  void replay_copied(Handler&& handler) {
    replay_.run(handler, buffer_.flushed(), buffer_.flushed());
  }

  // Appends the integrity entry or empty comment that the next checkpoint of this level would
  // append, also if only other processes have appended entries. If nothing else is appended, the
  // next checkpoint of this level will be at get_position().
  void prepare_checkpoint(Checkpoint_Level level);
  // Reads the bytes [offset, offset + size) into `data`, including appended bytes that are not in
  // the file yet. Throws Io_Error, and Exception if `offset` is negative or if the range extends
  // past get_position().
  void read(char* data, std::size_t size, Offset offset) const;

  // Writes the buffer to the file. Readers see the entries only after the next checkpoint. If
  // flush() throws, the entries stay in the buffer.
  void flush();

  // After soft_checkpoint(), the appended entries survive a killed process; after
  // hard_checkpoint(), they also survive a power cut. If no entry was appended since the last
  // checkpoint, soft_checkpoint() does nothing; hard_checkpoint() still syncs if the last
  // checkpoint is soft, or if another process wrote it and may not have synced it. If a function
  // throws, the previous checkpoint still counts.
  void soft_checkpoint();
  void hard_checkpoint();
  // Syncs the file if the last hard checkpoint is not known to be on disk: another process wrote
  // this checkpoint, or it is a half checkpoint. Takes the lock of a shared file if the lock is not
  // held. Throws Io_Error.
  void sync_hard_checkpoint();

  // Group commit: several threads, or several clients of one thread, share a sync. A thread that
  // needs a hard checkpoint calls hard_checkpoint_async(), which returns a position, and later
  // waits until this position is durable.
  //
  //     std::unique_lock lock(mutex);       // the program's, held during all uses of the journal
  //     journal.append(…);
  //     const joedb::Offset position = journal.hard_checkpoint_async();
  //     journal.wait(position, lock);       // other threads may append meanwhile
  //
  // hard_checkpoint_async() only returns the position after the appended entries. wait() returns
  // when this position is durable: the first waiting thread makes a hard checkpoint of everything
  // appended so far, and releases `lock` during the sync. `lock` is locked again when wait()
  // returns or throws. During the sync, other threads may append, flush and wait, one at a time
  // under the same lock; functions that write a checkpoint or drop entries wait for the end of the
  // sync. wait() throws the error of a failed sync, and Exception if the position was rolled back.
  // In a shared file, the transaction must not end before wait() returns.
  Offset hard_checkpoint_async() const { return get_position(); }
  template <class Lock>
  void wait(Offset position, Lock& lock);
  // The same for a single thread, without a lock.
  void wait(Offset position);

  // Writes integrity entries (format/header.h) from here on, before the checkpoints that `kind`
  // names. The first entry covers all bytes so far, and is written at once, with a hard checkpoint.
  // If a journal already has integrity entries, more are written without this call. None are
  // written for bytes that are copied from another journal (copy_from). With
  // Integrity::each_checkpoint, the entries also detect bytes that a power cut has damaged although
  // the soft checkpoint after them has survived. All writers of a shared file should write
  // integrity entries. Does nothing if this journal writes them already.
  void enable_integrity(Integrity kind = Integrity::each_checkpoint);
  // True if this object writes integrity entries; known from the first append on.
  bool has_integrity() const { return integrity_.is_enabled(); }
  // Declares that this journal is a copy, and that other processes write other copies. A checkpoint
  // then appends no integrity entry, because the other copies would not have these bytes. Only
  // prepare_checkpoint() appends them, before entries are pushed to the other copies.
  void set_copy() { is_copy_ = true; }

  // Older names of these functions. checkpoint_half_commit() is a hard checkpoint without its last
  // sync: the entries are on disk, but if the power fails before the system has written both copies
  // of the position, the previous checkpoint counts.
  void checkpoint_full_commit() { hard_checkpoint(); }
  void checkpoint_half_commit();
  void checkpoint_no_commit() { soft_checkpoint(); }
  void checkpoint() { checkpoint(default_level_); }
  void checkpoint(Checkpoint_Level level);
  Checkpoint_Level get_default_level() const { return default_level_; }
  // Flushes and syncs, without a checkpoint.
  void commit();

  // From here on, nothing can be appended until the journal is replayed again from its start.
  void require_replay();

  // Drops everything after the checkpoint, in memory and in the file. If anything was dropped, the
  // journal must be replayed from its start before anything is appended. Throws Exception if the
  // file cannot be truncated, and Write_Disabled after a failed write or sync; flushed bytes then
  // stay in the file.
  void rollback();

  // Returns a place at or after the checkpoint that rollback_to() can return to. The place is valid
  // until the next checkpoint, or until bytes before the place are rolled back.
  Replay_Place savepoint() const {
    return {get_position(), replay_.place().context, replay_.transaction_end(), 0};
  }
  // Drops everything after the savepoint, in memory and in the file; the next entry is appended at
  // the savepoint. The caller must already have undone the effect of the dropped entries on tables.
  // Throws Exception while a blob is appended in pieces or if a checkpoint follows the savepoint,
  // and Write_Disabled after a failed write or sync, or if the file cannot be truncated; flushed
  // bytes then stay in the file.
  void rollback_to(const Replay_Place& savepoint);

  // Makes the next replay start at the first entry. Throws Exception if entries follow the
  // checkpoint.
  void rewind();

  // Reads the checkpoints that other processes have written to a shared file, without the write
  // lock: waits for no transaction. The new entries must be replayed. Throws what lock_pull()
  // throws; the previous checkpoint then stays valid.
  void pull();
  // The same, then calls replay(), which must replay the new entries. Returns the number of new
  // bytes.
  template <class Replay>
  Offset pull(Replay&& replay) {
    const Offset old = get_checkpoint();
    pull();
    replay();
    return get_checkpoint() - old;
  }
  // Takes the write lock of a shared file if it is free; returns false if it is not. The next call
  // is lock_pull(), which then does not wait, or unlock(). Throws Io_Error.
  bool try_lock();
  // Shared files: waits for the write lock, takes it, and reads the checkpoints. Bytes that a dead
  // writer has left after the checkpoint are removed before anything is written (recover()); with
  // Recovery::keep, they are first saved in a file beside this file. The new entries must be
  // replayed before anything is appended. A file that is not shared is locked while it is open, so
  // nothing is read. Throws Io_Error, Lock_Timeout, Exception if entries follow the checkpoint, and
  // Corruption_Error if the header is damaged; the lock is not held then.
  void lock_pull();
  // The same, then calls replay(), which must replay the new entries. If replay() throws, the lock
  // is not held. Returns the number of new bytes.
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
  // Waits for a running sync, and releases the write lock. After a failed write, first removes the
  // bytes that were written after the checkpoint. With integrity entries, first copies a new
  // checkpoint to the spare words of the header. Does nothing if the lock is not held.
  void unlock() noexcept;

 private:
  // Makes all other functions that write throw while a blob is appended in pieces.
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
  void require_no_entries_ahead() const;
  void follow_others();
  void require_position(Offset position) const;
  static void require_no_integrity_payload(std::string_view bytes);
  void get_ready(bool is_for_end = false);
  Blob begin_blob(std::int64_t size);
  void cover_around_blob(std::int64_t size);
  // Calls f(), which appends one entry in pieces. If f() throws, the pieces are dropped.
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
  std::atomic<bool> is_ready_ = false;  // replayed and locked
  bool has_appended_ = false;           // something, or was about to, since the file was locked
  bool is_locked_ = false;              // shared files only
  bool is_tail_locked_ = false;         // by try_lock()
  bool is_in_blob_ = false;
  const bool ends_transactions_;
  const bool wants_integrity_;
  bool is_copy_ = false;
  bool is_preallocation_automatic_ = false;
  int hard_checkpoints_ = 0;  // their number, while preallocation is automatic
  const Checkpoint_Level default_level_;
  bool has_new_checkpoint_ = false;  // since the file was locked
};

template <class Lock>
void Writable_Journal::wait(Offset position, Lock& lock) {
  for (bool has_yielded = false; !checkpoints_.is_durable(position);) {
    require_position(position);
    const bool is_first = !syncs_.is_pending();
    // Yields once: threads woken by the last sync may append first, and share the next sync.
    if (is_first && !has_yielded) {
      has_yielded = true;
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
  // Puts earlier blobs in the file: read() may read them, but cannot flush meanwhile.
  flush();
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

// The base of Bare_Journal and Writable_Database: a journal, and the functions that do not depend
// on tables. They throw the exceptions of Writable_Journal.
//
// Not thread-safe.
class Journal_Owner {
 public:
  Journal_Owner(const Journal_Owner&) = delete;
  Journal_Owner& operator=(const Journal_Owner&) = delete;

  const Writable_Journal& get_journal() const { return journal_; }
  // Handles the bytes after the checkpoint as the recovery mode says, as the first change would
  // (Writable_Journal::recover).
  void recover() { journal_.recover(); }

  // See Writable_Journal::append_blob and read_blob.
  Blob write_blob(std::string_view bytes) { return journal_.append_blob(bytes); }
  template <class Read>
  Blob write_blob(std::int64_t size, Read&& read) {
    return journal_.append_blob(size, read);
  }
  std::string read_blob(Blob blob, std::int64_t max_size = -1) {
    return journal_.read_blob(blob, max_size);
  }

  // Writes the buffer to the file, without a checkpoint.
  void flush() { journal_.flush(); }
  // Flushes and syncs the file, without a checkpoint.
  void commit() { journal_.commit(); }
  // See Writable_Journal::set_copy.
  void set_copy() { journal_.set_copy(); }
  // Number of bytes appended since the checkpoint.
  Offset ahead_of_checkpoint() const { return journal_.ahead_of_checkpoint(); }
  // See Writable_Journal::try_lock.
  bool try_lock() { return journal_.try_lock(); }
  // Releases the write lock of a shared file. Entries after the checkpoint stay: call rollback()
  // first to drop them.
  void unlock() noexcept { journal_.unlock(); }

 protected:
  Journal_Owner(Abstract_File& file, const Journal_Options& options) : journal_(file, options) {}
  ~Journal_Owner() = default;

  Writable_Journal journal_;
};

// A journal that is written without tables in memory, for comments, blobs, and bytes of another
// copy. Its functions are those of Writable_Database, but entries are not checked against tables:
// an entry that is invalid for the tables makes the journal unreadable for every program that has
// tables.
//
// Functions that write throw Io_Error if the file cannot be written, Write_Disabled after a failed
// write or sync, and Exception if a shared file is not locked. An entry is appended whole or not at
// all. Not thread-safe.
class Bare_Journal : public Journal_Owner {
 public:
  // Reads all entries, then calls recover() unless the file is shared. `file` must outlive this
  // object. Throws the exceptions of Writable_Journal and of its replay; if the entries of the file
  // cannot be read, the file has not changed.
  explicit Bare_Journal(Abstract_File& file, const Journal_Options& options = {})
      : Journal_Owner(file, options) {
    replay();
    if (!journal_.is_shared()) recover();
  }

  using Journal_Owner::get_journal;
  Writable_Journal& get_journal() { return journal_; }

  // Appends any entry of format/entry.h except Blob_Data and Update_Vector.
  template <class Entry>
  void write(const Entry& entry) {
    journal_.append(entry);
  }
  // Writable_Journal::prepare_checkpoint.
  void prepare_checkpoint(Checkpoint_Level level) { journal_.prepare_checkpoint(level); }
  // After a soft checkpoint, the appended entries survive a killed process; after a hard
  // checkpoint, they also survive a power cut. If a function throws, the previous checkpoint still
  // counts.
  void checkpoint(Checkpoint_Level level) { journal_.checkpoint(level); }
  void soft_checkpoint() { journal_.soft_checkpoint(); }
  void hard_checkpoint() { journal_.hard_checkpoint(); }
  // Drops everything after the checkpoint, in the file and in memory, and reads the journal again.
  void rollback() {
    journal_.rollback();
    replay();
  }

  // Shared files: waits for the write lock, takes it, and reads the entries that other processes
  // have written. Returns the number of bytes of these entries. If this throws, the lock is not
  // held.
  Offset lock_pull() {
    return journal_.lock_pull([this] { replay(); });
  }
  // Reads these entries without the lock, and returns their number of bytes.
  Offset pull() {
    return journal_.pull([this] { replay(); });
  }
  // Appends [checkpoint, end) of another journal that begins with the same bytes as this journal.
  // Requires that no bytes follow the checkpoint. If the bytes are not whole valid entries, throws
  // Corruption_Error, and nothing has changed.
  void append_from(const Abstract_File& source, Offset end) {
    journal_.copy_from(source, end);
    try {
      journal_.replay_copied(Ignore_Entries());
    } catch (...) {
      rollback();
      throw;
    }
  }
  // The same, followed by a soft checkpoint.
  void copy_from(const Abstract_File& source, Offset end) {
    append_from(source, end);
    journal_.soft_checkpoint();
  }

 private:
  // Called before anything is appended: short forms depend on the entries before them.
  void replay() { journal_.replay(Ignore_Entries()); }
};

}  // namespace joedb::inline v1

#endif
