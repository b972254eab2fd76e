// Books that are found by shelf mark, by author, and by year.

#include <iostream>

#include "library/Memory_Database.h"

static void add_books(library::Writable_Database& db) {
  db.new_book("N-17", "Mary Shelley", "The Last Man", 1826);
  db.new_book("N-03", "Mary Shelley", "Frankenstein", 1818);
  db.new_book("N-21", "Jane Austen", "Persuasion", 1817);
  db.new_book("S-02", "Charles Darwin", "On the Origin of Species", 1859);
  db.new_book("N-20", "Jane Austen", "Emma", 1815);
}

// A unique index finds one record or none.
static void find_one(const library::Database& db) {
  const auto book = db.find_book_by_shelf_mark("N-03");
  std::cout << "N-03: " << db.get_title(book) << '\n';
  if (db.find_book_by_shelf_mark("X-99").is_null()) std::cout << "X-99: not here\n";
}

// Any other index finds a range of them, in the order of their ids.
static void find_several(const library::Database& db) {
  const auto books = db.find_book_by_author("Jane Austen");
  std::cout << books.size() << " books by Jane Austen:\n";
  for (const auto book : books) std::cout << "  " << db.get_title(book) << '\n';
}

// The whole index is like a std::multimap from keys to records; with several fields, the key is a
// std::tuple.
static void walk_in_order(const library::Database& db) {
  const auto& by_year = db.get_index_of_book_by_year();
  std::cout << "before 1820:\n";
  for (auto i = by_year.begin(); i != by_year.lower_bound({1820, ""}); ++i) {
    const auto& [key, book] = *i;
    std::cout << "  " << std::get<0>(key) << ' ' << db.get_title(book) << '\n';
  }
  const auto latest = by_year.rbegin()->second;
  const auto one_before = db.previous_book_by_year(latest);
  std::cout << "latest: " << db.get_title(latest) << ", after " << db.get_title(one_before) << '\n';
}

// An update that would put a key into a unique index twice throws, and changes nothing.
static void change(library::Writable_Database& db) {
  const auto book = db.find_book_by_shelf_mark("N-21");
  try {
    db.set_shelf_mark(book, "N-20");
  } catch (const joedb::Data_Error& error) {
    std::cout << error.what() << '\n';
  }
  db.set_shelf_mark(book, "N-22");
  std::cout << "N-22: " << db.get_title(db.find_book_by_shelf_mark("N-22")) << '\n';
}

int main() {
  library::Memory_Database db;
  add_books(db);
  find_one(db);
  find_several(db);
  walk_in_order(db);
  change(db);
}
