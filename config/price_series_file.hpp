#pragma once

#include <filesystem>

#include "config/price_series.hpp"
#include "config/replay_config.hpp"
#include "model/catalog.hpp"
#include "model/expected.hpp"

namespace muster {

/// Reads a series from CSV: time_s, type, market, zone, price_usd_h, available and revoke
/// (config/cloud/README.md). Every type has to be in the catalog.
Expected<PriceSeries, ConfigError> load_price_series(const std::filesystem::path& file,
                                                     const Catalog& catalog);

}  // namespace muster
