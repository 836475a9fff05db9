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

std::string check_join_place(const std::string& text) {
  if (join_place(text)) return "";
  return fmt::format(
      "has to be an address of this computer that the machines reach, ADDRESS or "
      "ADDRESS:PORT, like 10.0.0.1; it is '{}'",
      text);
}

void say_how_to_join(const std::optional<Endpoint>& join) {
  if (!join) return;
  fmt::print(
      "Machines of your own join it: make a token by `muster join-token create --quiet`, and on "
      "each run\n  muster join https://{} --token-file FILE\n",
      to_text(*join));
}

}  // namespace muster::cli
