#ifndef JOEDB_INTERPRETER_FORGET_H
#define JOEDB_INTERPRETER_FORGET_H

#include <string>
#include <vector>

#include "interpreter/blob_map.h"
#include "interpreter/byte_search.h"
#include "joedb/history/transaction.h"
#include "joedb/journal/writable_journal.h"

namespace joedb::inline v1 {

// Which values of a database are to be forgotten.
struct Forget_Request {
  struct Records {
    Record_Id first;
    index_t size;
  };
  std::string table;
  std::vector<Records> records;     // empty: all
  std::vector<std::string> fields;  // empty: all
};

// "person 3,7-9 name": as in a comment.
std::string to_text(const Forget_Request& request);

// A journal without some of its values: all that these records and fields ever had, whatever their
// names were, including those of other records that had the same ids before or since. What else
// happened stays: the records, when they were inserted and deleted, and all other values.
//
// The table is the one that has this name, and all that had it when they were dropped; so are the
// fields.
//
// Not thread-safe. All functions throw Corruption_Error, Io_Error, std::bad_alloc.
class Forgetter {
 public:
  // `file` must outlive it, and not change. Reads it once. Throws Exception if it never had such a
  // table or field.
  Forgetter(Abstract_File& file, Forget_Request request);
  ~Forgetter();
  Forgetter(const Forgetter&) = delete;
  Forgetter& operator=(const Forgetter&) = delete;

  // How many values will be forgotten that are not the default of their type, and how many blobs
  // are left out, since no other value refers to them.
  index_t value_count() const { return value_count_; }
  index_t blob_count() const { return blob_count_; }

  // A transaction with such values.
  struct Place {
    Transaction_Info transaction;
    index_t values = 0;
  };
  // Calls f(place) for each, in their order. Reads the file.
  void for_each_place(const std::function<void(const Place&)>& f) const;

  // Appends everything else to an empty journal, and at the end a transaction that says what was
  // forgotten, by whom if that is not empty, and when. No checkpoint is written. The state at each
  // entry is the same as it was, but with default values, for all readers. Takes 24 bytes for each
  // blob. Throws Data_Error if the result could not be read.
  void write(Writable_Journal& journal, std::string_view author, std::int64_t now) const;

  // A forgotten text that stands in a file.
  struct Found {
    Offset position = 0;
    std::size_t size = 0;
    std::string place;  // "person 3 name", "a comment"
  };
  struct Proof {
    std::vector<Found> found;  // the first ones, by position
    index_t count = 0;         // of all
    index_t searched = 0;      // texts and blobs, those that are equal counted once, or more often
    index_t too_short = 0;     // texts that were not searched: Byte_Search::shortest
    index_t numbers = 0;       // values of other types, which were not searched
  };
  // Searches all bytes of what write() has made for the texts and blobs that were forgotten.
  // `limit`: so many of them are in memory (Byte_Search), and the files are read as often as that
  // needs. At most `max_found` places are kept.
  Proof prove(const Abstract_File& file, Offset end, std::size_t limit = 1'000'000,
              std::size_t max_found = 1000) const;
  // At how many places they stand in another file, whatever that is.
  index_t count_in(const Abstract_File& file, std::size_t limit = 1'000'000) const;

 private:
  // Calls found(position, size) for each place.
  void search(const Abstract_File& file, std::size_t limit, Proof& proof,
              const std::function<void(Offset, std::size_t)>& found) const;

  class Scope;
  class Survey;
  class Counter;
  class Copier;
  class Collector;
  class Finder;

  Abstract_File& file_;
  const Forget_Request request_;
  std::unique_ptr<Scope> scope_;
  Blob_Map blobs_;
  std::vector<bool> is_dropped_;    // by blob
  std::vector<bool> is_forgotten_;  // by blob: a forgotten value refers to it
  index_t value_count_ = 0;
  index_t blob_count_ = 0;
};

}  // namespace joedb::inline v1

#endif
