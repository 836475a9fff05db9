#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "storage/event_log.hpp"
#include "tools/cli/client_options.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"
#include "tools/client/views.hpp"
#include "tools/report/explain.hpp"

namespace muster::cli {
namespace {

struct ExplainOptions {
  ClientOptions client;
  std::optional<std::uint64_t> job;
  std::string events;
  std::optional<std::uint64_t> task;
  std::optional<std::uint64_t> instance;
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
  if (options.json != "-") std::cout << to_text(story.value());
  if (options.json.empty()) return kDone;
  const auto write = [&](std::ostream& out) { out << to_json(story.value()); };
  return write_output(options.json, write) ? kDone : kFailed;
}

/// Why each task of a job of the live cluster waits, or is where it is.
int explain_job(const ExplainOptions& options) {
  const auto api = connect(options.client);
  if (!api) return kFailed;
  const auto answer = api->get(fmt::format("/v1/jobs/{}/explain", *options.job));
  if (!answer) return complain_of(answer.error());
  auto job = client::explanation(answer.value());
  if (!job) return complain_of(job.error());
  if (options.task) {
    std::erase_if(job->tasks,
                  [&](const client::TaskAnswer& task) { return task.task != *options.task; });
    if (job->tasks.empty()) {
      complain(fmt::format("job {} has no task {}", *options.job, *options.task));
      return kFailed;
    }
  }
  if (options.json != "-") print_text(client::view_why(job.value()));
  if (options.json.empty()) return kDone;
  const auto write = [&](std::ostream& out) { out << answer->text << "\n"; };
  return write_output(options.json, write) ? kDone : kFailed;
}

/// What is missing or does not go together; empty when nothing is.
std::string misuse(const ExplainOptions& options) {
  if (options.job) {
    if (!options.events.empty()) return "a job of the live cluster, or --events: not both";
    if (options.instance) return "--instance is for an event log: give --events";
    return "";
  }
  if (options.events.empty()) {
    return "say what to explain: JOB, or --events FILE with --task or --instance";
  }
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
  CLI::App* command = app.add_subcommand(
      "explain",
      "Say why a job's tasks wait or are where they are; or tell a story from an event log");
  CLI::Option* positional =
      command->add_option("job", options->job, "id of a job of the live cluster")->check(is_id());
  command->add_option("--job", options->job, "the same")->excludes(positional)->check(is_id());
  command->add_option("--events", options->events, "what replay --events wrote");
  command->add_option("--task", options->task, "index of one of the job's tasks, or id of a task")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--instance", options->instance, "id of an instance of the event log")
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option("--json", options->json,
                   "as JSON: to the standard output, or into the FILE that is given")
      ->expected(0, 1)
      ->default_str("-");
  add_where_options(*command, options->client);
  command->callback([options, &exit_code] { exit_code = run_command(*options); });
}

}  // namespace muster::cli
