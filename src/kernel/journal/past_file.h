#ifndef JOEDB_SRC_KERNEL_JOURNAL_PAST_FILE_H
#define JOEDB_SRC_KERNEL_JOURNAL_PAST_FILE_H

#include <array>
#include <memory>
#include <string>

#include "joedb/format/header.h"
#include "joedb/io/file.h"
#include "kernel/io/file_identity.h"

namespace joedb::inline v1 {

// A read-only view of a journal as it was when it had `end` bytes: the file ends there, and its
// header has a hard checkpoint there. Nothing is copied or locked, because bytes before a
// checkpoint do not change. Snapshots beside the file can be used.
class Past_File : public Readonly_File, public Has_Identity {
 public:
  // `end` must be between two entries, and not past the end of the file. It may be past the
  // checkpoint.
  Past_File(std::shared_ptr<Abstract_File> file, Offset end);
  // `file` must outlive this object.
  Past_File(Abstract_File& file, Offset end)
      : Past_File(std::shared_ptr<Abstract_File>(std::shared_ptr<void>(), &file), end) {}

  Offset get_size() const override { return end_; }
  std::optional<File_Identity> identity() const override { return identity_of(*file_); }
  std::size_t pread(char* data, std::size_t size, Offset offset) const override;
  bool pread_cached(char* data, std::size_t size, Offset offset) const override;
  // The files beside it are read-only, too: open returns null for other modes, and the functions
  // that change names do nothing.
  std::unique_ptr<Abstract_Directory> beside() const override;
  // Returns null, because the reopened file would have the current state, and a tool could write to
  // it.
  std::unique_ptr<Abstract_File> reopen(Open_Mode) const override { return nullptr; }

 private:
  const std::shared_ptr<Abstract_File> file_;
  const Offset end_;
  const std::array<char, header_size> header_;
};

}  // namespace joedb::inline v1

#endif
