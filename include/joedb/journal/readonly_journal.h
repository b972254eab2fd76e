#ifndef JOEDB_JOURNAL_READONLY_JOURNAL_H
#define JOEDB_JOURNAL_READONLY_JOURNAL_H

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/base/error.h"
#include "joedb/base/types.h"
#include "joedb/format/codec.h"
#include "joedb/format/header.h"
#include "joedb/io/fail_stop_file.h"
#include "joedb/io/file.h"

namespace joedb::inline v1 {

// ---- options ------------------------------------------------------------------------------------

// Which part of a file is read, and what a writer does with the rest.
enum class Recovery {
  // Reads up to the checkpoint. A writer refuses a file with bytes after the checkpoint.
  none,
  // Reads everything up to the end of the file, or up to the zeros that a preallocating writer has
  // left.
  ignore_header,
  // Reads up to the checkpoint. A writer truncates the file there.
  overwrite,
  // Reads up to the hard checkpoint. A writer truncates the file there; it requires that no other
  // process has the file open.
  hard,
  // Reads up to the checkpoint. A writer saves the bytes after it in a new file,
  // FILE.tail-POSITION, and truncates the file.
  keep,
  // For readers only: like ignore_header, and accepts a file without the signature of joedb.
  ignore_signature,
};

// How durable a checkpoint is.
enum class Checkpoint_Level {
  soft,  // survives a killed process
  half,  // a hard checkpoint without its last sync (Writable_Journal::checkpoint_half_commit)
  hard   // survives a power cut
};

// The checkpoints of a journal, as far as this process knows them.
struct Checkpoints {
  int hard_index = 0;  // the slot that holds the current hard checkpoint
  int soft_index = 0;  // the copy, in the other slot, that holds the last soft checkpoint
  Offset checkpoint = journal_start;
  Offset hard_checkpoint = journal_start;

  // The slot of the next checkpoint, soft or hard.
  int next_slot() const { return 1 - hard_index; }

  // Updates the checkpoints from the words of the header. They never go back. A word beyond
  // `file_size` does not count; without a size (a device) every word does.
  void read(const Checkpoint_Words& words, std::optional<Offset> file_size);

  friend bool operator==(const Checkpoints&, const Checkpoints&) = default;
};

// How a journal is opened for writing. A recovery mode alone converts to options.
//
//     joedb::Journal_Options options;
//     options.preallocation = 1 << 20;
//     people::File_Database db("people.joedb", joedb::Open_Mode::write_existing, options);
struct Journal_Options {
  Journal_Options() = default;
  Journal_Options(Recovery mode) : recovery(mode) {}

  // How bytes after the checkpoint are handled. Default: Recovery::keep for a client
  // (replica/client.h) of a shared file or with a connection, so that a process that is killed in a
  // transaction stops neither the other processes nor its own next start; Recovery::none otherwise.
  std::optional<Recovery> recovery;

  // The level that checkpoint() writes.
  Checkpoint_Level default_level = Checkpoint_Level::soft;

  // Seals hard checkpoints of less than 4 MiB (docs/file_format.md), which takes one sync instead
  // of two. joedb 10 does not recognize a sealed checkpoint before the sync has returned and the
  // seal is replaced.
  bool has_seals = true;

  // If another program has left a transaction without an end, the first append ends it with one
  // Valid_Data, so that the new entries do not become part of it (history/changes.h). Default: true
  // for clients and generated code, unless the schema option unmarked_transactions asks for the
  // bytes of joedb 10; false otherwise.
  std::optional<bool> ends_transactions;

  // Writes integrity entries (format/header.h, Integrity::sparse) to a new journal, so that damaged
  // bytes are found when they are read. A journal is new if it has no such entries and at most
  // integrity_step bytes when something is appended. If a journal has integrity entries already,
  // more are written to it in any case. Default: the value of ends_transactions.
  std::optional<bool> has_integrity;

  // Returns options that turn off ends_transactions and has_integrity, for copies and for files
  // that have only one writer.
  static Journal_Options without_marks() {
    Journal_Options options;
    options.ends_transactions = false;
    return options;
  }

