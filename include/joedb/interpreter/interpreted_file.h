#ifndef JOEDB_INTERPRETER_INTERPRETED_FILE_H
#define JOEDB_INTERPRETER_INTERPRETED_FILE_H

#include <memory>
#include <string>

#include "joedb/io/locked_memory_file.h"
#include "joedb/io/posix_file.h"

namespace joedb::inline v1 {

// A text file of commands that looks like a journal file: for schemas and small databases that are
// kept with source code.
//
// The commands are run when it is opened; the journal they make is in memory only. Each checkpoint
// appends its new entries to the text, as commands, and an empty line. So the text has no tail, and
// a rollback does not change it. A crash in a checkpoint can leave a part of its commands in the
// text. Whole lines of these count when the file is opened again; a line without its end makes
// opening throw.
//
// Used by one thread at a time.
class Interpreted_File : public Abstract_File {
 public:
  // Throws what File throws; Exception for the first command that fails, with its line, if the text
  // does not end with an end of line, and, for a mode that writes, if a command ends it early
  // (quit). shared_write means write_existing_or_create_new: the file is never shared.
  Interpreted_File(const std::string& name, Open_Mode mode);
  ~Interpreted_File() override;

  Offset get_size() const override { return journal_.get_size(); }
  std::size_t pread(char* data, std::size_t size, Offset offset) const override {
    return journal_.pread(data, size, offset);
  }
  // A write of the checkpoint words appends the new entries to the text. Throws Io_Error.
  void pwrite(const char* data, std::size_t size, Offset offset) override;
  void sync() override { text_.sync(); }
  void datasync() override { text_.datasync(); }
  bool truncate(Offset size) override { return journal_.truncate(size); }
  void shared_lock(Offset, Offset) override {}
  void exclusive_lock(Offset, Offset) override {}
  void unlock(Offset, Offset) noexcept override {}

 private:
  void run(const std::string& text);
  void append_new_entries();

  File text_;
  Offset text_size_ = 0;
  Locked_Memory_File journal_;  // a server reads it in several threads

  // What turns new entries into text.
  struct Follower;
  std::unique_ptr<Follower> follower_;
};

}  // namespace joedb::inline v1

#endif
