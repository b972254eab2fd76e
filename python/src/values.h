#ifndef PYTHON_VALUES_H
#define PYTHON_VALUES_H

#include <optional>
#include <string>
#include <vector>

#include "joedb/history/values.h"
#include "session.h"

// Values between Python and the engine.

namespace joedb::python {

// A value for a field, and the Python object that has its text or bytes.
struct Input : Field_Input {
  nb::object keep;
};

// Several, as a session takes them.
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

// Converts an object for a field. Throws TypeError, ValueError or OverflowError, with the names of
// table and field and the value. May call functions of Python, which may change the database.
Input to_input(Shared_Session& session, const Table& table, const Field_Info& field,
               nb::handle object);
// The same for keyword arguments, by name. Throws TypeError for a name that is no field.
Inputs to_inputs(Shared_Session& session, Table_Id table, nb::handle dict);

// What is done with a dict that is a record: as with columns (Arrow_Import_Options).
struct Row_Options {
  bool null_is_default = false;
  bool ignore_unknown = false;
  bool use_ids = false;
  bool round = false;
};
// The same, and the id, if the options want it. Throws Data_Error, too.
Inputs to_row(Shared_Session& session, Table_Id table, nb::handle dict, const Row_Options& options,
              std::optional<Record_Id>& id);

// Texts that are no UTF-8 have surrogates for the other bytes, as names of files in Python.
nb::object text_object(std::string_view text);
std::string text_bytes(nb::handle text);
// A value of a type as the interface shows it: references as records.
nb::object to_object(const std::shared_ptr<Shared_Session>& session, const Type& type,
                     const Value& value);
// The same without a database: references as ids, blobs from a file.
nb::object to_plain_object(const Value& value, const Abstract_File& file);

// The value of a field; requires that the record is there.
Value read_value(const Table& table, Field_Id field, const Type& type, Record_Id record);

// Raises an exception of Python.
[[noreturn]] void fail(PyObject* type, const std::string& text);

// "city.population"
std::string full_name(const Table& table, const Field_Info& field);
std::string name_text(nb::handle name);
// The object as messages show it.
std::string shown(nb::handle object);
// AttributeError, TypeError or KeyError for a name that is no field.
[[noreturn]] void throw_no_field(Shared_Session& session, const Table& table, nb::handle name,
                                 PyObject* type);

// "int32", "references person"
std::string type_text(const Database& database, const Type& type);

}  // namespace joedb::python

#endif
