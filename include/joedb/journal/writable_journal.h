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

// The parts of Writable_Journal. Each part has one task, and no part depends on Writable_Journal.

// Appends bytes to a file through a buffer in memory. The buffer is written to the file when it is
// full or flushed. position() is the offset of the next byte to append; flushed() is the end of the
// bytes that were written to the file.
//
// Functions that write throw Io_Error. The bytes then stay in the buffer, and `out` is marked as
// failed, so that nothing more is written. The class knows nothing about entries and checkpoints.
//
// Not thread-safe.
class Append_Buffer {
 public:
  // `out` must forward to `file`. Appended bytes are written to `out`; preallocated zeros are
  // written to `file`, and bytes are read from `file`. Both must outlive this object.
  Append_Buffer(Abstract_File& file, Fail_Stop_File& out);
  Append_Buffer(const Append_Buffer&) = delete;
  Append_Buffer& operator=(const Append_Buffer&) = delete;

  Offset position() const { return flushed_ + static_cast<Offset>(used_); }
  Offset flushed() const { return flushed_; }
  bool is_empty() const { return used_ == 0; }
  // The bytes [flushed(), position()).
  std::string_view unwritten() const { return {body(), used_}; }

  // Returns memory for `size` more bytes, which become part of the buffer when use_to() is called.
  // If the buffer has no room for them, it is flushed, and enlarged if necessary.
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

  // Starts a hash of the bytes from `start` on. The bytes of a write of 16 KiB or more are hashed
  // when they are written; the bytes of smaller writes are read from the file when hash_since() is
  // called. Requires flushed() <= start <= position().
  void start_hash(Offset start);
  // Returns integrity_hash of [start, position()), or nullopt if no hash was started at `start`.
  // Throws Io_Error.
  std::optional<std::uint64_t> hash_since(Offset start);

  // From now on, preallocates the file with zeros, in steps of `step` bytes (Preallocator). Throws
  // Exception if the step is out of range.
  void preallocate(Offset step) { preallocator_.set_step(step); }
  // 0 if the file is not preallocated, or is no longer preallocated because the disk had no room
  // for the zeros.
  Offset preallocation_step() const { return preallocator_.step(); }
  // True if preallocated zeros follow the bytes in the file.
  bool has_zeros_ahead() const { return preallocator_.end() > flushed_; }
  // If no preallocated zeros are left behind `end`, preallocates more. Called after bytes up to
  // `end` were written to the file without this buffer.
  void preallocate_behind(Offset end);

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
  // memory_ begins with the last prefix_size bytes before flushed_, which are valid only if
  // has_prefix_. The unwritten bytes follow.
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
// All functions require that the caller holds the tail lock of the file, and that the entries
// before a checkpoint have been written to the file. If a function throws, the previous checkpoint
// still counts, in the file and in memory.
//
// Not thread-safe. The last sync of a hard checkpoint is left to the caller (Sync_Group), which may
// let other threads append during this sync.
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
  // file size.
  Offset update() { return update(header_.read_words()); }
  // The same for words that were just read. Does not require the tail lock if they were read by
  // Checkpoint_Reader::read_stable_words().
  Offset update(const Checkpoint_Words& words);
  // Notes that all bytes of the file from `position` on were written through `out`.
  void set_written_from(Offset position) { written_from_ = position; }

  // ---- checkpoints

  // Writes a soft checkpoint: the entries before `position` survive a killed process. `position`
  // must not be before the last checkpoint.
  void write_soft(Offset position);

  // Writes a hard checkpoint except for its last sync. `position` must be past the last hard
  // checkpoint. `entries` must be the bytes before `position` that are in memory. Returns true if
  // the checkpoint is sealed.
  bool begin_hard(Offset position, std::string_view entries);
  // Called after the last sync of a hard checkpoint: makes it the current checkpoint in memory.
  void finish_hard(Offset position);
  // Called after finish_hard() if the checkpoint is sealed: replaces the seal by the position. If
  // this fails, `out` is marked as failed, and the next writer replaces the seal (replace_seal).
  void replace_own_seal() noexcept;

