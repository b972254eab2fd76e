#ifndef JOEDB_REPLICA_CLIENTS_H
#define JOEDB_REPLICA_CLIENTS_H

#include <functional>

#include "joedb/journal/bare_journal.h"
#include "joedb/replica/client.h"
#include "joedb/table/writable_database.h"

// Clients for programs without a compiled schema. Those of generated code work in the same way.
// What a client promises about pulling, pushing and failures is in client.h. Not thread-safe: each
// thread opens the file for itself, and has its own client.

namespace joedb::inline v1 {

// Holds what the client works on, so that it is made before the client.
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
    if constexpr (!requires { Store::program_schema(); })  // its options say it
      if (!options.ends_transactions) options.ends_transactions = true;
    return options;
  }
};

// A client with tables. `file` and `connection` must outlive it; without a connection, the file
// itself is what several processes share (Open_Mode::shared_write). The constructor throws what
// Writable_Database throws, and Content_Mismatch if file and connection have diverged. Nothing is
// pulled from the connection before pull() or a transaction.
class Writable_Database_Client : private Client_Store<Writable_Database>, public Client {
 public:
  explicit Writable_Database_Client(Abstract_File& file, Connection& connection = Connection::dummy,
                                    Content_Check check = Content_Check::fast,
                                    const Journal_Options& options = {})
      : Client_Store(file, connection, options), Client(copy_, connection, check) {
    settings().end = Transaction_Settings::End::valid_data;
  }

  // What transaction() calls, as an object (Group_Client).
  using Transaction_Function = std::function<void(const Database&, Writable_Database&)>;

  // The tables as of the last pull or transaction. Addresses of tables change when a transaction
  // fails.
  const Database& get_database() const { return store_.get_database(); }

  // Calls f(const Database&, Writable_Database&) in a transaction (Client::transaction), and
  // returns what it returns. If f throws, what it has written is rolled back, in memory and in the
  // file, except what is before a checkpoint that f has written itself.
  template <class F>
  auto transaction(F&& f) {
    return Client::transaction([&] { return f(get_database(), store_); });
  }
  // The same; a comment says why, and a time stamp ends it (Client::explain).
  template <class F>
  auto transaction(std::string_view why, F&& f) {
    return transaction([&](auto&&... content) {
      explain(why);
      return f(content...);
    });
  }

 private:
  friend class Writable_Database_Client_Lock;
};

// The same without tables: for blobs, comments, and programs that read entries themselves. The
// constructor throws what Bare_Journal throws, and Content_Mismatch.
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

  // Calls f(Writable_Journal&) in a transaction. The same conditions.
  template <class F>
  auto transaction(F&& f) {
    return Client::transaction([&] { return f(store_.get_journal()); });
  }
  // The same; a comment says why, and a time stamp ends it (Client::explain).
  template <class F>
  auto transaction(std::string_view why, F&& f) {
    return transaction([&](auto&&... content) {
      explain(why);
      return f(content...);
    });
  }

 private:
  friend class Writable_Journal_Client_Lock;
};

// A transaction (Client_Lock) that gives access to the tables and the journal. The client must
// outlive it. The result of get_database is to be used only until the transaction ends.
class Writable_Database_Client_Lock : public Client_Lock {
 public:
  // Throws what Client_Lock throws.
  explicit Writable_Database_Client_Lock(Writable_Database_Client& client)
      : Client_Lock(client), database_(client.store_) {}
  Writable_Database& get_database() const { return database_; }

 private:
  Writable_Database& database_;
};

// The same without tables.
class Writable_Journal_Client_Lock : public Client_Lock {
 public:
  explicit Writable_Journal_Client_Lock(Writable_Journal_Client& client)
      : Client_Lock(client), journal_(client.store_.get_journal()) {}
  Writable_Journal& get_journal() const { return journal_; }

 private:
  Writable_Journal& journal_;
};

// Follows a file that others write, without tables. It takes the lock of the header only for
// moments, and never that of a transaction.
class Readonly_Client {
 public:
  // `file` must outlive the client. Throws what Readonly_Journal throws.
  explicit Readonly_Client(Abstract_File& file) : journal_(file) {}
  // Looks for a newer checkpoint. Returns the number of bytes by which it has advanced. Throws what
  // Readonly_Journal::pull throws; the checkpoint before counts then.
  Offset pull() { return journal_.pull(); }
  // To replay the new entries.
  Readonly_Journal& get_journal() { return journal_; }

 private:
  Readonly_Journal journal_;
};

// The same, with tables.
class Readonly_Database_Client {
 public:
  // `file` must outlive the client. Throws what Readonly_Journal and load (table/load.h) throw.
  explicit Readonly_Database_Client(Abstract_File& file) : journal_(file) {
    load(database_, journal_);
  }
  const Database& get_database() const { return database_; }
  // Replays what others have written since the last pull. Returns the number of bytes. If an entry
  // is invalid, throws Corruption_Error: the tables have the entries before it, and every later
  // pull throws, too.
  Offset pull() {
    const Offset size = journal_.pull();
    load(database_, journal_);
    return size;
  }

 private:
  Readonly_Journal journal_;
  Database database_;
};

}  // namespace joedb::inline v1

#endif
