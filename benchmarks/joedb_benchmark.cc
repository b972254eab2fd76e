// joedb, as a program would use it.

#include <mutex>
#include <thread>
#include <vector>

#include "bench/readonly.h"
#include "bench/writable.h"
#include "command_line.h"
#include "joedb/io/mapped_file.h"

static void insert_rows(std::int64_t N, const char* file) {
  bench::File_Database db(file);

  for (int i = 1; i <= N; i++) db.new_benchmark("TOTO", i);

  db.hard_checkpoint();
}

static void insert_vectors(std::int64_t rows, const char* file) {
  const auto N = static_cast<std::size_t>(rows);
  bench::File_Database db(file);

  auto v = db.new_vector_of_benchmark(N);

  db.update_vector_of_name(v, N, [N](joedb::Span<std::string> name) {
    for (size_t i = 0; i < N; i++) name[i] = "TOTO";
  });

  db.update_vector_of_value(v, N, [N](joedb::Span<int64_t> value) {
    for (size_t i = 0; i < N; i++) value[i] = int64_t(i + 1);
  });

  db.hard_checkpoint();
}

static void hard_checkpoint_per_row(std::int64_t N, const char* file) {
  bench::File_Database db(file);
  for (int i = 1; i <= N; i++) {
    db.new_benchmark("TOTO", i);
    db.hard_checkpoint();
  }
}

static void hard_checkpoint_per_row_preallocated(std::int64_t N, const char* file) {
  joedb::Journal_Options options;
  options.preallocation = 1 << 20;
  bench::File_Database db(file, joedb::Open_Mode::write_existing_or_create_new, options);
  for (int i = 1; i <= N; i++) {
    db.new_benchmark("TOTO", i);
    db.hard_checkpoint();
  }
}

static void hard_checkpoint_per_row_without_seals(std::int64_t N, const char* file) {
  joedb::Journal_Options options;
  options.has_seals = false;
  bench::File_Database db(file, joedb::Open_Mode::write_existing_or_create_new, options);
  for (int i = 1; i <= N; i++) {
    db.new_benchmark("TOTO", i);
    db.hard_checkpoint();
  }
}

