#include "actors/cloud/providers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "actors/cloud/combined_provider.hpp"
#include "actors/cloud/trace_provider.hpp"
#include "config/cloud/delays.hpp"
#include "config/numbers.hpp"
#include "config/price_series.hpp"
#include "config/price_series_file.hpp"
#include "model/check.hpp"

namespace muster {
namespace {

using Maker = Expected<ProviderMaker, ConfigError>;

Maker make_loopback(const CloudConfig&, const Catalog&) {
  return ProviderMaker([](LoopbackOptions machines) {
    return std::make_unique<LoopbackProvider>(std::move(machines));
  });
}

/// The series with its times divided by `speed`. Times keep their order.
PriceSeries sped_up(PriceSeries series, double speed) {
  for (PricePoint& step : series.steps) step.at = from_seconds(to_seconds(step.at) / speed);
  return series;
}

Maker make_trace(const CloudConfig& config, const Catalog& catalog) {
  const auto& settings = config.own.of<TraceCloudSettings>();
  if (settings.from > Duration::zero() && settings.period > Duration::zero()) {
    return Failure<ConfigError>{ConfigError::invalid,
                                "cloud.prices_from cannot be given with cloud.prices_period: "
                                "a part of a series is not begun anew"};
  }
  auto series = load_price_series(settings.prices, catalog);
  if (!series) return Failure<ConfigError>{series.error().code, series.error().message};
  const Duration last = series->steps.empty() ? Duration::zero() : series->steps.back().at;
  if (settings.from > last) {
    return Failure<ConfigError>{
        ConfigError::invalid,
        fmt::format("cloud.prices_from ({}) lies behind the end of {}, whose last row is at {}: "
                    "it has to be at most that",
                    duration_text(settings.from), settings.prices.string(), duration_text(last))};
  }
  TraceOptions trace{begun_at(std::move(series).value(), settings.from), settings.period,
                     Instant{settings.start}};
  // Divided only when it has to be: times stay exact otherwise.
  if (settings.speed != 1) {
    trace.series = sped_up(std::move(trace.series), settings.speed);
    trace.period = from_seconds(to_seconds(settings.period) / settings.speed);
  }
  return ProviderMaker([trace = std::move(trace)](LoopbackOptions machines) {
    return std::make_unique<TraceProvider>(std::move(machines), trace);
  });
}

std::optional<Failure<ConfigError>> fault_of_own(const Catalog& own) {
  for (const InstanceType& type : own.types()) {
    if (!type.spot) continue;
    return Failure<ConfigError>{
        ConfigError::invalid,
        fmt::format("the type {} of the catalog has a spot price: machines of one's own are on no "
                    "spot market, so leave spot_usd_per_hour empty",
                    type.name)};
  }
  return std::nullopt;
}

/// Which machines they are is the composition root's choice: see HostMachines.
Maker make_hosts(const CloudConfig& config, const Catalog& catalog) {
  if (auto fault = fault_of_own(catalog)) return *std::move(fault);
  return make_loopback(config, catalog);
}

/// Machines of one's own join beside the provider.
std::optional<Failure<ConfigError>> fault_beside(const CloudConfig& config, const Catalog& catalog,
                                                 const CatalogParts& parts) {
  for (const std::string& family : config.own_families) {
    const auto& types = catalog.types();
    const bool known = std::any_of(types.begin(), types.end(),
                                   [&](const InstanceType& type) { return type.family == family; });
    if (known) continue;
    return Failure<ConfigError>{
        ConfigError::invalid,
        fmt::format("cloud.own_families: no type of the catalog is of the family '{}'", family)};
  }
  if (parts.rented.size() == 0) {
    return Failure<ConfigError>{
        ConfigError::invalid,
        fmt::format("cloud.own_families: all types of the catalog are of these families, so that "
                    "there is nothing for the provider {} to rent out: name fewer, or say "
                    "cloud.provider = \"hosts\"",
                    config.provider)};
  }
  return fault_of_own(parts.own);
}

}  // namespace

CatalogParts parts_of(const Catalog& catalog, const CloudConfig& config) {
  std::vector<InstanceType> own, rented;
  for (const InstanceType& type : catalog.types()) {
    (config.is_own(type.family) ? own : rented).push_back(type);
  }
  return {Catalog(std::move(own)), Catalog(std::move(rented))};
}

std::unique_ptr<CloudProvider> own_cloud(LoopbackOptions options, const Catalog& types,
                                         MachineBackend& machines, bool stands_alone) {
  options.catalog = &types;
  options.machines = &machines;
  options.no_room = "no machine of that type is free";
  if (!stands_alone) {
    CloudLimits kept;
    kept.by_type = std::move(options.limits.by_type);
    options.limits = std::move(kept);
  }
  return std::make_unique<LoopbackProvider>(std::move(options));
}

std::unique_ptr<CloudProvider> beside_each_other(std::unique_ptr<CloudProvider> own,
                                                 std::unique_ptr<CloudProvider> rented,
                                                 const Catalog& own_types) {
  std::set<std::string> names;
  for (const InstanceType& type : own_types.types()) names.insert(type.name);
  std::vector<CombinedProvider::Part> parts(2);
  // An instance that has a machine is where that is, though its family may have been named since.
  parts[0].has = [names = std::move(names)](const RentedRecord& record) {
    return record.machine.empty() ? names.contains(record.type)
                                  : record.machine.starts_with(kHostPrefix);
  };
  parts[0].cloud = std::move(own);
  parts[1].cloud = std::move(rented);
  return std::make_unique<CombinedProvider>(std::move(parts));
}

Expected<ProviderMaker, ConfigError> load_provider(const CloudConfig& config, const Catalog& all) {
  Catalog rented;
  if (config.provider != "hosts" && !config.own_families.empty()) {
    CatalogParts parts = parts_of(all, config);
    if (auto fault = fault_beside(config, all, parts)) return *std::move(fault);
    rented = std::move(parts.rented);
  }
  const Catalog& catalog = rented.size() > 0 ? rented : all;
#define MUSTER_CLOUD(NAME) \
  if (config.provider == #NAME) return make_##NAME(config, catalog);
#include "config/cloud/clouds.def"
#undef MUSTER_CLOUD
  // The config's check has refused other names.
  MUSTER_CHECK(false, "a config names a cloud provider that there is not");
  return make_loopback(config, catalog);
}

LoopbackOptions loopback_options(const CloudConfig& config) {
  LoopbackOptions options;
  options.limits.instances = config.max_instances.value_or(0);
  options.limits.by_type = config.max_by_type;
  if (config.max_spot) options.limits.by_market[Market::spot] = *config.max_spot;
  if (config.max_on_demand) options.limits.by_market[Market::on_demand] = *config.max_on_demand;
  options.interruptions.notice = config.notice;
  // Multiplied only when it has to be: the notice stays exact otherwise.
  if (config.delay_scale != 1) {
    options.interruptions.notice = from_seconds(to_seconds(config.notice) * config.delay_scale);
  }
  options.interruptions.per_h = config.interruptions_per_h;
  options.halt_grace = config.halt_grace;
  const auto& delays = config.own.of<DelaySettings>();
  options.delays.spread = delays.spread;
  options.delays.kind = delays.kind;
  return options;
}

ConnectorSetup connector_setup(const CloudConfig& config) {
  ConnectorSetup setup;
  setup.retries = {config.launch_tries, config.retry_pause, config.retry_longest};
  setup.list_every = config.list_every;
  setup.keep_changes = config.keep_changes;
  return setup;
}

}  // namespace muster
