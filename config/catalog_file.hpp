#pragma once

#include <filesystem>

#include "config/replay_config.hpp"
#include "model/catalog.hpp"

namespace muster {

/// Reads an instance catalog from CSV (config/catalogs/README.md describes the columns). Errors
/// carry file, line and field.
Expected<Catalog, ConfigError> load_catalog(const std::filesystem::path& file);

}  // namespace muster
