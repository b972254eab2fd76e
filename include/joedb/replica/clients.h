#ifndef JOEDB_REPLICA_CLIENTS_H
#define JOEDB_REPLICA_CLIENTS_H

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "joedb/base/error.h"
#include "joedb/base/threads.h"
#include "joedb/journal/writable_journal.h"
#include "joedb/replica/client.h"
#include "joedb/table/typed_writer.h"
#include "joedb/table/writable_database.h"

namespace joedb::inline v1 {

// ---- clients ------------------------------------------------------------------------------------

// Clients for programs without a compiled schema. The clients of generated code work in the same
// way. client.h documents pulling, pushing and failures. Not thread-safe: each thread must open the
// file itself, and have its own client.

// Holds the store on which the client works. It is a base class, so that the store is constructed
// before the client.
template <class Store>
class Client_Store {
 protected:
  Client_Store(Abstract_File& file, const Connection& connection, const Journal_Options& options)
      : store_(file, for_client(file, connection, options)), copy_(store_) {}
  Store store_;
  Writable_Copy<Store> copy_;

 private:
  static Journal_Options for_client(const Abstract_File& file, const Connection& connection,
                                    Journal_Options options) {
    const bool is_alone = !file.is_shared() && &connection == &Connection::dummy;
    if (!options.recovery && !is_alone) options.recovery = Recovery::keep;
    // With a compiled schema, the options of the schema determine this.
    if constexpr (!requires { Store::program_schema(); })
      if (!options.ends_transactions) options.ends_transactions = true;
    return options;
  }
};

// A client with tables. `file` and `connection` must outlive the client. Without a connection,
// several processes can share the file itself (Open_Mode::shared_write). The constructor throws the
// exceptions of Writable_Database, and Content_Mismatch if file and connection have diverged.
// Nothing is pulled from the connection before pull() or a transaction.
class Writable_Database_Client : private Client_Store<Writable_Database>, public Client {
 public:
  explicit Writable_Database_Client(Abstract_File& file, Connection& connection = Connection::dummy,
                                    Content_Check check = Content_Check::fast,
                                    const Journal_Options& options = {})
      : Client_Store(file, connection, options), Client(copy_, connection, check) {
    settings().end = Transaction_Settings::End::valid_data;
  }

  // The type of the function that transaction() calls. For Group_Client.
  using Transaction_Function = std::function<void(const Database&, Writable_Database&)>;

  // The tables after the last pull or transaction. A failed transaction changes the addresses of
  // the tables.
  const Database& get_database() const { return store_.get_database(); }

  // Calls f(const Database&, Writable_Database&) in a transaction (Client::transaction), and
  // returns its result. If f throws, everything that it has written is rolled back, in memory and
  // in the file, except entries before a checkpoint that f itself has written.
  template <class F>
  auto transaction(F&& f) {
    return Client::transaction([&] { return f(get_database(), store_); });
  }
  // The same, but the journal gets a comment with the reason, and a time stamp at the end of the
  // transaction (Client::explain).
  template <class F>
  auto transaction(std::string_view why, F&& f) {
    return transaction([&](auto&&... content) {
      explain(why);
      return f(content...);
    });
  }
  // The same as transaction(f) if no other process is writing the file now
  // (Client::try_transaction).
  template <class F>
  auto try_transaction(F&& f) {
    return Client::try_transaction([&] { return f(get_database(), store_); });
  }

 private:
  friend class Writable_Database_Client_Lock;
};

// A client without tables: for blobs, comments, and programs that read entries themselves. The
// constructor throws the exceptions of Bare_Journal, and Content_Mismatch if file and connection
// have diverged.
class Writable_Journal_Client : private Client_Store<Bare_Journal>, public Client {
 public:
  explicit Writable_Journal_Client(Abstract_File& file, Connection& connection = Connection::dummy,
                                   Content_Check check = Content_Check::fast,
                                   const Journal_Options& options = {})
      : Client_Store(file, connection, options), Client(copy_, connection, check) {
    settings().end = Transaction_Settings::End::valid_data;
  }

  const Writable_Journal& get_journal() const { return store_.get_journal(); }

  using Transaction_Function = std::function<void(Writable_Journal&)>;

