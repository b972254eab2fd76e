#ifndef JOEDB_WAL_LOG_H
#define JOEDB_WAL_LOG_H

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "joedb/base/threads.h"
#include "joedb/base/types.h"
#include "joedb/io/file.h"

// Readers and writers of write-ahead logs, entries as text, and recovery.
// docs/wal_format.md describes the formats.

namespace joedb::inline v1::wal {

enum class Format {
  checked,  // the default: a header, then entries whose CRC-32C covers length, order and epoch
  cwal      // the format of CWal: length, bytes, CRC-32 of the bytes
};

// The place of an entry. `sequence` counts the entries of a log from 1. It continues when the log
// is rotated and, in a log of several files, from file to file. `offset` is the offset of the entry
// in its file.
struct Position {
  std::uint64_t sequence = 0;
  Offset offset = 0;
  friend bool operator==(const Position&, const Position&) = default;
};

// An entry that was read. `bytes` belong to the reader, and are valid until its next call.
struct Entry {
  Position position;
  std::span<const char> bytes;

  std::string_view text() const { return {bytes.data(), bytes.size()}; }
};

// Largest size of an entry, in bytes: 1 GiB.
inline constexpr std::size_t max_entry_size = std::size_t{1} << 30;

// Reasons why there is no good entry at a position.
enum class Stop {
  clean,        // the log ends here
  torn,         // the file ends inside the entry
  checksum,     // the checksum does not match the bytes
  wrong_epoch,  // an entry from before a rotation
  wrong_order,  // a good entry, but not the successor of the entry before it
  overwritten,  // the log was rotated before this reader had read the entries here
  missing       // the segment with this entry is missing, but a later one exists
};

// The end of the good entries, and its reason.
struct End {
  Stop stop = Stop::clean;
  Position position;  // position of the next entry

  // Describes the reason: "torn: the entry does not end before the file does", …
  std::string text() const;
};

// ---- entries as text ----------------------------------------------------------------------------

// One per line: `joedb wal dump` prints them, `joedb wal load` reads them.

// Appends `bytes`, which may be any bytes, in double quotes, without a line break. `"` and `\` are
// preceded by `\`; control characters and bytes that are not UTF-8 become `\` and three octal
// digits; of two adjacent question marks the second is preceded by `\` (as joedb_logdump writes
// strings). Other text is unchanged.
void append_text(std::string& out, std::string_view bytes);

// Returns the bytes of a line in this form, given without its line end. `\` must be followed by
// three octal digits, by x and two hexadecimal digits, or by one character that is neither letter
// nor digit. Throws Exception, which states the error and its column.
std::string parse_text(std::string_view line);

// ---- recovery -----------------------------------------------------------------------------------

// The state of a log.
struct Report {
  Format format = Format::checked;
  std::uint64_t log_id = 0;  // as Reader::log_id() and epoch()
  std::uint64_t epoch = 0;
  std::uint64_t first_sequence = 1;
  std::uint64_t entries = 0;   // number of good entries before the end
  std::uint64_t bytes = 0;     // number of bytes in them
  std::uint32_t last_crc = 0;  // CRC of the last entry, which the next one must repeat
  End end;
  Offset file_size = 0;

  // Sequence of the last entry that is known to be durable, because a later entry or mark says so;
  // 0 if no entry is known to be durable. Later entries may be durable, too.
  std::uint64_t known_durable = 0;
  // Offset up to which all entries are known to be durable. Some entries after this offset may be
  // known to be durable, too.
  Offset durable_offset = 0;

  // Number of good entries after the end. A power cut leaves such entries after an entry that was
  // not durable yet and was lost; damage leaves them, too.
  std::uint64_t later_entries = 0;
  Offset later_offset = 0;  // offset of the first good entry or mark after the end
  Offset later_end = 0;     // end of the last one
  // Name of the file in which the later entries were saved before they were removed; empty if they
  // were not saved.
  std::string saved = {};

  // True if durable entries are damaged, which no power cut explains. Format `cwal` does not record
  // durability: in this format, true if there are later entries.
  bool is_damaged() const {
    return format == Format::cwal ? later_entries > 0 : known_durable >= end.position.sequence;
  }
  std::uint64_t last_sequence() const { return end.position.sequence - 1; }