  // Writes a hard checkpoint without its last sync. If the power fails before the system has
  // written both words to the disk, the previous checkpoint counts.
  void write_half(Offset position);

  // Makes the last hard checkpoint durable, unless it is known to be durable: another process may
  // have written it, or it may be a half checkpoint.
  void sync_hard();
  // Syncs the file. This also makes the last hard checkpoint durable.
  void sync();
  // True if a hard checkpoint at or after `position` is durable.
  bool is_durable(Offset position) const {
    return header_.hard_checkpoint() >= position && is_hard_durable();
  }

  // ---- recovery

  // Replaces the seal left by a writer that died before it could replace the seal itself.
  void replace_seal();
  // Writes a hard checkpoint at the first entry if the header has none.
  void create_hard_slot();
  // Invalidates the words that claim more than `file_size` bytes.
  void invalidate_words_beyond(Offset file_size);
  // Copies the last checkpoint to the spare words. Called before the file is closed or unlocked.
  void fill_spare_words();

 private:
  bool is_hard_durable() const { return synced_hard_checkpoint_ == header_.hard_checkpoint(); }
  // True if the header is known to be on disk, or was written by this object.
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
  Offset own_hard_checkpoint_ = journal_start;  // the last hard checkpoint written by this object
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
  // header.covered() is the end of the bytes that integrity entries cover. All arguments must
  // outlive this object.
  Integrity_Writer(const Abstract_File& file, Append_Buffer& buffer, Checkpoint_Reader& header)
      : file_(file), buffer_(buffer), header_(header) {}

  // The kind of integrity entries that this object appends; nullopt if it appends none.
  std::optional<Integrity> kind() const { return kind_; }
  bool is_enabled() const { return kind_.has_value(); }
  void enable(Integrity kind) { kind_ = kind; }

  // Called before the first append: if integrity entries cover all bytes so far, starts the hash of
  // the next entry.
  void begin() {
    if (is_enabled() && !has_uncovered_bytes()) buffer_.start_hash(buffer_.position());
  }

  // True if no integrity entry covers the last bytes.
  bool has_uncovered_bytes() const { return buffer_.position() != header_.covered(); }
  // True if an integrity entry is needed before a checkpoint of this level. Requires
  // has_uncovered_bytes().
  bool is_due(Checkpoint_Level level) const {
    assert(has_uncovered_bytes());
    return kind_ == Integrity::each_checkpoint || level != Checkpoint_Level::soft ||
           header_.has_unchecked_entries() ||
           buffer_.position() - header_.covered() >= integrity_step;
  }
  // Appends an entry that covers the uncovered bytes. Requires is_enabled(). Throws Io_Error.
  void append_entry();

  // True if readers would mistake the last bytes, which belong to a text, for an integrity entry.
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

// Group commit: shares the sync that makes a hard checkpoint durable. When the words of the
// checkpoint are in the file, one thread syncs the file; meanwhile, other threads append, or wait
// for the end of the sync.
//
// The program has a lock that it holds whenever it uses the journal. All functions except sync()
// and wait() are called while this lock is held; sync() and wait() are called without it.
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
  // Makes `checkpoint` the pending checkpoint, which the next sync() will make durable. Requires
  // that no checkpoint is pending.
  void begin(Checkpoint checkpoint);
  // Number of the most recent sync; pass it to wait().
  std::uint64_t number() const { return number_; }

  // Syncs the file, and wakes the waiting threads. Called once after each begin(). If the sync
  // fails, finish() throws its error.
  void sync() noexcept;
  // Waits until the sync with this number has succeeded or failed.
  void wait(std::uint64_t number);
  // True if the most recent sync has not ended yet.
  bool is_syncing();

