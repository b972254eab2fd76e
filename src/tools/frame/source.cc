#include "tools/frame/source.h"

#include <array>
#include <filesystem>

#include "joedb/format/header.h"
#include "kernel/base/parse_number.h"
#include "kernel/io/unpacked_file.h"
#include "kernel/journal/past_file.h"
#include "tools/frame/lock_notice.h"
#include "tools/frame/past_name.h"
#include "tools/frame/progress.h"
#ifdef JOEDB_HAS_ZSTD
#include "kernel/io/zstd_unpacker.h"
#endif
#ifdef JOEDB_HAS_ZLIB
#include "kernel/io/gzip_unpacker.h"
#endif
#ifdef JOEDB_HAS_BROTLI
#include "kernel/io/brotli_unpacker.h"
#endif
#ifdef JOEDB_HAS_CURL
#include "share/network/curl_file.h"
#endif
#ifdef JOEDB_HAS_SSH
#include "share/network/sftp_file.h"
#endif

namespace joedb {

void add_source_options(Options& options, Source_Options& source) {
  options.add(
      "--max-size", source.max_size,
      "maximum unpacked size of a compressed file, in bytes (default: 1 GiB, or 1000 times its "
      "size), and maximum size of a download from a server without ranges (default: 1 GiB)",
      {.min = 1});
  options.add("--timeout", source.timeout,
              "give up if a web server sends less than 1 kB/s for this many seconds (default: 30)");
}

// ---- names --------------------------------------------------------------------------------------

static bool begins_with(std::string_view text, std::string_view lower_case) {
  if (text.size() < lower_case.size()) return false;
  for (std::size_t i = 0; i < lower_case.size(); ++i)
    if (text[i] != lower_case[i] && text[i] + ('a' - 'A') != lower_case[i]) return false;
  return true;
}

static bool is_web(const std::string& name) {
  return begins_with(name, "http://") || begins_with(name, "https://");
}
static bool is_sftp(const std::string& name) { return begins_with(name, "sftp://"); }

bool is_url(const std::string& name) { return is_web(name) || is_sftp(name); }
bool is_zstd_name(const std::string& name) { return name.ends_with(".zst"); }

std::string shown_name(const std::string& name) {
  const std::size_t end = is_web(name) ? name.find_first_of("?#") : name.npos;
  return end == name.npos ? name : name.substr(0, end) + "?...";
}

// Returns the path of a web URL. Returns any other name unchanged.
static std::string path_of(const std::string& name) {
  return is_web(name) ? name.substr(0, name.find_first_of("?#")) : name;
}

static Packing packing_of_name(const std::string& name) {
  const std::string path = path_of(name);
  if (is_zstd_name(path)) return Packing::zstd;
  return path.ends_with(".br") ? Packing::brotli : Packing::none;
}

static bool is_zstd(std::string_view begin) {
  if (begin.starts_with("\x28\xb5\x2f\xfd")) return true;
  // A skippable frame.
  return begin.size() >= 4 && (begin[0] & '\xf0') == '\x50' && begin.substr(1, 3) == "\x2a\x4d\x18";
}

// Detects the compression by content, then by name. A file that begins like a database is one,
// whatever its name. An empty file is treated as uncompressed.
static Packing packing_of(const Abstract_File& file, const std::string& name) {
  std::array<char, header_size> bytes{};
  const std::size_t n = file.pread(bytes.data(), bytes.size(), 0);
  const std::string_view begin(bytes.data(), n);
  if (n == 0 || begin.substr(std::min<std::size_t>(n, signature_offset)) == signature)
    return Packing::none;
  return is_zstd(begin) ? Packing::zstd : packing_of_name(name);
}

bool is_packed(const std::string& name) {
  std::error_code ignored;
  if (!std::filesystem::exists(name, ignored)) return packing_of_name(name) != Packing::none;
  if (!std::filesystem::is_regular_file(name, ignored)) return false;
  try {
    return packing_of(File(name, Open_Mode::read_existing), name) != Packing::none;
  } catch (const Exception&) {  // opening the file will report the error
    return false;
  }
}

void require_writable_name(const std::string& name) {
  if (is_url(name)) throw Exception(shown_name(name) + ": can only be read");
  if (!is_packed(name)) return;
  throw Exception(
      name + ": is compressed, and can only be read" +
      (is_zstd_name(name) ? ". joedb_pack and joedb_convert can write such a file" : ""));
}

// ---- compressed files ---------------------------------------------------------------------------

static std::unique_ptr<Unpacker> new_unpacker(Packing packing,
                                              [[maybe_unused]] const std::string& name) {
  if (packing == Packing::zstd)
#ifdef JOEDB_HAS_ZSTD
    return new_zstd_unpacker();
#else
    throw Exception(name + ": zstd: this program was built without libzstd (Debian: libzstd-dev)");
#endif
#ifdef JOEDB_HAS_BROTLI
  return new_brotli_unpacker();
#else
  throw Exception(name +
                  ": brotli: this program was built without libbrotli (Debian: "
                  "libbrotli-dev)");
#endif
}

std::unique_ptr<Unpacker> new_unpacker_of([[maybe_unused]] std::string_view begin) {
#ifdef JOEDB_HAS_ZLIB
  if (begin.starts_with("\x1f\x8b")) return new_gzip_unpacker();
#endif
#ifdef JOEDB_HAS_ZSTD
  if (is_zstd(begin)) return new_zstd_unpacker();
#endif
  return nullptr;
}

static std::unique_ptr<Abstract_File> unpack(std::unique_ptr<Abstract_File> packed, Packing packing,
                                             const Source_Options& options, bool is_remote) {
  const std::string name = packed->get_name();
  auto progress = std::make_shared<Progress>("unpacking " + name, 0, packed->get_size());
  Unpacked_File::Settings settings;
  settings.max_size = options.max_size;
  settings.reads_once = is_remote;
  // Show the progress of the first pass only, because later readers of the file show their own.
  std::weak_ptr<Progress> shown = progress;
  settings.report = [shown](Offset position) {
    if (const auto bar = shown.lock()) bar->update(position);
  };
  return std::make_unique<Unpacked_File>(std::move(packed), new_unpacker(packing, name),
                                         std::move(settings));
}

void require_writable_output(const std::string& name) {
  if (is_url(name)) throw Exception(shown_name(name) + ": can only be read");
  if (name.ends_with(".br"))
    throw Exception(name + ": cannot be written compressed with brotli; .zst can");
#ifndef JOEDB_HAS_ZSTD
  if (is_zstd_name(name))
    throw Exception(name + ": zstd: this program was built without libzstd (Debian: libzstd-dev)");
#endif
}

void write_packed([[maybe_unused]] const Abstract_File& file, [[maybe_unused]] File& archive) {
#ifdef JOEDB_HAS_ZSTD
  Progress progress("compressing", 0, file.get_size());
  write_zstd(file, archive, [&](Offset position) { progress.update(position); });
#endif
}

// ---- other machines -----------------------------------------------------------------------------

static std::unique_ptr<Abstract_File> open_web([[maybe_unused]] const std::string& url,
                                               [[maybe_unused]] const Source_Options& options) {
#ifdef JOEDB_HAS_CURL
  Curl_File::Settings settings;
  settings.timeout = std::chrono::duration_cast<std::chrono::milliseconds>(options.timeout);
  if (options.max_size > 0) settings.max_download = options.max_size;
  settings.report = [what = "downloading " + shown_name(url),
                     progress = std::shared_ptr<Progress>()](Offset done,
                                                             std::optional<Offset> size) mutable {
    if (!size) return;
    if (!progress) progress = std::make_shared<Progress>(what, 0, *size);
    progress->update(done);
    if (done == size) progress.reset();
  };
  return std::make_unique<Curl_File>(url, shown_name(url), std::move(settings));
#else
  throw Exception("curl: this program was built without libcurl (Debian: libcurl4-openssl-dev)");
#endif
}

#ifdef JOEDB_HAS_SSH
// Parses sftp://[USER@]HOST[:PORT]/PATH. A path that begins with /~/ is relative to the home
// directory.
static Ssh_Address parse_sftp(const std::string& url) {
  const auto fail = [&](const char* what) {
    throw Exception(url + ": " + what + ": sftp://[USER@]HOST[:PORT]/PATH");
  };
  Ssh_Address address;
  std::string_view rest = std::string_view(url).substr(std::string_view("sftp://").size());
  const std::size_t slash = rest.find('/');
  if (slash == rest.npos || slash + 1 == rest.size()) fail("the path is missing");
  address.path = rest.substr(slash);
  if (address.path.starts_with("/~/")) address.path.erase(0, 3);
  rest = rest.substr(0, slash);
  if (const std::size_t at = rest.rfind('@'); at != rest.npos) {
    address.user = rest.substr(0, at);
    if (address.user.find(':') != std::string::npos)
      throw Exception("sftp: a password is not taken, only a key");
    rest.remove_prefix(at + 1);
  }
  const std::size_t colon = rest.rfind(':');
  if (colon != rest.npos && rest.find(']', colon) == rest.npos) {
    address.port = parse_number<int>(rest.substr(colon + 1)).value_or(0);
    if (address.port < 1 || address.port > 65'535) fail("not a port");
    rest = rest.substr(0, colon);
  }
  if (rest.starts_with('[') && rest.ends_with(']')) rest = rest.substr(1, rest.size() - 2);
  address.host = rest;
  if (address.host.empty()) fail("the host is missing");
  return address;
}
#endif

static std::unique_ptr<Abstract_File> open_sftp([[maybe_unused]] const std::string& url,
                                                [[maybe_unused]] const Source_Options& options) {
#ifdef JOEDB_HAS_SSH
  Ssh_Address address = parse_sftp(url);
  address.identity_file = options.key_file;
  address.known_hosts_file = options.known_hosts_file;
  return std::make_unique<Sftp_File>(address);
#else
  throw Exception("sftp: this program was built without libssh (Debian: libssh-dev)");
#endif
}

// ---- all of them --------------------------------------------------------------------------------

static std::unique_ptr<Abstract_File> open_present(const std::string& name,
                                                   const Source_Options& options) {
  const bool is_remote = is_url(name);
  std::unique_ptr<Abstract_File> file;
  if (is_remote)
    file = is_web(name) ? open_web(name, options) : open_sftp(name, options);
  else
    file = std::make_unique<File>(name, Open_Mode::read_existing, busy_timeout());
  Packing packing = options.packing;
  if (packing == Packing::found)
    packing = is_classic() && !is_remote ? Packing::none : packing_of(*file, name);
  if (packing == Packing::none) return file;
  return unpack(std::move(file), packing, options, is_remote);
}

std::unique_ptr<Abstract_File> open_source(const std::string& name, const Source_Options& options) {
  std::unique_ptr<Abstract_File> file = open_present(name, options);
  if (const auto end = find_past(name)) return std::make_unique<Past_File>(std::move(file), *end);
  return file;
}

}  // namespace joedb