// Eight threads, each waiting for its own rows to be durable.
static void group_commit_per_row(std::int64_t N, const char* file) {
  constexpr int writers = 8;
  bench::File_Database db(file);
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (int writer = 0; writer < writers; ++writer)
    threads.emplace_back([&] {
      for (std::int64_t i = 0; i < N / writers; ++i) {
        std::unique_lock lock(mutex);
        db.new_benchmark("TOTO", i);
        const joedb::Offset position = db.hard_checkpoint_async();
        db.wait(position, lock);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

static void soft_checkpoint_per_row(std::int64_t N, const char* file) {
  bench::File_Database db(file);
  for (int i = 1; i <= N; i++) {
    db.new_benchmark("TOTO", i);
    db.soft_checkpoint();
  }
}

static void soft_checkpoint_per_row_mapped(std::int64_t N, const char* name) {
  joedb::Mapped_File file(name);
  bench::Writable_Database db(file);
  for (int i = 1; i <= N; i++) {
    db.new_benchmark("TOTO", i);
    db.soft_checkpoint();
  }
}

static void open_and_sum(std::int64_t N, const char* file) {
  const bench::Readonly_Database db(file);
  std::int64_t sum = 0;
  for (const auto id : db.get_benchmark_table()) sum += db.get_value(id);
  require_sum(N, sum);
}

static void insert_words(std::int64_t N, const char* file) {
  bench::File_Database db(file);
  for (std::int64_t i = 1; i <= N; i++) db.new_word(text_of(i), i);
  db.hard_checkpoint();
}

static void open_and_find(std::int64_t N, const char* file) {
  const bench::Readonly_Database db(file);
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < N; i++)
    sum += db.get_number(db.find_word_by_text(text_of(jump(i, N))));
  require_sum(N, sum);
}

static void open_and_walk(std::int64_t N, const char* file) {
  const bench::Readonly_Database db(file);
  std::int64_t sum = 0;
  for (const auto& [text, word] : db.get_index_of_word_by_text()) sum += db.get_number(word);
  require_sum(N, sum);
}

// ---- with a snapshot ----------------------------------------------------------------------------

static void write_snapshot(std::int64_t, const char* file) {
  bench::File_Database db(file);
  if (!db.write_snapshot()) throw joedb::Exception("no snapshot");
}

static void open_and_find_one(std::int64_t N, const char* file) {
  const bench::Readonly_Database db(file);
  if (db.get_number(db.find_word_by_text(text_of(N / 3))) != N / 3)
    throw joedb::Exception("wrong number");
}

// ---- changes of a file that insert_rows made ---------------------------------------------------

static void update_rows(std::int64_t N, const char* file) {
  bench::File_Database db(file);
  for (std::int64_t i = 0; i < N / 10; i++)
    db.set_value(bench::id_of_benchmark{random_row(i, N) - 1}, i);
  db.hard_checkpoint();
}

static void delete_rows(std::int64_t N, const char* file) {
  bench::File_Database db(file);
  for (std::int64_t i = 0; i < N; i++) db.delete_benchmark(bench::id_of_benchmark{jump(i, N) - 1});
  db.hard_checkpoint();
}

// Leaves one row of ten.
static void make_holes(std::int64_t N, const char* file) {
  bench::File_Database db(file);
  for (std::int64_t i = 1; i <= N; i++) db.new_benchmark("TOTO", i);
  for (std::int64_t i = 0; i < N; i++)
    if (const auto row = jump(i, N) - 1; row % 10 != 0)
      db.delete_benchmark(bench::id_of_benchmark{row});
  db.hard_checkpoint();
}

static void open_and_sum_between_holes(std::int64_t N, const char* file) {
  const bench::Readonly_Database db(file);
  std::int64_t count = 0;
  for (const auto id : db.get_benchmark_table()) count += db.get_value(id) % 10;
  if (count != (N + 9) / 10) throw joedb::Exception("wrong sum");
}

// Each row takes the place of the one that was just deleted.
static void insert_and_delete(std::int64_t N, const char* file) {
  bench::File_Database db(file);
  for (std::int64_t i = 1; i <= N; i++) db.delete_benchmark(db.new_benchmark("TOTO", i));
  db.hard_checkpoint();
}

// ---- one file, several processes ----------------------------------------------------------------

static void share(std::int64_t N, const char* file) {
  bench::File_Client client(file);
  for (std::int64_t i = 1; i <= N; i++)
    client.transaction([i](bench::Writable_Database& db) { db.new_benchmark("TOTO", i); });
}

static void share_by_two(std::int64_t N, const char* file) { in_two_processes(share, N, file); }

int main(int argc, char** argv) {
  constexpr Case cases[] = {
      {"insert_rows", insert_rows},
      {"insert_vectors", insert_vectors},
      {"hard_checkpoint_per_row", hard_checkpoint_per_row},
      {"hard_checkpoint_per_row_preallocated", hard_checkpoint_per_row_preallocated},
      {"hard_checkpoint_per_row_without_seals", hard_checkpoint_per_row_without_seals},
      {"group_commit_per_row", group_commit_per_row},
      {"soft_checkpoint_per_row", soft_checkpoint_per_row},
      {"soft_checkpoint_per_row_mapped", soft_checkpoint_per_row_mapped},
      {"open_and_sum", open_and_sum},
      {"insert_words", insert_words},
      {"open_and_find", open_and_find},
      {"open_and_walk", open_and_walk},
      {"write_snapshot", write_snapshot},
      {"open_and_find_one", open_and_find_one},
      {"update_rows", update_rows},
      {"delete_rows", delete_rows},
      {"make_holes", make_holes},
      {"open_and_sum_between_holes", open_and_sum_between_holes},
      {"insert_and_delete", insert_and_delete},
      {"share", share},
      {"share_by_two", share_by_two},
  };
  return run_case(cases, argc, argv);
}
