#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "actors/link/tls.hpp"
#include "model/expected.hpp"
#include "model/time.hpp"

namespace muster {

enum class PkiError : std::uint8_t {
  bad_request,   ///< a name, host or validity that no certificate can have
  exists,        ///< a file of that name is there already and was not to be replaced
  bad_material,  ///< an authority that cannot be read, has run out, or is not one
  unwritable     ///< the files could not be written, and no file of them is there
};

/// Which of the cluster's two authorities speaks for a certificate.
enum class PkiRole : std::uint8_t {
  node,   ///< site schedulers, masters, connectors: full members
  worker  ///< speaks for the one instance that its common name says
};

std::string to_string(PkiRole role);

/// Where the authority of a role lies below the directory that create_authorities() has filled.
/// Its certificate may go everywhere, its key stays where certificates are issued.
std::filesystem::path authority_certificate(const std::filesystem::path& dir, PkiRole role);
std::filesystem::path authority_key(const std::filesystem::path& dir, PkiRole role);

/// Content of both new authorities.
struct AuthorityOptions {
  std::string cluster = "muster";  ///< 1 to 40 of A-Z a-z 0-9 . _ -
  Duration validity = from_seconds(3650.0 * 86400);
  bool replace = false;
};

/// Makes the two authorities of a cluster: DIR/ca/node-ca.{pem,key} and DIR/ca/worker-ca.{pem,key}.
/// All four files are written or none.
Expected<bool, PkiError> create_authorities(const std::filesystem::path& dir,
                                            const AuthorityOptions& options);

/// A certificate that is wanted.
struct IssueRequest {
  PkiRole role = PkiRole::node;
  std::string name;                ///< common name: 1 to 64 of A-Z a-z 0-9 . _ -
  std::vector<std::string> hosts;  ///< host names and addresses; none: `name` itself
  /// Counted from now; ends with the authority's at the latest. Valid from five minutes ago, for
  /// clocks that differ; so a validity of minus a minute makes an expired certificate.
  Duration validity = from_seconds(365.0 * 86400);
  /// Gets NAME.pem, NAME.key and both authorities' certificates. Empty: DIR/nodes or DIR/workers,
  /// and the authorities' certificates stay in DIR/ca.
  std::filesystem::path out;
  bool replace = false;
};

/// Makes a key and a certificate for it. The answer's `trusted` is the authority of the other end:
/// a node's, for both roles. (What serves workers trusts the worker authority instead.)
Expected<TlsFiles, PkiError> issue(const std::filesystem::path& dir, const IssueRequest& request);

/// Content of a certificate, for a person.
struct CertificateInfo {
  std::string subject;  ///< common name
  std::string issuer;
  std::string serial;       ///< hexadecimal
  std::string fingerprint;  ///< SHA-256, hexadecimal
  std::string valid_from;   ///< "2026-11-21 10:53:00 UTC"
  std::string valid_to;
  std::string state;  ///< "valid", "expired" or "not yet valid"
  bool authority = false;
  std::vector<std::string> hosts;
};

/// Contents of the certificates in a PEM file, in their order.
Expected<std::vector<CertificateInfo>, LinkError> describe_certificates(
    const std::filesystem::path& file);

}  // namespace muster
