#include <csignal>
#include <cstring>
#include <filesystem>

#include "kernel/io/new_file.h"
#include "kernel/io/run_program.h"
#include "tools/exchange/exchange_formats.h"
#include "tools/frame/database_options.h"
#include "tools/frame/output.h"
#include "tools/frame/past_name.h"

// Export formats that the Python package writes by means of pyarrow.

namespace joedb {

namespace {

// The arguments of the script are the name of this command, and then the arguments of joedb.export.
// The script removes the current directory from the module path, because a module there could
// shadow a package. Until joedb.export has been imported, signals end the process.
const char* const script = R"(import signal, sys
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    if signal.getsignal(number) != signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)
if sys.path[:1] == [""]:
    del sys.path[0]
program = sys.argv[1]
try:
    import pyarrow
    from joedb import export
except ImportError as error:
    sys.exit(program + ": this needs the Python packages joedb and pyarrow (" + str(error) + "): "
             + sys.executable + " -m pip install pyarrow, and pip install . in the sources of joedb; "
             + "or name another Python with --python")
sys.exit(export.main(sys.argv[2:], program))
)";

struct Arrow_Options {
  bool has_ids = false;
  bool is_replacing = false;
  std::vector<std::string> skipped;
  std::vector<std::string> times;
  Moment_Options moment;
  std::string python = "python3";
};

// Returns the position at which the export ends; nullopt for the end of the file.
std::optional<Offset> end_of(const std::string& name, const Moment_Options& moment) {
  const auto file = open_source(name, {});
  Reading_Options reading;
  reading.moment = moment;
  if (!moment.is_given()) return find_past(name);
  return name_file_in_errors(name, [&] { return reading.end_of(Readonly_Journal(*file)); });
}

std::string comma_list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text.append(text.empty() ? "" : ",").append(name);
  return text;
}

int run_python(const std::string& python, const std::vector<std::string>& words) {
  Program_End end;
  try {
    end = run_program(words);
  } catch (const Io_Error& error) {
    if (error.code != ENOENT && error.code != EACCES) throw;
    throw Exception(
        python + ": " + std::strerror(error.code) +
        ": this needs Python 3 with the packages joedb and pyarrow: install it, or name "
        "another Python with --python");
  }
  if (end.signal == SIGINT || end.signal == SIGTERM || end.signal == SIGHUP)
    end_by_signal(end.signal);
  if (end.signal != 0)
    throw Exception(python + " was ended by signal " + std::to_string(end.signal));
  return end.code;
}

struct Format {
  const char* name;
  const char* summary;
  const char* details;
};

constexpr const char* common_details =
    R"(Records are ordered by id. References are written as record ids or null, blobs as bytes; a string
that is not UTF-8 is an error. OUT appears only when it is complete and on disk.

The file is written by Python 3, with the packages joedb (pip install . in the sources of joedb) and
pyarrow.

)";

int run(const Format& format, std::vector<std::string> arguments) {
  const std::string program = std::string("joedb export ") + format.name;
  const std::string out_name = std::string("city.") + format.name;
  Options options({program + " [options] FILE TABLE OUT", format.summary,
                   format.details + std::string(common_details),
                   "  " + program + " europe.joedb city " + out_name + "\n  " + program +
                       " --id --at-time yesterday europe.joedb city " + out_name + "\n"});
  Arrow_Options all;
  options.add_flag("--id", all.has_ids, "add a first column __id, the record id");
  options.add("--skip", all.skipped, "omit these fields", "FIELD,...");
  options.add("--time", all.times, "write these int64 fields, in seconds since 1970, as times",
              "FIELD,...");
  options.add("--python", all.python,
              "Python interpreter that has the packages joedb and pyarrow (default: python3)",
              kinds::file);
  add_force_option(options, all.is_replacing);
  add_moment_options(options, all.moment);
  options.set_words({kinds::database, kinds::text, kinds::file});
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;

  const std::string name = words->take_name();
  const std::string table = words->take_name();
  const std::string out = words->take_last_name();
  require_absent(out, all.is_replacing);
  if (all.is_replacing) file_to_replace(out);
  require_other_file(out, name);
  if (is_url(name) || is_packed(name))
    throw Exception(shown_name(name) + ": " + program +
                    " takes only files of this machine that are not compressed");

  std::vector<std::string> command{all.python, "-c", script, program};
  if (all.has_ids) command.push_back("--id");
  if (all.is_replacing) command.push_back("--force");
  if (!all.skipped.empty()) command.push_back("--skip=" + comma_list(all.skipped));
  if (!all.times.empty()) command.push_back("--time=" + comma_list(all.times));
  if (const auto end = end_of(name, all.moment))
    command.push_back("--until=" + std::to_string(*end));
  command.insert(command.end(), {"--", format.name, name, table, out});
  if (run_python(all.python, command) != 0) return 1;
  if (!std::filesystem::exists(out)) throw Exception(all.python + " has not written " + out);
  return 0;
}

}  // namespace

int export_parquet(std::vector<std::string> arguments) {
  return run({"parquet", "Writes a table to an Apache Parquet file.", ""}, std::move(arguments));
}

int export_arrow(std::vector<std::string> arguments) {
  return run({"arrow", "Writes a table to an Apache Arrow file.",
              "The file is not compressed, so that programs can map it into memory.\n"
              "\n"},
             std::move(arguments));
}

int export_feather(std::vector<std::string> arguments) {
  return run({"feather", "Writes a table to a Feather file.",
              "A Feather (version 2) file is an Apache Arrow file compressed with LZ4.\n"
              "\n"},
             std::move(arguments));
}

}  // namespace joedb
