#ifndef JOEDB_SRC_TOOLS_FRAME_FILE_TRANSACTION_H
#define JOEDB_SRC_TOOLS_FRAME_FILE_TRANSACTION_H

#include <functional>
#include <string>

#include "joedb/table/writable_database.h"
#include "tools/frame/arguments.h"

namespace joedb {

// Options of tools that change a database atomically.
struct Transaction_Options {
  std::string options_file;  // a .joedbc file that declares indexes
  Recovery recovery = Recovery::none;
  bool has_no_seals = false;
  bool has_hard_checkpoint = false;
};
// Adds --options, --recovery, --no-seals and --hard-checkpoint.
void add_transaction_options(Options& options, Transaction_Options& transaction);

// The syntax of the file for these tools: only modes that write.
inline constexpr File_Grammar transaction_grammar{Open_Mode::write_existing_or_create_new};
// The last words of a command line: FILE IN. IN FILE, the older order, is accepted if it is clear
// which of them is the database; the mode of FILE may then also precede IN. take_import_words()
// also throws Usage_Error for --read, and if a database would be made whose name ends like that of
// an input file: then a name of the other file is wrong, or there are two inputs.
struct Import_Words {
  std::string in;
  File_Argument file;
};
Import_Words take_import_words(Words& words, const std::string& usage);

// Returns true if a transaction in this file ends with a mark (Valid_Data or a time stamp). Returns
// false with --classic, and for a text file of commands, because people write such files.
bool ends_transactions(const Abstract_File& file);
// Appends a time stamp to the entries that a tool has written, so that they are one transaction in
// the history. Does nothing if there are none.
void end_transaction(Writable_Database& database);

// Holds the lock of a database in a shared file. Other writers wait for it.
class Write_Lock {
 public:
  explicit Write_Lock(Writable_Database& database)
      : database_(database), new_bytes_(database.lock_pull()) {}
  ~Write_Lock() { database_.unlock(); }
  Write_Lock(const Write_Lock&) = delete;
  Write_Lock& operator=(const Write_Lock&) = delete;
  // Returns true if other processes have written since this program last held the lock.
  bool has_news() const { return new_bytes_ > 0; }

 private:
  Writable_Database& database_;
  const Offset new_bytes_;
};

// Calls change(), ends the transaction, and makes a hard checkpoint. If anything throws, rolls
// everything back. The lock of a shared file must be held.
void run_in_transaction(Writable_Database& database, const std::function<void()>& change);

// Opens the database, calls change(database), ends the transaction, and makes a hard checkpoint.
// Meanwhile, a shared file is locked. If change() throws, rolls everything back. A new file appears
// only when it is complete.
void change_file(const File_Argument& file, const Transaction_Options& options,
                 const std::function<void(Writable_Database&)>& change);

// Calls change(database) for a copy of the database in memory, which is then dropped. Use this to
// show what change_file() would do.
void change_copy(const File_Argument& file, const Transaction_Options& options,
                 const std::function<void(Writable_Database&)>& change);

// Like change_file(), for a file that must exist, unless its mode creates a file. Does not offer to
// create it.
void change_existing_file(const File_Argument& file, const Transaction_Options& options,
                          const std::function<void(Writable_Database&)>& change);

}  // namespace joedb

#endif
