// The programs of docs/how_do_i.md: each function answers a question.
#include <chrono>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "joedb/journal/readonly_journal.h"
#include "shop.h"

using namespace shop;

// ---- types --------------------------------------------------------------------------------------

static std::int32_t to_number(std::chrono::sys_days day) {
  return static_cast<std::int32_t>(day.time_since_epoch().count());
}
static std::chrono::sys_days to_day(std::int32_t number) {
  return std::chrono::sys_days(std::chrono::days(number));
}

enum State : std::int8_t { open = 0, paid = 1, cancelled = 2 };

static std::string euros(std::int64_t cents) {
  const std::string digits = std::to_string(cents % 100 + 100);
  return std::to_string(cents / 100) + "." + digits.substr(1);
}

static void types(Writable_Database& db, id_of_customer ada) {
  using namespace std::chrono;
  const auto invoice =
      db.new_invoice({.customer = ada, .day = to_number(2026y / November / 27), .cents = 19'90});

  db.set_state(invoice, State::paid);
  if (static_cast<State>(db.get_state(invoice)) == State::paid) std::cout << "it is paid\n";

  const year_month_day day = to_day(db.get_day(invoice));
  std::cout << int(day.year()) << ", " << euros(db.get_cents(invoice)) << " euros\n";

  if (db.get_discount(invoice).is_null()) std::cout << "no discount\n";
  db.set_discount(invoice, db.new_discount(10));
}

// ---- questions to the data ----------------------------------------------------------------------

static void pages(const Database& db) {
  constexpr int size = 2;
  id_of_invoice last;  // of the page before
  for (int page = 1;; ++page) {
    auto next = last.is_null() ? db.get_invoice_table().first() : db.next(last);
    if (next == db.get_invoice_table().get_end()) break;
    std::cout << "page " << page << ':';
    for (int i = 0; i < size && next != db.get_invoice_table().get_end(); ++i) {
      std::cout << ' ' << next;
      last = next;
      next = db.next(next);
    }
    std::cout << '\n';
  }
}

static void join(const Database& db, id_of_customer ada) {
  for (const auto invoice : db.get_invoice_table())
    std::cout << db.get_name(db.get_customer(invoice)) << ' ' << db.get_cents(invoice) << '\n';

  for (const auto invoice : db.find_invoice_by_customer_day(ada))
    std::cout << db.get_day(invoice) << ' ' << db.get_cents(invoice) << '\n';
}

static void ranges(const Database& db) {
  const auto& by_day = db.get_index_of_invoice_by_day();
  std::cout << by_day.between(20'000, {}).size() << " since day 20000, "
            << by_day.between({}, 20'000).size() << " up to it\n";
}

static void insert_or_update(Writable_Database& db, const std::string& name) {
  auto customer = db.find_customer_by_name(name);
  if (customer.is_null()) customer = db.new_customer(name);
  std::cout << name << " is customer " << customer << '\n';
}

static void delete_with_references(Writable_Database& db, id_of_customer customer) {
  for (const auto invoice : db.find_invoice_by_customer_day(customer)) db.delete_invoice(invoice);
  db.delete_customer(customer);
}

static void live(Writable_Database& db) {
  auto list = db.live_list_of_invoice_by_day({}, {});
  list.on_added([](id_of_invoice invoice, std::size_t position) {
    std::cout << "invoice " << invoice << " appears at position " << position << '\n';
  });
  db.new_invoice({.day = 0});
  db.soft_checkpoint();
}

// ---- files --------------------------------------------------------------------------------------

static void open_after_crash() {
  File_Database db("shop.joedb", joedb::Open_Mode::write_existing_or_create_new,
                   joedb::Recovery::keep);
  std::cout << db.get_customer_table().get_size() << " customers\n";
}

static void transaction(File_Client& client) {
  try {
    client.transaction([](Writable_Database& db) {
      db.new_customer("Grace");
      db.new_customer("Grace");
    });
  } catch (const joedb::Data_Error&) {
    std::cout << "nothing was changed\n";
  }
}

static void threads() {
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i)
    writers.emplace_back([i] {
      File_Client client("shop.joedb");
      client.transaction(
          [i](Writable_Database& db) { db.new_customer("thread " + std::to_string(i)); });
    });
  for (std::thread& writer : writers) writer.join();
}

static void backup() {
  joedb::File file("shop.joedb", joedb::Open_Mode::read_existing);
  joedb::File copy("backup.joedb", joedb::Open_Mode::create_new);
  file.copy_to(copy);
}

static void replica() {
  joedb::File file("shop.joedb", joedb::Open_Mode::read_existing);
  Readonly_Client reader(file);
  reader.pull();
  std::cout << "the reader sees " << reader.get_database().get_customer_table().get_size() << '\n';
}

static void yesterday() {
  joedb::File file("shop.joedb", joedb::Open_Mode::read_existing);
  const joedb::Offset end = joedb::Readonly_Journal(file).get_checkpoint();
  const Readonly_Database past(file, joedb::at(end));
  std::cout << past.get_customer_table().get_size() << " customers then\n";
}

static void blobs(Writable_Database& db, id_of_invoice invoice) {
  db.set_scan(invoice, db.write_blob("%PDF-1.7"));
  std::cout << db.read_blob(db.get_scan(invoice)) << '\n';
}

int main() {
  std::filesystem::remove("shop.joedb");
  std::filesystem::remove("backup.joedb");
  {
    File_Database db("shop.joedb");
    const auto ada = db.new_customer("Ada");
    types(db, ada);
    for (const int day : {19'000, 20'000})
      db.new_invoice({.customer = ada, .day = day, .cents = 1});
    pages(db);
    join(db, ada);
    ranges(db);
    insert_or_update(db, "Ada");
    blobs(db, db.get_invoice_table().first());
    live(db);
    delete_with_references(db, ada);
    db.hard_checkpoint();
  }
  open_after_crash();
  {
    File_Client client("shop.joedb");
    transaction(client);
  }
  threads();
  backup();
  replica();
  yesterday();
}
