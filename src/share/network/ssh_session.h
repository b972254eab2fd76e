#ifndef JOEDB_SRC_SHARE_NETWORK_SSH_SESSION_H
#define JOEDB_SRC_SHARE_NETWORK_SSH_SESSION_H

#include <libssh/libssh.h>

#include <memory>
#include <string>

#include "joedb/base/threads.h"
#include "joedb/network/channel.h"
#include "kernel/base/plain_text.h"

namespace joedb::inline v1 {

// An SSH session on another machine, in which this user is authenticated.
class Ssh_Session {
 public:
  // Connects and logs in. Throws Connection_Lost and Disconnection, as Ssh_Connector does. `name`
  // appears in messages.
  Ssh_Session(const Ssh_Address& address, std::string name);

  const std::string& name() const { return name_; }
  ssh_session get() const { return session_.get(); }
  // Returns the text of the last error. It may come from the server, so control characters are
  // escaped.
  std::string error() const { return plain(ssh_get_error(session_.get())); }

 private:
  struct Free_Session {
    Process_Mark process = {};
    void operator()(ssh_session session) const {
      if (process.is_inherited()) return;  // do not end the session of the parent process
      ssh_disconnect(session);
      ssh_free(session);
    }
  };

  void set(ssh_options_e option, const void* value);
  void test_when_idle();
  void require_known_host(const std::string& host) const;
  void log_in() const;

  const std::string name_;
  const std::unique_ptr<ssh_session_struct, Free_Session> session_;
};

}  // namespace joedb::inline v1

#endif
