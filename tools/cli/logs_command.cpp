#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "config/array_indices.hpp"
#include "tools/cli/client_options.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/named_task.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/task_logs.hpp"
#include "tools/client/pages.hpp"
#include "tools/client/views.hpp"

// The command that prints what tasks have written, at present or as it comes. Where a task's output
// is read and how far is TaskLog's; here the tasks are chosen, looked at and taken in turn.

namespace muster::cli {
namespace {

using client::ClientError;

constexpr Duration kPause = std::chrono::milliseconds{500};
constexpr Duration kLongestPause = std::chrono::minutes{1};
/// Factor of the pause between two looks over the time of a look: a look at a large array is work
/// for masters.
constexpr int kPausePerLook = 10;
constexpr std::uint64_t kMostLines = 1'000'000'000;

/// Tasks that are followed at once, of all jobs together: each look at one is a request.
constexpr std::size_t kMostFollowed = 256;

struct LogsOptions {
  ClientOptions client;
  LogWish wish;                   ///< of a job that is still to be named
  std::vector<std::string> jobs;  ///< JOB or JOB:TASKS
  std::string tasks;              ///< as of an array; empty: all
  std::string color = "auto";
  bool follow = false;
};

/// The wish for one of the jobs.
LogWish wish_for(const LogsOptions& options, std::uint64_t job) {
  LogWish wish = options.wish;
  wish.job = job;
  return wish;
}

/// Prints what the wanted tasks of a job write.
class JobLogs {
 public:
  JobLogs(client::ApiClient& api, const LogsOptions& options, NamedTasks of)
      : api_(api), wish_(wish_for(options, of.job)), tasks_(std::move(of.tasks)) {}
  JobLogs(const JobLogs&) = delete;  // its logs hold its wish
  JobLogs& operator=(const JobLogs&) = delete;

  /// Finds the tasks, and no more than one above `most`; an exit code when there are no tasks to
  /// read.
  std::optional<int> choose_tasks(std::uint64_t most = kMaxTasksPerJob);
  /// Prints what is there of the tasks that were chosen, one after the other.
  int print_present(LogLabels labels);
  /// Prints all tasks that have begun, page by page: of a large array the first ones are not to
  /// wait for the last. Labels of several tasks are set where there are several.
  int print_all(LogLabels labels);
  /// Prints what has come of the tasks since the last call; an exit code when that failed.
  std::optional<int> print_new(LogPrinter& out);
  /// Nothing more will come of them.
  bool done() const {
    return is_given_up_ ||
           std::all_of(logs_.begin(), logs_.end(), [](const TaskLog& log) { return log.done(); });
  }
  /// They can be read no more; the other jobs go on.
  void give_up() { is_given_up_ = true; }
  /// Behind the end of following them: hints about other streams, and the exit code.
  int finish();
  bool names_tasks() const { return !tasks_.empty(); }
  /// How many were chosen.
  std::size_t chosen() const { return logs_.size() / streams().size(); }

 private:
  /// By index; nothing: not seen yet.
  using Tasks = std::map<std::uint64_t, std::optional<TaskView>>;

  client::Pages pages(std::uint64_t most) const;
  Expected<JobView, ClientError> look(client::Pages& pages,
                                      const std::function<void(const TaskView&)>& use) const;
  Expected<JobView, ClientError> look_at_open(Tasks& tasks) const;
  std::optional<Failure<ClientError>> print_one(TaskLog& log, LogPrinter& out, bool failed = false);
  int exit_code() const;
  void say_where_else(TaskLog& log, bool failed);
  /// Which streams are wanted, in the order in which they are printed: false is standard output.
  std::vector<bool> streams() const {
    if (wish_.both) return {false, true};
    return {wish_.err};
  }
  int complain_of_no_tasks(ShownState state) const;

