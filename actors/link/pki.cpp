#include "actors/link/pki.hpp"

#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "actors/link/certificate.hpp"
#include "actors/link/file_set.hpp"
#include "actors/link/openssl_handles.hpp"
#include "model/hexadecimal.hpp"

// Two authorities, so that a worker's certificate, which lies on rented machines, is of no use
// between nodes. Files are written as a set: a key without its certificate would be of no use.

namespace muster {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxName = 64;  // X.509's bound for a common name
constexpr std::size_t kMaxCluster = 40;
constexpr mode_t kPublicFile = 0644;
constexpr mode_t kKeyFile = 0600;
constexpr std::array kRoles{PkiRole::node, PkiRole::worker};

struct Authority {
  ssl::Certificate certificate;
  ssl::Key key;
};

Failure<PkiError> bad_request(const std::string& why) {
  return {PkiError::bad_request, why};
}

Failure<PkiError> openssl_failed(const std::string& what) {
  return {PkiError::bad_material, what + ": OpenSSL says: " + ssl::last_error()};
}

/// Names become file names too: no separators, and nothing that a shell takes for an option.
bool is_name(std::string_view name, std::size_t max_size) {
  const auto allowed = [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_';
  };
  return !name.empty() && name.size() <= max_size && name.front() != '.' && name.front() != '-' &&
         std::ranges::all_of(name, allowed);
}

Failure<PkiError> bad_name(const std::string& what, const std::string& name, std::size_t max_size) {
  return bad_request(what + " '" + name + "': has to be 1 to " + std::to_string(max_size) +
                     " of A-Z a-z 0-9 . _ - and begin with a letter, digit or _");
}

/// Calendar dates of certificates end with the year 9999.
Expected<bool, PkiError> check_duration(Duration validity) {
  // A little below 0 is allowed: certificates begin kBackdate earlier, so that an expired one can
  // be made.
  if (validity > -ssl::kBackdate && to_seconds(validity) <= 36500.0 * 86400) return true;
  return bad_request("a validity of " + std::to_string(to_seconds(validity)) +
                     " s: has to be positive and at most 36500 days");
}

Expected<std::vector<NewFile>, PkiError> make_authority(const fs::path& dir, PkiRole role,
                                                        const AuthorityOptions& options) {
  const ssl::Key key = ssl::make_key();
  if (!key) return openssl_failed("making a key");
  ssl::CertificateSpec spec;
  spec.common_name = options.cluster + " " + to_string(role) + " authority";
  spec.organisation = options.cluster;
  spec.validity = options.validity;
  spec.authority = true;
  const ssl::Certificate made = ssl::make_certificate(spec, key.get(), {});
  if (!made) return openssl_failed("making the " + to_string(role) + " authority");
  return std::vector<NewFile>{
      {authority_key(dir, role), ssl::to_pem(key.get()), kKeyFile},
      {authority_certificate(dir, role), ssl::to_pem(made.get()), kPublicFile}};
}

Expected<Authority, LinkError> read_authority(const fs::path& dir, PkiRole role) {
  const fs::path file = authority_certificate(dir, role);
  auto certificates = ssl::read_certificates(file);
  if (!certificates) return certificates.error();
  auto key = ssl::read_key(authority_key(dir, role));
  if (!key) return key.error();
  X509* first = certificates->front().get();
  // Better said here than by every certificate that it would sign.
  if (auto valid = ssl::check_validity(first, file); !valid) return valid.error();
  if (X509_check_ca(first) != 1) {
    return Failure<LinkError>{LinkError::bad_material,
                              file.string() + ": is not the certificate of an authority"};
  }
  if (X509_check_private_key(first, key->get()) != 1) {
    return Failure<LinkError>{LinkError::bad_material, authority_key(dir, role).string() +
                                                           ": is not the key of " + file.string()};
  }
  return Authority{std::move(certificates->front()), std::move(key).value()};
}

Expected<bool, PkiError> check_request(const IssueRequest& request) {
  if (!is_name(request.name, kMaxName)) {
    return bad_name("the " + to_string(request.role) + " name", request.name, kMaxName);
  }
  for (const std::string& host : request.hosts) {
    if (!ssl::is_host(host)) {
      return bad_request("the host '" + host + "' is neither an address nor a host name");
    }
  }
  return check_duration(request.validity);
}

/// The authorities' certificates that go with a pair; equal files that are there stay.
Expected<std::vector<NewFile>, PkiError> companions(const fs::path& dir, const fs::path& out) {
  std::vector<NewFile> files;
  for (const PkiRole role : kRoles) {
    const fs::path from = authority_certificate(dir, role);
    auto text = ssl::read_file(from);
    if (!text) return Failure<PkiError>{PkiError::bad_material, text.error().message};
    const fs::path to = out / from.filename();
    auto present = ssl::read_file(to);
    // Equal files need not be replaced, which keeps `replace` for what is really new.
    if (present && present.value() == text.value()) continue;
    files.push_back({to, text.value(), kPublicFile});
  }
  return files;
}

Expected<std::vector<NewFile>, PkiError> make_pair(const Authority& authority,
                                                   const IssueRequest& request,
                                                   const TlsFiles& names) {
  const ssl::Key key = ssl::make_key();
  if (!key) return openssl_failed("making a key");
  ssl::CertificateSpec spec;
  spec.common_name = request.name;
  spec.hosts = request.hosts.empty() ? std::vector{request.name} : request.hosts;
  spec.validity = request.validity;
  const ssl::Certificate made =
      ssl::make_certificate(spec, key.get(), {authority.certificate.get(), authority.key.get()});
  if (!made) return openssl_failed("making the certificate of '" + request.name + "'");
  return std::vector<NewFile>{{names.key, ssl::to_pem(key.get()), kKeyFile},
                              {names.certificate, ssl::to_pem(made.get()), kPublicFile}};
}

std::string state_of(const X509* certificate) {
  if (X509_cmp_current_time(X509_get0_notBefore(certificate)) > 0) return "not yet valid";
  return X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0 ? "expired" : "valid";
}

CertificateInfo describe(X509* certificate) {
  CertificateInfo info;
  info.subject = ssl::common_name(X509_get_subject_name(certificate));
  info.issuer = ssl::common_name(X509_get_issuer_name(certificate));
  const ASN1_INTEGER* serial = X509_get0_serialNumber(certificate);
  info.serial = hexadecimal(
      {ASN1_STRING_get0_data(serial), static_cast<std::size_t>(ASN1_STRING_length(serial))});
  info.fingerprint = ssl::fingerprint(certificate);
  info.valid_from = ssl::time_text(X509_get0_notBefore(certificate));
  info.valid_to = ssl::time_text(X509_get0_notAfter(certificate));
  info.state = state_of(certificate);
  info.authority = X509_check_ca(certificate) == 1;
  info.hosts = ssl::hosts_of(certificate);
  return info;
}

}  // namespace

