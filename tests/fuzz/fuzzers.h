#ifndef JOEDB_TESTS_FUZZ_FUZZERS_H
#define JOEDB_TESTS_FUZZ_FUZZERS_H

#include <cstddef>
#include <string>
#include <string_view>

namespace joedb::testing {

// The functions that the fuzz targets call with arbitrary bytes, and corpus_test.cc with the
// corpora. Each one aborts, with a text on standard error, if a guarantee is broken. For journals:
// use_file (support/file_uses.h). mutate_NAME.cc makes inputs for the target NAME.

// The input is the 41 bytes of a header, then two bytes for the size of the file, whose journal is
// always the same. The selected checkpoint must be the one that the file format defines.
void fuzz_header(std::string_view input);

// The input is commands of joedbi. The effect of accepted commands must be readable from the file,
// and its dump must be commands that have the same effect.
void fuzz_interpreter(std::string_view input);

// The input is a schema, a zero byte, and the text of a .joedbc file. The result is an error or
// code.
void fuzz_compiler(std::string_view input);

// The input is a write-ahead log. Its valid entries can be read; they stay when the rest is
// removed, and are still there after a writer has appended to the log.
void fuzz_wal(std::string_view input);

// The input is what clients send to a server: bytes of one client, which come in pieces. After
// fuzz_next_client, the bytes are those of the next of three clients; after fuzz_next_second, a
// second has passed. The server must send nothing that is longer than a block, and must leave a
// file that can be opened.
inline constexpr std::string_view fuzz_next_client =
    "\xf0"
    "CLI";
inline constexpr std::string_view fuzz_next_second =
    "\xf0"
    "SEC";
void fuzz_server(std::string_view input);

// The input is what a server sends to a client, which makes the request that the next byte replies
// to. The client must have a file that can be opened.
void fuzz_client(std::string_view input);

// The input is a byte that chooses options, then a CSV file or JSON lines. Everything is imported,
// or nothing is. If the imported table is exported and imported again, it is unchanged.
void fuzz_import(std::string_view input);

// The input is a byte that chooses options, then a snapshot beside a journal that is always the
// same. If the low two bits of the byte are not 0, the hashes of the snapshot are corrected, so
// that its sections can have any content (1, 3: the rest of the header is corrected, too). The
// database is opened with the snapshot, read, changed and saved again. A snapshot that is not used
// must change nothing.
void fuzz_snapshot(std::string_view input);
inline constexpr std::size_t snapshot_page = 4096;
// Returns one of two valid snapshots, of different states of the journal.
std::string valid_snapshot(std::size_t i);

// Missing in builds without SQLite. The input is a line that chooses a file, and lines that are
// executed in order. The first letter of a line selects the action; the other bytes are its choices
// or its text:
//     q  a SELECT, whose rows must be those of SQLite's own tables
//     i  the same in several steps, with others in between
//     w  a writer appends to the file; m marks a past state
//     d  a statement that writes, or that begins or ends a transaction
//     o  joedb_close and joedb_open; c  CREATE VIRTUAL TABLE
//     s  SQL
// Or the input is H and a joedb file of arbitrary bytes, which is queried by SELECTs of all kinds.
void fuzz_sql(std::string_view input);

}  // namespace joedb::testing

#endif
