#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/config_error.hpp"
#include "model/expected.hpp"

namespace muster {

/// What a token of the API is to be.
struct TokenRequest {
  std::string name;
  std::string role;                          ///< one of the words that there are
  std::string user;                          ///< empty: the token's name
  std::optional<std::int64_t> lifetime_s{};  ///< nothing: for ever
};

/// How a token gets a new secret.
struct RotationRequest {
  std::optional<std::int64_t> overlap_s{};  ///< the old one counts so long; nothing: as is usual
};

/// The longest times that they may name.
inline constexpr std::int64_t kLongestLifetimeS = 3650L * 86'400;
inline constexpr std::int64_t kLongestOverlapS = 30L * 86'400;

/// Read the bodies of such requests; every error at once. That of a rotation may be empty.
Expected<TokenRequest, ConfigError> token_request_from_json(std::string_view text,
                                                            const std::string& source);
Expected<RotationRequest, ConfigError> rotation_request_from_json(std::string_view text,
                                                                  const std::string& source);

}  // namespace muster
