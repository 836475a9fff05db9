#pragma once

#include <functional>
#include <memory>

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

/// Reads what the provider needs that the config names.
Expected<ProviderMaker, ConfigError> load_provider(const CloudConfig& config,
                                                   const Catalog& catalog);

/// The config's settings of machines: limits, delays and interruptions.
LoopbackOptions loopback_options(const CloudConfig& config);

/// The config's settings of the connector.
ConnectorSetup connector_setup(const CloudConfig& config);

}  // namespace muster
