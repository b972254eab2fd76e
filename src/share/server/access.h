#ifndef JOEDB_SRC_SHARE_SERVER_ACCESS_H
#define JOEDB_SRC_SHARE_SERVER_ACCESS_H

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace joedb::server {

// Rights of a client. Each role includes the roles before it.
enum class Role { pull, push, admin };
std::optional<Role> role_of(std::string_view word);

// The clients that may use a server over TCP, as the lines of a file.
//
//     # name  role  proof
//     ann     push  token 5f0c… 91ab…      a salt, and SHA-256(salt, token), in hexadecimal digits
//     backup  pull  certificate            signed for backup by the authority of the server
//
// A token is 32 random bytes (make_token), so that one round of SHA-256 is enough.
class Access_List {
 public:
  // Throws Exception, with the number of the line, if a line is invalid.
  static Access_List parse(std::string_view text);

  // Return the role of a client; nullopt if the list has no such client with this token, or with a
  // certificate. with_token() takes the same time for all names and tokens.
  std::optional<Role> with_token(const std::string& name, std::string_view token) const;
  std::optional<Role> with_certificate(const std::string& name) const;
  // True if both lists have the same line for a client: the same role, and the same proof.
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
  std::string token;  // for the client
  std::string line;   // for the file
};
New_Token make_token(const std::string& name, Role role);

// Returns true for the name of a client or a database: 1 to 64 characters, which are letters,
// digits, `.`, `_` or `-`.
bool is_name(std::string_view name);

}  // namespace joedb::server

#endif
