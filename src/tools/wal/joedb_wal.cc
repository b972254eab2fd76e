#include "tools/wal/joedb_wal.h"

#include <chrono>
#include <iostream>
#include <limits>
#include <optional>

#include "tools/frame/command.h"
#include "tools/frame/output.h"
#include "tools/frame/stop_signal.h"
#include "wal/recovery.h"

namespace joedb {

namespace {

using wal::Entry;
using wal::Reader;
using wal::Stop;

// Converts an entry number of the command line. Returns `value` if the number was not given (0).
// Throws Usage_Error if it is negative.
std::uint64_t sequence_of(std::int64_t given, std::uint64_t value, const Words& words) {
  if (given < 0) words.fail("entries are counted from 1");
  return given == 0 ? value : static_cast<std::uint64_t>(given);
}

// Prints a warning. Flushes standard output first, so that the warning comes after the entries to
// which it refers.
void warn(const std::string& text) {
  std::cout.flush();
  std::cerr << "warning: " << text << '\n';
}

// Return the segment of the current entry, which is printed before its offset; empty for a log in a
// single file.
std::string segment_of(const Reader&) { return {}; }
std::string segment_of(const wal::Segmented_Reader& reader) { return reader.segment(); }

// Prints entries to standard output, one per line.
class Printer {
 public:
  Printer(std::uint64_t from, bool with_positions) : from_(from), with_positions_(with_positions) {}

  // Precondition: the reader is before the first entry.
  template <class Log_Reader>
  void warn_if_gone(const Log_Reader& reader, const std::string& name) const {
    const std::uint64_t first = reader.position().sequence;
    if (from_ > 0 && from_ < first)
      warn(name + ": begins with entry " + std::to_string(first) +
           "; earlier entries were removed by a rotation");
  }

  // `segment` is the file that contains the entry, for a log in a directory.
  void print(const Entry& entry, const std::string& segment = {}) {
    if (entry.position.sequence < from_) return;
    line_.clear();
    if (with_positions_) {
      line_ = std::to_string(entry.position.sequence) + ' ' + segment +
              (segment.empty() ? "" : ":") + std::to_string(entry.position.offset) + ' ';
    }
    wal::append_text(line_, entry.text());
    line_ += '\n';
    std::cout.write(line_.data(), static_cast<std::streamsize>(line_.size()));
  }

  // Call this when the numbers of entries restart at 1.
  void forget_from() { from_ = 0; }
  std::uint64_t from() const { return from_; }

