// The same with LMDB: the key is the number of the row, or the word; each value ends in the number
// that is added up.

#include <lmdb.h>

#include <cstring>
#include <stdexcept>
#include <utility>

#include "command_line.h"

static void require(int result) {
  if (result != MDB_SUCCESS) throw std::runtime_error(mdb_strerror(result));
}

static MDB_val bytes_of(const void* data, std::size_t size) {
  return {size, const_cast<void*>(data)};
}

class Environment {
 public:
  explicit Environment(const char* file, unsigned flags = 0) {
    require(mdb_env_create(&environment_));
    require(mdb_env_set_mapsize(environment_, std::size_t{1} << 36));  // addresses, not bytes
    require(mdb_env_open(environment_, file, MDB_NOSUBDIR | flags, 0644));
  }
  ~Environment() { mdb_env_close(environment_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  MDB_env* get() const { return environment_; }

 private:
  MDB_env* environment_ = nullptr;
};

class Transaction {
 public:
  Transaction(const Environment& environment, unsigned flags, unsigned table_flags) {
    require(mdb_txn_begin(environment.get(), nullptr, flags, &transaction_));
    require(mdb_dbi_open(transaction_, nullptr, table_flags, &table_));
  }
  ~Transaction() { mdb_txn_abort(transaction_); }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  void put(MDB_val key, MDB_val value, unsigned flags) {
    require(mdb_put(transaction_, table_, &key, &value, flags));
  }
  std::int64_t number(MDB_val key) {
    MDB_val value;
    require(mdb_get(transaction_, table_, &key, &value));
    return last_number(value);
  }
  std::int64_t sum() {
    MDB_cursor* cursor = nullptr;
    require(mdb_cursor_open(transaction_, table_, &cursor));
    std::int64_t sum = 0;
    for (MDB_val key, value; mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == MDB_SUCCESS;)
      sum += last_number(value);
    mdb_cursor_close(cursor);
    return sum;
  }
  std::int64_t last_key() {
    MDB_cursor* cursor = nullptr;
    require(mdb_cursor_open(transaction_, table_, &cursor));
    MDB_val key, value;
    std::int64_t last = 0;
    if (mdb_cursor_get(cursor, &key, &value, MDB_LAST) == MDB_SUCCESS)
      std::memcpy(&last, key.mv_data, sizeof last);
    mdb_cursor_close(cursor);
    return last;
  }
  void commit() { require(mdb_txn_commit(std::exchange(transaction_, nullptr))); }

 private:
  static std::int64_t last_number(MDB_val value) {
    std::int64_t number;
    std::memcpy(&number, static_cast<char*>(value.mv_data) + value.mv_size - sizeof number,
                sizeof number);
    return number;
  }

  MDB_txn* transaction_ = nullptr;
  MDB_dbi table_ = 0;
};

static void put_row(Transaction& transaction, std::int64_t i) {
  Row_Value row;
  row.number = i;
  transaction.put(bytes_of(&i, sizeof i), bytes_of(&row, sizeof row), MDB_APPEND);
}

static void insert_rows(std::int64_t rows, const char* file) {
  const Environment environment(file);
  Transaction transaction(environment, 0, MDB_INTEGERKEY);
  for (std::int64_t i = 1; i <= rows; ++i) put_row(transaction, i);
  transaction.commit();
}

static void commit_per_row(std::int64_t rows, const char* file, unsigned flags) {
  const Environment environment(file, flags);
  for (std::int64_t i = 1; i <= rows; ++i) {
    Transaction transaction(environment, 0, MDB_INTEGERKEY);
    put_row(transaction, i);
    transaction.commit();
  }
}

static void durable_commit_per_row(std::int64_t rows, const char* file) {
  commit_per_row(rows, file, 0);
}

static void commit_per_row_without_sync(std::int64_t rows, const char* file) {
  commit_per_row(rows, file, MDB_NOSYNC);
}

static void insert_words(std::int64_t rows, const char* file) {
  const Environment environment(file);
  Transaction transaction(environment, 0, 0);
  for (std::int64_t i = 1; i <= rows; ++i) {
    const std::string text = text_of(i);
    transaction.put(bytes_of(text.data(), text.size()), bytes_of(&i, sizeof i), MDB_NOOVERWRITE);
  }
  transaction.commit();
}

// In the order of the keys: of rows and of words.
static void open_and_walk(std::int64_t rows, const char* file) {
  const Environment environment(file, MDB_RDONLY);
  require_sum(rows, Transaction(environment, MDB_RDONLY, 0).sum());
}

static void open_and_find(std::int64_t rows, const char* file) {
  const Environment environment(file, MDB_RDONLY);
  Transaction transaction(environment, MDB_RDONLY, 0);
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::string text = text_of(jump(i, rows));
    sum += transaction.number(bytes_of(text.data(), text.size()));
  }
  require_sum(rows, sum);
}

// 20,000 of the words, in no order. Where memory is scarce, reading ahead takes 40 times as long.
static void find_20000(std::int64_t rows, const char* file) {
  const Environment environment(file, MDB_RDONLY | MDB_NORDAHEAD);
  Transaction transaction(environment, MDB_RDONLY, 0);
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < 20'000; ++i) {
    const std::int64_t row = random_row(i, rows);
    const std::string text = text_of(row);
    wrong += transaction.number(bytes_of(text.data(), text.size())) != row;
  }
  require_sum(0, wrong);
}

// The other process also appends: the key is one more than the last one's.
static void share(std::int64_t rows, const char* file) {
  const Environment environment(file, MDB_NOSYNC);
  for (std::int64_t i = 1; i <= rows; ++i) {
    Transaction transaction(environment, 0, MDB_INTEGERKEY);
    put_row(transaction, transaction.last_key() + 1);
    transaction.commit();
  }
}

static void share_by_two(std::int64_t rows, const char* file) {
  in_two_processes(share, rows, file);
}

int main(int argc, char** argv) {
  constexpr Case cases[] = {
      {"insert_rows", insert_rows},
      {"durable_commit_per_row", durable_commit_per_row},
      {"commit_per_row_without_sync", commit_per_row_without_sync},
      {"open_and_sum", open_and_walk},
      {"insert_words", insert_words},
      {"open_and_find", open_and_find},
      {"find_20000", find_20000},
      {"open_and_walk", open_and_walk},
      {"share", share},
      {"share_by_two", share_by_two},
  };
  return run_case(cases, argc, argv);
}
