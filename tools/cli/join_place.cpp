#include "tools/cli/join_place.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace muster::cli {

std::optional<Endpoint> join_place(const std::string& text) {
  constexpr std::uint16_t kJoinPort = 7443;
  auto place = parse_endpoint(text);
  if (!place) place = parse_endpoint(fmt::format("{}:{}", text, kJoinPort));
  return place && !is_wildcard(*place) ? place : std::nullopt;
}

}  // namespace muster::cli
