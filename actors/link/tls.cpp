#include "actors/link/tls.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "actors/link/openssl_handles.hpp"

// Contexts for both ends of every link. A context is made whole or not at all: each file is read
// and checked here, so that an error names the file and not a handshake.

namespace muster {
namespace {

Failure<LinkError> bad(const std::filesystem::path& file, const std::string& why) {
  return {LinkError::bad_material, file.string() + ": " + why};
}

/// A context with the settings that both ends share. Sessions are not resumed: a resumed one would
/// not look at the certificate again.
TlsContext bare_context(asio::ssl::context::method method) {
  auto context = std::make_shared<asio::ssl::context>(method);
  SSL_CTX* native = context->native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  SSL_CTX_set_options(native, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(native, 0);
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
  // A server with SSL_VERIFY_PEER alone would let in clients that show no certificate.
  SSL_CTX_set_verify(native, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return context;
}

Expected<bool, LinkError> use_own(SSL_CTX* native, const TlsFiles& files) {
  auto chain = ssl::read_certificates(files.certificate);
  if (!chain) return chain.error();
  auto key = ssl::read_key(files.key);
  if (!key) return key.error();
  X509* own = chain->front().get();
  if (auto valid = ssl::check_validity(own, files.certificate); !valid) return valid;
  ERR_clear_error();
  // A pair that does not match would fail in every handshake, with a reason that names neither
  // file.
  if (X509_check_private_key(own, key->get()) != 1) {
    ERR_clear_error();
    return bad(files.key, "is not the key of the certificate " + files.certificate.string());
  }
  if (SSL_CTX_use_certificate(native, own) != 1) return bad(files.certificate, ssl::last_error());
  if (SSL_CTX_use_PrivateKey(native, key->get()) != 1) return bad(files.key, ssl::last_error());
  // Certificates behind the first are those of authorities in between.
  for (std::size_t i = 1; i < chain->size(); ++i) {
    if (SSL_CTX_add1_chain_cert(native, chain.value()[i].get()) != 1) {
      return bad(files.certificate, ssl::last_error());
    }
  }
  return true;
}

/// An authority that has run out is passed over, so that a file may hold the old one and the new
/// one; at least one has to be valid.
Expected<bool, LinkError> trust(SSL_CTX* native, const std::filesystem::path& file) {
  auto authorities = ssl::read_certificates(file);
  if (!authorities) return authorities.error();
  X509_STORE* store = SSL_CTX_get_cert_store(native);
  Expected<bool, LinkError> any_valid = true;
  std::size_t added = 0;
  for (const ssl::Certificate& authority : authorities.value()) {
    if (X509_check_ca(authority.get()) != 1) {
      return bad(file, "holds the certificate of '" +
                           ssl::common_name(X509_get_subject_name(authority.get())) +
                           "', which is not an authority");
    }
    if (auto valid = ssl::check_validity(authority.get(), file); !valid) {
      any_valid = valid;
      continue;
    }
    if (X509_STORE_add_cert(store, authority.get()) != 1) return bad(file, ssl::last_error());
    SSL_CTX_add_client_CA(native, authority.get());
    ++added;
  }
  return added > 0 ? Expected<bool, LinkError>(true) : any_valid;
}

Expected<TlsContext, LinkError> make_context(asio::ssl::context::method method,
                                             const TlsFiles& files) {
  TlsContext context = bare_context(method);
  if (auto own = use_own(context->native_handle(), files); !own) return own.error();
  if (auto known = trust(context->native_handle(), files.trusted); !known) return known.error();
  return context;
}

}  // namespace

Expected<TlsContext, LinkError> server_context(const TlsFiles& files) {
  return make_context(asio::ssl::context::tls_server, files);
}

Expected<TlsContext, LinkError> client_context(const TlsFiles& files) {
  return make_context(asio::ssl::context::tls_client, files);
}

std::string peer_name(SSL* connection) {
  // A name that was not verified is no name.
  if (SSL_get_verify_result(connection) != X509_V_OK) return {};
  const ssl::Certificate shown(SSL_get1_peer_certificate(connection));
  return shown ? ssl::common_name(X509_get_subject_name(shown.get())) : std::string{};
}

}  // namespace muster
