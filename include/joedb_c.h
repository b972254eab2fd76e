#ifndef JOEDB_C_H
#define JOEDB_C_H

#include <stddef.h>
#include <stdint.h>

/* joedb for C, and for every language that can call C. Opens any database, without a compiled
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
 * This interface is stable: a program compiled with this header works with the library of every
 * later version that has the same JOEDB_C_VERSION_MAJOR. joedb_options begins with its size, so
 * that it can grow; joedb_value never grows.
 *
 * Functions return a code. JOEDB_OK (0) is success: the results are then stored through the last
 * arguments, such as `out`. These may be null if the result is not wanted, except in joedb_open,
 * joedb_at, joedb_get, joedb_read_blob and joedb_export_arrow. Any other code is a failure: results
 * are not stored, joedb_error_text() describes the error, and nothing has changed unless the
 * function, or "transactions" below, says otherwise.
 *
 * Text arguments are UTF-8, and end with a zero byte unless their size is passed. Arguments are
 * copied, except interrupt_argument: their memory may be reused after the call.
 *
 * Only one thread at a time may use a database; it need not be the same thread for all calls of a
 * transaction. After a fork, the child must not use the databases that its parent opened, not even
 * to close them. */

#ifdef __cplusplus
extern "C" {
#endif

#define JOEDB_C_VERSION_MAJOR 1
#define JOEDB_C_VERSION_MINOR 0

#ifndef JOEDB_C_API
#define JOEDB_C_API __attribute__((visibility("default")))
#endif

/* Returns the version of the library, "MAJOR.MINOR.PATCH". */
JOEDB_C_API const char* joedb_version(void);
/* Returns 256 * JOEDB_C_VERSION_MAJOR + JOEDB_C_VERSION_MINOR of the library. */
JOEDB_C_API int joedb_c_version(void);

/* ---- errors ---------------------------------------------------------------------------------- */

typedef int32_t joedb_code;
enum {
  JOEDB_OK = 0,
  JOEDB_ERROR = 1,  /* any error without a code of its own */
  JOEDB_MISUSE = 2, /* an argument is null, or an unknown number or flag */
  JOEDB_NO_MEMORY = 3,
  JOEDB_IO = 4,               /* a system call failed; errno is set */
  JOEDB_DISK_FULL = 5,        /* earlier writes are kept; free space, and open the file again */
  JOEDB_NO_FILE = 6,          /* the file does not exist */
  JOEDB_FILE_EXISTS = 7,      /* the file exists already */
  JOEDB_LOCKED = 8,           /* another program writes the file, or the wait timed out */
  JOEDB_WRITE_DISABLED = 9,   /* an earlier write or rollback failed; open the file again */
  JOEDB_CORRUPT = 10,         /* the file is damaged, or is not a joedb file */
  JOEDB_UNFINISHED = 11,      /* a writer was killed in a transaction: see joedb_options.recovery */
  JOEDB_DATA = 12,            /* no such table, field or record; an invalid name or value */
  JOEDB_CONNECTION_LOST = 13, /* the server cannot be reached, or the connection broke */
  JOEDB_REFUSED = 14,         /* the server refuses the request */
  JOEDB_DIVERGED = 15,        /* the file is not a copy of the server's database */
  JOEDB_INTERRUPTED = 16      /* joedb_options.interrupt returned a value other than 0 */
};

/* Returns the text of the last failure in this thread, truncated to 1023 bytes; empty if there was
 * none. Valid until the next failure in this thread. Success does not clear it. */
JOEDB_C_API const char* joedb_error_text(void);

/* ---- opening --------------------------------------------------------------------------------- */

typedef struct joedb_db joedb_db;

/* joedb_options.mode. For a database in memory, JOEDB_READ is an error and the others are the same.
 * A file with an exclusive writer can still be opened with JOEDB_READ. */
enum {
  JOEDB_WRITE_OR_NEW = 0, /* exclusive writer; creates the file if it does not exist */
  JOEDB_WRITE = 1,        /* exclusive writer; the file must exist */
  JOEDB_NEW = 2,          /* exclusive writer; the file must not exist */
  JOEDB_SHARED = 3,       /* one of several writers; creates the file if it does not exist */
  JOEDB_READ = 4          /* reader; joedb_pull reads what others have written since */
};

/* joedb_options.recovery: how a writer treats bytes after the checkpoint, left by a program that
 * was killed in a transaction. JOEDB_READ ignores these bytes. */
enum {
  JOEDB_RECOVERY_DEFAULT = 0,  /* KEEP for JOEDB_SHARED or with a server, otherwise NONE */
  JOEDB_RECOVERY_NONE = 1,     /* refuses the file with JOEDB_UNFINISHED */
  JOEDB_RECOVERY_KEEP = 2,     /* moves them to a new file, FILE.tail-POSITION */
  JOEDB_RECOVERY_OVERWRITE = 3 /* deletes them */
};

/* Zero is the default of every member but `size`. */
typedef struct joedb_options {
  size_t size; /* sizeof(joedb_options) */
  int32_t mode;
  int32_t recovery;
  int32_t is_hard;           /* commits survive a power cut, not only a crash of the program */
  int32_t has_no_timestamps; /* commits record no time, except those with `why` or `author` */
  double timeout; /* seconds to wait for others who write the file, 0: five, negative: no limit */
  /* Called every few milliseconds during a wait for the lock of a shared file, in joedb_pull, and
   * between attempts to reach a server. A result other than 0 ends the wait: the function that
   * waits fails with JOEDB_INTERRUPTED. Not called during a wait for the answer of a connected
   * server. It must not use this database: such calls fail with JOEDB_MISUSE. */
  int (*interrupt)(void*);
  void* interrupt_argument;
  /* joedb://HOST/DATABASE, or the path of a socket: the file becomes a copy of the server's
   * database. Not with JOEDB_READ. A lost connection is retried until `interrupt` ends that. */
  const char* server;
  const char* authority_file; /* PEM certificates of accepted authorities; default: the system's */
  const char* token_file;     /* credentials of this client: one line, NAME:TOKEN */
} joedb_options;

/* Opens a file, or a new database in memory if `path` is ":memory:". `options` may be null; if not,
 * its `size` must be set. The caller closes the result with joedb_close. */
JOEDB_C_API joedb_code joedb_open(const char* path, const joedb_options* options, joedb_db** out);
/* Rolls back an open transaction, makes committed changes survive a power cut, and frees `db`,
 * which may be null. Errors are only logged, to standard error. Arrow streams stay valid. */
JOEDB_C_API void joedb_close(joedb_db* db);

/* Opens a past state, for reading. `when` is a position as a decimal number, a time, such as
 * "2026-01-31", "2026-01-31 12:00" or "2 hours ago", in local time unless it ends in Z or an
 * offset like +0100, or the name of a tag; any other text is JOEDB_MISUSE. The caller closes the
 * result with joedb_close, before or after `db`. */
JOEDB_C_API joedb_code joedb_at(joedb_db* db, const char* when, joedb_db** out);
/* Returns the position of the checkpoint: the offset in the file up to which data is committed. */
JOEDB_C_API joedb_code joedb_checkpoint(joedb_db* db, int64_t* out);
/* Reads what others have written. If there is nothing new, waits for it up to `wait` seconds; 0:
 * does not wait. Returns the number of bytes read. Fails in a transaction. */
JOEDB_C_API joedb_code joedb_pull(joedb_db* db, double wait, int64_t* out);

/* ---- transactions ---------------------------------------------------------------------------- */

/* Without joedb_begin, each change is a transaction of its own. Changes fail with JOEDB_ERROR in a
 * database opened with JOEDB_READ or by joedb_at.
 *
 * If a rollback fails, no later transaction can begin: joedb_begin, and changes without it, fail
 * with JOEDB_WRITE_DISABLED. If the tables in memory then differ from the file, every function that
 * takes this database fails with that code, except joedb_close. */

/* Begins a transaction. With JOEDB_SHARED or a server, waits for the lock and reads what others
 * have written. `joedb log` shows `why` and `author`, which may be null. Fails in a
 * transaction. */
JOEDB_C_API joedb_code joedb_begin(joedb_db* db, const char* why, const char* author);
/* Commits and ends the transaction. If it fails, the transaction is ended, too, and its changes are
 * rolled back; but they stay if they were written to the file and only the server could not be
 * reached or the disk could not be synced. The same holds for each change without a transaction.
 *
 * An import can fail in the middle, for lack of memory or by a disk error; so can a change of
 * several values in a transaction that has already changed tables or fields, or imported. Then only
 * joedb_rollback is left: joedb_commit fails, and rolls everything back. */
JOEDB_C_API joedb_code joedb_commit(joedb_db* db);
/* Undoes the changes of the transaction, and ends it, even if it fails. After a failure, nothing
 * more can be written: close the database and open it again. */
JOEDB_C_API joedb_code joedb_rollback(joedb_db* db);
/* Makes all committed changes survive a power cut. Fails in a transaction. */
JOEDB_C_API joedb_code joedb_hard_checkpoint(joedb_db* db);

/* ---- the schema ------------------------------------------------------------------------------ */

typedef uint16_t joedb_table; /* number of a table: 1, 2, ... in the order of creation; 0: none */
typedef uint16_t joedb_field; /* number of a field in its table, likewise */

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
  /* Not types of fields, but of values to write: */
  JOEDB_BYTES = 11,  /* bytes to store as a new blob */
  JOEDB_NULL = 12,   /* no value */
  JOEDB_AS_TEXT = 13 /* the text of a value of any type */
};