  // Step in bytes by which the file is preallocated with zeros: a sync then has no new size to
  // write. 0 turns this off. Default: a file that is opened alone and grows slowly
  // (Abstract_File::has_slow_growth) is preallocated from the fourth hard checkpoint on, in steps
  // of half its size, but at least 4 KiB and at most 1 MiB. The zeros are truncated when the
  // journal is closed, or, after a crash, by the next writer before its first write, whatever its
  // recovery mode. If the disk has no room for zeros, the file is no longer preallocated. Opening
  // throws Exception if the step is negative or above max_preallocation, and if it is not 0 and the
  // file is shared or has no size.
  std::optional<Offset> preallocation;
  static constexpr Offset max_preallocation = Preallocator::max_step;
};

// Thrown if a file that is opened for writing has bytes past its checkpoint: a process was killed,
// or ended, during a transaction. The file has not been changed. Journal_Options::recovery selects
// how to treat these bytes.
class Unfinished_Transaction : public Exception {
 public:
  Unfinished_Transaction(std::string_view file, Offset checkpoint_position, Offset file_size);
  const std::string path;
  const Offset checkpoint;
  const Offset size;  // size of the file
};

// Thrown if a flipped bit of the header hides the newest checkpoint, which is at `checkpoint`. The
// bytes before this checkpoint are undamaged. `offset` is the size of the file.
class Hidden_Checkpoint : public Corruption_Error {
 public:
  Hidden_Checkpoint(const std::string& what, Offset file_size, std::string_view file, Offset hidden)
      : Corruption_Error(what, file_size, file), checkpoint(hidden) {}
  const Offset checkpoint;
};

// ---- reading ------------------------------------------------------------------------------------

// Reads the header of a journal and chooses the checkpoint that counts, after comparing seals
// (kernel/format/seal.h) and integrity entries (format/header.h) with the bytes that they cover.
// Each reader and each writer of a journal has one.
//
// Not thread-safe. Other processes may write the file meanwhile.
class Checkpoint_Reader {
 public:
  // `file` must outlive this object. Nothing is read before open().
  explicit Checkpoint_Reader(const Abstract_File& file, bool checks_integrity = true)
      : file_(file), checks_integrity_(checks_integrity) {}
  Checkpoint_Reader(const Checkpoint_Reader&) = delete;
  Checkpoint_Reader& operator=(const Checkpoint_Reader&) = delete;

  // Reads and checks the header. Requires the head lock. Throws Corruption_Error, with the offset,
  // if the file does not begin with a header of joedb file format 5, if the header claims more
  // bytes than the file has, or if an integrity entry does not match the bytes that it covers.
  void open(Recovery recovery, bool is_writer);

  // For readers, which hold the head lock: looks for a newer checkpoint. Returns the number of
  // bytes by which the checkpoint has advanced. If this throws, the previous checkpoint still
  // counts.
  Offset pull();

  // For writers, which hold the tail lock, or have read stable words while they held the head lock:
  // takes the checkpoints from words that were just read, then reads the size of the file and
  // returns the size. If this throws, the previous checkpoint still counts.
  Offset update(const Checkpoint_Words& words);

  const Checkpoints& checkpoints() const { return checkpoints_; }
  Offset checkpoint() const { return checkpoints_.checkpoint; }
  Offset hard_checkpoint() const { return checkpoints_.hard_checkpoint; }

  // Called after a writer has written checkpoints to the header: sets the same checkpoints in
  // memory.
  void set(const Checkpoints& checkpoints) { checkpoints_ = checkpoints; }

  // Returns the words of the header as they are in the file.
  Checkpoint_Words read_words() const;
  // Returns words that were in the file at one instant, although a writer may be storing others.
  Checkpoint_Words read_stable_words() const { return stable(read_words()); }
  // Replaces each seal that matches the bytes that it covers by the position of its slot.
  // `file_size` may be unknown_size.
  Checkpoint_Words without_seals(Checkpoint_Words words, Offset file_size);
  // True if the last call of without_seals() has replaced a seal.
  bool had_seal() const { return had_seal_; }
  // Returns the seal for `position` that covers the bytes [start, position) of the file.
  std::int64_t seal_of(Offset start, Offset position) const;

