#ifndef JOEDB_CLI_SOURCE_H
#define JOEDB_CLI_SOURCE_H

#include <chrono>
#include <memory>
#include <string>

#include "cli/parser.h"
#include "joedb/io/file.h"
#include "joedb/io/posix_file.h"

// What the tools read from: a file, a compressed one, one behind a URL or on an SFTP server.

namespace joedb {

enum class Packing { found, none, zstd, brotli };  // found: what the content and the name say

struct Source_Options {
  std::int64_t max_size = 0;  // 0: see Unpacked_File and Curl_File
  std::chrono::duration<double> timeout{30};
  // Of words on the command line.
  Packing packing = Packing::found;
  std::string key_file;
  std::string known_hosts_file;
};
// --max_size, --timeout
void add_source_options(Options& options, Source_Options& source);

// Whether it begins with http://, https:// or sftp://.
bool is_url(const std::string& name);
// A name as messages show it: a URL without its query, which may be a key.
std::string shown_name(const std::string& name);
// Whether this is a compressed file, or, if there is none, the name of one.
bool is_packed(const std::string& name);

// Opens a file, a compressed file, or a URL, to be read; with --classic, only a file. Throws
// Exception where the program was built without what is needed.
std::unique_ptr<Abstract_File> open_source(const std::string& name, const Source_Options& options);

// Throws Exception for a name that is_url or is_packed: nothing can be written there.
void require_writable_name(const std::string& name);

// Whether write_packed can write a file of this name: it ends with .zst.
bool is_zstd_name(const std::string& name);
// Throws Exception if a new file of this name cannot be written.
void require_writable_output(const std::string& name);
// Writes `file`, compressed.
void write_packed(const Abstract_File& file, File& archive);

}  // namespace joedb

#endif
