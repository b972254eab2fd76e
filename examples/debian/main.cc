// Debian packages in a joedb database: loads package indexes, and answers questions about them.

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <thread>

#include "debian/readonly.h"
#include "debian/writable.h"
#include "index_reader.h"
#include "loader.h"
#include "progress.h"
#include "questions.h"
#include "text.h"

static constexpr const char* usage =
    "usage: debian_packages COMMAND DATABASE [PACKAGE]\n\n"
    "  load DB < INDEX   make DB agree with a package index; write only what differs\n"
    "  questions DB      which packages, sections and maintainers stand out\n"
    "  show DB PACKAGE   everything about one package\n"
    "  count DB          number of records in each table\n"
    "  slow-writer DB    add invented packages, slowly, until killed\n\n"
    "For example: apt-cache dumpavail | debian_packages load packages.joedb\n";

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// ---- load ---------------------------------------------------------------------------------------

static constexpr std::int64_t versions_per_transaction = 1000;

// The size of what stands on standard input, if it is a file.
static std::optional<std::int64_t> input_size() {
  std::error_code error;
  const std::filesystem::path input = "/dev/stdin";
  if (!std::filesystem::is_regular_file(input, error)) return std::nullopt;
  return static_cast<std::int64_t>(std::filesystem::file_size(input));
}

static std::int64_t count_rows(const debian::Database& db) {
  return static_cast<std::int64_t>(
      db.get_section_table().get_size() + db.get_maintainer_table().get_size() +
      db.get_package_table().get_size() + db.get_version_table().get_size() +
      db.get_dependency_table().get_size());
}

static void load_index(debian::Writable_Database& db, Loader& loader) {
  std::ios::sync_with_stdio(false);
  Index_Reader reader(std::cin);
  Progress progress(input_size());
  while (const Paragraph* const paragraph = reader.next()) {
    loader.load(*paragraph);
    if (loader.counts().read % versions_per_transaction == 0) db.soft_checkpoint();
    progress.show(reader.bytes_read(), loader.counts().read);
  }
  if (loader.counts().read == 0) throw Index_Error(1, "this index is empty");
  loader.delete_unmentioned();
  db.hard_checkpoint();
}

static int load(const std::string& file) {
  if (isatty(STDIN_FILENO) == 1) {
    std::fputs(
        "load reads a package index from standard input, for example:\n"
        "apt-cache dumpavail | debian_packages load packages.joedb\n",
        stderr);
    return 2;
  }
  const Stopwatch total;
  debian::File_Database db(file);
  const std::int64_t old_rows = count_rows(db), old_size = db.get_journal().get_checkpoint();
  Loader loader(db);
  const double open_seconds = total.seconds();
  try {
    load_index(db, loader);
  } catch (...) {
    db.rollback();
    throw;
  }
  const Loader::Counts& counts = loader.counts();
  const std::int64_t rows = count_rows(db), size = db.get_journal().get_checkpoint();
  const double seconds = total.seconds() - open_seconds;
  std::printf("%s versions read: %s added, %s changed, %s deleted\n", grouped(counts.read).c_str(),
              grouped(counts.added).c_str(), grouped(counts.changed).c_str(),
              grouped(counts.deleted).c_str());
  std::printf("%s rows, a journal of %s bytes, %s of them new\n", grouped(rows).c_str(),
              grouped(size).c_str(), grouped(size - old_size).c_str());
  std::printf("opened in %.3f s, loaded in %.3f s", open_seconds, seconds);
  if (old_rows == 0)
    std::printf(": %s rows/s",
                grouped(static_cast<std::int64_t>(static_cast<double>(rows) / seconds)).c_str());
  std::printf("\n");
  return 0;
}

// ---- the other commands -------------------------------------------------------------------------

static int questions(const std::string& file) {
  const Stopwatch opening;
  const debian::Readonly_Database db(file);
  const double open_seconds = opening.seconds();
  const Stopwatch answering;
  std::cout << file << ": " << grouped(count_rows(db)) << " rows\n";
  answer_questions(std::cout, db);
  std::cout.flush();
  std::fprintf(stderr, "\nopened in %.3f s, answered in %.3f s\n", open_seconds,
               answering.seconds());
  return 0;
}

static int show(const std::string& file, const std::string& package) {
  if (show_package(std::cout, debian::Readonly_Database(file), package)) return 0;
  std::fprintf(stderr, "%s knows no package %s\n", file.c_str(), package.c_str());
  return 1;
}

static int count(const std::string& file) {
  count_records(std::cout, debian::Readonly_Database(file));
  return 0;
}

// What happens to the journal of a program that is killed? Each transaction adds a version with ten
// dependencies, and takes a while. What stands on standard output is safe: it was checkpointed
// before it was printed.
static int slow_writer(const std::string& file) {
  using namespace std::chrono_literals;
  debian::File_Database db(file);
  for (int transaction = 1;; ++transaction) {
    const auto package = db.new_package("invented-" + std::to_string(transaction));
    const auto version = db.new_version(package, "1.0", "all", debian::id_of_section(),
                                        debian::id_of_maintainer(), 0, false, "", "");
    for (int i = 1; i <= 10; ++i) {
      db.new_dependency(version, 0, package, ">= " + std::to_string(i), debian::id_of_dependency());
      db.flush();
      std::printf("transaction %d: dependency %d of 10 written\n", transaction, i);
      std::fflush(stdout);
      std::this_thread::sleep_for(10ms);
    }
    db.soft_checkpoint();
    std::printf("transaction %d: checkpoint %lld, %zu versions are safe\n", transaction,
                static_cast<long long>(db.get_journal().get_checkpoint()),
                db.get_version_table().get_size());
    std::fflush(stdout);
  }
}

// ---- command line -------------------------------------------------------------------------------

static int run(const std::vector<std::string>& arguments) {
  const std::string command = arguments.empty() ? "" : arguments[0];
  if (command == "--help") {
    std::fputs(usage, stdout);
    return 0;
  }
  if (arguments.size() == 2) {
    if (command == "load") return load(arguments[1]);
    if (command == "questions") return questions(arguments[1]);
    if (command == "count") return count(arguments[1]);
    if (command == "slow-writer") return slow_writer(arguments[1]);
  }
  if (command == "show" && arguments.size() == 3) return show(arguments[1], arguments[2]);
  std::fputs(usage, stderr);
  return 2;
}

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const Index_Error& error) {
    std::fprintf(stderr, "%s\nThe database is as it was at its last checkpoint.\n", error.what());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  return 1;
}
