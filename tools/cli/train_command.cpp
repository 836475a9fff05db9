// Trains the classifier of short and long jobs from a history, tests it on the later part, and
// writes the model. Outputs are tried first, as a training may take long.

#include <fmt/format.h>

#include <iostream>
#include <limits>
#include <memory>
#include <string>

#include "config/numbers.hpp"
#include "replay/report/progress.hpp"
#include "replay/workload/stated_truth.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/json_option.hpp"
#include "tools/cli/output.hpp"
#include "tools/train/report.hpp"

namespace muster::cli {
namespace {

struct TrainOptions {
  std::string history;
  std::string format = "muster-csv";
  std::string out;
  std::string threshold = "10min";
  double test_share = 0.3;
  std::uint32_t max_jobs = 0;
  std::string weights = "balanced";
  std::string json;
  ClassifierParams params;
};

/// Complains of what is wrong with the options before anything is read.
ExitCode check_options(const TrainOptions& options, Duration& threshold) {
  const auto parsed = parse_duration(options.threshold);
  if (!parsed || *parsed <= Duration::zero()) {
    complain("--threshold should be a length of time above 0, such as 90s or 10min, not '" +
             options.threshold + "'");
    return kUsage;
  }
  threshold = *parsed;
  if (options.out == "-" && options.json == "-") {
    complain("only one of --out and --json can go to the standard output");
    return kUsage;
  }
  return can_write(options.out) && can_write(options.json) ? kDone : kFailed;
}

/// Trains, with a line that shows how far it is where somebody sees it.
train::Outcome train_watched(const train::History& history, const ClassifierParams& params) {
  const TrainParams& grid = params.training;
  // One step for each combination of parameters that the cross-validation tries.
  report::Progress line({.out = report::stderr_is_terminal() ? &std::cerr : nullptr,
                         .runs = grid.c.size() * grid.gamma.size() * grid.coef0.size(),
                         .elapsed = elapsed,
                         .noun = "combinations"});
  return train::train_and_test(history, params,
                               [&](std::size_t done, std::size_t) { line.update(done - 1, 1, 1); });
}

int run_command(const TrainOptions& options) {
  ClassifierParams params = options.params;
  if (options.weights == "equal") params.training.weights = ClassWeights::equal;
  if (const auto code = check_options(options, params.training.threshold); code != kDone) {
    return code;
  }
  WorkloadConfig config;
  config.format = options.format;
  config.path = options.history;
  config.max_jobs = options.max_jobs;
  const auto workload = replay::read_workload(config, params.training.seed);
  if (!workload) {
    complain(workload.error().message);
    return kFailed;
  }
  // Where the truth is stated no predictor may learn from it.
  params.predict.limits = !replay::states_truth(workload.value());
  const train::History history = train::make_history(workload.value(), options.test_share);
  const std::size_t known = train::known_jobs(history, params.training.threshold).size();
  // All jobs overlap, or the threshold lies beyond the history: no length was known at the time of
  // training.
  if (known == 0) {
    complain(fmt::format(
        "{}: all of its {} jobs ended after the later part began; there is nothing to learn from",
        options.history, history.jobs.size()));
    return kFailed;
  }
  const train::Outcome outcome = train_watched(history, params);
  const auto write = [](const std::string& file, const std::string& text) {
    return write_output(file, [&](std::ostream& out) { out << text; });
  };
  // The model before the report: it is the result, and a report that fails must not cost it.
  if (!write(options.out, outcome.model)) return kFailed;
  const train::Subject subject{workload->description, history, params, outcome};
  // Standard output holds one document at a time.
  if (options.out != "-" && options.json != "-") std::cout << train::text_report(subject);
  if (options.json.empty()) return kDone;
  return write(options.json, train::json_report(subject)) ? kDone : kFailed;
}

}  // namespace

void add_train(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<TrainOptions>();
  TrainParams& training = options->params.training;
  CLI::App* command =
      app.add_subcommand("train", "Learn from a history which jobs are short and which are long");
  command->add_option("--history", options->history, "the workload to learn from");
  command
      ->add_option("--format", options->format, "format of the history")
      // A synthetic workload is drawn by chance and has nothing that can be learnt.
      ->check(CLI::Validator(
          [](const std::string& name) {
            return name == "synthetic" ? std::string("a synthetic workload is no history")
                                       : std::string();
          },
          ""))
      ->capture_default_str();
  command->add_option("--out", options->out, "the model to write; - for standard output");
  command
      ->add_option("--threshold", options->threshold,
                   "T_th: jobs whose tasks run no longer, on average, are short")
      ->capture_default_str();
  command
      ->add_option("--test-share", options->test_share,
                   "share of the jobs, the last ones, that are kept for the test")
      ->check(number_from(0.0, 0.9))
      ->capture_default_str();
  command
      ->add_option("--max-jobs", options->max_jobs,
                   "number of jobs to take, from the first; 0: all")
      ->check(CLI::Range(0, 10'000'000));
  command->add_option("--folds", training.folds, "parts of the cross-validation")
      ->check(CLI::Range(2, 100))
      ->capture_default_str();
  command->add_option("--seed", training.seed, "seed of the folds")
      ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()))
      ->capture_default_str();
  command->add_option("--max-samples", training.max_samples, "jobs that a training looks at")
      ->check(CLI::Range(20, 20'000))
      ->capture_default_str();
  command
      ->add_option("--weights", options->weights,
                   "balanced: both lengths count as much; equal: every job does")
      ->check(CLI::IsMember({"balanced", "equal"}))
      ->capture_default_str();
  add_json_option(*command, options->json, "the report");
  add_train_services(*command, exit_code);
  command->callback([options, command, &exit_code] {
    if (!command->get_subcommands().empty()) return;
    // Not of the command in itself: its subcommand does without them.
    for (const char* name : {"--history", "--out"}) {
      if (command->count(name) == 0) throw CLI::RequiredError(name);
    }
    exit_code = run_command(*options);
  });
}

}  // namespace muster::cli
