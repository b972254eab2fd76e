#ifndef PYTHON_OBJECTS_H
#define PYTHON_OBJECTS_H

#include <memory>
#include <vector>

#include "session.h"

// The classes of the module. Their methods are in the source files.

namespace joedb::python {

struct Database_Object {
  std::shared_ptr<Shared_Session> session;
};

struct Table_Object {
  std::shared_ptr<Shared_Session> session;
  Table_Id id;
};

struct Record_Object {
  std::shared_ptr<Shared_Session> session;
  Table_Id table;
  Record_Id id;
};

// A list of records, the result of a search.
struct Records_Object {
  std::shared_ptr<Shared_Session> session;
  Table_Id table;
  std::shared_ptr<const std::vector<index_t>> ids;
};

struct Transaction_Object {
  enum class State { made, begun, ended };

  Transaction_Object(std::shared_ptr<Shared_Session> of, std::string reason, std::string who,
                     bool hard)
      : session(std::move(of)), why(std::move(reason)), author(std::move(who)), is_hard(hard) {}
  Transaction_Object(Transaction_Object&& other) = default;
  // Rolls back a transaction that was begun but not ended, because it would hold the lock forever.
  ~Transaction_Object();

  std::shared_ptr<Shared_Session> session;  // null after a move
  std::string why;
  std::string author;
  bool is_hard;
  State state = State::made;
  nb::object outer;  // the value of outer_transactions() before the transaction
};

// Returns true if class Record has an attribute of this name, which hides a field of the same name.
bool is_attribute_of_records(const nb::object& name);

void add_tables(nb::module_& module);
void add_upsert(nb::class_<Table_Object>& type);
void add_database(nb::module_& module);
void add_history(nb::module_& module);

// Runs a statement. Returns the names of the columns and a list of tuples. `parameters` is a
// sequence, or a dict with names as keys. Throws Sql_Failure or TypeError.
nb::object run_sql(Shared_Session& session, const std::string& statement, nb::handle parameters);

// Returns the versions of a record.
nb::object record_history(const Record_Object& record);

// Converts the stored type of a field from Python: "int32", "references city", a table, str, int,
// float, bool or bytes; logical.h has others. Throws TypeError or ValueError.
Type to_type(Shared_Session& session, nb::handle type);

// Sets the Python exception that corresponds to a C++ exception.
void set_python_error(const std::exception_ptr& error) noexcept;

// The name of a capsule with a stream (PyCapsule interface of Arrow).
inline constexpr char stream_name[] = "arrow_array_stream";
// Returns the stream in a capsule.
ArrowArrayStream* stream_of(nb::handle capsule);

nb::object make_table(const std::shared_ptr<Shared_Session>& session, Table_Id id);

}  // namespace joedb::python

#endif
