// A writer that can be killed. It adds rows to a database and prints a line for each event, so that
// a supervisor knows which rows were acknowledged and which were being written.
//
//   @ N    opened; this writer has N rows in the file
//   ? N    a transaction begins, after which it would have N
//   ! N    a soft checkpoint was made: these N rows must not be lost
//   # N    the same, with a hard checkpoint
//
// Row N of a writer is always the same (text_of), so the number of rows determines all their bytes.
// tests/crash/processes.py has the same rule.

#include <cstdint>
#include <exception>
#include <iostream>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "joedb/base/main_wrapper.h"
#include "joedb/io/mapped_file.h"
#include "joedb/io/posix_file.h"
#include "joedb/replica/clients.h"

namespace {

const char* const usage =
    R"(usage: crash_writer FILE [option...]

  --shared        share the file with other writers
  --writer N      the name of this one, in its rows (default 1)
  --rows N        stop at this number of rows (default 100)
  --per-commit N  at most so many rows in a transaction (default 1)
  --level LEVEL   of the checkpoints: soft, hard or mixed (default soft)
  --no-seals      two syncs for each hard checkpoint
  --preallocate N the file grows by so many bytes at a time (not shared)
  --mapped        the end of the file is mapped to memory (not shared)
  --integrity     an integrity entry before each checkpoint
  --threads N     so many, which share their hard checkpoints (not shared)
  --recovery R    none, overwrite, ignore_header or hard (default none)
  --seed N        for the choices (default 1)
)";

enum class Level { soft, hard, mixed };

struct Options {
  std::string file;
  bool is_shared = false;
  std::int64_t writer = 1;
  std::int64_t rows = 100;
  std::int64_t per_commit = 1;
  Level level = Level::soft;
  bool has_seals = true;
  bool is_mapped = false;
  bool has_integrity = false;
  joedb::Offset preallocation = 0;
  int threads = 0;
  joedb::Recovery recovery = joedb::Recovery::none;
  unsigned seed = 1;
};

template <class T>
struct Word {
  std::string_view word;
  T value;
};

template <class T, std::size_t size>
T find(std::string_view word, const Word<T> (&words)[size]) {
  for (const auto& w : words)
    if (w.word == word) return w.value;
  throw std::runtime_error("unknown word: " + std::string(word));
}

Options parse(const joedb::Arguments& arguments) {
  if (arguments.size() < 2) throw std::runtime_error(usage);
  Options options;
  options.file = arguments[1];
  for (int i = 2; i < arguments.size(); ++i) {
    const std::string_view name = arguments[i];
    if (name == "--shared" || name == "--no-seals" || name == "--mapped" || name == "--integrity") {
      options.is_shared |= name == "--shared";
      options.has_seals &= name != "--no-seals";
      options.is_mapped |= name == "--mapped";
      options.has_integrity |= name == "--integrity";
      continue;
    }
    if (i + 1 == arguments.size()) throw std::runtime_error(usage);
    const std::string value(arguments[++i]);
    if (name == "--writer")
      options.writer = std::stoll(value);
    else if (name == "--rows")
      options.rows = std::stoll(value);
    else if (name == "--per-commit")
      options.per_commit = std::stoll(value);
    else if (name == "--preallocate")
      options.preallocation = std::stoll(value);
    else if (name == "--threads")
      options.threads = std::stoi(value);
    else if (name == "--level")
      options.level = find<Level>(
          value, {{"soft", Level::soft}, {"hard", Level::hard}, {"mixed", Level::mixed}});
    else if (name == "--recovery")
      options.recovery =
          find<joedb::Recovery>(value, {{"none", joedb::Recovery::none},
                                        {"overwrite", joedb::Recovery::overwrite},
                                        {"ignore_header", joedb::Recovery::ignore_header},
                                        {"hard", joedb::Recovery::hard}});
    else if (name == "--seed")
      options.seed = static_cast<unsigned>(std::stoul(value));
    else
      throw std::runtime_error(usage);
  }
  return options;
}

// Prints each line by one system call, so that a kill cannot lose earlier lines.
void say(char event, std::int64_t rows) { std::cout << event << ' ' << rows << std::endl; }

