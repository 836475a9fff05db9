#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "replay/report/explain.hpp"
#include "storage/events/event_log.hpp"
#include "tools/cli/client_options.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/json_option.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/task_pages.hpp"
#include "tools/client/pages.hpp"
#include "tools/client/printable.hpp"
#include "tools/client/views.hpp"

// The command that says why: of a job of the live cluster, by asking its API, or of a task or
// instance of an event log, by reading the log.

namespace muster::cli {
namespace {

struct ExplainOptions {
  ClientOptions client;
  std::optional<std::uint64_t> job;
  std::string events;
  std::optional<std::uint64_t> task;
  std::optional<std::uint64_t> instance;
  TaskChoice tasks;
  std::string json;
};

int explain_log(const ExplainOptions& options) {
  const auto log = read_event_log(options.events);
  if (!log) {
    complain(log.error().message);
    return kFailed;
  }
  const Catalog& catalog = log->header.catalog;
  const auto story =
      options.task ? report::explain_task(log->events, catalog, TaskId{*options.task})
                   : report::explain_instance(log->events, catalog, InstanceId{*options.instance});
  if (!story) {
    complain(story.error().message);
    return kFailed;
  }
  // With --json - standard output is the document alone.
  if (options.json != "-") std::cout << client::printable_lines(to_text(story.value()));
  if (options.json.empty()) return kDone;
  const auto write = [&](std::ostream& out) { out << to_json(story.value()); };
  return write_output(options.json, write) ? kDone : kFailed;
}

/// Parts of a job of the live cluster to show: one task, or a choice of them.
client::Pages explained_pages(const ExplainOptions& options) {
  const std::string path = fmt::format("/v1/jobs/{}/explain", *options.job);
  if (!options.task) return task_pages(path, options.tasks, !options.json.empty());
  // One task is a page of one, from its index on.
  TaskChoice one;
  one.limit = 1;
  one.from = options.task;
  return task_pages(path, one, false);
}

/// Why each task of a job of the live cluster waits, or is where it is.
int explain_job(const ExplainOptions& options) {
  const auto api = connect(options.client);
  if (!api) return kFailed;
  client::Pages pages = explained_pages(options);
  client::WhyLines lines;
  std::string text;
  std::string json;
  client::JsonOfPages document(pages.list, [&](const std::string& piece) { json += piece; });
  // Counts down over pages: the limit is for all of them together.
  std::uint64_t left = options.tasks.shown();
  const auto use = [&](const client::Answer& page,
                       bool last) -> std::optional<Failure<client::ClientError>> {
    if (!options.json.empty()) document.add(page, last);
    auto job = client::explanation(page);
    if (!job) return job.error();
    if (options.task) {
      // A page from an index on holds the next task when this one does not exist.
      std::erase_if(job->tasks, [&](const auto& task) { return task.index != *options.task; });
      if (!job->tasks.empty()) text = lines.next(job.value());
      return std::nullopt;
    }
    // With --json all tasks are fetched, and the text still shows no more than its limit.
    if (left == 0) return std::nullopt;
    if (job->tasks.size() > left) {
      job->tasks_behind += job->tasks.size() - left;
      job->tasks.resize(left);
      // The line about further tasks has to begin where the shown ones end.
      job->next = job->tasks.back().index;
    }
    left -= job->tasks.size();
    text += lines.next(job.value());
    if (left > 0 && !last) return std::nullopt;
    text +=
        more_tasks_line(fmt::format("muster explain {}", *options.job), options.tasks, job.value());
    return std::nullopt;
  };
  if (const auto failure = client::each_page(*api, pages, use)) return complain_of(*failure);
  if (options.task && text.empty()) {
    complain(fmt::format("job {} has no task {}", *options.job, *options.task));
    return kFailed;
  }
  // Printed at the end, after the last page has come: a failure leaves no half of an explanation.
  if (options.json != "-") print_text(text);
  if (options.json.empty()) return kDone;
  const auto write = [&](std::ostream& out) { out << json << "\n"; };
  return write_output(options.json, write) ? kDone : kFailed;
}

/// The fault of the options: one is missing, or two exclude each other; empty when they are right.
std::string misuse(const ExplainOptions& options) {
  const TaskChoice& tasks = options.tasks;
  const bool chosen = tasks.limit || tasks.from || !tasks.phase.empty();
  if (options.job) {
    if (!options.events.empty()) return "a job of the live cluster, or --events: not both";
    if (options.instance) return "--instance is for an event log: give --events";
    if (options.task && chosen) return "--task is one task: no --limit, --from or --phase with it";
    return "";
  }
  if (chosen) return "--limit, --from and --phase are for a job of the live cluster: give its id";
  if (options.events.empty()) {
    return "say what to explain: JOB, or --events FILE with --task or --instance";
  }
  // Both or none of them: the log is searched for exactly one.
  if (options.task.has_value() == options.instance.has_value()) {
    return "with --events, give one of --task and --instance";
  }
  return "";
}

int run_command(const ExplainOptions& options) {
  const std::string wrong = misuse(options);
  if (wrong.empty()) return options.job ? explain_job(options) : explain_log(options);
  complain(wrong);
  return kUsage;
}

}  // namespace

void add_explain(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command = app.add_subcommand("explain",
                                         "Explain why a job's tasks wait or run where they run; or "
                                         "the history of a task or an instance in an event log");
  CLI::Option* positional =
      command->add_option("job", options->job, "id of a job of the live cluster")->check(is_id());
  command->add_option("--job", options->job, "id of the job, in place of the argument")
      ->excludes(positional)
      ->check(is_id());
  command->add_option("--events", options->events, "event log that replay --events wrote");
  command->add_option("--task", options->task, "index of one of the job's tasks, or id of a task")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--instance", options->instance, "id of an instance of the event log")
      ->check(CLI::NonNegativeNumber);
  add_json_option(*command, options->json, "the explanation");
  add_task_choice(*command, options->tasks);
  add_where_options(*command, options->client);
  command->callback([options, &exit_code] { exit_code = run_command(*options); });
}

}  // namespace muster::cli
