#ifndef JOEDB_JOURNAL_RECOVERY_H
#define JOEDB_JOURNAL_RECOVERY_H

namespace joedb::inline v1 {

// Which part of a file is read, and what a writer does with the rest.
enum class Recovery {
  // Reads up to the checkpoint. A writer refuses a file with bytes after it.
  none,
  // Reads everything up to the end of the file, or to zeros left by a preallocating writer.
  ignore_header,
  // Reads up to the checkpoint. A writer truncates the file there.
  overwrite,
  // Reads up to the hard checkpoint. A writer truncates the file there; it requires that no other
  // process has the file open.
  hard,
  // Reads up to the checkpoint. A writer saves the bytes after it in a new file,
  // FILE.tail-POSITION, and truncates the file.
  keep,
  // For readers only: like ignore_header, and the signature need not be that of a joedb file.
  ignore_signature,
};

}  // namespace joedb::inline v1

#endif