  // Describes the state in a sentence or two: "12 entries, 1 to 12; …".
  std::string text() const;
};

// What recover() does with the bytes after the last good entry.
enum class Tail {
  keep,
  truncate,  // removes them
  zero       // overwrites them with zeros
};

// Finds the last good entry of a log. Reads the whole file, in blocks. With `truncate` and `zero`,
// the bytes after the last good entry are removed, and the file is synced. The removed bytes
// include good entries (later_entries) if an entry before them is damaged, or was lost in a power
// cut. Good entries are saved first, in a file NAME.tail-OFFSET beside the log, which is itself a
// log: `joedb wal dump --later` prints them.
//
// Throws Io_Error. Throws Corruption_Error if no header is good, or if good entries cannot be
// saved, for example because the log is not in a file of the operating system; then the log is
// unchanged.
//
// A Writer does the same when it opens a log, unless is_damaged().
Report recover(Abstract_File& file, Tail tail = Tail::keep);
// Like recover() with Tail::keep.
Report examine(const Abstract_File& file);

// ---- reader -------------------------------------------------------------------------------------

class Source;

// Reads the entries of a log in their order, up to the first entry that is not good.
//
//   joedb::wal::Reader reader("orders.wal");
//   while (const auto entry = reader.next()) use(entry->text());
//   if (reader.end().stop != joedb::wal::Stop::clean) warn(reader.end().text());
//
// A log may be read while it is written, also by another process: each call of next() tries again
// where the last call stopped. The format is detected. An entry is returned only after its
// checksum, order and epoch were checked. A file of arbitrary bytes gives entries or an end, and
// reading it takes no more memory than the size of the file.
//
// An object is used by one thread at a time.
class Reader {
 public:
  // `file` must outlive this object. Throws Io_Error, and Corruption_Error for a damaged header.
  explicit Reader(const Abstract_File& file);
  // The same; throws Io_Error also if the file does not exist.
  explicit Reader(const std::string& file);
  // Reads through a memory map, without copying. The bytes of entries keep their address during the
  // lifetime of this object, but change if the log is rotated. If the file is truncated, lost bytes
  // read as zeros, and next() throws Io_Error. Installs a process-wide handler of SIGBUS, which
  // acts only on such maps.
  static Reader map(const std::string& file);

  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();

  // Returns the next good entry; its bytes are valid until the next call (but see map). Returns
  // nullopt at the end; end() explains it. If the log is rotated while it is read, next() continues
  // with the new entries, unless unread entries were overwritten. Throws Io_Error, and
  // Corruption_Error for a damaged header.
  std::optional<Entry> next();

  // Like next(), but waits for an entry for up to `timeout`, by polling with pauses of 1 to 16 ms.
  // Returns nullopt at once for Stop::overwritten. Also throws File_Replaced (see
  // require_not_replaced).
  std::optional<Entry> wait_for_next(std::chrono::milliseconds timeout,
                                     System& system = System::real());

  // Reason why the last call of next() returned nullopt.
  const End& end() const { return end_; }

  // Position of the next entry, which may not be written yet.
  Position position() const { return next_; }

  // Moves to an entry, so that next() returns it. Throws Exception if there is no good entry with
  // this sequence at this offset; then the position is unchanged. position() is always accepted.
  void seek(Position position);
  // Moves to the first entry that is still in the log.
  void seek_first();

  // Format of the log; `checked` while the file is empty or has no complete header yet.
  Format format() const { return format_; }
  // Throws File_Replaced if another program has removed, replaced or truncated the file, so that no
  // further entry can appear. wait_for_next calls it while there is no entry.
  void require_not_replaced() const;

  // Random number of the log, and its epoch: 1 for a new log, and 1 more after each reset. Both are
  // 0 in format `cwal`.
  std::uint64_t log_id() const;
  std::uint64_t epoch() const;
  // Sequence of the last entry that is durable according to the entries read so far; 0 if no entry
  // read so far shows this.
  std::uint64_t known_durable() const;
  // CRC of the last entry, which the next entry must repeat. 0 after a seek to another position,
  // until next() returns an entry.
  std::uint32_t last_crc() const;

 private:
  struct State;
  explicit Reader(std::unique_ptr<Source> source);
  bool begin();
  bool follow_rotation();
  std::optional<Entry> take_checked();
  std::optional<Entry> take_cwal();
  void find_not_zero();
  std::optional<Entry> stop(Stop reason);

