#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "actors/cloud/cloud_provider.hpp"
#include "actors/cloud/connector.hpp"
#include "actors/cloud/loopback_provider.hpp"
#include "config/cloud_config.hpp"
#include "config/config_error.hpp"
#include "model/expected.hpp"

// From a config to the cloud that it names.

namespace muster {

/// Makes a provider over the given machines. May be called again, for another run.
using ProviderMaker = std::function<std::unique_ptr<CloudProvider>(LoopbackOptions machines)>;

/// Reads what the provider needs that the config names. Where machines of one's own join beside it,
/// the provider has the other types of the catalog alone.
Expected<ProviderMaker, ConfigError> load_provider(const CloudConfig& config,
                                                   const Catalog& catalog);

/// A catalog's types: those of machines of one's own, and those that the provider rents out.
struct CatalogParts {
  Catalog own;
  Catalog rented;
};
CatalogParts parts_of(const Catalog& catalog, const CloudConfig& config);

/// A cloud of machines of one's own with these types. Limits are on what is rented: of `options`
/// those by type alone stay, and where such a cloud stands alone, as the provider `hosts`, all.
std::unique_ptr<CloudProvider> own_cloud(LoopbackOptions options, const Catalog& types,
                                         MachineBackend& machines, bool stands_alone);

/// A cloud of machines of one's own with these types and one of the provider, as one.
std::unique_ptr<CloudProvider> beside_each_other(std::unique_ptr<CloudProvider> own,
                                                 std::unique_ptr<CloudProvider> rented,
                                                 const Catalog& own_types);

/// Names of machines of one's own begin so in the records of instances.
inline constexpr std::string_view kHostPrefix = "host-";

/// The config's settings of machines: limits, delays and interruptions.
LoopbackOptions loopback_options(const CloudConfig& config);

/// The config's settings of the connector.
ConnectorSetup connector_setup(const CloudConfig& config);

}  // namespace muster
