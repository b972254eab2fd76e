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

// Determines which part of a file is read, and how a writer handles the bytes after this part.
enum class Recovery {
  // Reads up to the checkpoint. A writer refuses a file with bytes after the checkpoint.
  none,
  // Reads the whole file, except zeros that a preallocating writer has left at its end. A writer
  // adopts these bytes.
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

  // The slot to which the next checkpoint is written, soft or hard.
  int next_slot() const { return 1 - hard_index; }

  // Updates the checkpoints from the words of the header. The checkpoints never move back. A word
  // greater than `file_size` is ignored; if `file_size` is nullopt (a device), no word is ignored.
  void read(const Checkpoint_Words& words, std::optional<Offset> file_size);

  friend bool operator==(const Checkpoints&, const Checkpoints&) = default;
};

// How a journal is opened for writing. A recovery mode converts implicitly to options.
//
//     joedb::Journal_Options options;
//     options.preallocation = 1 << 20;
//     people::File_Database db("people.joedb", joedb::Open_Mode::write_existing, options);
struct Journal_Options {
  Journal_Options() = default;
  Journal_Options(Recovery mode) : recovery(mode) {}

  // How bytes after the checkpoint are handled. The default for a client (replica/client.h) that
  // has a shared file or a connection is Recovery::keep: if a process is killed during a
  // transaction, neither the other processes nor its own next start are stopped. Otherwise the
  // default is Recovery::none.
  std::optional<Recovery> recovery;

  // The level that checkpoint() writes.
  Checkpoint_Level default_level = Checkpoint_Level::soft;

  // If true, hard checkpoints of less than 4 MiB are sealed (docs/file_format.md), which takes one
  // sync instead of two. joedb 10 does not recognize a sealed checkpoint until the sync has
  // returned and the seal has been replaced.
  bool has_seals = true;

  // If true, and another program has left a transaction without an end, the first append ends this
  // transaction with a Valid_Data entry: so the new entries do not become part of it
  // (history/changes.h). The default is true for clients and generated code, unless the schema
  // option unmarked_transactions requests the bytes of joedb 10; otherwise false.
  std::optional<bool> ends_transactions;

  // If true, integrity entries (format/header.h, Integrity::sparse) are written to a new journal,
  // so that damaged bytes are detected when they are read. A journal is new if it has no such
  // entries and at most integrity_step bytes at the first append. If a journal already has
  // integrity entries, more are written in any case. The default is the value of ends_transactions.
  std::optional<bool> has_integrity;

  // Returns options that turn off ends_transactions and, by its default, has_integrity. For copies,
  // and for files that have only one writer.
  static Journal_Options without_marks() {
    Journal_Options options;
    options.ends_transactions = false;
    return options;
  }

  // Step in bytes by which the file is preallocated with zeros, so that a sync need not write a new
  // file size. 0 turns preallocation off. By default, a file that is not shared and for which
  // Abstract_File::has_slow_growth() is true is preallocated from the fourth hard checkpoint on, in
  // steps of half its size, but at least 4 KiB and at most 1 MiB. The zeros are truncated when the
  // journal is closed. After a crash, the next writer truncates them before its first write, in
  // every recovery mode. If the disk has no room for zeros, the file is no longer preallocated.
  // Opening throws Exception if the step is negative or greater than max_preallocation, or if it is
  // not 0 and the file is shared or has no size.
  std::optional<Offset> preallocation;
  static constexpr Offset max_preallocation = Preallocator::max_step;

  // At least the last recent_size bytes that the journal has appended are kept in memory, for
  // servers, which read the last entries again and again. Has no effect on shared files.
  std::size_t recent_size = 0;
};

// Thrown if a file that is opened for writing has bytes past its checkpoint, because a process was
// killed, or ended, during a transaction. The file has not been changed. Journal_Options::recovery
// selects how these bytes are handled.
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

