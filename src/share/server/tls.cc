#include "share/server/tls.h"

#include <openssl/x509.h>

#include "joedb/base/error.h"
#include "joedb/io/posix_file.h"
#include "kernel/io/secret_file.h"

namespace joedb::server {

namespace {

void check(const std::error_code& error, const std::string& file) {
  if (error) throw Exception(file + ": " + error.message());
}

std::string content_of(const std::string& name) {
  const File file(name, Open_Mode::read_existing);
  std::string text(static_cast<std::size_t>(file.get_size()), '\0');
  file.read_exactly(text.data(), text.size(), 0);
  return text;
}

}  // namespace

std::shared_ptr<Tls_State> load_tls(const Tls_Files& files) {
  auto state = std::make_shared<Tls_State>();
  asio::ssl::context& context = state->context;
  SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_3_VERSION);
  std::error_code error;
  context.use_certificate_chain_file(files.certificate, error);
  check(error, files.certificate);
  require_secret(files.key);
  context.use_private_key_file(files.key, asio::ssl::context::pem, error);
  check(error, files.key);
  if (!files.client_authority.empty()) {
    context.load_verify_file(files.client_authority, error);
    check(error, files.client_authority);
    state->authority = content_of(files.client_authority);
    // Without a session id context, OpenSSL refuses a client that resumes a session with a
    // certificate.
    constexpr unsigned char name[] = "joedb";
    SSL_CTX_set_session_id_context(context.native_handle(), name, sizeof name);
    // Certificates of clients are optional, because a client may have a token.
    context.set_verify_mode(asio::ssl::verify_peer);
  }
  if (files.access_list.empty()) return state;
  state->has_access_list = true;
  try {
    state->access_list = Access_List::parse(content_of(files.access_list));
  } catch (const Io_Error&) {
    throw;  // already names the file
  } catch (const Exception& problem) {
    throw Exception(files.access_list + ": " + problem.what());
  }
  return state;
}

std::optional<std::string> name_in_certificate(SSL* connection) {
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(
      SSL_get1_peer_certificate(connection), X509_free);
  if (!certificate || SSL_get_verify_result(connection) != X509_V_OK) return std::nullopt;
  char name[128];
  const int size = X509_NAME_get_text_by_NID(X509_get_subject_name(certificate.get()),
                                             NID_commonName, name, sizeof name);
  if (size <= 0) return std::nullopt;
  return std::string(name, static_cast<std::size_t>(size));
}

}  // namespace joedb::server
