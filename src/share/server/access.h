#ifndef JOEDB_SRC_SHARE_SERVER_ACCESS_H
#define JOEDB_SRC_SHARE_SERVER_ACCESS_H

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace joedb::server {

// The rights of a client. Each role includes the rights of the roles before it.
enum class Role { pull, push, admin };
std::optional<Role> role_of(std::string_view word);

// The clients that may use a server over TCP. The list is a text file with one line for each
// client.
//
//     # name  role  proof
//     ann     push  token 5f0c… 91ab…      a salt, and SHA-256(salt, token), in hexadecimal digits
//     backup  pull  certificate            signed for backup by the authority of the server
//
// One round of SHA-256 is enough, because a token is 32 random bytes (make_token).
class Access_List {
 public:
  // Throws Exception, with the line number, if a line is invalid.
  static Access_List parse(std::string_view text);

  // Return the role of a client. Return nullopt if the list has no such client with this token, or
  // with a certificate. with_token() takes the same time for all names and tokens.
  std::optional<Role> with_token(const std::string& name, std::string_view token) const;
  std::optional<Role> with_certificate(const std::string& name) const;
  // Returns true if the line of the client is the same in both lists: the same role and the same
  // proof.
  bool has_same(const std::string& name, const Access_List& other) const;

 private:
  struct Client {
    Role role;
    bool has_certificate;
    std::string salt;
    std::string hash;
    bool operator==(const Client&) const = default;
  };
  std::map<std::string, Client> clients_;
};

struct New_Token {
  std::string token;  // given to the client
  std::string line;   // to be added to the file of the access list
};
New_Token make_token(const std::string& name, Role role);

// Returns true if a client or a database may have this name: 1 to 64 letters, digits, `.`, `_` or
// `-`.
bool is_name(std::string_view name);

}  // namespace joedb::server

#endif
