#ifndef JOEDB_REPLICA_GROUP_CLIENT_H
#define JOEDB_REPLICA_GROUP_CLIENT_H

#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "joedb/base/error.h"
#include "joedb/base/threads.h"

namespace joedb::inline v1 {

// Combines calls that wait at the same time into batches. One of the waiting threads runs a batch
// while the others wait for it.
class Call_Batches {
 public:
  // A call of a waiting thread.
  struct Call {
    std::exception_ptr error;  // null: success
    bool is_done = false;
  };
  // Runs all calls of a batch, and sets their errors. Must not throw.
  using Run = std::function<void(const std::vector<Call*>& batch)>;

  explicit Call_Batches(System& system) : system_(system) {}

  // Returns after run() has run a batch with this call. Throws Exception if this thread is running
  // a batch.
  void wait_for(Call& call, const Run& run);

 private:
  void run_next_batch(std::unique_lock<std::mutex>& lock, const Run& run);

  System& system_;
  std::mutex mutex_;
  Condition arrived_;  // a call has arrived, for the thread that starts a batch
  Condition ended_;    // a batch has ended
  std::vector<Call*> waiting_;
  std::thread::id runner_;            // thread that runs a batch; default: none
  std::size_t expected_ = 0;          // number of calls expected in the next batch
  System::Duration last_duration_{};  // of the last batch
};

// Runs transactions of several threads on one client. Transactions that wait at the same time
// become one transaction of the client: one checkpoint, one push and one sync for all of them. So
// the rate of transactions over a slow connection is multiplied by up to the number of threads.
//
//     city::Client client(file, connection);
//     joedb::Group_Client group(client);
//     // in each thread:
//     group.transaction([](city::Writable_Database& db) { db.new_city("Oslo"); });
//
// Observer functions (history/typed_history.h) are called between two batches, by one of the
// threads: they must not write.
//
// Thread-safe. Nothing else may use the client at the same time.
template <class Client_Type>
class Group_Client {
  using Function = typename Client_Type::Transaction_Function;
  template <class F, class Signature>
  struct Result_Of;
  template <class F, class... Targets>
  struct Result_Of<F, std::function<void(Targets...)>> {
    using type = std::decay_t<std::invoke_result_t<F&, Targets...>>;
  };

 public:
  // Both must outlive this.
  explicit Group_Client(Client_Type& client, System& system = System::real())
      : client_(client), batches_(system) {}

  // Calls f() as the transaction() of the client does, in this thread or another one, before or
  // after those of other threads, and returns a copy of its result. When this returns, the whole
  // batch is committed.
  //
  // If f throws, nothing that it has written is kept, and this throws the same exception. The other
  // functions of the batch are then called again, after a rollback that takes as long as opening
  // the file. So f may be called several times: its effects outside the database must be
  // repeatable. If the checkpoint or the push fails, this throws in all threads of the batch.
  template <class F>
  auto transaction(F&& f) {
    using Result = typename Result_Of<F, Function>::type;
    if constexpr (std::is_void_v<Result>) {
      run(Function(std::ref(f)));
    } else {
      std::optional<Result> result;
      run(Function([&](auto&... target) { result.emplace(f(target...)); }));
      return Result(std::move(*result));
    }
  }

  // Calls f() while no transaction runs, to read the tables or to pull. Returns a copy of its
  // result.
  template <class F>
  auto exclusively(F&& f) {
    using Result = std::decay_t<decltype(f())>;
    if constexpr (std::is_void_v<Result>) {
      run_alone([&] { f(); });
    } else {
      std::optional<Result> result;
      run_alone([&] { result.emplace(f()); });
      return Result(std::move(*result));
    }
  }

 private:
  struct Transaction : Call_Batches::Call {
    Function function;  // if empty, `alone` is called
    std::function<void()> alone = {};
  };

  void run(Function function) {
    Transaction transaction{{}, std::move(function)};
    wait_for(transaction);
  }
  void run_alone(std::function<void()> f) {
    Transaction transaction{{}, {}, std::move(f)};
    wait_for(transaction);
  }
  void wait_for(Transaction& transaction) {
    batches_.wait_for(transaction,
                      [this](const std::vector<Call_Batches::Call*>& batch) { run_batch(batch); });
    if (transaction.error) std::rethrow_exception(transaction.error);
  }

  // All exceptions become errors of the calls, including std::bad_alloc.
  void run_batch(const std::vector<Call_Batches::Call*>& batch) noexcept {
    bool has_transactions = false;
    for (Call_Batches::Call* const call : batch) {
      auto* const transaction = static_cast<Transaction*>(call);
      if (transaction->function) {
        has_transactions = true;
        continue;
      }
      try {
        transaction->alone();
      } catch (...) {
        transaction->error = std::current_exception();
      }
    }
    while (has_transactions && !run_transactions(batch)) {
    }
  }

  // Runs the transactions that have not failed yet. Returns false if one of them has thrown: then
  // all of them were rolled back.
  bool run_transactions(const std::vector<Call_Batches::Call*>& batch) noexcept {
    Transaction* failed = nullptr;
    std::exception_ptr error;
    const auto is_left = [](const Transaction& one) { return one.function && !one.error; };
    try {
      client_.transaction([&](auto&... target) {
        for (Call_Batches::Call* const call : batch) {
          auto* const transaction = static_cast<Transaction*>(call);
          if (!is_left(*transaction)) continue;
          try {
            transaction->function(target...);
            client_.end_part();
          } catch (...) {
            failed = transaction;
            error = std::current_exception();
            throw;
          }
        }
      });
      return true;
    } catch (...) {
      // The client may have called the functions again, and failed with another error.
      if (failed != nullptr && std::current_exception() == error) {
        failed->error = error;
        return false;
      }
      for (Call_Batches::Call* const call : batch)
        if (is_left(*static_cast<Transaction*>(call))) call->error = std::current_exception();
      return true;
    }
  }

  Client_Type& client_;
  Call_Batches batches_;
};

}  // namespace joedb::inline v1

#endif
