#ifndef JOEDB_INTERPRETER_INTERPRETED_FILE_H
#define JOEDB_INTERPRETER_INTERPRETED_FILE_H

#include <memory>
#include <string>

#include "joedb/io/memory_file.h"
#include "joedb/io/posix_file.h"

namespace joedb::inline v1 {

// A text file of commands that looks like a journal file: for schemas and small databases that are
// kept with source code.
//
// The commands are run when it is opened; the journal they make is in memory only. Each checkpoint
// appends its new entries to the text, as commands, and an empty line. So the text has no tail. A
// crash in a checkpoint can leave a part of its commands in the text; opening such a file throws.
class Interpreted_File : public Abstract_File {
 public:
  // Throws the first error of a command, with its line, and if the last line is not empty. The file
  // is never shared.
  Interpreted_File(const std::string& name, Open_Mode mode);
  ~Interpreted_File() override;

  Offset get_size() const override { return journal_.get_size(); }
  std::size_t pread(char* data, std::size_t size, Offset offset) const override {
    return journal_.pread(data, size, offset);
  }
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
  Memory_File journal_;

  // What turns new entries into text.
  struct Follower;
  std::unique_ptr<Follower> follower_;
};

}  // namespace joedb::inline v1

#endif