// Reads the header of a journal and chooses the checkpoint that counts. For this choice, it
// compares seals (kernel/format/seal.h) and integrity entries (format/header.h) with the bytes that
// they cover. Each reader and each writer of a journal has a Checkpoint_Reader.
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

  // For readers, which must hold the head lock: looks for a newer checkpoint. Returns the number of
  // bytes by which the checkpoint has advanced. If this throws, the previous checkpoint still
  // counts.
  Offset pull();

  // For writers: takes the checkpoints from words that were just read. Returns the file size, which
  // it reads after that. Requires the tail lock, unless the words are stable and were read while
  // the head lock was held. If this throws, the previous checkpoint still counts.
  Offset update(const Checkpoint_Words& words);

  const Checkpoints& checkpoints() const { return checkpoints_; }
  Offset checkpoint() const { return checkpoints_.checkpoint; }
  Offset hard_checkpoint() const { return checkpoints_.hard_checkpoint; }

  // Sets the checkpoints in memory. Called after a writer has written the same checkpoints to the
  // header.
  void set(const Checkpoints& checkpoints) { checkpoints_ = checkpoints; }

  // Returns the words of the header as they are in the file.
  Checkpoint_Words read_words() const;
  // Returns words that were all in the file at the same time, even if a writer is storing others
  // meanwhile.
  Checkpoint_Words read_stable_words() const { return stable(read_words()); }
  // Replaces each seal that matches the bytes that it covers by the position of its slot.
  // `file_size` may be unknown_size.
  Checkpoint_Words without_seals(Checkpoint_Words words, Offset file_size);
  // True if the last call of without_seals() has replaced a seal.
  bool had_seal() const { return had_seal_; }
  // Returns the seal for `position` that covers the bytes [start, position) of the file.
  std::int64_t seal_of(Offset start, Offset position) const;

  // For writers, which must hold the tail lock: throws Hidden_Checkpoint if a flipped bit of the
  // header hides a checkpoint after the current checkpoint, up to `file_size`.
  void require_no_hidden_checkpoint(Offset file_size) const {
    require_no_hidden_checkpoint(read_words(), file_size);
  }

  // End of the bytes that were compared with the integrity entries that cover them. If an entry of
  // the kind each_checkpoint precedes the checkpoint, open() and pull() compare; otherwise replay
  // compares (File_Decoder_Input).
  Offset covered() const { return covered_; }
  void set_covered(Offset end) { covered_ = end; }
  void set_covered(Offset end, Integrity kind) {
    covered_ = end;
    kind_ = kind;
    has_unchecked_entries_ = false;
  }
  // Called for an integrity entry that is not compared with the bytes that it covers
  // (Recovery::ignore_header). If the entry does not match these bytes, readers will refuse the
  // journal until a later integrity entry covers everything.
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
  // True if `start` may be the beginning of the bytes that an integrity entry covers: all bytes
  // before `start` are covered already, or replay was resumed at or after `start`.
  bool may_begin_at(Offset start) const { return start <= std::max(covered_, resumed_at_); }
  // Called when replay starts at `position`, because the state at this position was taken from
  // elsewhere, such as a snapshot. `covered` is the end of the bytes that integrity entries cover;
  // 0 if unknown. Throws Io_Error.
  void resume(Offset position, Offset covered);
  // True if integrity entries cover everything before the checkpoint.
  bool is_covered() const { return covered_ == checkpoint() && covered_ > journal_start; }

  // Throws the error again, with a text that names the file. If `names_hard`, the text also names
  // the hard checkpoint, or, if the hard checkpoint is not before the current checkpoint,
  // joedb_verify.
  [[noreturn]] void fail_in_file(const Corruption_Error& error, bool names_hard) const;
  // The same for an error that replay found when it compared the integrity entry ending at `end`.
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

// The input of a decoder that reads a file, block by block. `file` must outlive this object.
//
// If there is a verifier, compares the bytes with the integrity entries after
// Checkpoint_Reader::covered(). Bytes that are skipped are not compared, unless they are in memory
// already. Blobs of 64 KiB or more are skipped, and so are vectors of 64 KiB or more that the
// handler does not read.
class File_Decoder_Input final : public Decoder_Input {
 public:
  explicit File_Decoder_Input(const Abstract_File& file, Checkpoint_Reader* verifier = nullptr)
      : file_(file), verifier_(verifier) {}
  void start(Offset offset, Offset limit);

