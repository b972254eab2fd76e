#ifndef SERVER_KEYS_H
#define SERVER_KEYS_H

#include <string>

// What a server needs to be tried with other machines. Functions throw Exception.

namespace joedb::server {

// Of this machine, or "localhost".
std::string host_name();

// Makes a file that only this user may read. It must not exist.
void write_secret(const std::string& name, const std::string& text);

// Writes a key, and a certificate for it that is its own authority, valid for ten years, for this
// machine's names. The files must not exist.
void make_certificate(const std::string& certificate_file, const std::string& key_file);

}  // namespace joedb::server

#endif