  // Calls f(Writable_Journal&) in a transaction, like the function of Writable_Database_Client.
  template <class F>
  auto transaction(F&& f) {
    return Client::transaction([&] { return f(store_.get_journal()); });
  }
  // The same, but the journal gets a comment with the reason, and a time stamp at the end of the
  // transaction (Client::explain).
  template <class F>
  auto transaction(std::string_view why, F&& f) {
    return transaction([&](auto&&... content) {
      explain(why);
      return f(content...);
    });
  }
  // The same as transaction(f) if no other process is writing the file now
  // (Client::try_transaction).
  template <class F>
  auto try_transaction(F&& f) {
    return Client::try_transaction([&] { return f(store_.get_journal()); });
  }

 private:
  friend class Writable_Journal_Client_Lock;
};

// A transaction (Client_Lock) that gives access to the tables and the journal. The client must
// outlive this object. The result of get_database() may be used only until the transaction ends.
class Writable_Database_Client_Lock : public Client_Lock {
 public:
  // Throws the exceptions of Client_Lock.
  explicit Writable_Database_Client_Lock(Writable_Database_Client& client)
      : Client_Lock(client), database_(client.store_) {}
  Writable_Database& get_database() const { return database_; }

 private:
  Writable_Database& database_;
};

// The same for a client without tables.
class Writable_Journal_Client_Lock : public Client_Lock {
 public:
  explicit Writable_Journal_Client_Lock(Writable_Journal_Client& client)
      : Client_Lock(client), journal_(client.store_.get_journal()) {}
  Writable_Journal& get_journal() const { return journal_; }

 private:
  Writable_Journal& journal_;
};

// Follows a file that other processes write, without tables. Takes the head lock only briefly, and
// never takes the lock of a transaction.
class Readonly_Client {
 public:
  // `file` must outlive the client. Throws the exceptions of Readonly_Journal.
  explicit Readonly_Client(Abstract_File& file) : journal_(file) {}
  // Reads a newer checkpoint, if there is one. Returns the number of bytes by which the checkpoint
  // has advanced. Throws the exceptions of Readonly_Journal::pull; the previous checkpoint then
  // stays valid.
  Offset pull() { return journal_.pull(); }
  // The journal, which is used to replay the new entries.
  Readonly_Journal& get_journal() { return journal_; }

 private:
  Readonly_Journal journal_;
};

// Follows a file that other processes write, with tables.
class Readonly_Database_Client {
 public:
  // `file` must outlive the client. Throws the exceptions of Readonly_Journal and load
  // (table/load.h).
  explicit Readonly_Database_Client(Abstract_File& file) : journal_(file) {
    load(database_, journal_);
  }
  const Database& get_database() const { return database_; }
  // Replays the entries that other processes have written since the last pull. Returns the number
  // of their bytes. Throws Corruption_Error if an entry is invalid: the tables then have the
  // entries before this entry, and every later pull throws, too.
  Offset pull() {
    const Offset size = journal_.pull();
    load(database_, journal_);
    return size;
  }

 private:
  Readonly_Journal journal_;
  Database database_;
};

// The base classes of the clients that joedbc generates. client.h documents pulling, pushing and
// failures. Not thread-safe: each thread must open the file itself.

// A generated Writable_Database with the functions that a client needs (Local_Copy). Its schema is
// upgraded in the first transaction, after the first pull. So if two programs have the same new
// schema, their copies do not diverge.
template <class Writer>
class Client_Database : public Writer {
 public:
  Client_Database(Abstract_File& file, const Journal_Options& options)
      : Writer(Upgraded_Later(), file, options) {}
  using Writer::bring_up_to_date;
  using Writer::copy_from;
  using Writer::lock_pull;
  using Writer::notify_observers;
  using Writer::pull;
  using Writer::require_current_schema;
  using Writer::try_lock;
  using Writer::unlock;
  // These functions do not notify observers: the client does so after it has released its locks.
  void checkpoint(Checkpoint_Level level) { this->checkpoint_unobserved(level); }
  void rollback() { this->rollback_unobserved(); }
  void write(const Valid_Data&) { this->write_valid_data(); }
  void write(const Timestamp& entry) { this->write_timestamp(entry.seconds); }
  void write(const Comment& entry) { this->write_comment(entry.text); }
};

// Base of the generated Client.
template <class Writer>
class Typed_Client : private Client_Store<Client_Database<Writer>>, public Client {
 public:
  // `file` and `connection` must outlive the client. Runs a transaction that upgrades the schema to
  // the schema of the program. A client that cannot write pulls instead, and throws Out_Of_Date if
  // the schema is older than the schema of the program. Throws Schema_Mismatch if the schema is
  // incompatible, and the exceptions of opening, pulling and pushing.
  explicit Typed_Client(Abstract_File& file, Connection& connection = Connection::dummy,
                        Content_Check check = Content_Check::fast,
                        const Journal_Options& options = {})
      : Client_Store<Client_Database<Writer>>(file, connection, options),
        Client(this->copy_, connection, check) {
    const Program_Schema& schema = Writer::program_schema();
    settings().end = schema.has_timestamps ? Transaction_Settings::End::timestamp
                     : schema.has_no_marks ? Transaction_Settings::End::none
                                           : Transaction_Settings::End::valid_data;
    if (can_write()) {
      Client::transaction([this] { this->store_.bring_up_to_date(); });
    } else {
      pull();
      this->store_.require_current_schema();
    }
  }

