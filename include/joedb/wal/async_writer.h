#ifndef JOEDB_WAL_ASYNC_WRITER_H
#define JOEDB_WAL_ASYNC_WRITER_H

#include <cstddef>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <string>

#include "joedb/base/threads.h"
#include "joedb/wal/log.h"

namespace joedb::inline v1::wal {

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
// Writes in one thread of its own. The log holds entries in the order of the calls of append_async.
// Thread-safe. In a child process (io/file.h), functions throw Inherited_Object.
//
// After a failed write or sync all pending calls fail, in their order, and all later calls throw
// the same error. An entry reported as failed may be in the log nevertheless; an entry reported as
// durable is in it.
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
