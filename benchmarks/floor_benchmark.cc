// What the machine itself needs for the same bytes, without any database: nothing is checked, all
// sizes are known, there is no schema. A database cannot be faster.

#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "command_line.h"
#include "raw_file.h"

// Zeroed memory in huge pages, as a column needs it.
template <class T>
static T* allocate(std::size_t count) {
  void* const memory = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  require(memory != MAP_FAILED);
  madvise(memory, count * sizeof(T), MADV_HUGEPAGE);
  return static_cast<T*>(memory);
}

struct Short_String {
  std::uint32_t size;
  char bytes[12];
};

// An inserted row is 18 bytes in the journal: append; update name; update value.
struct [[gnu::packed]] Row_Entry {
  char start[8] = {'\x0c', '\x13', '\x01', '\x04', 'T', 'O', 'T', 'O'};
  char value_start[2] = {'\x15', '\x02'};
  std::int64_t value = 0;
};
static_assert(sizeof(Row_Entry) == 18);

static void insert_rows(std::int64_t rows, const char* file) {
  constexpr std::size_t block_size = (std::size_t{1} << 20) / sizeof(Row_Entry);
  const auto count = static_cast<std::size_t>(rows);
  Raw_File out(file, O_CREAT | O_TRUNC | O_WRONLY);
  Row_Entry* const block = allocate<Row_Entry>(block_size);
  Short_String* const names = allocate<Short_String>(count);
  std::int64_t* const values = allocate<std::int64_t>(count);
  std::size_t used = 0;
  for (std::size_t i = 0; i < count; ++i) {
    Row_Entry entry;
    entry.value = static_cast<std::int64_t>(i + 1);
    block[used] = entry;
    names[i] = {4, "TOTO"};
    values[i] = entry.value;
    if (++used == block_size) {
      out.write(block, used * sizeof(Row_Entry));
      used = 0;
    }
  }
  out.write(block, used * sizeof(Row_Entry));
  out.sync();
}

static void insert_vectors(std::int64_t rows, const char* file) {
  constexpr std::size_t block_size = std::size_t{1} << 18;
  const auto count = static_cast<std::size_t>(rows);
  Raw_File out(file, O_CREAT | O_TRUNC | O_WRONLY);
  char* const block = allocate<char>(5 * block_size);
  Short_String* const names = allocate<Short_String>(count);
  std::int64_t* const values = allocate<std::int64_t>(count);
  std::size_t used = 0;
  for (std::size_t i = 0; i < count; ++i) {
    names[i] = {4, "TOTO"};
    std::memcpy(block + 5 * used, "\4TOTO", 5);
    if (++used == block_size) {
      out.write(block, 5 * used);
      used = 0;
    }
  }
  out.write(block, 5 * used);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<std::int64_t>(i + 1);
  out.write(values, count * sizeof(std::int64_t));
  out.sync();
}

static void append_and_datasync_per_row(std::int64_t rows, const char* file) {
  Raw_File out(file, O_CREAT | O_TRUNC | O_WRONLY);
  Row_Entry entry;
  for (std::int64_t i = 1; i <= rows; ++i) {
    entry.value = i;
    out.write(&entry, sizeof entry);
    out.datasync();
  }
}

// A row behind the others, and at the start of the file where they end.
template <class After_Each>
static void write_rows_and_ends(Raw_File& out, std::int64_t rows, After_Each after_each) {
  Row_Entry entry;
  for (std::int64_t i = 1; i <= rows; ++i) {
    entry.value = i;
    const auto offset = static_cast<off_t>(41 + (i - 1) * std::int64_t{sizeof entry});
    out.pwrite(&entry, sizeof entry, offset);
    out.pwrite(&offset, sizeof offset, 0);
    after_each();
  }
}

static void two_writes_per_row(std::int64_t rows, const char* file) {
  Raw_File out(file, O_CREAT | O_TRUNC | O_WRONLY);
  write_rows_and_ends(out, rows, [] {});
}

static void two_writes_and_datasync_per_row(std::int64_t rows, const char* file) {
  Raw_File out(file, O_CREAT | O_TRUNC | O_WRONLY);
  write_rows_and_ends(out, rows, [&] { out.datasync(); });
}

static void two_writes_to_zeros_and_datasync_per_row(std::int64_t rows, const char* file) {
  Raw_File out(file, O_CREAT | O_TRUNC | O_WRONLY);
  const std::vector<char> zeros(41 + static_cast<std::size_t>(rows) * sizeof(Row_Entry));
  out.write(zeros.data(), zeros.size());
  out.datasync();
  write_rows_and_ends(out, rows, [&] { out.datasync(); });
}

