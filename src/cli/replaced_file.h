#ifndef JOEDB_CLI_REPLACED_FILE_H
#define JOEDB_CLI_REPLACED_FILE_H

#include <string>

#include "cli/output.h"

// A database that a tool replaces by another one that it makes of it.

namespace joedb {

// Another name of the file, which it keeps when it is replaced.
class Kept_File {
 public:
  // Throws Io_Error, also if there is such a file. Without a name, does nothing.
  Kept_File(const std::string& path, std::string kept);
  // Once the file is replaced, this is the only name of the old one.
  ~Kept_File();
  Kept_File(const Kept_File&) = delete;
  Kept_File& operator=(const Kept_File&) = delete;

 private:
  const std::string path_;
  const std::string kept_;
};

// Opens the file that will be replaced; nobody else has it open, or will before it is replaced.
// Throws Exception if others have it open, it has several names, or it is empty; Io_Error.
class Replaced_File {
 public:
  explicit Replaced_File(const std::string& name);
  File& file() { return file_; }

  // Makes the new one by fill(file), removes snapshots of the old one, and gives it the name of
  // that, all at once. The old one keeps the name `kept`, if that is not empty. If anything fails,
  // nothing but these snapshots has changed; a process that is killed leaves no snapshot of the old
  // content beside the new one.
  template <class Fill>
  void replace(const std::string& kept, Fill&& fill) {
    New_File made(file_);
    fill(made);
    const Kept_File old(path_, kept);
    remove_snapshots(made);
    made.publish();
  }

 private:
  const std::string path_;
  File file_;
};

// "small.joedb: 120 bytes, 400 before (70.0 % saved)"
void print_saved(const std::string& name, Offset before, Offset after);

}  // namespace joedb

#endif
