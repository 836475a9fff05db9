#pragma once

#include <chrono>
#include <filesystem>

#include "config/config_error.hpp"
#include "config/price_series.hpp"
#include "model/catalog.hpp"
#include "model/expected.hpp"
#include "model/time.hpp"

namespace muster {

/// No row of a series stands later than that.
inline constexpr Duration kLongestSeries = std::chrono::hours{24 * 366 * 10};

/// Reads a series from CSV: time_s, type, market, zone, price_usd_h, available and revoke
/// (config/cloud/README.md). Every type has to be in the catalog.
Expected<PriceSeries, ConfigError> load_price_series(const std::filesystem::path& file,
                                                     const Catalog& catalog);

}  // namespace muster
