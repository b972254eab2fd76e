#ifndef JOEDB_SRC_TOOLS_COMPILER_SERVICE_H
#define JOEDB_SRC_TOOLS_COMPILER_SERVICE_H

#include <string>
#include <string_view>
#include <vector>

#include "tools/compiler/options.h"

namespace joedb::compiler {

// A public method of class Service, of the form: void name(schema::Writable_Database& message).
struct Service_Method {
  int line = 0;
  std::string name;
  std::vector<std::string> schema;  // as written: the names that precede Writable_Database
  bool is_global = false;           // the schema begins with ::
};

// Returns the procedures in Service.h, in their order. Ignores methods that are not public, have a
// result, or have other parameters. The text is only split into tokens: macros are not expanded,
// and both branches of an #if count.
//
// Throws Schema_Errors unless the namespace `name_space` has a class or struct Service with at
// least one procedure. `file` is the name of the file, for messages.
std::vector<Service_Method> find_procedures(std::string_view text, const std::string& file,
                                            const std::vector<std::string>& name_space);

}  // namespace joedb::compiler

#endif