  // Called when all entries before the checkpoint were decoded. Throws Corruption_Error if the last
  // bytes are an integrity entry that was not decoded: it was then skipped, because the length of
  // an earlier entry is damaged.
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
  Integrity_Hasher hasher_;  // not running if no hash is needed, or if bytes were skipped
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

// Decodes the entries of a journal in order, and keeps the position that it has reached.
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
  // Throws Corruption_Error if an entry is invalid, or if the handler throws Data_Error; other
  // exceptions of the handler pass through. After any of these exceptions, earlier entries have
  // been handled, and further runs throw Exception until rewind().
  template <class Handler>
  void run(Handler& handler, Offset limit, Offset end);

  // Makes the next run start at `position`. context() must be the context of the entry at this
  // position.
  void start_at(Offset position) { input_.start(position, header_.checkpoint()); }
  Replay_Place place() const {
    return {position(), context_, transaction_end_, std::min(header_.covered(), position())};
  }
  // Makes the next run start at `place`. For a handler that already has the state at this place,
  // for example from a snapshot.
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
    is_broken_ = false;  // if the next line throws Io_Error, the next run tries again
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
// large blobs, which it does not read. If an entry of the kind each_checkpoint directly precedes
// the checkpoint, all bytes are compared when the journal is opened, and new bytes are compared
// when they are pulled. If such an entry directly precedes the last hard checkpoint, each soft
// checkpoint must directly follow one, too; otherwise, opening fails. With Recovery::ignore_header,
// nothing is compared.
//
// Not thread-safe. Other processes may write the file meanwhile.
class Readonly_Journal {
 public:
  // `file` must outlive the journal. Throws Corruption_Error, with the offset, if the file does not
  // begin with a header of joedb file format 5, or if the header claims more bytes than the file
  // has. If checks_integrity is false, integrity entries are ignored.
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
  // entries have been handled then, and further replays throw Exception until rewind().
  template <class Handler>
  void replay(Handler&& handler, Offset until = std::numeric_limits<Offset>::max()) {
    replay_.run(handler, get_checkpoint(), std::min(until, get_checkpoint()));
  }

  // The place where the next replay starts. A program that has the state at another place, for
  // example from a snapshot, calls resume() with that place.
  Replay_Place get_replay_place() const { return replay_.place(); }
  void resume(const Replay_Place& place) { replay_.resume(place); }

  // Makes the next replay start at the first entry.
  void rewind() { replay_.rewind(); }

 private:
  Abstract_File& file_;
  Checkpoint_Reader header_;
  Replay replay_;
};

// Copies the bytes after the checkpoint of `file`, which a writer would truncate, to the beginning
// of `tail`. `recovery` determines the checkpoint. Returns the number of bytes copied.
Offset save_tail(Abstract_File& file, Recovery recovery, Abstract_File& tail);

// A moment in the history of a journal: the entries before the moment determine a past state. at()
// and at_time() make a Moment, for example to open a Readonly_Database.
struct Moment {
  enum class Kind { position, time };
  Kind kind;
  std::int64_t value;
};

// The moment when the journal had `checkpoint` bytes. Like every checkpoint, it must be between two
// entries.
inline Moment at(Offset checkpoint) { return {Moment::Kind::position, checkpoint}; }

// The moment of the last time stamp at or before `seconds`, counted from 1970-01-01 00:00 UTC.
inline Moment at_time(std::int64_t seconds) { return {Moment::Kind::time, seconds}; }

// Returns the position of a moment, for Readonly_Journal::replay. Reads the journal from its start
// if the moment is a time. Throws Exception if the journal ends before the position, or has no time
// stamp at or before the time. `recovery` determines where the journal ends.
Offset find_moment(Abstract_File& file, Moment moment, Recovery recovery = Recovery::none);

// Throws Exception if `position` is inside an entry. Requires that `journal` was replayed up to
// `position`.
void require_entry_end(const Readonly_Journal& journal, Offset position);

}  // namespace joedb::inline v1

#endif
