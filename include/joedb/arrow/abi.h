#ifndef JOEDB_ARROW_ABI_H
#define JOEDB_ARROW_ABI_H

#include <cstdint>

// The structs of the Arrow C data interface and the Arrow C stream interface, with the layout,
// names and guard macros of the specification of Apache Arrow
// (https://arrow.apache.org/docs/format/CDataInterface.html and CStreamInterface.html), so that
// other headers may define them, too.
extern "C" {

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

// The type of an array.
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;

  void (*release)(struct ArrowSchema*);  // null: released
  void* private_data;
};

// The values of an array.
struct ArrowArray {
  int64_t length;
  int64_t null_count;  // -1: unknown
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;

  void (*release)(struct ArrowArray*);  // null: released
  void* private_data;
};

#endif  // ARROW_C_DATA_INTERFACE

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

// A sequence of arrays of one type. get_schema and get_next return 0, or an errno value.
struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);  // released at the end
  const char* (*get_last_error)(struct ArrowArrayStream*);

  void (*release)(struct ArrowArrayStream*);  // null: released
  void* private_data;
};

#endif  // ARROW_C_STREAM_INTERFACE

}  // extern "C"
// NOLINTEND

#endif
