#ifndef JOEDB_ARROW_EXPORT_H
#define JOEDB_ARROW_EXPORT_H

#include <memory>
#include <optional>
#include <vector>

#include "joedb/arrow/abi.h"
#include "joedb/arrow/pins.h"
#include "joedb/io/file.h"

namespace joedb::inline v1 {

// How texts are exported.
enum class Arrow_Text {
  large_utf8,  // "U": every reader of Arrow knows it; the texts are copied
  utf8_view,   // "vu": only 16 bytes for each text are written; the texts stay where they are
  binary,      // "Z": any bytes, copied
};

// What happens to a text that is not UTF-8, which Arrow requires of large_utf8 and utf8_view: most
// readers do not check it, and fail later, or worse.
enum class Arrow_Invalid_Text {
  error,
  replace,  // what is not UTF-8 becomes U+FFFD
};

struct Arrow_Options {
  // The fields to export, in this order; by default all, in the order of their ids.
  std::optional<std::vector<Field_Id>> fields = {};
  // A first column `__id`, the ids of the records.
  bool with_ids = false;
  Arrow_Text text = Arrow_Text::large_utf8;
  Arrow_Invalid_Text invalid_text = Arrow_Invalid_Text::error;
  // Where the bytes of blobs are read from: the file of the database, or another object that reads
  // the same file. It is kept as long as the stream, and blobs are read in the thread that asks for
  // a batch. A writer must have flushed them. Without it, blobs are exported as their positions and
  // sizes.
  std::shared_ptr<const Abstract_File> blob_file = {};
  // Of one batch. At least 1.
  index_t max_rows = index_t{1} << 20;
  // The records of a batch whose columns are not copied have consecutive ids. Where so many are
  // not together, because records between them were deleted, columns are copied.
  index_t min_run = 2048;
};

// Makes a stream of the records of a table, in the order of their ids: what they are now, however
// late it is read. Each item is a struct with a child for each field; a table without records has
// no items.
//
//     int8, int16, int32, int64    c, s, i, l      the memory of the column: not copied
//     float32, float64             f, g            the same
//     boolean                      b               copied, to bits
//     references                   l               copied; null for a null reference
//     string                       Arrow_Text
//     blob                         Z               with blob_file; null for a null blob
//                                  +s              else, of position and size
//
// Fields whose type cannot be seen have it in their metadata as `joedb.type`: "references TABLE",
// "blob", and "string" for texts as bytes. create_table_for() reads it.
//
// The stream and its arrays stay valid and keep their values until they are released, whatever
// happens to the database, as long as its owner calls Arrow_Pins::before_change. They can be used
// by any thread, the stream by one at a time.
//
// Throws Data_Error if there is no such table or field, and std::bad_alloc; `out` has not changed
// then. The stream fails with EINVAL for a text that is not UTF-8 or is longer than a view can be
// (2 GiB), with EIO for a blob that cannot be read, and with ENOMEM. The text of the error names
// the record and the field.
void export_table(Arrow_Pins& pins, Table_Id table, const Arrow_Options& options,
                  ArrowArrayStream* out);

}  // namespace joedb::inline v1

#endif
