#ifndef JOEDB_SRC_TOOLS_COMPILER_RPC_H
#define JOEDB_SRC_TOOLS_COMPILER_RPC_H

#include <string>
#include <string_view>
#include <vector>

#include "tools/compiler/cpp.h"

namespace joedb::compiler {

// Checks a message schema, BASE.rpc/NAME.joedbi. `name` is NAME. It must be equal to the last part
// of the namespace.
//
// Throws Schema_Errors if the schema is not possible for messages, or if its generated files would
// replace other generated files.
void require_message_schema(const Model& model, const Options& options, const std::string& name);

// Generates remote procedure calls for the service in `text`, which is the content of `file`. The
// generated files are Service.h (a copy), Procedures.h, Signatures.h and Client.h, in directory
// NAME/rpc/. Throws Schema_Errors if a procedure has no message schema.
std::vector<Generated_File> generate_rpc(const Model& main, const std::vector<Model>& messages,
                                         std::string_view text, const std::string& file);

}  // namespace joedb::compiler

#endif
