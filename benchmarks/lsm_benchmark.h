// The same with a log-structured merge tree: LevelDB or RocksDB, which is `store` here; the source
// that includes this says which. The key is the number of the row, or the word; each value ends in
// the number that is added up.

#ifndef BENCHMARKS_LSM_BENCHMARK_H
#define BENCHMARKS_LSM_BENCHMARK_H

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

#include "command_line.h"
#include "log_entry.h"

static void require(const store::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

static std::unique_ptr<store::DB> open_database(
    const char* file, std::size_t memtable = store::Options().write_buffer_size) {
  store::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = memtable;
  store::DB* db = nullptr;
  require(store::DB::Open(options, file, &db));
  return std::unique_ptr<store::DB>(db);
}

static store::WriteOptions with_sync(bool sync) {
  store::WriteOptions options;
  options.sync = sync;
  return options;
}

// Keys have the order of their bytes.
class Row {
 public:
  explicit Row(std::int64_t number) : key_(__builtin_bswap64(static_cast<std::uint64_t>(number))) {
    value_.number = number;
  }
  store::Slice key() const { return {reinterpret_cast<const char*>(&key_), sizeof key_}; }
  store::Slice value() const { return {reinterpret_cast<const char*>(&value_), sizeof value_}; }

 private:
  std::uint64_t key_;
  Row_Value value_;
};

static std::int64_t last_number(const store::Slice& value) {
  std::int64_t number;
  std::memcpy(&number, value.data() + value.size() - sizeof number, sizeof number);
  return number;
}

// put(batch, i) for all rows, 1000 in each batch; the last one also waits for the disk.
template <class Put>
static void insert_in_batches(std::int64_t rows, const char* file, Put put) {
  const auto db = open_database(file);
  store::WriteBatch batch;
  for (std::int64_t i = 1; i <= rows; ++i) {
    put(batch, i);
    if (i % 1000 == 0 || i == rows) {
      require(db->Write(with_sync(i == rows), &batch));
      batch.Clear();
    }
  }
}

static void insert_rows(std::int64_t rows, const char* file) {
  insert_in_batches(rows, file, [](store::WriteBatch& batch, std::int64_t i) {
    const Row row(i);
    batch.Put(row.key(), row.value());
  });
}

static void insert_words(std::int64_t rows, const char* file) {
  insert_in_batches(rows, file, [](store::WriteBatch& batch, std::int64_t i) {
    batch.Put(text_of(i), store::Slice(reinterpret_cast<const char*>(&i), sizeof i));
  });
}

static void commit_per_row(std::int64_t rows, const char* file, bool sync) {
  const auto db = open_database(file);
  for (std::int64_t i = 1; i <= rows; ++i) {
    const Row row(i);
    require(db->Put(with_sync(sync), row.key(), row.value()));
  }
}

static void durable_commit_per_row(std::int64_t rows, const char* file) {
  commit_per_row(rows, file, true);
}

static void commit_per_row_without_sync(std::int64_t rows, const char* file) {
  commit_per_row(rows, file, false);
}

// A log of entries, each with its number as its key. The memtable is so large that nothing but the
// log is written: entries of 200 MB fit. Who wants a log has the memtable all the same.
static void append(std::int64_t entries, const char* file, bool sync) {
  const auto db = open_database(file, std::size_t{1} << 28);
  Log_Entry entry;
  for (std::int64_t i = 1; i <= entries; ++i) {
    const Row key(i);
    const std::string_view text = entry.text(i);
    require(db->Put(with_sync(sync), key.key(), store::Slice(text.data(), text.size())));
  }
}

static void append_entries(std::int64_t entries, const char* file) { append(entries, file, false); }

static void append_and_sync_each(std::int64_t entries, const char* file) {
  append(entries, file, true);
}

// In the order of the keys: of rows and of words.
static void open_and_walk(std::int64_t rows, const char* file) {
  const auto db = open_database(file);
  const std::unique_ptr<store::Iterator> row(db->NewIterator(store::ReadOptions()));
  std::int64_t sum = 0;
  for (row->SeekToFirst(); row->Valid(); row->Next()) sum += last_number(row->value());
  require(row->status());
  require_sum(rows, sum);
}

static void open_and_find(std::int64_t rows, const char* file) {
  const auto db = open_database(file);
  std::int64_t sum = 0;
  std::string value;
  for (std::int64_t i = 0; i < rows; ++i) {
    require(db->Get(store::ReadOptions(), text_of(jump(i, rows)), &value));
    sum += last_number(value);
  }
  require_sum(rows, sum);
}

int main(int argc, char** argv) {
  constexpr Case cases[] = {
      {"insert_rows", insert_rows},
      {"durable_commit_per_row", durable_commit_per_row},
      {"commit_per_row_without_sync", commit_per_row_without_sync},
      {"open_and_sum", open_and_walk},
      {"insert_words", insert_words},
      {"open_and_find", open_and_find},
      {"open_and_walk", open_and_walk},
      {"append", append_entries},
      {"append_and_sync_each", append_and_sync_each},
  };
  return run_case(cases, argc, argv);
}

#endif
