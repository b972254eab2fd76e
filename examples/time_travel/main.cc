// What was in stock on Monday, on Tuesday, and before a mistake? The journal still knows.

#include <iostream>

#include "stock/readonly.h"
#include "stock/writable.h"

static constexpr const char* stock_file = "stock.joedb";
static constexpr std::int64_t monday = 1'767'571'200;  // seconds since 1970
static constexpr std::int64_t day = 24 * 60 * 60;

static void print(const char* when, const stock::Database& db) {
  std::cout << when << ':';
  for (const auto product : db.get_product_table())
    std::cout << ' ' << db.get_pieces(product) << ' ' << db.get_name(product);
  std::cout << '\n';
}

// A time stamp ends the work of each day. In this example it is that of a calendar: by itself, a
// checkpoint appends the time of the clock.
static void end_day(stock::Writable_Database& db, std::int64_t date) {
  db.write_timestamp(date + 17 * 60 * 60);
  db.soft_checkpoint();
}

// Three days of work. Returns how long the journal was before the last one.
static joedb::Offset work() {
  stock::File_Database db(stock_file);
  db.new_product("pens", 100);
  db.new_product("ink", 20);
  end_day(db, monday);

  db.set_pieces(db.find_product_by_name("pens"), 70);
  db.new_product("paper", 500);
  end_day(db, monday + day);

  const joedb::Offset before = db.get_journal().get_checkpoint();
  db.write_comment("everything was sold, or so it seemed");
  db.clear_product_table();
  end_day(db, monday + 2 * day);
  return before;
}

int main() {
  try {
    const joedb::Offset before_the_mistake = work();

    using joedb::at, joedb::at_time;
    print("now", stock::Readonly_Database(stock_file));
    print("on Monday evening", stock::Readonly_Database(stock_file, at_time(monday + day)));
    print("on Tuesday evening", stock::Readonly_Database(stock_file, at_time(monday + 2 * day)));
    print("before the mistake", stock::Readonly_Database(stock_file, at(before_the_mistake)));

    // The past is an ordinary database, with its indexes.
    const stock::Readonly_Database past(stock_file, at_time(monday + day));
    const auto pens = past.find_product_by_name("pens");
    std::cout << past.get_pieces(pens) << " pens on Monday\n";
    const stock::Readonly_Database too_early(stock_file, at_time(monday));
  } catch (const joedb::Exception& error) {
    std::cout << error.what() << '\n';
  }
}
