#include <memory>

#include "tools/cli/client_options.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/job_pipeline.hpp"
#include "tools/cli/output.hpp"

// The command that shows a pipeline.

namespace muster::cli {
namespace {

struct GraphOptions {
  ClientOptions client;
  std::uint64_t job = 0;
  bool dot = false;
};

int show_graph(const GraphOptions& options) {
  const auto api = connect(options.client);
  if (!api) return kFailed;
  const auto graph = find_pipeline(*api, JobId{options.job});
  if (!graph) return complain_of(graph.error());
  if (options.client.json) {
    print_json(graph->json());
  } else {
    print_text(options.dot ? graph->dot() : graph->text());
  }
  return kDone;
}

}  // namespace

void add_graph(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<GraphOptions>();
  CLI::App* command = app.add_subcommand(
      "graph", "Show a job's pipeline: the jobs that it waits for, and those that wait for it");
  command->add_option("job", options->job, "id of any of its jobs")->required()->check(is_id());
  CLI::Option* dot = command->add_flag("--dot", options->dot,
                                       "a picture for Graphviz: | dot -Tsvg > pipeline.svg");
  add_client_options(*command, options->client);
  dot->excludes(command->get_option("--json"));
  command->callback([options, &exit_code] { exit_code = show_graph(*options); });
}

}  // namespace muster::cli