  // The type of the function that transaction() calls. For Group_Client.
  using Transaction_Function = std::function<void(Writer&)>;

  // The tables after the last pull or transaction. The reference stays valid.
  const typename Writer::Database_Type& get_database() const { return this->store_; }

  // Takes the write lock, pulls, calls f(Writable_Database&), pushes and writes a checkpoint.
  // Returns the result of f. If f throws, everything that it has written is rolled back, in memory
  // and in the file. The rollback takes as long as opening the file, and invalidates addresses,
  // iterators and strings of the database.
  template <class F>
  auto transaction(F&& f) {
    constexpr bool takes_reference = std::is_invocable_v<F&, Writer&>;
    static_assert(takes_reference, "the function of a transaction takes a Writable_Database&");
    if constexpr (takes_reference)
      return Client::transaction([&] { return f(static_cast<Writer&>(this->store_)); });
  }
  // The same as transaction(f) if no other process is writing the file now. Otherwise, returns
  // false or an empty std::optional at once, without calling f (Client::try_transaction).
  template <class F>
  auto try_transaction(F&& f) {
    return Client::try_transaction([&] { return f(static_cast<Writer&>(this->store_)); });
  }
  // The same as transaction(f), but the journal gets a comment with the reason, which `joedb log`
  // shows, and a time stamp at the end of the transaction.
  template <class F>
  auto transaction(std::string_view why, F&& f) {
    return transaction([&](Writer& database) {
      explain(why);
      return f(database);
    });
  }

 private:
  template <class>
  friend class Typed_Client_Lock;
  Writer& writer() { return this->store_; }
};

// Base of the generated File_Client: works on a file that several processes share, without a
// connection. Creates the file if it does not exist. The constructor and each transaction wait for
// other writers, but not longer than `busy_timeout` (File), and then throw Lock_Timeout.
//
//     shop::File_Client client("shop.joedb", {}, std::chrono::seconds(1));
template <class Client_Type>
class Typed_File_Client : private File_Holder<File>, public Client_Type {
 public:
  explicit Typed_File_Client(const std::string& file_name, const Journal_Options& options = {},
                             System::Duration busy_timeout = default_busy_timeout)
      : File_Holder<File>(file_name, Open_Mode::shared_write, busy_timeout),
        Client_Type(file, Connection::dummy, Content_Check::none, options) {}

 private:
  using File_Holder<File>::file;
};

// Base of the generated Client_Lock: a transaction that the program ends explicitly. The client
// must outlive this object.
template <class Client_Type>
class Typed_Client_Lock : public Client_Lock {
 public:
  // Throws the exceptions of Client_Lock.
  explicit Typed_Client_Lock(Client_Type& client) : Client_Lock(client), client_(client) {}
  // The generated Writable_Database. It must not be written to after the end of the transaction.
  auto& get_database() const { return client_.writer(); }

