#ifndef JOEDB_WAL_READER_H
#define JOEDB_WAL_READER_H

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "joedb/base/system.h"
#include "joedb/io/file.h"
#include "joedb/wal/log.h"

namespace joedb::inline v1::wal {

class Source;

// Reads the entries of a log, one after the other, up to the first that is not good.
//
//   joedb::wal::Reader reader("orders.wal");
//   while (const auto entry = reader.next()) use(entry->text());
//   if (reader.end().stop != joedb::wal::Stop::clean) warn(reader.end().text());
//
// A log may be read while it is written, also by another process: what next() could not read once,
// it tries again the next time. Each format is recognised. An entry is handed out only after its
// checksum, its order and its age were found to be right; a file of any bytes gives entries or an
// end, and takes no more memory than the file has bytes.
//
// An object is used by one thread at a time.
class Reader {
 public:
  // `file` must outlive this object.
  explicit Reader(const Abstract_File& file);
  // Throws Io_Error if there is no such file.
  explicit Reader(const std::string& file);
  // Reads through a memory map, without copying: bytes of entries stay where they are as long as
  // this object lives, but change if the log is rotated meanwhile. If somebody cuts the file, they
  // become zeros, and next() throws.
  static Reader map(const std::string& file);

  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();

  // The next good entry; its bytes are valid until the next call (but see map). Nothing at the end,
  // which end() explains. When the log is rotated while it is read, this goes on with the new
  // entries if none was missed. Throws Io_Error, and Corruption_Error for a damaged header.
  std::optional<Entry> next();

  // The same, but waits for an entry up to `timeout`. It looks again after some milliseconds.
  std::optional<Entry> wait_for_next(std::chrono::milliseconds timeout,
                                     System& system = System::real());

  // Why the last call of next() returned nothing.
  const End& end() const { return end_; }

  // Where the next entry is, or will be.
  Position position() const { return next_; }

  // Goes to an entry, for next() to return it. Throws Exception, and stays where it was, if the
  // entry with this sequence is not there, or is not good. position() is always accepted.
  void seek(Position position);
  // The same for the first entry that is still in the log.
  void seek_first();

  // cwal for a file that is empty, or does not exist as a log yet, only if it has such bytes.
  Format format() const { return format_; }
  // Throws File_Replaced if another program has removed, replaced or cut the file: no entry will
  // come any more. wait_for_next calls it where there is no entry yet.
  void require_not_replaced() const;

  // Of format `checked`: the random number of the log, and how often it was rotated.
  std::uint64_t log_id() const;
  std::uint64_t epoch() const;
  // The last entry that is durable, as far as the entries that were read say; 0: none of them says.
  std::uint64_t known_durable() const;
  // What the next entry has to name as the CRC of the one before.
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
