#ifndef JOEDB_SRC_SHARE_NETWORK_SFTP_FILE_H
#define JOEDB_SRC_SHARE_NETWORK_SFTP_FILE_H

#include <memory>

#include "joedb/base/threads.h"
#include "joedb/network/channel.h"
#include "share/network/remote_file.h"

namespace joedb::inline v1 {

// A file on an SFTP server. Built if libssh is available.
//
// The file may grow while it is read, because the bytes of a journal before its checkpoint do not
// change. If another file takes its name, a reader continues to read the old file.
class Sftp_File final : public Remote_File {
 public:
  // `address.path` is the path of the file. The constructor and reads throw as Ssh_Connector does.
  explicit Sftp_File(const Ssh_Address& address);
  ~Sftp_File() override;

  Offset get_size() const override;

 private:
  std::size_t fetch(char* data, std::size_t size, Offset offset) const override;

  class Session;
  const Process_Owned<Session> session_;
};

}  // namespace joedb::inline v1

#endif
