#ifndef JOEDB_HISTORY_TYPED_HISTORY_H
#define JOEDB_HISTORY_TYPED_HISTORY_H

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "joedb/history/changes.h"
#include "joedb/history/undo.h"
#include "joedb/table/database.h"
#include "joedb/table/index.h"
#include "joedb/table/typed.h"

namespace joedb::inline v1 {

// ---- observers ----------------------------------------------------------------------------------

// Observers: functions of the program that are called when records have changed, after each commit,
// pull and rollback. Generated code has typed versions of the subscribing functions.

// A subscription. Its functions are called until this object is destroyed or end() is called. This
// object may outlive the database.
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

// Collects the changes in the observed tables of a database. A batch contains everything written or
// pulled between two checkpoints, with the net change of each record, like a Transaction. A batch
// is delivered when a checkpoint covers its entries. Changes that were rolled back are never
// delivered.
//
// Until a change is delivered, it takes memory for its old and new values, and about 0.4 KB for
// each field of a changed record whose neighbours have not changed. Until the commit, updates take
// up to 6 MiB more for each field. Tables that are not observed cost nothing. Not thread-safe.
class Observers final : public Change_Observer {
 public:
  // Receives a change of records of one table, of kind inserted, updated or deleted. An update has
  // all fields of its records, including unchanged fields, and some of its records may be
  // unchanged. The function must start with record `row` of the change, and increment `row` before
  // it reports a record: if reporting throws, the next call continues with the following record.
  using On_Change = std::function<void(const Change& change, index_t& row)>;
  // Called after a rollback, when the tables have the content at the checkpoint. The function that
  // it returns is called later, in order with the changes, and is called again if it throws.
  using On_Rollback = std::function<std::function<void()>()>;

  explicit Observers(Database& database);
  ~Observers() override;
  Observers(const Observers&) = delete;
  Observers& operator=(const Observers&) = delete;

  // Subscribes to changes from now on, or since the last commit if the table was already observed.
  // For each change, functions are called in the order of their subscription. They may do anything
  // with the database except destroy it; changes that they commit are delivered afterwards. They
  // may also subscribe, and end subscriptions. If a function throws, the call that committed,
  // pulled or rolled back completes its work, and then throws this exception; changes that were not
  // delivered are delivered the next time.
  Subscription subscribe(Table_Id table, On_Change on_change, On_Rollback on_rollback = {});

  // Calls f for the current records of a table, as insertions of at most 4096 records.
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

// A set of record ids, with one bit for each id up to the largest id.
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
// Uncommitted changes are not visible, except changes made before the query was created. When a
// function is called for a record, the set is already updated for this record. The functions follow
// the rules of observers. If the query outlives the database, it no longer changes. Takes one bit
// of memory for each record of the table. Not thread-safe.
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
  class iterator : public Id_Iterator<iterator, Id> {
   public:
    using Id_Iterator<iterator, Id>::operator++;

