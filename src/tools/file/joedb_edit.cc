#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "commands/edit_text.h"
#include "kernel/base/counted.h"
#include "kernel/base/shell_word.h"
#include "kernel/io/new_file.h"
#include "kernel/journal/late_file.h"
#include "text/dump.h"
#include "tools/frame/arguments.h"
#include "tools/frame/command.h"
#include "tools/frame/database_options.h"
#include "tools/frame/file_transaction.h"
#include "tools/frame/lock_notice.h"
#include "tools/frame/output.h"
#include "tools/frame/progress.h"
#include "tools/frame/standard_input.h"

namespace joedb {

namespace {

struct Edit_Options {
  std::string name;  // file name of the database
  std::string table;
  std::string text_file;
  std::int64_t limit = 100'000;
  bool is_dry_run = false;
  bool is_hard = false;
};

// Returns the part of the header that identifies the state of a text. A text can be applied only to
// this state.
std::string state_of(const Edit_Options& options, Offset position) {
  const std::string table = options.table.empty() ? "" : ", table " + options.table;
  return ", position " + std::to_string(position) + table + ": ";
}

std::string header_of(const Edit_Options& options, Offset position) {
  std::string lines = "# " + options.name + state_of(options, position);
  lines +=
      R"(save this text and exit the editor to write your changes.
# Each line is a record: its id, and a value for each field. To delete a record, remove its line.
# A new record begins with a new id, or with + for the next id. null is a null reference.
# Escapes in texts: \" \\ \n \t \xHH.
# New fields and tables: "field NAME TYPE", "field NAME TYPE = VALUE OF ALL RECORDS", "table NAME".
# New names: "field NEW TYPE was OLD", "table NEW was OLD". Removed fields and tables are dropped.

)";
  return lines;
}

// ---- the editor ---------------------------------------------------------------------------------

std::string editor_command() {
  for (const char* const variable : {"VISUAL", "EDITOR"})
    if (const char* const value = std::getenv(variable); value != nullptr && *value != 0)
      return value;
  return "vi";
}

// While the editor runs, std::system ignores SIGINT and SIGQUIT in this process. The editor handles
// them.
void run_editor(const std::string& path) {
  const std::string editor = editor_command();
  const int status = std::system((editor + ' ' + shell_word(path)).c_str());
  if (status == 0) return;
  constexpr int not_found = 127 << 8;  // exit status 127 of the shell, from std::system()
  if (status == not_found)
    throw Exception("the editor cannot be started: " + editor +
                    ". Set the environment variable EDITOR to choose another one");
  throw Exception("the editor (" + editor + ") has failed, and nothing was changed");
}

// ---- a session ----------------------------------------------------------------------------------

class Editor {
 public:
  // `database` must have the content to edit.
  Editor(const Edit_Options& options, const Database& database, Offset position)
      : options_(options),
        original_(header_of(options, position) + content(database)),
        text_("-" + std::filesystem::path(options.name).filename().string() + ".txt",
              options.text_file.empty() ? original_ : read_text(position)) {}

  // Runs the editor until apply(text) returns no problems. Returns false if the text was not
  // changed. Passes on the exceptions of apply(). Throws Exception if the user quits. After an
  // exception, the text is kept if it was changed.
  template <class Apply>
  bool edit(Apply apply) {
    text_.keep();  // a signal must not remove the text saved by the editor
    try {
      for (;;) {
        run_editor(text_.path());
        const std::string edited = text_.read();
        if (edited == original_) {
          text_.remove();
          return false;
        }
        const std::vector<Edit_Problem> problems = apply(edited);
        if (problems.empty()) {
          text_.remove();
          return true;
        }
        print(problems);
        if (!wants_another_edit()) throw Exception("nothing was changed");
      }
    } catch (...) {
      report_kept_text();
      throw;
    }
  }

  const std::string& path() const { return text_.path(); }
  // Throws Exception, because the database has changed since the text was made.
  [[noreturn]] void throw_outdated() {
    is_outdated_ = true;
    throw Exception("others have changed the database meanwhile, and nothing was written");
  }

  const Table* table_of(const Database& database) const {
    if (options_.table.empty()) return nullptr;
    const Table* const table = database.find_table(options_.table);
    if (table == nullptr) throw Exception("there is no table " + options_.table);
    return table;
  }