 private:
  Client_Type& client_;
};

// Base of the generated Readonly_Client, which follows a file that other processes write.
template <class Reader>
class Typed_Readonly_Client {
 public:
  // Throws the exceptions of Readonly_Database, for example Out_Of_Date if the schema of the file
  // is older than the schema of the program.
  explicit Typed_Readonly_Client(const std::string& file_name)
      : Typed_Readonly_Client(std::make_unique<File>(file_name, Open_Mode::read_existing)) {}
  // The same; `file` must outlive the client.
  explicit Typed_Readonly_Client(Abstract_File& file) : journal_(file) {
    for (const Index_Definition& index : Reader::program_schema().indexes)
      content_.add_index(index);
    load(content_, journal_);
    require_same_schema(content_, Reader::program_schema(), file.get_name());
    content_.keep_dropped();
    database_.set_file(file);
    database_.bind(content_);
  }

  const Reader& get_database() const { return database_; }

  // Reads the entries that other processes have written. Returns the number of their bytes.
  // Invalidates strings of the database. Throws Schema_Mismatch if the schema was changed. Throws
  // Corruption_Error if an entry is invalid: the tables then have the entries before this entry,
  // and every later pull throws, too.
  Offset pull() {
    const Offset size = journal_.pull();
    load(content_, journal_);
    require_unchanged_schema(content_, Reader::program_schema(), journal_.get_file().get_name(),
                             seen_schema_);
    database_.notify_observers(journal_.get_checkpoint());
    return size;
  }

 private:
  explicit Typed_Readonly_Client(std::unique_ptr<File> file) : Typed_Readonly_Client(*file) {
    own_file_ = std::move(file);
  }

  struct Bound : Reader {
    using Reader::bind;
    using Reader::notify_observers;
    using Reader::set_file;
  };
  std::unique_ptr<File> own_file_;
  Readonly_Journal journal_;
  Database content_;
  std::uint64_t seen_schema_ = 0;
  Bound database_;
};

// ---- group client -------------------------------------------------------------------------------

// Combines calls of several threads into batches. One of the waiting threads runs a batch; the
// other threads wait for it.
class Call_Batches {
 public:
  // A call of a waiting thread.
  struct Call {
    std::exception_ptr error;  // null if the call has succeeded
    bool is_done = false;
  };
  // Runs all calls of a batch, and sets their errors. Must not throw.
  using Run = std::function<void(const std::vector<Call*>& batch)>;

  explicit Call_Batches(System& system) : system_(system) {}

  // Returns when a batch that contains this call has been run. Throws Exception if this thread is
  // running a batch.
  void wait_for(Call& call, const Run& run);

 private:
  void run_next_batch(std::unique_lock<std::mutex>& lock, const Run& run);

  System& system_;
  std::mutex mutex_;
  Condition arrived_;  // notifies the thread that starts a batch that a call has arrived
  Condition ended_;    // a batch has ended
  std::vector<Call*> waiting_;
  std::thread::id runner_;            // thread that runs a batch; default: none
  std::size_t expected_ = 0;          // number of calls expected in the next batch
  System::Duration last_duration_{};  // duration of the last batch
};

// Runs transactions of several threads on one client. Transactions that wait at the same time are
// combined into one transaction of the client, with one checkpoint, one push and one sync. With n
// threads, the rate of transactions over a slow connection is up to n times as high.
//
//     city::Client client(file, connection);
//     joedb::Group_Client group(client);
//     // in each thread:
//     group.transaction([](city::Writable_Database& db) { db.new_city("Oslo"); });
//
// Functions that observe changes (history/typed_history.h) are called between two batches, by one
// of the threads. They must not write.
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
  // `client` and `system` must outlive this object.
  explicit Group_Client(Client_Type& client, System& system = System::real())
      : client_(client), batches_(system) {}

  // Calls f() like the transaction() of the client, but possibly in another thread, and in any
  // order with the functions of other threads. Returns a copy of the result of f(). When this
  // returns, the whole batch is committed.
  //
  // If f throws, nothing that it has written is kept, and this throws the same exception. The other
  // functions of the batch are then called again, after a rollback that takes as long as opening
  // the file. So f may be called several times, and its effects outside the database must be
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

  // Calls f() when no transaction is running, for example to read the tables or to pull. Returns a
  // copy of the result of f().
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

  // Runs the transactions that have not failed yet. Returns false if one of them has thrown; all of
  // them were rolled back then.
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
      // The error may be another: the client may have called the functions again, and then failed.
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
