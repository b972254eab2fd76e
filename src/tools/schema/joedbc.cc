#include <iostream>

#include "tools/compiler/compile_schema.h"
#include "tools/frame/arguments.h"
#include "tools/frame/command.h"
#include "tools/frame/json_output.h"
#include "tools/frame/output.h"
#include "tools/schema/language_server.h"
#include "tools/schema/schema_check.h"

namespace joedb {

static const char* const joedbc_details =
    R"(Reads BASE.joedbi (joedbi commands that create the schema) and, if it exists, BASE.joedbc (options,
one per line):

  namespace a::b::c                         namespace of the generated code; the last part names
                                            the header (default: the name of BASE)
  timestamp_transactions                    end every transaction with a time stamp
  unmarked_transactions                     write joedb 10 bytes: no marks, no integrity entries
  create_unique_index NAME TABLE FIELD,...  unique index: no two records have the same values in
                                            these fields
  create_index NAME TABLE FIELD,...         index that allows duplicate values
  set_single_row TABLE true                 the table always has exactly one row
  set_table_storage ...                     ignored with a warning; for files of joedb 10
  # text                                    comment

If the directory BASE.rpc exists, also reads it for remote procedure calls: a schema for each kind
of message, and Service.h, whose public methods are the procedures:
  void name(schema::Writable_Database&)

BASE may also be given as the name of one of these files: joedbc geo.joedbi.

Writes NAME.h, the typed database, where NAME is the last part of the namespace, and the directory
NAME, with headers that include NAME.h under the names used by joedb 10. Files whose content would
not change are not written; joedbc refuses to overwrite files that it did not generate.

With --python, writes NAME.py instead: a Python module with a function open(), and with the types of
tables and fields for editors and mypy. It needs the package joedb (docs/python.md).
)";

// Prints the findings in a form that editors can parse: FILE:LINE:COLUMN: error: TEXT.
static int check(const std::string& base, bool is_json) {
  const std::vector<Finding> findings = check_schema(base);
  Json all = Json::array();
  bool is_good = true;
  for (const Finding& f : findings) {
    const char* const severity = f.is_warning ? "warning" : "error";
    is_good = is_good && f.is_warning;
    if (is_json)
      all.push_back({{"file", f.file},
                     {"line", f.line},
                     {"column", f.column},
                     {"severity", severity},
                     {"message", f.text}});
    else
      std::cout << f.file << ':' << f.line << ':' << f.column << ": " << severity << ": " << f.text
                << '\n';
  }
  if (is_json) print_json({{"schema", base}, {"good", is_good}, {"findings", all}});
  finish_standard_output();
  return is_good ? 0 : 1;
}

int run_compiler(std::vector<std::string> arguments) {
  Options options({"joedbc [options] BASE", "Compiles a schema to C++ or to a Python module.",
                   joedbc_details,
                   "  joedbc geo                # geo.joedbi and geo.joedbc to geo.h\n"
                   "  joedbc --output build geo\n"
                   "  joedbc --python geo       # to geo.py\n"
                   "  joedbc --check geo.joedbi\n"});
  std::string output = ".";
  options.add("--output", output, "output directory (default: the current directory)",
              kinds::directory);
  options.set_words({kinds::schema});
  bool is_python = false;
  options.add_flag("--python", is_python, "write a Python module instead of C++");
  bool force = false;
  options.add_flag("--force", force, "also replace files that joedbc did not generate");
  bool is_check = false;
  bool is_json = false;
  options.add_flag("--check", is_check,
                   "write nothing; print all errors as FILE:LINE:COLUMN: error: TEXT, for editors");
  bool is_server = false;
  options.add_flag(
      "--language-server", is_server,
      "run as a Language Server Protocol server for an editor, on standard input and output");
  options.add_flag("--json", is_json, "with --check: print a JSON object instead");
  add_classic_option(options);
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;
  if (is_server) {
    words->require_end();
    return run_language_server();
  }
  const std::string base = base_of_schema(words->take_last_name());
  if (is_json && !is_check) words->fail("--json needs --check");
  if (is_python && is_check) words->fail("--check and --python exclude each other");
  if (is_check) return check(base, is_json);
  try {
    const auto language = is_python ? compiler::Language::python : compiler::Language::cpp;
    const auto existing =
        force || is_classic() ? New_File::Existing::replace : New_File::Existing::refuse;
    compiler::compile_schema(base, language, output, existing);
    return 0;
  } catch (const compiler::Schema_Errors& errors) {
    std::cerr << errors.what() << '\n';
    return 1;
  }
}

}  // namespace joedb
