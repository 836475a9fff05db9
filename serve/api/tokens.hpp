#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "model/expected.hpp"

namespace muster::api {

/// Why the API cannot start.
enum class ServerError : std::uint8_t {
  bad_option,
  bad_token_file,
  bad_certificate,
  cannot_listen
};

inline constexpr std::size_t kMinTokenBytes = 16;
inline constexpr std::size_t kMaxTokenBytes = 256;
inline constexpr std::size_t kMaxTokens = 64;
inline constexpr std::size_t kMaxNamedTokens = 1024;

/// Reads the API token's file, with a token a line; empty lines and those that begin with # do not
/// count. The file has to be a plain one of this process' user or root, with no access for others.
/// A token has kMinTokenBytes to kMaxTokenBytes visible ASCII characters.
Expected<std::vector<std::string>, ServerError> load_tokens(const std::filesystem::path& file);

}  // namespace muster::api
