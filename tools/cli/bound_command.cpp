#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "replay/report/progress.hpp"
#include "tools/bound/bound_report.hpp"
#include "tools/bound/solve_trials.hpp"
#include "tools/bound/state_bound.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/json_option.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/replay_inputs.hpp"
#include "tools/client/printable.hpp"

// The command that says what no policy can cost less than, on a workload that `muster replay`
// would replay.

namespace muster::cli {
namespace {

struct BoundOptions {
  ReplayInputOptions inputs;
  std::uint64_t nodes = bound::kNodes;
  std::string json;
  std::string state;
  std::optional<double> at_s;
};

/// A line that shows how far the search has got, where somebody sees it.
class BoundLine {
 public:
  void show(std::uint64_t seed, const bound::FluidProgress& progress) {
    if (!terminal_ || (drawn_ && elapsed() - *drawn_ < kPause)) return;
    drawn_ = elapsed();
    std::cerr << fmt::format("\r\033[Kseed {}, round {}: ${:.0f} to ${:.0f}", seed, progress.round,
                             progress.bound_usd, progress.reached_usd)
              << std::flush;
  }
  void clear() const {
    if (drawn_) std::cerr << "\r\033[K" << std::flush;
  }

 private:
  static constexpr Duration kPause = std::chrono::milliseconds{100};
  bool terminal_ = report::stderr_is_terminal();
  std::optional<Duration> drawn_;
};

/// Of one moment: no config is needed, as a state has its catalog.
int run_state(const BoundOptions& options) {
  if (!can_write(options.json)) return kFailed;
  std::optional<Duration> at;
  if (options.at_s) at = from_seconds(*options.at_s);
  const auto bound = bound::state_bound(options.state, at, options.nodes);
  if (!bound) {
    complain(bound.error().message);
    return kFailed;
  }
  if (options.json != "-") std::cout << client::printable_lines(bound::state_table(bound.value()));
  if (options.json.empty()) return kDone;
  const auto write = [&](std::ostream& out) { out << bound::state_json(bound.value()); };
  return write_output(options.json, write) ? kDone : kFailed;
}

int run_command(const BoundOptions& options) {
  if (!options.state.empty()) {
    if (options.inputs.changes_config()) {
      complain(
          "--set, --seed, --load and --scale-time change a replay's config, and --state takes no "
          "config");
      return kUsage;
    }
    if (options.inputs.config.empty()) return run_state(options);
    complain("--state has a catalog and tasks of its own: give either that or CONFIG");
    return kUsage;
  }
  if (options.inputs.config.empty()) {
    complain("a replay config is needed, or --state (see muster bound --help)");
    return kUsage;
  }
  if (options.at_s) {
    complain("--at is a time of the event log that --state names");
    return kUsage;
  }
  ReplayInputs inputs;
  if (const ExitCode code = read_inputs(options.inputs, inputs); code != kDone) return code;
  if (!can_write(options.json)) return kFailed;
  BoundLine line;
  auto trials = bound::solve_trials(
      inputs.config, inputs.catalog, inputs.workloads, options.nodes,
      [&](std::uint64_t seed, const bound::FluidProgress& progress) { line.show(seed, progress); });
  line.clear();
  if (!trials) {
    complain(trials.error().message);
    return kFailed;
  }
  if (options.json != "-") {
    std::cout << client::printable(inputs.workloads.front().description) << "\n\n"
              << client::printable_lines(bound::bound_table(trials.value()));
  }
  if (options.json.empty()) return kDone;
  const auto write = [&](std::ostream& out) { out << bound::bound_json(trials.value()); };
  return write_output(options.json, write) ? kDone : kFailed;
}

}  // namespace

void add_bound(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<BoundOptions>();
  CLI::App* command = app.add_subcommand(
      "bound", "Compute a lower bound of any policy's cost on the workload of a replay");
  command->add_option("config", options->inputs.config,
                      "replay config (TOML); or --state, without a config");
  add_input_options(*command, options->inputs);
  command
      ->add_option("--nodes", options->nodes,
                   "sets of tasks that the search may look at; fewer give a lower bound that "
                   "holds as well")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000'000}))
      ->capture_default_str();
  add_json_option(*command, options->json, "the bound");
  command->add_option("--state", options->state,
                      "instead of CONFIG: a lower bound of the cost per hour of the tasks that "
                      "hold resources, beside the present rent; from the store of a master (a "
                      "folder) as it is now, or from an event log (muster replay --events)");
  command
      ->add_option("--at", options->at_s,
                   "seconds of the event log at which it is looked at; its end if not given")
      ->check(number_from(0.0, 3.2e9));
  command->callback([options, &exit_code] { exit_code = run_command(*options); });
}

}  // namespace muster::cli
