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
// If the server does not support ranges, the file is downloaded once, to a temporary file. A file
// that changes on the server while it is read is an error: pieces of two versions are not a
// database.
class Curl_File final : public Remote_File {
 public:
  struct Settings {
    // Limit on the time to connect, and on the time that a transfer is slower than 1 kB/s.
    std::chrono::milliseconds timeout{30'000};
    // Limit in bytes on a file that is downloaded as a whole.
    Offset max_download = Offset{1} << 30;
    // Called while a file is downloaded as a whole, with the number of bytes received and the size
    // of the file (nullopt: unknown).
    std::function<void(Offset, std::optional<Offset>)> report = [](Offset, std::optional<Offset>) {
    };
  };

  // Sends the first request. The constructor and reads throw Exception if the URL cannot be used,
  // Connection_Lost, and Disconnection if the answer is not the requested bytes. `name` is for
  // messages, and must not contain the query of the URL, which may be a key.
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
