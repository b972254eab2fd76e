#ifndef JOEDB_CLI_ENTRY_FOLLOWER_H
#define JOEDB_CLI_ENTRY_FOLLOWER_H

#include <memory>

#include "cli/arguments.h"
#include "joedb/journal/readonly_journal.h"

namespace joedb {

// Does with the entries of a journal, as they arrive, what the option --db says.
class Entry_Follower {
 public:
  virtual ~Entry_Follower() = default;
  // Goes on to the checkpoint of the journal.
  virtual void advance(Readonly_Journal& journal) = 0;
};

// Prints to standard output. The first call of advance goes through all there is, which is not
// printed if only the tail is wanted. `blobs`: the file of the journal.
std::unique_ptr<Entry_Follower> make_entry_follower(Client_Options::Db db,
                                                    const Abstract_File& blobs);

}  // namespace joedb

#endif
