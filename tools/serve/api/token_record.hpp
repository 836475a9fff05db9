#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/serve/api/principal.hpp"
#include "tools/serve/api/tokens.hpp"

namespace muster::api {

/// The SHA-256 of a token: what is kept of it.
using TokenDigest = std::array<unsigned char, 32>;
TokenDigest digest_of(std::string_view token);

/// What a rotated token was before; it still opens the API until then.
struct EarlierToken {
  TokenDigest digest{};
  std::int64_t until_s = 0;
};

/// A named token as it is kept. Times are seconds since 1970.
struct TokenRecord {
  std::string name;
  Role role = Role::read_only;
  std::string user;
  std::int64_t created_s = 0;
  std::optional<std::int64_t> expires_s{};  ///< nothing: never
  std::optional<std::int64_t> revoked_s{};
  TokenDigest digest{};
  std::optional<EarlierToken> earlier{};

  bool is_valid_at(std::int64_t now_s) const {
    return !revoked_s && (!expires_s || now_s < *expires_s);
  }
};

/// What is wrong with a name of a token, or with the user that one acts for; empty: nothing.
std::string token_name_fault(std::string_view name);
std::string token_user_fault(std::string_view user);

/// The records as the lines of a file, and back: a JSON object a line. A fault names the file, the
/// line and the field.
std::string to_lines(const std::vector<TokenRecord>& records);
Expected<std::vector<TokenRecord>, ServerError> records_from(const std::filesystem::path& file,
                                                             const std::string& text);

}  // namespace muster::api
