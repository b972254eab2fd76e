#ifndef JOEDB_SRC_TOOLS_FRAME_ENTRY_FOLLOWER_H
#define JOEDB_SRC_TOOLS_FRAME_ENTRY_FOLLOWER_H

#include <memory>

#include "joedb/journal/readonly_journal.h"
#include "text/entry_text.h"
#include "tools/frame/arguments.h"

namespace joedb {

// Handles the entries of a journal as they arrive. The option --db selects how.
class Entry_Follower {
 public:
  virtual ~Entry_Follower() = default;
  // Handles the entries up to the checkpoint of the journal.
  virtual void advance(Readonly_Journal& journal) = 0;
};

// Returns a follower that prints to standard output. The first call of advance() handles all
// existing entries, but prints nothing if `db` requests only the tail. `blobs` is the file of the
// journal.
std::unique_ptr<Entry_Follower> make_entry_follower(Client_Options::Db db,
                                                    const Abstract_File& blobs);

// Returns how to write strings in SQL: with --classic, as bytes.
Sql_Writer::Strings strings_in_sql();

}  // namespace joedb

#endif
