#ifndef JOEDB_C_H
#define JOEDB_C_H

#include <stddef.h>
#include <stdint.h>

/* joedb for programs in C, and in every language that can call C: any database, without a compiled
 * schema. The library is libjoedb_c.so.
 *
 *     joedb_db* db = NULL;
 *     joedb_table city;
 *     joedb_field name;
 *     int64_t oslo;
 *     joedb_value value = joedb_text("Oslo", 4);
 *     if (joedb_open("city.joedb", NULL, &db) || joedb_create_table(db, "city", &city) ||
 *         joedb_add_field(db, city, "name", JOEDB_STRING, 0, &name) ||
 *         joedb_insert(db, city, 1, &name, &value, &oslo))
 *       fprintf(stderr, "%s\n", joedb_error_text());
 *     joedb_close(db);
 *
 * This interface is stable: a program that was compiled with this header works with the library of
 * every later version with the same JOEDB_C_VERSION_MAJOR. joedb_options has its size in front, so
 * that it can grow; joedb_value never does.
 *
 * Functions return a code, 0 if all is well; then the results are in what the last arguments point
 * to, which may be null where nothing is said of it. Otherwise nothing has changed, unless the
 * function, or "transactions" below, says so; results are as before, and joedb_error_text() says
 * what has gone wrong.
 *
 * Texts that are given end with a zero byte, where no size stands beside them; they are UTF-8. A
 * database is used by one thread at a time. After a fork, the child may not touch what its parent
 * has opened, not even close it. */

