#include <algorithm>
#include <sstream>

#include "commands/commands.h"
#include "tools/frame/command.h"
#include "tools/frame/database_options.h"
#include "tools/frame/file_transaction.h"
#include "tools/frame/lock_notice.h"
#include "tools/frame/source.h"

namespace joedb {

static constexpr File_Grammar alter_grammar{.default_mode = Open_Mode::write_existing};

static const char* const alter_details =
    R"(Runs one command of joedbi that changes tables or fields, in a transaction with a hard checkpoint:
create_table, add_field, rename_field and others; `joedb interpreter`, then `help`, lists them. If it
fails, nothing has changed.

  retype TABLE FIELD TYPE
      gives a field another type, like retype_field of joedbi. Each value must be one of the new type,
      too: the number 300 is no int8. The field becomes the last one of its table.

)";

// Runs one line. Throws Exception if it fails.
static void run_line(const std::string& line, Writable_Database& database) {
  Command_Loop loop({.is_echoing = false, .is_bailing = true}, [] { return std::string(); });
  const std::vector<std::string> others = loop.command_names();
  add_schema_commands(loop, database);
  const std::size_t begin = line.find_first_not_of(" \t");
  const std::string word =
      begin == line.npos ? "" : line.substr(begin, line.find_first_of(" \t", begin) - begin);
  const bool is_other = std::find(others.begin(), others.end(), word) != others.end();
  if (word.empty() || word.starts_with('#') || is_other)
    throw Exception("a command like add_field or retype expected, got `" + word + '`');
  if (line.find('\n') != line.npos) throw Exception("a command is one line");
  std::ostringstream nowhere;
  Text_Line_Source in(line, nowhere);
  if (loop.run(in, nowhere) != Command_Loop::End::error) return;
  try {
    std::rethrow_exception(loop.failures().error);
  } catch (const Line_Error& error) {  // the columns of the line mean nothing to users
    throw Exception(error.reason);
  } catch (const Unknown_Command&) {
    throw Exception("unknown command: " + line.substr(0, line.find(' ')) +
                    ": one like add_field or retype expected");
  }
}

int run_alter(std::vector<std::string> arguments) {
  Options options({"joedb alter [options] FILE COMMAND ARGUMENT...",
                   "Changes tables and fields of a database.",
                   alter_details + file_help(alter_grammar),
                   "  joedb alter people.joedb retype person age int64\n"
                   "  joedb alter people.joedb retype person born date optional\n"
                   "  joedb alter people.joedb add_field person state 'enum(open, paid)'\n"
                   "  joedb alter people.joedb rename_table person customer\n"});
  Transaction_Options transaction;
  add_transaction_options(options, transaction);
  Source_Options source;
  add_source_options(options, source);
  add_busy_option(options);
  add_file_modes(options, alter_grammar);
  options.set_words({kinds::database, kinds::text});
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;
  const File_Argument file = take_file(*words, alter_grammar, source);
  std::string line = words->take_name();
  if (line == "retype") line = "retype_field";
  while (!words->is_empty()) line += ' ' + words->take_name();
  name_file_in_errors(file.name, [&] {
    change_existing_file(file, transaction,
                         [&](Writable_Database& database) { run_line(line, database); });
  });
  return 0;
}

}  // namespace joedb
