#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "config/site_settings.hpp"
#include "model/geo.hpp"
#include "model/rng.hpp"
#include "model/time.hpp"

namespace muster {

/// Last report of a master or of another site.
struct Heard {
  double load = 0;              ///< as it was reported; 1: all it has is taken
  std::optional<Instant> at{};  ///< when; nothing: never
};

/// A load that ages: an old report counts the less, and the more it is assumed that nothing is
/// free. At `stale_after` it is 1. Nothing heard within `stale_after`: no answer.
std::optional<double> present_load(const Heard& heard, Instant now, Duration stale_after);

/// The masters for a job's parts, each once: up to r, drawn at random from those that are not
/// heavily loaded; when all are, the least loaded one; when nothing was heard of any, the first of
/// those that by `given` have got the least. There has to be a master.
std::vector<std::uint32_t> draw_masters(const std::vector<Heard>& masters,
                                        const std::vector<std::uint64_t>& given,
                                        const SiteSettings& settings, Instant now, Rng& rng);

/// A site scheduler as another one sees it.
struct SiteStanding {
  GeoPoint position;
  Heard heard;
};

/// The nearest site to the user that is not heavily loaded, ties by index; `own` when all others
/// are or have not been heard of.
std::uint32_t nearest_light_site(const std::vector<SiteStanding>& sites, std::uint32_t own,
                                 const GeoPoint& user, const SiteSettings& settings, Instant now);

}  // namespace muster
