#ifndef PYTHON_OBJECTS_H
#define PYTHON_OBJECTS_H

#include <memory>
#include <vector>

#include "session.h"

// The classes of the module, without their functions.

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

// Records that were found.
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
  // One that was begun and not ended would hold the lock for ever.
  ~Transaction_Object();

  std::shared_ptr<Shared_Session> session;  // null where it was moved from
  std::string why;
  std::string author;
  bool is_hard;
  State state = State::made;
  nb::object outer;  // what outer_transactions() was before
};

// Whether objects of the class Record have an attribute of this name that is no field.
bool is_attribute_of_records(const nb::object& name);

void add_tables(nb::module_& module);
void add_database(nb::module_& module);
void add_history(nb::module_& module);

// The names of the columns, and a list of tuples. Parameters are a sequence, or a dict by name.
// Throws Sql_Failure, TypeError.
nb::object run_sql(Shared_Session& session, const std::string& statement, nb::handle parameters);

// The versions of a record.
nb::object record_history(const Record_Object& record);

// A type as Python says it: "int32", "references city", a table, str, int, float, bool, bytes.
// Throws TypeError, ValueError.
Type to_type(Shared_Session& session, nb::handle type);

// What Python sees of an exception of C++ is set as its error.
void set_python_error(const std::exception_ptr& error) noexcept;

// The name of capsules with a stream (the PyCapsule interface of Arrow), and what is in one.
inline constexpr char stream_name[] = "arrow_array_stream";
ArrowArrayStream* stream_of(nb::handle capsule);

nb::object make_table(const std::shared_ptr<Shared_Session>& session, Table_Id id);

}  // namespace joedb::python

#endif
