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

// Write-ahead logs: readers, writers, recovery, and conversion of entries to and from text.
// docs/wal_format.md describes the formats.

namespace joedb::inline v1::wal {

enum class Format {
  checked,  // the default: a header, then entries whose CRC-32C covers length, order and epoch
  cwal  // the format of CWal: for each entry, its length, its bytes, and the CRC-32 of the bytes
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
  wrong_epoch,  // the entry is from before a rotation
  wrong_order,  // the entry is good, but not the successor of the entry before it
  overwritten,  // the log was rotated before this reader had read these entries
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

// `joedb wal dump` prints entries as text, one per line, and `joedb wal load` reads them.

// Appends a text for arbitrary bytes to `out`: the bytes in double quotes, without a line break. A
// `\` is written before `"`, `\`, and the second of two adjacent question marks. Control characters
// and bytes that are not UTF-8 are written as `\` and three octal digits. Other text is unchanged.
// joedb_logdump writes strings in the same form.
void append_text(std::string& out, std::string_view bytes);

// Returns the bytes of a line in this form. `line` must not include the end of the line. `\` must
// be followed by three octal digits, by x and two hexadecimal digits, or by one character that is
// neither a letter nor a digit. Throws Exception, whose text states the error and its column.
std::string parse_text(std::string_view line);

// ---- recovery -----------------------------------------------------------------------------------

// The state of a log.
struct Report {
  Format format = Format::checked;
  std::uint64_t log_id = 0;  // see Reader::log_id() and Reader::epoch()
  std::uint64_t epoch = 0;
  std::uint64_t first_sequence = 1;
  std::uint64_t entries = 0;   // number of good entries before the end
  std::uint64_t bytes = 0;     // total size of these entries
  std::uint32_t last_crc = 0;  // CRC of the last entry, which the next entry must repeat
  End end;
  Offset file_size = 0;

  // Sequence of the last entry that is known to be durable, because a later entry or mark says so;
  // 0 if no entry is known to be durable. Later entries may be durable, too.
  std::uint64_t known_durable = 0;
  // Offset up to which all entries are known to be durable. Some entries after this offset may be
  // known to be durable, too.
  Offset durable_offset = 0;

  // Number of good entries after the end. They exist if an entry before them is damaged, or was
  // lost in a power cut because it was not durable yet.
  std::uint64_t later_entries = 0;
  Offset later_offset = 0;  // offset of the first good entry or mark after the end
  Offset later_end = 0;     // end of the last good entry or mark
  // Name of the file in which the later entries were saved before they were removed; empty if they
  // were not saved.
  std::string saved = {};

  // True if durable entries are damaged, which a power cut cannot cause. Format `cwal` does not
  // record which entries are durable; in this format, true if there are later entries.
  bool is_damaged() const {
    return format == Format::cwal ? later_entries > 0 : known_durable >= end.position.sequence;
  }
  std::uint64_t last_sequence() const { return end.position.sequence - 1; }

  // Describes the state in one or two sentences: "12 entries, 1 to 12; …".
  std::string text() const;
};

// Determines how recover() handles the bytes after the last good entry.
enum class Tail {
  keep,
  truncate,  // removes them
  zero       // overwrites them with zeros
};

// Finds the last good entry of a log before the first entry that is not good. Reads the whole file,
// in blocks. With `truncate` and `zero`, removes the bytes after this entry, and syncs the file.
// The removed bytes include good entries (later_entries) if an entry before them is damaged, or was
// lost in a power cut. Such entries are first saved in a file NAME.tail-OFFSET beside the log. This
// file is also a log; `joedb wal dump --later` prints its entries.
//
// Throws Io_Error. Throws Corruption_Error if no header is good, or if good entries cannot be
// saved, for example because the log is not in a file of the operating system; the log is unchanged
// then.
//
// A Writer does the same when it opens a log that is not damaged (is_damaged).
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
// A log may be read while this process or another process writes it: each call of next() tries
// again where the last call stopped. The format is detected. An entry is returned only after its
// checksum, order and epoch were checked. A reader accepts files of arbitrary bytes, and takes no
// more memory than the size of the file.
//
// An object is used by one thread at a time.
class Reader {
 public:
  // `file` must outlive this object. Throws Io_Error, and Corruption_Error for a damaged header.
  explicit Reader(const Abstract_File& file);
  // The same. Also throws Io_Error if the file does not exist.
  explicit Reader(const std::string& file);
  // Returns a reader that reads through a memory map, without copying. The bytes of entries keep
  // their address during the lifetime of the reader, but change if the log is rotated. If the file
  // is truncated, lost bytes read as zeros, and next() throws Io_Error. Installs a process-wide
  // handler of SIGBUS, which handles only faults in such maps.
  static Reader map(const std::string& file);

  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();

