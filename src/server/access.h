#ifndef SERVER_ACCESS_H
#define SERVER_ACCESS_H

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace joedb::server {

// What a client may do. Each includes those before it.
enum class Role { pull, push, admin };
std::optional<Role> role_of(std::string_view word);

// Who may use a server over TCP: the lines of a file.
//
//     # name  role  what it shows
//     ann     push  token 5f0c… 91ab…      a salt, and SHA-256(salt, token), in hexadecimal digits
//     backup  pull  certificate            one that the authority of the server has signed for
//     backup
//
// A token is 32 random bytes (make_token), so that one round of SHA-256 is enough.
class Access_List {
 public:
  // Throws Exception, with the number of the line.
  static Access_List parse(std::string_view text);

  // Takes the same time for all tokens. Nothing if the client is unknown, or shows something else.
  std::optional<Role> with_token(const std::string& name, std::string_view token) const;
  std::optional<Role> with_certificate(const std::string& name) const;
  bool is_empty() const { return clients_.empty(); }

 private:
  struct Client {
    Role role;
    bool has_certificate;
    std::string salt;
    std::string hash;
  };
  std::map<std::string, Client> clients_;
};

struct New_Token {
  std::string token;  // for the client
  std::string line;   // for the file
};
New_Token make_token(const std::string& name, Role role);

// A name of a client, or of a database: letters, digits and ._- only, and at most 64 of them.
bool is_name(std::string_view name);

}  // namespace joedb::server

#endif