/* Find a table or field by name. If there is none, `out` is 0, and the function succeeds. */
JOEDB_C_API joedb_code joedb_find_table(joedb_db* db, const char* name, joedb_table* out);
JOEDB_C_API joedb_code joedb_find_field(joedb_db* db, joedb_table table, const char* name,
                                        joedb_field* out);
/* Return the next table, or field, after the given number; the first one after 0, and 0 after the
 * last one. Dropped ones are skipped. */
JOEDB_C_API joedb_code joedb_next_table(joedb_db* db, joedb_table table, joedb_table* out);
JOEDB_C_API joedb_code joedb_next_field(joedb_db* db, joedb_table table, joedb_field field,
                                        joedb_field* out);
/* Names stay valid until the database changes, which includes reading what others have written:
 * joedb_pull, and transactions of a shared file. `referenced` is the table to which a reference
 * refers, and 0 for other types. */
JOEDB_C_API joedb_code joedb_table_name(joedb_db* db, joedb_table table, const char** out);
JOEDB_C_API joedb_code joedb_describe_field(joedb_db* db, joedb_table table, joedb_field field,
                                            const char** name, joedb_type* type,
                                            joedb_table* referenced);

/* Returns the declared type of a field, as joedbi writes it: "int32", "decimal(2) optional",
 * "enum(open,paid)", "references city". docs/logical_types.md describes these types. Valid until
 * the next joedb_field_type or joedb_get_text of this database. */