  std::unique_ptr<State> state_;
  Format format_ = Format::checked;
  Position next_{1, 0};
  End end_;
};

// ---- writer -------------------------------------------------------------------------------------

struct Header;

// Limits on the entries that are not durable. A Writer syncs by itself as soon as one limit is
// reached; by default it never syncs by itself.
struct Sync_Policy {
  std::uint64_t entries = 0;            // number of entries not yet durable; 0: no limit
  std::uint64_t bytes = 0;              // their size in the file, in bytes; 0: no limit
  std::chrono::milliseconds time = {};  // age of the oldest of them; 0: no limit

  static Sync_Policy never() { return {}; }
  static Sync_Policy every_entry() { return {.entries = 1}; }
  static Sync_Policy every_entries(std::uint64_t n) { return {.entries = n}; }
  static Sync_Policy every_bytes(std::uint64_t n) { return {.bytes = n}; }
  // Syncs in a thread of the Writer, so that entries become durable even if no further call is
  // made.
  static Sync_Policy every(std::chrono::milliseconds time) { return {.time = time}; }
};

struct Options {
  Sync_Policy sync = {};

  // Size of the append buffer, in bytes: 1 to 2^30. A full buffer is written to the file.
  std::size_t buffer_size = std::size_t{1} << 16;

  // Step of preallocation, in bytes (0 to 2^30): the file grows by this many zeros at a time, so
  // that a sync writes no metadata; 0: the file grows with its entries. If the disk has no room to
  // preallocate, the Writer continues without preallocation. Refused for a new log in format
  // `cwal`, where zeros are entries.
  Offset preallocate = 0;

  // Size of a batch, in bytes: before the entries would take more than this size in the file, the
  // log is reset to the start of the file, like the batches of CWal; 0: never. `on_batch` is called
  // first, when all entries of the batch are in the file. `on_batch` must save the data elsewhere,
  // or throw; if it throws, nothing is appended and the log is not reset. It must not call this
  // Writer.
  Offset batch_size = 0;
  std::function<void()> on_batch = {};

  // Format of a new log. An existing log keeps its format.
  Format format = Format::checked;

  // Source of the time for `sync`, and of the random numbers in the log. It must outlive the
  // Writer.
  System* system = &System::real();
};

// Appends entries to a log.
//
//   joedb::wal::Writer log("orders.wal");
//   log.append("one coffee");
//   log.sync();  // from here on, the entry survives a power cut
//
// Appended entries are in memory first. After flush() they survive a killed process, and after
// sync() they survive a power cut. A reader, also after a crash, sees the entries in their order
// and without a gap: at least all durable entries, and nothing that was not appended.
//
// If another program has removed, replaced or truncated the file, a sync throws File_Replaced. In a
// child process (io/file.h), functions throw Inherited_Object, and the destructor does nothing.
//
// Fail-stop: after a failed write or sync nothing more is written, and every function throws
// Write_Disabled with the text of this failure, except the functions that return the state of the
// object. Entries up to durable_sequence() are durable then; any part of the later entries may be
// durable. Open the log again to find out.
//
// An object is used by one thread at a time. A file has at most one Writer at a time.
class Writer {
 public:
  // Opens a log, or creates a new one. Existing entries stay. All existing entries are durable when
  // the constructor returns: entries that are not known to be durable are written again. Bytes that
  // a crash has left after the entries are removed; good entries among these bytes are saved first
  // (see recover and found()).
  //
  // Throws Io_Error, also if another writer has the file; Corruption_Error if the file is not a
  // log, if durable entries are damaged, or if good entries cannot be saved; and Exception for
  // invalid options, or a file opened read-only or shared.
  explicit Writer(const std::string& file, Options options = {});
  // `file` must outlive this object.
  explicit Writer(Abstract_File& file, Options options = {});
  explicit Writer(std::unique_ptr<Abstract_File> file, Options options = {});

  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;
  // Like close(), but reports errors to Destructor_Logger.
  ~Writer();

