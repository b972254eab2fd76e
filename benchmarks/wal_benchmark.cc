// joedb::wal, as a program would use it.

#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "joedb/wal/log.h"
#include "log_entry.h"

using joedb::wal::Async_Writer;
using joedb::wal::Options;
using joedb::wal::Sync_Policy;
using joedb::wal::Writer;

// As much as 1,000 entries and a little more.
static constexpr joedb::Offset growth = joedb::Offset{1} << 20;

static void append_all(Writer& log, std::int64_t entries) {
  Log_Entry entry;
  for (std::int64_t i = 1; i <= entries; ++i) log.append(entry.text(i));
}

static void append_with(const Options& options, std::int64_t entries, const char* file) {
  Writer log(file, options);
  append_all(log, entries);
  log.close();
}

static void append(std::int64_t entries, const char* file) { append_with({}, entries, file); }

static void append_and_flush_each(std::int64_t entries, const char* file) {
  Writer log(file);
  Log_Entry entry;
  for (std::int64_t i = 1; i <= entries; ++i) {
    log.append(entry.text(i));
    log.flush();
  }
  log.close();
}

template <int every, joedb::Offset preallocate>
static void append_and_sync(std::int64_t entries, const char* file) {
  append_with({.sync = Sync_Policy::every_entries(every), .preallocate = preallocate}, entries,
              file);
}

// After each batch the log is made durable and reset: with a processor, its entries would be
// applied elsewhere before that.
template <int batch, joedb::Offset preallocate>
static void sync_batches(std::int64_t entries, const char* file) {
  Writer log(file, {.preallocate = preallocate});
  Log_Entry entry;
  for (std::int64_t i = 1; i <= entries; ++i) {
    log.append(entry.text(i));
    if (i % batch == 0 || i == entries) {
      log.sync();
      log.rotate();
    }
  }
  log.close();
}

// What Options::batch_size does by itself: what on_batch has made safe elsewhere needs no sync
// here.
template <int batch>
static void rotate_batches(std::int64_t entries, const char* file) {
  constexpr joedb::Offset entry = 1024;
  std::int64_t batches = 0;
  append_with({.batch_size = batch * entry, .on_batch = [&] { ++batches; }}, entries, file);
  if (batches != (entries - 1) / batch) throw std::runtime_error("batches of another size");
}

// ---- threads ------------------------------------------------------------------------------------

// Runs work(log, entries) in each of `threads` threads, which share the entries.
template <class Work>
static void in_threads(int threads, joedb::Offset preallocate, std::int64_t entries,
                       const char* file, Work work) {
  Async_Writer log(Writer(file, {.preallocate = preallocate}));
  {
    std::vector<std::jthread> running;
    for (int i = 0; i < threads; ++i) running.emplace_back([&] { work(log, entries / threads); });
  }
  log.close();
}

// Each thread waits for an entry before it appends the next one.
template <int threads, joedb::Offset preallocate>
static void append_and_wait(std::int64_t entries, const char* file) {
  in_threads(threads, preallocate, entries, file, [](Async_Writer& log, std::int64_t count) {
    Log_Entry entry;
    for (std::int64_t i = 1; i <= count; ++i) log.append(std::string(entry.text(i)));
  });
}

// Each thread waits when 16 of its entries are not durable.
template <int threads, joedb::Offset preallocate>
static void append_with_callbacks(std::int64_t entries, const char* file) {
  in_threads(threads, preallocate, entries, file, [](Async_Writer& log, std::int64_t count) {
    constexpr int most = 16;
    std::counting_semaphore<most> room(most);
    Log_Entry entry;
    for (std::int64_t i = 1; i <= count; ++i) {
      room.acquire();
      log.append_async(std::string(entry.text(i)),
                       [&](joedb::wal::Position, const std::exception_ptr& error) {
                         if (error) std::abort();
                         room.release();
                       });
    }
    log.wait();  // nobody is in `room` any more
  });
}

int main(int argc, char** argv) {
  constexpr Case cases[] = {
      {"append", append},
      {"append_and_flush_each", append_and_flush_each},
      {"append_and_sync_each", append_and_sync<1, 0>},
      {"append_and_sync_each_preallocated", append_and_sync<1, growth>},
      {"append_and_sync_every_10", append_and_sync<10, 0>},
      {"append_and_sync_every_10_preallocated", append_and_sync<10, growth>},
      {"sync_batches_of_31", sync_batches<31, 0>},
      {"sync_batches_of_10", sync_batches<10, 0>},
      {"rotate_batches_of_31", rotate_batches<31>},
      {"rotate_batches_of_10", rotate_batches<10>},
      {"one_thread_waits", append_and_wait<1, 0>},
      {"one_thread_waits_preallocated", append_and_wait<1, growth>},
      {"8_threads_wait", append_and_wait<8, 0>},
      {"8_threads_wait_preallocated", append_and_wait<8, growth>},
      {"8_threads_with_callbacks", append_with_callbacks<8, 0>},
      {"8_threads_with_callbacks_preallocated", append_with_callbacks<8, growth>},
  };
  return run_case(cases, argc, argv);
}