JOEDB_C_API joedb_code joedb_field_type(joedb_db* db, joedb_table table, joedb_field field,
                                        const char** out);

/* Names are identifiers. A name in use, or an invalid one, is JOEDB_DATA. `referenced` is ignored
 * unless the type is JOEDB_REFERENCE. Records have the default value in a new field. */
JOEDB_C_API joedb_code joedb_create_table(joedb_db* db, const char* name, joedb_table* out);
JOEDB_C_API joedb_code joedb_rename_table(joedb_db* db, joedb_table table, const char* name);
JOEDB_C_API joedb_code joedb_drop_table(joedb_db* db, joedb_table table);
JOEDB_C_API joedb_code joedb_add_field(joedb_db* db, joedb_table table, const char* name,
                                       joedb_type type, joedb_table referenced, joedb_field* out);
/* The same with a declared type. Records have no value in a new field that is optional. */
JOEDB_C_API joedb_code joedb_add_typed_field(joedb_db* db, joedb_table table, const char* name,
                                             const char* type, joedb_field* out);
/* Declares the type of a field that exists. Fails with JOEDB_DATA if the field is stored as another
 * type, or if a value would then mean something else. */
JOEDB_C_API joedb_code joedb_set_type(joedb_db* db, joedb_table table, joedb_field field,
                                      const char* type);
JOEDB_C_API joedb_code joedb_rename_field(joedb_db* db, joedb_table table, joedb_field field,
                                          const char* name);
JOEDB_C_API joedb_code joedb_drop_field(joedb_db* db, joedb_table table, joedb_field field);

/* ---- records --------------------------------------------------------------------------------- */

