#include "tools/exchange/sql_command.h"

#include <memory>
#include <utility>

#include "sql/live_sql.h"
#include "sql/sqlite_api.h"
#include "tools/exchange/sql_rows.h"

namespace joedb {

namespace {

constexpr Command_Help help[] = {
    {"select", "value...",
     "run a statement of SQL, in one line. It sees all changes written so far",
     "select name, age from person where age > 40 order by name\n"
     "select count(*) from person\n"},
    {"with", "value...", "run a SELECT with common table expressions",
     "with adult as (select * from person where age > 17) select count(*) from adult\n"},
};

class Select_Command {
 public:
  Select_Command(Command_Loop& loop, Database& database, Abstract_File& file,
                 std::function<void()> flush)
      : loop_(loop), sql_(database, file), flush_(std::move(flush)) {}

  void run(const std::string& text, std::ostream& out) {
    if (flush_) flush_();
    sqlite3* const connection = sql_.connection();
    interrupt_when_stopped(connection, loop_.display());
    sqlite3_stmt* prepared = nullptr;
    const char* rest = nullptr;
    int code = sqlite3_prepare_v2(connection, text.c_str(), static_cast<int>(text.size()),
                                  &prepared, &rest);
    const std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> statement(prepared,
                                                                               &sqlite3_finalize);
    if (code == SQLITE_OK && std::string_view(rest).find_first_not_of(" \t;") != std::string::npos)
      throw Exception("one statement expected, and there is more: " + std::string(rest));
    if (code == SQLITE_OK) code = Sql_Rows(prepared, Row_Format::table, out, loop_.display()).run();
    if (code == SQLITE_INTERRUPT) throw Display_Stopped("interrupted");
    if (code != SQLITE_DONE) throw Exception(sql_error_text(connection, text, 0));
  }

 private:
  Command_Loop& loop_;
  Live_Sql sql_;
  const std::function<void()> flush_;
};

}  // namespace

void add_sql_commands(Command_Loop& loop, Database& database, Abstract_File& file,
                      std::function<void()> flush) {
  if (loop.settings().is_classic) return;
  const auto command = std::make_shared<Select_Command>(loop, database, file, std::move(flush));
  const auto run = [command](const std::string& word) {
    return [command, word](Line_Reader& in, std::ostream& out) {
      command->run(word + ' ' + std::string(in.read_rest()), out);
    };
  };
  loop.add_group({"SQL",
                  {{"select|SELECT", "select <columns> from <table> ...", run("SELECT"), true},
                   {"with|WITH", "with <name> as (...) select ...", run("WITH"), true}}});
  loop.add_help(help);
}

}  // namespace joedb
