#include "actors/link/join_pki.hpp"

#include <array>

#include "actors/link/certificate.hpp"
#include "actors/link/openssl_handles.hpp"
#include "model/hexadecimal.hpp"

// A request is looked at as bytes of an enemy: bounded before it is parsed, its signature checked,
// and only its public key taken over.

namespace muster {
namespace {

using Csr = std::unique_ptr<X509_REQ, ssl::Releaser<&X509_REQ_free>>;

Failure<PkiError> bad_csr(const std::string& why) {
  return {PkiError::bad_request, "the request for a certificate " + why};
}

std::string print_of_key(EVP_PKEY* key) {
  unsigned char* encoded = nullptr;
  const int size = i2d_PUBKEY(key, &encoded);
  if (size <= 0) return {};
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  const bool made = EVP_Digest(encoded, static_cast<std::size_t>(size), digest.data(), &length,
                               EVP_sha256(), nullptr) == 1;
  OPENSSL_free(encoded);
  return made ? hexadecimal({digest.data(), length}) : std::string{};
}

bool is_p256(EVP_PKEY* key) {
  std::array<char, 32> group{};
  std::size_t length = 0;
  return EVP_PKEY_get_base_id(key) == EVP_PKEY_EC &&
         EVP_PKEY_get_group_name(key, group.data(), group.size(), &length) == 1 &&
         std::string_view(group.data(), length) == "prime256v1";
}

Expected<ssl::Key, PkiError> key_of(std::string_view text) {
  if (text.size() > kMaxCertificateRequest) {
    return bad_csr("has to have at most " + std::to_string(kMaxCertificateRequest) + " bytes");
  }
  const ssl::Bio bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  const Csr request(bio ? PEM_read_bio_X509_REQ(bio.get(), nullptr, nullptr, nullptr) : nullptr);
  if (!request) {
    ssl::last_error();
    return bad_csr("has to be a PEM text that begins with -----BEGIN CERTIFICATE REQUEST-----");
  }
  ssl::Key key(X509_REQ_get_pubkey(request.get()));
  if (!key || !is_p256(key.get())) {
    ssl::last_error();
    return bad_csr("has to be for a key on the curve P-256");
  }
  if (X509_REQ_verify(request.get(), key.get()) != 1) {
    ssl::last_error();
    return bad_csr("has to be signed by its own key");
  }
  return key;
}

std::string request_text(EVP_PKEY* key) {
  const Csr request(X509_REQ_new());
  if (!request || X509_REQ_set_pubkey(request.get(), key) != 1 ||
      X509_REQ_sign(request.get(), key, EVP_sha256()) <= 0) {
    return {};
  }
  const ssl::Bio bio(BIO_new(BIO_s_mem()));
  if (!bio || PEM_write_bio_X509_REQ(bio.get(), request.get()) != 1) return {};
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

Expected<KeyRequest, PkiError> pair_of(const ssl::Key& key) {
  KeyRequest made;
  if (key) {
    made.key = ssl::to_pem(key.get());
    made.request = request_text(key.get());
  }
  if (!made.key.empty() && !made.request.empty()) return made;
  return Failure<PkiError>{PkiError::bad_material, "a key: OpenSSL says: " + ssl::last_error()};
}

}  // namespace

Expected<KeyRequest, PkiError> make_key_request() {
  return pair_of(ssl::make_key());
}

Expected<KeyRequest, PkiError> key_request_of(const std::string& key_pem) {
  const ssl::Bio bio(BIO_new_mem_buf(key_pem.data(), static_cast<int>(key_pem.size())));
  return pair_of(
      ssl::Key(bio ? PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr) : nullptr));
}

Expected<std::string, PkiError> key_print_of_request(std::string_view request) {
  const auto key = key_of(request);
  if (!key) return key.error();
  return print_of_key(key->get());
}

Expected<std::string, PkiError> sign_request(const std::filesystem::path& dir,
                                             std::string_view request, const std::string& name) {
  const auto key = key_of(request);
  if (!key) return key.error();
  const std::filesystem::path file = authority_certificate(dir, PkiRole::worker);
  const auto authority = ssl::read_certificates(file);
  if (!authority) return Failure<PkiError>{PkiError::bad_material, authority.error().message};
  const auto signer = ssl::read_key(authority_key(dir, PkiRole::worker));
  if (!signer) return Failure<PkiError>{PkiError::bad_material, signer.error().message};
  X509* issuer = authority->front().get();
  if (X509_check_private_key(issuer, signer->get()) != 1) {
    ssl::last_error();
    return Failure<PkiError>{PkiError::bad_material, authority_key(dir, PkiRole::worker).string() +
                                                         ": is not the key of " + file.string()};
  }
  ssl::CertificateSpec spec;
  spec.common_name = name;
  spec.hosts = {name};
  // Until the authority's end at the latest: a machine's rights end by the connector's book.
  spec.validity = from_seconds(3650.0 * 86400);
  const ssl::Certificate made = ssl::make_certificate(spec, key->get(), {issuer, signer->get()});
  if (!made) {
    return Failure<PkiError>{PkiError::bad_material,
                             "the certificate of '" + name + "': " + ssl::last_error()};
  }
  return ssl::to_pem(made.get());
}

std::string key_print_of(const X509* certificate) {
  EVP_PKEY* key = X509_get0_pubkey(certificate);
  return key == nullptr ? std::string{} : print_of_key(key);
}

Expected<std::string, LinkError> authority_print(const std::filesystem::path& file) {
  const auto certificates = ssl::read_certificates(file);
  if (!certificates) return certificates.error();
  return ssl::fingerprint(certificates->front().get());
}

}  // namespace muster
