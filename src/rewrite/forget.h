#ifndef JOEDB_SRC_REWRITE_FORGET_H
#define JOEDB_SRC_REWRITE_FORGET_H

#include <string>
#include <vector>

#include "joedb/history/changes.h"
#include "joedb/journal/writable_journal.h"
#include "rewrite/blob_map.h"
#include "rewrite/byte_search.h"

namespace joedb::inline v1 {

// The values of a database to forget.
struct Forget_Request {
  struct Records {
    Record_Id first;
    index_t size;
  };
  std::string table;
  std::vector<Records> records;     // empty: all
  std::vector<std::string> fields;  // empty: all
};

// Returns the request as the comment of write() states it: "person 3,7-9 name".
std::string to_text(const Forget_Request& request);

// Copies a journal without some of its values: without every value that the requested records and
// fields ever had, under any name of the table or field, and including the values of other records
// that had the same ids before or after. Everything else is kept: the records, when they were
// inserted and deleted, and all other values.
//
// A table matches the requested name if it has this name, or had it when it was dropped. The same
// holds for fields.
//
// Not thread-safe. All functions throw Corruption_Error, Io_Error and std::bad_alloc.
class Forgetter {
 public:
  // Reads the file twice. `file` must outlive this object, and must not change. Throws Exception if
  // the file has never had a table or field that matches the request.
  Forgetter(Abstract_File& file, Forget_Request request);
  ~Forgetter();
  Forgetter(const Forgetter&) = delete;
  Forgetter& operator=(const Forgetter&) = delete;

  // Number of values to forget that are not the default of their type, and number of blobs that the
  // copy omits, because only forgotten values refer to them.
  index_t value_count() const { return value_count_; }
  index_t blob_count() const { return blob_count_; }

  // A transaction that wrote values to forget.
  struct Place {
    Transaction_Info transaction;
    index_t values = 0;
  };
  // Calls f(place) for each such transaction, in their order. Reads the file.
  void for_each_place(const std::function<void(const Place&)>& f) const;

  // Appends everything else to an empty journal, and then a transaction that records the request,
  // the time `now` in seconds since 1970, and the author, unless empty. Writes no checkpoint. For
  // every reader, the state after each entry is the same as in the source, except that forgotten
  // values are the defaults. Takes 24 bytes of memory per blob. Throws Data_Error if the result
  // could not be read.
  void write(Writable_Journal& journal, std::string_view author, std::int64_t now) const;

  // A forgotten text or blob found in a file.
  struct Found {
    Offset position = 0;
    std::size_t size = 0;
    std::string place;  // "person 3 name", "a comment"
  };
  struct Proof {
    std::vector<Found> found;  // the first places, by position
    index_t count = 0;         // number of all places
    index_t searched = 0;      // texts and blobs searched for; duplicates count once per pass
    index_t too_short = 0;     // texts and blobs below Byte_Search::shortest, not searched for
    index_t numbers = 0;       // values of other types, not searched for
  };
  // Searches all bytes of a file that write() made for the forgotten texts and blobs. `end` is the
  // end of its entries. At most `limit` texts and blobs are in memory at a time (Byte_Search); if
  // there are more, both files are read several times. Keeps at most `max_found` places.
  Proof prove(const Abstract_File& file, Offset end, std::size_t limit = 1'000'000,
              std::size_t max_found = 1000) const;
  // Returns the number of places where forgotten texts and blobs are in another file, of any
  // format.
  index_t count_matches(const Abstract_File& file, std::size_t limit = 1'000'000) const;

 private:
  // Calls found(position, size) for each place.
  void search(const Abstract_File& file, std::size_t limit, Proof& proof,
              const std::function<void(Offset, std::size_t)>& found) const;

  class Scope;
  class Blob_Scan;
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