  // For writers, which hold the tail lock: throws Hidden_Checkpoint if there was a checkpoint after
  // the current one, up to `file_size`.
  void require_no_hidden_checkpoint(Offset file_size) const {
    require_no_hidden_checkpoint(read_words(), file_size);
  }

  // End of the bytes that were compared with the integrity entries that cover them. open() and
  // pull() compare if an entry of the kind each_checkpoint precedes the checkpoint; otherwise
  // replay compares (File_Decoder_Input).
  Offset covered() const { return covered_; }
  void set_covered(Offset end) { covered_ = end; }
  void set_covered(Offset end, Integrity kind) {
    covered_ = end;
    kind_ = kind;
    has_unchecked_entries_ = false;
  }
  // Notes an integrity entry that is not compared with the bytes that it covers
  // (Recovery::ignore_header). If the entry does not match these bytes, readers refuse the journal
  // until a later entry covers everything.
  void note_unchecked_entry(Integrity kind) {
    kind_ = kind;
    has_unchecked_entries_ = true;
  }
  bool has_unchecked_entries() const { return has_unchecked_entries_; }
  // Kind of the last integrity entry; nullopt if there is none.
  std::optional<Integrity> integrity() const {
    return covered_ > journal_start || has_unchecked_entries_ ? std::optional(kind_) : std::nullopt;
  }
  bool checks_integrity() const { return checks_integrity_; }
  // True if an integrity entry may cover the bytes from `start` on: the bytes before `start` are
  // covered already, or replay was resumed at or after `start`.
  bool may_begin_at(Offset start) const { return start <= std::max(covered_, resumed_at_); }
  // Called when replay starts at `position`, because the state at this position was taken from
  // elsewhere, such as a snapshot. `covered` is the end of the bytes that integrity entries cover;
  // 0 if unknown. Throws Io_Error.
  void resume(Offset position, Offset covered);
  // True if integrity entries cover everything before the checkpoint.
  bool is_covered() const { return covered_ == checkpoint() && covered_ > journal_start; }

  // Throws the error again, with a text that names the file. With `names_hard`, the text also names
  // the hard checkpoint if it is before the current checkpoint, and joedb_verify otherwise.
  [[noreturn]] void fail_in_file(const Corruption_Error& error, bool names_hard) const;
  // The same for an error that replay has found when it compared the integrity entry that ends at
  // `end`.
  [[noreturn]] void fail_in_replay(const Corruption_Error& error, Offset end) const;

 private:
  Checkpoint_Words stable(Checkpoint_Words words) const;
  std::string damage_text(const std::string& what, Offset file_size) const;
  [[noreturn]] void fail_as_damaged(const std::string& what, Offset file_size) const;
  // `found` is the checkpoint that was chosen from `words`.
  void require_claimed_bytes(const Checkpoint_Words& words, Offset found, Offset file_size,
                             Recovery recovery) const;
  void require_no_hidden_checkpoint(const Checkpoint_Words& words, Offset file_size) const;
  bool is_one_bit_from_seal(std::int64_t word, Offset position) const;
  bool is_checkpoint_of_writer(Offset position) const;
  void check_integrity();
  void take_whole_file(const Checkpoint_Words& words, Offset file_size);
  Offset end_of_entries(Offset file_size) const;
  Offset end_of_whole_entries(Offset file_size) const;

  const Abstract_File& file_;
  Checkpoints checkpoints_;
  bool had_seal_ = false;
  bool checks_integrity_;
  Offset covered_ = journal_start;
  Integrity kind_ = Integrity::sparse;
  bool has_unchecked_entries_ = false;
  Offset resumed_at_ = journal_start;
};

// Reads the bytes of a file in blocks as they are decoded. `file` must outlive this object.
//
// With a verifier, this class compares the bytes with the integrity entries that follow
// Checkpoint_Reader::covered(). Skipped bytes are not compared, unless they are in memory already:
// blobs of 64 KiB or more, and vectors of 64 KiB or more that the handler does not read.
class File_Decoder_Input final : public Decoder_Input {
 public:
  explicit File_Decoder_Input(const Abstract_File& file, Checkpoint_Reader* verifier = nullptr)
      : file_(file), verifier_(verifier) {}
  void start(Offset offset, Offset limit);