// Some texts are larger than the first buffer of a journal, so that their transactions reach the
// file in pieces.
std::string text_of(std::int64_t number) {
  const auto size = static_cast<std::size_t>(number % 40 == 0 ? 9000 : 1 + number * 37 % 300);
  return std::string(size, static_cast<char>('a' + number % 26));
}

// The writer number of rows that will be rolled back.
constexpr std::int64_t nobody = -1;

constexpr joedb::Field_Id writer_field{1}, number_field{2}, text_field{3};

// ---- content of the database

const joedb::Table& rows_of(const joedb::Database& database) {
  const joedb::Table* const table = database.find_table("row");
  if (!table) throw std::runtime_error("there is no table row");
  return *table;
}

std::int64_t count_rows(const joedb::Database& database, std::int64_t writer) {
  const joedb::Table* const table = database.find_table("row");
  if (!table || table->fields().empty()) return 0;
  const auto& column = table->column<std::int64_t>(writer_field);
  std::int64_t count = 0;
  for (joedb::index_t id = 0; id < table->records().size(); ++id) count += column.get(id) == writer;
  return count;
}

// ---- changes, in the order of the entries of every file

// Writes the missing parts of the schema.
void write_schema(joedb::Writable_Database& db) {
  constexpr Word<joedb::Type_Code> fields[] = {{"writer", joedb::Type_Code::int64},
                                               {"number", joedb::Type_Code::int64},
                                               {"text", joedb::Type_Code::string}};
  if (!db.get_database().find_table("row")) db.write(joedb::Create_Table{"row"});
  const joedb::Table& table = rows_of(db.get_database());
  for (std::size_t i = table.fields().size(); i < std::size(fields); ++i)
    db.write(joedb::Add_Field{table.id(), fields[i].word, {fields[i].value, {}}});
}

void write_values(joedb::Writable_Database& db, joedb::Record_Id record, std::int64_t writer,
                  std::int64_t number, int first_field) {
  const joedb::Table_Id table = rows_of(db.get_database()).id();
  const std::string text = text_of(number);
  if (first_field <= 0) db.write(joedb::Update<std::int64_t>{table, record, writer_field, writer});
  if (first_field <= 1) db.write(joedb::Update<std::int64_t>{table, record, number_field, number});
  if (first_field <= 2) db.write(joedb::Update<std::string_view>{table, record, text_field, text});
}

void write_row(joedb::Writable_Database& db, std::int64_t writer, std::int64_t number) {
  const joedb::Table& table = rows_of(db.get_database());
  const joedb::Record_Id record(table.records().size());
  db.write(joedb::Insert{table.id(), record});
  write_values(db, record, writer, number, 0);
}

// Completes the last row: a tail that was adopted at recovery may end within a row.
void complete_last_row(joedb::Writable_Database& db, std::int64_t writer) {
  const joedb::Table& table = rows_of(db.get_database());
  if (table.records().size() == 0) return;
  const joedb::Record_Id record(table.records().size() - 1);
  const bool has_writer = table.column<std::int64_t>(writer_field).get(record.value()) != 0;
  const bool has_number = table.column<std::int64_t>(number_field).get(record.value()) != 0;
  const bool has_text = !table.column<std::string_view>(text_field).get(record.value()).empty();
  if (has_text) return;
  const std::int64_t number = count_rows(db.get_database(), writer) + (has_writer ? 0 : 1);
  write_values(db, record, writer, number, has_number ? 2 : has_writer ? 1 : 0);
}

// ---- the two kinds of writers

class Writer {
 public:
  explicit Writer(const Options& options) : options_(options), random_(options.seed) {}

  void run() {
    if (options_.is_shared) return run_shared();
    if (options_.is_mapped) {
      joedb::Mapped_File file(options_.file, mode, map_step);
      run_alone(file);
    } else {
      joedb::File file(options_.file, mode);
      run_alone(file);
    }
  }

 private:
  joedb::Journal_Options journal_options() const {
    joedb::Journal_Options options = options_.recovery;
    options.has_seals = options_.has_seals;
    if (options_.preallocation > 0) options.preallocation = options_.preallocation;
    return options;
  }

  static constexpr auto mode = joedb::Open_Mode::write_existing_or_create_new;
  static constexpr joedb::Offset map_step = 1 << 16;
  struct Forget {};

