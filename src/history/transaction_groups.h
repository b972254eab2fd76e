#ifndef JOEDB_SRC_HISTORY_TRANSACTION_GROUPS_H
#define JOEDB_SRC_HISTORY_TRANSACTION_GROUPS_H

#include <map>
#include <string>
#include <vector>

#include "joedb/history/transaction.h"

namespace joedb::inline v1 {

// Sums of transactions of the same hour, day or month (UTC), or of the same author.
class Transaction_Groups {
 public:
  enum class By { hour, day, month, author };

  struct Counts {
    std::uint64_t inserted = 0;
    std::uint64_t updated = 0;
    std::uint64_t deleted = 0;
    std::uint64_t schema_changes = 0;
  };
  struct Group {
    std::string name;  // "2026-01-31 12:00", "2026-01-31", "2026-01", or the author
    // Of transactions without an author; of those before all time stamps.
    bool is_nameless = false;
    std::uint64_t transactions = 0;
    Offset bytes = 0;
    Counts counts;
    std::map<Table_Id, std::pair<std::string, Counts>> tables;  // with the last name
  };

  explicit Transaction_Groups(By by) : by_(by) {}

  // A transaction without changes counts, too: its bytes are in the journal.
  void add(const Transaction_Summary& summary);
  // By time or by name, the nameless first. The memory is proportional to their number, and to that
  // of their tables.
  std::vector<Group> sorted() const;

 private:
  struct Sum {
    Group group;
    std::int64_t first_time = 0;
  };
  std::string name_of(const Transaction_Info& info) const;

  const By by_;
  Sum nameless_;
  std::map<std::string, Sum> groups_;
};

}  // namespace joedb::inline v1

#endif
