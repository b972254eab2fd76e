#ifndef JOEDB_SRC_SHARE_NETWORK_CURL_FILE_H
#define JOEDB_SRC_SHARE_NETWORK_CURL_FILE_H

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "joedb/base/threads.h"
#include "share/network/remote_file.h"

namespace joedb::inline v1 {

// A file at an http or https URL. Range requests fetch only the pieces that are read. Built if
// libcurl is available.
//
// If the server does not support ranges, the whole file is downloaded once, to a temporary file. If
// the file changes on the server while it is read, reading throws: pieces of two versions are not a
// database.
class Curl_File final : public Remote_File {
 public:
  struct Settings {
    // Time limit for connecting, and for the time during which a transfer is slower than 1 kB/s.
    std::chrono::milliseconds timeout{30'000};
    // Maximum size in bytes of a file that is downloaded as a whole.
    Offset max_download = Offset{1} << 30;
    // Called during the download of a whole file, with the number of bytes received and the size of
    // the file (nullopt if unknown).
    std::function<void(Offset, std::optional<Offset>)> report = [](Offset, std::optional<Offset>) {
    };
  };

  // Sends the first request. The constructor and reads throw Exception if the URL cannot be used,
  // Connection_Lost, and Disconnection if the reply does not have the requested bytes. `name`
  // appears in messages. It must not contain the query of the URL, which may be a secret.
  Curl_File(const std::string& url, std::string name, Settings settings);
  ~Curl_File() override;

  Offset get_size() const override;
  // True if the server supports ranges.
  bool has_ranges() const;

 private:
  std::size_t fetch(char* data, std::size_t size, Offset offset) const override;

  class Transfer;
  const Process_Owned<Transfer> transfer_;
};

}  // namespace joedb::inline v1

#endif
