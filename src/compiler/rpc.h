#ifndef JOEDB_COMPILER_RPC_H
#define JOEDB_COMPILER_RPC_H

#include <string>
#include <string_view>
#include <vector>

#include "compiler/cpp.h"

namespace joedb::compiler {

// A schema of messages: BASE.rpc/NAME.joedbi. (The name is the last part of its namespace.)
//
// Throws Schema_Errors for what no message can be, or what would replace other generated files.
void require_message_schema(const Model& model, const Options& options, const std::string& name);

// Remote procedure calls for the service in `text`, the content of `file`: Service.h (a copy),
// Procedures.h, Signatures.h and Client.h, in the folder NAME/rpc/. Throws Schema_Errors where a
// procedure has no message schema.
std::vector<Generated_File> generate_rpc(const Model& main, const std::vector<Model>& messages,
                                         std::string_view text, const std::string& file);

}  // namespace joedb::compiler

#endif
