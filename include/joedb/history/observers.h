#ifndef JOEDB_HISTORY_OBSERVERS_H
#define JOEDB_HISTORY_OBSERVERS_H

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "joedb/history/transaction.h"
#include "joedb/table/database.h"
#include "joedb/table/index.h"

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

// A set of record ids, with one bit for each id up to the largest one.
class Id_Set {
 public:
  std::size_t size() const { return size_; }
  bool contains(index_t id) const {
    const auto word = static_cast<std::size_t>(id / bits);
    return id >= 0 && word < words_.size() && (words_[word] >> (id % bits) & 1) != 0;
  }
  // Requires id >= 0.
  void set(index_t id, bool value) {
    if (contains(id) == value) return;
    const auto word = static_cast<std::size_t>(id / bits);
    if (word >= words_.size()) words_.resize(std::max(word + 1, 2 * words_.size()));
    words_[word] ^= std::uint64_t{1} << (id % bits);
    value ? ++size_ : --size_;
  }
  // Returns the smallest id in the set that is not less than `id`, or -1 if there is none.
  index_t next(index_t id) const {
    auto word = static_cast<std::size_t>(id / bits);
    if (word >= words_.size()) return -1;
    std::uint64_t rest = words_[word] >> (id % bits) << (id % bits);
    while (rest == 0)
      if (++word == words_.size())
        return -1;
      else
        rest = words_[word];
    return static_cast<index_t>(word) * bits + std::countr_zero(rest);
  }

 private:
  static constexpr index_t bits = 64;
  std::vector<std::uint64_t> words_;
  std::size_t size_ = 0;
};

// The records of a table that match a predicate, kept up to date after each commit, pull and
// rollback. Generated code creates it:
//
//     auto old = db.live_person([](const values_of_person& person) { return person.age > 80; });
//     old.on_added([](id_of_person id) { … });
//     for (const id_of_person id : old) …
//
// Uncommitted changes are not visible, except those made before the query was created. The set is
// updated for a record before a function is called for it; the functions follow the rules of
// observers. The query may outlive the database, and does not change any more
// then. Takes one bit of memory for each record of the table. Not thread-safe.
template <class Id>
class Live_Query {
  struct State {
    Id_Set ids;
    // Shared, because a function may replace itself while it runs.
    using Function = std::shared_ptr<const std::function<void(Id)>>;
    Function on_added, on_changed, on_removed;
    static void call(Function f, index_t id) {
      if (f && *f) (*f)(Id(id));
    }
    void add(index_t id) {
      ids.set(id, true);
      call(on_added, id);
    }
    void remove(index_t id) {
      ids.set(id, false);
      call(on_removed, id);
    }
    void change(index_t id, bool is_in, bool is_same) {
      if (is_in != ids.contains(id))
        is_in ? add(id) : remove(id);
      else if (is_in && !is_same)
        call(on_changed, id);
    }
  };

 public:
  // Iterates in the order of the ids. Invalidated by each change of the set.
  class iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Id;
    using difference_type = std::ptrdiff_t;
    using pointer = const Id*;
    using reference = Id;

    iterator() = default;
    iterator(const Id_Set& ids, index_t id) : ids_(&ids), id_(id) {}
    Id operator*() const { return Id(id_); }
    iterator& operator++() {
      id_ = ids_->next(id_ + 1);
      return *this;
    }
    iterator operator++(int) {
      const iterator old = *this;
      ++*this;
      return old;
    }
    friend bool operator==(const iterator& a, const iterator& b) { return a.id_ == b.id_; }

   private:
    const Id_Set* ids_ = nullptr;
    index_t id_ = -1;
  };
  iterator begin() const { return {state_->ids, state_->ids.next(0)}; }
  iterator end() const { return {state_->ids, -1}; }
  std::size_t size() const { return state_->ids.size(); }
  bool empty() const { return size() == 0; }
  bool contains(Id id) const { return state_->ids.contains(id.get_id()); }

  // Set the function that is called when a record enters the set; when a record of the set has
  // changed and stays in it; when a record of the set was deleted or no longer matches. The
  // function replaces the one that was set before.
  void on_added(std::function<void(Id)> f) { state_->on_added = shared(std::move(f)); }
  void on_changed(std::function<void(Id)> f) { state_->on_changed = shared(std::move(f)); }
  void on_removed(std::function<void(Id)> f) { state_->on_removed = shared(std::move(f)); }

  // For generated code. has_property(change, i) returns true if row i of a change matches, with its
  // new values. is_same(change, i) returns true if row i is an update that changes no value.
  // `first`: the ids of the records that match now; null to search for them.
  template <class Has_Property, class Is_Same>
  Live_Query(Observers& observers, Table_Id table, const Id_Set* first, Has_Property has_property,
             Is_Same is_same)
      : state_(std::make_shared<State>()) {
    const auto find_all = [&observers, table, has_property] {
      Id_Set ids;
      observers.for_each_record(table, [&](const Change& change) {
        for (index_t i = 0; i < change.size; ++i)
          if (has_property(change, i)) ids.set(change.record.value() + i, true);
      });
      return ids;
    };
    state_->ids = first != nullptr ? *first : find_all();
    const auto on_change = [state = state_, has_property, is_same](const Change& change,
                                                                   index_t& row) {
      while (row < change.size) {
        const index_t i = row;  // if the predicate throws, it is called again the next time
        const bool is_in = change.kind != Change::Kind::deleted && has_property(change, i);
        ++row;
        state->change(change.record.value() + i, is_in, is_same(change, i));
      }
    };
    const auto on_rollback = [state = state_, find_all]() -> std::function<void()> {
      return [state, now = find_all(), next = index_t{0}]() mutable {
        Id_Set all = state->ids;
        for (index_t id = now.next(next); id >= 0; id = now.next(id + 1)) all.set(id, true);
        for (index_t id = all.next(next); id >= 0; id = all.next(id + 1)) {
          next = id + 1;
          state->change(id, now.contains(id), true);
        }
      };
    };
    subscription_ = observers.subscribe(table, on_change, on_rollback);
  }

 private:
  static typename State::Function shared(std::function<void(Id)> f) {
    return std::make_shared<const std::function<void(Id)>>(std::move(f));
  }

  std::shared_ptr<State> state_;
  Subscription subscription_;
};

}  // namespace joedb::inline v1

#endif
