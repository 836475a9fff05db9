#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "actors/link/pki.hpp"
#include "model/expected.hpp"

// Certificates for keys that are made elsewhere: a machine that joins keeps its key, and the
// connector signs for it a name that the connector chooses.

namespace muster {

/// The most bytes of a request for a certificate; one for a P-256 key has some 400.
inline constexpr std::size_t kMaxCertificateRequest = 4096;

/// A new key and the request for a certificate of it, both PEM.
struct KeyRequest {
  std::string key;
  std::string request;
};

/// Fails only when OpenSSL has no randomness to give.
Expected<KeyRequest, PkiError> make_key_request();
/// The request for a certificate of a key in PEM.
Expected<KeyRequest, PkiError> key_request_of(const std::string& key_pem);

/// SHA-256 of the public key in a request, hexadecimal. Fails when the text is no request, is not
/// signed by its own key, or the key is not on P-256. Nothing else of a request counts.
Expected<std::string, PkiError> key_print_of_request(std::string_view request);

/// A certificate of the worker authority in `dir` for the request's key, PEM. Its names are `name`
/// alone.
Expected<std::string, PkiError> sign_request(const std::filesystem::path& dir,
                                             std::string_view request, const std::string& name);

/// SHA-256 of the public key of a certificate, hexadecimal; empty: it cannot be told.
std::string key_print_of(const X509* certificate);
/// SHA-256 of the first certificate in the file, which is an authority's.
Expected<std::string, LinkError> authority_print(const std::filesystem::path& file);

}  // namespace muster
