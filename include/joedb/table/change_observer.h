#ifndef JOEDB_TABLE_CHANGE_OBSERVER_H
#define JOEDB_TABLE_CHANGE_OBSERVER_H

#include "joedb/base/ids.h"

namespace joedb::inline v1 {

class Database;

// Who is told of each change of a Database before it is applied (Database::set_observer), and of
// the positions of the journal where a commit may end. Observers (history/observers.h) is the one
// that there is.
//
// Changes of tables that it does not observe need not be told. One that is told may fail to happen:
// an update, if a vector is not written after all.
class Change_Observer {
 public:
  virtual ~Change_Observer() = default;

  // From now on it is about this database. If that is another one, what was noted since the last
  // cut has not happened.
  virtual void follow(Database& database) = 0;
  virtual bool observes(Table_Id table) const = 0;

  // Records [record, record + size), of which those of an update need not be in use. All throw
  // std::bad_alloc.
  virtual void note_insert(Table_Id table, Record_Id record, index_t size) = 0;
  virtual void note_delete(Table_Id table, Record_Id record, index_t size) = 0;
  virtual void note_update(Table_Id table, Field_Id field, Record_Id record, index_t size) = 0;
  // Tables or fields are about to change: it ends here.
  virtual void note_schema_change() noexcept = 0;

  // What was noted since the last cut is before this position of the journal.
  virtual void cut(Offset position) = 0;
  // What is behind this position was rolled back, and the database that it follows has the content
  // of the journal up to there.
  virtual void roll_back(Offset checkpoint) = 0;
  // Calls the functions of users for what is before this position, where the checkpoint is. Throws
  // what they throw.
  virtual void notify(Offset checkpoint) = 0;
};

}  // namespace joedb::inline v1

#endif
