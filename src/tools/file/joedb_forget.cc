#include <algorithm>
#include <cerrno>
#include <ctime>
#include <iostream>
#include <optional>

#include "joedb/table/database.h"
#include "joedb/table/load.h"
#include "kernel/base/counted.h"
#include "kernel/base/parse_number.h"
#include "kernel/base/plain_text.h"
#include "kernel/base/split.h"
#include "kernel/io/file_pieces.h"
#include "kernel/journal/integrity.h"
#include "rewrite/forget.h"
#include "text/history_text.h"
#include "tools/frame/command.h"
#include "tools/frame/database_options.h"
#include "tools/frame/new_database_file.h"
#include "tools/frame/output.h"
#include "tools/frame/snapshot_files.h"

namespace joedb {

namespace {

struct Forget_Command {
  Forget_Request request;
  std::string output;
  std::string backup;
  std::string author;
  std::string options_file;
  bool is_dry_run = false;
  bool is_complete = false;
  bool force = false;
  Source_Options source;
};

// ---- values to forget ---------------------------------------------------------------------------

// Parses ids of the form "3" or "3-7". Throws Usage_Error if the text is invalid.
Forget_Request::Records parse_records(const std::string& text) {
  constexpr index_t largest = index_t{1} << 48;
  const auto ends = split(text, "-");
  const auto first = parse_number<index_t>(ends.front());
  const auto last = parse_number<index_t>(ends.back());
  if (ends.size() > 2 || !first || !last || *last < *first || *last >= largest)
    throw Usage_Error("RECORD: " + text + ": expected ids of records like 3, 3,5 or 3-7");
  return {Record_Id(*first), *last - *first + 1};
}

// Returns true if the text is meant as a number. No field name is: identifiers do not begin with a
// digit.
bool is_number(const std::string& text) {
  return !text.empty() && (text[0] == '-' || (text[0] >= '0' && text[0] <= '9'));
}

void take_request(Words& words, Forget_Request& request) {
  request.table = words.take_name();
  std::string word = words.take_name();
  if (is_number(word)) {
    for (const std::string_view part : split(word, ","))
      request.records.push_back(parse_records(std::string(part)));
    if (words.is_empty()) return;
    word = words.take_name();
  }
  for (const std::string_view field : split(word, ",")) request.fields.emplace_back(field);
  words.require_end();
}

// ---- forgetting ---------------------------------------------------------------------------------

class Forgetting {
 public:
  Forgetting(Abstract_File& file, const Forget_Command& command)
      : file_(file),
        command_(command),
        checkpoint_(Readonly_Journal(file).get_checkpoint()),
        has_tail_(!is_zero(file, checkpoint_, file.get_size())),
        forgetter_(file, command.request) {}

  bool has_anything() const { return forgetter_.value_count() > 0 || has_tail_; }

  void print_dry_run() const {
    const History_Text text(std::cout, {});
    forgetter_.for_each_place([&](const Forgetter::Place& place) {
      std::cout << text.line(place.transaction) << "  " << counted(place.values, "value") << '\n';
    });
    std::cout << counts() << " would be forgotten\n";
  }

  // Writes the new history, with a checkpoint, and searches the result.
  void write(Writable_Journal& journal) {
    forgetter_.write(journal, command_.author, std::time(nullptr));
    const auto last = integrity_entry_before(file_, checkpoint_);
    if (last && last->kind == Integrity::each_checkpoint) journal.enable_integrity();
    journal.soft_checkpoint();
    require_unique(journal.get_file());
    proof_ = forgetter_.prove(journal.get_file(), journal.get_position());
    for (const auto& found : proof_.found) note_text(journal.get_file(), found);
  }

  // Returns the exit code.
  int print(const std::string& name) const {
    const int code = print_result(name);
    return print_other_files() ? 1 : code;
  }

  // Called if FILE has nothing to forget. Removes snapshots of older content, which may remain if
  // this command or joedb_pack was killed. Returns the exit code.
  int finish_earlier() const {
    bool is_current = true;  // true if all snapshots match the current content
    for (const Snapshot_Beside& beside : snapshots_beside(file_))
      is_current = is_current && beside.snapshot && beside.snapshot->fits_wholly(file_);
    const std::vector<std::string> beside = file_.beside()->list();
    const std::string unfinished = snapshot_suffix() + ".tmp";
    if (!is_current || std::find(beside.begin(), beside.end(), unfinished) != beside.end())
      for (const std::string& suffix : remove_snapshots(file_))
        std::cout << file_.get_name() << suffix << ": removed\n";
    std::cout << "nothing to forget\n";
    return print_other_files() ? 1 : 0;
  }

