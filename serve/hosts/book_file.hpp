#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "model/expected.hpp"
#include "model/time.hpp"
#include "serve/hosts/host_table.hpp"
#include "serve/hosts/join_tokens.hpp"

namespace muster::hosts {

inline constexpr std::size_t kMaxBookFile = std::size_t{16} << 20;
/// Of these, those for machines; the rest is for kMaxJoinTokens tokens.
inline constexpr std::size_t kMaxHostBytes = std::size_t{15} << 20;

/// A book as its file has it.
struct BookContent {
  JoinTokens tokens;
  HostTable hosts;
  std::optional<Duration> lease{};  ///< the longest that may hold; nothing: the file has no lease
};

/// Nothing: there is no file. A failure's message names it.
Expected<std::optional<BookContent>, int> read_book(const std::filesystem::path& file);
std::string book_text(const JoinTokens& tokens, const HostTable& hosts, Duration lease);

}  // namespace muster::hosts