    iterator() = default;
    iterator(const Id_Set& ids, index_t id) : ids_(&ids), id_(id) {}
    Id operator*() const { return Id(id_); }
    iterator& operator++() {
      id_ = ids_->next(id_ + 1);
      return *this;
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

  // Set a function. on_added: called when a record enters the set. on_changed: called when a record
  // of the set has changed and still matches. on_removed: called when a record of the set was
  // deleted or no longer matches. Each call replaces the function that was set before.
  void on_added(std::function<void(Id)> f) { state_->on_added = shared(std::move(f)); }
  void on_changed(std::function<void(Id)> f) { state_->on_changed = shared(std::move(f)); }
  void on_removed(std::function<void(Id)> f) { state_->on_removed = shared(std::move(f)); }

  // For generated code. has_property(change, i) returns true if row i of a change matches, with its
  // new values. is_same(change, i) returns true if row i is an update that changes no value.
  // `first` is the set of the records that match now; if null, all records are searched.
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
        const index_t i = row;  // if the predicate throws, the next call tries this row again
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

// The records of a table that match a predicate, in the order of a key; records with equal keys are
// ordered by id. Kept up to date, and told to functions, like a Live_Query. Generated code creates
// it:
//
//     auto list = db.live_list_of_person_by_name({}, {});
//     list.on_added([](id_of_person id, std::size_t position) { … });
//
// Takes about 100 bytes and the key for each record of the list. A change takes logarithmic time,
// and that of moving the pointers behind its position. Not thread-safe.
template <class Id, class Key_Type>
class Live_List {
  using Records = std::map<index_t, Key_Type>;
  using Entry = typename Records::value_type;
  struct State {
    Records records;
    std::vector<const Entry*> order;
    // Shared, because a function may replace itself while it runs.
    using At = std::function<void(Id, std::size_t)>;
    using Move = std::function<void(Id, std::size_t, std::size_t)>;
    std::shared_ptr<const At> on_added, on_changed, on_removed;
    std::shared_ptr<const Move> on_moved;

    // NaN is the last number, as in indexes.
    static bool is_less(const Key_Type& a, const Key_Type& b) {
      if constexpr (std::is_floating_point_v<Key_Type>)
        if (b != b) return a == a;
      return a < b;
    }
    static bool is_before(const Entry* a, const Entry* b) {
      if (is_less(a->second, b->second)) return true;
      return !is_less(b->second, a->second) && a->first < b->first;
    }
    auto place(const Entry& entry) const {
      return std::lower_bound(order.begin(), order.end(), &entry, is_before);
    }
    std::size_t position(const Entry& entry) const {
      return static_cast<std::size_t>(place(entry) - order.begin());
    }
    template <class F, class... T>
    static void call(std::shared_ptr<const F> f, T... values) {
      if (f && *f) (*f)(values...);
    }

    // The record has this key now; without one, it is not in the list.
    void set(index_t id, std::optional<Key_Type> key, bool is_same) {
      const auto found = records.find(id);
      if (found == records.end()) {
        if (key) add(id, std::move(*key));
      } else if (!key) {
        remove(found);
      } else if (is_less(*key, found->second) || is_less(found->second, *key)) {
        move(found, std::move(*key));
      } else if (!is_same) {
        call(on_changed, Id(id), position(*found));
      }
    }
    void add(index_t id, Key_Type key) {
      // So that insert() cannot fail after emplace().
      if (order.size() == order.capacity()) order.reserve(2 * order.size() + 1);
      const Entry& entry = *records.emplace(id, std::move(key)).first;
      const std::size_t at = position(entry);
      order.insert(order.begin() + static_cast<std::ptrdiff_t>(at), &entry);
      call(on_added, Id(id), at);
    }
    void remove(typename Records::iterator record) {
      const index_t id = record->first;
      const std::size_t at = position(*record);
      order.erase(order.begin() + static_cast<std::ptrdiff_t>(at));
      records.erase(record);
      call(on_removed, Id(id), at);
    }
    void move(typename Records::iterator record, Key_Type key) {
      const std::size_t before = position(*record);
      order.erase(order.begin() + static_cast<std::ptrdiff_t>(before));
      record->second = std::move(key);
      const std::size_t after = position(*record);
      order.insert(order.begin() + static_cast<std::ptrdiff_t>(after), &*record);
      if (before == after)
        call(on_changed, Id(record->first), after);
      else
        call(on_moved, Id(record->first), before, after);
    }
  };

 public:
  std::size_t size() const { return state_->order.size(); }
  bool empty() const { return size() == 0; }
  // Requires position < size().
  Id operator[](std::size_t position) const { return Id(state_->order[position]->first); }
  bool contains(Id id) const { return state_->records.contains(id.get_id()); }
  // Returns the position of a record; size() if it is not in the list.
  std::size_t position(Id id) const {
    const auto found = state_->records.find(id.get_id());
    return found == state_->records.end() ? size() : state_->position(*found);
  }

  // Iterates in the order of the list. Invalidated by each change of the list.
  class iterator : public Id_Iterator<iterator, Id> {
   public:
    using Id_Iterator<iterator, Id>::operator++;

    iterator() = default;
    explicit iterator(const Entry* const* at) : at_(at) {}
    Id operator*() const { return Id((*at_)->first); }
    iterator& operator++() {
      ++at_;
      return *this;
    }
    friend bool operator==(const iterator& a, const iterator& b) { return a.at_ == b.at_; }

   private:
    const Entry* const* at_ = nullptr;
  };
  iterator begin() const { return iterator(state_->order.data()); }
  iterator end() const { return iterator(state_->order.data() + size()); }

  // Set the function that is called when a record enters the list; when a record has changed and
  // keeps its position; when it was moved, with the positions before and after (as if it was
  // erased, then inserted); when it was deleted or no longer matches, with the position that it
  // had. The function replaces the function that was set before. Positions are those in the list at
  // that time: changes are made one by one.
  using On_Position = typename State::At;
  using On_Move = typename State::Move;
  void on_added(On_Position f) { set(state_->on_added, std::move(f)); }
  void on_changed(On_Position f) { set(state_->on_changed, std::move(f)); }
  void on_removed(On_Position f) { set(state_->on_removed, std::move(f)); }
  void on_moved(On_Move f) { set(state_->on_moved, std::move(f)); }

  // For generated code. get_key(change, i) returns the key of row i of a change with its new
  // values, or none if it does not match; is_same(change, i): as in Live_Query.
  template <class Get_Key, class Is_Same>
  Live_List(Observers& observers, Table_Id table, Get_Key get_key, Is_Same is_same)
      : state_(std::make_shared<State>()) {
    const auto find_all = [&observers, table, get_key] {
      Records records;
      observers.for_each_record(table, [&](const Change& change) {
        for (index_t i = 0; i < change.size; ++i)
          if (auto key = get_key(change, i))
            records.emplace(change.record.value() + i, std::move(*key));
      });
      return records;
    };
    state_->records = find_all();
    for (const Entry& entry : state_->records) state_->order.push_back(&entry);
    std::sort(state_->order.begin(), state_->order.end(), State::is_before);
    const auto on_change = [state = state_, get_key, is_same](const Change& change, index_t& row) {
      while (row < change.size) {
        const index_t i = row;  // if get_key throws, it is called again the next time
        std::optional<Key_Type> key;
        if (change.kind != Change::Kind::deleted) key = get_key(change, i);
        ++row;
        state->set(change.record.value() + i, std::move(key), is_same(change, i));
      }
    };
    const auto on_rollback = [state = state_, find_all]() -> std::function<void()> {
      return [state, now = find_all(), next = index_t{0}]() mutable {
        for (;;) {
          const auto old = state->records.lower_bound(next);
          const auto found = now.lower_bound(next);
          if (old == state->records.end() && found == now.end()) return;
          const bool is_now =
              found != now.end() && (old == state->records.end() || found->first <= old->first);
          const index_t id = is_now ? found->first : old->first;
          next = id + 1;
          state->set(id, is_now ? std::optional<Key_Type>(found->second) : std::nullopt, true);
        }
      };
    };
    subscription_ = observers.subscribe(table, on_change, on_rollback);
  }

 private:
  template <class F>
  static void set(std::shared_ptr<const F>& place, F f) {
    place = std::make_shared<const F>(std::move(f));
  }

  std::shared_ptr<State> state_;
  Subscription subscription_;
};

// ---- typed functions ----------------------------------------------------------------------------

// Typed access to the history for generated code: changes as structs of the generated types, and
// functions that are called when records change.
//
// In these templates, Row is a generated struct row_of_TABLE: types `Id` and `Values`, the constant
// `table`, and assign(row, field, values, i), which copies value i to the member of the field.

// One changed record. Owns its values.
template <class Row>
struct Typed_Change {
  Change::Kind kind = Change::Kind::inserted;  // inserted, updated or deleted
  typename Row::Id id;
  typename Row::Values before = {};  // initial values for an insertion
  typename Row::Values after = {};   // initial values for a deletion

  bool is_insertion() const { return kind == Change::Kind::inserted; }
  bool is_update() const { return kind == Change::Kind::updated; }
  bool is_deletion() const { return kind == Change::Kind::deleted; }
};

// Return the values of record i before and after the change. Require 0 <= i < change.size.
template <class Row>
typename Row::Values values_before(const Change& change, index_t i) {
  typename Row::Values row = {};
  for (const Field_Change& field : change.fields)
    if (!field.old_values.is_empty()) Row::assign(row, field.field, field.old_values, i);
  return row;
}
template <class Row>
typename Row::Values values_after(const Change& change, index_t i) {
  typename Row::Values row = {};
  for (const Field_Change& field : change.fields)
    if (!field.new_values.is_empty()) Row::assign(row, field.field, field.new_values, i);
  return row;
}
// True if `change` is an update and record i has the same values as before.
inline bool is_same_record(const Change& change, index_t i) {
  return change.kind == Change::Kind::updated &&
         std::all_of(change.fields.begin(), change.fields.end(), [&](const Field_Change& field) {
           return is_same(field.old_values[i], field.new_values[i]);
         });
}

// The changed records of one table in a transaction, one by one. The transaction must outlive this
// object.
template <class Row>
class Typed_Changes {
 public:
  explicit Typed_Changes(const Transaction& transaction) : changes_(&transaction.changes) {}

  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Typed_Change<Row>;
    using difference_type = std::ptrdiff_t;
    using pointer = const value_type*;
    using reference = value_type;

    iterator() = default;
    iterator(const std::vector<Change>& changes, std::size_t change)
        : changes_(&changes), change_(change) {
      skip_others();
    }
    value_type operator*() const {
      const Change& change = (*changes_)[change_];
      return {change.kind, typename Row::Id(change.record + row_), values_before<Row>(change, row_),
              values_after<Row>(change, row_)};
    }
    iterator& operator++() {
      if (++row_ == (*changes_)[change_].size) {
        row_ = 0;
        ++change_;
        skip_others();
      }
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const iterator& a, const iterator& b) {
      return a.change_ == b.change_ && a.row_ == b.row_;
    }

   private:
    void skip_others() {
      while (change_ < changes_->size() && !is_wanted((*changes_)[change_])) ++change_;
    }
    static bool is_wanted(const Change& change) {
      return change.is_of_records() && change.table != nullptr && change.table->id == Row::table &&
             change.size > 0;
    }
    const std::vector<Change>* changes_ = nullptr;
    std::size_t change_ = 0;
    index_t row_ = 0;
  };
  iterator begin() const { return {*changes_, 0}; }
  iterator end() const { return {*changes_, changes_->size()}; }

 private:
  const std::vector<Change>* changes_;
};

// One version of a record. Owns its values; copies share the Transaction_Info.
template <class Row>
struct Typed_Version {
  typename Row::Values values = {};
  std::shared_ptr<const Transaction_Info> from;  // the transaction that wrote this version
  // The transaction that ended this version; null if the version is current.
  std::shared_ptr<const Transaction_Info> until;
};

// All versions of a record, from the oldest to the newest (history/changes.h).
template <class Row>
class Typed_Versions : public std::vector<Typed_Version<Row>> {
 public:
  explicit Typed_Versions(const std::vector<Record_Version>& versions) {
    for (const Record_Version& one : versions) {
      Typed_Version<Row> typed;
      for (const auto& [field, values] : one.fields) Row::assign(typed.values, field, values, 0);
      typed.from = std::make_shared<const Transaction_Info>(one.from);
      if (one.until) typed.until = std::make_shared<const Transaction_Info>(*one.until);
      this->push_back(std::move(typed));
    }
  }
};

// Base of the generated class Database.
//
// Observers. `on_TABLE_inserted(f)` and similar functions subscribe f, which is called with the
// values at the commit. Without a client, f is called after each checkpoint; with a client, after
// each transaction and pull, when the client holds no lock; with a Readonly_Client, after each
// pull. Changes that were rolled back are never reported. Everything written or pulled at once is
// one batch: it has the net change of each record, and a deletion precedes an insertion with the
// same id. If a transaction writes a checkpoint through the database itself, its changes are
// reported at once. The functions may read the database, write to it, and subscribe; see Observers
// for order and exceptions. If a function throws, the commit is kept and locks are released. The
// reported values own their strings and may be kept. The database has the state after all reported
// changes, or a later state: a record that is reported as inserted may already be deleted.
// Subscribing counts as a change of the database: no other thread may read the database meanwhile.
//
// Histories. `changes`, `history` and `at` read the file up to its checkpoint; entries without a
// checkpoint are not visible. They throw the exceptions of `Changes`, and Exception for a
// Readonly_Database, which reads its file only once.
class Typed_History : public Typed_Database {
 public:
  // Returns the changes between two positions. If `to` is 0, the range ends at the checkpoint.
  // Updates have all fields, including unchanged fields.
  Changes changes(Offset from = journal_start, Offset to = 0) const {
    Change_Options options;
    options.has_all_fields = true;
    return to == 0 ? Changes(file(), from, Readonly_Journal(file()).get_checkpoint(), options)
                   : Changes(file(), from, to, options);
  }

