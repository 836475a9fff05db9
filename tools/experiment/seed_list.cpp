#include "tools/experiment/seed_list.hpp"

#include <limits>
#include <set>

#include "config/numbers.hpp"

namespace muster::experiment {
namespace {

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// A seed has to fit into TOML's signed numbers, as replay configs hold it.
std::optional<std::uint64_t> parse_seed(std::string_view text) {
  constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max() - 10'000;
  const auto seed = parse_whole(trimmed(text));
  return seed && *seed <= kLargest ? seed : std::nullopt;
}

}  // namespace

std::optional<std::vector<std::uint64_t>> parse_seeds(std::string_view text) {
  std::vector<std::uint64_t> seeds;
  std::set<std::uint64_t> known;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    const std::size_t dash = part.find('-');
    const auto first = parse_seed(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_seed(part.substr(dash + 1));
    if (!first || !last || *last < *first || *last - *first >= kMostSeeds) return std::nullopt;
    for (std::uint64_t seed = *first; seed <= *last; ++seed) {
      if (!known.insert(seed).second || seeds.size() == kMostSeeds) return std::nullopt;
      seeds.push_back(seed);
    }
    if (comma == std::string_view::npos) return seeds;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace muster::experiment
