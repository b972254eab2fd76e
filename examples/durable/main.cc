// Threads that write one database. Each waits until its order would survive a power cut, and all of
// them share the syncs of the disk.

#include <cstdint>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "joedb/io/mapped_file.h"
#include "orders/readonly.h"
#include "orders/writable.h"

class Shop {
 public:
  explicit Shop(const char* file)
      : db_(file, joedb::Open_Mode::write_existing_or_create_new, options()) {
    db_.enable_integrity();  // damage will be found, also before soft checkpoints
  }

  // May be called from any thread.
  void order(const std::string& item, int amount) {
    std::unique_lock lock(mutex_);
    db_.new_order(item, amount);
    const joedb::Offset position = db_.hard_checkpoint_async();
    db_.wait(position, lock);  // durable; others have worked meanwhile
  }

 private:
  static joedb::Journal_Options options() {
    joedb::Journal_Options options;
    options.preallocation = 1 << 16;  // syncs need not make the file grow
    return options;
  }

  std::mutex mutex_;
  orders::File_Database db_;
};

// One thread, and rather speed: what was checkpointed survives a killed program, and no power cut
// before the hard checkpoint at the end.
static std::int64_t log_many_events() {
  joedb::Mapped_File file("events.joedb");
  orders::Writable_Database db(file);
  for (int i = 1; i <= 100'000; ++i) {
    db.new_order("event", i);
    db.soft_checkpoint();
  }
  try {
    db.hard_checkpoint();
  } catch (const joedb::Disk_Full& error) {
    std::cerr << error.path << ": the disk is full; nothing that was checkpointed is lost\n";
    throw;
  }
  return static_cast<std::int64_t>(db.get_order_table().get_size());
}

int main() {
  try {
    {
      Shop shop("orders.joedb");
      std::vector<std::thread> customers;
      for (const char* const item : {"tea", "coffee", "bread", "milk"})
        customers.emplace_back([&shop, item] {
          for (int amount = 1; amount <= 100; ++amount) shop.order(item, amount);
        });
      for (std::thread& customer : customers) customer.join();
    }
    const orders::Readonly_Database db("orders.joedb");
    int sum = 0;
    for (const auto order : db.get_order_table()) sum += db.get_amount(order);
    std::cout << db.get_order_table().get_size() << " orders, " << sum << " pieces\n";
    std::cout << log_many_events() << " events\n";
  } catch (const joedb::Exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
