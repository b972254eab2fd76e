#include "share/server/keys.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <asio/ip/host_name.hpp>
#include <cstdint>
#include <memory>

#include "kernel/io/new_file.h"
#include "kernel/io/secret_file.h"
#include "share/server/access.h"

namespace joedb::server {

namespace {

template <class T>
T* require(T* pointer, const char* what) {
  if (pointer == nullptr) throw Exception(std::string("OpenSSL: ") + what);
  return pointer;
}

void add_extension(X509* certificate, int id, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  const std::unique_ptr<X509_EXTENSION, decltype(&X509_EXTENSION_free)> extension(
      require(X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str()), value.c_str()),
      X509_EXTENSION_free);
  X509_add_ext(certificate, extension.get(), -1);
}

// Returns the text that `print` writes to a BIO.
template <class Print>
std::string pem_of(Print print) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> memory(require(BIO_new(BIO_s_mem()), "memory"),
                                                         BIO_free);
  if (print(memory.get()) != 1) throw Exception("OpenSSL: PEM");
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

}  // namespace

std::string host_name() {
  const std::string name = asio::ip::host_name();
  return is_name(name) ? name : "localhost";
}

void make_certificate(const std::string& certificate_file, const std::string& key_file) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
      require(EVP_EC_gen("P-256"), "a key"), EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(
      require(X509_new(), "a certificate"), X509_free);
  X509_set_version(certificate.get(), X509_VERSION_3);
  std::uint64_t serial = 0;
  RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial);
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate.get()), serial >> 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 10L * 365 * 24 * 3600);
  X509_set_pubkey(certificate.get(), key.get());

  X509_NAME* const name = X509_get_subject_name(certificate.get());
  const auto* const text = reinterpret_cast<const unsigned char*>("joedb_server");
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, text, -1, -1, 0);
  X509_set_issuer_name(certificate.get(), name);
  add_extension(certificate.get(), NID_basic_constraints, "critical,CA:TRUE");
  add_extension(certificate.get(), NID_key_usage, "critical,digitalSignature,keyCertSign");
  add_extension(certificate.get(), NID_subject_alt_name,
                "DNS:localhost,IP:127.0.0.1,IP:::1,DNS:" + host_name());
  if (X509_sign(certificate.get(), key.get(), EVP_sha256()) == 0)
    throw Exception("OpenSSL: a signature");

  write_secret(key_file, pem_of([&](BIO* out) {
                 return PEM_write_bio_PrivateKey(out, key.get(), nullptr, nullptr, 0, nullptr,
                                                 nullptr);
               }));
  write_new_file(certificate_file, New_File::Existing::refuse,
                 pem_of([&](BIO* out) { return PEM_write_bio_X509(out, certificate.get()); }));
}

}  // namespace joedb::server
