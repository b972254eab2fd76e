#ifndef TESTING_JOURNAL_OF_H
#define TESTING_JOURNAL_OF_H

#include <string>
#include <vector>

#include "joedb/format/header.h"
#include "joedb/io/memory_file.h"
#include "joedb/journal/readonly_journal.h"
#include "joedb/table/database.h"
#include "testing/entries.h"

namespace joedb::testing {

// A journal in memory that holds these entries, whatever they are.
class Journal_Of {
 public:
  explicit Journal_Of(const std::vector<Any_Entry>& entries)
      : bytes_(encoded(entries)), file_(bytes_), journal_(file_, Recovery::ignore_header) {}

  const Abstract_File& file() const { return file_; }
  Readonly_Journal& journal() { return journal_; }

  // What the entries make of an empty database.
  Database database() {
    Database result;
    result.limit_to_journal_of(journal_.get_checkpoint());
    journal_.rewind();
    journal_.replay(result);
    return result;
  }

 private:
  static std::string encoded(const std::vector<Any_Entry>& entries) {
    const auto header = encode_header(Header());
    std::string bytes(header.begin(), header.end());
    Context context;
    for (const Any_Entry& entry : entries) append_any(bytes, context, entry);
    return bytes;
  }

  const std::string bytes_;
  Readonly_Memory_File file_;
  Readonly_Journal journal_;
};

}  // namespace joedb::testing

#endif