  bool choose(unsigned one_in) { return random_() % one_in == 0; }
  std::int64_t choose_size() {
    const std::int64_t left = options_.rows - count_;
    const auto any = static_cast<std::int64_t>(random_());
    return std::min(left, 1 + any % options_.per_commit);
  }
  bool choose_hard() {
    return options_.level == Level::hard || (options_.level == Level::mixed && choose(4));
  }

  void write_rows(joedb::Writable_Database& db, std::int64_t size) {
    for (std::int64_t i = 1; i <= size; ++i) write_row(db, options_.writer, count_ + i);
  }
  void write_invalid(joedb::Writable_Database& db) {
    for (std::int64_t i = 1; i <= 40; ++i) write_row(db, nobody, i);
  }

  // commit(size, is_hard) writes `size` rows and makes a checkpoint.
  template <class Commit>
  void commit_all(Commit commit) {
    while (count_ < options_.rows) {
      const std::int64_t size = choose_size();
      const bool is_hard = choose_hard();
      say('?', count_ + size);
      commit(size, is_hard);
      count_ += size;
      say(is_hard ? '#' : '!', count_);
    }
  }

  void run_alone(joedb::Abstract_File& file) {
    joedb::Writable_Database db(file, journal_options());
    if (count_rows(db.get_database(), nobody) > 0)
      throw std::runtime_error("a tail to be rolled back was adopted");
    write_schema(db);
    complete_last_row(db, options_.writer);
    count_ = count_rows(db.get_database(), options_.writer);
    say('@', count_);
    if (options_.has_integrity) db.enable_integrity();
    if (options_.threads > 0) return commit_in_threads(db);
    commit_all([&](std::int64_t size, bool is_hard) {
      if (db.ahead_of_checkpoint() == 0 && choose(8)) {
        write_invalid(db);
        db.rollback();
      }
      write_rows(db, size);
      if (is_hard)
        db.hard_checkpoint();
      else
        db.soft_checkpoint();
    });
  }

  // Each thread adds its rows in turn, and waits while others add theirs.
  void commit_in_threads(joedb::Writable_Database& db) {
    std::mutex mutex;
    std::exception_ptr error;
    std::int64_t durable = count_;
    const auto work = [&] {
      std::unique_lock lock(mutex);
      try {
        while (count_ < options_.rows && !error) {
          const std::int64_t size = choose_size(), end = count_ + size;
          say('?', end);
          write_rows(db, size);
          count_ = end;
          db.wait(db.hard_checkpoint_async(), lock);
          if (end > durable) say('#', durable = end);
        }
      } catch (...) {
        error = std::current_exception();
      }
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < options_.threads; ++i) threads.emplace_back(work);
    for (std::thread& thread : threads) thread.join();
    if (error) std::rethrow_exception(error);
  }

  void run_shared() {
    joedb::File file(options_.file, joedb::Open_Mode::shared_write);
    joedb::Writable_Database_Client client(file, joedb::Connection::dummy,
                                           joedb::Content_Check::fast, journal_options());
    count_ = count_rows(client.get_database(), options_.writer);
    say('@', count_);
    commit_all([&](std::int64_t size, bool is_hard) {
      if (choose(8)) forget(client);
      client.set_hard_checkpoint(is_hard);
      client.transaction([&](const joedb::Database&, joedb::Writable_Database& db) {
        if (options_.has_integrity) db.enable_integrity();
        write_schema(db);
        write_rows(db, size);
      });
    });
  }

  void forget(joedb::Writable_Database_Client& client) {
    try {
      client.transaction([&](const joedb::Database&, joedb::Writable_Database& db) {
        write_schema(db);
        write_invalid(db);
        throw Forget();
      });
    } catch (const Forget&) {
      client.rollback();  // no-op, unless the rollback of the transaction failed
    }
  }

  const Options options_;
  std::mt19937 random_;
  std::int64_t count_ = 0;  // number of rows of this writer
};

void run(const joedb::Arguments& arguments) { Writer(parse(arguments)).run(); }

}  // namespace

int main(int argc, char** argv) { return joedb::main_wrapper(run, argc, argv); }
