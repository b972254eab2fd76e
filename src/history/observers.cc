#include "joedb/history/typed_history.h"

#include <algorithm>
#include <deque>
#include <exception>
#include <iterator>
#include <optional>
#include <utility>

#include "history/change_collector.h"
#include "kernel/table/record_runs.h"

namespace joedb::inline v1 {

struct Observers::State {
  struct Listener {
    Table_Id table;
    On_Change on_change;
    On_Rollback on_rollback;
    std::uint64_t first_batch;  // earlier batches precede the subscription
    bool is_active = true;
  };
  using Listeners = std::vector<std::shared_ptr<Listener>>;

  // Either changes that were committed together, or functions to call after a rollback.
  struct Batch {
    std::uint64_t number;
    Offset position;
    std::vector<Change> changes;
    std::vector<std::pair<std::shared_ptr<Listener>, std::function<void()>>> rollbacks;
  };

  Database* database;
  std::optional<Transaction_Collector> collector;
  Listeners listeners;
  std::deque<Batch> batches;
  std::uint64_t batch_count = 0;
  Offset checkpoint = 0;
  bool is_notifying = false;
  // The place in the first batch where delivery continues.
  std::size_t next_change = 0, next_listener = 0, next_rollback = 0;
  index_t next_row = 0;

  bool observes(Table_Id table) const {
    return std::any_of(listeners.begin(), listeners.end(),
                       [&](const auto& l) { return l->is_active && l->table == table; });
  }

  // Removes ended listeners, but not while one of their functions may be running.
  void remove_ended() {
    if (is_notifying) return;
    const auto has_ended = [](const auto& l) { return !l->is_active; };
    // After an exception, delivery must continue at the same listener.
    const auto next = listeners.begin() + static_cast<std::ptrdiff_t>(next_listener);
    if (next != listeners.end() && has_ended(*next)) next_row = 0;
    next_listener -= static_cast<std::size_t>(std::count_if(listeners.begin(), next, has_ended));
    // The functions of a listener may own other subscriptions, whose destructors call
    // remove_ended() again. Therefore the ended listeners are destroyed last, on return.
    Listeners ended;
    std::copy_if(listeners.begin(), listeners.end(), std::back_inserter(ended), has_ended);
    std::erase_if(listeners, has_ended);
    if (ended.empty() || database == nullptr) return;
    for (const auto& listener : ended)
      if (!observes(listener->table)) collector->forget(listener->table);
    database->set_observer(database->observer());
  }

  void tell(const Change& change, std::uint64_t batch) {
    for (; next_listener < listeners.size(); ++next_listener, next_row = 0) {
      const std::shared_ptr<Listener> listener = listeners[next_listener];
      if (listener->is_active && listener->table == change.table->id &&
          batch >= listener->first_batch)
        listener->on_change(change, next_row);
    }
    next_listener = 0;
  }

  void tell(Batch& batch) {
    while (next_change < batch.changes.size()) {
      tell(batch.changes[next_change], batch.number);
      ++next_change;
    }
    for (; next_rollback < batch.rollbacks.size(); ++next_rollback) {
      auto& [listener, f] = batch.rollbacks[next_rollback];
      if (listener->is_active) f();
    }
  }
};

Observers::Observers(Database& database) : state_(std::make_shared<State>()) {
  state_->database = &database;
  state_->collector.emplace(database, 0, true);
}

Observers::~Observers() {
  for (const auto& listener : state_->listeners) listener->is_active = false;
  state_->database = nullptr;
}

Subscription Observers::subscribe(Table_Id table, On_Change on_change, On_Rollback on_rollback) {
  auto listener = std::make_shared<State::Listener>(
      State::Listener{table, std::move(on_change), std::move(on_rollback), state_->batch_count});
  state_->listeners.push_back(listener);
  state_->database->set_observer(this);
  return Subscription([listener, weak = std::weak_ptr(state_)] {
    listener->is_active = false;
    if (const auto state = weak.lock()) state->remove_ended();
  });
}

void Observers::for_each_record(Table_Id id, const std::function<void(const Change&)>& f) const {
  constexpr index_t most = 4096;
  const Table& table = state_->database->table(id);
  const Description description = describe(*state_->database, table);
  for_each_run(table, [&](index_t first, index_t size) {
    for (const index_t end = first + size; first < end; first += most)
      f(inserted_records(description, table, first, std::min(most, end - first)));
  });
}

void Observers::follow(Database& database) {
  if (state_->database == &database) return;
  state_->database = &database;
  state_->collector.emplace(database, 0, true);
}

bool Observers::observes(Table_Id table) const { return state_->observes(table); }

void Observers::note_insert(Table_Id table, Record_Id record, index_t size) {
  state_->collector->note_insert(table, record.value(), size);
}

void Observers::note_delete(Table_Id table, Record_Id record, index_t size) {
  state_->collector->note_delete(table, record.value(), size);
}

void Observers::note_update(Table_Id table, Field_Id field, Record_Id record, index_t size) {
  state_->collector->note_update(table, field, record.value(), size);
}

void Observers::note_schema_change() noexcept {
  for (const auto& listener : state_->listeners) listener->is_active = false;
  if (!state_->is_notifying) {
    state_->next_change = state_->next_listener = state_->next_rollback = 0;
    state_->next_row = 0;
  }
  // Keep the batch that is being delivered. Its listeners are no longer active.
  while (state_->batches.size() > (state_->is_notifying ? 1u : 0u)) state_->batches.pop_back();
  state_->collector.emplace(*state_->database, 0, true);
}

void Observers::cut(Offset position) {
  std::vector<Change> changes = state_->collector->take();
  std::erase_if(changes, [](const Change& change) {
    return change.kind == Change::Kind::updated &&
           std::all_of(change.fields.begin(), change.fields.end(),
                       [](const Field_Change& f) { return f.old_values == f.new_values; });
  });
  if (changes.empty()) return;
  state_->batches.push_back({state_->batch_count++, position, std::move(changes), {}});
}

void Observers::roll_back(Offset checkpoint) {
  State& state = *state_;
  while (!state.batches.empty() && state.batches.back().position > checkpoint)
    state.batches.pop_back();
  State::Batch batch{state.batch_count++, checkpoint, {}, {}};
  const State::Listeners listeners = state.listeners;  // a copy, because functions may subscribe
  for (const auto& listener : listeners) {
    if (!listener->is_active || !listener->on_rollback) continue;
    std::function<void()> f;
    try {
      f = listener->on_rollback();
    } catch (...) {  // thrown later, once, because the rollback itself must not fail
      f = [error = std::current_exception()]() mutable {
        if (error) std::rethrow_exception(std::exchange(error, nullptr));
      };
    }
    batch.rollbacks.emplace_back(listener, std::move(f));
  }
  if (!batch.rollbacks.empty()) state.batches.push_back(std::move(batch));
}

void Observers::notify(Offset checkpoint) {
  const std::shared_ptr<State> state = state_;
  state->checkpoint = checkpoint;
  // A listener's function has committed. The outer call delivers the new batch afterwards.
  if (state->is_notifying) return;
  struct Guard {
    State& state;
    explicit Guard(State& s) : state(s) { state.is_notifying = true; }
    ~Guard() {
      state.is_notifying = false;
      state.remove_ended();
    }
  } const guard(*state);
  while (!state->batches.empty() && state->batches.front().position <= state->checkpoint) {
    state->tell(state->batches.front());
    state->batches.pop_front();
    state->next_change = state->next_rollback = 0;
  }
}

}  // namespace joedb::inline v1
