#pragma once

#include <filesystem>

#include "config/cloud_config.hpp"
#include "config/config_error.hpp"
#include "model/catalog.hpp"
#include "model/expected.hpp"

namespace muster {

/// Reads an instance catalog from CSV (config/catalogs/README.md describes the columns). Errors
/// carry file, line and field.
Expected<Catalog, ConfigError> load_catalog(const std::filesystem::path& file);

/// The catalog with the delays that the cloud has: those of the catalog, `cloud.reclaim` and the
/// factor on all of them.
Catalog with_delays_of(const CloudConfig& cloud, const Catalog& catalog);

}  // namespace muster