  // Waits until the sync ends, and returns the checkpoint that is now durable; returns nullopt if
  // no checkpoint was pending. If the sync has failed, throws its error, and no checkpoint is
  // pending then.
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

// Brings a file into the state that a writer needs. Handles a missing or incomplete header, and
// bytes after the checkpoint (the tail), left by a writer that died before it wrote their
// checkpoint.
//
// All functions require the tail lock of the file. Not thread-safe.
class Journal_Recovery {
 public:
  // The arguments are the parts of the journal of `file`; all must outlive this object. Throws
  // Exception if the file is read-only, or if this recovery mode is not possible for a writer, or
  // for a file of this kind.
  Journal_Recovery(Abstract_File& file, Fail_Stop_File& out, Checkpoint_Reader& header,
                   Checkpoint_Writer& checkpoints, Append_Buffer& buffer,
                   Integrity_Writer& integrity, Recovery mode);
  ~Journal_Recovery();
  Journal_Recovery(const Journal_Recovery&) = delete;
  Journal_Recovery& operator=(const Journal_Recovery&) = delete;

  // Reads the header. If the file is empty, writes a header; otherwise writes nothing. Requires the
  // head lock, too. Throws the exceptions of Checkpoint_Reader::open, and Unfinished_Transaction if
  // there is a tail and the mode is Recovery::none.
  void open();
  // True if the file has a size. If it has none, written bytes may not be readable
  // (Upgradable_File).
  bool has_file_size() const { return has_file_size_; }

  // True if finish() has nothing to do.
  bool is_finished() const { return is_finished_; }
  // Handles the tail according to the mode, and invalidates words that claim missing bytes. Throws
  // Io_Error; the last checkpoint still counts then.
  void finish();
  Recovery mode() const { return mode_; }
  // Called when other processes may have written the file, which now has `size` bytes. If there is
  // a new tail, finish() will handle it. Throws Corruption_Error if a flipped bit of the header
  // hides a checkpoint.
  void reopen(Offset size);

  // Name of the file with the saved tail (Recovery::keep); empty if none was saved.
  const std::string& saved_tail() const { return saved_tail_; }

  // True if the tail was adopted (Recovery::ignore_header), and no checkpoint in the file is past
  // the tail yet.
  bool has_adopted_tail() const { return header_checkpoint_.has_value(); }
  void forget_adopted_tail() { header_checkpoint_.reset(); }
  // Throws Exception if another process may have removed the adopted tail. Does nothing if no tail
  // was adopted.
  void require_adopted_tail();

  // Reads the checkpoints of the file again. Returns true if another process has written at or
  // after the place where the buffer would be flushed. Throws Io_Error.
  bool has_tail_been_overtaken();
  // Called after a failed write or sync: removes the bytes after the checkpoint. If they may
  // contain an integrity entry, first overwrites them with zeros and syncs; if this fails, the
  // bytes stay. Requires that the tail lock has been held since the failure.
  void cut_after_failure() noexcept;

  // True with Recovery::hard until the first write: this object then holds the presence lock
  // exclusively, so no other process has the file open. While it holds this lock, every other
  // attempt to open the file waits, even in this process.
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
  bool is_alone_ = false;  // the presence lock is held exclusively
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
// part of the journal. Entries that are too large for the buffer (vectors, blobs) are written to
// the file in pieces; only a failed write can leave an incomplete entry. Writable_Journal does not
// check entries against tables; Writable_Database does.
//
// Functions that write throw Io_Error if the file cannot be written, and Disk_Full if there is no
// room. After a failed write or sync this object writes nothing more: every function that writes
// throws Write_Disabled, and the checkpoint does not advance. Reading is still possible. Functions
// that write throw Exception if the journal has not been replayed, if a shared file is not locked
// (lock_pull), or while a blob is appended in pieces. In a child process they throw
// Inherited_Object (io/file.h), and the destructor does nothing.
//
// lock_pull and hard checkpoints throw File_Replaced if another program has removed, replaced,
// truncated or restored the file.
//
// Not thread-safe, except that threads may share syncs: see hard_checkpoint_async().
class Writable_Journal {
 public:
  // Opens the journal of `file`, which must outlive this object. Writes a header to an empty file;
  // otherwise writes nothing before recover(). The journal must be replayed up to its checkpoint
  // before anything is appended. Throws the exceptions of Readonly_Journal; Unfinished_Transaction
  // if bytes follow the checkpoint and the recovery mode is none; Exception if the preallocation is
  // not possible, or if the mode is Recovery::hard and other processes have the file open.
  explicit Writable_Journal(Abstract_File& file, const Journal_Options& options = {});

