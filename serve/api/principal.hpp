#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/enum_words.hpp"

namespace muster::api {

/// What a token lets its holder do: everything, what concerns the own jobs, or look.
enum class Role : std::uint8_t { admin, user, read_only };
constexpr auto words_of(Role) {
  using E = Role;
  return std::to_array<EnumWord<E>>(
      {{E::admin, "admin"}, {E::user, "user"}, {E::read_only, "read_only"}});
}

/// The user of jobs that nobody is named for; costs are listed under it.
inline constexpr std::string_view kAnonymous = "anonymous";

/// Who asks: the token that was sent, and for whom it acts.
struct Principal {
  std::string token;  ///< its name
  Role role = Role::read_only;
  std::string user{};                       ///< empty: it acts for whoever calls
  std::optional<std::int64_t> expires_s{};  ///< since 1970
};

}  // namespace muster::api
