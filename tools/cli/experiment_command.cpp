// Runs a grid of replays, each as a process of this very program, and puts together what they gave.

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "replay/replay_parts.hpp"
#include "replay/report/progress.hpp"
#include "replay/report/table.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/interrupt_watch.hpp"
#include "tools/cli/json_option.hpp"
#include "tools/cli/output.hpp"
#include "tools/client/printable.hpp"
#include "tools/experiment/digest.hpp"
#include "tools/experiment/seed_list.hpp"
#include "tools/experiment/session.hpp"

namespace muster::cli {
namespace {

using experiment::PlannedRun;
using experiment::Results;

// The program that runs, whatever its file has become since it began.
constexpr const char* kThisProgram = "/proc/self/exe";

struct ExperimentOptions {
  std::string file;
  std::string out;
  std::string seeds;
  std::vector<std::string> overrides;
  unsigned jobs = 0;
  bool fresh = false;
  bool dry_run = false;
  std::string json;
};

std::string command_of(const ExperimentOptions& options) {
  std::vector<std::string> words = {"muster", "experiment", options.file};
  if (!options.out.empty()) words.insert(words.end(), {"--out", options.out});
  if (!options.seeds.empty()) words.insert(words.end(), {"--seeds", options.seeds});
  for (const std::string& text : options.overrides) words.insert(words.end(), {"--set", text});
  if (options.jobs > 0) words.insert(words.end(), {"--jobs", std::to_string(options.jobs)});
  if (options.fresh) words.emplace_back("--fresh");
  return experiment::shell_text(words);
}

/// Reads and checks the experiment and all its runs; complains of what is wrong with them.
ExitCode prepare(const ExperimentOptions& options, Results& results) {
  experiment::PlanLimits limits{.overrides = options.overrides, .seeds = {}};
  if (!options.seeds.empty()) {
    const auto seeds = experiment::parse_seeds(options.seeds);
    if (!seeds) {
      complain(
          fmt::format("--seeds has to be {}; it is {}", experiment::kSeedsWanted, options.seeds));
      return kUsage;
    }
    limits.seeds.emplace(seeds->begin(), seeds->end());
  }
  for (const std::string& text : options.overrides) {
    if (!experiment::is_of_the_grid(text.substr(0, text.find('=')))) continue;
    complain("--set " + text +
             ": cannot be set: seeds and policies stand in the experiment's file, and --seeds "
             "chooses among the seeds");
    return kUsage;
  }
  auto loaded = experiment::load_experiment(options.file);
  if (!loaded) {
    complain(loaded.error().message);
    return loaded.error().code == experiment::ExperimentError::unreadable ? kFailed : kUsage;
  }
  results.experiment = std::move(loaded).value();
  auto plan = experiment::lay_out(results.experiment, limits);
  if (!plan) {
    complain(plan.error().message);
    return kUsage;
  }
  results.plan = std::move(plan).value();
  const auto program = experiment::digest_of_path(kThisProgram);
  if (!program) {
    complain("cannot read the program's own file, by which results are told apart");
    return kFailed;
  }
  experiment::RunKeys keys(replay::replay_parts(), *program);
  auto all = experiment::keys_of(results.experiment, results.plan, keys);
  if (!all) {
    complain(all.error().message);
    return kUsage;
  }
  results.keys = std::move(all).value();
  results.provenance = experiment::provenance_of(MUSTER_VERSION, *program, command_of(options));
  return kDone;
}

std::size_t count_of_missing(const Results& results) {
  std::set<std::string> missing;
  for (std::size_t i = 0; i < results.keys.size(); ++i) {
    if (!results.records[i]) missing.insert(results.keys[i]);
  }
  return missing.size();
}

std::size_t count_of_all(const Results& results) {
  return std::set<std::string>(results.keys.begin(), results.keys.end()).size();
}

int list_runs(const Results& results) {
  for (std::size_t i = 0; i < results.keys.size(); ++i) {
    std::cout << (results.records[i] ? "done   " : "to do  ")
              << client::printable(name_of(results.experiment, results.plan, results.plan.runs[i]))
              << "\n";
  }
  const std::size_t all = count_of_all(results);
  std::cout << fmt::format("\n{} of {} runs are done\n", all - count_of_missing(results), all);
  return kDone;
}

/// Does what is missing, with a bar where somebody sees it and else a line a run.
experiment::Outcome do_runs(const ExperimentOptions& options, const Results& results,
                            const experiment::ResultFolder& folder) {
  const std::size_t missing = count_of_missing(results);
  if (missing == 0) return {};
  const bool watched = report::stderr_is_terminal();
  report::Progress line({watched ? &std::cerr : nullptr, missing, elapsed});
  // hardware_concurrency() may be 0 when it is not known.
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  const InterruptWatch watch;
  experiment::SessionSetup setup;
  setup.program = kThisProgram;
  setup.at_once = options.jobs > 0 ? options.jobs : cores;
  setup.pause = [&](Duration length) { return watch.pause(length); };
  setup.elapsed = elapsed;
  setup.told = [&](std::size_t over, std::size_t all, const PlannedRun& run,
                   const std::string& fault) {
    line.update(over - 1, 1, 1);
    if (watched) return;
    std::cerr << fmt::format("[{}/{}] {}{}\n", over, all,
                             name_of(results.experiment, results.plan, run),
                             fault.empty() ? "" : ": failed");
  };
  return experiment::do_missing(results, folder, setup);
}

int report_all(const ExperimentOptions& options, const Results& results,
               const experiment::ResultFolder& folder) {
  const std::string unwritten = experiment::write_results(results, folder.path());
  if (!unwritten.empty()) {
    complain("cannot write " + unwritten + ": is the disk full?");
    return kFailed;
  }
  if (options.json != "-") {
    std::cout << client::printable_lines(experiment::results_text(
                     results, report::terminal_width().value_or(report::kTableWidth)))
              << "report: " << (folder.path() / "report.html").string() << "\n";
  }
  const bool written = options.json.empty() || write_output(options.json, [&](std::ostream& out) {
                         out << experiment::results_json(results);
                       });
  return written ? kDone : kFailed;
}

int run_command(const ExperimentOptions& options) {
  Results results;
  if (const ExitCode code = prepare(options, results); code != kDone) return code;
  const std::filesystem::path out =
      options.out.empty() ? std::filesystem::path("experiments") / results.experiment.name
                          : std::filesystem::path(options.out);
  if (options.dry_run) {
    results.records = experiment::read_records(out, results.keys);
    return list_runs(results);
  }
  if (!can_write(options.json)) return kFailed;
  const auto folder = experiment::ResultFolder::open(out);
  if (!folder) {
    complain(folder.error().message);
    return kFailed;
  }
  if (options.fresh) {
    for (const std::string& key : results.keys) folder->forget(key);
  }
  results.records = experiment::read_records(out, results.keys);
  const experiment::Outcome outcome = do_runs(options, results, folder.value());
  results.records = experiment::read_records(out, results.keys);
  for (const experiment::FailedRun& run : outcome.failed) {
    complain(fmt::format("{} failed:\n{}",
                         name_of(results.experiment, results.plan, results.plan.runs[run.run]),
                         run.reason));
  }
  if (!outcome.fault.empty()) complain(outcome.fault);
  const std::size_t all = count_of_all(results);
  if (outcome.interrupted) {
    complain(fmt::format("interrupted; {} of {} runs are done, and the same command does the rest",
                         all - count_of_missing(results), all));
  }
  if (outcome.interrupted || !outcome.fault.empty()) return kFailed;
  std::vector<std::optional<experiment::RunJson>> runs;
  for (const auto& record : results.records) {
    runs.push_back(record ? std::optional(record->at("run")) : std::nullopt);
  }
  results.findings = experiment::find(results.plan, runs);
  const int written = report_all(options, results, folder.value());
  if (outcome.failed.empty()) return written;
  complain(fmt::format("{} of {} runs failed; the same command tries them again",
                       outcome.failed.size(), all));
  return kFailed;
}

}  // namespace

void add_experiment(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ExperimentOptions>();
  CLI::App* command = app.add_subcommand(
      "experiment", "Replay a grid of configs, policies and seeds, and compare with error bars");
  command->add_option("file", options->file, "experiment (TOML)")->required();
  command->add_option("--out", options->out,
                      "folder of the results; experiments/NAME if not given");
  command->add_option("--jobs", options->jobs, "runs at a time; 0: one a core")
      ->check(CLI::Range(0, 1024));
  command->add_option("--seeds", options->seeds, "only these of its seeds, such as 1-3,7");
  command->add_option("--set", options->overrides,
                      "dotted.key=value, overrides the config of every run");
  command->add_flag("--fresh", options->fresh, "do all runs, also those that have a result");
  command->add_flag("--dry-run", options->dry_run, "list the runs and which are done");
  add_json_option(*command, options->json, "the results");
  command->callback([options, &exit_code] { exit_code = run_command(*options); });
}

}  // namespace muster::cli
