#ifndef JOEDB_SRC_TOOLS_COMPILER_COMPILE_SCHEMA_H
#define JOEDB_SRC_TOOLS_COMPILER_COMPILE_SCHEMA_H

#include <filesystem>
#include <string>

#include "kernel/io/new_file.h"
#include "tools/compiler/options.h"

namespace joedb::compiler {

enum class Language { cpp, python };

// Reads BASE.joedbi, BASE.joedbc and BASE.rpc, and writes the generated files to `directory`.
// Leaves files alone whose content would not change. `existing`: whether files that joedbc did not
// generate are replaced. Prints warnings on standard error.
//
// Throws Schema_Errors, Io_Error, Exception; before anything is written, unless writing fails.
void compile_schema(const std::string& base, Language language,
                    const std::filesystem::path& directory, New_File::Existing existing);

}  // namespace joedb::compiler

#endif
