#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/output.h"
#include "compiler/cpp.h"
#include "interpreter/commands.h"
#include "joedb/io/memory_file.h"

namespace joedb {

static const char* const details =
    R"(Reads BASE.joedbi (joedbi commands that make the schema) and, if it is there, BASE.joedbc
(options, one in a line):

  namespace a::b::c                         where the code goes; its last part names the header
                                            (default: the name of BASE)
  timestamp_transactions                    every transaction ends with a time stamp
  create_unique_index NAME TABLE FIELD[,…]  an index: no two records have the same values of these
                                            fields
  create_index NAME TABLE FIELD[,…]         an index in which values may occur again
  set_single_row TABLE true                 the table has exactly one row, from the beginning
  set_table_storage …                       nothing, with a warning: for files of joedb 10
  # text                                    nothing

Writes c.h, the typed database, and the folder c with headers that include it under the names that
joedb 10 gives them. Files that would not change are not written.
)";

static std::string read_text(const std::string& name) {
  std::ifstream in(name, std::ios::binary);
  if (!in) throw_io_error("opening", name, -1, errno);
  return {std::istreambuf_iterator<char>(in), {}};
}

static void run_schema(Writable_Database& database, const std::string& file) {
  const std::string text = read_text(file);
  std::ostringstream out;
  Command_Loop loop({.is_echoing = false, .is_bailing = true}, [] { return ""; });
  add_journal_commands(loop, database, {});
  add_schema_commands(loop, database);
  add_data_commands(loop, database, {});
  Text_Line_Source in(text, out);
  const Command_Loop::End end = loop.run(in, out);
  database.soft_checkpoint();
  if (end == Command_Loop::End::error) {
    const Command_Loop::Failures& failures = loop.failures();
    throw compiler::Schema_Errors({{file, static_cast<int>(failures.line_number), failures.text}});
  }
}

// Only if something changes, so that what includes it is not compiled again.
static void write_file(const std::filesystem::path& path, const std::string& content) {
  {
    std::ifstream in(path, std::ios::binary);
    if (in && std::string(std::istreambuf_iterator<char>(in), {}) == content) return;
  }
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path());
  fill_new_file(path.string(), New_File::Existing::replace,
                [&](File& file) { file.pwrite(content.data(), content.size(), 0); });
}

static int compile(const std::string& base, const std::filesystem::path& directory) {
  const std::string options_file = base + ".joedbc";
  const compiler::Options options = compiler::parse_options(
      std::filesystem::exists(options_file) ? read_text(options_file) : "", options_file);
  for (const compiler::Diagnostic& warning : options.warnings)
    std::cerr << warning.file << ':' << warning.line << ": Warning: " << warning.text << '\n';

  Memory_File file;
  Writable_Database database(file);
  run_schema(database, base + ".joedbi");
  const std::string source = std::filesystem::path(base + ".joedbi").filename().string();
  const auto model = compiler::make_model(database.get_database(), options, source);
  for (const compiler::Generated_File& generated : compiler::generate_cpp(model))
    write_file(directory / generated.path, generated.content);
  return 0;
}

int run_compiler(std::vector<std::string> arguments) {
  Options options({"joedbc [options] BASE", "Compiles a schema to C++.", details,
                   "  joedbc geo                # geo.joedbi and geo.joedbc to geo.h\n"
                   "  joedbc --output build geo\n"});
  std::string output = ".";
  options.add("--output", output, "directory to write to (default: the current one)");
  add_classic_option(options);
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;
  const std::string base = words->take_last_name();
  try {
    return compile(base, output);
  } catch (const compiler::Schema_Errors& errors) {
    std::cerr << errors.what() << '\n';
    return 1;
  }
}

}  // namespace joedb
