#include "serve/local/local_settings.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

#include "actors/cloud/providers.hpp"
#include "config/catalog_file.hpp"
#include "config/cloud/trace.hpp"
#include "config/cluster_keys.hpp"
#include "config/fleet.hpp"
#include "config/key_place.hpp"
#include "config/key_text.hpp"
#include "config/numbers.hpp"
#include "config/shipped_file.hpp"
#include "schedulers/registry.hpp"
#include "serve/local/gone_types.hpp"
#include "serve/local/settings_draft.hpp"
#include "serve/machines/computer.hpp"
#include "serve/machines/task_user.hpp"
#include "serve/solver/cbc_solver.hpp"

namespace muster::local {
namespace {

constexpr double kMostScale = 1e4;  // as cloud.delay_scale
constexpr const char* kMoving = "trace";

NodeConfig* first_with_api(ClusterConfig& config) {
  const auto found = std::find_if(config.nodes.begin(), config.nodes.end(),
                                  [](const NodeConfig& node) { return node.api.has_value(); });
  return found == config.nodes.end() ? nullptr : &*found;
}

bool same_caps(const ClusterConfig& a, const ClusterConfig& b) {
  return a.master.caps.max_instances == b.master.caps.max_instances &&
         a.master.caps.max_usd_h == b.master.caps.max_usd_h &&
         a.master.caps.max_usd_day == b.master.caps.max_usd_day &&
         a.live_master.uncapped == b.live_master.uncapped;
}

/// The config's value for the key of an override; empty: no value.
std::string value_of(ClusterConfig& config, const std::string& name) {
  constexpr std::string_view kNode = "node.";
  if (const auto* key = config::find_key<ClusterConfig>(name)) {
    return config::value_text(config, *key);
  }
  const std::size_t dot = name.find('.', kNode.size());
  if (!name.starts_with(kNode) || dot == std::string::npos) return {};
  const std::string node = name.substr(kNode.size(), dot - kNode.size());
  const auto found = std::find_if(config.nodes.begin(), config.nodes.end(),
                                  [&](const NodeConfig& each) { return each.name == node; });
  const auto* key = config::find_key<NodeConfig>(name.substr(dot + 1));
  return found == config.nodes.end() || key == nullptr ? "" : config::value_text(*found, *key);
}

/// Where a key's value is from: the last override of it, the flag for it, or the file.
std::string origin_of(const std::string& key, const std::string& flag, const ClusterConfig& config,
                      const LocalRequest& request) {
  for (auto it = request.overrides.rbegin(); it != request.overrides.rend(); ++it) {
    if (it->starts_with(key + "=")) return "--set " + *it;
  }
  if (!flag.empty()) return flag;
  // "FILE:LINE:COLUMN: KEY", or the key alone: a fault names its key itself.
  const std::string place = key_place(config.file, {}, key);
  return place.size() > key.size() ? place.substr(0, place.size() - key.size() - 2)
                                   : config.file.string();
}

std::string names_of(const Catalog& catalog) {
  constexpr std::size_t kNamed = 8;
  std::string names;
  for (std::size_t i = 0; i < catalog.size() && i < kNamed; ++i) {
    names += (i == 0 ? "" : ", ") + catalog.types()[i].name;
  }
  return catalog.size() > kNamed ? names + " and others" : names;
}

/// A shipped catalog of which the cluster has a copy of its own is that copy.
std::filesystem::path wanted_catalog(const std::filesystem::path& asked,
                                     const ClusterConfig& config) {
  const std::filesystem::path path = catalog_path(asked);
  const bool is_copied = is_shipped(path) && config.catalog.filename() == path.filename() &&
                         config.catalog.parent_path() == config.file.parent_path() &&
                         text_of(config.catalog) == text_of(path);
  return is_copied ? config.catalog : path;
}

/// Instances of a fleet that the cloud would refuse, as it has room for fewer.
std::string fleet_beyond_cloud(const ClusterConfig& config) {
  const CloudConfig& cloud = config.cloud;
  std::uint64_t all = 0;
  std::map<std::string, std::uint64_t> by_type;
  std::map<Market, std::uint64_t> by_market;
  for (const FleetPart& part : config.fleet.parts) {
    all += part.count;
    by_type[part.type] += part.count;
    by_market[part.market] += part.count;
  }
  const auto too_many = [](std::uint64_t count, const std::string& what, std::uint64_t most,
                           const std::string& key) {
    return fmt::format("master.fleet: {} {} are too many: the cloud has at most {} ({})", count,
                       what, most, key);
  };
  const std::uint32_t room =
      cloud.max_instances.value_or(machines::most_workers(machines::look_at_computer()));
  if (room != 0 && all > room) return too_many(all, "instances", room, "cloud.max_instances");
  for (const auto& [type, most] : cloud.max_by_type) {
    if (by_type[type] > most) return too_many(by_type[type], type, most, "cloud.max_by_type");
  }
  const std::uint64_t spot = by_market[Market::spot];
  const std::uint64_t on_demand = by_market[Market::on_demand];
  if (cloud.max_spot && spot > *cloud.max_spot) {
    return too_many(spot, "on the spot market", *cloud.max_spot, "cloud.max_spot");
  }
  if (cloud.max_on_demand && on_demand > *cloud.max_on_demand) {
    return too_many(on_demand, "on demand", *cloud.max_on_demand, "cloud.max_on_demand");
  }
  return {};
}

/// Instances of a master's share that its caps would hold back. The first master has the largest
/// share.
std::string fleet_beyond_caps(const Fleet& share, const ClusterConfig& config,
                              const Catalog& catalog) {
  const MasterCaps& caps = config.master.caps;
  const std::size_t masters = config.masters().size();
  std::uint64_t count = 0;
  double usd_h = 0;
  for (const FleetShare& part : share) {
    count += part.count;
    usd_h += catalog.price(part.type, part.market).usd_h() * part.count;
  }
  const std::string whose =
      masters == 1 ? "the master" : fmt::format("the first of {} masters", masters);
  if (caps.max_instances > 0 && count > caps.max_instances) {
    return fmt::format(
        "master.fleet: {} instances for {} are too many: its cap is {} (master.max_instances)",
        count, whose, caps.max_instances);
  }
  constexpr double kRounding = 1e-9;
  if (caps.max_usd_h > 0 && usd_h > caps.max_usd_h + kRounding) {
    return fmt::format(
        "master.fleet: {} instances for {} cost ${:.2f} an hour: its cap is ${:.2f} "
        "(master.max_usd_h)",
        count, whose, usd_h, caps.max_usd_h);
  }
  return {};
}

std::string fleet_fault(const ClusterConfig& config, const Catalog& catalog) {
  if (config.fleet.parts.empty()) return {};
  const auto masters = static_cast<std::uint32_t>(config.masters().size());
  const auto share = fleet_share(config.fleet.parts, catalog, 0, masters);
  if (!share) {
    const std::string hint = share.error().code == FleetError::unknown_type
                                 ? "; it has " + names_of(catalog)
                                 : std::string{};
    return share.error().message + hint;
  }
  const std::string beyond = fleet_beyond_cloud(config);
  // Where more is rented than the fleet the caps are for that alone.
  if (!beyond.empty() || config.master.rent_beyond_fleet) return beyond;
  return fleet_beyond_caps(share.value(), config, catalog);
}

std::string policy_fault(const ClusterConfig& config, const Catalog& catalog) {
  const auto spec = parse_policy(config.policy);
  if (!spec) return spec.error().message;
  const auto policy = make_policy(spec.value(), catalog, 1, policy_services(SolverStop::seconds));
  return policy ? std::string{} : policy.error().message;
}

std::string prices_fault(const ClusterConfig& config, const Catalog& catalog) {
  const auto provider = load_provider(config.cloud, catalog);
  return provider ? std::string{} : provider.error().message;
}

/// Has the cluster rent at the prices that are asked for; empty, or what is wrong. A change of the
/// file or the speed begins with the file's beginning: a time of another series has no
/// continuation.
std::string change_prices(const LocalRequest& request, Instant now, ClusterConfig& config,
                          std::vector<SettingChange>& changes) {
  if (request.prices.empty()) {
    return request.price_speed ? "--price-speed needs --prices, the file whose prices move so fast"
                               : std::string{};
  }
  const std::filesystem::path prices = prices_path(request.prices);
  const double speed = request.price_speed.value_or(1);
  if (!config::kPriceSpeeds.contains(speed)) {
    return fmt::format("--price-speed has to be {}", describe(config::kPriceSpeeds));
  }
  auto& moving = config.cloud.own.of<TraceCloudSettings>();
  const bool same =
      config.cloud.provider == kMoving && moving.prices == prices && moving.speed == speed;
  if (same) return {};
  const std::string before = moving_prices(config.cloud);
  std::string flag = "--prices " + request.prices.string();
  if (request.price_speed) flag += fmt::format(" --price-speed {}", speed);
  changes.push_back(
      {std::move(flag), before.empty() ? "prices of the catalog" : "prices " + before});
  config.cloud.provider = kMoving;
  moving.prices = prices;
  moving.speed = speed;
  moving.start = now.time_since_epoch();
  return {};
}

}  // namespace

std::string moving_prices(const CloudConfig& cloud) {
  if (cloud.provider != kMoving) return {};
  const auto& moving = cloud.own.of<TraceCloudSettings>();
  return fmt::format("{} at speed {}", moving.prices.string(), moving.speed);
}

std::string batch_rounds(const ClusterConfig& config, const Catalog& catalog) {
  constexpr Duration kLong = std::chrono::seconds{20};
  constexpr std::string_view kPeriod = "period_s=";
  const auto spec = parse_policy(config.policy);
  if (!spec) return {};
  const auto policy = make_policy(spec.value(), catalog);
  if (!policy) return {};
  const Cadence cadence = policy.value()->cadence();
  if (cadence.on_arrival || cadence.period <= Duration::zero()) return {};
  const std::string text =
      fmt::format("every {}, and a job waits for the next one", duration_text(cadence.period));
  // A config that states a period can state a shorter one.
  const bool stated = config.policy.find(kPeriod) != std::string::npos;
  if (stated || cadence.period < kLong) return text;
  return fmt::format("{}; sooner: --policy {},{}10", text, config.policy, kPeriod);
}

Expected<std::vector<SettingChange>, LocalError> apply_flags(const LocalRequest& request,
                                                             Instant now, ClusterConfig& config) {
  std::vector<SettingChange> changes;
  const auto change = [&](auto& value, const auto& wanted, SettingChange said) {
    if (value == wanted) return;
    value = wanted;
    changes.push_back(std::move(said));
  };
  if (!request.policy.empty()) {
    change(config.policy, request.policy,
           {"--policy " + request.policy, "policy " + config.policy});
  }
  if (!request.catalog.empty()) {
    change(config.catalog, wanted_catalog(request.catalog, config),
           {"--catalog " + request.catalog.string(), "catalog " + config.catalog.string()});
  }
  if (std::string wrong = change_prices(request, now, config, changes); !wrong.empty()) {
    return Failure<LocalError>{LocalError::bad_request, std::move(wrong)};
  }
  if (request.delay_scale) {
    double& scale = config.cloud.delay_scale;
    if (!(*request.delay_scale >= 0 && *request.delay_scale <= kMostScale)) {
      return Failure<LocalError>{
          LocalError::bad_request,
          fmt::format("--delay-scale has to be a number from 0 to {}", kMostScale)};
    }
    change(scale, *request.delay_scale,
           {fmt::format("--delay-scale {}", *request.delay_scale),
            fmt::format("delay scale {}", scale)});
  }
  NodeConfig* api = first_with_api(config);
  if (request.api_port.value_or(0) != 0 && api != nullptr) {
    change(api->api->port, *request.api_port,
           {fmt::format("--api-port {}", *request.api_port),
            fmt::format("API port {}", api->api->port)});
  }
  if (request.caps) {
    const ClusterConfig before = config;
    if (auto done = change_caps(*request.caps, config); !done) {
      return Failure<LocalError>{LocalError::bad_request, done.error().message};
    }
    if (!same_caps(before, config)) {
      changes.push_back({"--caps " + request.caps->text, "caps " + caps_of_all(before)});
    }
  }
  return changes;
}

std::vector<SettingChange> changes_by(const std::vector<std::string>& overrides,
                                      ClusterConfig before, ClusterConfig after) {
  std::vector<SettingChange> changes;
  for (const std::string& text : overrides) {
    const std::string name = text.substr(0, text.find('='));
    const std::string value = value_of(before, name);
    if (value == value_of(after, name)) continue;
    changes.push_back(
        {"--set " + text, value.empty() ? "no " + name : fmt::format("{} = {}", name, value)});
  }
  return changes;
}

std::string refusal_while_it_runs(const std::vector<SettingChange>& changes) {
  std::string holds;
  std::string flags;
  for (const SettingChange& change : changes) {
    holds += (holds.empty() ? "" : "; ") + change.holds;
    flags += " " + change.flag;
  }
  return fmt::format("it runs with {}: `muster down` first, then `muster up{}`", holds, flags);
}

std::string settings_fault(const ClusterConfig& config, const LocalRequest& request) {
  const auto from = [&](const std::string& key, const std::string& flag, const std::string& fault) {
    return fault.empty() ? fault : origin_of(key, flag, config, request) + ": " + fault;
  };
  auto fault_of_users = machines::task_user_fault(config.worker);
  if (!fault_of_users) fault_of_users = machines::task_range_fault(config.worker);
  if (const auto& fault = fault_of_users) {
    const std::string key = "worker." + fault->key;
    return from(key, "", fmt::format("{} = {}: {}", key, fault->value, fault->text));
  }
  const auto catalog = load_catalog(config.catalog);
  if (!catalog) {
    const std::string flag = request.catalog.empty() ? "" : "--catalog";
    return from("catalog", flag, "catalog: " + catalog.error().message);
  }
  const std::string types = request.catalog.empty() ? "" : "--catalog";
  std::string fault = from("catalog", types, gone_types_fault(config, catalog.value()));
  if (!fault.empty()) return fault;
  const std::string flag = request.policy.empty() ? "" : "--policy " + request.policy;
  fault = from("policy", flag, policy_fault(config, catalog.value()));
  if (fault.empty()) {
    const std::string prices = request.prices.empty() ? "" : "--prices";
    fault = from("cloud.prices", prices, prices_fault(config, catalog.value()));
  }
  if (!fault.empty()) return fault;
  return from("master.fleet", "", fleet_fault(config, catalog.value()));
}

std::string backup_fault(const ClusterConfig& config, const LocalRequest& request) {
  if (config.backup.every == Duration{}) return {};
  const std::string to = config.backup.to.string();
  std::error_code bad;
  std::string fault;
  if (!std::filesystem::exists(to, bad)) {
    fault = fmt::format("there is no {} (mkdir -p {})", to, to);
  } else if (!std::filesystem::is_directory(to, bad)) {
    fault = fmt::format("{} is no folder", to);
  } else if (access(to.c_str(), W_OK | X_OK) != 0) {
    fault = fmt::format("{} cannot be written: {}", to, std::strerror(errno));
  }
  if (fault.empty()) return fault;
  return fmt::format("{}: backup.to: has to be a folder that is there and can be written; {}",
                     origin_of("backup.to", "", config, request), fault);
}

}  // namespace muster::local
