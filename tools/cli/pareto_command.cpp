#include <fmt/format.h>

#include <algorithm>
#include <any>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/numbers.hpp"
#include "replay/replay.hpp"
#include "replay/report/progress.hpp"
#include "replay/report/table.hpp"
#include "schedulers/registry.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/json_option.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/replay_inputs.hpp"
#include "tools/cli/side_by_side.hpp"
#include "tools/client/printable.hpp"
#include "tools/pareto/budget_range.hpp"
#include "tools/pareto/frontier_report.hpp"
#include "tools/pareto/rented_gpus.hpp"

// The commands that help to choose a budget for elastic jobs: predictions for several budgets, by
// the width calculator of `boa` and by replays under it, and the cheapest one for a target.

namespace muster::cli {
namespace {

using pareto::FrontierPoint;
using pareto::FrontierReport;
using pareto::Replayed;

/// The policy whose calculator predicts.
constexpr const char* kPlanner = "boa";

/// Options of both commands.
struct PlanOptions {
  ReplayInputOptions inputs;
  std::string policy = kPlanner;
  std::string json;
};

struct ParetoOptions : PlanOptions {
  std::string budgets;
  bool replay = false;
  std::size_t points = 0;
  bool types = false;
  unsigned threads = 0;
  std::string html;
};

struct BudgetOptions : PlanOptions {
  std::string jct;
};

/// Inputs of both commands, read before they plan.
struct PlanInputs : ReplayInputs {
  PolicySpec policy;
  boa::BoaParams params;
  FrontierReport report;
};

/// Reads how the policy plans; it is without a budget, which is what is asked for.
ExitCode read_policy(const PlanOptions& options, PlanInputs& inputs) {
  auto spec = parse_policy(options.policy);
  if (!spec) {
    complain("--policy: " + spec.error().message);
    return kUsage;
  }
  const auto is_budget = [](const auto& param) {
    return param.first == "budget" || param.first == "budget_usd_h";
  };
  const bool has_budget = std::ranges::any_of(spec->params, is_budget);
  if (spec->name != kPlanner || has_budget) {
    complain(fmt::format("--policy has to be boa with its parameters, without a budget; it is {}",
                         options.policy));
    return kUsage;
  }
  const auto params = find_module(kPlanner).value()->read(spec.value());
  if (!params) {
    complain(params.error().message);
    return kUsage;
  }
  inputs.policy = std::move(spec).value();
  inputs.params = std::any_cast<const boa::BoaParams&>(params.value());
  return kDone;
}

/// Reads config, catalog, workload and policy. The first trial's workload stands for all.
ExitCode read_plan_inputs(const PlanOptions& options, PlanInputs& inputs) {
  if (const ExitCode code = read_policy(options, inputs); code != kDone) return code;
  if (const ExitCode code = read_inputs(options.inputs, inputs); code != kDone) return code;
  const replay::CompactWorkload& workload = inputs.workloads.front();
  for (const std::string& fault : pareto::misnamed_classes(workload, inputs.params)) {
    complain(fault);
  }
  auto load = pareto::elastic_load(workload, inputs.catalog, inputs.params);
  if (!load) {
    complain(load.error().message);
    return kFailed;
  }
  inputs.report.workload = workload.description;
  inputs.report.policy = options.policy;
  inputs.report.load = std::move(load).value();
  return kDone;
}

/// Replays the config under the policy with a budget. A replay that fails is a complaint.
std::optional<Replayed> replay_budget(const PlanInputs& inputs, double budget_gpus,
                                      std::function<void(std::size_t, std::size_t)> progress) {
  replay::RunSetup setup;
  setup.config = &inputs.config;
  setup.catalog = &inputs.catalog;
  setup.workload = &inputs.workloads.front();
  setup.policy = inputs.policy;
  const std::string budget = number_text(budget_gpus);
  setup.policy.params.emplace_back("budget", budget);
  setup.label = inputs.report.policy + ",budget=" + budget;
  setup.seed = inputs.config.seed;
  setup.stopwatch = elapsed;
  setup.progress = std::move(progress);
  pareto::RentedGpus rented(inputs.catalog);
  setup.on_event = [&](const Event& event) { rented.apply(event); };
  const auto run = replay::run_replay(setup);
  if (!run) {
    complain(setup.label + ": " + run.error().message);
    return std::nullopt;
  }
  const metrics::RunResult& result = run->result;
  return Replayed{rented.gpu_h(), result.total_cost_usd, result.mean_jct_h.value_or(0) * 3600,
                  result.p95_jct_h.value_or(0) * 3600, result.not_completed.size()};
}

/// Puts replayed points on top of those that are asked for. False after a complaint.
bool replay_points(const ParetoOptions& options, PlanInputs& inputs) {
  pareto::Frontier& frontier = inputs.report.frontier;
  const std::size_t count = options.replay ? frontier.points.size() : options.points;
  const std::vector<std::size_t> chosen = pareto::spread_over(frontier, count);
  report::Progress progress(
      {report::stderr_is_terminal() ? &std::cerr : nullptr, chosen.size(), elapsed});
  std::vector<std::optional<Replayed>> results(chosen.size());
  side_by_side(chosen.size(), options.threads, [&](std::size_t i) {
    // Of a run's thread; Progress has its own lock.
    const auto told = [&progress, i](std::size_t over, std::size_t all) {
      progress.update(i, over, all);
    };
    results[i] = replay_budget(inputs, frontier.points[chosen[i]].budget_gpus, told);
  });
  progress.clear();
  bool all = true;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    all = all && results[i].has_value();
    frontier.points[chosen[i]].replayed = results[i];
  }
  return all;
}

/// Writes to the file that is asked for, if any.
bool write_text(const std::string& file, const std::string& text) {
  return file.empty() || write_output(file, [&](std::ostream& out) { out << text; });
}

int report_frontier(const ParetoOptions& options, const FrontierReport& report) {
  const bool table = options.json != "-" && options.html != "-";
  if (table) {
    std::cout << client::printable_lines(
        pareto::frontier_table(report, report::terminal_width().value_or(report::kTableWidth)));
  }
  bool written = options.json.empty() || write_text(options.json, pareto::frontier_json(report));
  if (!options.html.empty()) {
    written &= write_text(options.html, pareto::frontier_html(report));
    if (written && table) std::cout << "\nreport: " << options.html << "\n";
  }
  return written ? kDone : kFailed;
}

int run_pareto(const ParetoOptions& options) {
  const auto budgets = pareto::parse_budgets(options.budgets);
  if (!budgets) {
    complain(
        fmt::format("--budgets has to be {}; it is {}", pareto::kBudgetsWanted, options.budgets));
    return kUsage;
  }
  if (options.json == "-" && options.html == "-") {
    complain("only one of --json and --html can go to the standard output");
    return kUsage;
  }
  PlanInputs inputs;
  if (const ExitCode code = read_plan_inputs(options, inputs); code != kDone) return code;
  if (!can_write(options.json) || !can_write(options.html)) return kFailed;
  pareto::Frontier& frontier = inputs.report.frontier;
  frontier = pareto::predict_frontier(inputs.report.load, *budgets, inputs.params.plan);
  if (pareto::spread_over(frontier, 1).empty()) {
    complain(fmt::format(
        "no budget of {} GPUs or less can be kept: the load is {:.2f} GPUs, and the cheapest "
        "widths need {:.3f} on average, starts included",
        number_text(budgets->back()), inputs.report.load.load_gpus(), frontier.least_gpus));
    return kFailed;
  }
  if (options.types) {
    if (inputs.report.load.types.size() < 2) {
      complain(
          "--types: the catalog has one family that holds workers of all classes; of training jobs "
          "workload.training.families says how fast they are on others");
      return kFailed;
    }
    pareto::predict_types(inputs.report.load, inputs.params.cold_start, frontier);
  }
  if ((options.replay || options.points > 0) && !replay_points(options, inputs)) return kFailed;
  return report_frontier(options, inputs.report);
}

int run_budget(const BudgetOptions& options) {
  const auto target = parse_duration(options.jct);
  if (!target || *target <= Duration::zero()) {
    complain("--jct should be a length of time above 0, such as 90s or 35min, not '" + options.jct +
             "'");
    return kUsage;
  }
  PlanInputs inputs;
  if (const ExitCode code = read_plan_inputs(options, inputs); code != kDone) return code;
  if (!can_write(options.json)) return kFailed;
  const double target_s = to_seconds(*target);
  FrontierReport& report = inputs.report;
  const auto found = pareto::cheapest_budget(report.load, target_s, inputs.params.plan);
  if (!found) {
    complain(found.error().message);
    return kFailed;
  }
  report.frontier.points = {found.value()};
  report.frontier.points.front().in_nodes =
      pareto::NodePlans(report.load, inputs.params.plan).cheapest(target_s);
  report.frontier.least_gpus = pareto::least_budget(report.load, inputs.params.plan);
  if (options.json != "-")
    std::cout << client::printable_lines(pareto::budget_text(report, target_s));
  return write_text(options.json, pareto::budget_json(report, target_s)) ? kDone : kFailed;
}

void add_plan_options(CLI::App& command, PlanOptions& options) {
  add_config_argument(command, options.inputs);
  command
      .add_option("--policy", options.policy,
                  "boa[,key=value...]: the policy that plans widths and is replayed")
      ->capture_default_str();
  add_input_options(command, options.inputs);
  add_json_option(command, options.json, "the figures");
}

}  // namespace

