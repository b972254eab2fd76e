#ifndef JOEDB_CLI_FILE_TRANSACTION_H
#define JOEDB_CLI_FILE_TRANSACTION_H

#include <functional>
#include <string>

#include "cli/arguments.h"
#include "joedb/table/writable_database.h"

namespace joedb {

// How a tool changes a database: all of it, or nothing.
struct Transaction_Options {
  std::string options_file;  // of indexes
  Recovery recovery = Recovery::none;
  bool has_no_seals = false;
  bool has_hard_checkpoint = false;
};
// --options, --recovery, --no_seals, --hard_checkpoint
void add_transaction_options(Options& options, Transaction_Options& transaction);

// The files that it takes: the modes that write.
inline constexpr File_Grammar transaction_grammar{Open_Mode::write_existing_or_create_new};
// The last words: IN FILE. The mode of FILE may stand before IN, too, as options do. Throws
// Usage_Error also for --read.
struct Import_Words {
  std::string in;
  File_Argument file;
};
Import_Words take_import_words(Words& words, const std::string& usage);

// Whether what is written to this file ends with a mark: not with --classic, and not in a text of
// commands, which people write.
bool ends_transactions(const Abstract_File& file);
// What a tool has written ends with a time stamp: it is a transaction of its own for the history.
void end_transaction(Writable_Database& database);

// Opens the database, calls change(database), ends the transaction, and writes a checkpoint; a
// shared file is locked meanwhile. If change() throws, everything is rolled back; a file that did
// not exist appears when it is complete.
void change_file(const File_Argument& file, const Transaction_Options& options,
                 const std::function<void(Writable_Database&)>& change);

// The same for a file that must exist, unless its mode says something else: it is not offered to
// make it.
void change_existing_file(const File_Argument& file, const Transaction_Options& options,
                          const std::function<void(Writable_Database&)>& change);

}  // namespace joedb

#endif