  // If entries follow the checkpoint, warns with Destructor_Logger, and writes these entries to the
  // file without a checkpoint. Otherwise, if integrity entries do not cover the last bytes of a
  // journal that has such entries, and the file is not shared, appends an integrity entry and a
  // soft checkpoint. Truncates preallocated zeros. Errors go to Destructor_Logger, too.
  ~Writable_Journal();

  Writable_Journal(const Writable_Journal&) = delete;
  Writable_Journal& operator=(const Writable_Journal&) = delete;

  // Handles the bytes after the checkpoint according to options.recovery, and invalidates header
  // words that claim bytes that the file does not have. Each function that writes to the file calls
  // recover() first. Opening and replaying do not, so a file that cannot be read does not change. A
  // program that opens a file only to recover it should call recover() after everything else that
  // may fail. A shared file must be locked. Recovery_Logger receives a note about removed bytes.
  // Throws Io_Error; the last checkpoint still counts then. If the bytes cannot be saved, the text
  // of the error says what the user can do.
  void recover();
  // Name of the file in which the bytes after the checkpoint were saved (Recovery::keep); empty if
  // none were saved.
  const std::string& get_saved_tail() const { return recovery_.saved_tail(); }

  Abstract_File& get_file() const { return file_; }
  bool is_shared() const { return file_.is_shared(); }

  // See Readonly_Journal. pull() and lock_pull() read the checkpoints that other processes have
  // written.
  Offset get_checkpoint() const { return header_.checkpoint(); }
  Offset get_hard_checkpoint() const { return header_.hard_checkpoint(); }
  const Checkpoints& get_checkpoints() const { return header_.checkpoints(); }
  // Kind of the integrity entries that this object appends. If it appends none, kind of the last
  // integrity entry found so far; nullopt if none was found.
  std::optional<Integrity> get_integrity() const {
    return has_integrity() ? integrity_.kind() : header_.integrity();
  }
  // True if integrity entries are known to cover everything before the checkpoint.
  bool is_covered() const { return header_.is_covered(); }
  // True with Recovery::hard until the first write. Until then, every other attempt to open the
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

  // Throws the exceptions that append() would throw before it appends anything: if the journal has
  // not been replayed, if its file is shared and not locked, or if a write or sync has failed. If
  // the first append() would begin with a Valid_Data entry, appends this entry.
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

  // Appends the bytes and returns their position and size. Throws Data_Error if the blob has 24
  // bytes and resembles an integrity entry (format/header.h).
  Blob append_blob(std::string_view bytes);
  // The same in pieces: calls read(data, n) until there are `size` bytes. Each call must fill
  // [data, data + n); n is at most 65536. Throws Exception unless `size` is in 0 … 2^61 - 1. If
  // read() throws, nothing has been appended. read() may read this journal and its blobs; functions
  // that write throw if read() calls them.
  template <class Read>
  Blob append_blob(std::int64_t size, Read&& read);
  // Returns the first max_size bytes of a blob, or all bytes if max_size is -1. If a part of the
  // blob is still in the buffer, first flushes the buffer. Throws Corruption_Error if the file ends
  // before the blob does.
  std::string read_blob(Blob blob, std::int64_t max_size = -1);

  // Appends the bytes [get_position(), end) of another journal that begins with the same bytes as
  // this journal. This journal need not have been replayed. Throws Corruption_Error if integrity
  // entries show that the bytes are damaged. If copy_from() throws, nothing has been appended. The
  // bytes are not decoded: call replay_copied() before a checkpoint, and call rollback() if
  // replay_copied() throws.
  void copy_from(const Abstract_File& source, Offset end);
  // Replays the bytes that copy_from() has appended, to validate them before they are checkpointed.
  template <class Handler>
  void replay_copied(Handler&& handler) {
    replay_.run(handler, buffer_.flushed(), buffer_.flushed());
  }

