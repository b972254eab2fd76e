#ifndef JOEDB_SRC_HISTORY_TRANSACTION_GROUPS_H
#define JOEDB_SRC_HISTORY_TRANSACTION_GROUPS_H

#include <map>
#include <string>
#include <vector>

#include "joedb/history/changes.h"
#include "kernel/base/time.h"

namespace joedb::inline v1 {

// Adds up transactions: those of each hour, day or month, or those of each author.
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
    // True for the group of transactions without an author, or before the first time stamp.
    bool is_nameless = false;
    std::uint64_t transactions = 0;
    Offset bytes = 0;
    Counts counts;
    std::map<Table_Id, std::pair<std::string, Counts>> tables;  // each with its last name
  };

  explicit Transaction_Groups(By by, Zone zone = Zone::local) : by_(by), zone_(zone) {}

  // Adds a transaction, even without changes, because its bytes are in the journal.
  void add(const Transaction_Summary& summary);
  // Returns the groups, sorted by time or by name, with the nameless group first. Memory is
  // proportional to the number of groups and of their tables.
  std::vector<Group> sorted() const;

 private:
  struct Sum {
    Group group;
    std::int64_t first_time = 0;
  };
  std::string name_of(const Transaction_Info& info) const;

  const By by_;
  const Zone zone_;
  Sum nameless_;
  std::map<std::string, Sum> groups_;
};

}  // namespace joedb::inline v1

#endif
