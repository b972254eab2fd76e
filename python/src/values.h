#ifndef PYTHON_VALUES_H
#define PYTHON_VALUES_H

#include <optional>
#include <string>
#include <vector>

#include "joedb/history/changes.h"
#include "session.h"

// Converts values between Python and the engine.

namespace joedb::python {

// A value for a field, with the Python object that owns its text or bytes.
struct Input : Field_Input {
  nb::object keep;
};

// Values for several fields, in the form that Session requires.
class Inputs {
 public:
  void reserve(std::size_t size) { values_.reserve(size); }
  void add(Input input) {
    if (input.keep.is_valid()) kept_.push_back(std::move(input.keep));
    values_.push_back(input);
  }
  std::span<const Field_Input> values() const { return values_; }

 private:
  std::vector<Field_Input> values_;
  std::vector<nb::object> kept_;
};

// Converts an object to a value of a field. Throws TypeError, ValueError or OverflowError. Their
// text has the names of the table and field, and the value. May run Python code, which may change
// the database.
Input to_input(Shared_Session& session, const Table& table, const Field_Info& field,
               nb::handle object);
// Converts a dict of keyword arguments. Also throws TypeError if a name is not a field.
Inputs to_inputs(Shared_Session& session, Table_Id table, nb::handle dict);

// How to convert a dict to a record. The members are as in Arrow_Import_Options.
struct Row_Options {
  bool null_is_default = false;
  bool ignore_unknown = false;
  bool use_ids = false;
  bool round = false;
};
// Like to_inputs(), with options. If use_ids is set, also returns the id. Also throws Data_Error.
Inputs to_row(Shared_Session& session, Table_Id table, nb::handle dict, const Row_Options& options,
              std::optional<Record_Id>& id);

// Convert between texts and Python strings. Bytes that are not UTF-8 become surrogates, as in
// Python's file names (surrogateescape).
nb::object text_object(std::string_view text);
std::string text_bytes(nb::handle text);
// Converts a value of a field to a Python object. A reference becomes a record.
nb::object to_object(const std::shared_ptr<Shared_Session>& session, const Field_Info& field,
                     const Value& value);
// Converts a value without a database. References become ids, and blobs are read from `file`.
nb::object to_plain_object(const Shared_Logical_Type& logical, const Value& value,
                           const Abstract_File& file);

// Returns the value of a field. Precondition: the record is in use.
Value read_value(const Table& table, Field_Id field, const Type& type, Record_Id record);

// Raises a Python exception.
[[noreturn]] void fail(PyObject* type, const std::string& text);

// Returns a name like "city.population".
std::string full_name(const Table& table, const Field_Info& field);
std::string name_text(nb::handle name);
// Returns an object as text, for error messages.
std::string shown(nb::handle object);
// Throws `type` (AttributeError, TypeError or KeyError) for a name that is not a field.
[[noreturn]] void throw_no_field(Shared_Session& session, const Table& table, nb::handle name,
                                 PyObject* type);

// Returns a text like "int32" or "references person".
std::string type_text(const Database& database, const Type& type);
// The same of a field, like "date optional".
std::string type_text(const Database& database, const Field_Info& field);

}  // namespace joedb::python

#endif