  client::ApiClient& api_;
  const LogWish wish_;
  const std::string tasks_;  ///< as of an array; empty: all
  std::vector<TaskLog> logs_;
  std::set<std::uint64_t> failed_;  ///< tasks that were seen to have failed
  std::uint32_t looks_ = 0;         ///< at other streams
  std::uint32_t hints_ = 0;         ///< hints about other streams
  bool is_short_ = false;  ///< something of what was asked for is not there, which was said
  bool is_given_up_ = false;
};

std::optional<int> JobLogs::choose_tasks(std::uint64_t most) {
  std::vector<std::uint64_t> tasks;
  if (!tasks_.empty()) {
    const auto wanted = parse_array(tasks_);
    if (!wanted || wanted->max_running > 0) {
      complain("--task: has to be indices of tasks like 3 or 0-9,12; " +
               (wanted ? "it has a %" : wanted.error().message));
      return kUsage;
    }
    tasks.assign(wanted->indices.begin(), wanted->indices.end());
  } else {
    client::Pages all = pages(most + 1);
    const auto job = look(all, [&](const TaskView& task) { tasks.push_back(task.index); });
    if (!job) return complain_of(job.error());
    if (tasks.empty()) return complain_of_no_tasks(job->state);
  }
  if (tasks.size() > most) tasks.resize(most + 1);
  for (const std::uint64_t task : tasks) {
    for (const bool err : streams()) logs_.emplace_back(api_, wish_, LogSource{task, err});
  }
  return std::nullopt;
}

int JobLogs::complain_of_no_tasks(ShownState state) const {
  complain(fmt::format("job {} has no tasks that are known yet: it is {}", wish_.job,
                       client::shown_word(state)));
  return kFailed;
}

client::Pages JobLogs::pages(std::uint64_t most) const {
  return {fmt::format("/v1/jobs/{}?", wish_.job), "tasks", most};
}

/// The job as it is; calls `use` for the tasks of the pages.
Expected<JobView, ClientError> JobLogs::look(
    client::Pages& pages, const std::function<void(const TaskView&)>& use) const {
  JobView job;
  const auto failure = client::each_page(
      api_, pages, [&](const client::Answer& answer, bool) -> std::optional<Failure<ClientError>> {
        const auto page = client::job_page(answer);
        if (!page) return page.error();
        job = page->job;
        for (const TaskView& task : page->tasks) use(task);
        return std::nullopt;
      });
  if (failure) return *failure;
  return job;
}

/// The tasks whose output may go on, as they are, and their job.
Expected<JobView, ClientError> JobLogs::look_at_open(Tasks& tasks) const {
  std::uint64_t lowest = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t highest = 0;
  for (const TaskLog& log : logs_) {
    if (log.done()) continue;
    tasks[log.task()] = std::nullopt;
    lowest = std::min(lowest, log.task());
    highest = std::max(highest, log.task());
  }
  // Number of tasks that have indices between these at most.
  client::Pages some = pages(highest - lowest + 1);
  if (lowest > 0) some.after = std::to_string(lowest - 1);
  return look(some, [&](const TaskView& task) {
    // The range may hold tasks that are done or were not asked for.
    const auto open = tasks.find(task.index);
    if (open != tasks.end()) open->second = task;
  });
}

int JobLogs::exit_code() const {
  return std::any_of(logs_.begin(), logs_.end(), [](const TaskLog& log) { return log.lost(); })
             ? kFailed
             : kDone;
}

/// Points to the other stream where this one had nothing, and to the standard error of a task that
/// has failed. Of an array the first say enough, and the others are not asked for it.
void JobLogs::say_where_else(TaskLog& log, bool failed) {
  constexpr std::uint32_t kMostHints = 3;
  constexpr std::uint32_t kMostLooks = 10;
  const bool is_wanted = log.was_empty() || (failed && !wish_.err && !wish_.json);
  if (wish_.both || !is_wanted || hints_ == kMostHints || looks_ == kMostLooks) return;
  ++looks_;
  const std::string hint = log.other_stream();
  if (hint.empty()) return;
  complain(hint);
  ++hints_;
}

/// A task without output is no reason to be silent about the others; anything else is.
std::optional<Failure<ClientError>> JobLogs::print_one(TaskLog& log, LogPrinter& out, bool failed) {
  const auto failure = log.print_present(out);
  out.end_line();
  if (!failure) {
    is_short_ |= log.lost();
    say_where_else(log, failed);
    return std::nullopt;
  }
  if (failure->code != ClientError::not_found) return failure;
  complain(failure->message);
  is_short_ = true;
  return std::nullopt;
}

int JobLogs::print_present(LogLabels labels) {
  labels.several |= chosen() > 1;
  LogPrinter out(labels);
  for (TaskLog& log : logs_) {
    if (const auto failure = print_one(log, out)) return complain_of(*failure);
  }
  return is_short_ ? kFailed : kDone;
}

int JobLogs::print_all(LogLabels labels) {
  client::Pages all = pages(std::numeric_limits<std::uint64_t>::max());
  std::optional<LogPrinter> out;
  ShownState state = ShownState::waiting;
  const auto failure = client::each_page(
      api_, all, [&](const client::Answer& answer, bool) -> std::optional<Failure<ClientError>> {
        const auto page = client::job_page(answer);
        if (!page) return page.error();
        if (!page->tasks.empty() && !out) {
          // Whether lines carry their task has to be known at the first one, before all pages have
          // come.
          labels.several |= page->job.tasks > 1 || page->tasks.size() > 1;
          out.emplace(labels);
        }
        state = page->job.state;
        for (const TaskView& task : page->tasks) {
          if (task.attempt == 0 && out->several()) continue;  // it has written nothing
          for (const bool err : streams()) {
            TaskLog log(api_, wish_, LogSource{task.index, err});
            const bool failed = task.phase == ShownPhase::failed;
            if (auto trouble = print_one(log, *out, failed)) return trouble;
          }
        }
        return std::nullopt;
      });
  if (failure) return complain_of(*failure);
  if (!out) return complain_of_no_tasks(state);
  return is_short_ ? kFailed : kDone;
}

std::optional<int> JobLogs::print_new(LogPrinter& out) {
  // Looked at first, so that what was written before the end is read after it.
  Tasks tasks;
  const auto job = look_at_open(tasks);
  if (!job) return complain_of(job.error());
  for (TaskLog& log : logs_) {
    if (log.done()) continue;
    std::optional<TaskView>& task = tasks[log.task()];
    if (!task) {
      complain(fmt::format("job {} has no task {}", wish_.job, log.task()));
      return kFailed;
    }
    if (task->phase == ShownPhase::failed) failed_.insert(task->index);
    // A task of a job that is over will not run, whatever it waits for.
    if (client::is_over(job.value()) && !client::is_over(*task)) {
      task->phase = ShownPhase::failed;
    }
    if (const auto failure = log.print_new(*task, out)) return complain_of(*failure);
  }
  return std::nullopt;
}

int JobLogs::finish() {
  if (is_given_up_) return kFailed;
  for (TaskLog& log : logs_) say_where_else(log, failed_.contains(log.task()));
  return exit_code();
}

/// The jobs with their tasks, as they are named; nothing after a complaint.
std::optional<std::vector<NamedTasks>> named_jobs(const LogsOptions& options) {
  std::vector<NamedTasks> all;
  for (const std::string& text : options.jobs) {
    auto named = named_tasks(text);
    if (!named) return std::nullopt;  // its check has complained
    all.push_back(*std::move(named));
  }
  if (options.tasks.empty()) return all;
  if (all.size() > 1 || !all.front().tasks.empty()) {
    complain("--task: goes with a single job; of several name the tasks as 12:0-9");
    return std::nullopt;
  }
  all.front().tasks = options.tasks;
  return all;
}

/// Prints lines as they come until the tasks of all jobs are over, through all their attempts.
int follow(std::list<JobLogs>& jobs, LogLabels labels) {
  std::size_t chosen = 0;
  for (JobLogs& each : jobs) {
    if (const auto exit_code = each.choose_tasks(kMostFollowed)) return *exit_code;
    chosen += each.chosen();
    if (chosen <= kMostFollowed) continue;
    complain(
        fmt::format("these are too many tasks to follow: at most {} at once; name some of "
                    "them, as 12:0-9",
                    kMostFollowed));
    return kUsage;
  }
  labels.several |= chosen > 1;
  LogPrinter out(labels);
  int exit_code = kDone;
  while (true) {
    const auto begin = std::chrono::steady_clock::now();
    bool more = false;
    for (JobLogs& each : jobs) {
      if (each.done()) continue;
      if (const auto failed = each.print_new(out)) {
        exit_code = std::max(exit_code, *failed);
        each.give_up();
      }
      more |= !each.done();
    }
    if (!more) break;
    const Duration took = std::chrono::steady_clock::now() - begin;
    // Looks at a job of n tasks cost the masters O(n): the pause grows with how long a look takes.
    std::this_thread::sleep_for(std::clamp(took * kPausePerLook, kPause, kLongestPause));
  }
  out.end_line();
  for (JobLogs& each : jobs) exit_code = std::max(exit_code, each.finish());
  return exit_code;
}

/// Prints what is there of one job after the other.
int print_present(std::list<JobLogs>& jobs, const LogLabels& labels) {
  int worst = kDone;
  for (JobLogs& each : jobs) {
    int exit_code = kDone;
    if (!each.names_tasks()) {
      exit_code = each.print_all(labels);
    } else if (const auto none = each.choose_tasks()) {
      exit_code = *none;
    } else {
      exit_code = each.print_present(labels);
    }
    worst = std::max(worst, exit_code);
  }
  return worst;
}

int run_command(LogsOptions& options) {
  options.wish.json = options.client.json;
  const auto named = named_jobs(options);
  if (!named) return kUsage;
  const auto api = connect(options.client);
  if (!api) return kFailed;
  std::list<JobLogs> jobs;
  for (const NamedTasks& each : *named) jobs.emplace_back(*api, options, each);
  const LogLabels labels{jobs.size() > 1, options.wish.both,
                         wants_color(options.color, STDOUT_FILENO)};
  return options.follow ? follow(jobs, labels) : print_present(jobs, labels);
}

}  // namespace

void add_logs(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<LogsOptions>();
  CLI::App* command = app.add_subcommand("logs", "Print the output of tasks");
  LogWish& wish = options->wish;
  command
      ->add_option("job", options->jobs,
                   "ids of jobs, each perhaps with tasks in it: 12, 12:3 or 12:0-9,12. Of several "
                   "tasks each line begins with its task: 12:3 |")
      ->required()
      ->check(are_tasks());
  command
      ->add_option("--task", options->tasks,
                   "indices of tasks of the job: 3, or 0-9,12; default: all")
      ->check(is_filter());
  command->add_option("--attempt", wish.attempt, "number of the attempt; default: the latest");
  command->add_option("--tail", wish.tail, "number of last lines to print")
      ->check(CLI::Range(std::uint64_t{0}, kMostLines));
  CLI::Option* err =
      command->add_flag("--err", wish.err, "their standard error instead of their standard output");
  command
      ->add_flag("--both", wish.both,
                 "both streams, each line with its task, and with err where it is of the standard "
                 "error: 12:3 err |; of a single task [3 err]")
      ->excludes(err);
  command
      ->add_option("--color", options->color,
                   "a color for each of several tasks; auto: on a terminal, unless NO_COLOR is set")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  command->add_flag(
      "-f,--follow", options->follow,
      fmt::format("go on until the tasks are over; {} tasks at once at most", kMostFollowed));
  add_client_options(*command, options->client);
  command->callback([options, &exit_code] { exit_code = run_command(*options); });
}

}  // namespace muster::cli
