#pragma once

#include <asio/ssl.hpp>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "model/expected.hpp"

namespace muster {

enum class LinkError : std::uint8_t {
  unreadable,    ///< a file cannot be read
  bad_material,  ///< a file is not a certificate, a key, or not of each other
  expired,       ///< the certificate is not valid now
  cannot_listen,
  malformed  ///< the bytes on the link do not follow the protocol
};

/// The three files that every end of a link has; a link without all of them does not start.
struct TlsFiles {
  std::filesystem::path certificate;  ///< own, PEM
  std::filesystem::path key;          ///< to it, PEM
  std::filesystem::path trusted;      ///< the authority whose certificates the other end must have
};

using TlsContext = std::shared_ptr<asio::ssl::context>;

/// TLS 1.2 or newer; the other end has to show a certificate of the trusted authority that is valid
/// now. Errors name the file and what is wrong with it.
Expected<TlsContext, LinkError> server_context(const TlsFiles& files);
Expected<TlsContext, LinkError> client_context(const TlsFiles& files);

/// The common name in the verified certificate of the other end; empty without exactly one. Valid
/// after the handshake.
std::string peer_name(SSL* connection);

}  // namespace muster
