#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/bound/bound_report.hpp"
#include "tools/bound/solve_trials.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/replay_inputs.hpp"
#include "tools/client/printable.hpp"
#include "tools/report/progress.hpp"

// The command that says what no policy can cost less than, on a workload that `muster replay`
// would replay.

namespace muster::cli {
namespace {

struct BoundOptions {
  ReplayInputOptions inputs;
  std::uint64_t nodes = bound::kNodes;
  std::string json;
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

int run_command(const BoundOptions& options) {
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
              << bound::bound_table(trials.value());
  }
  if (options.json.empty()) return kDone;
  const auto write = [&](std::ostream& out) { out << bound::bound_json(trials.value()); };
  return write_output(options.json, write) ? kDone : kFailed;
}

}  // namespace

void add_bound(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<BoundOptions>();
  CLI::App* command = app.add_subcommand(
      "bound", "Say what no policy can cost less than on the workload of a replay");
  add_config_argument(*command, options->inputs);
  add_input_options(*command, options->inputs);
  command
      ->add_option("--nodes", options->nodes,
                   "sets of tasks that the search may look at; fewer give a lower bound that "
                   "holds as well")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000'000}))
      ->capture_default_str();
  command->add_option("--json", options->json, "write the bound as JSON; - for standard output");
  command->callback([options, &exit_code] { exit_code = run_command(*options); });
}

}  // namespace muster::cli
