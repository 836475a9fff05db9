#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/part_settings.hpp"
#include "model/time.hpp"

namespace muster {

/// The cloud that instances are rented from, in a replay as in a cluster.
struct CloudConfig {
  std::string provider = "loopback";  ///< one of config/cloud/clouds.def
  /// Of the catalog: their types are machines of one's own that join, beside what the provider
  /// rents out. With the provider `hosts` all types are.
  std::vector<std::string> own_families{};
  /// Refuses beyond; 0: no limit; nothing: no limit in a replay, live the computer's bound.
  std::optional<std::uint32_t> max_instances;
  std::map<std::string, std::uint32_t> max_by_type;  ///< the limit on instances of a type
  std::optional<std::uint32_t> max_spot, max_on_demand;
  double delay_scale = 1;  ///< of the catalog's delays and of the notice of an interruption
  Duration notice{std::chrono::minutes{2}};  ///< from an interruption's notice to the end
  Duration reclaim{};  ///< from the request to end an instance, beyond the catalog's terminate_s
  double interruptions_per_h = 0;   ///< of one spot instance, by themselves
  double memory_reserve_gib = 0.5;  ///< live: refuses when less would be left
  Duration halt_grace{
      std::chrono::seconds{2}};    ///< live: time that processes of a machine get to end
  std::uint32_t launch_tries = 5;  ///< before a launch is refused
  Duration retry_pause{std::chrono::seconds{1}};  ///< before the second try; doubles
  Duration retry_longest{std::chrono::minutes{1}};
  Duration list_every{};                ///< from one look at what exists to the next; 0: in doubt
  std::uint32_t keep_changes = 10'000;  ///< of what is offered
  PartSettings own;                     ///< settings of single providers

  /// Machines of one's own join the cluster.
  bool takes_machines() const { return provider == "hosts" || !own_families.empty(); }
  /// Types of that family are machines of one's own.
  bool is_own(const std::string& family) const {
    return provider == "hosts" ||
           std::find(own_families.begin(), own_families.end(), family) != own_families.end();
  }
};

/// Settings of the provider `trace`.
struct TraceCloudSettings {
  std::filesystem::path prices;  ///< the series
  Duration period{};             ///< time of the series after which it begins anew; 0: never
  double speed = 1;              ///< seconds of the series that pass in one second
  Duration start{};              ///< from the time 0 of the cluster to the series' beginning
  Duration from{};               ///< of the series: earlier rows are left out
};

/// Settings of the provider `hosts`.
struct HostsCloudSettings {
  Duration lease{std::chrono::minutes{10}};  ///< 0: no machine is given up by itself
  Duration report{std::chrono::seconds{1}};  ///< between two reports of a machine
};

}  // namespace muster
