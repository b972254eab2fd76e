#include "tools/compiler/index_file.h"

#include <cerrno>
#include <fstream>
#include <iterator>

#include "joedb/journal/readonly_journal.h"
#include "joedb/table/database.h"
#include "tools/compiler/options.h"

namespace joedb {

namespace {

// A handler that replays only schema entries.
struct Schema_Reader {
  Database& database;
  template <class Entry>
  void operator()(const Entry& entry) {
    if constexpr (is_schema_entry<Entry>) database(entry);
  }
};

}  // namespace

std::vector<Index_Definition> read_indexes(const std::string& options_file, Abstract_File& file,
                                           Recovery recovery) {
  if (options_file.empty()) return {};
  std::ifstream in(options_file, std::ios::binary);
  if (!in) throw_io_error("opening", options_file, -1, errno);
  const compiler::Options options =
      compiler::parse_options(std::string(std::istreambuf_iterator<char>(in), {}), options_file);

  Database schema;
  if (file.get_size() != 0) {
    Readonly_Journal journal(file, recovery);
    journal.replay(Schema_Reader{schema});
  }
  std::vector<compiler::Diagnostic> errors;
  auto indexes = compiler::resolve_indexes(options, schema, errors);
  if (!errors.empty()) throw compiler::Schema_Errors(std::move(errors));
  return indexes;
}

}  // namespace joedb
