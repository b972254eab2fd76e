#ifndef JOEDB_ARROW_ABI_H
#define JOEDB_ARROW_ABI_H

#include <cstdint>

// The structs of the Arrow C data interface and of the Arrow C stream interface, with the layout
// that the specification of Apache Arrow gives them
// (https://arrow.apache.org/docs/format/CDataInterface.html and CStreamInterface.html). Their names
// and the guard macros are those of the specification, so that other headers can define them, too.
// NOLINTBEGIN
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
  int64_t null_count;  // -1: not known
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

// Arrays of one type, one after the other. The first three return an errno value, or 0.
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
