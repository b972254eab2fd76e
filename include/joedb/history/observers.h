#ifndef JOEDB_HISTORY_OBSERVERS_H
#define JOEDB_HISTORY_OBSERVERS_H

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "joedb/history/transaction.h"
#include "joedb/table/change_observer.h"
#include "joedb/table/database.h"

// Calls functions of the program when records have changed: after each commit, pull and rollback.
// Generated code has typed versions of these functions (history/typed_history.h).

namespace joedb::inline v1 {

// Keeps a subscription: its functions are called until this object is destroyed, or end() is
// called. May outlive the database.
class [[nodiscard]] Subscription {
 public:
  Subscription() = default;
  explicit Subscription(std::function<void()> end) : end_(std::move(end)) {}
  ~Subscription() { end(); }
  Subscription(Subscription&& other) noexcept : end_(std::exchange(other.end_, nullptr)) {}
  Subscription& operator=(Subscription&& other) {
    if (this != &other) {
      end();
      end_ = std::exchange(other.end_, nullptr);
    }
    return *this;
  }
  void end() {
    if (const auto f = std::exchange(end_, nullptr)) f();
  }

 private:
  std::function<void()> end_;
};

// Collects the changes in the observed tables of a database. A commit is one batch: everything
// written or pulled between two checkpoints. A batch has the net change of each record, as a
// Transaction has it. It is delivered once its entries are covered by a checkpoint; rolled-back
// changes are never delivered.
//
// Until it is delivered, a change takes the memory of its old and new values, plus about 0.4 KB for
// each field of a single changed record whose neighbours have not changed. Until the commit,
// updates take up to 6 MiB more for each field. Tables that are not observed cost nothing. Not
// thread-safe.
class Observers final : public Change_Observer {
 public:
  // Receives a change of records of one table, of kind inserted, updated or deleted. An update has
  // all fields of the record, including unchanged ones, and some of its records may be unchanged.
  // The function starts with record `row` of the change, and increments `row` before it reports a
  // record: if that throws, the next call continues with the record after it.
  using On_Change = std::function<void(const Change& change, index_t& row)>;
  // Called after a rollback, when the tables have the content at the checkpoint. The function that
  // it returns is called later, in order with the changes, and again if it throws.
  using On_Rollback = std::function<std::function<void()>()>;

  explicit Observers(Database& database);
  ~Observers() override;
  Observers(const Observers&) = delete;
  Observers& operator=(const Observers&) = delete;

  // Subscribes to changes from now on, or since the last commit if the table was already observed.
  // Functions are called for each change in the order of their subscription. They may do anything
  // with the database except destroy it: commits that they make are delivered afterwards. They may
  // also subscribe, and end subscriptions. If one throws, the exception propagates from the
  // function that committed, pulled or rolled back, whose work is done; changes that were not
  // delivered are delivered the next time.
  Subscription subscribe(Table_Id table, On_Change on_change, On_Rollback on_rollback = {});

  // Calls f for the present records of a table, as insertions of at most 4096 records.
  void for_each_record(Table_Id table, const std::function<void(const Change&)>& f) const;

  // Change_Observer
  void follow(Database& database) override;
  bool observes(Table_Id table) const override;
  void note_insert(Table_Id table, Record_Id record, index_t size) override;
  void note_delete(Table_Id table, Record_Id record, index_t size) override;
  void note_update(Table_Id table, Field_Id field, Record_Id record, index_t size) override;
  void note_schema_change() noexcept override;
  void cut(Offset position) override;
  void roll_back(Offset checkpoint) override;
  void notify(Offset checkpoint) override;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace joedb::inline v1

#endif