  // Appends the integrity entry or empty comment that must precede the next checkpoint of this
  // level. Does so even if only other processes have appended entries. If nothing else is appended
  // then, the next checkpoint of this level will be at get_position().
  void prepare_checkpoint(Checkpoint_Level level);
  // Reads the bytes [offset, offset + size) into `data`. They may include appended bytes that are
  // not in the file yet. Throws Io_Error, and Exception if `offset` is negative or if the range
  // extends past get_position().
  void read(char* data, std::size_t size, Offset offset) const;

  // Reads bytes that are kept in memory (Journal_Options::recent_size), some of which may have no
  // checkpoint; otherwise returns false. May be called by any thread.
  bool read_recent(char* data, std::size_t size, Offset offset) const {
    return out_.read_recent(data, size, offset);
  }

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
  // Syncs the file if the last hard checkpoint is not known to be on disk, because another process
  // wrote this checkpoint, or because it is a half checkpoint. If the file is shared and not
  // locked, holds its lock meanwhile. Throws Io_Error.
  void sync_hard_checkpoint();

  // Group commit: several threads, or several clients of one thread, share a sync. A thread that
  // needs a hard checkpoint calls hard_checkpoint_async(), which returns a position, and later
  // waits until this position is durable.
  //
  //     std::unique_lock lock(mutex);       // held during all uses of the journal
  //     journal.append(…);
  //     const joedb::Offset position = journal.hard_checkpoint_async();
  //     journal.wait(position, lock);       // other threads may append meanwhile
  //
  // hard_checkpoint_async() does nothing but return get_position(). wait() returns when the entries
  // before this position are durable. The first waiting thread makes a hard checkpoint of
  // everything appended so far, and releases `lock` during the sync. `lock` is locked again when
  // wait() returns or throws. During the sync, other threads may append, flush and wait, if they
  // hold the same lock; functions that write a checkpoint or drop entries wait for the end of the
  // sync. wait() throws the error of a failed sync, and Exception if the position was rolled back.
  // If the file is shared, it must not be unlocked before wait() returns.
  Offset hard_checkpoint_async() const { return get_position(); }
  template <class Lock>
  void wait(Offset position, Lock& lock);
  // The same for a program with a single thread, which needs no lock.
  void wait(Offset position);

  // From here on, writes integrity entries (format/header.h) before the checkpoints that `kind`
  // specifies. The first entry covers all bytes so far, and is written at once, with a hard
  // checkpoint. Does nothing if this journal writes such entries already: if a journal has
  // integrity entries, more are written without this call. No entries are written for bytes that
  // are copied from another journal (copy_from). Entries of the kind each_checkpoint also detect
  // that a power cut has damaged bytes before a soft checkpoint that has survived. All writers of a
  // shared file should write integrity entries.
  void enable_integrity(Integrity kind = Integrity::each_checkpoint);
  // True if this object writes integrity entries. Before the first append, this may not be known,
  // and the result is false.
  bool has_integrity() const { return integrity_.is_enabled(); }
  // Declares that this journal is a copy of a journal that other processes write. A checkpoint then
  // appends no integrity entry, because the other copies would not contain it. Only
  // prepare_checkpoint() appends integrity entries, before the new entries are pushed to the other
  // copies.
  void set_copy() { is_copy_ = true; }

  // Older names of the checkpoint functions. checkpoint_half_commit() is a hard checkpoint without
  // its last sync: the entries are on disk, but if the power fails before the system has written
  // both copies of the position to the disk, the previous checkpoint counts.
  void checkpoint_full_commit() { hard_checkpoint(); }
  void checkpoint_half_commit();
  void checkpoint_no_commit() { soft_checkpoint(); }
  void checkpoint() { checkpoint(default_level_); }
  void checkpoint(Checkpoint_Level level);
  Checkpoint_Level get_default_level() const { return default_level_; }
  // Flushes and syncs, without a checkpoint.
  void commit();

