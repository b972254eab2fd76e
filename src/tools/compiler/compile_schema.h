#ifndef JOEDB_SRC_TOOLS_COMPILER_COMPILE_SCHEMA_H
#define JOEDB_SRC_TOOLS_COMPILER_COMPILE_SCHEMA_H

#include <filesystem>
#include <string>

#include "kernel/io/new_file.h"
#include "tools/compiler/options.h"

namespace joedb::compiler {

enum class Language { cpp, python };

// Reads BASE.joedbi, BASE.joedbc and BASE.rpc, and writes the generated files to `directory`. Does
// not touch files whose content would not change. `existing` tells whether to replace files that
// joedbc did not generate. Prints warnings on standard error.
//
// Throws Schema_Errors, Io_Error or Exception. In this case, nothing has been written, unless
// writing itself has failed.
void compile_schema(const std::string& base, Language language,
                    const std::filesystem::path& directory, New_File::Existing existing);

}  // namespace joedb::compiler

#endif
