// Scores all ways to predict run times on a history, each as it would have predicted live.

#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <string>

#include "config/numbers.hpp"
#include "replay/workload/stated_truth.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/json_option.hpp"
#include "tools/cli/output.hpp"
#include "tools/client/printable.hpp"
#include "tools/train/run_times.hpp"

namespace muster::cli {
namespace {

struct PredictOptions {
  std::string history;
  std::string format = "muster-csv";
  std::string threshold = "10min";
  std::uint32_t max_jobs = 0;
  bool no_limits = false;
  std::string json;
  std::string ratios;
  train::ScoreSetup setup;
};

int run_command(const PredictOptions& options) {
  const auto threshold = parse_duration(options.threshold);
  if (!threshold || *threshold <= Duration::zero()) {
    complain("--threshold should be a length of time above 0, such as 90s or 10min, not '" +
             options.threshold + "'");
    return kUsage;
  }
  if (!can_write(options.json) || !can_write(options.ratios)) return kFailed;
  WorkloadConfig config;
  config.format = options.format;
  config.path = options.history;
  config.max_jobs = options.max_jobs;
  const auto workload = replay::read_workload(config, 1);
  if (!workload) {
    complain(workload.error().message);
    return kFailed;
  }
  const bool told = replay::states_truth(workload.value());
  train::ScoreSetup setup = options.setup;
  setup.threshold = *threshold;
  setup.predict.limits = !options.no_limits && !told;
  const auto scores = train::score_run_times(train::make_history(workload.value(), 0), setup);
  if (options.json != "-") {
    std::cout << fmt::format("{}, {} jobs, the first {:g}% of them to warm up\n",
                             client::printable(workload->description), workload->jobs.size(),
                             setup.warm_up * 100);
    if (told) std::cout << "the stated run times are the true ones: no limits are learnt from\n";
    std::cout << client::printable_lines(train::run_times_text(scores, setup));
  }
  const auto write = [](const std::string& file, const std::string& text) {
    return file.empty() || write_output(file, [&](std::ostream& out) { out << text; });
  };
  if (!write(options.ratios, train::ratios_csv(scores.front()))) return kFailed;
  return write(options.json, train::run_times_json(scores, setup)) ? kDone : kFailed;
}

}  // namespace

void add_predict(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<PredictOptions>();
  PredictParams& predict = options->setup.predict;
  CLI::App* command =
      app.add_subcommand("predict", "Score the ways to predict run times on a history");
  command->add_option("--history", options->history, "the workload to go through")->required();
  command->add_option("--format", options->format, "format of the history")->capture_default_str();
  command
      ->add_option("--max-jobs", options->max_jobs,
                   "number of jobs to take, from the first; 0: all")
      ->check(CLI::Range(0, 10'000'000));
  command
      ->add_option("--warm-up", options->setup.warm_up,
                   "share of the jobs, the first ones, that are not scored")
      ->check(number_from(0.0, 0.9))
      ->capture_default_str();
  command
      ->add_option("--threshold", options->threshold,
                   "T_th: jobs that SORS is asked about are short")
      ->capture_default_str();
  command->add_option("--values", predict.values, "predict.values: of each feature, remembered")
      ->check(CLI::Range(1U, kMostValues))
      ->capture_default_str();
  command->add_option("--kept", predict.history, "predict.history: run times kept with each value")
      ->check(CLI::Range(1U, kMostHistory))
      ->capture_default_str();
  command->add_flag("--no-limits", options->no_limits,
                    "predict.limits=false: do not learn from what users state");
  command->add_option("--ratios", options->ratios,
                      "write how far the first way was off, as workload.stated.errors reads it");
  add_json_option(*command, options->json, "the scores");
  command->callback([options, &exit_code] { exit_code = run_command(*options); });
}

}  // namespace muster::cli
