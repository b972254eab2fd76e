#include "share/server/access.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <utility>
#include <vector>

#include "joedb/base/error.h"

namespace joedb::server {

namespace {

constexpr std::array<std::pair<std::string_view, Role>, 3> role_names{
    {{"pull", Role::pull}, {"push", Role::push}, {"admin", Role::admin}}};

std::string hexadecimal(const unsigned char* bytes, std::size_t size) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    text += digits[bytes[i] >> 4];
    text += digits[bytes[i] & 15];
  }
  return text;
}

std::string random_digits(std::size_t size) {
  std::vector<unsigned char> bytes(size);
  if (RAND_bytes(bytes.data(), static_cast<int>(size)) != 1)
    throw Exception("there are no random numbers");
  return hexadecimal(bytes.data(), size);
}

std::string hash_of(std::string_view salt, std::string_view token) {
  const std::string text = std::string(salt) + std::string(token);
  unsigned char hash[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  if (EVP_Digest(text.data(), text.size(), hash, &size, EVP_sha256(), nullptr) != 1)
    throw Exception("SHA-256 failed");
  return hexadecimal(hash, size);
}

constexpr std::size_t hash_digits = 64;

}  // namespace

std::optional<Role> role_of(std::string_view word) {
  for (const auto& [name, role] : role_names)
    if (name == word) return role;
  return std::nullopt;
}

bool is_name(std::string_view name) {
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), is_allowed);
}

Access_List Access_List::parse(std::string_view text) {
  Access_List list;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const auto fail = [number](const std::string& what) {
      throw Exception("line " + std::to_string(number) + ": " + what);
    };
    std::istringstream words(line.substr(0, line.find('#')));
    std::string name;
    std::string role;
    std::string kind;
    std::string rest;
    if (!(words >> name)) continue;
    if (!is_name(name)) fail("not a name: " + name);
    words >> role >> kind;
    const std::optional<Role> known_role = role_of(role);
    if (!known_role) fail("pull, push or admin is needed after the name");
    Client client{*known_role, kind == "certificate", "", ""};
    if (kind == "token") {
      words >> client.salt >> client.hash;
      if (client.hash.size() != hash_digits) fail("a salt and a hash are needed after token");
    } else if (!client.has_certificate) {
      fail("token or certificate is needed after the role");
    }
    if (words >> rest) fail("unexpected: " + rest);
    if (!list.clients_.emplace(name, std::move(client)).second) fail(name + " is there twice");
  }
  return list;
}

std::optional<Role> Access_List::with_token(const std::string& name, std::string_view token) const {
  const auto found = clients_.find(name);
  const bool is_known = found != clients_.end() && !found->second.hash.empty();
  // Spend the same time on unknown names as on known ones.
  const std::string expected = is_known ? found->second.hash : std::string(hash_digits, '0');
  const std::string hash = hash_of(is_known ? found->second.salt : "", token);
  const bool is_equal = CRYPTO_memcmp(expected.data(), hash.data(), hash_digits) == 0;
  if (!is_known || !is_equal) return std::nullopt;
  return found->second.role;
}

std::optional<Role> Access_List::with_certificate(const std::string& name) const {
  const auto found = clients_.find(name);
  if (found == clients_.end() || !found->second.has_certificate) return std::nullopt;
  return found->second.role;
}

bool Access_List::has_same(const std::string& name, const Access_List& other) const {
  const auto here = clients_.find(name);
  const auto there = other.clients_.find(name);
  return here != clients_.end() && there != other.clients_.end() && here->second == there->second;
}

New_Token make_token(const std::string& name, Role role) {
  const std::string token = random_digits(32);
  const std::string salt = random_digits(16);
  std::string_view role_name;
  for (const auto& [word, value] : role_names)
    if (value == role) role_name = word;
  return {token,
          name + ' ' + std::string(role_name) + " token " + salt + ' ' + hash_of(salt, token)};
}

}  // namespace joedb::server