 private:
  std::uint64_t from_;
  const bool with_positions_;
  std::string line_;
};

template <class Log_Reader>
std::string text_of_end(const std::string& name, const Log_Reader& reader) {
  const wal::End& end = reader.end();
  const std::string segment = segment_of(reader);
  return name + (segment.empty() ? "" : "/") + segment + ": no good entry " +
         std::to_string(end.position.sequence) + " at offset " +
         std::to_string(end.position.offset) + ": " + end.text() + "; see joedb wal verify";
}

const char* const text_details =
    R"(An entry is a sequence of bytes in double quotes, in which \ precedes three octal digits for a byte,
x and two hexadecimal digits, or any other character but a letter or digit, which it escapes.
)";

// Prints the good entries after the end of a log.
void print_later(const Abstract_File& file, Printer& printer, std::uint64_t last) {
  const wal::Report report = wal::examine(file);
  wal::require_log(file, report);
  if (report.format == wal::Format::cwal) {
    if (report.later_entries == 0) return;
    Reader reader(file);
    reader.seek({report.end.position.sequence + 1, report.later_offset});
    while (const auto entry = reader.next())
      if (entry->position.sequence <= last) printer.print(*entry);
    return;
  }
  const auto found = wal::read_header(file);
  if (!found) return;
  wal::find_later_entries(
      file, found->header, report.end.position, [&](const wal::Later_Entry& entry) {
        if (is_marker(entry.header) || entry.header.sequence > last) return;
        std::vector<char> bytes(length_of(entry.header));
        file.read_exactly(bytes.data(), bytes.size(),
                          entry.offset + static_cast<Offset>(wal::entry_header_size));
        printer.print({{entry.header.sequence, entry.offset}, bytes});
      });
}

// ---- dump ---------------------------------------------------------------------------------------

void require_log(const Reader& reader, const std::string& name) {
  wal::require_log(File(name, Open_Mode::read_existing), {.end = reader.end()});
}
void require_log(const wal::Segmented_Reader&, const std::string&) {}

// Seeks to the first entry to print, if that is faster than reading all entries before it.
void skip_to(Reader&, std::uint64_t) {}
void skip_to(wal::Segmented_Reader& reader, std::uint64_t sequence) {
  try {
    if (sequence > reader.position().sequence) reader.seek(sequence);
  } catch (const Exception&) {  // the entry does not exist: read all entries, then report this
  }
}

template <class Log_Reader>
int dump(Log_Reader& reader, const std::string& name, Printer& printer, std::uint64_t last) {
  printer.warn_if_gone(reader, name);
  skip_to(reader, printer.from());
  bool is_complete = false;
  while (!is_complete) {
    const auto entry = reader.next();
    if (!entry) break;
    if (entry->position.sequence <= last) printer.print(*entry, segment_of(reader));
    is_complete = entry->position.sequence >= last;
  }
  finish_standard_output();
  if (is_complete || ends_well(reader.end().stop)) return 0;
  require_log(reader, name);
  warn(text_of_end(name, reader));
  return 1;
}

int run_dump(std::vector<std::string> arguments) {
  Options options(
      {"joedb wal dump [options] FILE", "Prints the entries of a log as text, one per line.",
       std::string(text_details) +
           R"(joedb wal load reads this format. At an invalid entry, the output ends, a warning gives the reason
and the position, and the exit code is 1. The output also ends at zeros, as at the end of a
preallocated log: joedb wal verify finds valid entries after them, and --later prints them. The
log may be written meanwhile. FILE may be a directory with segments; positions then include the
segment. --from also finds an entry if entries before it are missing.
)",
       "  joedb wal dump orders.wal\n"
       "  joedb wal dump orders.wal | joedb wal load copy.wal\n"
       "  joedb wal dump --from 1000 --until 1010 --positions orders.wal\n"});
  std::int64_t from = 0;
  std::int64_t until = 0;
  bool with_positions = false;
  options.add("--from", from, "first entry to print; the first entry of a new log is 1");
  options.add("--until", until, "last entry to print");
  options.add_flag("--positions", with_positions,
                   "print the number and offset before each entry; load cannot read this");
  bool only_later = false;
  options.add_flag("--later", only_later, "print only valid entries after the first invalid one");
  options.set_words({kinds::file});
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;
  const std::string name = take_log(*words);
  Printer printer(sequence_of(from, 0, *words), with_positions);
  const std::uint64_t last = sequence_of(until, std::numeric_limits<std::uint64_t>::max(), *words);

  if (std::filesystem::is_directory(name)) {
    if (only_later) words->fail("--later needs one file: give the name of a segment");
    Watched_Directory directory(name, Progress::Output::printing);
    wal::Segmented_Reader reader(directory);
    return dump(reader, name, printer, last);
  }
  const File file(name, Open_Mode::read_existing);
  const Watched_File watched(file, Progress::Output::printing);
  if (only_later) {
    print_later(watched, printer, last);
    finish_standard_output();
    return 0;
  }
  Reader reader(watched);
  return dump(reader, name, printer, last);
}

// ---- load ---------------------------------------------------------------------------------------

wal::Writer open_log(const std::string& name, wal::Format format) {
  wal::Writer log(name, {.format = format});
  if (format == wal::Format::cwal && log.format() != format)
    throw Exception(name + " exists, and is not in the format of CWal: leave --format away to " +
                    "append to it, or give the name of a new file");
  return log;
}

// Returns the size of standard input. Returns 0 if it is not a regular file, because its size is
// unknown.
Offset size_of_standard_input() {
  std::error_code error;
  const std::filesystem::path path = "/dev/stdin";
  if (!std::filesystem::is_regular_file(path, error)) return 0;
  const auto size = std::filesystem::file_size(path, error);
  return error ? 0 : static_cast<Offset>(size);
}

