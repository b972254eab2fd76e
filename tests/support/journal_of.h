#ifndef JOEDB_TESTS_SUPPORT_JOURNAL_OF_H
#define JOEDB_TESTS_SUPPORT_JOURNAL_OF_H

#include <string>
#include <vector>

#include "joedb/io/memory_file.h"
#include "joedb/journal/readonly_journal.h"
#include "joedb/table/database.h"
#include "support/entries.h"

namespace joedb::testing {

// A journal in memory with the given entries, valid or not.
class Journal_Of {
 public:
  explicit Journal_Of(const std::vector<Any_Entry>& entries)
      : bytes_(encoded(entries)), file_(bytes_), journal_(file_, Recovery::ignore_header) {}

  const Abstract_File& file() const { return file_; }
  Readonly_Journal& journal() { return journal_; }

  // Returns a database to which the entries were applied.
  Database database();

 private:
  static std::string encoded(const std::vector<Any_Entry>& entries);

  const std::string bytes_;
  Readonly_Memory_File file_;
  Readonly_Journal journal_;
};

}  // namespace joedb::testing

#endif