  // Returns the next good entry, whose bytes are valid until the next call (but see map). Returns
  // nullopt at the end; end() then returns the reason. If the log is rotated while it is read,
  // next() continues with the new entries, unless unread entries were overwritten. Throws Io_Error,
  // and Corruption_Error for a damaged header.
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

  // Moves to an entry, so that next() returns this entry. Throws Exception if there is no good
  // entry with this sequence at this offset; the position is unchanged then. The current position()
  // is always accepted.
  void seek(Position position);
  // Moves to the first entry that is still in the log.
  void seek_first();

  // Format of the log; `checked` while the file is empty or has no complete header yet.
  Format format() const { return format_; }
  // Throws File_Replaced if another program has removed, replaced or truncated the file: no further
  // entry can appear then. wait_for_next calls this function while it waits.
  void require_not_replaced() const;

  // log_id() is the random number that identifies the log. epoch() is 1 for a new log, and is
  // incremented by each reset. Both are 0 in format `cwal`.
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

// Limits on the entries that are not durable. As soon as a limit is reached, the Writer syncs
// automatically. By default, there are no limits, and it never syncs automatically.
struct Sync_Policy {
  std::uint64_t entries = 0;            // number of entries that are not durable; 0 means no limit
  std::uint64_t bytes = 0;              // their size in the file, in bytes; 0 means no limit
  std::chrono::milliseconds time = {};  // age of the oldest of these entries; 0 means no limit

  static Sync_Policy never() { return {}; }
  static Sync_Policy every_entry() { return {.entries = 1}; }
  static Sync_Policy every_entries(std::uint64_t n) { return {.entries = n}; }
  static Sync_Policy every_bytes(std::uint64_t n) { return {.bytes = n}; }
  // With this policy, a thread of the Writer syncs, so that entries become durable even if no
  // further call is made.
  static Sync_Policy every(std::chrono::milliseconds time) { return {.time = time}; }
};

struct Options {
  Sync_Policy sync = {};

  // Size of the append buffer, in bytes: 1 to 2^30. A full buffer is written to the file.
  std::size_t buffer_size = std::size_t{1} << 16;

  // Step in bytes (0 to 2^30) by which the file is preallocated with zeros, so that a sync writes
  // no metadata. 0 means that the file grows with its entries. If the disk has no room to
  // preallocate, the Writer continues without preallocation. Preallocation is refused for a new log
  // in format `cwal`, in which zeros are entries.
  Offset preallocate = 0;

  // Size of a batch in bytes, as in CWal. Before the entries would exceed this size in the file,
  // the log is reset to the start of the file. 0 means that the log is never reset automatically.
  // Before the reset, when all entries of the batch are in the file, `on_batch` is called. It must
  // save the data elsewhere, or throw; if it throws, nothing is appended, and the log is not reset.
  // It must not call this Writer.
  Offset batch_size = 0;
  std::function<void()> on_batch = {};

  // Format of a new log. An existing log keeps its format.
  Format format = Format::checked;

  // Source of the time for `sync`, and of the random numbers in the log. `system` must outlive the
  // Writer.
  System* system = &System::real();
};

// Appends entries to a log.
//
//   joedb::wal::Writer log("orders.wal");
//   log.append("one coffee");
//   log.sync();  // from here on, the entry survives a power cut
//
// Appended entries are first in memory. After flush(), they survive a killed process; after sync(),
// they survive a power cut. A reader, even after a crash, sees the entries in their order and
// without a gap: at least all durable entries, and nothing that was not appended.
//
// If another program has removed, replaced or truncated the file, a sync throws File_Replaced. In a
// child process (io/file.h), functions throw Inherited_Object, and the destructor does nothing.
//
// Fail-stop: after a failed write or sync, nothing more is written, and every function throws
// Write_Disabled with the text of this failure, except the functions that return the state of the
// object. Entries up to durable_sequence() are durable then; later entries may or may not be
// durable. Open the log again to find out.
//
// An object is used by one thread at a time. A file has at most one Writer at a time.
class Writer {
 public:
  // Opens a log, or creates a new one. Existing entries stay. All existing entries are durable when
  // the constructor returns: entries that are not known to be durable are written again. If a crash
  // has left bytes after the entries, these bytes are removed; good entries among them are saved
  // first (see recover and found()).
  //
  // Throws Io_Error, also if another writer has the file open; Corruption_Error if the file is not
  // a log, if durable entries are damaged, or if good entries cannot be saved; and Exception if the
  // options are invalid, or if the file was opened read-only or shared.
  explicit Writer(const std::string& file, Options options = {});
  // `file` must outlive this object.
  explicit Writer(Abstract_File& file, Options options = {});
  explicit Writer(std::unique_ptr<Abstract_File> file, Options options = {});

  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;
  // Like close(), but reports errors to Destructor_Logger.
  ~Writer();