// Of a file made by insert_vectors: the column of values is at its end.
static void open_and_sum(std::int64_t rows, const char* file) {
  Raw_File in(file, O_RDONLY);
  struct stat status;
  require(fstat(in.descriptor(), &status) == 0);
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const mapping =
      mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, in.descriptor(), 0);
  require(mapping != MAP_FAILED);
  const char* const values = static_cast<const char*>(mapping) + 5 * rows;
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    std::int64_t value;
    std::memcpy(&value, values + 8 * i, sizeof value);
    sum += value;
  }
  require_sum(rows, sum);
}

// ---- a file that insert_rows made ---------------------------------------------------------------

struct Columns {
  Short_String* names;
  std::int64_t* values;
};

static Columns read_rows(std::int64_t rows, const char* file) {
  const auto count = static_cast<std::size_t>(rows);
  constexpr std::size_t block_size = (std::size_t{1} << 20) / sizeof(Row_Entry);
  Raw_File in(file, O_RDONLY);
  const Columns columns{allocate<Short_String>(count), allocate<std::int64_t>(count)};
  std::vector<Row_Entry> block(block_size);
  for (std::size_t i = 0; i < count;) {
    const std::size_t n = std::min(block_size, count - i);
    in.read(block.data(), n * sizeof(Row_Entry));
    for (std::size_t j = 0; j < n; ++i, ++j) {
      columns.names[i].size = static_cast<std::uint8_t>(block[j].start[3]);
      std::memcpy(columns.names[i].bytes, block[j].start + 4, 4);
      columns.values[i] = block[j].value;
    }
  }
  return columns;
}

static void open_rows_and_sum(std::int64_t rows, const char* file) {
  const Columns columns = read_rows(rows, file);
  require_sum(rows, std::accumulate(columns.values, columns.values + rows, std::int64_t{0}));
}

// The same of a file that insert_vectors made.
static void open_vectors_and_sum(std::int64_t rows, const char* file) {
  const auto count = static_cast<std::size_t>(rows);
  constexpr std::size_t block_size = std::size_t{1} << 18;
  Raw_File in(file, O_RDONLY);
  const Columns columns{allocate<Short_String>(count), allocate<std::int64_t>(count)};
  std::vector<char> block(5 * block_size);
  for (std::size_t i = 0; i < count;) {
    const std::size_t n = std::min(block_size, count - i);
    in.read(block.data(), 5 * n);
    for (std::size_t j = 0; j < n; ++i, ++j) {
      columns.names[i].size = static_cast<std::uint8_t>(block[5 * j]);
      std::memcpy(columns.names[i].bytes, &block[5 * j + 1], 4);
    }
  }
  in.read(columns.values, count * sizeof(std::int64_t));
  require_sum(rows, std::accumulate(columns.values, columns.values + rows, std::int64_t{0}));
}

// Appends `count` entries of Entry, each made by change(column, i), to the file.
template <class Entry, class Change>
static void change_rows(std::int64_t rows, const char* file, std::int64_t count, Change change) {
  const Columns columns = read_rows(rows, file);
  std::vector<Entry> entries;
  entries.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) entries.push_back(change(columns, i));
  Raw_File out(file, O_WRONLY | O_APPEND);
  out.write(entries.data(), entries.size() * sizeof(Entry));
  out.sync();
}

struct [[gnu::packed]] Update_Entry {
  char start = '\x07';
  std::uint32_t row;
  std::int64_t value;
};

static void update_rows(std::int64_t rows, const char* file) {
  change_rows<Update_Entry>(rows, file, rows / 10, [rows](const Columns& columns, std::int64_t i) {
    const std::int64_t row = random_row(i, rows) - 1;
    columns.values[row] = i;
    return Update_Entry{.row = static_cast<std::uint32_t>(row), .value = i};
  });
}

struct [[gnu::packed]] Delete_Entry {
  char start[2] = {'\x05', '\x01'};
  std::uint32_t row;
};

static void delete_rows(std::int64_t rows, const char* file) {
  change_rows<Delete_Entry>(rows, file, rows, [rows](const Columns& columns, std::int64_t i) {
    const std::int64_t row = jump(i, rows) - 1;
    columns.names[row] = {};
    columns.values[row] = 0;
    return Delete_Entry{.row = static_cast<std::uint32_t>(row)};
  });
}

