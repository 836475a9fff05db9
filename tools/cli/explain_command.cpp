#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "storage/event_log.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"
#include "tools/report/explain.hpp"

namespace muster::cli {
namespace {

struct ExplainOptions {
  std::string events;
  std::optional<std::uint64_t> task;
  std::optional<std::uint64_t> instance;
  std::string json;
};

int run_command(const ExplainOptions& options) {
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

}  // namespace

void add_explain(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command =
      app.add_subcommand("explain", "Tell the story of a task or an instance from an event log");
  command->add_option("--events", options->events, "what replay --events wrote")->required();
  CLI::Option_group* about = command->add_option_group("about");
  about->add_option("--task", options->task, "id of a task")->check(CLI::NonNegativeNumber);
  about->add_option("--instance", options->instance, "id of an instance")
      ->check(CLI::NonNegativeNumber);
  about->require_option(1);
  command->add_option("--json", options->json, "write the story as JSON; - for standard output");
  command->callback([options, &exit_code] { exit_code = run_command(*options); });
}

}  // namespace muster::cli
