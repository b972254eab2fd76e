#ifndef JOEDB_SRC_TOOLS_FRAME_SOURCE_H
#define JOEDB_SRC_TOOLS_FRAME_SOURCE_H

#include <chrono>
#include <memory>
#include <string>

#include "joedb/io/file.h"
#include "joedb/io/posix_file.h"
#include "kernel/io/unpacked_file.h"
#include "tools/frame/parser.h"

// Input of the tools: a file, a compressed file, or one behind a URL or on an SFTP server.

namespace joedb {

enum class Packing { found, none, zstd, brotli };  // found: detected from content and name

struct Source_Options {
  std::int64_t max_size = 0;  // 0: the defaults of Unpacked_File and Curl_File
  std::chrono::duration<double> timeout{30};
  // Set by words on the command line.
  Packing packing = Packing::found;
  std::string key_file;
  std::string known_hosts_file;
};
// --max_size, --timeout
void add_source_options(Options& options, Source_Options& source);

// Returns true if the name begins with http://, https:// or sftp://, in any case of letters.
bool is_url(const std::string& name);
// Returns the name for messages: a URL without its query and fragment, which may contain a key.
std::string shown_name(const std::string& name);
// Returns true if the file is compressed, or, if it does not exist, if its name is that of a
// compressed file.
bool is_packed(const std::string& name);

// Opens a file, a compressed file, or a URL for reading; with --classic, only a file. If `name` was
// passed to set_past, opens its past state. Throws Io_Error, and Exception if the program was built
// without a needed library.
std::unique_ptr<Abstract_File> open_source(const std::string& name, const Source_Options& options);

// Returns the unpacker of an archive of gzip or zstd that begins with these bytes; null for other
// bytes, or if the program was built without the library.
std::unique_ptr<Unpacker> new_unpacker_of(std::string_view begin);

// Throws Exception if the name is_url or is_packed: such a file cannot be written.
void require_writable_name(const std::string& name);

// Returns true if write_packed can write a file of this name: it ends with .zst.
bool is_zstd_name(const std::string& name);
// Throws Exception if a new file of this name cannot be written: a URL, .br, or .zst without
// libzstd.
void require_writable_output(const std::string& name);
// Writes `file`, compressed with zstd, to `archive`. A no-op in a build without libzstd.
void write_packed(const Abstract_File& file, File& archive);

}  // namespace joedb

#endif