template <class Log>
int load(Log& log, const std::string& name) {
  const std::uint64_t first = log.position().sequence;
  std::string line;
  Progress progress("loading " + name, 0, size_of_standard_input());
  Offset done = 0;
  for (std::uint64_t number = 1; std::getline(std::cin, line); ++number) {
    done += static_cast<Offset>(line.size()) + 1;
    if (number % 64 == 0) progress.update(done);
    try {
      log.append(wal::parse_text(line));
    } catch (const Io_Error&) {
      throw;
    } catch (const Exception& error) {
      log.sync();
      throw Exception("line " + std::to_string(number) + ": " + error.what() + "; before it, " +
                      counted(number - 1, "entry", "entries") + (number == 2 ? " was" : " were") +
                      " appended to " + name);
    }
  }
  if (std::cin.bad()) throw Exception("reading standard input failed");
  log.sync();
  const std::uint64_t count = log.position().sequence - first;
  std::cout << name << ": " << counted(count, "entry", "entries") << " appended";
  if (count > 0) std::cout << ", " << first << " to " << log.position().sequence - 1;
  std::cout << '\n';
  finish_standard_output();
  return 0;
}

int run_load(std::vector<std::string> arguments) {
  Options options(
      {"joedb wal load [options] FILE < TEXT",
       "Appends entries to a log; creates the log if it does not exist.",
       "Reads one entry per line from standard input, in the format of joedb wal dump.\n" +
           std::string(text_details) +
           R"(When the command ends, the entries are durable, including those before an invalid line. If FILE is a
directory, they are appended to its segments.
)",
       "  joedb wal dump orders.wal | joedb wal load copy.wal\n"
       "  echo '\"one coffee\"' | joedb wal load orders.wal\n"});
  wal::Format format = wal::Format::checked;
  std::int64_t segment_size = 0;
  options.add_choice("--format", format,
                     {{"checked", wal::Format::checked}, {"cwal", wal::Format::cwal}},
                     "format of a new log; cwal is that of the library CWal");
  options.add("--segment-size", segment_size,
              "create FILE as a directory, with segments of this many bytes");
  options.set_words({kinds::file});
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;
  const std::string name = take_log(*words);
  if (segment_size < 0) words->fail("--segment-size: more than 0");

  std::ios::sync_with_stdio(false);  // four times as fast
  if (!std::filesystem::is_directory(name) && segment_size == 0) {
    wal::Writer log = open_log(name, format);
    if (!log.found().saved.empty()) warn(name + ": " + log.found().text());
    return load(log, name);
  }
  if (format != wal::Format::checked)
    throw Exception(name + ": segments are not in the format of CWal: leave --format away");
  wal::Segment_Options segments;
  if (segment_size != 0) segments.segment_size = segment_size;
  wal::Segmented_Writer log(name, {}, segments);
  return load(log, name);
}

// ---- tail ---------------------------------------------------------------------------------------

// Returns true, and prints a warning, if the numbers of entries restart at 1: the log was reset, or
// this is another log.
bool has_restarted(const std::string& name, const Reader& reader, std::uint64_t old_id,
                   std::uint64_t next) {
  const std::string missed =
      std::to_string(next) + " on may be missed" +
      (reader.format() == wal::Format::cwal ? ", and are counted from 1 again" : "");
  if (reader.format() == wal::Format::cwal)
    warn(name + ": was reset; entries from " + missed);
  else if (reader.log_id() != old_id)
    warn(name + ": another log begins in this file; entries from " + missed);
  else
    return false;
  return true;
}
bool has_restarted(const std::string&, const wal::Segmented_Reader&, std::uint64_t, std::uint64_t) {
  return false;
}
std::uint64_t id_of(const Reader& reader) { return reader.log_id(); }
std::uint64_t id_of(const wal::Segmented_Reader&) { return 0; }

template <class Log_Reader>
class Follower {
 public:
  Follower(const std::string& name, Log_Reader& reader, Printer& printer)
      : name_(name), reader_(reader), printer_(printer) {}

  // Prints all entries; without from_start, prints only the entries that are appended from now on.
  void run(bool from_start) {
    if (from_start)
      printer_.warn_if_gone(reader_, name_);
    else
      skip();
    while (!stop_.has_come()) {
      auto entry = reader_.next();
      if (!entry) {
        finish_standard_output();
        entry = reader_.wait_for_next(std::chrono::milliseconds(100));
      }
      if (entry)
        printer_.print(*entry, segment_of(reader_));
      else if (reader_.end().stop == Stop::overwritten)
        reset();
      else
        notice_end();
    }
    finish_standard_output();
  }

