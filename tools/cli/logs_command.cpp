#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "tools/cli/client_options.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"

namespace muster::cli {
namespace {

using client::ClientError;
using client::TaskAnswer;

constexpr std::uint32_t kPartBytes = 256 * 1024;
constexpr Duration kPause = std::chrono::milliseconds{500};

struct LogsOptions {
  ClientOptions client;
  std::uint64_t job = 0;
  std::optional<std::uint64_t> task;
  std::optional<std::uint64_t> attempt;
  bool err = false;
  bool follow = false;
};

/// Prints what one task writes.
class LogReader {
 public:
  LogReader(client::ApiClient& api, const LogsOptions& options) : api_(api), options_(options) {}

  /// Finds the task; an exit code when there is none to read.
  std::optional<int> choose_task();
  /// Prints all that is there.
  int print_present();
  /// Prints until the task is over, through all its attempts.
  int follow();

 private:
  Expected<TaskAnswer, ClientError> look() const;
  /// Prints the next part; whether there was any, and more may come.
  Expected<client::LogAnswer, ClientError> print_part();
  /// Goes on with the attempt that the task has now.
  void turn_to(std::uint64_t attempt);

  client::ApiClient& api_;
  const LogsOptions& options_;
  std::uint64_t task_ = 0;
  std::optional<std::uint64_t> attempt_;
  std::uint64_t offset_ = 0;
};

std::optional<int> LogReader::choose_task() {
  attempt_ = options_.attempt;
  if (options_.task) {
    task_ = *options_.task;
    return std::nullopt;
  }
  const auto answer = api_.get(fmt::format("/v1/jobs/{}", options_.job));
  if (!answer) return complain_of(answer.error());
  const auto job = client::job_details(answer.value());
  if (!job) return complain_of(job.error());
  if (job->tasks.size() == 1) {
    task_ = job->tasks.front().task;
    return std::nullopt;
  }
  if (job->tasks.empty()) {
    complain(fmt::format("job {} has no tasks that are known yet: it is {}", options_.job,
                         job->job.state));
    return kFailed;
  }
  complain(fmt::format("job {} has {} tasks, from {} to {}: say which one by --task", options_.job,
                       job->tasks.size(), job->tasks.front().task, job->tasks.back().task));
  return kUsage;
}

Expected<TaskAnswer, ClientError> LogReader::look() const {
  const auto answer = api_.get(fmt::format("/v1/jobs/{}", options_.job));
  if (!answer) return answer.error();
  const auto job = client::job_details(answer.value());
  if (!job) return job.error();
  for (const TaskAnswer& task : job->tasks) {
    if (task.task != task_) continue;
    TaskAnswer found = task;
    // A task of a job that is over will not run, whatever it waits for.
    if (job->job.over() && !found.over()) found.phase = "failed";
    return found;
  }
  return Failure<ClientError>{ClientError::not_found,
                              fmt::format("job {} has no task {}", options_.job, task_)};
}

Expected<client::LogAnswer, ClientError> LogReader::print_part() {
  std::string path =
      fmt::format("/v1/jobs/{}/tasks/{}/log?stream={}&offset={}&max={}", options_.job, task_,
                  options_.err ? "err" : "out", offset_, kPartBytes);
  if (attempt_) path += fmt::format("&attempt={}", *attempt_);
  const auto answer = api_.get(path);
  if (!answer) return answer.error();
  if (options_.client.json) print_json(answer->text);
  auto part = client::log_part(answer.value());
  if (!part) return part;
  if (part->offset > offset_ && !part->text.empty()) {
    complain(fmt::format("{} bytes are no longer kept", part->offset - offset_));
  }
  offset_ = std::max(offset_, part->next);
  if (!options_.client.json) print_text(part->text);
  return part;
}

int LogReader::print_present() {
  while (true) {
    const auto part = print_part();
    if (!part) return complain_of(part.error());
    if (part->text.empty() || !part->more) return kDone;
  }
}

void LogReader::turn_to(std::uint64_t attempt) {
  if (attempt_ == attempt) return;
  if (attempt_) complain(fmt::format("task {} runs again: attempt {}", task_, attempt));
  attempt_ = attempt;
  offset_ = 0;
}

int LogReader::follow() {
  while (true) {
    // Looked at first, so that what was written before the end is read after it.
    const auto task = look();
    if (!task) return complain_of(task.error());
    if (!options_.attempt && task->attempt > 0) turn_to(task->attempt);
    if (!attempt_ && task->over()) return kDone;
    bool more = !task->over();
    if (attempt_) {
      auto part = print_part();
      while (part && !part->text.empty()) part = print_part();
      // The attempt may have been announced and not have written anything.
      if (!part && (part.error().code != ClientError::not_found || task->over())) {
        return complain_of(part.error());
      }
      const bool left_behind = options_.attempt && task->attempt > *options_.attempt;
      more = more && !left_behind;
    }
    if (!more) return kDone;
    std::this_thread::sleep_for(kPause);
  }
}

int run_command(const LogsOptions& options) {
  const auto api = connect(options.client);
  if (!api) return kFailed;
  LogReader reader(*api, options);
  if (const auto exit_code = reader.choose_task()) return *exit_code;
  return options.follow ? reader.follow() : reader.print_present();
}

}  // namespace

void add_logs(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<LogsOptions>();
  CLI::App* command = app.add_subcommand("logs", "Print what a task has written");
  command->add_option("job", options->job, "id of a job")->required()->check(is_id());
  command->add_option("--task", options->task, "index of the task, when the job has several");
  command->add_option("--attempt", options->attempt, "which attempt; default: the latest");
  command->add_flag("--err", options->err, "its standard error instead of its standard output");
  command->add_flag("-f,--follow", options->follow, "go on until the task is over");
  add_client_options(*command, options->client);
  command->callback([options, &exit_code] { exit_code = run_command(*options); });
}

}  // namespace muster::cli
