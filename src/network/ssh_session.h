#ifndef JOEDB_SRC_NETWORK_SSH_SESSION_H
#define JOEDB_SRC_NETWORK_SSH_SESSION_H

#include <libssh/libssh.h>

#include <memory>
#include <string>

#include "joedb/base/process_mark.h"
#include "joedb/network/ssh_connector.h"

namespace joedb::inline v1 {

// A machine on which this user is logged in through SSH.
class Ssh_Session {
 public:
  // Throws Connection_Lost, Disconnection: see Ssh_Connector. `name` is for messages.
  Ssh_Session(const Ssh_Address& address, std::string name);

  const std::string& name() const { return name_; }
  ssh_session get() const { return session_.get(); }
  // The last one.
  std::string error() const { return ssh_get_error(session_.get()); }

 private:
  struct Free_Session {
    Process_Mark process = {};
    void operator()(ssh_session session) const {
      if (process.is_inherited()) return;  // that would end the session of the parent
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
