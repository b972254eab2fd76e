#ifndef JOEDB_SRC_TOOLS_SCHEMA_LANGUAGE_SERVER_H
#define JOEDB_SRC_TOOLS_SCHEMA_LANGUAGE_SERVER_H

namespace joedb {

// Runs joedbc --language-server: the Language Server Protocol on standard input and output, until
// the editor ends it. Returns the exit code.
int run_language_server();

}  // namespace joedb

#endif
