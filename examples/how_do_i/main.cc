// The answers in docs/how_do_i.md that are programs.

#include <chrono>
#include <iostream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "joedb/io/file.h"
#include "shop/writable.h"

namespace chrono = std::chrono;

static shop::id_of_customer add_customer(shop::Writable_Database& db) {
  const chrono::sys_days born = chrono::year(1990) / 5 / 17;
  const auto days = static_cast<std::int32_t>(born.time_since_epoch().count());
  return db.new_customer({.name = "Ada", .email = "ada@example.org", .born = days});
}

static void print_birthday(const shop::Database& db, shop::id_of_customer customer) {
  const chrono::year_month_day born(chrono::sys_days(chrono::days(db.get_born(customer))));
  std::cout << db.get_name(customer) << ", born in " << static_cast<int>(born.year()) << '\n';
}

static void add_invoice(shop::Writable_Database& db, shop::id_of_customer customer,
                        chrono::system_clock::time_point at) {
  const auto time = chrono::duration_cast<chrono::microseconds>(at.time_since_epoch());
  db.new_invoice({.customer = customer, .at = time.count(), .total = 12'50});
}

static std::string money(std::int64_t cents) {
  const std::string digits = std::to_string(cents % 100);
  return std::to_string(cents / 100) + (digits.size() == 1 ? ".0" : ".") + digits;
}

enum class State : std::int8_t { planned, sold, retired };

static void sell(shop::Writable_Database& db, shop::id_of_product product) {
  db.set_state(product, static_cast<std::int8_t>(State::sold));
}

static bool is_sold(const shop::Database& db, shop::id_of_product product) {
  return static_cast<State>(db.get_state(product)) == State::sold;
}

constexpr std::int32_t unknown_points = std::numeric_limits<std::int32_t>::min();

static void print_points(const shop::Database& db, shop::id_of_customer customer) {
  if (db.get_points(customer) == unknown_points)
    std::cout << "nobody has counted the points\n";
  else
    std::cout << db.get_points(customer) << " points\n";
}

static void add_picture(shop::Writable_Database& db, shop::id_of_product product, std::istream& in,
                        std::int64_t size) {
  db.set_picture(product, db.write_blob(size, [&in](char* data, std::size_t n) {
    if (!in.read(data, static_cast<std::streamsize>(n))) throw std::runtime_error("too short");
  }));
}

static void print_picture(const shop::Database& db, joedb::Abstract_File& file,
                          shop::id_of_product product) {
  joedb::Blob_Reader reader(file, db.get_picture(product));
  char piece[4096];
  while (const std::size_t n = reader.read(piece, sizeof piece))
    std::cout << std::string_view(piece, n) << '\n';
}

// Prints up to `n` products from `first` on, and returns the first one of the next page.
static shop::id_of_product print_page(const shop::Database& db, shop::id_of_product first, int n) {
  const auto end = db.get_product_table().get_end();
  for (; first != end && n > 0; first = db.next(first), --n)
    std::cout << db.get_name(first) << ' ' << money(db.get_price(first)) << '\n';
  return first;
}

static void print_by_price(const shop::Database& db) {
  const auto is_before = [&db](shop::id_of_product a, shop::id_of_product b) {
    return db.get_price(a) < db.get_price(b);
  };
  for (const auto product : db.sorted_product(is_before))
    std::cout << money(db.get_price(product)) << ' ' << db.get_name(product) << '\n';
}

static void print_names_with(const shop::Database& db, std::string_view prefix) {
  const auto& by_name = db.get_index_of_product_by_name();
  for (auto i = by_name.lower_bound(prefix); i != by_name.end(); ++i) {
    if (!std::string_view(i->first).starts_with(prefix)) break;
    std::cout << i->first << '\n';
  }
}

static void print_between(const shop::Database& db, std::int64_t from, std::int64_t to) {
  const auto& by_time = db.get_index_of_invoice_by_time();
  const auto end = by_time.lower_bound(to);
  for (auto i = by_time.lower_bound(from); i != end; ++i)
    std::cout << db.get_name(db.get_customer(i->second)) << '\n';
}

// Each item, with its product and the customer of its invoice.
static void print_items(const shop::Database& db) {
  for (const auto item : db.get_item_table())
    std::cout << db.get_name(db.get_customer(db.get_invoice(item))) << " has bought "
              << db.get_name(db.get_product(item)) << '\n';
}

static void print_invoices_of(const shop::Database& db, shop::id_of_customer customer) {
  for (const auto invoice : db.find_invoice_by_customer(customer))
    std::cout << money(db.get_total(invoice)) << '\n';
}

static void print_sums(const shop::Database& db) {
  std::map<std::string, std::int64_t> sums;
  for (const auto invoice : db.get_invoice_table())
    sums[db.get_name(db.get_customer(invoice))] += db.get_total(invoice);
  for (const auto& [name, sum] : sums) std::cout << name << ' ' << money(sum) << '\n';
}

static void raise_prices(shop::Writable_Database& db) {
  const auto products = db.get_product_table();
  const auto n = static_cast<std::size_t>(products.get_size());
  db.update_vector_of_price(products.first(), n, [](joedb::Span<std::int64_t> prices) {
    for (auto& price : prices) price += price / 10;
  });
}

static void remove_customer(shop::Writable_Database& db, shop::id_of_customer customer) {
  const auto found = db.find_invoice_by_customer(customer);
  const std::vector<shop::id_of_invoice> invoices(found.begin(), found.end());
  for (const auto invoice : invoices) db.set_customer(invoice, db.null_customer());
  db.delete_customer(customer);
}

static void change_all_or_nothing(shop::Writable_Database& db) {
  try {
    db.new_product({.name = "lamp", .price = 40'00});
    throw std::runtime_error("no lamps today");
  } catch (const std::exception& error) {
    db.rollback();
    std::cout << error.what() << ": " << db.get_product_table().get_size() << " products\n";
  }
}

class Shared_Shop {
 public:
  void add(const std::string& name) {
    const std::lock_guard lock(mutex_);
    db_.new_product({.name = name});
    db_.soft_checkpoint();
  }
  std::int64_t size() const {
    const std::lock_guard lock(mutex_);
    return db_.get_product_table().get_size();
  }

 private:
  mutable std::mutex mutex_;
  shop::Memory_Database db_;
};

static void use_threads() {
  Shared_Shop shop;
  std::thread other([&shop] { shop.add("pen"); });
  shop.add("ink");
  other.join();
  std::cout << shop.size() << " products of two threads\n";
}

static void run() {
  shop::Memory_Database db;
  const auto ada = add_customer(db);
  print_birthday(db, ada);
  const auto today = chrono::sys_days(chrono::year(2026) / 1 / 31);
  add_invoice(db, ada, today);
  const auto invoice = db.get_invoice_table().first();

  const auto chair = db.new_product({.name = "chair", .price = 99'90});
  const auto chart = db.new_product({.name = "chart", .price = 5'05});
  db.new_item(invoice, chair);
  sell(db, chair);
  std::cout << is_sold(db, chair) << is_sold(db, chart) << '\n';
  db.set_points(ada, unknown_points);
  print_points(db, ada);
  db.set_points(ada, 7);
  print_points(db, ada);

  std::istringstream in("a picture");
  add_picture(db, chair, in, 9);
  db.soft_checkpoint();
  joedb::Readonly_Memory_File file(db.get_data());
  print_picture(db, file, chair);

  const auto next = print_page(db, db.get_product_table().first(), 1);
  print_page(db, next, 1);
  print_by_price(db);
  print_names_with(db, "chai");
  print_between(db, 0, std::numeric_limits<std::int64_t>::max());
  print_items(db);
  print_invoices_of(db, ada);
  print_sums(db);
  raise_prices(db);
  print_by_price(db);
  remove_customer(db, ada);
  std::cout << db.get_customer_table().get_size() << " customers\n";
  db.soft_checkpoint();
  change_all_or_nothing(db);
  use_threads();
}

int main() {
  try {
    run();
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
