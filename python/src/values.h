#ifndef PYTHON_VALUES_H
#define PYTHON_VALUES_H

#include <string>
#include <vector>

#include "joedb/history/values.h"
#include "session.h"

// Values between Python and the engine.

namespace joedb::python {

// A value for a field, which refers to the Python object it was made of.
struct Input {
  Field_Id field;
  Value value;
  nb::object keep;  // that has the bytes of a text
  nb::object blob;  // bytes that are to be written; none: the value is the blob
};

// Converts an object for a field. Throws TypeError, ValueError or OverflowError, with the names of
// table and field and the value. May call functions of Python, which may change the database.
Input to_input(Session& session, const Table& table, const Field_Info& field, nb::handle object);
// The same for keyword arguments, by name. Throws TypeError for a name that is no field.
std::vector<Input> to_inputs(Session& session, Table_Id table, nb::handle dict);

// Texts that are no UTF-8 have surrogates for the other bytes, as names of files in Python.
nb::object text_object(std::string_view text);
// A value of a type as the interface shows it: references as records.
nb::object to_object(const std::shared_ptr<Session>& session, const Type& type, const Value& value);
// The same without a database: references as ids, blobs from a file.
nb::object to_plain_object(const Value& value, const Abstract_File& file);

// The value of a field; requires that the record is there.
Value read_value(const Table& table, Field_Id field, const Type& type, Record_Id record);

// "city.population"
std::string full_name(const Table& table, const Field_Info& field);
std::string name_text(nb::handle name);
// The object as messages show it.
std::string shown(nb::handle object);
// AttributeError, TypeError or KeyError for a name that is no field.
[[noreturn]] void throw_no_field(Session& session, const Table& table, nb::handle name,
                                 PyObject* type);

// "int32", "references person"
std::string type_text(const Database& database, const Type& type);

}  // namespace joedb::python

#endif
