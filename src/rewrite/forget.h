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

// Returns the text for the request in the comment that write() appends: "person 3,7-9 name".
std::string to_text(const Forget_Request& request);

// Copies a journal, except the values to forget: all values that the requested fields of the
// requested records ever had. This includes values under former names of the table or field, and
// values of other records that had the same ids before or after. Everything else is copied: all
// other values, and all insertions and deletions of records.
//
// A table matches the requested name if this is its current name or, for a dropped table, its last
// name. The same holds for fields.
//
// Not thread-safe. All functions throw Corruption_Error, Io_Error and std::bad_alloc.
class Forgetter {
 public:
  // Reads the file twice. `file` must outlive this object, and must not change. Throws Exception if
  // the file never had a table or field that matches the request.
  Forgetter(Abstract_File& file, Forget_Request request);
  ~Forgetter();
  Forgetter(const Forgetter&) = delete;
  Forgetter& operator=(const Forgetter&) = delete;

  // Return the number of values to forget that are not the default of their type, and the number of
  // blobs that the copy omits because only forgotten values refer to them.
  index_t value_count() const { return value_count_; }
  index_t blob_count() const { return blob_count_; }

  // A transaction that wrote values to forget, and their number.
  struct Place {
    Transaction_Info transaction;
    index_t values = 0;
  };
  // Calls f(place) for each transaction that wrote values to forget, in order. Reads the file.
  void for_each_place(const std::function<void(const Place&)>& f) const;

  // Appends the copy to an empty journal, and then a transaction with a comment about the request,
  // the time `now` in seconds since 1970, and the author unless empty. Makes no checkpoint. After
  // each entry, the state is the same as in the source, except that forgotten values are the
  // default of their type. Takes 24 bytes of memory per blob. Throws Data_Error if the result would
  // be unreadable.
  void write(Writable_Journal& journal, std::string_view author, std::int64_t now) const;

  // A forgotten text or blob that was found in a file.
  struct Found {
    Offset position = 0;
    std::size_t size = 0;
    std::string place;  // "person 3 name", "a comment"
  };
  struct Proof {
    std::vector<Found> found;  // the first matches, by position
    index_t count = 0;         // number of all matches
    index_t searched = 0;      // texts and blobs searched for; duplicates count once per pass
    index_t too_short = 0;     // not searched for, because they are below Byte_Search::shortest
    index_t numbers = 0;       // values of other types, which are not searched for
  };
  // Searches all bytes of a file, written by write(), for forgotten texts and blobs. `end` is the
  // end of its entries. At most `limit` texts and blobs are in memory at a time (Byte_Search). If
  // there are more, both files are read several times. Returns at most `max_found` matches.
  Proof prove(const Abstract_File& file, Offset end, std::size_t limit = 1'000'000,
              std::size_t max_found = 1000) const;
  // Returns how often forgotten texts and blobs occur in another file, of any format.
  index_t count_matches(const Abstract_File& file, std::size_t limit = 1'000'000) const;

 private:
  // Calls found(position, size) for each match.
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
  std::vector<bool> is_dropped_;    // by blob: the copy omits it
  std::vector<bool> is_forgotten_;  // by blob: a forgotten value refers to it
  index_t value_count_ = 0;
  index_t blob_count_ = 0;
};

}  // namespace joedb::inline v1

#endif