std::string to_string(PkiRole role) {
  return role == PkiRole::node ? "node" : "worker";
}

fs::path authority_certificate(const fs::path& dir, PkiRole role) {
  return dir / "ca" / (to_string(role) + "-ca.pem");
}

fs::path authority_key(const fs::path& dir, PkiRole role) {
  return dir / "ca" / (to_string(role) + "-ca.key");
}

Expected<bool, PkiError> create_authorities(const fs::path& dir, const AuthorityOptions& options) {
  if (!is_name(options.cluster, kMaxCluster)) {
    return bad_name("the cluster name", options.cluster, kMaxCluster);
  }
  if (auto fine = check_duration(options.validity); !fine) return fine;
  std::vector<NewFile> files;
  for (const PkiRole role : kRoles) {
    auto made = make_authority(dir, role, options);
    if (!made) return made.error();
    std::ranges::move(made.value(), std::back_inserter(files));
  }
  return write_files(files, options.replace);
}

Expected<TlsFiles, PkiError> issue(const fs::path& dir, const IssueRequest& request) {
  if (auto fine = check_request(request); !fine) return fine.error();
  auto authority = read_authority(dir, request.role);
  if (!authority) {
    return Failure<PkiError>{PkiError::bad_material, authority.error().message};
  }
  const bool apart = !request.out.empty();
  const fs::path out = apart ? request.out : dir / (to_string(request.role) + "s");
  const fs::path trusted = authority_certificate(dir, PkiRole::node);
  const TlsFiles names{out / (request.name + ".pem"), out / (request.name + ".key"),
                       apart ? out / trusted.filename() : trusted};
  // Nothing is written before all of it could be made.
  auto files = make_pair(authority.value(), request, names);
  if (!files) return files.error();
  if (apart) {
    auto others = companions(dir, out);
    if (!others) return others.error();
    std::ranges::move(others.value(), std::back_inserter(files.value()));
  }
  if (auto done = write_files(files.value(), request.replace); !done) return done.error();
  return names;
}

Expected<std::vector<CertificateInfo>, LinkError> describe_certificates(const fs::path& file) {
  auto certificates = ssl::read_certificates(file);
  if (!certificates) return certificates.error();
  std::vector<CertificateInfo> found;
  for (const ssl::Certificate& each : certificates.value()) found.push_back(describe(each.get()));
  return found;
}

}  // namespace muster
