#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/replay_config.hpp"
#include "model/catalog.hpp"
#include "replay/workload/workload.hpp"
#include "tools/cli/commands.hpp"

namespace muster::cli {

/// How the commands that read a replay config are told of it.
struct ReplayInputOptions {
  std::string config;
  std::vector<std::string> overrides;
  std::optional<std::string> scale_time;
  std::optional<std::string> load;
  std::optional<std::uint64_t> seed;

  /// Whether anything was given beside the config.
  bool changes_config() const { return !overrides.empty() || scale_time || load || seed; }
};

/// The config itself, and what says how it is to be read.
void add_config_argument(CLI::App& command, ReplayInputOptions& options);
void add_input_options(CLI::App& command, ReplayInputOptions& options);

/// The files that they name.
struct ReplayInputs {
  ReplayConfig config;
  Catalog catalog;
  std::vector<replay::CompactWorkload> workloads;  ///< one a trial
};

/// Reads config, catalog and workloads; complains of what is wrong with them.
ExitCode read_inputs(const ReplayInputOptions& options, ReplayInputs& inputs);

}  // namespace muster::cli
