#include "config/fleet.hpp"

#include <fmt/format.h>

#include <charconv>

namespace muster {
namespace {

constexpr std::string_view kSpot = ":spot";
constexpr std::uint32_t kMostInstances = 10'000'000;

}  // namespace

std::optional<FleetPart> parse_fleet_part(std::string_view text) {
  FleetPart part;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, part.count);
  if (error != std::errc{} || rest == end || *rest != '*') return std::nullopt;
  if (part.count < 1 || part.count > kMostInstances) return std::nullopt;
  std::string_view type(rest + 1, static_cast<std::size_t>(end - rest - 1));
  if (type.ends_with(kSpot)) {
    part.market = Market::spot;
    type.remove_suffix(kSpot.size());
  }
  if (type.empty()) return std::nullopt;
  part.type = type;
  return part;
}

std::string to_text(const FleetPart& part) {
  return fmt::format("{}*{}{}", part.count, part.type, part.market == Market::spot ? kSpot : "");
}

Expected<Fleet, FleetError> fleet_share(const std::vector<FleetPart>& parts, const Catalog& catalog,
                                        std::uint32_t index, std::uint32_t masters) {
  Fleet fleet;
  for (const FleetPart& part : parts) {
    const auto type = catalog.find(part.type);
    if (!type) {
      return Failure<FleetError>{FleetError::unknown_type,
                                 fmt::format("master.fleet: \"{}\": the catalog has no type {}",
                                             to_text(part), part.type)};
    }
    if (part.market == Market::spot && !catalog[*type].spot) {
      return Failure<FleetError>{
          FleetError::no_such_market,
          fmt::format("master.fleet: \"{}\": the catalog has no spot price for {}", to_text(part),
                      part.type)};
    }
    // Every master computes its own share by this rule; together they have the fleet exactly once.
    const std::uint32_t count = part.count / masters + (index < part.count % masters ? 1 : 0);
    if (count > 0) fleet.push_back({*type, part.market, count});
  }
  return fleet;
}

}  // namespace muster
