#ifndef JOEDB_ARROW_EXPORT_H
#define JOEDB_ARROW_EXPORT_H

#include <memory>
#include <optional>
#include <vector>

#include "joedb/arrow/abi.h"
#include "joedb/arrow/pins.h"
#include "joedb/io/file.h"

namespace joedb::inline v1 {

// Arrow type of exported texts.
enum class Arrow_Text {
  large_utf8,  // "U": every reader of Arrow knows it; the texts are copied
  utf8_view,   // "vu": 16 bytes are written for each text; long texts stay where they are
  binary,      // "Z": any bytes, copied
};

// Treatment of a text that is not UTF-8, which Arrow requires of large_utf8 and utf8_view. Most
// readers do not check this, and fail later, or worse.
enum class Arrow_Invalid_Text {
  error,
  replace,  // each byte that is not UTF-8 becomes U+FFFD
};

struct Arrow_Options {
  // The fields to export, in this order; by default all, in the order of their ids.
  std::optional<std::vector<Field_Id>> fields = {};
  // True: the first column is `__id`, the ids of the records.
  bool with_ids = false;
  Arrow_Text text = Arrow_Text::large_utf8;
  Arrow_Invalid_Text invalid_text = Arrow_Invalid_Text::error;
  // The file from which the bytes of blobs are read: that of the database, or another object for
  // the same file. It is kept as long as the stream; blobs are read in the thread that asks for a
  // batch. A writer must have flushed them. If null, blobs are exported as their positions and
  // sizes.
  std::shared_ptr<const Abstract_File> blob_file = {};
  // Maximum number of rows in a batch; at least 1.
  index_t max_rows = index_t{1} << 20;
  // Minimum number of records with consecutive ids for a batch whose columns are not copied.
  // Shorter runs, which deleted records separate, are collected in batches whose columns are
  // copied.
  index_t min_run = 2048;
};

// Makes a stream of the records of a table, in the order of their ids. It holds their values at the
// time of the call, however late it is read. Each item is a struct with a child for each field; a
// table without records yields no items.
//
//     int8, int16, int32, int64    c, s, i, l      the memory of the column: not copied
//     float32, float64             f, g            the same
//     boolean                      b               copied, to bits
//     references                   l               copied; null for a null reference
//     string                       Arrow_Text
//     blob                         Z               with blob_file; null for a null blob
//                                  +s              else, of position and size
//
// Fields whose type does not follow from the Arrow type have it in their metadata as `joedb.type`:
// "references TABLE", "blob", and "string" for texts as bytes. create_table_for() reads it.
//
// The stream and its arrays stay valid and keep their values until they are released, whatever
// happens to the database, if its owner calls Arrow_Pins::before_change. They can be used by any
// thread, the stream by one at a time.
//
// Throws Data_Error if there is no such table or field, or if max_rows is below 1, and
// std::bad_alloc; then `out` is unchanged. The stream fails with EINVAL for a text that is not
// UTF-8 or is too long for a view (2 GiB or more), with EIO for a blob that cannot be read, and
// with ENOMEM. The text of the error names the field and, if known, the record. After an error,
// get_next tries the same batch again.
void export_table(Arrow_Pins& pins, Table_Id table, const Arrow_Options& options,
                  ArrowArrayStream* out);

}  // namespace joedb::inline v1

#endif
