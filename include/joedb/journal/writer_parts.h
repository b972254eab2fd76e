#ifndef JOEDB_JOURNAL_WRITER_PARTS_H
#define JOEDB_JOURNAL_WRITER_PARTS_H

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/base/threads.h"
#include "joedb/format/header.h"
#include "joedb/io/fail_stop_file.h"
#include "joedb/journal/readonly_journal.h"

// The parts of Writable_Journal: each does one thing, and none knows the journal.

namespace joedb::inline v1 {

// Collects bytes for the end of a file in memory, and writes them when the buffer is full or
// flushed. Two offsets matter: position(), the offset of the next byte, and flushed(), the end of
// the bytes that are in the file.
//
// Functions that write throw Io_Error. The bytes then stay in the buffer, and `out` has failed, so
// that nothing more is written. The buffer knows nothing of entries and checkpoints.
//
// Not thread-safe.
class Append_Buffer {
 public:
  // Appended bytes are written to `out`. `file` is the same file: it is read, and preallocated
  // zeros are written to it. Both must outlive this object.
  Append_Buffer(Abstract_File& file, Fail_Stop_File& out);
  Append_Buffer(const Append_Buffer&) = delete;
  Append_Buffer& operator=(const Append_Buffer&) = delete;

  Offset position() const { return flushed_ + static_cast<Offset>(used_); }
  Offset flushed() const { return flushed_; }
  bool is_empty() const { return used_ == 0; }
  // The bytes [flushed(), position()).
  std::string_view unwritten() const { return {body(), used_}; }

  // Returns memory for `size` more bytes, which count after use_to(). If there is no room, the
  // buffer is flushed, and may be enlarged.
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
  // Appends a copy of the bytes. 256 KiB or more bypass the buffer: it is flushed, and they are
  // written at once.
  void append(const char* data, std::size_t size);

  // Writes the buffer to the file. Returns the bytes written, valid until the next reserve() or
  // append().
  std::string_view flush();

  // Drops the bytes from `position` on, and truncates the file there if some of them were written.
  // If the truncation fails, they stay in the file, and `out` has failed.
  void drop_from(Offset position) noexcept;
  // Drops the whole buffer. The next byte goes to `position`; the bytes before it in the file need
  // not have been written through this object.
  void restart_at(Offset position) noexcept;
  // Truncates the file at `position`, unless the file has no size (a device). Throws Exception if
  // it cannot be truncated.
  void truncate(Offset position);

  // Starts a hash at `start`. Writes of 16 KiB or more are hashed on their way to the file; smaller
  // ones are read back when the hash is needed. Requires flushed() <= start <= position().
  void start_hash(Offset start);
  // Returns integrity_hash of [start, position()), or nullopt if no hash was started at `start`.
  // Throws Io_Error.
  std::optional<std::uint64_t> hash_since(Offset start);

  // Preallocates the file in steps of `step` bytes, filled with zeros (Preallocator). Throws
  // Exception if the step is out of range.
  void preallocate(Offset step) { preallocator_.set_step(step); }
  // 0 if the file is not preallocated, or no longer, because the disk had no room for the zeros.
  Offset preallocation_step() const { return preallocator_.step(); }
  // True if preallocated zeros follow the bytes in the file.
  bool has_zeros_ahead() const { return preallocator_.end() > flushed_; }
  // Called before bytes up to `end` are written to the file without this buffer: preallocates for
  // them.
  void preallocate_to(Offset end);

  // Returns the last integrity_entry_size bytes before position(). Requires that the file has that
  // many. Reads them from the file if they were not appended through this object. Throws Io_Error.
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

// Writes the checkpoint words of a journal's header. No other code writes them. Their invariants, 1
// to 9, are listed in checkpoint_writer.cc.
//
// All functions require the tail lock of the file, and that the entries before a checkpoint have
// been written to the file. If one throws, the previous checkpoint still counts, in the file and in
// memory.
//
// Not thread-safe. The caller does the last sync of a hard checkpoint (Sync_Group), and may let
// other threads append meanwhile.
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
  // Reads the words again, which other processes may have changed. Returns the size of the file.
  Offset update();
  // Notes that all bytes of the file from `position` on were written through `out`.
  void set_written_from(Offset position) { written_from_ = position; }

  // ---- checkpoints

  // Writes a soft checkpoint: the entries before `position` survive a killed process. `position`
  // must not be before the last checkpoint.
  void write_soft(Offset position);

  // Writes a hard checkpoint except for its last sync. `position` must be past the last hard
  // checkpoint. `entries` are the last bytes before it, as many as are in memory. Returns true if
  // the checkpoint is sealed.
  bool begin_hard(Offset position, std::string_view entries);
  // Called after that sync: the checkpoint counts in memory from here on.
  void finish_hard(Offset position);
  // Called after finish_hard() if the checkpoint is sealed: replaces the seal by the position. If
  // that fails, `out` remembers it, and the next writer does it (replace_seal).
  void replace_own_seal() noexcept;

