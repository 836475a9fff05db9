#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/api/principal.hpp"
#include "serve/api/tokens.hpp"

namespace muster::api {

/// The SHA-256 of a token: the only part of it that is kept.
using TokenDigest = std::array<unsigned char, 32>;
TokenDigest digest_of(std::string_view token);
/// From 64 hexadecimal digits in small letters; nothing of any other text.
std::optional<TokenDigest> digest_from(std::string_view text);

/// Earlier secret of a rotated token; it still opens the API until then.
struct EarlierToken {
  TokenDigest digest{};
  std::int64_t until_s = 0;
};

/// Which request it is, and which sending of it: a client that got no answer sends it again.
struct RequestMark {
  std::string number{};   ///< the request's own; empty: each sending is a request for itself
  std::int64_t sent = 0;  ///< later sendings have more; 0: it is later than all before
};

/// A request that has given a token its secret.
struct SecretRequest {
  RequestMark mark;
  TokenDigest asks{};    ///< of what it wanted
  TokenDigest secret{};  ///< of the secret that it was given last
};

/// Of one token: secrets from before its rotations, and requests that are known again.
inline constexpr std::size_t kMaxEarlierSecrets = 4;
inline constexpr std::size_t kMaxSecretRequests = 4;

/// A named token as it is kept. Times are seconds since 1970.
struct TokenRecord {
  std::string name;
  Role role = Role::read_only;
  std::string user;
  std::int64_t created_s = 0;
  std::optional<std::int64_t> expires_s{};  ///< nothing: never
  std::optional<std::int64_t> revoked_s{};
  TokenDigest digest{};
  std::vector<EarlierToken> earlier{};    ///< the oldest first, at most kMaxEarlierSecrets
  std::vector<SecretRequest> requests{};  ///< the newest last, at most kMaxSecretRequests

  bool is_valid_at(std::int64_t now_s) const {
    return !revoked_s && (!expires_s || now_s < *expires_s);
  }
};

/// The fault of the number of a request; empty: no fault.
std::string request_number_fault(std::string_view number);

/// The fault of a token's name, or of the user that it acts for; empty: no fault.
std::string token_name_fault(std::string_view name);
std::string token_user_fault(std::string_view user);

/// The records as the lines of a file, and back: a JSON object a line. A fault names the file, the
/// line and the field.
std::string to_lines(const std::vector<TokenRecord>& records);
Expected<std::vector<TokenRecord>, ServerError> records_from(const std::filesystem::path& file,
                                                             const std::string& text);

}  // namespace muster::api
