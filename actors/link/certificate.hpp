#pragma once

#include <string>
#include <vector>

#include "actors/link/openssl_handles.hpp"
#include "model/time.hpp"

namespace muster::ssl {

/// The signing authority; not owned.
struct Issuer {
  const X509* certificate = nullptr;
  EVP_PKEY* key = nullptr;
};

/// Content of a new certificate.
struct CertificateSpec {
  std::string common_name;
  std::string organisation;        ///< the cluster; empty: no organisation
  std::vector<std::string> hosts;  ///< subject alternative names
  Duration validity{};             ///< from now; it begins kBackdate earlier
  bool authority = false;          ///< may sign end certificates, and nothing else
};

/// Certificates are valid from this long before they were made, for clocks that differ.
inline constexpr Duration kBackdate = std::chrono::minutes{5};

/// A new EC key on P-256; null when OpenSSL has no randomness to give.
Key make_key();

/// A signed certificate for `key`; signs itself when `issuer` holds nothing. Null on failure, with
/// the reason in last_error(). Ends no later than its issuer.
Certificate make_certificate(const CertificateSpec& spec, EVP_PKEY* key, const Issuer& issuer);

/// Whether `host` is an address or can be a host name.
bool is_host(const std::string& host);

/// Host names and addresses that the certificate names.
std::vector<std::string> hosts_of(const X509* certificate);

std::string to_pem(const X509* certificate);
std::string to_pem(const EVP_PKEY* key);

}  // namespace muster::ssl