 private:
  // Searches files beside FILE that may have older content: saved tails, and files of killed
  // processes. Returns true if any of them has, or may have, the forgotten values.
  bool print_other_files() const {
    bool has_any = false;
    const std::vector<std::string> beside = file_.beside()->list();
    for (const std::string& prefix :
         {std::string(".tail-"), std::string(".tmp-"), snapshot_suffix()})
      for (const std::string& suffix : beside)
        if (suffix.starts_with(prefix)) has_any |= print_other(suffix);
    return has_any;
  }

  bool print_other(const std::string& suffix) const {
    const std::string name = file_.get_name() + suffix;
    if (forgetter_.value_count() == 0) {
      // A snapshot that matches FILE has only values that are in FILE.
      if (suffix.starts_with(snapshot_suffix())) return false;
      std::cout << name << ": not searched; it may have values that are forgotten\n";
      return true;
    }
    try {
      const auto other = file_.beside()->open(suffix, Open_Mode::read_existing);
      const index_t count = forgetter_.count_matches(*other);
      if (count > 0) std::cout << "still in " << name << ", in " << counted(count, "place") << '\n';
      return count > 0;
    } catch (const Io_Error& error) {
      if (error.code == ENOENT) return false;
      std::cout << name << ": not searched: " << error.what() << '\n';
      return true;
    }
  }

  int print_result(const std::string& name) const {
    std::cout << counts() << (forgetter_.value_count() == 1 ? " is" : " are") << " forgotten\n";
    if (has_tail_) std::cout << "the data after the checkpoint was left out\n";
    std::cout << "searched: " << counted(proof_.searched, "text");
    if (proof_.numbers > 0 || proof_.too_short > 0) {
      std::cout << "; not searched: ";
      if (proof_.numbers > 0) std::cout << counted(proof_.numbers, "number");
      if (proof_.numbers > 0 && proof_.too_short > 0) std::cout << ", ";
      if (proof_.too_short > 0)
        std::cout << counted(proof_.too_short, "text") << " of less than " << Byte_Search::shortest
                  << " bytes";
    }
    std::cout << '\n';
    if (proof_.count == 0) {
      std::cout << "not found in " << name << '\n';
      return 0;
    }
    std::cout << "still in " << name << ", in " << counted(proof_.count, "place") << ":\n";
    const std::size_t shown =
        command_.is_complete ? proof_.found.size() : std::min<std::size_t>(20, proof_.found.size());
    for (std::size_t i = 0; i < shown; ++i)
      std::cout << "  " << proof_.found[i].position << "  " << proof_.found[i].place << "  "
                << texts_[i] << '\n';
    if (static_cast<index_t>(shown) < proof_.count)
      std::cout << "  … and " << proof_.count - static_cast<index_t>(shown) << " more\n";
    return 1;
  }

  std::string counts() const {
    index_t transactions = 0;
    forgetter_.for_each_place([&](const Forgetter::Place&) { ++transactions; });
    std::string text =
        counted(forgetter_.value_count(), "value") + " in " + counted(transactions, "transaction");
    if (forgetter_.blob_count() > 0)
      text += ", and " + counted(forgetter_.blob_count(), "blob") + ',';
    return text;
  }

  void require_unique(Abstract_File& file) const {
    if (command_.options_file.empty()) return;
    Database database;
    for (auto& index : read_indexes(command_.options_file, file))
      database.add_index(std::move(index));
    Readonly_Journal journal(file);
    load(database, journal);
  }

  // Stores the beginning of a match as text.
  void note_text(const Abstract_File& file, const Forgetter::Found& found) {
    constexpr std::size_t longest = 40;
    std::string bytes(std::min(found.size, longest), '\0');
    bytes.resize(file.pread(bytes.data(), bytes.size(), found.position));
    std::string text = "\"";
    append_plain(text, bytes);
    texts_.push_back(text + (found.size > longest ? "…\"" : "\""));
  }