  // Writes a hard checkpoint without its last sync: if the power fails before the system has
  // written both words, the previous checkpoint counts.
  void write_half(Offset position);

  // Makes the last hard checkpoint durable if another process has written it, or if it is a half
  // checkpoint.
  void sync_hard();
  // Syncs the file, and with it the last hard checkpoint.
  void sync();
  // True if a hard checkpoint at or after `position` is durable.
  bool is_durable(Offset position) const {
    return header_.hard_checkpoint() >= position && is_hard_durable();
  }

  // ---- recovery

  // Replaces the seal left by a writer that died first.
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
  Offset synced_hard_checkpoint_ = journal_start;  // the last one known to be on disk
  Offset own_hard_checkpoint_ = journal_start;     // the last one that this object has written
  // Bytes of the file before durable_end_ are known to be on disk. Bytes from written_from_ on were
  // written by this object. Bytes in between may never reach the disk, even if a sync succeeds
  // (rewrite_unproven_entries).
  Offset durable_end_ = 0;
  Offset written_from_ = 0;
};

// Appends the integrity entries of a journal (format/header.h). Each covers the bytes appended
// since the previous one.
//
// Not thread-safe.
class Integrity_Writer {
 public:
  // `header` keeps the end of the covered bytes. All arguments must outlive this object.
  Integrity_Writer(const Abstract_File& file, Append_Buffer& buffer, Checkpoint_Reader& header)
      : file_(file), buffer_(buffer), header_(header) {}

  // The kind of entries that are written; nullopt if none are.
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
    return kind_ == Integrity::each_checkpoint || level != Checkpoint_Level::soft ||
           header_.has_unchecked_entries() ||
           buffer_.position() - header_.covered() >= integrity_step;
  }
  // Appends an entry that covers these bytes. Requires is_enabled(). Throws Io_Error.
  void append_entry();

  // True if readers would take the last bytes, which belong to a text, for an integrity entry.
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

// Group commit: the sync that makes a hard checkpoint durable. The words of the checkpoint are in
// the file; one thread syncs while others append, or wait for the end of the sync.
//
// All functions except sync() and wait() are called with the program's lock, the one around all
// uses of the journal. sync() and wait() are called without it.
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
  // Makes the next sync() the one of this checkpoint. Requires that none is pending.
  void begin(Checkpoint checkpoint);
  // Number of the most recent sync; pass it to wait().
  std::uint64_t number() const { return number_; }

  // Syncs the file, and wakes the waiting threads. Called once after each begin(). finish() throws
  // the error if it fails.
  void sync() noexcept;
  // Returns after this sync, whether it has succeeded or failed.
  void wait(std::uint64_t number);
  // True if the most recent sync has not returned.
  bool is_syncing();

  // Waits for the sync, and returns the checkpoint that is durable now, or nullopt if none is
  // pending. Throws the error of the sync, once; no checkpoint is pending then.
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
  // Exception if the file is read-only, or if this recovery mode is not for writers or not for this
  // file.
  Journal_Recovery(Abstract_File& file, Fail_Stop_File& out, Checkpoint_Reader& header,
                   Checkpoint_Writer& checkpoints, Append_Buffer& buffer,
                   Integrity_Writer& integrity, Recovery mode);
  ~Journal_Recovery();
  Journal_Recovery(const Journal_Recovery&) = delete;
  Journal_Recovery& operator=(const Journal_Recovery&) = delete;

  // Reads the header, or writes one to an empty file; writes nothing else. Requires the head lock,
  // too. Throws what Checkpoint_Reader::open throws, and Unfinished_Transaction if there is a tail
  // and the mode does not say what to do with it.
  void open();
  // True if the file has a size. Without one, bytes that are written may not be readable
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
  // Throws Exception if another process may have removed the adopted tail. Does nothing if there is
  // none.
  void require_adopted_tail();

  // Reads the checkpoints of the file again. Returns true if another process has written where the
  // buffer would be flushed. Throws Io_Error.
  bool has_tail_been_overtaken();
  // Removes the bytes after the checkpoint that were written before a write or sync failed. With
  // integrity entries, first overwrites them with zeros and syncs; if that fails, they stay.
  // Requires that the tail lock has not been released since the failure.
  void cut_after_failure() noexcept;

  // True with Recovery::hard until the first write: no other process has the file open. Until then,
  // opening it a second time blocks, also in this process.
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
  void keep_tail(Offset file_size);
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

}  // namespace joedb::inline v1

#endif