// ---- one file, several processes ----------------------------------------------------------------

// Under a lock: reads where the end is, writes behind it, then writes where the end is now.
static void share(std::int64_t rows, const char* file) {
  Raw_File out(file, O_CREAT | O_RDWR);
  Row_Entry entry;
  for (std::int64_t i = 1; i <= rows; ++i) {
    require(flock(out.descriptor(), LOCK_EX) == 0);
    off_t end = 0;
    if (pread(out.descriptor(), &end, sizeof end, 0) == 0) end = sizeof end;
    entry.value = i;
    out.pwrite(&entry, sizeof entry, end);
    end += off_t{sizeof entry};
    out.pwrite(&end, sizeof end, 0);
    require(flock(out.descriptor(), LOCK_UN) == 0);
  }
}

static void share_by_two(std::int64_t rows, const char* file) {
  in_two_processes(share, rows, file);
}

// ---- texts for the tools ------------------------------------------------------------------------

static void write_commands(std::int64_t rows, const char* file) {
  std::ofstream out(file);
  out << "echo off\ncreate_table benchmark\nadd_field benchmark name string\n"
         "add_field benchmark value int64\n";
  for (std::int64_t i = 1; i <= rows; ++i)
    out << "insert_into benchmark " << i - 1 << " \"TOTO\" " << i << '\n';
}

static void write_sql(std::int64_t rows, const char* file) {
  std::ofstream out(file);
  out << "BEGIN TRANSACTION;\nCREATE TABLE BENCHMARK(NAME TEXT, VALUE INTEGER);\n";
  for (std::int64_t i = 1; i <= rows; ++i)
    out << "INSERT INTO BENCHMARK VALUES('TOTO', " << i << ");\n";
  out << "COMMIT;\n";
}

// ---- words: a std::map, and a file with its content ---------------------------------------------

struct Word {
  char text[16];
  std::int64_t number;
};
using Words = std::map<std::string, std::int64_t>;

static void insert_words(std::int64_t rows, const char* file) {
  Raw_File out(file, O_CREAT | O_TRUNC | O_WRONLY);
  Words words;
  std::vector<Word> all;
  for (std::int64_t i = 1; i <= rows; ++i) {
    const std::string text = text_of(i);
    words.emplace(text, i);
    Word& word = all.emplace_back();
    std::memcpy(word.text, text.data(), sizeof word.text);
    word.number = i;
  }
  out.write(all.data(), all.size() * sizeof(Word));
  out.sync();
}

static Words read_words(std::int64_t rows, const char* file) {
  Raw_File in(file, O_RDONLY);
  std::vector<Word> all(static_cast<std::size_t>(rows));
  in.read(all.data(), all.size() * sizeof(Word));
  Words words;
  for (const Word& word : all) words.emplace(std::string(word.text, sizeof word.text), word.number);
  return words;
}

static void open_and_find(std::int64_t rows, const char* file) {
  const Words words = read_words(rows, file);
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < rows; ++i) sum += words.find(text_of(jump(i, rows)))->second;
  require_sum(rows, sum);
}

static void open_and_walk(std::int64_t rows, const char* file) {
  std::int64_t sum = 0;
  for (const auto& [text, number] : read_words(rows, file)) sum += number;
  require_sum(rows, sum);
}

int main(int argc, char** argv) {
  constexpr Case cases[] = {
      {"insert_rows", insert_rows},
      {"insert_vectors", insert_vectors},
      {"append_and_datasync_per_row", append_and_datasync_per_row},
      {"two_writes_per_row", two_writes_per_row},
      {"two_writes_and_datasync_per_row", two_writes_and_datasync_per_row},
      {"two_writes_to_zeros_and_datasync_per_row", two_writes_to_zeros_and_datasync_per_row},
      {"open_and_sum", open_and_sum},
      {"open_rows_and_sum", open_rows_and_sum},
      {"open_vectors_and_sum", open_vectors_and_sum},
      {"update_rows", update_rows},
      {"delete_rows", delete_rows},
      {"share", share},
      {"share_by_two", share_by_two},
      {"write_commands", write_commands},
      {"write_sql", write_sql},
      {"insert_words", insert_words},
      {"open_and_find", open_and_find},
      {"open_and_walk", open_and_walk},
  };
  return run_case(cases, argc, argv);
}
