#include "support/journal_of.h"

#include "joedb/format/header.h"

namespace joedb::testing {

std::string Journal_Of::encoded(const std::vector<Any_Entry>& entries) {
  const auto header = encode_header(Header());
  std::string bytes(header.begin(), header.end());
  Context context;
  for (const Any_Entry& entry : entries) append_any(bytes, context, entry);
  return bytes;
}

Database Journal_Of::database() {
  Database result;
  result.limit_to_journal_of(journal_.get_checkpoint());
  journal_.rewind();
  journal_.replay(result);
  return result;
}

}  // namespace joedb::testing