void add_pareto(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ParetoOptions>();
  CLI::App* command = app.add_subcommand(
      "pareto", "Predict the mean completion time of a replay's elastic jobs for several budgets");
  add_plan_options(*command, *options);
  command
      ->add_option("--budgets", options->budgets,
                   "GPUs that jobs may have on average: FROM:TO:STEP, or one number")
      ->required();
  command->add_flag("--replay", options->replay, "replay the config with each of the budgets");
  command
      ->add_option("--points", options->points,
                   "number of budgets to replay, spread evenly; 0: no replay")
      ->check(CLI::Range(std::size_t{0}, pareto::kMostBudgets));
  command->add_flag("--types", options->types,
                    "compare with GPUs of all families of the catalog for equal dollars");
  command->add_option("--threads", options->threads, "replays at a time; 0: one a core")
      ->check(CLI::Range(0, 1024));
  command->add_option("--html", options->html, "write a page with plots");
  command->callback([options, &exit_code] { exit_code = run_pareto(*options); });

  auto wanted = std::make_shared<BudgetOptions>();
  command = app.add_subcommand(
      "budget", "Find the cheapest budget for a mean completion time of elastic jobs");
  add_plan_options(*command, *wanted);
  command->add_option("--jct", wanted->jct, "mean completion time, at most: 90s, 35min, 1.5h")
      ->required();
  command->callback([wanted, &exit_code] { exit_code = run_budget(*wanted); });
}

}  // namespace muster::cli
