#ifndef JOEDB_SRC_TOOLS_FRAME_SOURCE_H
#define JOEDB_SRC_TOOLS_FRAME_SOURCE_H

#include <chrono>
#include <memory>
#include <string>

#include "joedb/io/file.h"
#include "joedb/io/posix_file.h"
#include "kernel/io/unpacked_file.h"
#include "tools/frame/parser.h"

// Opens the input of tools: a file, a compressed file, or a file at a URL or on an SFTP server.

namespace joedb {

enum class Packing { found, none, zstd, brotli };  // found: detect from content and name

struct Source_Options {
  std::int64_t max_size = 0;  // 0: the default limits of Unpacked_File and Curl_File
  std::chrono::duration<double> timeout{30};
  // These are set by words on the command line.
  Packing packing = Packing::found;
  std::string key_file;
  std::string known_hosts_file;
};
// Adds --max-size and --timeout.
void add_source_options(Options& options, Source_Options& source);

// Returns true if the name begins with http://, https:// or sftp://. Case is ignored.
bool is_url(const std::string& name);
// Returns the name for messages. A URL is shown without its query and fragment, which may contain a
// secret.
std::string shown_name(const std::string& name);
// Returns true if the file is compressed. If the file does not exist, returns true if its name is
// one of a compressed file.
bool is_packed(const std::string& name);

// Opens a file, a compressed file, or a URL for reading; with --classic, only a file. If `name` was
// passed to set_past, opens the past state. Throws Io_Error, and Exception if joedb was built
// without a library that is needed.
std::unique_ptr<Abstract_File> open_source(const std::string& name, const Source_Options& options);

// Returns the unpacker of an archive of gzip or zstd that begins with these bytes; null for other
// bytes, or if the program was built without the library.
std::unique_ptr<Unpacker> new_unpacker_of(std::string_view begin);

// Throws Exception if the name is_url or is_packed: such a file cannot be written.
void require_writable_name(const std::string& name);

// Returns true if write_packed() can write a file of this name, which must end with .zst.
bool is_zstd_name(const std::string& name);
// Throws Exception if a new file of this name cannot be written: a URL, .br, or, without libzstd,
// .zst.
void require_writable_output(const std::string& name);
// Writes `file` to `archive`, compressed with zstd. Does nothing if joedb was built without
// libzstd.
void write_packed(const Abstract_File& file, File& archive);

}  // namespace joedb

#endif
