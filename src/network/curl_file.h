#ifndef JOEDB_SRC_NETWORK_CURL_FILE_H
#define JOEDB_SRC_NETWORK_CURL_FILE_H

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "joedb/base/process_mark.h"
#include "network/remote_file.h"

namespace joedb::inline v1 {

// A file behind a URL of http or https, of which only the pieces are read that are asked for, by
// ranges. Built where libcurl is.
//
// Where a server has no ranges, the file is downloaded once, to a temporary file. A file that
// changes on the server meanwhile is an error: pieces of two versions make no database.
//
class Curl_File final : public Remote_File {
 public:
  struct Settings {
    // Without less than a kilobyte per second for so long, an answer still comes.
    std::chrono::milliseconds timeout{30'000};
    // No larger file is downloaded as a whole.
    Offset max_download = Offset{1} << 30;
    // Hears how much of how much (-1: unknown) of a file that is downloaded as a whole is there.
    std::function<void(Offset, Offset)> report = [](Offset, Offset) {};
  };

  // Makes the first request. This and reading throw Exception for a URL that cannot be used,
  // Connection_Lost, Disconnection for other answers than the bytes that were asked for.
  // `name` is for messages: without the query of the URL, which may be a key.
  Curl_File(const std::string& url, std::string name, Settings settings);
  ~Curl_File() override;

  Offset get_size() const override;
  // Whether the server sends pieces.
  bool has_ranges() const;

 private:
  std::size_t fetch(char* data, std::size_t size, Offset offset) const override;

  class Transfer;
  const Process_Owned<Transfer> transfer_;
};

}  // namespace joedb::inline v1

#endif