  // Called when all entries before the checkpoint were decoded. Throws Corruption_Error if the last
  // bytes are an integrity entry that was not decoded: a damaged length of an earlier entry has
  // caused it to be skipped.
  void require_last_entry();

 private:
  void refill(std::size_t size) override;
  void read_at(char* out, std::size_t size, Offset offset) override;
  void note_integrity(std::string_view payload) override;

  void compare(std::string_view payload);
  void hash_to(Offset end);
  std::optional<std::uint64_t> hash_of(Offset start, Offset end);

  const Abstract_File& file_;
  std::vector<char> buffer_;
  // buffer_ holds the bytes [buffer_start_, buffer_end_) of the file.
  Offset buffer_start_ = 0;
  Offset buffer_end_ = 0;

  Checkpoint_Reader* verifier_;
  Integrity_Hasher hasher_;  // not running if no hash is wanted, or if some bytes were skipped
  Offset read_again_ = 0;    // number of bytes read a second time
};

// A position between two entries up to which a journal was replayed, and the context of the next
// entry.
struct Replay_Place {
  Offset position = journal_start;
  Context context = {};
  // End of the last transaction that has an end; journal_start if there is none.
  Offset transaction_end = journal_start;
  // End of the bytes that integrity entries cover; 0 if unknown.
  Offset covered = 0;
};

// Decodes the entries of a journal in order, and remembers its position.
//
// Not thread-safe.
class Replay {
 public:
  // Both arguments must outlive this object.
  Replay(const Abstract_File& file, Checkpoint_Reader& header)
      : header_(header), input_(file, &header) {}
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  // End of the entries that were replayed.
  Offset position() const { return input_.position(); }
  // True if all entries before the checkpoint were replayed.
  bool is_complete() const { return !is_broken_ && position() == header_.checkpoint(); }

  // The context of short forms, after the last entry that was replayed or appended.
  Context& context() { return context_; }

  // End of the last Timestamp or Valid_Data that was replayed or appended; journal_start if there
  // is none.
  Offset transaction_end() const { return transaction_end_; }
  void set_transaction_end(Offset position) { transaction_end_ = position; }

  // Calls handler(entry) for each entry that starts before `end`. No entry may extend past `limit`.
  // Throws Corruption_Error if an entry is invalid, or if the handler throws Data_Error; passes on
  // other exceptions of the handler. Earlier entries have been handled then, and later runs throw
  // Exception until rewind().
  template <class Handler>
  void run(Handler& handler, Offset limit, Offset end);

  // Makes the next run start at `position`. context() must be the context of the entry at this
  // position.
  void start_at(Offset position) { input_.start(position, header_.checkpoint()); }
  Replay_Place place() const {
    return {position(), context_, transaction_end_, std::min(header_.covered(), position())};
  }
  // Makes the next run start at `place`. For a handler whose state at this place comes from
  // elsewhere, such as a snapshot.
  void resume(const Replay_Place& place);
  // Makes the next run start at the first entry.
  void rewind() { resume({}); }

 private:
  [[noreturn]] void fail(const char* what) {
    header_.fail_in_file(Corruption_Error(what + input_.entry_description(), input_.entry_offset()),
                         false);
  }

