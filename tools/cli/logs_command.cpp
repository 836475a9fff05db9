#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "config/array_indices.hpp"
#include "tools/cli/client_options.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/task_logs.hpp"

namespace muster::cli {
namespace {

using client::ClientError;
using client::JobDetails;

constexpr Duration kPause = std::chrono::milliseconds{500};
constexpr Duration kLongestPause = std::chrono::minutes{1};
/// So many times as long as a look has taken nobody looks: of a large array it is work for masters.
constexpr int kPausePerLook = 10;
constexpr std::uint64_t kMostLines = 1'000'000'000;

struct LogsOptions {
  ClientOptions client;
  LogWish wish;
  std::string tasks;  ///< as of an array; empty: all
  bool follow = false;
};

/// Prints what the wanted tasks of a job write.
class JobLogs {
 public:
  JobLogs(client::ApiClient& api, const LogsOptions& options) : api_(api), options_(options) {}

  /// Finds the tasks; an exit code when there are none to read.
  std::optional<int> choose_tasks();
  /// Prints what is there, one task after the other.
  int print_present();
  /// Prints lines as they come until the tasks are over, through all their attempts.
  int follow();

 private:
  Expected<JobDetails, ClientError> look() const;
  int exit_code() const;

  client::ApiClient& api_;
  const LogsOptions& options_;
  std::vector<TaskLog> logs_;
};

std::optional<int> JobLogs::choose_tasks() {
  std::vector<std::uint64_t> tasks;
  if (!options_.tasks.empty()) {
    const auto wanted = parse_array(options_.tasks);
    if (!wanted || wanted->max_running > 0) {
      complain("--task: has to be indices of tasks like 3 or 0-9,12; " +
               (wanted ? "it has a %" : wanted.error().message));
      return kUsage;
    }
    tasks.assign(wanted->indices.begin(), wanted->indices.end());
  } else {
    const auto job = look();
    if (!job) return complain_of(job.error());
    for (const client::TaskAnswer& task : job->tasks) tasks.push_back(task.task);
    if (tasks.empty()) {
      complain(fmt::format("job {} has no tasks that are known yet: it is {}", options_.wish.job,
                           job->job.state));
      return kFailed;
    }
  }
  for (const std::uint64_t task : tasks) logs_.emplace_back(api_, options_.wish, task);
  return std::nullopt;
}

Expected<JobDetails, ClientError> JobLogs::look() const {
  const auto answer = api_.get(fmt::format("/v1/jobs/{}", options_.wish.job));
  if (!answer) return answer.error();
  return client::job_details(answer.value());
}

int JobLogs::exit_code() const {
  return std::any_of(logs_.begin(), logs_.end(), [](const TaskLog& log) { return log.lost(); })
             ? kFailed
             : kDone;
}

/// A task that has none is no reason to be silent about the others.
int JobLogs::print_present() {
  LogPrinter out(logs_.size() > 1);
  bool failed = false;
  for (TaskLog& log : logs_) {
    if (const auto failure = log.print_present(out)) {
      if (failure->code != ClientError::not_found) return complain_of(*failure);
      out.end_line();
      complain(failure->message);
      failed = true;
    }
    out.end_line();
  }
  return failed ? kFailed : exit_code();
}

int JobLogs::follow() {
  LogPrinter out(logs_.size() > 1);
  while (true) {
    // Looked at first, so that what was written before the end is read after it.
    const auto begin = std::chrono::steady_clock::now();
    auto job = look();
    const Duration took = std::chrono::steady_clock::now() - begin;
    if (!job) return complain_of(job.error());
    std::map<std::uint64_t, client::TaskAnswer*> tasks;
    for (client::TaskAnswer& task : job->tasks) tasks[task.task] = &task;
    bool more = false;
    for (TaskLog& log : logs_) {
      if (log.done()) continue;
      const auto found = tasks.find(log.task());
      if (found == tasks.end()) {
        complain(fmt::format("job {} has no task {}", options_.wish.job, log.task()));
        return kFailed;
      }
      client::TaskAnswer& task = *found->second;
      // A task of a job that is over will not run, whatever it waits for.
      if (job->job.over() && !task.over()) task.phase = "failed";
      if (const auto failure = log.print_new(task, out)) return complain_of(*failure);
      more |= !log.done();
    }
    if (!more) break;
    std::this_thread::sleep_for(std::clamp(took * kPausePerLook, kPause, kLongestPause));
  }
  out.end_line();
  return exit_code();
}

int run_command(LogsOptions& options) {
  options.wish.json = options.client.json;
  const auto api = connect(options.client);
  if (!api) return kFailed;
  JobLogs logs(*api, options);
  if (const auto exit_code = logs.choose_tasks()) return *exit_code;
  return options.follow ? logs.follow() : logs.print_present();
}

}  // namespace

void add_logs(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<LogsOptions>();
  CLI::App* command = app.add_subcommand("logs", "Print what tasks have written");
  LogWish& wish = options->wish;
  command->add_option("job", wish.job, "id of a job")->required()->check(is_id());
  command
      ->add_option("--task", options->tasks,
                   "indices of tasks: 3, or 0-9,12; default: all. Of several, each line begins "
                   "with its task: [3]")
      ->check(is_filter());
  command->add_option("--attempt", wish.attempt, "which attempt; default: the latest");
  command->add_option("--tail", wish.tail, "only so many lines at the end")
      ->check(CLI::Range(std::uint64_t{0}, kMostLines));
  command->add_flag("--err", wish.err, "their standard error instead of their standard output");
  command->add_flag("-f,--follow", options->follow, "go on until the tasks are over");
  add_client_options(*command, options->client);
  command->callback([options, &exit_code] { exit_code = run_command(*options); });
}

}  // namespace muster::cli
