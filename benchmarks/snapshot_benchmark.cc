// Files with a snapshot, each step timed inside of the process: SNAPSHOT_BENCHMARK STEP ROWS FILE
// prints one figure. Files are made by joedb_benchmark insert_rows (sum) and insert_words (others).

#include <chrono>
#include <fstream>
#include <vector>

#include "bench/readonly.h"
#include "bench/writable.h"
#include "command_line.h"

static double milliseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(now).count();
}

static void print(double figure) { std::printf("%.4f\n", figure); }

// KiB of a line of /proc/self/NAME.
static double memory_of(const char* name, const std::string& line_name) {
  std::ifstream file(std::string("/proc/self/") + name);
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(line_name)) return std::strtod(line.c_str() + line_name.size(), nullptr);
  return 0;
}

// ms: open, and add up a column.
static void sum(std::int64_t N, const char* file) {
  const double start = milliseconds();
  const bench::Readonly_Database db(file);
  std::int64_t sum = 0;
  for (const auto id : db.get_benchmark_table()) sum += db.get_value(id);
  print(milliseconds() - start);
  if (sum != N * (N + 1) / 2) throw joedb::Exception("wrong sum");
}

// ms: open, and find one text.
static void find_one(std::int64_t N, const char* file) {
  const double start = milliseconds();
  const bench::Readonly_Database db(file);
  const bool is_good = db.get_number(db.find_word_by_text(text_of(N / 3))) == N / 3;
  print(milliseconds() - start);
  if (!is_good) throw joedb::Exception("wrong number");
}

// ns: one of `count` finds in random order; the loop makes the keys.
static void find_some(std::int64_t N, const char* file, std::int64_t count) {
  const bench::Readonly_Database db(file);
  std::int64_t wrong = 0;
  const double start = milliseconds();
  for (std::int64_t i = 0; i < count; i++) {
    const std::int64_t row = random_row(i, N);
    wrong += db.get_number(db.find_word_by_text(text_of(row))) != row;
  }
  print(1e6 * (milliseconds() - start) / static_cast<double>(count));
  if (wrong > 0) throw joedb::Exception("wrong number");
}

static void find(std::int64_t N, const char* file) {
  find_some(N, file, std::min<std::int64_t>(N, 1'000'000));
}
static void find_20000(std::int64_t N, const char* file) { find_some(N, file, 20'000); }

// ms: write a snapshot of an open database, durable.
static void write(std::int64_t, const char* file) {
  bench::File_Database db(file);
  const double start = milliseconds();
  if (!db.write_snapshot()) throw joedb::Exception("no snapshot");
  print(milliseconds() - start);
}

// ms: open, change 10,000 rows in no order, one hard checkpoint, close.
static void change(std::int64_t N, const char* file) {
  const double start = milliseconds();
  {
    bench::File_Database db(file);
    for (std::int64_t i = 0; i < 10'000; i++)
      db.set_number(bench::id_of_word{random_row(i, N) - 1}, random_row(i, N));
    db.hard_checkpoint();
  }
  print(milliseconds() - start);
}

// us: the longest time that one of a million changes takes, and, before them, the start of a
// snapshot in the background.
static void longest_change(std::int64_t N, const char* file, bool has_snapshot) {
  bench::File_Database db(file);
  db.hard_checkpoint();
  double begin = milliseconds();
  if (has_snapshot) db.write_snapshot_in_background();
  double longest = milliseconds() - begin;
  for (std::int64_t i = 0; i < 1'000'000; i++) {
    begin = milliseconds();
    db.set_number(bench::id_of_word{random_row(i, N) - 1}, random_row(i, N));
    longest = std::max(longest, milliseconds() - begin);
  }
  db.wait_for_snapshot();
  db.rollback();
  print(1e3 * longest);
}
static void longest_change_alone(std::int64_t N, const char* file) {
  longest_change(N, file, false);
}
static void longest_change_with_snapshot(std::int64_t N, const char* file) {
  longest_change(N, file, true);
}

// MiB: what ten processes need together, each with the database open and all numbers read, beside
// what one of them needs: proportional shares.
static void ten_readers(std::int64_t, const char* file) {
  std::vector<int> children;
  for (int i = 0; i < 10; ++i) {
    int out[2];
    int go[2];
    if (pipe(out) != 0 || pipe(go) != 0) throw joedb::Exception("no pipe");
    if (fork() == 0) {
      const bench::Readonly_Database db(file);
      std::int64_t sum = 0;
      for (const auto id : db.get_word_table()) sum += db.get_number(id);
      char byte = sum != 0;
      if (::write(out[1], &byte, 1) != 1 || ::read(go[0], &byte, 1) != 1) std::_Exit(1);
      const double share = memory_of("smaps_rollup", "Pss:");
      if (::write(out[1], &share, sizeof share) != sizeof share) std::_Exit(1);
      ::read(go[0], &byte, 1);
      std::_Exit(0);
    }
    children.push_back(out[0]);
    children.push_back(go[1]);
  }
  double all = 0;
  char byte;
  for (std::size_t i = 0; i < children.size(); i += 2)
    if (::read(children[i], &byte, 1) != 1) throw joedb::Exception("a reader has failed");
  for (std::size_t i = 0; i < children.size(); i += 2) {
    double share = 0;
    if (::write(children[i + 1], &byte, 1) != 1 ||
        ::read(children[i], &share, sizeof share) != sizeof share)
      throw joedb::Exception("a reader has failed");
    all += share;
  }
  for (std::size_t i = 0; i < children.size(); i += 2) ::write(children[i + 1], &byte, 1);
  while (wait(nullptr) > 0) {
  }
  print(all / 1024);
}

static void one_reader(std::int64_t, const char* file) {
  const bench::Readonly_Database db(file);
  std::int64_t sum = 0;
  for (const auto id : db.get_word_table()) sum += db.get_number(id);
  print(sum == 0 ? 0 : memory_of("smaps_rollup", "Pss:") / 1024);
}

int main(int argc, char** argv) {
  constexpr Case cases[] = {{"sum", sum},
                            {"find_one", find_one},
                            {"find", find},
                            {"find_20000", find_20000},
                            {"write", write},
                            {"change", change},
                            {"longest_change_alone", longest_change_alone},
                            {"longest_change_with_snapshot", longest_change_with_snapshot},
                            {"one_reader", one_reader},
                            {"ten_readers", ten_readers}};
  return run_case(cases, argc, argv);
}
