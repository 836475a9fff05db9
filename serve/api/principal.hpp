#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/token_request.hpp"

namespace muster::api {

/// The user of jobs without a named user; costs are listed under it.
inline constexpr std::string_view kAnonymous = "anonymous";

/// The caller: the token that was sent, and the user that it acts for.
struct Principal {
  std::string token;  ///< its name
  Role role = Role::read_only;
  std::string user{};                       ///< empty: it acts for whoever calls
  std::optional<std::int64_t> expires_s{};  ///< since 1970
};

}  // namespace muster::api