  // Appends an entry. An entry may have any bytes: at most max_entry_size bytes, and at least one
  // byte in format `cwal`. Returns the position of the entry. If the size is invalid, throws
  // Exception, and appends nothing.
  Position append(std::string_view bytes);
  Position append(std::span<const std::byte> bytes) {
    return append({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }

  // Writes all buffered entries to the file.
  void flush();
  // Makes all appended entries durable.
  void sync();

  // Resets the log to the start of the file. All earlier entries, durable or not, must no longer be
  // needed. Readers that are opened after the next sync do not return these entries; before that,
  // durable entries may reappear after a power cut. Sequences continue. (In format `cwal`, the file
  // is truncated and synced, and readers count from 1 again.)
  void rotate();

  // Flushes, and syncs unless the policy is `never`. Then writes, without a sync, a mark that
  // states which entries are durable. The Writer is closed even if this throws: later calls throw
  // Exception, but closing again does nothing.
  void close();

  // Position of the next entry that will be appended.
  Position position() const;
  // Sequence of the last entry that is durable or no longer needed; 0 if there is no such entry.
  std::uint64_t durable_sequence() const;
  // Offset of the end of the log in its file, in bytes, including the header and the entries that
  // are still in memory.
  Offset size() const;
  Format format() const;
  std::uint64_t log_id() const;
  std::uint64_t epoch() const;
  // State of the log as the constructor found it.
  const Report& found() const;

 private:
  friend class Segmented_Writer;
  // Resets the file to this header. The file must be new, or already belong to this log.
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
  // Limits on the entries that are queued for the writing thread. If the queue is full, appending
  // waits.
  std::size_t max_waiting_entries = std::size_t{1} << 16;
  std::size_t max_waiting_bytes = std::size_t{1} << 26;
};

// Lets many threads append to a log. Entries that are appended while the disk is busy become
// durable together, with one sync (group commit).
//
//   joedb::wal::Async_Writer log(joedb::wal::Writer("orders.wal"));
//   const auto done = log.append_async("one coffee");
//   …
//   done.get();  // durable from here on
//
// A single thread of this object does all writing. The entries of the log are in the order of the
// calls of append_async. Thread-safe. In a child process (io/file.h), functions throw
// Inherited_Object.
//
// After a failed write or sync all pending calls fail, in their order, and all later calls throw
// the same error. An entry that was reported as failed may still be in the log; an entry that was
// reported as durable is in the log.
class Async_Writer {
 public:
  // Called in the writing thread, in the order of the entries. If `error` is null, the entry is
  // durable at `position`; otherwise, the entry may or may not be in the log. A callback must not
  // throw, and should be short, because nothing is written while it runs. It may call append_async;
  // the callback for the new entry is called even after a failure, or while the log is being
  // closed. Functions that wait throw Exception in a callback.
  using Callback = std::function<void(Position position, std::exception_ptr error)>;

  // `log` should have the policy `never`: this object syncs it after each batch.
  explicit Async_Writer(Writer log, Async_Options options = {});
  explicit Async_Writer(Segmented_Writer log, Async_Options options = {});
  // Like close(), but reports errors to Destructor_Logger.
  ~Async_Writer();
  Async_Writer(const Async_Writer&) = delete;
  Async_Writer& operator=(const Async_Writer&) = delete;

  // Appends an entry; waits while the queue is full. Throws Exception if the size is invalid or the
  // log is closed, and the error of an earlier failure. If this throws, nothing is appended, and
  // the callback is not called.
  std::future<Position> append_async(std::string bytes);
  void append_async(std::string bytes, Callback callback);

  // Appends an entry, and waits until the entry is durable. Throws the error if a write or sync
  // fails.
  Position append(std::string bytes);

  // Waits until all entries appended so far are durable. Throws the error if a write or sync fails.
  void wait();

  // Waits until all entries appended so far are durable, then resets the log durably
  // (Writer::rotate).
  void rotate();

  // Waits until all entries appended so far are durable, then releases entries up to `sequence`
  // (Segmented_Writer::release). In a log without segments, nothing is released.
  void release(std::uint64_t sequence);

  // Waits like wait(), then closes the log. Later calls throw Exception, but closing again does
  // nothing.
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
