#include "tools/cli/replay_inputs.hpp"

#include <limits>

#include "config/catalog_file.hpp"
#include "config/fleet.hpp"
#include "config/key_place.hpp"
#include "replay/replay_parts.hpp"
#include "replay/workload/offered_load.hpp"
#include "tools/cli/output.hpp"

namespace muster::cli {

void add_config_argument(CLI::App& command, ReplayInputOptions& options) {
  command.add_option("config", options.config, "replay config (TOML)")->required();
}

void add_input_options(CLI::App& command, ReplayInputOptions& options) {
  command.add_option("--seed", options.seed, "seed of everything that chance decides")
      ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max() - 10'000));
  command.add_option("--set", options.overrides, "dotted.key=value, overrides the config");
  command.add_option("--scale-time", options.scale_time,
                     "factor on the times of submission (= --set workload.scale_time=X)");
  command.add_option("--load", options.load,
                     "offered load of master.fleet (= --set workload.load=L)");
}

ExitCode read_inputs(const ReplayInputOptions& options, ReplayInputs& inputs) {
  std::vector<std::string> overrides = options.overrides;
  if (options.scale_time) overrides.push_back("workload.scale_time=" + *options.scale_time);
  if (options.load) overrides.push_back("workload.load=" + *options.load);
  auto config = load_replay_config(replay::replay_parts(), options.config, overrides);
  if (!config) {
    complain(config.error().message);
    return config.error().code == ConfigError::unreadable ? kFailed : kUsage;
  }
  inputs.config = std::move(config).value();
  if (options.seed) inputs.config.seed = *options.seed;
  auto catalog = load_catalog(inputs.config.catalog);
  if (!catalog) {
    const bool unreadable = catalog.error().code == ConfigError::unreadable;
    const std::string place = key_place(options.config, options.overrides, "catalog");
    complain((unreadable ? place + ": " : "") + catalog.error().message);
    return kFailed;
  }
  inputs.catalog = with_delays_of(inputs.config.cloud, catalog.value());
  auto fleet = fleet_share(inputs.config.fleet.parts, inputs.catalog);
  if (!fleet) {
    complain(fleet.error().message);
    return kUsage;
  }
  const double load = inputs.config.workload.load;
  for (std::uint32_t trial = 0; trial < inputs.config.trials; ++trial) {
    auto workload =
        // Trials differ by their seeds: each has its own workload where chance makes it.
        replay::read_compact_workload(inputs.config.workload, inputs.config.seed + trial);
    if (workload && load > 0) {
      workload =
          replay::with_load(std::move(workload).value(), fleet.value(), inputs.catalog, load);
    }
    if (!workload) {
      const std::string& message = workload.error().message;
      const std::string path = inputs.config.workload.path.string();
      const bool unreadable = workload.error().code == replay::WorkloadError::unreadable;
      // A message that begins with the path need not be told of which file it is.
      const bool of_path = !path.empty() && message.starts_with(path);
      const std::string place =
          key_place(options.config, options.overrides, of_path ? "workload.path" : "workload");
      complain((unreadable ? place + ": " : "") + message);
      return kFailed;
    }
    inputs.workloads.push_back(std::move(workload).value());
  }
  return kDone;
}

}  // namespace muster::cli
