#ifndef JOEDB_HISTORY_OBSERVERS_H
#define JOEDB_HISTORY_OBSERVERS_H

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "joedb/history/transaction.h"
#include "joedb/table/change_observer.h"
#include "joedb/table/database.h"

// Functions that are called when records have changed: after each commit, pull and rollback.
// Generated code has them typed (history/typed_history.h).

namespace joedb::inline v1 {

// Functions are called until this object is destroyed, or end() is called. It may outlive the
// database.
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

// Collects what changes in the observed tables of a database. A commit is one batch: what was
// written, or pulled, between two checkpoints; of a record it has what is different, as a
// Transaction has it. Batches are given when the checkpoint is behind them, what is rolled back
// never.
//
// Until it has been told, a change takes the memory of its old and new values, and about 0.4 KB for
// each field where single records have changed that are not next to each other. Until the commit,
// updates take up to 6 MiB more for each field. Tables that nobody observes cost nothing. Not
// thread-safe.
class Observers final : public Change_Observer {
 public:
  // Changes of records of one table: inserted, updated or deleted. An update has all fields of the
  // record, also those that are the same, and some of its records may be the same.
  // It begins with record `row` of the change, and adds 1 to that before it tells of a record: if
  // that throws, it goes on behind it the next time.
  using On_Change = std::function<void(const Change& change, index_t& row)>;
  // Called after a rollback, when the tables are those of the checkpoint. What it returns is called
  // later, in its place among the changes, and again if it throws.
  using On_Rollback = std::function<std::function<void()>()>;

  explicit Observers(Database& database);
  ~Observers() override;
  Observers(const Observers&) = delete;
  Observers& operator=(const Observers&) = delete;

  // Changes from now on, or since the last commit, if the table was observed before. Functions are
  // called for each change in the order of their subscription, and may do with the database what
  // they like, but destroy it: commits in them are told afterwards. They may subscribe, and end
  // subscriptions. If one throws, the exception leaves the function that has committed, pulled or
  // rolled back, whose work is done; what was not told is told the next time.
  Subscription subscribe(Table_Id table, On_Change on_change, On_Rollback on_rollback = {});

  // The records of a table as they are now, as insertions of at most 4096 records.
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