  Checkpoint_Reader& header_;
  File_Decoder_Input input_;
  Context context_;
  Offset transaction_end_ = journal_start;
  bool is_broken_ = false;
};

template <class Handler>
void Replay::run(Handler& handler, Offset limit, Offset end) {
  if (is_broken_) throw Exception("this journal could not be replayed");
  if (input_.limit() != limit) input_.start(input_.position(), limit);
  is_broken_ = true;
  try {
    decode_entries(input_, context_, handler, end,
                   [this](Offset position) { transaction_end_ = position; });
    is_broken_ = false;  // after an Io_Error of the next line, the next run tries again
    input_.require_last_entry();
  } catch (const Data_Error& error) {
    is_broken_ = true;
    fail(error.what());
  } catch (const Corruption_Error& error) {
    is_broken_ = true;
    header_.fail_in_file(error, error.offset >= header_.hard_checkpoint());
  }
}

// Reads the entries of a journal, up to its checkpoint.
//
// Replay compares the bytes with the integrity entries among them (format/header.h), except for
// large blobs, which it does not read. If an entry of the kind each_checkpoint precedes the
// checkpoint, all bytes are compared when the journal is opened, and new bytes are compared when
// they are pulled. If an entry of this kind precedes the last hard checkpoint, a soft checkpoint
// that no entry of this kind precedes is an error. With Recovery::ignore_header nothing is
// compared.
//
// Not thread-safe. Other processes may write the file meanwhile.
class Readonly_Journal {
 public:
  // `file` must outlive the journal. Throws Corruption_Error, with the offset, if the file does not
  // begin with a header of joedb file format 5, or if the header claims more bytes than the file
  // has. Without checks_integrity, integrity entries are ignored.
  explicit Readonly_Journal(Abstract_File& file, Recovery recovery = Recovery::none,
                            bool checks_integrity = true);

  Abstract_File& get_file() const { return file_; }
  Offset get_checkpoint() const { return header_.checkpoint(); }
  Offset get_hard_checkpoint() const { return header_.hard_checkpoint(); }
  // Kind of the last integrity entry found so far; nullopt if there is none.
  std::optional<Integrity> get_integrity() const { return header_.integrity(); }
  // True if integrity entries are known to cover everything before the checkpoint.
  bool is_covered() const { return header_.is_covered(); }
  const Checkpoints& get_checkpoints() const { return header_.checkpoints(); }

  // End of the entries that were replayed.
  Offset get_replay_position() const { return replay_.position(); }

  // Looks for a newer checkpoint in the file. Returns the number of bytes by which the checkpoint
  // has advanced. Throws File_Replaced if there is no newer checkpoint and the file was replaced.
  Offset pull();

  // Calls handler(entry) for each entry from the replay position to the checkpoint, or to the first
  // entry at or after `until`. A handler is an overload set for the structs of format/entry.h.
  // Throws Corruption_Error if an entry is invalid, or if the handler throws Data_Error. Earlier
  // entries have been handled then, and later replays throw Exception until rewind().
  template <class Handler>
  void replay(Handler&& handler, Offset until = std::numeric_limits<Offset>::max()) {
    replay_.run(handler, get_checkpoint(), std::min(until, get_checkpoint()));
  }

  // The place where the next replay starts. resume() sets this place, for a program that has taken
  // the state at this place from a snapshot.
  Replay_Place get_replay_place() const { return replay_.place(); }
  void resume(const Replay_Place& place) { replay_.resume(place); }

  // Makes the next replay start at the first entry.
  void rewind() { replay_.rewind(); }

 private:
  Abstract_File& file_;
  Checkpoint_Reader header_;
  Replay replay_;
};

// Writes the bytes after the checkpoint of `file`, which a writer would truncate, to the beginning
// of `tail`. `recovery` determines the checkpoint. Returns the number of bytes.
Offset save_tail(Abstract_File& file, Recovery recovery, Abstract_File& tail);

// A moment in the history of a journal: the entries before the moment make one past state. Made by
// at() or at_time(), for example to open a Readonly_Database.
struct Moment {
  enum class Kind { position, time };
  Kind kind;
  std::int64_t value;
};

// The moment when the journal had `checkpoint` bytes. Like every checkpoint, it must be between two
// entries.
inline Moment at(Offset checkpoint) { return {Moment::Kind::position, checkpoint}; }

// The moment of the last time stamp at or before `seconds` (since 1970, UTC).
inline Moment at_time(std::int64_t seconds) { return {Moment::Kind::time, seconds}; }

// Returns the position of a moment, for Readonly_Journal::replay. For a time, reads the journal
// from its start. Throws Exception if the journal ends before the position, or has no time stamp at
// or before the time. `recovery` determines where the journal ends.
Offset find_moment(Abstract_File& file, Moment moment, Recovery recovery = Recovery::none);

// Throws Exception if `position` is inside an entry. Requires that `journal` was replayed up to
// `position`.
void require_entry_end(const Readonly_Journal& journal, Offset position);

}  // namespace joedb::inline v1

#endif
