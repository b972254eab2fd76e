#ifndef JOEDB_WAL_WRITER_H
#define JOEDB_WAL_WRITER_H

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "joedb/base/threads.h"
#include "joedb/io/file.h"
#include "joedb/wal/log.h"

namespace joedb::inline v1::wal {

struct Header;

// Limits on the entries that are not durable. A Writer syncs by itself as soon as one limit is
// reached; by default it never does.
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
  // preallocate, the Writer continues without. Refused for a new log in format `cwal`, where zeros
  // are entries.
  Offset preallocate = 0;

  // Size of a batch, in bytes: before the entries would take more than this in the file, the log is
  // reset to the start of the file, as CWal does with its batches; 0: never. `on_batch` is called
  // first, when all entries of the batch are in the file. It must save the data elsewhere, or
  // throw; then nothing is appended and the log is not reset. It must not call this Writer.
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
//   log.sync();  // from here on, a power cut does not lose it
//
// Appended entries are in memory first. After flush() they survive a killed process, after sync() a
// power cut. A reader, also after a crash, sees the entries in their order and without a gap: at
// least all durable entries, and nothing that was not appended.
//
// If another program has removed, replaced or truncated the file, a sync throws File_Replaced. In a
// child process (io/file.h), functions throw Inherited_Object, and the destructor does nothing.
//
// Fail-stop: after a failed write or sync nothing more is written, and every call except the
// inspectors throws Write_Disabled with the text of that failure. Entries up to durable_sequence()
// are safe then; any part of the later ones may be. Open the log again to find out.
//
// An object is used by one thread at a time. A file has at most one Writer at a time.
class Writer {
 public:
  // Opens a log, or creates a new one. Existing entries stay. All of them are durable when this
  // returns: entries that are not known to be durable are written again. Bytes that a crash has
  // left after them are removed; good entries among these are saved first (see recover and
  // found()).
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

  // Appends an entry of any bytes: at most max_entry_size of them, in format `cwal` at least one.
  // Returns its position. Throws Exception for a wrong size, and appends nothing.
  Position append(std::string_view bytes);
  Position append(std::span<const std::byte> bytes) {
    return append({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }

  // Writes all buffered entries to the file.
  void flush();
  // Makes all appended entries durable.
  void sync();

  // Resets the log to the start of the file. Earlier entries are no longer needed, whether durable
  // or not. After the next sync, no reader that begins then returns them; until then, a power cut
  // may bring back the durable ones. Sequences continue. (In format `cwal` the file is
  // truncated and synced, and readers count from 1 again.)
  void rotate();

  // Flushes, and syncs unless the policy is `never`. Then writes, without a sync, a mark that
  // states which entries are durable. The Writer is closed even if this throws: later calls throw
  // Exception, but closing again is a no-op.
  void close();

  // Position of the entry that is appended next.
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

}  // namespace joedb::inline v1::wal

#endif