  Abstract_File& file_;
  const Forget_Command& command_;
  const Offset checkpoint_;
  const bool has_tail_;  // there are bytes after the checkpoint, other than preallocated zeros
  const Forgetter forgetter_;
  Forgetter::Proof proof_;
  std::vector<std::string> texts_;  // the texts of the matches
};

int dry_run(const std::string& name, const Forget_Command& command) {
  const auto file = open_source(name, command.source);
  name_file_in_errors(file->get_name(), [&] { Forgetting(*file, command).print_dry_run(); });
  return 0;
}

int forget_to_output(const std::string& name, const Forget_Command& command) {
  require_other_file(command.output, name);
  const auto file = open_source(name, command.source);
  std::optional<Forgetting> forgetting;
  name_file_in_errors(file->get_name(), [&] { forgetting.emplace(*file, command); });
  write_new_database(command.output, command.force, [&](Writable_Journal& journal) {
    name_file_in_errors(file->get_name(), [&] { forgetting->write(journal); });
  });
  return forgetting->print(command.output);
}

int forget_in_place(const std::string& name, const Forget_Command& command) {
  return name_file_in_errors(name, [&] {
    New_Database_File made(name, New_Database_File::Existing::rewrite, command.backup);
    Forgetting forgetting(*made.replaced(), command);
    if (!forgetting.has_anything()) return forgetting.finish_earlier();
    const auto write = [&](Writable_Journal& journal) {
      forgetting.write(journal);
      journal.hard_checkpoint();
    };
    made.write([&](File& file) { write_journal(file, write); });
    return forgetting.print(name);
  });
}

const char* const forget_details =
    R"(Rewrites FILE, and removes all present and past values of the records with these ids, of these
fields, or of these fields of these records, including values written under former names. The rest
of the history is kept, including the records themselves, with default values in place of the
forgotten ones.

Then the new file is searched for the bytes of the forgotten strings and blobs, and so are saved
tails (FILE.tail-*) and files left by killed processes (FILE.tmp-*). Matches are shown, and the exit
code is 1. If there is nothing to forget, such files are listed, and the exit code is also 1.

FILE is replaced atomically, and its snapshots are removed; no other process may have it open. If
the command is killed, run it again. Copies of FILE, such as backups and the files of clients and
servers, still have the values, and no longer match FILE.
)";

}  // namespace

int run_forget(std::vector<std::string> arguments) {
  Options options(
      {"joedb_forget [options] FILE TABLE RECORD[,RECORD...] [FIELD[,FIELD...]]\n"
       "       joedb_forget [options] FILE TABLE FIELD[,FIELD...]",
       "Removes values from a database and from its whole history.", forget_details,
       "  joedb_forget people.joedb person 3\n"
       "  joedb_forget people.joedb person 3,7-9 name,email\n"
       "  joedb_forget --dry-run people.joedb person email\n"});
  Forget_Command command;
  options.add_flag(
      "--dry-run", command.is_dry_run,
      "show how many values would be forgotten in each transaction, but write nothing");
  options.add("--output", command.output, "write to this file, and do not change FILE",
              kinds::database);
  options.add_flag("--force", command.force, "with --output: replace the file if it exists");
  options.add("--backup", command.backup,
              "keep the old file under this name, in the same file system (default: delete it)",
              kinds::file);
  options.add("--author", command.author,
              "author of the change: appends the comment \"author: NAME\"", Value_Kind{"NAME", ""});
  options.add_flag("--all", command.is_complete, "show up to 1000 places instead of 20");
  options.add("--options", command.options_file,
              "a .joedbc file; writes that violate its unique indexes are refused",
              kinds::options_file);
  add_source_options(options, command.source);
  add_utc_option(options);
  options.set_words({kinds::database, kinds::text});
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;

  const std::string name = words->take_name();
  take_request(*words, command.request);
  const bool has_output = !command.output.empty();
  if (has_output && !command.backup.empty())
    words->fail("--backup and --output exclude each other: --output does not change FILE");
  if (command.force && !has_output) words->fail("--force needs --output");
  const int code = command.is_dry_run ? dry_run(name, command)
                   : has_output       ? forget_to_output(name, command)
                                      : forget_in_place(name, command);
  finish_standard_output();
  return code;
}

}  // namespace joedb
