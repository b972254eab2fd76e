// Debian packages in a joedb database: loads package indexes, and answers questions about them.

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>

#include "debian/readonly.h"
#include "debian/writable.h"
#include "index_reader.h"
#include "loader.h"
#include "progress.h"
#include "questions.h"
#include "text.h"

static constexpr const char* usage =
    "usage: debian_packages COMMAND DATABASE [PACKAGE] [--at-time SECONDS]\n\n"
    "  load DB < INDEX    make DB agree with a package index; write only what differs\n"
    "  follow DB < INDEX  the same; say after each transaction how much is safe\n"
    "  questions DB       which packages, sections and maintainers stand out\n"
    "  show DB PACKAGE    everything about one package; --at-time: as it was then\n"
    "  count DB           number of records in each table\n\n"
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

// With `is_telling`, what stands on standard output is safe: it is printed after its checkpoint.
static void load_index(debian::Writable_Database& db, Loader& loader, bool is_telling) {
  std::ios::sync_with_stdio(false);
  Index_Reader reader(std::cin);
  Progress progress(input_size());
  while (const Paragraph* const paragraph = reader.next()) {
    loader.load(*paragraph);
    if (loader.counts().read % versions_per_transaction == 0) {
      db.soft_checkpoint();
      if (is_telling) {
        std::printf("%zu versions are safe\n", db.get_version_table().get_size());
        std::fflush(stdout);
      }
    }
    progress.show(reader.bytes_read(), loader.counts().read);
  }
  if (loader.counts().read == 0) throw Index_Error(1, "this index is empty");
  loader.delete_unmentioned();
  db.hard_checkpoint();
}

static int load(const std::string& file, bool is_telling) {
  if (isatty(STDIN_FILENO) == 1) {
    std::fputs(
        "load reads a package index from standard input, for example:\n"
        "apt-cache dumpavail | debian_packages load packages.joedb\n",
        stderr);
    return 2;
  }
  const Stopwatch total;
  // What a killed load has written behind its last checkpoint is dropped: it is in the index again.
  debian::File_Database db(file, joedb::Open_Mode::write_existing_or_create_new,
                           joedb::Recovery::overwrite);
  const std::int64_t old_rows = count_rows(db), old_size = db.get_journal().get_checkpoint();
  Loader loader(db);
  const double open_seconds = total.seconds();
  try {
    load_index(db, loader, is_telling);
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

static int show(const debian::Readonly_Database& db, const std::string& file,
                const std::string& package) {
  if (show_package(std::cout, db, package)) return 0;
  std::fprintf(stderr, "%s knows no package %s\n", file.c_str(), package.c_str());
  return 1;
}

static int count(const std::string& file) {
  count_records(std::cout, debian::Readonly_Database(file));
  return 0;
}

// ---- command line -------------------------------------------------------------------------------

static int run(const std::vector<std::string>& arguments) {
  const std::string command = arguments.empty() ? "" : arguments[0];
  if (command == "--help") {
    std::fputs(usage, stdout);
    return 0;
  }
  if (arguments.size() == 2) {
    if (command == "load" || command == "follow") return load(arguments[1], command == "follow");
    if (command == "questions") return questions(arguments[1]);
    if (command == "count") return count(arguments[1]);
  }
  if (command == "show" && arguments.size() == 3)
    return show(debian::Readonly_Database(arguments[1]), arguments[1], arguments[2]);
  if (command == "show" && arguments.size() == 5 && arguments[3] == "--at-time")
    return show(debian::Readonly_Database(arguments[1], joedb::at_time(std::stoll(arguments[4]))),
                arguments[1], arguments[2]);
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