 protected:
  template <class Row>
  Typed_Versions<Row> versions(Record_Id record) const {
    return Typed_Versions<Row>(record_versions(file(), Row::table, record, {}));
  }

  // Calls f(id, values).
  template <class Row, class F>
  Subscription on_inserted(F f) const {
    return observe<Row>(Change::Kind::inserted, [f](auto id, const Change& change, index_t i) {
      const typename Row::Values after = values_after<Row>(change, i);
      f(id, after);
    });
  }
  // Calls f(id, old values, new values). Skips records whose values are unchanged.
  template <class Row, class F>
  Subscription on_updated(F f) const {
    return observe<Row>(Change::Kind::updated, [f](auto id, const Change& change, index_t i) {
      if (is_same_record(change, i)) return;
      const typename Row::Values before = values_before<Row>(change, i);
      const typename Row::Values after = values_after<Row>(change, i);
      f(id, before, after);
    });
  }
  // Calls f(id, old values).
  template <class Row, class F>
  Subscription on_deleted(F f) const {
    return observe<Row>(Change::Kind::deleted, [f](auto id, const Change& change, index_t i) {
      const typename Row::Values before = values_before<Row>(change, i);
      f(id, before);
    });
  }

  template <class Row, class Predicate>
  Live_Query<typename Row::Id> live(Predicate predicate) const {
    return live<Row>(nullptr, std::move(predicate));
  }
  // key(values) returns what the list is ordered by: any type with <, which owns its strings. In a
  // std::tuple, < must order all values: no NaN.
  template <class Row, class Predicate, class Get_Key>
  auto live_list(Predicate predicate, Get_Key key) const {
    using Key_Type = std::decay_t<std::invoke_result_t<Get_Key&, const typename Row::Values&>>;
    static_assert(!std::is_same_v<Key_Type, std::string_view>,
                  "return a std::string, which is kept");
    return Live_List<typename Row::Id, Key_Type>(
        observers(), Row::table,
        [predicate, key](const Change& change, index_t i) -> std::optional<Key_Type> {
          const typename Row::Values values = values_after<Row>(change, i);
          if (!predicate(values)) return std::nullopt;
          return Key_Type(key(values));
        },
        is_same_record);
  }
  // The records whose keys are between two ends of an index, in its order.
  template <class Row, class Index_Type, class Get_Key>
  auto live_list_of_range(const typename Index_Type::Prefix& from,
                          const typename Index_Type::Prefix& to, Get_Key key) const {
    const typename Index_Type::Keys range(from.key(), to.key());
    return live_list<Row>(
        [range, key](const typename Row::Values& row) {
          return range.has(Index_Type::parts(key(row)));
        },
        [key](const typename Row::Values& row) {
          return typename Index_Type::Stored_Key(Index_Type::parts(key(row)));
        });
  }
  // Returns a query for the records whose key is in [from, to]. key(values) returns the key of a
  // record.
  template <class Row, class Index_Type, class Get_Key>
  Live_Query<typename Row::Id> live_range(const Index_Type& index,
                                          const typename Index_Type::Prefix& from,
                                          const typename Index_Type::Prefix& to,
                                          Get_Key key) const {
    const typename Index_Type::Keys range(from.key(), to.key());
    const auto predicate = [range, key](const typename Row::Values& row) {
      return range.has(Index_Type::parts(key(row)));
    };
    const auto used = std::as_const(engine()).table(Row::table).records().used_count();
    // The index lacks records whose key was never set. If there are such records, all records must
    // be searched.
    if (index.size() != static_cast<std::size_t>(used)) return live<Row>(nullptr, predicate);
    Id_Set ids;
    for (const typename Row::Id id : index.between(from, to)) ids.set(id.get_id(), true);
    return live<Row>(&ids, predicate);
  }

 private:
  Observers& observers() const {
    std::shared_ptr<Change_Observer>& slot = observer();
    if (!slot) slot = std::make_shared<Observers>(engine());
    return static_cast<Observers&>(*slot);
  }

  template <class Row, class F>
  Subscription observe(Change::Kind kind, F f) const {
    return observers().subscribe(Row::table, [kind, f](const Change& change, index_t& row) {
      if (change.kind != kind) return;
      while (row < change.size) {
        const index_t i = row++;
        f(typename Row::Id(change.record + i), change, i);
      }
    });
  }

  template <class Row, class Predicate>
  Live_Query<typename Row::Id> live(const Id_Set* first, Predicate predicate) const {
    return {observers(), Row::table, first,
            [predicate](const Change& change, index_t i) {
              return static_cast<bool>(predicate(values_after<Row>(change, i)));
            },
            is_same_record};
  }
};

}  // namespace joedb::inline v1

#endif
