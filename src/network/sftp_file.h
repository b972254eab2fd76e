#ifndef JOEDB_SRC_NETWORK_SFTP_FILE_H
#define JOEDB_SRC_NETWORK_SFTP_FILE_H

#include <memory>

#include "joedb/base/process_mark.h"
#include "joedb/network/ssh_connector.h"
#include "network/remote_file.h"

namespace joedb::inline v1 {

// A file of an SFTP server. Built where libssh is.
//
// The file may grow meanwhile: a journal is not changed before its checkpoint. Whoever replaces it
// by another one of the same name does not disturb a reader.
class Sftp_File final : public Remote_File {
 public:
  // address.path is that of the file. This and reading throw what Ssh_Connector throws.
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