  // Forbids appending until the journal is replayed again from its start.
  void require_replay();

  // Drops everything after the checkpoint, in memory and in the file. If anything was dropped, the
  // journal must be replayed from its start before anything is appended. Throws Exception if the
  // file cannot be truncated, and Write_Disabled after a failed write or sync; flushed bytes then
  // stay in the file.
  void rollback();

  // Returns the current place, to which rollback_to() can return. The place is valid until the next
  // checkpoint, or until bytes before the place are rolled back.
  Replay_Place savepoint() const {
    return {get_position(), replay_.place().context, replay_.transaction_end(), 0};
  }
  // Drops everything after the savepoint, in memory and in the file; the next entry is appended at
  // the savepoint. The caller must already have undone the effect of the dropped entries on tables.
  // Throws Exception if a checkpoint follows the savepoint, or while a blob is appended in pieces.
  // Throws Write_Disabled after a failed write or sync, or if the file cannot be truncated; flushed
  // bytes then stay in the file.
  void rollback_to(const Replay_Place& savepoint);

  // Makes the next replay start at the first entry. Throws Exception if entries follow the
  // checkpoint.
  void rewind();

  // Reads the checkpoints that other processes have written to a shared file. Does not take the
  // write lock, and so does not wait for transactions, unless a tail was adopted
  // (Recovery::ignore_header). The new entries must be replayed. Throws the exceptions of
  // lock_pull(); the previous checkpoint then stays valid.
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
  // Takes the write lock of a shared file if the lock is free; otherwise returns false. After
  // success, the next call must be lock_pull(), which then does not wait, or unlock(). Throws
  // Io_Error.
  bool try_lock();
  // For a shared file: waits for the write lock, takes it, and reads the checkpoints. The new
  // entries must be replayed before anything is appended. If a dead writer has left bytes after the
  // checkpoint, recover() removes them before anything is written; with Recovery::keep, it first
  // saves them in a file beside this file. A file that is not shared is locked as long as it is
  // open, so nothing is read. Throws Io_Error, Lock_Timeout, Exception if entries follow the
  // checkpoint, and Corruption_Error if the header is damaged; the lock is not held then.
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
  // Waits for a running sync, and releases the write lock. Before that, if a write or sync has
  // failed, removes the bytes after the checkpoint; otherwise, if integrity entries are in use,
  // copies a new checkpoint to the spare words of the header. Does nothing if the lock is not held.
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
  bool has_appended_ = false;    // appended something, or was about to, since the file was locked
  bool is_locked_ = false;       // shared files only
  bool is_tail_locked_ = false;  // by try_lock()
  bool is_in_blob_ = false;
  const bool ends_transactions_;
  const bool wants_integrity_;
  bool is_copy_ = false;
  bool is_preallocation_automatic_ = false;
  int hard_checkpoints_ = 0;  // counted while preallocation is automatic
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
  // Writes earlier blobs to the file: read() may read them, but cannot flush the buffer.
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
  // Handles the bytes after the checkpoint according to the recovery mode. Otherwise the first
  // change does so. See Writable_Journal::recover.
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

// A journal without tables in memory, for programs that only write comments or blobs, or bytes of
// another copy. The functions have the names of those of Writable_Database. Entries are not checked
// against tables: after an invalid entry, no program that has tables can read the journal.
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
  // Reads the entries that other processes have written, without the lock. Returns the number of
  // bytes of these entries.
  Offset pull() {
    return journal_.pull([this] { replay(); });
  }
  // Appends the bytes [checkpoint, end) of another journal that begins with the same bytes as this
  // journal. Requires that no bytes follow the checkpoint. If the appended bytes are not whole
  // valid entries, throws Corruption_Error, and nothing has changed.
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
  // Called before anything is appended, because the short forms of entries depend on earlier
  // entries.
  void replay() { journal_.replay(Ignore_Entries()); }
};

}  // namespace joedb::inline v1

#endif
