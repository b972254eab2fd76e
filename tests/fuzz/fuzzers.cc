#include "fuzz/fuzzers.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <sstream>
#include <string>

#include "commands/interpreter.h"
#include "joedb/base/log.h"
#include "joedb/format/header.h"
#include "joedb/io/memory_file.h"
#include "sim/lab/database_text.h"
#include "support/file_uses.h"
#include "text/entry_text.h"
#include "tools/compiler/cpp.h"
#include "tools/compiler/python.h"

namespace joedb::testing {

namespace {

std::string_view written_bytes(const Memory_File& file) {
  return {file.get_data().data(), file.get_data().size()};
}

// ---- header -------------------------------------------------------------------------------------

// An independent implementation of the rule by which a reader selects the checkpoint, step by step
// as in the description of the format. Requires that no word is INT64_MIN, which is not the
// negative of any size.
Checkpoints selected(const Checkpoint_Words& c, Offset size) {
  Checkpoints result;
  for (int i = 0; i < 2; ++i) {
    const auto at = [&](int j) { return c[static_cast<std::size_t>(2 * i + j)]; };
    if (at(0) == at(1) && at(0) >= result.hard_checkpoint && at(0) <= size) {
      result.hard_checkpoint = at(0);
      result.hard_index = i;
    }
    for (int j = 0; j < 2; ++j) {
      if (-at(j) < result.checkpoint || -at(j) > size) continue;
      result.checkpoint = -at(j);
      result.hard_index = 1 - i;
      result.soft_index = j;
    }
  }
  result.checkpoint = std::max(result.checkpoint, result.hard_checkpoint);
  return result;
}

// True if the words claim bytes that the file does not have: a hard checkpoint past its end, or a
// soft one if the journal would be empty; or if there is no checkpoint, and the file has entries.
bool claims_too_much(const Checkpoint_Words& c, Offset size, Offset checkpoint) {
  bool has_checkpoint = false;
  bool has_missing = false;
  for (std::size_t i = 0; i < c.size(); ++i) {
    const bool is_pair = c[i] == c[i ^ 1];
    if (is_pair && c[i] > size) return true;
    has_checkpoint = has_checkpoint || (is_pair && c[i] >= journal_start) ||
                     (c[i] <= -journal_start && c[i] >= -size);
    has_missing = has_missing || c[i] < -size;
  }
  return checkpoint == journal_start && (has_checkpoint ? has_missing : size > journal_start);
}

// Entries of one byte, so that every position is between two entries.
constexpr std::size_t header_test_size = 300;
std::string journal_of_marks() { return std::string(header_test_size, '\x0e'); }

// True if a slot has a seal (a hash of the entries) in place of a position.
bool has_seal(const Checkpoint_Words& words) {
  const auto is_seal = [](std::int64_t word) { return word >= std::int64_t{1} << 62; };
  return is_seal(words[1]) || is_seal(words[3]);
}

void check_selection(std::string_view file) {
  std::array<char, header_size> bytes{};
  std::copy_n(file.begin(), bytes.size(), bytes.begin());
  const Header header = decode_header(bytes);
  const bool has_minimum =
      std::find(header.checkpoints.begin(), header.checkpoints.end(),
                std::numeric_limits<std::int64_t>::min()) != header.checkpoints.end();
  if (has_minimum || has_seal(header.checkpoints)) return;
  const auto size = static_cast<Offset>(file.size());
  const Checkpoints expected = selected(header.checkpoints, size);
  const bool is_good =
      std::string_view(header.signature.data(), header.signature.size()) == signature &&
      header.version == format_version &&
      !claims_too_much(header.checkpoints, size, expected.checkpoint);
  Readonly_Memory_File memory(file);
  bool is_open = false;
  try {
    const Readonly_Journal journal(memory);
    is_open = true;
    require(journal.get_checkpoints() == expected, "another checkpoint is selected");
  } catch (const Exception&) {
  }
  require(is_open == is_good, is_good ? "a good header is refused" : "a bad header is accepted");
}

// ---- interpreter --------------------------------------------------------------------------------

constexpr index_t max_record_id = 1000;

// Returns the output of joedb_logdump.
std::string history_of(std::string_view file) {
  Readonly_Memory_File memory(file);
  Readonly_Journal journal(memory);
  std::ostringstream out;
  Command_Writer writer(out);
  journal.replay(writer);
  writer.flush();
  return out.str();
}

// False if no commands exist for the content: it has a reference to a dropped table, or a custom
// entry whose name is not a word.
bool is_printable(const std::string& commands) {
  return commands.find("__unknown_table__") == commands.npos &&
         commands.find("# custom ") == commands.npos;
}

template <class See>
std::string seen_after(const std::string& commands, See see) {
  Memory_File file;
  Writable_Database database(file);
  require(run_text(commands, database), "a dump that ends too early");
  const std::string result = see(database.get_database());
  database.soft_checkpoint();
  return result;
}

// Requires that a line that fails changes nothing, except in classic mode.
void run_commands(std::string_view commands, Writable_Database& database, bool is_classic) {
  Command_Options options{.max_record_id = max_record_id, .now = [] { return std::int64_t{1}; }};
  Command_Loop loop({.is_classic = is_classic}, [] { return std::string(); });
  // Not read_blob, which writes files.
  add_journal_commands(loop, database, options);
  add_display_commands(loop, database.get_database());
  add_data_commands(loop, database, options);
  add_schema_commands(loop, database);
  std::ostringstream out;
  auto end = Command_Loop::End::end_of_input;
  while (!commands.empty() && end == Command_Loop::End::end_of_input) {
    const std::string_view line = commands.substr(0, commands.find('\n'));
    commands.remove_prefix(std::min(commands.size(), line.size() + 1));
    const Offset position = database.get_journal().get_position();
    const std::size_t failures = loop.failures().count;
    Text_Line_Source lines(line, out);
    end = loop.run(lines, out);
    loop.complete(line);
    require(is_classic || loop.failures().count == failures ||
                database.get_journal().get_position() == position,
            "a line that failed has changed something: " + std::string(line));
  }
  for (const char* line : {"", "update ", "insert_into t"}) loop.complete(line);
}

// ---- compiler -----------------------------------------------------------------------------------

std::string compiled(std::string_view schema, std::string_view options_text) {
  std::string result;
  try {
    const auto options = compiler::parse_options(options_text, "schema.joedbc");
    Memory_File file;
    Writable_Database database(file);
    run_commands(schema, database, false);
    database.soft_checkpoint();
    const auto model = compiler::make_model(database.get_database(), options, "schema.joedbi");
    auto files = compiler::generate_cpp(model);
    files.push_back(compiler::generate_python(model));
    for (const auto& generated : files) {
      require(!generated.path.empty() && !generated.content.empty(), "an empty file is generated");
      require(generated.path.find("..") == std::string::npos && generated.path[0] != '/',
              "a file is generated elsewhere");
      result += generated.path + '\n' + generated.content;
    }
    require(!result.empty(), "nothing is generated");
  } catch (const Exception& error) {
    result = error.what();
    require(!result.empty(), "an error without a text");
  }
  return result;
}

}  // namespace

void fuzz_header(std::string_view input) {
  if (input.size() < header_size + 2) return;
  std::uint16_t size = 0;
  std::memcpy(&size, input.data() + header_size, sizeof size);
  std::string file(input.substr(0, header_size));
  file += journal_of_marks().substr(0, size % (header_test_size + 1));
  check_selection(file);
  use_file(file);
}

static void fuzz_commands(std::string_view input, bool is_classic) {
  Memory_File file;
  std::string content;
  std::string dump;
  {
    Writable_Database database(file);
    run_commands(input, database, is_classic);
    try {
      database.soft_checkpoint();
    } catch (const Data_Error&) {  // too many rows for the size of the journal
      return;
    }
    content = content_text(database.get_database());
    dump = commands_of(database.get_database());
  }
  require(content_of(written_bytes(file)) == content, "not what was written");
  if (is_printable(dump))
    require(seen_after(dump, commands_of) == dump, "a dump with another content");
  const std::string history = history_of(written_bytes(file));
  if (is_printable(history))
    require(seen_after(history, content_text) == content, "a history with another content");
}

void fuzz_interpreter(std::string_view input) {
  Destructor_Logger::remove_logger();
  for (const bool is_classic : {false, true}) fuzz_commands(input, is_classic);
}

void fuzz_compiler(std::string_view input) {
  Destructor_Logger::remove_logger();
  const std::size_t end = std::min(input.find('\0'), input.size());
  const std::string_view schema = input.substr(0, end);
  const std::string_view options = input.substr(std::min(end + 1, input.size()));
  require(compiled(schema, options) == compiled(schema, options), "other code the second time");
}

}  // namespace joedb::testing