 private:
  std::string content(const Database& database) const {
    const Table* const only = table_of(database);
    index_t records = 0;
    for (const Table* const table : live_tables(database))
      if (only == nullptr || table == only) records += table->records().used_count();
    if (records > options_.limit)
      throw Exception("there are " + std::to_string(records) +
                      " records, too many to be edited as a text: choose a table (--table), or "
                      "another limit (--limit) than " +
                      std::to_string(options_.limit));
    return edit_text(database, only);
  }

  static std::string read_file(const std::string& name) {
    std::ifstream in(name, std::ios::binary);
    if (!in) throw_io_error("opening", name, -1, errno);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  // Reads a text that an earlier run has kept. Throws Exception if the text is for another state or
  // for other tables, because it would undo what others have written, or drop tables.
  std::string read_text(Offset position) const {
    std::string text = read_file(options_.text_file);
    const std::string state = state_of(options_, position);
    if (std::string_view(text).substr(0, text.find('\n')).find(state) == text.npos)
      throw Exception(options_.text_file + ": its first line does not say \"" +
                      state.substr(2, state.size() - 4) +
                      "\": others have written since, or it is of other tables (--table). Edit the "
                      "database anew, and take your changes from there");
    return text;
  }

  void print(const std::vector<Edit_Problem>& problems) const {
    for (const Edit_Problem& problem : problems)
      std::cerr << "line " << problem.line << ": " << problem.what << '\n';
  }

  bool wants_another_edit() const {
    if (!is_interactive()) return false;
    for (;;) {
      std::cout << "[e]dit again, [q]uit and keep the text in " << text_.path() << ": "
                << std::flush;
      std::string answer;
      if (!std::getline(std::cin, answer) || answer == "q") return false;
      if (answer == "e") return true;
    }
  }

  // If the text was changed, prints where it is kept; otherwise, removes it. Never throws.
  void report_kept_text() {
    try {
      if (text_.read() == original_) return text_.remove();
      std::cerr << "the text is kept in " << text_.path();
      const std::string table =
          options_.table.empty() ? "" : "--table " + shell_word(options_.table) + ' ';
      if (is_outdated_)
        std::cerr << "; edit the database anew, and take your changes from there\n";
      else
        std::cerr << "; to go on with it: joedb_edit " << table << "--text "
                  << shell_word(text_.path()) << ' ' << shell_word(options_.name) << '\n';
    } catch (const Exception&) {  // there is no text
    }
  }

  const Edit_Options& options_;
  const std::string original_;
  Temporary_Text text_;
  bool is_outdated_ = false;
};

// ---- the database -------------------------------------------------------------------------------

void print(const Edit_Options& options, const Edit_Summary& summary) {
  const auto part = [](index_t n, const std::string& what, const std::string& done) {
    if (n == 0) return std::string();
    return ", " + counted(n, what) + ' ' + done;
  };
  const std::string text = part(summary.schema, "change", "of tables and fields") +
                           part(summary.values, "value", "changed") +
                           part(summary.inserted, "record", "inserted") +
                           part(summary.deleted, "record", "deleted");
  std::cout << options.name << ": " << (text.empty() ? "no changes" : text.substr(2)) << '\n';
}

// Returns the problems of the text, including the Edit_Error if applying the text fails.
template <class Apply>
std::vector<Edit_Problem> try_to_apply(const std::string& text, const Database& database,
                                       const Table* only, Apply apply) {
  const Edited_Text edited(text, database, only);
  if (!edited.problems().empty()) return edited.problems();
  try {
    apply(edited);
  } catch (const Edit_Error& error) {
    return {{error.line, error.what()}};
  }
  return {};
}

// Loads the current content, and returns its position.
Offset load_content(Abstract_File& file, Database& database) {
  Readonly_Journal journal(file);
  database.limit_to_journal_of(journal.get_checkpoint());
  replay_with_progress(journal, database, "loading " + file.get_name());
  database.remove_limits();
  return journal.get_checkpoint();
}

// A file that does not exist is made when the changes are written.
std::unique_ptr<Abstract_File> open_to_edit(const Edit_Options& options, Open_Mode mode) {
  if (is_late(late_argument(options.name)))
    return std::make_unique<Late_File>(options.name, mode, busy_timeout());
  return std::make_unique<File>(options.name, mode, busy_timeout());
}

void show_changes(const Edit_Options& options) {
  const auto opened = open_to_edit(options, Open_Mode::read_existing);
  Abstract_File& file = *opened;
  Database database;
  const Offset position = load_content(file, database);
  Editor editor(options, database, position);
  const auto apply = [&](const std::string& text) {
    Database copy;
    if (load_content(file, copy) != position) editor.throw_outdated();
    Command_Writer printer(std::cout);
    Change_Sink sink(copy, printer);
    return try_to_apply(text, copy, editor.table_of(copy),
                        [&](const Edited_Text& edited) { edited.apply(sink); });
  };
  if (!editor.edit(apply)) print(options, {});
}

void report_wait(const std::string& name, const std::string& text = "") {
  std::error_code ignored;
  if (!std::filesystem::exists(name, ignored)) return;
  if (!File(name, Open_Mode::read_existing).is_being_written()) return;
  std::cerr << name << ": waiting until no other process writes it. Ctrl-C gives up";
  if (!text.empty()) std::cerr << "; the text is in " << text;
  std::cerr << '\n';
}

Edit_Summary write_changes(const Edited_Text& edited, Writable_Database& database) {
  Edit_Summary summary;
  run_in_transaction(database, [&] {
    Change_Sink sink(database);
    summary = edited.apply(sink);
  });
  return summary;
}

void write_changes(const Edit_Options& options) {
  report_wait(options.name);
  if (is_late(late_argument(options.name))) announce_late_file(options.name);
  const auto opened = open_to_edit(options, Open_Mode::shared_write);
  Abstract_File& file = *opened;
  Journal_Options journal_options;
  journal_options.ends_transactions = true;
  Writable_Database database(file, journal_options);
  Editor editor(options, database.get_database(),
                std::as_const(database).get_journal().get_checkpoint());
  Edit_Summary summary;
  const auto apply = [&](const std::string& text) {
    report_wait(options.name, editor.path());
    const Database& content = database.get_database();
    return try_to_apply(text, content, editor.table_of(content), [&](const Edited_Text& edited) {
      // The lock makes a file that does not exist, which a text with errors must not do.
      const Write_Lock lock(database);
      if (lock.has_news()) editor.throw_outdated();
      summary = write_changes(edited, database);
    });
  };
  if (!editor.edit(apply)) require_made(late_argument(options.name));
  print(options, summary);
}

const char* const edit_details =
    R"(Opens the content as text, one record per line, in $VISUAL or $EDITOR. When the editor exits, the
changes are appended to the journal in one transaction. Nothing is locked while the editor runs: if
another program has written meanwhile, nothing is changed and the text is kept. The same happens if
the text has errors; at a terminal, you are asked whether to edit it again.

)";

}  // namespace

