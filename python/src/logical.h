#ifndef PYTHON_LOGICAL_H
#define PYTHON_LOGICAL_H

#include <string>

#include "kernel/schema/logical_type.h"
#include "values.h"

// Values and fields of logical types.

namespace joedb::python {

// Returns the Python object of a value; for a value that Python's type does not have, such as a day
// after the year 9999, that of the stored value. Returns a null object for a type of whose values
// the stored value is the object (plain and json).
nb::object to_logical_object(const Logical_Type& logical, const Value& value);

// Converts an object to a value of a field with a logical type, as to_input() does. to_stored(...)
// converts it to the stored type of the field.
Input to_logical_input(Shared_Session& session, const Table& table, const Field_Info& field,
                       nb::handle object,
                       Input (*to_stored)(Shared_Session&, const Table&, const Field_Info&,
                                          nb::handle));

// True for None, and for the missing values of NumPy and pandas: NaT and NA.
bool is_none(nb::handle object);
// Returns the value that means None. Precondition: the field is optional.
Value missing_value_of(Type_Code type, const Logical_Type& logical);

// Returns the values of these records, or of all, as an array of datetime64 or timedelta64.
// `numbers` are the stored values: an array of int32 or int64, which is not copied if it has 64
// bits.
nb::object time_array(const Logical_Type& logical, const nb::object& numbers);

// The type of a new field.
struct Field_Type {
  Type type;
  Logical_Type logical;
};
// Converts the type of a field from Python: what to_type() takes; "date optional" and other types
// of parse_declared_type(); "references city on_delete clear"; datetime.date and others; and
// Optional types, like int | None. Throws TypeError or ValueError.
Field_Type to_field_type(Shared_Session& session, nb::handle type);
// Adds a field to a table. Existing records have no value if it is optional. Requires a
// transaction.
void add_field(Shared_Session& session, Table_Id table, const std::string& name, nb::handle type);
// Declares the logical type of a field. Requires a transaction.
void set_type(Shared_Session& session, Table_Id table, Field_Id field, nb::handle type);
void retype(Shared_Session& session, Table_Id table, Field_Id field, nb::handle type);

}  // namespace joedb::python

#endif
