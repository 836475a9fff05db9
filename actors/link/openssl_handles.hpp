#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "actors/link/tls.hpp"
#include "model/expected.hpp"

/// Owners for what the OpenSSL C API hands out, and what is read from files by way of them.
namespace muster::ssl {

/// Gives an OpenSSL object back by its own function.
template <auto Release>
struct Releaser {
  template <class T>
  void operator()(T* object) const {
    Release(object);
  }
};

using Bio = std::unique_ptr<BIO, Releaser<&BIO_free_all>>;
using Certificate = std::unique_ptr<X509, Releaser<&X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Releaser<&EVP_PKEY_free>>;

/// OpenSSL's text on the last failure of this thread; empties its error queue.
std::string last_error();

/// A whole file of at most 1 MiB. With `secret` it is refused when group or others have any right
/// on it, or when it is neither this process' user's nor root's.
Expected<std::string, LinkError> read_file(const std::filesystem::path& file, bool secret = false);

/// The certificates in a PEM file, at least one, in their order.
Expected<std::vector<Certificate>, LinkError> read_certificates(const std::filesystem::path& file);

/// The unencrypted private key in a PEM file that only its owner may read.
Expected<Key, LinkError> read_key(const std::filesystem::path& file);

/// Fails with `expired` when the certificate is not valid now; `file` is named in the message.
Expected<bool, LinkError> check_validity(const X509* certificate,
                                         const std::filesystem::path& file);

/// The common name of a subject (or issuer); empty when it has no name, more than one, or one with
/// a NUL or control character in it.
std::string common_name(const X509_NAME* name);

/// The SHA-256 of the whole certificate, in hexadecimal digits; empty: it cannot be encoded.
std::string fingerprint(const X509* certificate);

/// A time of a certificate as "2026-11-21 10:53:00 UTC".
std::string time_text(const ASN1_TIME* time);

}  // namespace muster::ssl
