#include "actors/link/certificate.hpp"

#include <openssl/bn.h>
#include <openssl/ec.h>

#include <algorithm>
#include <asio/ip/address.hpp>
#include <chrono>
#include <ctime>
#include <variant>

// Wraps OpenSSL's C API: its objects are owned at once, so that every early return frees them, and
// failures leave their reason in OpenSSL's queue for last_error().

namespace muster::ssl {
namespace {

using Number = std::unique_ptr<BIGNUM, Releaser<&BN_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Releaser<&X509_EXTENSION_free>>;
using HostNames = std::unique_ptr<GENERAL_NAMES, Releaser<&GENERAL_NAMES_free>>;

constexpr int kSerialBits = 159;  // the most that 20 bytes hold as a positive number
constexpr std::size_t kMaxHostBytes = 253;

bool set_serial(X509* certificate) {
  const Number serial(BN_new());
  return serial && BN_rand(serial.get(), kSerialBits, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 &&
         BN_to_ASN1_INTEGER(serial.get(), X509_get_serialNumber(certificate)) != nullptr;
}

long seconds_of(Duration d) {
  return static_cast<long>(std::chrono::duration_cast<std::chrono::seconds>(d).count());
}

bool set_validity(X509* certificate, Duration validity, const X509* issuer) {
  // Days and seconds apart, as OpenSSL takes them.
  constexpr long kDay = 86400;
  const long end = seconds_of(validity);
  if (X509_gmtime_adj(X509_getm_notBefore(certificate), -seconds_of(kBackdate)) == nullptr ||
      X509_time_adj_ex(X509_getm_notAfter(certificate), static_cast<int>(end / kDay), end % kDay,
                       nullptr) == nullptr) {
    return false;
  }
  if (issuer == nullptr) return true;
  // A certificate that outlives its issuer would fail as a chain, at an unexpected time.
  const ASN1_TIME* last = X509_get0_notAfter(issuer);
  if (ASN1_TIME_compare(X509_get0_notAfter(certificate), last) <= 0) return true;
  return X509_set1_notAfter(certificate, last) == 1;
}

bool add_text(X509_NAME* name, int nid, const std::string& text) {
  return X509_NAME_add_entry_by_NID(name, nid, MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(text.data()),
                                    static_cast<int>(text.size()), -1, 0) == 1;
}

bool set_names(X509* certificate, const CertificateSpec& spec, const X509* issuer) {
  X509_NAME* subject = X509_get_subject_name(certificate);
  if (!spec.organisation.empty() && !add_text(subject, NID_organizationName, spec.organisation)) {
    return false;
  }
  if (!add_text(subject, NID_commonName, spec.common_name)) return false;
  const X509_NAME* signer = issuer != nullptr ? X509_get_subject_name(issuer) : subject;
  return X509_set_issuer_name(certificate, signer) == 1;
}

bool add_extension(X509* certificate, const X509* issuer, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, const_cast<X509*>(issuer), certificate, nullptr, nullptr, 0);
  X509V3_set_ctx_nodb(&context);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value));
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool add_host(GENERAL_NAMES* names, const std::string& host) {
  asio::error_code no_address;
  // An address has a form of its own in a certificate: as a DNS name it would match nothing.
  const auto address = asio::ip::make_address(host, no_address);
  std::string bytes = host;
  if (!no_address) {
    const auto copy = [&bytes](const auto& raw) { bytes.assign(raw.begin(), raw.end()); };
    address.is_v4() ? copy(address.to_v4().to_bytes()) : copy(address.to_v6().to_bytes());
  }
  ASN1_STRING* value = ASN1_STRING_type_new(no_address ? V_ASN1_IA5STRING : V_ASN1_OCTET_STRING);
  GENERAL_NAME* name = GENERAL_NAME_new();
  if (value == nullptr || name == nullptr ||
      ASN1_STRING_set(value, bytes.data(), static_cast<int>(bytes.size())) != 1) {
    ASN1_STRING_free(value);
    GENERAL_NAME_free(name);
    return false;
  }
  // Takes the value over: from here on freeing the name frees both.
  GENERAL_NAME_set0_value(name, no_address ? GEN_DNS : GEN_IPADD, value);
  if (sk_GENERAL_NAME_push(names, name) > 0) return true;
  GENERAL_NAME_free(name);
  return false;
}

bool add_hosts(X509* certificate, const std::vector<std::string>& hosts) {
  if (hosts.empty()) return true;
  const HostNames names(GENERAL_NAMES_new());
  if (!names) return false;
  for (const std::string& host : hosts) {
    if (!add_host(names.get(), host)) return false;
  }
  return X509_add1_ext_i2d(certificate, NID_subject_alt_name, names.get(), 0, 0) == 1;
}

bool add_rights(X509* certificate, const X509* issuer, bool authority) {
  const auto add = [&](int nid, const char* value) {
    return add_extension(certificate, issuer, nid, value);
  };
  // pathlen:0: may sign end certificates, but no further authorities.
  const bool may_sign = authority ? add(NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
                                        add(NID_key_usage, "critical,keyCertSign,cRLSign")
                                  : add(NID_basic_constraints, "critical,CA:FALSE") &&
                                        add(NID_key_usage, "critical,digitalSignature") &&
                                        add(NID_ext_key_usage, "serverAuth,clientAuth");
  return may_sign && add(NID_subject_key_identifier, "hash") &&
         add(NID_authority_key_identifier, "keyid:always");
}

template <class Write>
std::string written(Write write) {
  const Bio bio(BIO_new(BIO_s_mem()));
  if (!bio || write(bio.get()) != 1) return {};
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

std::string host_text(const GENERAL_NAME* name) {
  int type = 0;
  const auto* value = static_cast<const ASN1_STRING*>(GENERAL_NAME_get0_value(name, &type));
  const unsigned char* data = ASN1_STRING_get0_data(value);
  const auto size = static_cast<std::size_t>(ASN1_STRING_length(value));
  if (type == GEN_DNS) return {reinterpret_cast<const char*>(data), size};
  if (size == 4) {
    asio::ip::address_v4::bytes_type bytes{};
    std::copy_n(data, size, bytes.begin());
    return asio::ip::address_v4(bytes).to_string();
  }
  if (size != 16) return "?";
  asio::ip::address_v6::bytes_type bytes{};
  std::copy_n(data, size, bytes.begin());
  return asio::ip::address_v6(bytes).to_string();
}

}  // namespace

Key make_key() {
  return Key(EVP_EC_gen("P-256"));
}

Certificate make_certificate(const CertificateSpec& spec, EVP_PKEY* key, const Issuer& issuer) {
  Certificate made(X509_new());
  if (!made) return nullptr;
  X509* raw = made.get();
  const X509* signer = issuer.certificate;
  const bool complete = X509_set_version(raw, X509_VERSION_3) == 1 && set_serial(raw) &&
                        set_validity(raw, spec.validity, signer) && set_names(raw, spec, signer) &&
                        X509_set_pubkey(raw, key) == 1 &&
                        add_rights(raw, signer != nullptr ? signer : raw, spec.authority) &&
                        add_hosts(raw, spec.hosts) &&
                        X509_sign(raw, issuer.key != nullptr ? issuer.key : key, EVP_sha256()) > 0;
  return complete ? std::move(made) : nullptr;
}

bool is_host(const std::string& host) {
  asio::error_code no_address;
  asio::ip::make_address(host, no_address);
  // An address with a zone means something on one machine only.
  if (!no_address) return host.find('%') == std::string::npos;
  const auto allowed = [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_';
  };
  return !host.empty() && host.size() <= kMaxHostBytes && host.front() != '-' &&
         host.front() != '.' && std::ranges::all_of(host, allowed);
}

std::vector<std::string> hosts_of(const X509* certificate) {
  const HostNames names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  std::vector<std::string> hosts;
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type == GEN_DNS || name->type == GEN_IPADD) hosts.push_back(host_text(name));
  }
  return hosts;
}

std::string to_pem(const X509* certificate) {
  return written([certificate](BIO* out) { return PEM_write_bio_X509(out, certificate); });
}

std::string to_pem(const EVP_PKEY* key) {
  return written([key](BIO* out) {
    return PEM_write_bio_PKCS8PrivateKey(out, key, nullptr, nullptr, 0, nullptr, nullptr);
  });
}

}  // namespace muster::ssl
