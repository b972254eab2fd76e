#ifndef JOEDB_IO_NAMED_FILE_H
#define JOEDB_IO_NAMED_FILE_H

#include "joedb/base/process_mark.h"
#include "joedb/io/file.h"

namespace joedb::inline v1 {

// A file that has a name in a directory. The first sync also syncs the directory: otherwise a power
// cut could lose the name of a new file, and so all its content.
//
// Every writable object does this once, even if it has not created the file: the process that
// created the file may have ended before its first sync.
class Named_File : public Abstract_File {
 public:
  using Abstract_File::Abstract_File;

  void sync() override {
    sync_content();
    sync_name();
  }
  void datasync() override {
    datasync_content();
    sync_name();
  }

  bool is_inherited() const override { return process_.is_inherited(); }

 protected:
  // For derived classes: sync_content and datasync_content are sync and datasync without the
  // directory; sync_directory syncs only the directory. They throw Io_Error. If the directory could
  // not be synced, the next sync tries again.
  virtual void sync_content() = 0;
  virtual void datasync_content() = 0;
  virtual void sync_directory() = 0;

  // Makes the next sync include the directory, because the file may be new or have a new name.
  void set_new_name() { has_new_name_ = true; }
  void sync_name() {
    if (!has_new_name_) return;
    sync_directory();
    has_new_name_ = false;
  }

 private:
  const Process_Mark process_;
  bool has_new_name_ = false;
};

}  // namespace joedb::inline v1

#endif
