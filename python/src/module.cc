#include <new>

#include "joedb/base/version.h"
#include "objects.h"
#include "values.h"

namespace joedb::python {

namespace {

// A class in joedb/errors.py, and the attributes of the exception.
struct Python_Error {
  const char* type;
  nb::dict attributes;
};

nb::object text(std::string_view s) { return text_object(s); }

Python_Error describe(const Exception& error) {
  Python_Error result{"Error", {}};
  nb::dict& a = result.attributes;
  if (const auto* const timeout = dynamic_cast<const Lock_Timeout*>(&error)) {
    result.type = "LockTimeout";
    a["errno"] = nb::int_(timeout->code);
    a["filename"] = text(timeout->path);
    a["process"] = nb::int_(timeout->process);
    a["holder"] = text(timeout->holder);
    a["waited"] = nb::float_(std::chrono::duration<double>(timeout->waited).count());
  } else if (const auto* const io = dynamic_cast<const Io_Error*>(&error)) {
    result.type = dynamic_cast<const Disk_Full*>(&error) != nullptr ? "DiskFull"
                  : io->code == ENOENT                              ? "FileMissing"
                  : io->code == EEXIST                              ? "FileExists"
                  : io->code == EACCES || io->code == EPERM         ? "NoPermission"
                  : io->code == EAGAIN                              ? "FileLocked"
                                                                    : "IoError";
    a["errno"] = nb::int_(io->code);
    a["filename"] = text(io->path);
  } else if (const auto* const disabled = dynamic_cast<const Write_Disabled*>(&error)) {
    result.type = "WriteDisabled";
    a["failure"] = text(disabled->failure);
  } else if (const auto* const corruption = dynamic_cast<const Corruption_Error*>(&error)) {
    result.type = "CorruptionError";
    a["offset"] = nb::int_(corruption->offset);
  } else if (const auto* const tail = dynamic_cast<const Unfinished_Transaction*>(&error)) {
    result.type = "UnfinishedTransaction";
    a["checkpoint"] = nb::int_(tail->checkpoint);
    a["size"] = nb::int_(tail->size);
  } else if (const auto* const violation = dynamic_cast<const Unique_Violation*>(&error)) {
    const auto id = [](Record_Id record) -> nb::object {
      return record.is_null() ? nb::none() : nb::object(nb::int_(record.value()));
    };
    result.type = "UniqueViolation";
    a["index"] = text(violation->index);
    a["record"] = id(violation->record);
    a["other"] = id(violation->other);
  } else if (dynamic_cast<const Data_Error*>(&error) != nullptr) {
    result.type = "DataError";
  } else if (dynamic_cast<const Connection_Lost*>(&error) != nullptr) {
    result.type = "ConnectionLost";
  } else if (dynamic_cast<const Content_Mismatch*>(&error) != nullptr) {
    result.type = "ContentMismatch";
  } else if (dynamic_cast<const Conflict*>(&error) != nullptr) {
    result.type = "Conflict";
  } else if (dynamic_cast<const Disconnection*>(&error) != nullptr) {
    result.type = "Disconnection";
  } else if (dynamic_cast<const Sql_Failure*>(&error) != nullptr) {
    result.type = "SqlError";
  } else if (dynamic_cast<const Closed*>(&error) != nullptr) {
    result.type = "Closed";
  }
  return result;
}

std::string text_of(const Exception& error) {
  if (dynamic_cast<const Lock_Timeout*>(&error) != nullptr) return error.what();
  if (const auto* const locked = dynamic_cast<const File_Locked*>(&error))
    return locked->path + ": " + locked->reason +
           "; several can write it, if all open it with mode=\"shared\", and mode=\"r\" reads it "
           "meanwhile";
  if (dynamic_cast<const Unfinished_Transaction*>(&error) != nullptr)
    return std::string(error.what()) +
           "; recovery=\"keep\" opens it, and saves these bytes in another file";
  constexpr char way_out[] =
      "; what was committed is there, and can be read here: close the database, and open it again "
      "to "
      "write";
  if (dynamic_cast<const Disk_Full*>(&error) != nullptr)
    return std::string(error.what()) + way_out + ", when there is room";
  if (dynamic_cast<const Write_Disabled*>(&error) != nullptr)
    return std::string(error.what()) + way_out;
  return error.what();
}

void translate(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const Exception& error) {
    const Python_Error description = describe(error);
    const nb::object type = nb::module_::import_("joedb.errors").attr(description.type);
    const nb::object object = type(text(text_of(error)));
    for (const auto& [name, value] : description.attributes) nb::setattr(object, name, value);
    PyErr_SetObject(type.ptr(), object.ptr());
  } catch (const nb::cast_error&) {
    PyErr_SetString(PyExc_TypeError, "an argument has another type, or is too large");
  }
}

}  // namespace

void set_python_error(const std::exception_ptr& pointer) noexcept {
  try {
    try {
      translate(pointer, nullptr);
    } catch (nb::python_error& error) {
      error.restore();
    } catch (const std::bad_alloc&) {
      PyErr_NoMemory();
    } catch (const std::exception& error) {
      PyErr_SetString(PyExc_RuntimeError, error.what());
    }
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "an unknown error");
  }
}

}  // namespace joedb::python

NB_MODULE(_joedb, module) {
  using namespace joedb::python;
  // Some objects still exist at the end of the program. joedb._close_all has closed their sessions.
  nanobind::set_leak_warnings(false);
  nanobind::register_exception_translator(translate);
  module.attr("__version__") = joedb::version;
  add_tables(module);
  add_database(module);
  add_history(module);
}
