#include "share/network/sftp_file.h"

#include <libssh/sftp.h>

#include <algorithm>

#include "share/network/ssh_session.h"

namespace joedb::inline v1 {

class Sftp_File::Session {
 public:
  Session(const Ssh_Address& address, std::string name)
      : ssh_(address, std::move(name)), sftp_(sftp_new(ssh_.get())) {
    if (!sftp_ || sftp_init(sftp_.get()) != SSH_OK) fail("the server has no SFTP");
    constexpr int for_reading = 0;  // O_RDONLY
    file_.reset(sftp_open(sftp_.get(), address.path.c_str(), for_reading, 0));
    if (!file_) fail("cannot be opened");
    const Attributes attributes = read_attributes();
    if (attributes->type != SSH_FILEXFER_TYPE_REGULAR &&
        attributes->type != SSH_FILEXFER_TYPE_UNKNOWN)
      throw Disconnection(ssh_.name() + ": is no regular file");
  }

  Offset size() const { return static_cast<Offset>(read_attributes()->size); }

  std::size_t read(char* data, std::size_t size, Offset offset) const {
    constexpr std::size_t longest_read = std::size_t{1} << 17;
    if (sftp_seek64(file_.get(), static_cast<std::uint64_t>(offset)) < 0) fail("cannot be read");
    const auto n = sftp_read(file_.get(), data, std::min(size, longest_read));
    if (n < 0) fail("cannot be read");
    return static_cast<std::size_t>(n);
  }

 private:
  struct Free {
    void operator()(sftp_session sftp) const { sftp_free(sftp); }
    void operator()(sftp_file file) const { sftp_close(file); }
    void operator()(sftp_attributes attributes) const { sftp_attributes_free(attributes); }
  };
  using Attributes = std::unique_ptr<sftp_attributes_struct, Free>;

  Attributes read_attributes() const {
    Attributes attributes(sftp_fstat(file_.get()));
    if (!attributes) fail("cannot be asked for its size");
    constexpr std::uint64_t most = std::uint64_t{1} << 62;
    const bool has_size = (attributes->flags & SSH_FILEXFER_ATTR_SIZE) != 0;
    if (!has_size || attributes->size > most)
      throw Disconnection(ssh_.name() + ": the server does not say how many bytes the file has");
    return attributes;
  }

  [[noreturn]] void fail(const std::string& what) const {
    const std::string text = ssh_.name() + ": " + what;
    if (!ssh_is_connected(ssh_.get())) throw Connection_Lost(text + ": " + ssh_.error());
    switch (sftp_ ? sftp_get_error(sftp_.get()) : SSH_FX_FAILURE) {
      case SSH_FX_NO_SUCH_FILE:
        throw Disconnection(ssh_.name() + ": the server has no such file");
      case SSH_FX_PERMISSION_DENIED:
        throw Disconnection(ssh_.name() + ": the server does not let you read it");
      default:
        throw Disconnection(text + ": " + ssh_.error());
    }
  }

  const Ssh_Session ssh_;
  const std::unique_ptr<sftp_session_struct, Free> sftp_;
  std::unique_ptr<sftp_file_struct, Free> file_;
};

static std::string name_of(const Ssh_Address& address) {
  return "sftp " + (address.user.empty() ? "" : address.user + "@") + address.host + ":" +
         address.path;
}

Sftp_File::Sftp_File(const Ssh_Address& address)
    : Remote_File(name_of(address)),
      session_(std::make_unique<Session>(address, get_name()), get_name()) {}

Sftp_File::~Sftp_File() = default;

Offset Sftp_File::get_size() const { return session_->size(); }

// If the file was truncated, reads end early. The checkpoint then shows that bytes are missing.
std::size_t Sftp_File::fetch(char* data, std::size_t size, Offset offset) const {
  return session_->read(data, size, offset);
}

}  // namespace joedb::inline v1
