#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
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

/// The bearer tokens that open the API; it keeps their digests only.
class Tokens {
 public:
  /// Of the tokens as they are sent.
  explicit Tokens(const std::vector<std::string>& tokens);

  /// Whether an Authorization header's value is "Bearer " and one of the tokens. Takes as long
  /// whatever the token looks like.
  bool admits(std::string_view authorization) const;

 private:
  using Digest = std::array<unsigned char, 32>;
  static Digest digest(std::string_view token);
  std::vector<Digest> digests_;
};

/// Reads a file with a token a line; empty lines and those that begin with # do not count. The file
/// has to be a plain one that nobody but its owner can read. A token has kMinTokenBytes to
/// kMaxTokenBytes visible ASCII characters.
Expected<std::vector<std::string>, ServerError> load_tokens(const std::filesystem::path& file);

}  // namespace muster::api
