#ifndef JOEDB_WAL_READER_H
#define JOEDB_WAL_READER_H

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "joedb/base/threads.h"
#include "joedb/io/file.h"
#include "joedb/wal/log.h"

namespace joedb::inline v1::wal {

class Source;

// Reads the entries of a log in their order, up to the first that is not good.
//
//   joedb::wal::Reader reader("orders.wal");
//   while (const auto entry = reader.next()) use(entry->text());
//   if (reader.end().stop != joedb::wal::Stop::clean) warn(reader.end().text());
//
// A log may be read while it is written, also by another process: each call of next() tries again
// where the last one stopped. The format is detected. An entry is returned only after its checksum,
// order and epoch were checked. A file of arbitrary bytes yields entries or an end, and takes no
// more memory than it has bytes.
//
// An object is used by one thread at a time.
class Reader {
 public:
  // `file` must outlive this object. Throws Io_Error, and Corruption_Error for a damaged header.
  explicit Reader(const Abstract_File& file);
  // The same; throws Io_Error also if there is no such file.
  explicit Reader(const std::string& file);
  // Reads through a memory map, without copying. Bytes of entries keep their address as long as
  // this object lives, but change if the log is rotated meanwhile. If the file is truncated, lost
  // bytes read as zeros, and next() throws Io_Error. Installs a process-wide handler of SIGBUS,
  // which acts only on such maps.
  static Reader map(const std::string& file);

  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();

  // Returns the next good entry; its bytes are valid until the next call (but see map). Returns
  // nullopt at the end; end() explains it. If the log is rotated while it is read, this continues
  // with the new entries, unless unread ones were overwritten. Throws Io_Error, and
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
  // Sequence of the last entry that is durable according to the entries read so far; 0 if none of
  // them says so.
  std::uint64_t known_durable() const;
  // CRC of the last entry, which the next one must repeat. 0 after a seek to another position,
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

}  // namespace joedb::inline v1::wal

#endif
