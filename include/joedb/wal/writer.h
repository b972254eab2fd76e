#ifndef JOEDB_WAL_WRITER_H
#define JOEDB_WAL_WRITER_H

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "joedb/base/system.h"
#include "joedb/io/file.h"
#include "joedb/wal/recover.h"

namespace joedb::inline v1::wal {

struct Header;

// When a Writer syncs by itself: as soon as one of these is reached. By default: never.
struct Sync_Policy {
  std::uint64_t entries = 0;            // that are not durable; 0: no limit
  std::uint64_t bytes = 0;              // of them, in the file; 0: no limit
  std::chrono::milliseconds time = {};  // since the first of them was appended; 0: no limit

  static Sync_Policy never() { return {}; }
  static Sync_Policy every_entry() { return {.entries = 1}; }
  static Sync_Policy every_entries(std::uint64_t n) { return {.entries = n}; }
  static Sync_Policy every_bytes(std::uint64_t n) { return {.bytes = n}; }
  // A thread of the Writer does this: entries become durable also if nobody calls it any more.
  static Sync_Policy every(std::chrono::milliseconds time) { return {.time = time}; }
};

struct Options {
  Sync_Policy sync = {};

  // So many bytes are put together before they are written to the file (1 to 2^30).
  std::size_t buffer_size = std::size_t{1} << 16;

  // The file is preallocated, by so many bytes of zeros at a time, so that a sync has no metadata
  // to write; 0: it grows with its entries. Where the disk has no room for that, it does so from
  // then on. Not in format `cwal`, where zeros are entries.
  Offset preallocate = 0;

  // The log is reset to the start of the file before its entries would take more bytes of
  // it than this, as CWal does with its batches; 0: never. `on_batch` is called before, when all
  // entries of the batch are in the file: it makes the data safe elsewhere, or throws, and then
  // nothing is appended. It must not call this Writer.
  Offset batch_size = 0;
  std::function<void()> on_batch = {};

  // Of a new log. One that exists keeps its format.
  Format format = Format::checked;

  // Where the time of the policy, and the random numbers of the log come from. It must outlive the
  // Writer.
  System* system = &System::real();
};

// Appends entries to a log.
//
//   joedb::wal::Writer log("orders.wal");
//   log.append("one coffee");
//   log.sync();  // from here on, a power cut does not lose it
//
// What is appended is in memory first; after flush() it survives a killed process, after sync() a
// power cut. A reader, also after a crash, sees the entries in their order, without a gap: at least
// those that were durable, and nothing that was not appended.
//
// If another program has removed, replaced or cut the file, a sync throws File_Replaced. In a child
// process (io/file.h), functions throw Inherited_Object, and the destructor does nothing.
//
// After a failed write or sync nothing more is written: every call but the inspectors throws what
// happened. Entries up to durable_sequence() are safe then; of later ones a part may be. Open the
// log again to find out.
//
// An object is used by one thread at a time. Only one Writer has a file at a time.
class Writer {
 public:
  // Opens a log, or makes a new one. Entries that are there stay; all of them are durable
  // afterwards: what nothing proves to be durable is written again. What a crash has left behind
  // them is removed; good entries among it are saved first, see recover and found(). Throws
  // Io_Error; Corruption_Error if the file is no log, if entries that were durable are damaged, or
  // if entries cannot be saved; and Exception for options that make no sense, or a file that is not
  // opened alone.
  explicit Writer(const std::string& file, Options options = {});
  // `file` must outlive this object.
  explicit Writer(Abstract_File& file, Options options = {});
  explicit Writer(std::unique_ptr<Abstract_File> file, Options options = {});

  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;
  // close(), but what goes wrong is told to Destructor_Logger.
  ~Writer();

  // At most max_entry_size bytes, any bytes; in format `cwal` at least one. Returns where they are.
  // Throws Exception for a wrong size, and appends nothing.
  Position append(std::string_view bytes);
  Position append(std::span<const std::byte> bytes) {
    return append({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }

  // Writes what is in memory to the file.
  void flush();
  // Makes everything durable that was appended.
  void sync();

  // Begins the log again, from the start of the file: entries before this are not needed any more,
  // whether durable or not, and no reader that begins after the next sync will show them; until
  // then a power cut may bring back those that were durable. Sequences go on. (In format `cwal` the
  // file is cut, and a reader counts from 1 again.)
  void rotate();

  // flush, and sync if the policy is not `never`. Then a mark is written that says what is durable,
  // without a sync. The Writer cannot be used any more.
  void close();

  // Of the entry that is appended next.
  Position position() const;
  // The last entry that is durable, or not needed any more; 0 if none.
  std::uint64_t durable_sequence() const;
  // How many bytes the log has in its file, since it was begun (again).
  Offset size() const;
  Format format() const;
  std::uint64_t log_id() const;
  std::uint64_t epoch() const;
  // What the constructor found.
  const Report& found() const;

 private:
  friend class Segmented_Writer;
  // The file, new or of this log, is reset to this header.
  Writer(std::unique_ptr<Abstract_File> file, Options options, const Header& start);
  void set_oldest(std::uint64_t sequence);

  class Implementation;
  Implementation& open() const;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace joedb::inline v1::wal

#endif
