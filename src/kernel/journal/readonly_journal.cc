#include "joedb/journal/readonly_journal.h"

#include "kernel/io/file_pieces.h"

namespace joedb::inline v1 {

Readonly_Journal::Readonly_Journal(Abstract_File& file, Recovery recovery, bool checks_integrity)
    : file_(file), header_(file, checks_integrity), replay_(file, header_) {
  const File_Lock head(file_, head_lock, File_Lock::Kind::shared);
  if (file_.get_size() == 0)
    throw Corruption_Error(file_.get_name() + ": file is empty", 0, file_.get_name());
  header_.open(recovery, false);
  replay_.start_at(journal_start);
}

Offset Readonly_Journal::pull() {
  Offset size;
  {
    const File_Lock head(file_, head_lock, File_Lock::Kind::shared);
    size = header_.pull();
  }
  // The name may now refer to another file, which has the new entries.
  if (size == 0) file_.require_not_replaced();
  return size;
}

Offset save_tail(Abstract_File& file, Recovery recovery, Abstract_File& tail) {
  const Offset start = Readonly_Journal(file, recovery).get_checkpoint();
  return copy_end(file, start, tail);
}

}  // namespace joedb::inline v1
