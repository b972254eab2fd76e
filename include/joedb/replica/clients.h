#ifndef JOEDB_REPLICA_CLIENTS_H
#define JOEDB_REPLICA_CLIENTS_H

#include "joedb/journal/bare_journal.h"
#include "joedb/replica/client.h"
#include "joedb/table/writable_database.h"

// Clients for programs without a compiled schema. Those of generated code work in the same way.

namespace joedb::inline v1 {

// Holds what the client works on, so that it is made before the client.
template <class Store>
class Client_Store {
 protected:
  Client_Store(Abstract_File& file, const Journal_Options& options)
      : store_(file, for_client(file, options)), copy_(store_) {}
  Store store_;
  Writable_Copy<Store> copy_;

 private:
  static Journal_Options for_client(const Abstract_File& file, Journal_Options options) {
    if (!options.recovery && file.is_shared()) options.recovery = Recovery::keep;
    return options;
  }
};

// `file` and `connection` must outlive the client. Throws what opening the file throws, and
// Content_Mismatch if file and connection have diverged.
class Writable_Database_Client : private Client_Store<Writable_Database>, public Client {
 public:
  explicit Writable_Database_Client(Abstract_File& file, Connection& connection = Connection::dummy,
                                    Content_Check check = Content_Check::fast,
                                    const Journal_Options& options = {})
      : Client_Store(file, options), Client(copy_, connection, check) {}

  const Database& get_database() const { return store_.get_database(); }

  // Calls f(const Database&, Writable_Database&) in a transaction (Client::transaction).
  template <class F>
  auto transaction(F&& f) {
    return Client::transaction([&] { return f(get_database(), store_); });
  }

 private:
  friend class Writable_Database_Client_Lock;
};

// The same without tables: for blobs, comments, and programs that read entries themselves.
class Writable_Journal_Client : private Client_Store<Bare_Journal>, public Client {
 public:
  explicit Writable_Journal_Client(Abstract_File& file, Connection& connection = Connection::dummy,
                                   Content_Check check = Content_Check::fast,
                                   const Journal_Options& options = {})
      : Client_Store(file, options), Client(copy_, connection, check) {}

  const Writable_Journal& get_journal() const { return store_.get_journal(); }

  // Calls f(Writable_Journal&) in a transaction.
  template <class F>
  auto transaction(F&& f) {
    return Client::transaction([&] { return f(store_.get_journal()); });
  }

 private:
  friend class Writable_Journal_Client_Lock;
};

class Writable_Database_Client_Lock : public Client_Lock {
 public:
  explicit Writable_Database_Client_Lock(Writable_Database_Client& client)
      : Client_Lock(client), database_(client.store_) {}
  Writable_Database& get_database() const { return database_; }

 private:
  Writable_Database& database_;
};

class Writable_Journal_Client_Lock : public Client_Lock {
 public:
  explicit Writable_Journal_Client_Lock(Writable_Journal_Client& client)
      : Client_Lock(client), journal_(client.store_.get_journal()) {}
  Writable_Journal& get_journal() const { return journal_; }

 private:
  Writable_Journal& journal_;
};

// Follows a file that others write.
class Readonly_Client {
 public:
  // `file` must outlive the client.
  explicit Readonly_Client(Abstract_File& file) : journal_(file) {}
  // Number of bytes by which the checkpoint has moved.
  Offset pull() { return journal_.pull(); }
  Readonly_Journal& get_journal() { return journal_; }

 private:
  Readonly_Journal journal_;
};

// The same, with tables.
class Readonly_Database_Client {
 public:
  explicit Readonly_Database_Client(Abstract_File& file) : journal_(file) {
    load(database_, journal_);
  }
  const Database& get_database() const { return database_; }
  // If the new entries make no sense it throws, and the tables have those before the bad one.
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