#ifdef __cplusplus
extern "C" {
#endif

#define JOEDB_C_VERSION_MAJOR 1
#define JOEDB_C_VERSION_MINOR 0

#ifndef JOEDB_C_API
#define JOEDB_C_API __attribute__((visibility("default")))
#endif

/* The version of the library, "MAJOR.MINOR.PATCH". */
JOEDB_C_API const char* joedb_version(void);
/* 256 * JOEDB_C_VERSION_MAJOR + JOEDB_C_VERSION_MINOR of the library. */
JOEDB_C_API int joedb_c_version(void);

/* ---- errors ---------------------------------------------------------------------------------- */

typedef int32_t joedb_code;
enum {
  JOEDB_OK = 0,
  JOEDB_ERROR = 1,  /* anything without a code of its own */
  JOEDB_MISUSE = 2, /* a null pointer where none is allowed, an unknown number */
  JOEDB_NO_MEMORY = 3,
  JOEDB_IO = 4,        /* a system call has failed: errno is what it was */
  JOEDB_DISK_FULL = 5, /* what was written before is there; open the file again */
  JOEDB_NO_FILE = 6,   /* there is no such file */
  JOEDB_FILE_EXISTS = 7,
  JOEDB_LOCKED = 8,         /* somebody else is writing the file, alone, or for too long */
  JOEDB_WRITE_DISABLED = 9, /* a write has failed before; open the file again */
  JOEDB_CORRUPT = 10,       /* the bytes of the file are not what they should be */
  JOEDB_UNFINISHED = 11,    /* a program was killed in a transaction: see joedb_options.recovery */
  JOEDB_DATA = 12,          /* what does not fit the content: no such table, field or record */
  JOEDB_CONNECTION_LOST = 13, /* the server cannot be reached */
  JOEDB_REFUSED = 14,         /* the server refuses */
  JOEDB_DIVERGED = 15,        /* the file is no copy of what the server has */
  JOEDB_INTERRUPTED = 16      /* joedb_options.interrupt has returned something but 0 */
};

/* Of the last function of this thread that has returned a code but 0. Valid until the next one. */
JOEDB_C_API const char* joedb_error_text(void);

/* ---- opening --------------------------------------------------------------------------------- */

typedef struct joedb_db joedb_db;

/* joedb_options.mode. For a database in memory, all but JOEDB_READ are the same. */
enum {
  JOEDB_WRITE_OR_NEW = 0, /* alone; the file is made if it is not there */
  JOEDB_WRITE = 1,        /* alone; the file must be there */
  JOEDB_NEW = 2,          /* the file must not be there */
  JOEDB_SHARED = 3,       /* several programs write, one transaction at a time */
  JOEDB_READ = 4          /* others may write; joedb_pull reads it */
};

/* joedb_options.recovery */
enum {
  JOEDB_RECOVERY_DEFAULT = 0,  /* keep for a shared file, otherwise none */
  JOEDB_RECOVERY_NONE = 1,     /* a file that goes on behind its checkpoint is not opened */
  JOEDB_RECOVERY_KEEP = 2,     /* these bytes go to a file of their own, FILE.tail-POSITION */
  JOEDB_RECOVERY_OVERWRITE = 3 /* they are dropped */
};

/* Zeros are the default values. */
typedef struct joedb_options {
  size_t size; /* sizeof(joedb_options) */
  int32_t mode;
  int32_t recovery;
  int32_t is_hard;           /* transactions survive power cuts, not only the end of the program */
  int32_t has_no_timestamps; /* transactions have no time, unless they say why they are made */
  double timeout;            /* seconds to wait for others who write a shared file; 0: for ever */
  /* Called every few milliseconds while it waits for the lock of a shared file, in joedb_pull, and
   * between attempts to reach a server; 0: it goes on. It may not use this database. While a server
   * is silent, though it is connected, nothing is called. */
  int (*interrupt)(void*);
  void* interrupt_argument;
  /* joedb://HOST/DATABASE, or the path of a socket: the file is a copy. If the connection is lost,
   * it is made again and again, until `interrupt` ends that. */
  const char* server;
  const char* authority_file; /* whose certificates of servers are accepted */
  const char* token_file;     /* who this client is */
} joedb_options;

/* ":memory:" is a new database in memory. `options` may be null. Close it with joedb_close. */
JOEDB_C_API joedb_code joedb_open(const char* path, const joedb_options* options, joedb_db** out);
/* Ends a transaction without its changes. Null is possible. Arrow streams stay. */
JOEDB_C_API void joedb_close(joedb_db* db);

/* The state at a moment, for reading: a position as text, "2026-01-31", "2 hours ago", or the name
 * of a tag. Close it, too; before or after `db`. */
JOEDB_C_API joedb_code joedb_at(joedb_db* db, const char* when, joedb_db** out);
/* The position up to which everything counts. */
JOEDB_C_API joedb_code joedb_checkpoint(joedb_db* db, int64_t* out);
/* Reads what others have written, waiting for it up to so many seconds. The number of bytes. */
JOEDB_C_API joedb_code joedb_pull(joedb_db* db, double wait, int64_t* out);

/* ---- transactions: without one, each change is one --------------------------------------------
 */

/* `why` and `author` may be null: `joedb log` shows them. */
JOEDB_C_API joedb_code joedb_begin(joedb_db* db, const char* why, const char* author);
/* Ends it in any case. If it fails, the changes are taken back; but where the file was written and
 * only the server could not be reached, or the disk not be synced, they stay. So it is with each
 * change that is made without a transaction.
 *
 * If a change of several values, or an import, fails in the middle for want of memory or by the
 * disk, and the transaction has changed tables or fields before, or imported, then only
 * joedb_rollback is left: joedb_commit fails, and takes everything back. */
JOEDB_C_API joedb_code joedb_commit(joedb_db* db);
/* Ends it in any case: if it fails, nothing can be written any more. */
JOEDB_C_API joedb_code joedb_rollback(joedb_db* db);
/* What was written so far survives a power cut. Not in a transaction. */
JOEDB_C_API joedb_code joedb_hard_checkpoint(joedb_db* db);

/* ---- the schema ------------------------------------------------------------------------------ */

typedef uint16_t joedb_table; /* 1, 2, ... in the order of creation; 0: none */
typedef uint16_t joedb_field; /* the same, in its table */

typedef int32_t joedb_type;
enum {
  JOEDB_NONE = 0,
  JOEDB_STRING = 1,
  JOEDB_INT32 = 2,
  JOEDB_INT64 = 3,
  JOEDB_REFERENCE = 4,
  JOEDB_BOOLEAN = 5,
  JOEDB_FLOAT32 = 6,
  JOEDB_FLOAT64 = 7,
  JOEDB_INT8 = 8,
  JOEDB_INT16 = 9,
  JOEDB_BLOB = 10,
  JOEDB_BYTES = 11 /* no type of a field: bytes that are given for a blob */
};

/* 0 if there is no such table or field. */
JOEDB_C_API joedb_code joedb_find_table(joedb_db* db, const char* name, joedb_table* out);
JOEDB_C_API joedb_code joedb_find_field(joedb_db* db, joedb_table table, const char* name,
                                        joedb_field* out);
/* The next one that is there; the first behind 0; 0 at the end. */
JOEDB_C_API joedb_code joedb_next_table(joedb_db* db, joedb_table table, joedb_table* out);
JOEDB_C_API joedb_code joedb_next_field(joedb_db* db, joedb_table table, joedb_field field,
                                        joedb_field* out);
/* Names are valid until the database changes. `referenced`: of a reference, otherwise 0. */
JOEDB_C_API joedb_code joedb_table_name(joedb_db* db, joedb_table table, const char** out);
JOEDB_C_API joedb_code joedb_describe_field(joedb_db* db, joedb_table table, joedb_field field,
                                            const char** name, joedb_type* type,
                                            joedb_table* referenced);

JOEDB_C_API joedb_code joedb_create_table(joedb_db* db, const char* name, joedb_table* out);
JOEDB_C_API joedb_code joedb_rename_table(joedb_db* db, joedb_table table, const char* name);
JOEDB_C_API joedb_code joedb_drop_table(joedb_db* db, joedb_table table);
JOEDB_C_API joedb_code joedb_add_field(joedb_db* db, joedb_table table, const char* name,
                                       joedb_type type, joedb_table referenced, joedb_field* out);
JOEDB_C_API joedb_code joedb_rename_field(joedb_db* db, joedb_table table, joedb_field field,
                                          const char* name);
JOEDB_C_API joedb_code joedb_drop_field(joedb_db* db, joedb_table table, joedb_field field);

/* ---- records --------------------------------------------------------------------------------- */

typedef struct joedb_value {
  joedb_type type;
  int32_t reserved; /* 0 */
  union {
    int64_t integer; /* int8 ... int64; boolean, 0 or 1; reference, the id, or -1 for null */
    double number;   /* float32, float64 */
    struct {
      const char* data; /* a string; JOEDB_BYTES */
      size_t size;
    } bytes;
    struct {
      int64_t position; /* a blob, in the file of this database; 0 for null */
      int64_t size;
    } blob;
  } is;
} joedb_value;

static inline joedb_value joedb_integer(joedb_type type, int64_t value) {
  joedb_value result;
  result.type = type;
  result.reserved = 0;
  result.is.integer = value;
  return result;
}
static inline joedb_value joedb_number(joedb_type type, double value) {
  joedb_value result;
  result.type = type;
  result.reserved = 0;
  result.is.number = value;
  return result;
}
static inline joedb_value joedb_text(const char* data, size_t size) {
  joedb_value result;
  result.type = JOEDB_STRING;
  result.reserved = 0;
  result.is.bytes.data = data;
  result.is.bytes.size = size;
  return result;
}
/* For a field of type blob: bytes that become a blob of the file. */
static inline joedb_value joedb_bytes(const char* data, size_t size) {
  joedb_value result = joedb_text(data, size);
  result.type = JOEDB_BYTES;
  return result;
}
static inline joedb_value joedb_null_blob(void) {
  joedb_value result;
  result.type = JOEDB_BLOB;
  result.reserved = 0;
  result.is.blob.position = 0;
  result.is.blob.size = 0;
  return result;
}

/* Values have the type of their field; JOEDB_DATA if not, or for an integer that does not fit. */
JOEDB_C_API joedb_code joedb_insert(joedb_db* db, joedb_table table, size_t count,
                                    const joedb_field* fields, const joedb_value* values,
                                    int64_t* record);
/* All fields, or none. */
JOEDB_C_API joedb_code joedb_update(joedb_db* db, joedb_table table, int64_t record, size_t count,
                                    const joedb_field* fields, const joedb_value* values);
JOEDB_C_API joedb_code joedb_delete(joedb_db* db, joedb_table table, int64_t record);

JOEDB_C_API joedb_code joedb_count(joedb_db* db, joedb_table table, int64_t* out);
/* The next record, in the order of ids; the first behind -1; -1 at the end. */
JOEDB_C_API joedb_code joedb_next(joedb_db* db, joedb_table table, int64_t record, int64_t* out);
/* A string is valid until the database changes, and a zero byte stands behind it. */
JOEDB_C_API joedb_code joedb_get(joedb_db* db, joedb_table table, int64_t record, joedb_field field,
                                 joedb_value* out);
/* Reads the bytes of a blob that joedb_get has returned into out[0, is.blob.size). */
JOEDB_C_API joedb_code joedb_read_blob(joedb_db* db, const joedb_value* blob, char* out);

/* ---- Arrow ----------------------------------------------------------------------------------- */

struct ArrowArrayStream; /* of the Arrow C stream interface */

enum { JOEDB_ARROW_IDS = 1, JOEDB_ARROW_VIEWS = 2 };

/* The records of a table as they are now, however late they are read, and also after joedb_close:
 * numbers are not copied. `fields`: null for all. `flags`: a first column `__id`; strings as views.
 * Blobs are exported only where the transaction, if there is one, has not written anything yet. The
 * caller releases the stream. */
JOEDB_C_API joedb_code joedb_export_arrow(joedb_db* db, joedb_table table, size_t count,
                                          const joedb_field* fields, unsigned flags,
                                          struct ArrowArrayStream* out);

enum { JOEDB_ARROW_NULL_IS_DEFAULT = 1, JOEDB_ARROW_IGNORE_UNKNOWN = 2, JOEDB_ARROW_ROUND = 4 };

/* Adds a record for each row, by the names of the columns, and releases the stream in any case. All
 * of it is checked before anything is written. */
JOEDB_C_API joedb_code joedb_import_arrow(joedb_db* db, joedb_table table,
                                          struct ArrowArrayStream* in, unsigned flags,
                                          int64_t* first, int64_t* count);

#ifdef __cplusplus
}
#endif

#endif
