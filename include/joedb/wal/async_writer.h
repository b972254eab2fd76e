#ifndef JOEDB_WAL_ASYNC_WRITER_H
#define JOEDB_WAL_ASYNC_WRITER_H

#include <cstddef>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <string>

#include "joedb/base/process_mark.h"
#include "joedb/wal/log.h"

namespace joedb::inline v1::wal {

class Segmented_Writer;
class Writer;

struct Async_Options {
  // What may wait to be written; who appends more has to wait.
  std::size_t max_waiting_entries = std::size_t{1} << 16;
  std::size_t max_waiting_bytes = std::size_t{1} << 26;
};

// Appends to a log for many threads: what they append while the disk is busy becomes durable
// together, with one sync (group commit).
//
//   joedb::wal::Async_Writer log(joedb::wal::Writer("orders.wal"));
//   const auto done = log.append_async("one coffee");
//   …
//   done.get();  // durable from here on
//
// One thread of its own writes. Entries stand in the log in the order in which append_async was
// called. All functions may be called by all threads.
//
// After a failure all that waits is told, in its order, and all later calls throw the same. What
// was told to have failed may be in the log all the same; what was told to be durable is.
class Async_Writer {
 public:
  // Called in the writing thread, in the order of the entries. It must not throw, and should be
  // short: while it runs, nothing is written. `error` is null if the entry is durable; otherwise
  // nothing is known of it. It may call append_async: who does that after an error, or while the
  // log is closed, is called back, too. Whatever waits throws here.
  using Callback = std::function<void(Position position, std::exception_ptr error)>;

  // The policy of `log` should be `never`: this syncs whenever something waits.
  explicit Async_Writer(Writer log, Async_Options options = {});
  explicit Async_Writer(Segmented_Writer log, Async_Options options = {});
  // close(), but what goes wrong is told to Destructor_Logger.
  ~Async_Writer();
  Async_Writer(const Async_Writer&) = delete;
  Async_Writer& operator=(const Async_Writer&) = delete;

  // Waits while too much waits to be written. Throws Exception for an entry that is too large, or
  // if the log is closed, and what went wrong earlier; then nothing is appended, nor called back.
  std::future<Position> append_async(std::string bytes);
  void append_async(std::string bytes, Callback callback);

  // The same, and waits until it is durable.
  Position append(std::string bytes);

  // Waits until everything is durable that was appended before.
  void wait();

  // The same; then the log is reset, as by Writer::rotate.
  void rotate();

  // The same; then entries up to this one are not needed any more, as by Segmented_Writer::release.
  // Without segments: does nothing.
  void release(std::uint64_t sequence);

  // wait(); then the log is closed.
  void close();

  // How many syncs there were.
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
