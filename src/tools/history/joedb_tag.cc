#include <ctime>
#include <iostream>

#include "history/requests.h"
#include "text/history_text.h"
#include "tools/frame/command.h"
#include "tools/frame/database_options.h"
#include "tools/frame/file_transaction.h"
#include "tools/frame/json_output.h"
#include "tools/frame/lock_notice.h"
#include "tools/frame/output.h"

namespace joedb {

namespace {

constexpr File_Grammar tag_grammar{.default_mode = Open_Mode::write_existing};

struct Tag_Command {
  bool is_removal = false;
  bool is_forced = false;
  bool is_json = false;
  std::string author;
  Transaction_Options transaction;
};

// ---- listing ------------------------------------------------------------------------------------

Json json_of(const std::string& name, const Tag& tag) {
  return {{"name", name},
          {"position", tag.position},
          {"time", tag.time ? Json(*tag.time) : Json(nullptr)},
          {"author", tag.author.empty() ? Json(nullptr) : Json(tag.author)},
          {"written_at", tag.written_at}};
}

void list(const File_Argument& file, const Tag_Command& command) {
  File_Argument readable = file;
  readable.mode = Open_Mode::read_existing;
  Tool_Log log(Log_Options{});
  const auto opened = open_file(readable, log);
  const Tags tags = read_tags(*opened, command.transaction.recovery);
  if (command.is_json) {
    Json json = Json::array();
    for (const auto& [name, tag] : tags.by_name()) json.push_back(json_of(name, tag));
    return print_json(json);
  }
  std::cout << tag_list_text(tags);
}

// ---- writing ------------------------------------------------------------------------------------

void write(const File_Argument& file, const std::string& name, const std::optional<When>& when,
           const Tag_Command& command) {
  std::string comment;
  change_existing_file(file, command.transaction, [&](Writable_Database& database) {
    Abstract_File& opened = std::as_const(database).get_journal().get_file();
    Transaction_Content wanted;
    wanted.comment = command.is_removal ? tag_removal_comment(opened, name)
                                        : tag_comment(opened, name, when, command.is_forced);
    write_transaction(database, wanted, {}, command.author, std::time(nullptr));
    comment = wanted.comment;
  });
  if (command.is_json)
    print_json({{"comment", comment}});
  else
    std::cout << comment << '\n';
}

const char* const tag_details =
    R"(POSITION is the end of a transaction, as shown by joedb_log; a time: "2026-01-31", "2 hours ago"; or
another tag; the default is the end of the journal. NAME can then be used wherever tools take a
position or a time. Without NAME, tags are listed: name, position, time and author. A tag is a
comment at the end of the journal, and is copied along with it.

)";

}  // namespace

int run_tag(std::vector<std::string> arguments) {
  Options options({"joedb_tag [options] FILE [NAME [POSITION]]",
                   "Names a position of a database, or lists the names.",
                   tag_details + file_help(tag_grammar),
                   "  joedb_tag people.joedb v1\n"
                   "  joedb_tag --author Ann people.joedb before_import '2 hours ago'\n"
                   "  joedb_tag people.joedb\n"
                   "  joedb_tag --delete people.joedb v1\n"});
  Tag_Command command;
  options.add_flag("--delete", command.is_removal, "remove the tag NAME");
  options.add_flag("--force", command.is_forced, "replace the tag NAME if it exists");
  options.add("--author", command.author,
              "author of the change: appends the comment \"author: NAME\"", Value_Kind{"NAME", ""});
  add_json_option(options, command.is_json);
  add_recovery_option(options, command.transaction.recovery);
  add_seals_option(options, command.transaction.has_no_seals);
  Source_Options source;
  add_source_options(options, source);
  add_busy_option(options);
  add_utc_option(options);
  add_file_modes(options, tag_grammar);
  options.set_words({kinds::database, kinds::text});
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;

  const File_Argument file = take_file(*words, tag_grammar, source);
  if (words->is_empty()) {
    if (command.is_removal) words->fail("--delete: the name of a tag is missing");
    name_file_in_errors(shown_name(file.name), [&] { list(file, command); });
    finish_standard_output();
    return 0;
  }
  const std::string name = words->take_name();
  usage([&] { require_tag_name(name); });
  std::optional<When> when;
  if (!words->is_empty()) when = parse_when(words->take_last_name(), "POSITION");
  if (when && command.is_removal) words->fail("--delete takes no POSITION");
  if (file.mode == Open_Mode::read_existing) {
    require_writable_name(file.name);
    words->fail("--read: the database is written");
  }
  name_file_in_errors(file.name, [&] { write(file, name, when, command); });
  finish_standard_output();
  return 0;
}

}  // namespace joedb
