#include "tools/frame/file_transaction.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "exchange/text_check.h"
#include "joedb/commands/interpreted_file.h"
#include "joedb/format/header.h"
#include "joedb/io/memory_file.h"
#include "kernel/io/new_file.h"
#include "tools/frame/database_options.h"
#include "tools/frame/output.h"

namespace joedb {

void add_transaction_options(Options& options, Transaction_Options& transaction) {
  options.add("--options", transaction.options_file,
              "a .joedbc file; writes that violate its unique indexes are refused",
              kinds::options_file);
  add_recovery_option(options, transaction.recovery);
  add_seals_option(options, transaction.has_no_seals);
  options.add_flag("--hard-checkpoint", transaction.has_hard_checkpoint,
                   "no effect: a hard checkpoint is always written");
}

static bool is_name(const std::string& word) { return !looks_like_option(word); }

// Does not open pipes, because the bytes would be missing later.
static bool is_joedb(const std::string& name) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(name, ignored)) return false;
  char begin[header_size];
  std::ifstream in(name, std::ios::binary);
  in.read(begin, header_size);
  return is_joedb_file({begin, static_cast<std::size_t>(in.gcount())});
}

static bool exists(const std::string& name) {
  std::error_code ignored;
  return std::filesystem::exists(name, ignored);
}

// Returns true if the name has the ending of a text file that is imported.
static bool is_named_as_input(const std::string& name) {
  constexpr std::string_view endings[] = {".csv", ".tsv", ".json", ".jsonl", ".ndjson"};
  return std::any_of(std::begin(endings), std::end(endings),
                     [&](std::string_view ending) { return name.ends_with(ending); });
}

// Returns true for the words FILE IN, false for IN FILE, where FILE may begin with a kind and a
// mode.
static bool is_database_first(const std::vector<std::string>& words) {
  std::vector<std::string> names;
  std::copy_if(words.begin(), words.end(), std::back_inserter(names), is_name);
  const auto is_kind = [](const std::string& word) {
    return word == "interpreted" || word == "device" || word == "file" || word == "memory";
  };
  if (is_kind(names.front())) return true;
  if (names.size() > 2 || is_kind(names.back())) return false;
  if (words.size() == 3 && !is_name(words[1])) return false;  // the mode is directly before FILE
  const std::string& first = names.front();
  const std::string& second = names.back();
  if (first == "-" || is_url(first)) return false;
  if (second == "-" || is_url(second) || is_joedb(first)) return true;
  if (is_joedb(second)) return !exists(first) && first.ends_with(".joedb");
  return !exists(first) || exists(second);  // the database is made, so IN exists
}

Import_Words take_import_words(Words& words, const std::string& usage) {
  Import_Words result;
  std::vector<std::string> others;
  while (!words.is_empty()) {
    const bool is_mode = words.is_option();
    if (is_mode && words.count() == 1) words.take_name();  // fails
    std::string word = words.take();
    others.push_back(is_mode || is_name(word) ? word : "./" + word);  // after --
  }
  const auto in = std::find_if(others.begin(), others.end(), is_name);
  const std::ptrdiff_t names = std::count_if(others.begin(), others.end(), is_name);
  if (names < 2) {
    Words given(others, usage);
    while (!given.is_empty()) given.take();
    given.fail_missing();
  }
  if (is_database_first(others)) {
    result.in = others.back();
    others.pop_back();
  } else {
    result.in = *in;
    others.erase(in);
  }
  Words file_words(others, usage);
  result.file = take_file(file_words, transaction_grammar);
  file_words.require_end();
  if (result.file.mode == Open_Mode::read_existing)
    file_words.fail("--read: the database is written");
  if (result.file.kind == File_Argument::Kind::file && !result.file.has_mode &&
      is_named_as_input(result.file.name) && !exists(result.file.name))
    file_words.fail(result.file.name +
                    ": there is no such file, and no database with this ending is made");
  return result;
}

namespace {

void change_in(Abstract_File& file, const Transaction_Options& options,
               const std::function<void(Writable_Database&)>& change) {
  Journal_Options journal_options;
  journal_options.has_seals = !options.has_no_seals;
  journal_options.ends_transactions = ends_transactions(file);
  // A shared file may end with the tail of a killed process.
  const bool is_kept = options.recovery == Recovery::none && file.is_shared() && !is_classic();
  journal_options.recovery = is_kept ? Recovery::keep : options.recovery;
  Writable_Database database(file, journal_options, Deleted_Values::reset,
                             read_indexes(options.options_file, file, options.recovery));
  std::optional<Write_Lock> lock;
  if (file.is_shared()) lock.emplace(database);
  if (options.recovery != Recovery::none) database.recover();
  run_in_transaction(database, [&] { change(database); });
}

}  // namespace

bool ends_transactions(const Abstract_File& file) {
  return !is_classic() && dynamic_cast<const Interpreted_File*>(&file) == nullptr;
}

void end_transaction(Writable_Database& database) {
  const Abstract_File& file = std::as_const(database).get_journal().get_file();
  if (ends_transactions(file) && database.ahead_of_checkpoint() > 0)
    database.end_transaction(Timestamp{std::time(nullptr)});
}

void run_in_transaction(Writable_Database& database, const std::function<void()>& change) {
  try {
    change();
    end_transaction(database);
    database.hard_checkpoint();
  } catch (...) {
    try {
      database.rollback();
    } catch (...) {  // not even that: report the first error
    }
    throw;
  }
}

void change_file(const File_Argument& file, const Transaction_Options& options,
                 const std::function<void(Writable_Database&)>& change) {
  require_database(file);
  // A shared file is made first, so that others who make it at the same time take turns.
  const bool is_new = file.kind == File_Argument::Kind::file &&
                      file.mode != Open_Mode::write_existing &&
                      file.mode != Open_Mode::shared_write && !exists(file.name);
  if (is_new) {
    try {
      fill_new_file(file.name, New_File::Existing::refuse,
                    [&](File& made) { change_in(made, options, change); });
    } catch (const Io_Error& error) {
      if (error.code != EEXIST || file.mode == Open_Mode::create_new) throw;
      throw Exception(file.name +
                      ": another program has made it meanwhile, and nothing was written; with "
                      "--shared, programs take turns");
    }
    return;
  }
  Tool_Log log(Log_Options{});
  const auto opened = open_file(file, log);
  change_in(*opened, options, change);
}

void change_copy(const File_Argument& file, const Transaction_Options& options,
                 const std::function<void(Writable_Database&)>& change) {
  Memory_File copy;
  if (file.kind != File_Argument::Kind::memory && exists(file.name)) {
    File_Argument readable = file;
    readable.mode = Open_Mode::read_existing;
    Tool_Log log(Log_Options{});
    const auto opened = open_file(readable, log);
    copy.get_data().resize(static_cast<std::size_t>(opened->get_size()));
    opened->pread(copy.get_data().data(), copy.get_data().size(), 0);
  }
  Journal_Options journal_options = options.recovery;
  journal_options.ends_transactions = true;
  Writable_Database database(copy, journal_options, Deleted_Values::reset,
                             read_indexes(options.options_file, copy, options.recovery));
  run_in_transaction(database, [&] { change(database); });
}

void change_existing_file(const File_Argument& file, const Transaction_Options& options,
                          const std::function<void(Writable_Database&)>& change) {
  File_Argument existing = file;
  existing.has_mode = true;
  change_file(existing, options, change);
}

}  // namespace joedb
