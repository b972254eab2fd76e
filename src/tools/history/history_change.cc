#include "tools/history/history_change.h"

#include <ctime>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>

#include "kernel/base/counted.h"
#include "text/conflict_text.h"
#include "tools/frame/database_options.h"
#include "tools/frame/json_output.h"
#include "tools/frame/lock_notice.h"
#include "tools/frame/output.h"
#include "tools/frame/standard_input.h"
#include "tools/history/history_output.h"

namespace joedb {

void add_history_change_options(Options& options, History_Change& command) {
  options.add_flag("--dry-run", command.is_dry_run,
                   "show what would be written, but write nothing");
  options.add("--message", command.message, "comment of the new transaction");
  options.add("--author", command.author,
              "author of the change: appends the comment \"author: NAME\"", Value_Kind{"NAME", ""});
  options.add_flag("--all", command.is_complete,
                   "show all records of large changes, and long texts in full");
  add_json_option(options, command.is_json);
  add_colour_option(options, command.colour);
  options.add("--options", command.transaction.options_file,
              "a .joedbc file; writes that violate its unique indexes are refused",
              kinds::options_file);
  add_recovery_option(options, command.transaction.recovery);
  add_seals_option(options, command.transaction.has_no_seals);
  add_busy_option(options);
  add_utc_option(options);
  add_file_modes(options, history_change_grammar);
}

void add_conflict_options(Options& options, History_Change& command) {
  options.add_flag("--ours", command.is_ours, "on conflict, keep the present value");
  options.add_flag("--theirs", command.is_theirs, "on conflict, write the old value anyway");
}

namespace {

class Changer {
 public:
  Changer(const File_Argument& file, const History_Change& command, const Find_Changes& find)
      : file_(file), command_(command), find_(find) {}

  void run() {
    if (command_.is_dry_run)
      look();
    else
      write();
    if (!command_.is_json) print_conflicts(std::cerr, plan_);
    std::cout << text_.view();
  }

 private:
  void look() {
    if (file_.kind == File_Argument::Kind::memory) throw Exception("has no transactions");
    File_Argument readable = file_;
    readable.mode = Open_Mode::read_existing;
    Tool_Log log(Log_Options{});
    const auto file = open_file(readable, log);
    const Recovery recovery = command_.transaction.recovery;
    Database database;
    for (auto& index : read_indexes(command_.transaction.options_file, *file, recovery))
      database.add_index(std::move(index));
    Readonly_Journal journal(*file, recovery);
    load(database, journal);
    make_plan(*file, database, recovery);
    make_text();
  }

  void write() {
    Transaction_Options transaction = command_.transaction;
    change_existing_file(file_, transaction, [&](Writable_Database& database) {
      Abstract_File& file = std::as_const(database).get_journal().get_file();
      const Database& content = std::as_const(database).get_database();
      make_plan(file, content, Recovery::none);
      if (!command_.may_drop) require_no_drops(plan_);
      if (command_.asks && is_interactive()) ask_before_large_deletions(plan_.changes, content);
      if (!plan_.changes.empty()) write_to(database);
      make_text();
    });
  }

  void write_to(Writable_Database& database) {
    info_ = write_transaction(database, wanted_, plan_, command_.author, std::time(nullptr));
    database.prepare_checkpoint(Checkpoint_Level::hard);
    info_.end = std::as_const(database).get_journal().get_position();
  }

  void make_plan(Abstract_File& file, const Database& database, Recovery recovery) {
    wanted_ = find_(file, database, recovery);
    if (!command_.message.empty()) wanted_.comment = command_.message;
    info_.comments = {wanted_.comment};
    info_.author = command_.author;
    plan_ = plan_changes(database, wanted_.changes,
                         command_.is_ours     ? Conflicts::ours
                         : command_.is_theirs ? Conflicts::theirs
                                              : Conflicts::refuse);
    if (!plan_.is_possible) throw_conflicts();
  }

  static void ask_before_large_deletions(const std::vector<Change>& changes,
                                         const Database& content) {
    std::map<Table_Id, index_t> deleted;
    for (const Change& change : changes)
      if (change.kind == Change::Kind::deleted) deleted[change.table->id] += change.size;
    for (const auto& [id, count] : deleted) {
      const Table& table = content.table(id);
      const index_t all = table.records().used_count();
      if (count <= all / 2) continue;
      std::cerr << "this deletes " << count << " of " << counted(all, "record") << " of "
                << table.name() << ". Go on? [y/N] " << std::flush;
      if (!reads_yes()) throw Exception("nothing was written");
    }
  }

  [[noreturn]] void throw_conflicts() {
    if (command_.is_json)
      print_json(result());
    else
      print_conflicts(std::cerr, plan_);
    throw Exception(refusal_text(plan_, command_.is_theirs));
  }

  // Makes the text for the output before the checkpoint. If this fails, a rollback is still
  // possible, so a change that cannot be printed is not written.
  void make_text() {
    if (command_.is_json) {
      print_json(result(), text_);
      return;
    }
    History_Text(text_,
                 {.has_colours = has_colours(command_.colour), .is_complete = command_.is_complete})
        .print_plan(plan_, command_.is_dry_run ? nullptr : &info_);
  }

  static Json json_of(const Change_Conflict& conflict) {
    static constexpr const char* kinds[] = {"value_changed", "record_present", "record_missing",
                                            "table_missing", "field_missing",  "table_changed",
                                            "field_changed", "name_changed",   "name_taken",
                                            "key_taken",     "needed"};
    Json json{{"conflict", kinds[static_cast<std::size_t>(conflict.kind)]},
              {"table", conflict.table}};
    if (conflict.record.is_not_null()) json["record"] = conflict.record.value();
    if (!conflict.field.empty()) json["field"] = conflict.field;
    if (!conflict.expected.is_empty())
      json["expected"] = joedb::json_of(get(conflict.logical), conflict.expected[0]);
    if (!conflict.found.is_empty())
      json["found"] = joedb::json_of(get(conflict.logical), conflict.found[0]);
    if (!conflict.wanted.is_empty())
      json["wanted"] = joedb::json_of(get(conflict.logical), conflict.wanted[0]);
    if (!conflict.name.empty()) json["name"] = conflict.name;
    if (conflict.other.is_not_null()) json["other"] = conflict.other.value();
    return json;
  }

  Json result() const {
    Json json{{"written", info_.end > 0}};
    json["position"] = info_.end > 0 ? Json(info_.end) : Json(nullptr);
    json["comment"] = wanted_.comment;
    json["conflict_count"] = plan_.conflict_count;
    json["conflicts"] = Json::array();
    for (const Change_Conflict& conflict : plan_.conflicts)
      json["conflicts"].push_back(json_of(conflict));
    json["changes"] = Json::array();
    for (const Change& change : plan_.changes)
      json["changes"].push_back(joedb::json_of(change, Record_Id()));
    return json;
  }

  const File_Argument& file_;
  const History_Change& command_;
  const Find_Changes& find_;
  Transaction_Content wanted_;
  Plan plan_;
  Transaction_Info info_;    // about the written transaction
  std::ostringstream text_;  // to be printed after the change has been written
};

}  // namespace

int change_by_history(const File_Argument& file, const History_Change& command,
                      const Find_Changes& find) {
  if (command.is_ours && command.is_theirs)
    throw Usage_Error("--ours and --theirs exclude each other");
  if (command.message.starts_with(author_mark))
    throw Usage_Error("--message: this comment has the form of an author: use --author NAME");
  name_file_in_errors(file.name, [&] { Changer(file, command, find).run(); });
  finish_standard_output();
  return 0;
}

}  // namespace joedb
