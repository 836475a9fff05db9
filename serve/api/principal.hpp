#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster::api {

/// What a token lets its holder do: everything, what concerns the own jobs, or look.
enum class Role : std::uint8_t { admin, user, read_only };

constexpr std::string_view name_of(Role role) {
  return role == Role::admin ? "admin" : role == Role::user ? "user" : "read_only";
}

/// Nothing for a word that names no role.
constexpr std::optional<Role> role_from(std::string_view word) {
  for (const Role role : {Role::admin, Role::user, Role::read_only}) {
    if (name_of(role) == word) return role;
  }
  return std::nullopt;
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
