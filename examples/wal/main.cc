// The logs of a small shop. They need no schema and no database, and are linked with joedb::wal
// only.

#include <exception>
#include <filesystem>
#include <fstream>
#include <future>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "joedb/wal/copies.h"
#include "joedb/wal/log.h"
#include "joedb/wal/segments.h"

// What was ordered before the program ended, in whatever way. The Writer that is opened next
// removes what stands behind the last good entry.
static void replay() {
  joedb::wal::Reader reader("orders.wal");
  while (const auto order = reader.next())
    std::cout << "order " << order->position.sequence << ": " << order->text() << '\n';
  if (reader.end().stop != joedb::wal::Stop::clean)
    std::cout << "the log ended: " << reader.end().text() << '\n';
}

// An order is durable as soon as append returns. With the default policy, never, it would be so
// after log.sync().
static void take_orders(const std::vector<std::string>& orders) {
  joedb::wal::Writer log("orders.wal", {.sync = joedb::wal::Sync_Policy::every_entry()});
  for (const std::string& order : orders) log.append(order);
}

// The file stays small: before a batch becomes too large, on_batch saves its entries, and the log
// begins again. Entries that the archive has already, from before a crash, are not saved twice.
static void save_batches() {
  joedb::wal::Writer archive("archive.wal");
  const auto save = [&archive] {
    joedb::wal::Reader reader("sales.wal");
    while (const auto sale = reader.next())
      if (sale->position.sequence >= archive.position().sequence) archive.append(sale->text());
    archive.sync();
    std::cout << archive.durable_sequence() << " sales are in the archive\n";
  };
  joedb::wal::Writer log("sales.wal", {.batch_size = 3'000, .on_batch = save});
  for (int i = 1; i <= 150; ++i) log.append("sale " + std::to_string(i));
  log.sync();
}

// Many threads share the syncs of one log. Who wants to know when an entry is durable takes a
// future, or gives a callback, which the thread of the log calls.
static void serve_customers() {
  joedb::wal::Async_Writer log(joedb::wal::Writer("customers.wal"));
  std::vector<std::thread> customers;
  for (const char* const item : {"tea", "coffee", "bread", "milk"})
    customers.emplace_back([&log, item] {
      std::future<joedb::wal::Position> durable = log.append_async(item);
      durable.get();  // throws what went wrong
    });
  for (std::thread& customer : customers) customer.join();

  log.append_async("one cake", [](joedb::wal::Position position, std::exception_ptr error) {
    std::cout << "entry " << position.sequence << (error ? " failed\n" : " is durable\n");
  });
  log.wait();
}

// A log in several files of 32 KiB. Those that hold only entries which nobody needs any more are
// written again, while entries are appended to the last one.
static void send_parcels() {
  joedb::wal::Segmented_Writer log("parcels", {}, {.segment_size = 1 << 15});
  for (int i = 1; i <= 1000; ++i) log.append("parcel " + std::to_string(i));
  log.sync();
  std::cout << log.segments() << " segments\n";
  log.release(log.durable_sequence() - 300);  // all but the last 300 have arrived
  std::cout << log.segments() << " segments, from parcel " << log.oldest_sequence() << " on\n";
}

// One log in three files, on different disks: entries are durable when two of them have them.
// Opening the log repairs the copies that miss something.
static joedb::wal::Writer open_copies() {
  const auto print = [](std::string_view report) { std::cout << report << '\n'; };
  return joedb::wal::Writer(joedb::wal::Copies::open({"a.wal", "b.wal", "c.wal"},
                                                     joedb::Open_Mode::write_existing_or_create_new,
                                                     {.needed = 2, .on_report = print}));
}

// Writes the copies, and damages an entry of one of them.
static void count_money() {
  joedb::wal::Writer till = open_copies();
  till.append("12 coins");
  const joedb::wal::Position notes = till.append("3 notes");
  till.append("1 button");
  till.close();

  std::fstream("b.wal", std::ios::in | std::ios::out).seekp(notes.offset) << "damaged";
  till = open_copies();
  std::cout << till.found().entries << " entries\n";
}

int main() {
  try {
    take_orders({"one coffee", "two teas", "three cakes"});
    // What a power cut would leave while the last order is written: a part of it, and not the 32
    // bytes with which the log was closed.
    std::filesystem::resize_file("orders.wal", std::filesystem::file_size("orders.wal") - 42);
    replay();
    take_orders({"four pies"});
    replay();

    save_batches();
    serve_customers();
    send_parcels();
    count_money();
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