typedef struct joedb_value {
  joedb_type type;
  int32_t reserved; /* 0 */
  union {
    int64_t integer; /* int8 ... int64; boolean: 0 or 1; reference: the id, or -1 for null */
    double number;   /* float32, float64 */
    struct {
      const char* data; /* string, JOEDB_BYTES, JOEDB_AS_TEXT; may be null if size is 0 */
      size_t size;
    } bytes;
    struct {
      int64_t position; /* blob: its place in the file of this database; 0 for null */
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
/* For a field of type JOEDB_BLOB: bytes to store as a new blob. */
static inline joedb_value joedb_bytes(const char* data, size_t size) {
  joedb_value result = joedb_text(data, size);
  result.type = JOEDB_BYTES;
  return result;
}
/* No value: for a field that is optional, a reference or a blob. */
static inline joedb_value joedb_null(void) {
  joedb_value result = joedb_text(NULL, 0);
  result.type = JOEDB_NULL;
  return result;
}
/* A value as text: "2026-01-31" for a date, "12.50" for a decimal, "paid" for an enumeration, and
 * others that joedb_get_text returns; for a field of any type but blob. */
static inline joedb_value joedb_as_text(const char* data, size_t size) {
  joedb_value result = joedb_text(data, size);
  result.type = JOEDB_AS_TEXT;
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

/* Inserts a record with the given values; its other fields have no value if they are optional, or
 * else default values. Returns its id, which may be that of a deleted record to which no reference
 * refers. A value must have the stored type of its field, which joedb_describe_field returns, or
 * one of the types that are not types of fields, and fit it: JOEDB_DATA otherwise. */
JOEDB_C_API joedb_code joedb_insert(joedb_db* db, joedb_table table, size_t count,
                                    const joedb_field* fields, const joedb_value* values,
                                    int64_t* record);
/* Sets all of the given fields, or none; joedb_commit describes the exception. Values are as for
 * joedb_insert. */
JOEDB_C_API joedb_code joedb_update(joedb_db* db, joedb_table table, int64_t record, size_t count,
                                    const joedb_field* fields, const joedb_value* values);
/* Deletes a record. First does what the rules of references to it say (docs/logical_types.md): this
 * can change or delete other records. If a rule refuses it, JOEDB_DATA, and nothing has changed. */
JOEDB_C_API joedb_code joedb_delete(joedb_db* db, joedb_table table, int64_t record);

/* Returns the number of records in a table. */
JOEDB_C_API joedb_code joedb_count(joedb_db* db, joedb_table table, int64_t* out);
/* Returns the next record after `record`, in the order of ids; the first one after -1, and -1 after
 * the last one. `record` itself may have been deleted. */
JOEDB_C_API joedb_code joedb_next(joedb_db* db, joedb_table table, int64_t record, int64_t* out);
/* Reads a value. A string is followed by a zero byte, which its size does not count, and stays
 * valid until the database changes, as names do. */
JOEDB_C_API joedb_code joedb_get(joedb_db* db, joedb_table table, int64_t record, joedb_field field,
                                 joedb_value* out);
/* Sets `out` to 1 if a field has no value, and to 0 if it has one. joedb_get returns the stored
 * value also for a date or another declared type, and of an optional field without a value, the one
 * that stands for it. */
JOEDB_C_API joedb_code joedb_is_null(joedb_db* db, joedb_table table, int64_t record,
                                     joedb_field field, int* out);
/* Reads a value as text. `out` is null if the field has no value. A string is its text, without
 * quotes. A value that the declared type does not have is written as it is stored. A blob is
 * JOEDB_DATA. The text is followed by a zero byte, and valid as that of joedb_field_type. */
JOEDB_C_API joedb_code joedb_get_text(joedb_db* db, joedb_table table, int64_t record,
                                      joedb_field field, const char** out, size_t* size);
/* Reads the bytes of a blob that joedb_get has returned into out[0, is.blob.size). `out` may be
 * null if the size is 0. */
JOEDB_C_API joedb_code joedb_read_blob(joedb_db* db, const joedb_value* blob, char* out);

/* ---- Arrow ----------------------------------------------------------------------------------- */

struct ArrowArrayStream; /* defined by the Arrow C stream interface */

/* IDS: the first column is `__id`. VIEWS: strings are exported as string views. */
enum { JOEDB_ARROW_IDS = 1, JOEDB_ARROW_VIEWS = 2 };

/* Exports the records of a table as they are now: later changes, and joedb_close, do not affect the
 * stream. Numbers are not copied. If `fields` is null, all fields are exported, and `count` is
 * ignored. Blobs cannot be exported in a transaction that has written something. The caller
 * releases the stream. */
JOEDB_C_API joedb_code joedb_export_arrow(joedb_db* db, joedb_table table, size_t count,
                                          const joedb_field* fields, unsigned flags,
                                          struct ArrowArrayStream* out);

/* NULL_IS_DEFAULT: null becomes the default value; without it, null is an error, except in
 * references and blobs. IGNORE_UNKNOWN: columns without a field of the same name are skipped;
 * without it, they are an error. ROUND: numbers are rounded to what a float32 or float64 field can
 * hold; without it, an inexact one is an error. */
enum { JOEDB_ARROW_NULL_IS_DEFAULT = 1, JOEDB_ARROW_IGNORE_UNKNOWN = 2, JOEDB_ARROW_ROUND = 4 };

/* Adds a record for each row of a stream. Columns go to the fields of the same name. Checks all
 * rows before it writes the first. Returns the number of rows, and the id of the first new record,
 * which the others follow; -1 if there are no rows. Releases the stream, even if it fails. */
JOEDB_C_API joedb_code joedb_import_arrow(joedb_db* db, joedb_table table,
                                          struct ArrowArrayStream* in, unsigned flags,
                                          int64_t* first, int64_t* count);

#ifdef __cplusplus
}
#endif

#endif
