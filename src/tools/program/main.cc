#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "joedb/base/version.h"
#include "joedb/format/header.h"
#include "joedb/journal/readonly_journal.h"
#include "kernel/base/json_text.h"
#include "kernel/base/plain_text.h"
#include "kernel/base/standard_descriptors.h"
#include "tools/frame/command.h"
#include "tools/frame/lock_notice.h"
#include "tools/frame/parser.h"
#include "tools/frame/stop_signal.h"

namespace joedb {

static constexpr Command commands[] = {
    // Look
    {"sql", "joedb_sql", "run SQL on databases", run_sql},
    {"browser", "joedb_browser", "open a copy of the content in an SQL browser", run_browser},
    {"stats", "joedb_stats", "print the space used by each table", run_stats},
    {"to_json", "joedb_to_json", "print the content of a database as JSON", run_to_json},
    {"logdump", "joedb_logdump", "print the journal of a database", run_logdump},
    {"export", "joedb_export", "export tables as CSV, JSON lines, SQLite, Parquet or Arrow",
     run_export, export_commands},
    // Change
    {"init", nullptr, "create a project that builds and runs", run_init},
    {"compile", "joedbc", "compile a schema to C++ or Python", run_compiler},
    {"interpreter", "joedbi", "run commands on a database", run_interpreter},
    {"alter", nullptr, "change tables and fields of a database", run_alter},
    {"edit", "joedb_edit", "edit a database as text", run_edit},
    {"import", "joedb_import", "import CSV, JSON lines or SQLite into a database", run_import,
     import_commands},
    {"merge", "joedb_merge", "merge the tables of several databases", run_merge},
    // History
    {"log", "joedb_log", "show the transactions of a database, newest first", run_log},
    {"show", "joedb_show", "show a transaction with all its changes", run_show},
    {"at", "joedb_at", "run a command on a past state of a database", run_at},
    {"diff", "joedb_diff", "compare two states of a database, or two files", run_diff},
    {"blame", "joedb_blame", "show which transactions wrote the values of a table", run_blame},
    {"tag", "joedb_tag", "name a position, or list the names", run_tag},
    {"branch", "joedb_branch", "copy a database as it was at some point", run_branch},
    {"undo", "joedb_undo", "undo a transaction", run_undo},
    {"revert", "joedb_revert", "undo a range of transactions", run_revert},
    {"restore", "joedb_restore", "restore a record to an earlier version", run_restore},
    {"forget", "joedb_forget", "remove values from the whole history of a database", run_forget},
    // Share
    {"client", "joedb_client", "share a database with other writers", run_client},
    {"server", "joedb_server", "serve a database to clients", run_server},
    {"multi_server", "joedb_multi_server", "serve several databases to clients", run_multi_server},
    {"push", "joedb_push", "copy the history of a database to a file or server", run_push},
    {"nats", nullptr, "create, check and repair a journal on a NATS cluster", run_nats,
     nats_commands},
    // Maintain
    {"verify", "joedb_verify", "check a database for damage", run_verify},
    {"recover", "joedb_recover", "recover a database after a crash", run_recover},
    {"pack", "joedb_pack", "write a database without its history", run_pack},
    {"snapshot", "joedb_snapshot", "write a snapshot that makes a database open at once",
     run_snapshot},
    {"convert", "joedb_convert", "rewrite the history of a database to a new file", run_convert},
    {"sha256sum", "joedb_sha256sum", "print hashes for comparing copies", run_sha256sum},
    {"wal", "joedb_wal", "print, check, repair and follow write-ahead logs", run_wal, wal_commands},
    {"crash-lab", "joedb_crash_lab", "search for crashes that lose data", run_crash_lab_command},
    {"completion", nullptr, "print completion scripts for shells", run_completion},
    {"man", nullptr, "write man pages", run_man},
};

std::span<const Command> all_commands() { return commands; }

// The groups of joedb --help: each begins with this command.
static constexpr struct {
  std::string_view first;
  const char* title;
} groups[] = {{"sql", "Look at databases"},
              {"init", "Make and change them"},
              {"log", "Their history"},
              {"client", "Share them"},
              {"verify", "Maintain them"}};

static void print_help() {
  std::printf(
      "joedb: the journal-only embedded database\n\n"
      "usage: joedb COMMAND [argument...]\n");
  for (const Command& command : commands) {
    for (const auto& group : groups)
      if (group.first == command.name) std::printf("\n%s:\n", group.title);
    std::printf("  %-14s%s\n", command.name, command.help);
  }
  std::printf(
      "\n"
      "See joedb help COMMAND for details. joedb --version [--json] prints the version.\n"
      "Most commands also have a name of their own, such as joedb_log.\n");
}

static std::string_view last_part(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}

// A command line, parsed.
struct Call {
  std::string name;  // as called, for example "joedb_pack" or "joedb pack"
  const Command* command = nullptr;
  std::vector<std::string> arguments;
};

static Call make_call(int argc, char** argv) {
  Call call{argc > 0 ? std::string(last_part(argv[0])) : "joedb", nullptr, {}};
  call.command = find_command(commands, call.name);
  call.arguments.assign(argv + (argc > 0 ? 1 : 0), argv + argc);
  if (call.command != nullptr || call.arguments.empty()) return call;
  call.command = find_command(commands, call.arguments.front());
  if (call.command == nullptr) return call;
  call.name += ' ' + call.arguments.front();
  call.arguments.erase(call.arguments.begin());
  if (call.command->alias != nullptr) set_called_as(call.command->alias, call.name);
  return call;
}

static constexpr const char* usage =
    "usage: joedb COMMAND [argument...]\nMore is shown by joedb --help.";

// Implements `joedb help [COMMAND...]`.
static int run_help(std::vector<std::string> words) {
  if (words.empty()) {
    print_help();
    return 0;
  }
  const Command* const command = find_command(commands, words.front());
  if (command == nullptr)
    throw Usage_Error(
        "help: unknown command: " + words.front() + suggested_command(words.front(), commands),
        usage);
  if (command->alias != nullptr) set_called_as(command->alias, "joedb " + words.front());
  words.erase(words.begin());
  words.push_back("--help");
  return command->run(std::move(words));
}

static int print_version(bool is_json) {
  if (is_json)
    std::printf("{%s}\n", json_members({{"program", "joedb"},
                                        {"version", version},
                                        {"file_format", std::int64_t{format_version}}})
                              .c_str());
  else
    std::printf("joedb %s\n", version);
  return 0;
}

static int run(Call& call) {
  std::vector<std::string>& words = call.arguments;
  const std::string first = words.empty() ? "" : words.front();
  if (first == "--version") return print_version(words.size() > 1 && words[1] == "--json");
  if (call.command != nullptr) return call.command->run(std::move(words));
  if (first == "--help" || first == "-h") return run_help({});
  if (first == "help") return run_help({words.begin() + 1, words.end()});
  if (first.empty()) throw Usage_Error("", usage);
  throw Usage_Error("unknown command: " + first + suggested_command(first, commands), usage);
}

// ---- errors -------------------------------------------------------------------------------------

// Returns a hint after the message that a text file is no database.
static std::string import_hint(std::string_view message) {
  constexpr std::string_view cause = ": missing joedb signature";
  if (!message.ends_with(cause)) return "";
  message.remove_suffix(cause.size());
  for (const auto& [ending, format] :
       {std::pair(".csv", "csv"), std::pair(".tsv", "csv --separator tab"),
        std::pair(".json", "jsonl"), std::pair(".jsonl", "jsonl"), std::pair(".ndjson", "jsonl")})
    if (message.ends_with(ending))
      return std::string("; joedb import ") + format + " FILE " +
             std::string(message.substr(message.rfind(' ') + 1)) + " imports it into a database";
  return "";
}

// Returns the message of an exception for users. Messages of exceptions begin with the operation;
// for users, the name of the file comes first.
static std::string user_message(const std::exception& error) {
  const std::string text = error.what();
  if (dynamic_cast<const std::bad_alloc*>(&error)) return "out of memory";
  const auto* const io = dynamic_cast<const Io_Error*>(&error);
  if (io == nullptr) return text + import_hint(text);
  if (const auto* const late = dynamic_cast<const Lock_Timeout*>(&error)) {
    const bool is_of_server = late->process == 0 && !late->holder.empty();
    if (is_of_server) return text + "; --lock-time sets another limit";
    if (has_busy_option()) return text + "; --busy-timeout sets another limit";
  }
  if (const auto* const locked = dynamic_cast<const File_Locked*>(&error))
    return locked->path + ": " + locked->reason;
  return io->action == "opening" ? text.substr(io->action.size() + 1) : text;
}

// Returns the message that joedb 10 has for the error.
static std::string classic_text(const std::exception& error) {
  if (const auto* const damage = dynamic_cast<const Corruption_Error*>(&error))
    return damage->reason();
  const auto* const unfinished = dynamic_cast<const Unfinished_Transaction*>(&error);
  if (unfinished == nullptr) return error.what();
  return "Checkpoint (" + std::to_string(unfinished->checkpoint) + ") is smaller than file size (" +
         std::to_string(unfinished->size) +
         "). This file may contain an aborted transaction. 'joedb_push file.joedb file "
         "fixed.joedb' can be used to truncate it.";
}

static void print_error(const Call& call, const std::exception& error) {
  std::fflush(stdout);
  const std::string text = is_classic() ? "Exception caught: " + classic_text(error)
                                        : call.name + ": " + user_message(error);
  // Escape control characters except line ends, because names of files, tables and fields may come
  // from others.
  std::fprintf(stderr, "%s\n", plain_lines(text).c_str());
}

}  // namespace joedb

int main(int argc, char** argv) {
  joedb::reserve_standard_descriptors();
  std::signal(SIGXFSZ, SIG_IGN);  // exceeding a file size limit is an error, like a full disk
  joedb::announce_lock_waits();
  joedb::Call call = joedb::make_call(argc, argv);
  try {
    return joedb::run(call);
  } catch (const joedb::Usage_Error& error) {
    std::fprintf(stderr, "%s%s\n", error.has_cause ? (call.name + ": ").c_str() : "", error.what());
    return joedb::is_classic() ? 1 : 2;
  } catch (const joedb::Interrupted& interrupted) {
    joedb::print_error(call, interrupted);
    std::signal(interrupted.signal, SIG_DFL);
    std::raise(interrupted.signal);
    return 1;
  } catch (const std::exception& error) {
    joedb::print_error(call, error);
    // joedb_client of joedb 10 returns 0 even after errors.
    const bool is_client = call.command != nullptr && call.command->run == joedb::run_client;
    return joedb::is_classic() && is_client ? 0 : 1;
  }
}
