#include "schedulers/site/routing.hpp"

#include <algorithm>
#include <numeric>

// Pure functions of what was heard, when, and of the generator: the same reports and the same seed
// choose the same masters in every run.

namespace muster {

std::optional<double> present_load(const Heard& heard, Instant now, Duration stale_after) {
  if (!heard.at || *heard.at + stale_after <= now) return std::nullopt;
  const double age = to_seconds(now - *heard.at) / to_seconds(stale_after);
  // An old report says less and less: the load goes towards 1 with its age, never below what was
  // heard.
  return heard.load >= 1 ? heard.load : heard.load * (1 - age) + age;
}

std::vector<std::uint32_t> draw_masters(const std::vector<Heard>& masters,
                                        const std::vector<std::uint64_t>& given,
                                        const SiteSettings& settings, Instant now, Rng& rng) {
  std::vector<std::uint32_t> light;
  std::optional<std::uint32_t> least;
  double least_load = 0;
  for (std::uint32_t i = 0; i < masters.size(); ++i) {
    const auto load = present_load(masters[i], now, settings.load_stale_after);
    if (!load) continue;
    if (*load < settings.master_heavy) light.push_back(i);
    if (!least || *load < least_load) {
      least = i;
      least_load = *load;
    }
  }
  if (light.empty()) {
    // All are heavily loaded: the job is one part, so that no more than one is loaded further.
    if (least) return {*least};
    // No reports were heard yet, as after a start: given in turn.
    const auto fewest = std::min_element(given.begin(), given.end());
    return {static_cast<std::uint32_t>(fewest - given.begin())};
  }
  // The first r of a shuffle.
  // Fisher-Yates, stopped after r draws.
  const std::size_t count = std::min<std::size_t>(settings.masters_per_job, light.size());
  for (std::size_t i = 0; i < count; ++i) {
    std::swap(light[i], light[i + rng.below(light.size() - i)]);
  }
  light.resize(count);
  return light;
}

std::uint32_t nearest_light_site(const std::vector<SiteStanding>& sites, std::uint32_t own,
                                 const GeoPoint& user, const SiteSettings& settings, Instant now) {
  std::vector<std::uint32_t> order(sites.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return distance_km(sites[a].position, user) < distance_km(sites[b].position, user);
  });
  for (std::uint32_t i : order) {
    const auto load = present_load(sites[i].heard, now, settings.load_stale_after);
    if (load && *load < settings.site_heavy) return i;
  }
  return own;
}

}  // namespace muster
