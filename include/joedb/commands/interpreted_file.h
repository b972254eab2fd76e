#ifndef JOEDB_COMMANDS_INTERPRETED_FILE_H
#define JOEDB_COMMANDS_INTERPRETED_FILE_H

#include <memory>
#include <string>

#include "joedb/io/memory_file.h"
#include "joedb/io/posix_file.h"

namespace joedb::inline v1 {

// A text file of joedbi commands that is used like a journal file. For schemas and small databases
// that are stored with source code.
//
// Opening the file runs its commands; the resulting journal exists only in memory. Each checkpoint
// appends the new entries to the text, as commands, followed by an empty line. The text therefore
// never has a tail past the checkpoint, and a rollback does not change it. A crash during a
// checkpoint can leave some of its commands in the text. When the file is opened again, these
// commands are run; if the last line is incomplete, opening throws.
//
// A mode that creates files, other than create_new, creates the text with the first new entries.
//
// One thread at a time may write, while others read the journal.
class Interpreted_File : public Abstract_File {
 public:
  // Opens the text file and runs its commands. `shared_write` is treated as
  // `write_existing_or_create_new`: the file is never shared. Throws the exceptions of File. Throws
  // Exception, with the number of the line, if a command fails, if the last line has no end of
  // line, or if, in a mode that writes, the command `quit` is before the end of the text.
  Interpreted_File(const std::string& name, Open_Mode mode);
  ~Interpreted_File() override;

  Offset get_size() const override { return journal_.get_size(); }
  std::size_t pread(char* data, std::size_t size, Offset offset) const override {
    return journal_.pread(data, size, offset);
  }
  // Writes to the journal in memory. A write to the checkpoint words also appends the new entries
  // to the text. Throws Io_Error.
  void pwrite(const char* data, std::size_t size, Offset offset) override;
  void sync() override {
    if (text_) text_->sync();
  }
  void datasync() override {
    if (text_) text_->datasync();
  }
  bool truncate(Offset size) override { return journal_.truncate(size); }
  // Locks do nothing, because the file is never shared.
  void shared_lock(Offset, Offset) override {}
  void exclusive_lock(Offset, Offset) override {}
  void unlock(Offset, Offset) noexcept override {}

 private:
  void run(const std::string& text);
  void append_new_entries();

  std::unique_ptr<File> text_;  // null: it does not exist yet
  Offset text_size_ = 0;
  Locked_Memory_File journal_;  // a server reads it from several threads

  // Converts new entries to text.
  struct Follower;
  std::unique_ptr<Follower> follower_;
};

}  // namespace joedb::inline v1

#endif
