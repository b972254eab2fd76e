#ifndef JOEDB_TABLE_CHANGE_OBSERVER_H
#define JOEDB_TABLE_CHANGE_OBSERVER_H

#include "joedb/base/types.h"

namespace joedb::inline v1 {

class Database;

// Observes the changes of a Database (Database::set_observer). It is notified of each change before
// the change is applied, and of the journal positions where a commit may end. The only
// implementation is Observers (history/observers.h).
//
// Changes of tables that it does not observe need not be reported. A reported change may fail to
// happen: an update, if a vector is not written after all.
class Change_Observer {
 public:
  virtual ~Change_Observer() = default;

  // Switches to this database. If it is a different one, the changes reported since the last cut
  // have not happened.
  virtual void follow(Database& database) = 0;
  virtual bool observes(Table_Id table) const = 0;

  // Report a change of records [record, record + size). The records of an update need not be in
  // use. All throw std::bad_alloc.
  virtual void note_insert(Table_Id table, Record_Id record, index_t size) = 0;
  virtual void note_delete(Table_Id table, Record_Id record, index_t size) = 0;
  virtual void note_update(Table_Id table, Field_Id field, Record_Id record, index_t size) = 0;
  // Reports that tables or fields are about to change. The observer stops observing.
  virtual void note_schema_change() noexcept = 0;

  // Ends a batch: the changes reported since the last cut are before this position of the journal.
  virtual void cut(Offset position) = 0;
  // Reports a rollback: everything after `checkpoint` was dropped, and the followed database has
  // the content of the journal up to there.
  virtual void roll_back(Offset checkpoint) = 0;
  // Calls the functions of users for the changes before `checkpoint`, the position of the
  // checkpoint. Throws what they throw.
  virtual void notify(Offset checkpoint) = 0;
};

}  // namespace joedb::inline v1

#endif
