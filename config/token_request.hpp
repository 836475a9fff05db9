#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/config_error.hpp"
#include "model/enum_words.hpp"
#include "model/expected.hpp"

namespace muster {

/// The rights of a token: everything, what concerns the own jobs, or look.
enum class Role : std::uint8_t { admin, user, read_only };
constexpr auto words_of(Role) {
  using E = Role;
  return std::to_array<EnumWord<E>>(
      {{E::admin, "admin"}, {E::user, "user"}, {E::read_only, "read_only"}});
}

/// Request for a token of the API.
struct TokenRequest {
  std::string name;
  Role role = Role::read_only;
  std::string user;                          ///< empty: the token's name
  std::optional<std::int64_t> lifetime_s{};  ///< nothing: for ever
};

/// How a token gets a new secret.
struct RotationRequest {
  std::optional<std::int64_t>
      overlap_s{};  ///< time that the old secret stays valid; nothing: the usual time
};

/// Request for a token by which machines join.
struct JoinTokenRequest {
  std::uint32_t hosts = 1;
  std::int64_t lifetime_s = 3600;
};
inline constexpr std::int64_t kMostJoiningHosts = 10'000;
inline constexpr std::int64_t kLongestJoinS = 30L * 86'400;

/// The longest times that they may name.
inline constexpr std::int64_t kLongestLifetimeS = 3650L * 86'400;
inline constexpr std::int64_t kLongestOverlapS = 30L * 86'400;

/// Read the bodies of such requests; every error at once. That of a rotation may be empty.
Expected<TokenRequest, ConfigError> token_request_from_json(std::string_view text,
                                                            const std::string& source);
Expected<RotationRequest, ConfigError> rotation_request_from_json(std::string_view text,
                                                                  const std::string& source);

/// Likewise; an empty body asks for the defaults.
Expected<JoinTokenRequest, ConfigError> join_token_request_from_json(std::string_view text,
                                                                     const std::string& source);

}  // namespace muster
