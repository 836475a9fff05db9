#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/key_place.hpp"
#include "config/replay_config.hpp"
#include "replay/metrics/metric_table.hpp"
#include "replay/replay.hpp"
#include "replay/report/html_report.hpp"
#include "replay/report/json_report.hpp"
#include "replay/report/progress.hpp"
#include "replay/report/table.hpp"
#include "storage/events/event_log.hpp"
#include "tools/bound/hosting_bounds.hpp"
#include "tools/bound/solve_trials.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/json_option.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/replay_inputs.hpp"
#include "tools/cli/side_by_side.hpp"
#include "tools/client/printable.hpp"
#include "tools/pareto/frontier.hpp"

// The command that replays a workload under several policies and seeds. All inputs are read and all
// outputs tried before the first run: runs may take hours, and a mistake in a name should not show
// after them. Runs share only what they do not change.

namespace muster::cli {
namespace {

using metrics::RunResult;
using replay::RunSetup;

struct ReplayOptions {
  ReplayInputOptions inputs;
  std::vector<std::string> policies;
  unsigned jobs = 0;
  bool bound = false;
  std::string json;
  std::string html;
  std::string events;
};

/// One run that is wanted, and its outcome.
struct Planned {
  RunSetup setup;
  bool bound = false;  ///< how far what is rented lies above its bound is wanted
  std::optional<RunResult> result;
  std::string error;
};

/// Everything that the runs share, read before the first one starts.
struct Session : ReplayInputs {
  std::vector<Planned> runs;
  std::vector<bound::TrialBound> bounds;  ///< one a trial, where they are wanted
};

/// The file for the events of run `index`: the name itself when there is one run, else with policy
/// and seed, and a number for a policy that is compared with itself.
std::string events_file(const std::string& wanted, const Session& session, std::size_t index) {
  if (wanted.empty() || session.runs.size() == 1) return wanted;
  const auto label_of = [](const Planned& run) {
    return run.setup.label + "." + std::to_string(run.setup.seed);
  };
  std::string label = label_of(session.runs[index]);
  std::size_t before = 0;
  // A policy compared with itself gives equal labels; files must not overwrite each other.
  for (std::size_t i = 0; i < index; ++i) before += label_of(session.runs[i]) == label;
  if (before > 0) label += "." + std::to_string(before + 1);
  // Labels may hold paths, as parameters of policies do.
  std::replace(label.begin(), label.end(), '/', '_');
  const std::filesystem::path path(wanted);
  const std::string name = path.stem().string() + "." + label + path.extension().string();
  return (path.parent_path() / name).string();
}

/// Where the policy with this number was named.
std::string policy_place(const ReplayOptions& options, std::size_t index) {
  if (!options.policies.empty()) return "--policy";
  return key_place(options.inputs.config, options.inputs.overrides,
                   fmt::format("policies[{}]", index));
}

/// Lays out one run a policy and trial. False after a complaint.
bool plan_runs(const ReplayOptions& options, Session& session) {
  for (std::size_t trial = 0; trial < session.workloads.size(); ++trial) {
    for (std::size_t i = 0; i < session.config.policies.size(); ++i) {
      const std::string& label = session.config.policies[i];
      auto spec = parse_policy(label);
      const std::string fault =
          spec ? replay::policy_fault(spec.value(), session.catalog) : spec.error().message;
      if (!fault.empty()) {
        complain(policy_place(options, i) + ": " + fault);
        return false;
      }
      Planned planned;
      planned.setup.config = &session.config;
      planned.setup.catalog = &session.catalog;
      planned.setup.workload = &session.workloads[trial];
      planned.setup.policy = std::move(spec).value();
      planned.setup.label = label;
      // Every policy meets the same seeds, so that a difference is the policy's.
      planned.setup.seed = session.config.seed + trial;
      planned.setup.stopwatch = elapsed;
      session.runs.push_back(std::move(planned));
    }
  }
  return true;
}

/// Runs, takes the digest of the log on the way and writes the log where that is wanted. False when
/// the log could not be written.
bool perform(Planned& planned, std::ostream* log) {
  const LogHeader header{planned.setup.label, planned.setup.seed, *planned.setup.catalog};
  EventLogWriter writer(log, header);
  RunSetup setup = planned.setup;
  bool begun = false;
  bound::RentedGap gap(*planned.setup.catalog);
  setup.on_event = [&](const Event& event) {
    begun = true;
    writer.write(event);
    if (planned.bound) gap.see(event);
  };
  auto run = replay::run_replay(setup);
  auto digest = writer.finish();
  if (!run) {
    planned.error = run.error().message;
    // False drops the file; the error itself is reported with the run.
    return begun && digest.has_value();  // the log of a run that never began does not count
  }
  if (!digest) return false;
  planned.result = std::move(run->result);
  planned.result->event_log_sha256 = std::move(digest).value();
  if (planned.bound) planned.result->rented_above = gap.above();
  return true;
}

void perform(Planned& planned, const std::string& file) {
  bool complete = false;
  const bool written = file.empty() ? (complete = perform(planned, nullptr))
                                    : write_or_drop(file, [&](std::ostream& out) {
                                        return complete = perform(planned, &out);
                                      });
  if (written && complete) return;
  // A result whose log is not there would be reported as complete.
  planned.result.reset();
  if (planned.error.empty()) {
    planned.error = file + ": the event log could not be written in full: is the disk full?";
  }
}

/// Runs everything on as many threads as asked for; each run is a world of its own.
void perform_all(const ReplayOptions& options, Session& session) {
  report::Progress progress(
      {report::stderr_is_terminal() ? &std::cerr : nullptr, session.runs.size(), elapsed});
  for (std::size_t i = 0; i < session.runs.size(); ++i) {
    session.runs[i].setup.progress = [&progress, i](std::size_t over, std::size_t all) {
      // From the run's thread; Progress has its own lock.
      progress.update(i, over, all);
    };
  }
  side_by_side(session.runs.size(), options.jobs, [&](std::size_t i) {
    perform(session.runs[i], events_file(options.events, session, i));
  });
  progress.clear();
}

/// Says which jobs did not complete, and how many, once a run. False when there are any.
bool list_incomplete(const std::vector<RunResult>& results) {
  constexpr std::size_t kShown = 10;
  bool all_completed = true;
  for (const RunResult& result : results) {
    const std::size_t count = result.not_completed.size();
    if (count == 0) continue;
    all_completed = false;
    for (std::size_t i = 0; i < std::min(count, kShown); ++i) {
      const auto& [job, reason] = result.not_completed[i];
      std::cerr << client::printable(
                       fmt::format("{}: job {} did not complete: {}", result.policy, job, reason))
                << "\n";
    }
    if (count > kShown) {
      std::cerr << result.policy << ": " << count - kShown << " more did not complete\n";
    }
    complain(fmt::format("under {} {} of {} jobs did not complete", result.policy, count,
                         result.jobs_submitted));
  }
  return all_completed;
}

/// The bound of each trial, on which its runs stand. False after a complaint.
bool find_bounds(Session& session) {
  auto bounds = bound::solve_trials(session.config, session.catalog, session.workloads);
  if (!bounds) {
    complain(bounds.error().message);
    return false;
  }
  session.bounds = std::move(bounds).value();
  return true;
}

int report_all(const ReplayOptions& options, const Session& session) {
  std::vector<RunResult> results;
  for (const Planned& run : session.runs) {
    if (!run.result) {
      complain(run.error);
      return kFailed;
    }
    results.push_back(*run.result);
    for (const bound::TrialBound& trial : session.bounds) {
      if (trial.seed == results.back().seed) results.back().bound_usd = trial.bound.bound_usd;
    }
  }
  // Once all are there: ratios are to the first policy's run with the same seed.
  metrics::normalize(results);
  const bool all_completed = list_incomplete(results);
  for (const std::string& line : report::solver_failures(results)) {
    std::cerr << client::printable(line) << "\n";
  }
  // Standard output is one document or the table, never both.
  const bool table = options.json != "-" && options.html != "-" && options.events != "-";
  if (table) {
    std::cout << client::printable(session.workloads.front().description) << "\n\n"
              << client::printable_lines(report::summary_table(
                     results, report::terminal_width().value_or(report::kTableWidth)));
  }
  // Every output is tried even when one of them fails.
  bool written = true;
  if (!options.json.empty()) {
    written &=
        write_output(options.json, [&](std::ostream& out) { out << report::json_report(results); });
  }
  if (!options.html.empty()) {
    written &= write_output(options.html, [&](std::ostream& out) {
      out << report::html_report(session.config.name, results);
    });
    if (written && table) std::cout << "\nreport: " << options.html << "\n";
  }
  return written && all_completed ? kDone : kFailed;
}

/// Where results may go: at most one of them to the standard output, the others to files that can
/// be written. Tried before the runs, which may take long.
ExitCode check_outputs(const ReplayOptions& options, const Session& session) {
  const std::string dash = "-";
  const int to_standard =
      (options.json == dash) + (options.html == dash) + (options.events == dash);
  if (to_standard > 1) {
    complain("only one of --json, --html and --events can go to the standard output");
    return kUsage;
  }
  if (options.events == dash && session.runs.size() > 1) {
    complain("--events - takes one run; there are " + std::to_string(session.runs.size()));
    return kUsage;
  }
  bool writable = can_write(options.json) && can_write(options.html);
  for (std::size_t i = 0; writable && i < session.runs.size(); ++i) {
    writable = can_write(events_file(options.events, session, i));
  }
  return writable ? kDone : kFailed;
}

/// Warns of a policy that is named more than once: its runs are equal, and in the table they are
/// one row, as those of several seeds are.
void warn_of_repeated(const std::vector<std::string>& policies) {
  for (auto at = policies.begin(); at != policies.end(); ++at) {
    if (std::count(policies.begin(), at, *at) != 1) continue;
    complain(
        fmt::format("{} is named {} times: its runs are equal, whatever the spread says; "
                    "other seeds are had by --set trials=N",
                    *at, std::count(policies.begin(), policies.end(), *at)));
  }
}

/// Says before the runs which policies have budgets that do not fit the first trial's jobs.
void warn_of_budgets(const Session& session) {
  const bool fixed =
      !session.config.fleet.texts.empty() && !session.config.master.rent_beyond_fleet;
  const bool rents = !fixed && !session.config.master.caps.any();
  for (const Planned& run : session.runs) {
    if (run.setup.workload != &session.workloads.front()) continue;
    for (const std::string& fault :
         pareto::budget_faults(run.setup.policy, *run.setup.workload, session.catalog, rents)) {
      complain(run.setup.label + ": " + fault);
    }
  }
}

int run_command(const ReplayOptions& options) {
  Session session;
  if (const ExitCode code = read_inputs(options.inputs, session); code != kDone) return code;
  if (!options.policies.empty()) session.config.policies = options.policies;
  if (!plan_runs(options, session)) return kUsage;
  if (const ExitCode code = check_outputs(options, session); code != kDone) return code;
  warn_of_repeated(session.config.policies);
  warn_of_budgets(session);
  if (options.bound && !find_bounds(session)) return kFailed;
  for (Planned& run : session.runs) run.bound = options.bound;
  perform_all(options, session);
  return report_all(options, session);
}

}  // namespace

void add_replay(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ReplayOptions>();
  CLI::App* command =
      app.add_subcommand("replay", "Replay a workload in virtual time and say what it would cost");
  add_config_argument(*command, options->inputs);
  command->add_option("--policy", options->policies,
                      "NAME[,key=value...]; several compare, the first is the baseline");
  add_input_options(*command, options->inputs);
  command->add_option("--threads", options->jobs, "runs at a time; 0: one a core")
      ->check(CLI::Range(0, 1024));
  command->add_flag("--bound", options->bound,
                    "show each run's cost above the lower bound (see muster bound), and its rent "
                    "above the need of its tasks at each moment");
  add_json_option(*command, options->json, "the results");
  command->add_option("--html", options->html, "write a report with plots");
  command->add_option("--events", options->events, "write the event log, for muster explain");
  command->callback([options, &exit_code] { exit_code = run_command(*options); });
}

}  // namespace muster::cli
