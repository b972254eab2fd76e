#ifndef JOEDB_CLI_REPLACED_FILE_H
#define JOEDB_CLI_REPLACED_FILE_H

#include <string>

#include "tools/frame/output.h"

// Replaces a database by a new one that a tool makes from it.

namespace joedb {

// A second name (hard link) that keeps a file when another one replaces it.
class Kept_File {
 public:
  // Throws Io_Error, also if the name `kept` exists. A no-op if `kept` is empty.
  Kept_File(const std::string& path, std::string kept);
  // Removes the link unless the file was replaced: then it is the only name of the old file.
  ~Kept_File();
  Kept_File(const Kept_File&) = delete;
  Kept_File& operator=(const Kept_File&) = delete;

 private:
  const std::string path_;
  const std::string kept_;
};

// A file that will be replaced, opened exclusively: no other process can open it before it is
// replaced. The constructor throws Exception if another process has it open, it has several hard
// links, or it is empty; and Io_Error.
class Replaced_File {
 public:
  explicit Replaced_File(const std::string& name);
  File& file() { return file_; }

  // Makes a new file with fill(file), removes the snapshots of the old one, and atomically renames
  // the new one to the name of the old one. The old file keeps the name `kept`, unless that is
  // empty. If anything fails, nothing but these snapshots has changed. Snapshots are removed before
  // the rename, so a killed process leaves no snapshot of the old content beside the new file.
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

// For example "small.joedb: 120 bytes, 400 before (70.0 % saved)".
void print_saved(const std::string& name, Offset before, Offset after);

}  // namespace joedb

#endif