int run_edit(std::vector<std::string> arguments) {
  Options parser({"joedb_edit [options] FILE", "Edits a database as text.", edit_details,
                  "  joedb_edit people.joedb\n"
                  "  joedb_edit --table person people.joedb\n"
                  "  EDITOR='code --wait' joedb_edit people.joedb\n"});
  Edit_Options options;
  parser.add("--table", options.table, "edit only this table", Value_Kind{"TABLE", ""});
  parser.add("--limit", options.limit, "refuse to edit more records than this (default: 100000)",
             {.min = 0});
  parser.add_flag("--dry-run", options.is_dry_run,
                  "change nothing; print what would be appended, as joedbi commands");
  parser.add("--text", options.text_file,
             "start with the text in this file, kept from an earlier run, instead of the content",
             kinds::file);
  parser.add_flag("--hard-checkpoint", options.is_hard,
                  "no effect: a hard checkpoint is always written");
  add_busy_option(parser);
  auto words = parser.parse(std::move(arguments));
  if (!words) return 0;
  options.name = words->take_last_name();
  name_file_in_errors(options.name, [&] {
    if (open_to_edit(options, Open_Mode::read_existing)->get_size() == 0)
      throw Exception("the file is empty; it is not a database");
    if (options.is_dry_run)
      show_changes(options);
    else
      write_changes(options);
  });
  finish_standard_output();
  return 0;
}

}  // namespace joedb