  // Appends an entry of any bytes: at most max_entry_size bytes, and at least one byte in format
  // `cwal`. Returns the position of the entry. Throws Exception for an invalid size, and appends
  // nothing.
  Position append(std::string_view bytes);
  Position append(std::span<const std::byte> bytes) {
    return append({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }

  // Writes all buffered entries to the file.
  void flush();
  // Makes all appended entries durable.
  void sync();

  // Resets the log to the start of the file. Earlier entries are no longer needed, whether durable
  // or not. A reader that is opened after the next sync does not return these entries; until the
  // next sync, a power cut may bring back durable entries. Sequences continue. (In format `cwal`
  // the file is truncated and synced, and readers count from 1 again.)
  void rotate();

  // Flushes, and syncs unless the policy is `never`. Then writes, without a sync, a mark that
  // states which entries are durable. The Writer is closed even if this throws: later calls throw
  // Exception, but closing again is a no-op.
  void close();

  // Position of the next entry that will be appended.
  Position position() const;
  // Sequence of the last entry that is durable or no longer needed; 0 if there is none.
  std::uint64_t durable_sequence() const;
  // Offset of the end of the log in its file, in bytes, with the header and the entries still in
  // memory.
  Offset size() const;
  Format format() const;
  std::uint64_t log_id() const;
  std::uint64_t epoch() const;
  // State of the log as the constructor found it.
  const Report& found() const;

 private:
  friend class Segmented_Writer;
  // Resets the file, which is new or already belongs to this log, to this header.
  Writer(std::unique_ptr<Abstract_File> file, Options options, const Header& start);
  void set_oldest(std::uint64_t sequence);

  class Implementation;
  Implementation& open() const;
  std::unique_ptr<Implementation> implementation_;
};

// ---- writer with a thread -----------------------------------------------------------------------

class Segmented_Writer;
class Writer;

struct Async_Options {
  // Limits on entries queued for the writing thread. Appending to a full queue blocks.
  std::size_t max_waiting_entries = std::size_t{1} << 16;
  std::size_t max_waiting_bytes = std::size_t{1} << 26;
};

// Appends to a log for many threads. Entries appended while the disk is busy become durable
// together, with one sync (group commit).
//
//   joedb::wal::Async_Writer log(joedb::wal::Writer("orders.wal"));
//   const auto done = log.append_async("one coffee");
//   …
//   done.get();  // durable from here on
//
// All writing is done in one thread of this object. The entries of the log are in the order of the
// calls of append_async. Thread-safe. In a child process (io/file.h), functions throw
// Inherited_Object.
//
// After a failed write or sync all pending calls fail, in their order, and all later calls throw
// the same error. An entry that was reported as failed may still be in the log; an entry that was
// reported as durable is in the log.
class Async_Writer {
 public:
  // Called in the writing thread, in the order of the entries. If `error` is null, the entry is
  // durable at `position`; otherwise it may or may not be in the log. A callback must not throw,
  // and should be short: nothing is written while it runs. It may call append_async; the callback
  // for that entry is called even after a failure or while the log is being closed. Functions that
  // wait throw Exception in a callback.
  using Callback = std::function<void(Position position, std::exception_ptr error)>;

  // `log` should have the policy `never`: this object syncs it after each batch.
  explicit Async_Writer(Writer log, Async_Options options = {});
  explicit Async_Writer(Segmented_Writer log, Async_Options options = {});
  // Like close(), but reports errors to Destructor_Logger.
  ~Async_Writer();
  Async_Writer(const Async_Writer&) = delete;
  Async_Writer& operator=(const Async_Writer&) = delete;

  // Appends an entry; waits while the queue is full. Throws Exception for a wrong size or a closed
  // log, and the error of an earlier failure. If it throws, nothing is appended, and the callback
  // is not called.
  std::future<Position> append_async(std::string bytes);
  void append_async(std::string bytes, Callback callback);

  // Appends an entry, and waits until it is durable. Throws the error if that fails.
  Position append(std::string bytes);

  // Waits until all entries appended before are durable. Throws the error if that fails.
  void wait();

  // Waits until all entries appended before are durable, then resets the log durably
  // (Writer::rotate).
  void rotate();

  // Waits until all entries appended before are durable, then releases entries up to `sequence`
  // (Segmented_Writer::release). A log without segments releases nothing.
  void release(std::uint64_t sequence);

  // Waits like wait(), then closes the log. Later calls throw Exception, but closing again is a
  // no-op.
  void close();

  // Number of syncs so far.
  std::uint64_t syncs() const;

 private:
  class Log;
  template <class Kind>
  class Log_Of;
  class Implementation;
  const Process_Owned<Implementation> implementation_;
};

}  // namespace joedb::inline v1::wal

#endif
