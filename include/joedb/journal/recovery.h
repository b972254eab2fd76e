#ifndef JOEDB_JOURNAL_RECOVERY_H
#define JOEDB_JOURNAL_RECOVERY_H

namespace joedb::inline v1 {

// Which part of a file is read, and what a writer does with the rest.
enum class Recovery {
  none,           // up to the checkpoint; a writer refuses a file that goes on behind it
  ignore_header,  // everything up to the end of the file, or to zeros that a preallocating writer
                  // left
  overwrite,      // up to the checkpoint; a writer truncates the file there
  hard,           // up to the hard checkpoint; a writer truncates the file there. It needs the
                  // file alone: nobody else may have it open
  keep,           // up to the checkpoint; a writer saves what stands behind it in a new file,
                  // FILE.tail-POSITION, and truncates the file
  ignore_signature,  // like ignore_header, and the file need not begin like a joedb file; for
                     // readers only
};

}  // namespace joedb::inline v1

#endif