 private:
  void skip() {
    while (!stop_.has_come() && reader_.next()) continue;
  }

  void reset() {
    const std::uint64_t next = reader_.position().sequence;
    const std::uint64_t id = id_of(reader_);
    reader_.seek_first();
    const std::uint64_t first = reader_.position().sequence;
    if (has_restarted(name_, reader_, id, next))
      printer_.forget_from();
    else if (first > next)
      warn(name_ + ": rotated before " + counted(first - next, "entry", "entries") +
           (first - next == 1 ? " was" : " were") + " read: " + std::to_string(next) + " to " +
           std::to_string(first - 1));
  }

  // Reports damage at the end. A torn entry may be in the file for a moment, so it is damage only
  // if it remains for a second.
  void notice_end() {
    using Clock = std::chrono::steady_clock;
    const wal::End& end = reader_.end();
    if (ends_well(end.stop)) {
      bad_end_.reset();
    } else if (!bad_end_ || !(bad_end_->position == end.position)) {
      bad_end_ = {end.position, Clock::now(), false};
    } else if (!bad_end_->is_reported && Clock::now() - bad_end_->since > std::chrono::seconds(1)) {
      warn(text_of_end(name_, reader_));
      bad_end_->is_reported = true;
    }
  }

  struct Bad_End {
    wal::Position position;
    std::chrono::steady_clock::time_point since;
    bool is_reported;
  };

  const std::string name_;
  Log_Reader& reader_;
  Printer& printer_;
  Stop_Signal stop_;
  std::optional<Bad_End> bad_end_;
};

int run_tail(std::vector<std::string> arguments) {
  Options options(
      {"joedb wal tail [options] FILE",
       "Prints new entries of a log as they are appended, until SIGINT or SIGTERM.",
       R"(Entries are printed as by joedb wal dump. After a rotation of the log, the new entries follow; if
some were missed, a warning gives their number. By default, only entries appended after the start
are printed. FILE may be a directory with segments.
)",
       "  joedb wal tail orders.wal\n"
       "  joedb wal tail --all orders.wal | grep coffee\n"});
  std::int64_t from = 0;
  bool all = false;
  bool with_positions = false;
  options.add("--from", from, "start at this entry if the log already has it");
  options.add_flag("--all", all, "start at the first entry in the log");
  options.add_flag("--positions", with_positions, "print the number and offset before each entry");
  options.set_words({kinds::file});
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;
  const std::string name = take_log(*words);
  if (all && from != 0) words->fail("--from and --all exclude each other");
  Printer printer(sequence_of(from, 0, *words), with_positions);
  if (std::filesystem::is_directory(name)) {
    wal::Segmented_Reader reader(name);
    Follower(name, reader, printer).run(all || from != 0);
  } else {
    const File file(name, Open_Mode::read_existing);
    Reader reader(file);
    Follower(name, reader, printer).run(all || from != 0);
  }
  return 0;
}

// ---- all of them --------------------------------------------------------------------------------

constexpr Command subcommands[] = {
    {"dump", nullptr, "print the entries of a log as text, one per line", run_dump},
    {"load", nullptr, "append entries to a log; create the log if needed", run_load},
    {"tail", nullptr, "print new entries of a log as they are appended", run_tail},
    {"verify", nullptr, "show the contents, the end and any damage of a log", run_wal_verify},
    {"repair", nullptr, "truncate a log after its last valid entry", run_wal_repair},
    {"bench", nullptr, "measure the write speed of a new log", run_wal_bench},
};

}  // namespace

std::span<const Command> wal_commands() { return subcommands; }

int run_wal(std::vector<std::string> arguments) {
  return run_subcommand(
      {"joedb wal", "Prints, checks, repairs and follows write-ahead logs.",
       "Logs are in the format of the library joedb::wal or of CWal; each command\n"
       "detects which. FILE may be a directory with segments.\n"},
      subcommands, std::move(arguments));
}

}  // namespace joedb
