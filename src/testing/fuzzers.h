#ifndef TESTING_FUZZERS_H
#define TESTING_FUZZERS_H

#include <cstddef>
#include <string>
#include <string_view>

namespace joedb::testing {

// What the programs of tests/fuzz/ do with any bytes; the tests do it with the corpora. Each
// aborts, with a text on standard error, where a promise is broken. For journals: use_file
// (file_uses.h).

// The 41 bytes of a header, then two bytes for the size of the file, whose journal is always the
// same: the checkpoint is the one that the file format says.
void fuzz_header(std::string_view input);

// Commands of joedbi: what was accepted can be read back, and dumped as commands that make the same
// again.
void fuzz_interpreter(std::string_view input);

// A schema, a zero byte, and the text of a .joedbc file: they give an error or code.
void fuzz_compiler(std::string_view input);

// A write-ahead log: what is good is read, stays when the rest is removed, and is still there when
// a writer has gone on.
void fuzz_wal(std::string_view input);

// What clients send to a server: bytes of one, which come in pieces. After fuzz_next_client they
// are those of another of three; after fuzz_next_second, a second has passed. Nothing that is sent
// is longer than a block, and what the file has then can be opened.
inline constexpr std::string_view fuzz_next_client =
    "\xf0"
    "CLI";
inline constexpr std::string_view fuzz_next_second =
    "\xf0"
    "SEC";
void fuzz_server(std::string_view input);

// What a server sends to a client, which asks for what the next byte is a reply to. What the client
// then has can be opened.
void fuzz_client(std::string_view input);

// A byte that chooses options, then a CSV file or JSON lines: they are imported, or nothing is;
// what was imported is exported, and comes back as it was.
void fuzz_import(std::string_view input);

// A byte that chooses options, then a snapshot beside a journal that is always the same. With the
// last two bits of the byte, its hashes are made right: so anything can be in its sections (1, 3:
// the header fits, too). The database is opened with it, read, changed and saved again; what is not
// used changes nothing.
void fuzz_snapshot(std::string_view input);
inline constexpr std::size_t snapshot_page = 4096;
// Of two, which begin with different states of the journal.
std::string valid_snapshot(std::size_t i);

// Without SQLite there is none. A line that chooses a file, and lines that are used one after the
// other. The first letter of each says what its other bytes choose, or are:
//     q  a SELECT, whose rows must be those that SQLite's own tables give
//     i  the same, a part at a time, with others between
//     w  what a writer appends to the file; m marks a past state
//     d  a statement that writes, or that is about a transaction
//     o  joedb_close and joedb_open; c  CREATE VIRTUAL TABLE
//     s  SQL
// Or H and a joedb file of any bytes, about which there are SELECTs of all kinds.
void fuzz_sql(std::string_view input);

}  // namespace joedb::testing

#endif
