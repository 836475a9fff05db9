#include <fmt/format.h>

#include <memory>
#include <optional>

#include "tools/cli/client_options.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"
#include "tools/client/job_graph.hpp"
#include "tools/client/pages.hpp"

// The command that shows a pipeline. Which jobs wait for a job is said by those jobs alone, so that
// it looks through the lists of the user's jobs, from the newest on.

namespace muster::cli {
namespace {

using Fault = std::optional<Failure<client::ClientError>>;

/// Of one list, that of jobs that are over or that of the others.
constexpr std::uint64_t kMostJobs = 20'000;
constexpr std::uint64_t kJobsOfPage = 1'000;

struct GraphOptions {
  ClientOptions client;
  std::uint64_t job = 0;
  bool dot = false;
};

/// Adds the jobs of a list, as far as they may have to do with the pipeline. True: there are more
/// that were not looked at.
Expected<bool, client::ClientError> add_list(client::ApiClient& api, const std::string& path,
                                             client::JobGraph& graph) {
  client::Pages pages{path, "jobs", kJobsOfPage};
  bool whole = false;
  for (std::uint64_t seen = 0; seen < kMostJobs; seen += kJobsOfPage) {
    const auto failure =
        client::each_page(api, pages, [&](const client::Answer& page, bool last) -> Fault {
          if (last && seen == 0) warn_of_silent(page);
          const auto jobs = client::job_list(page);
          if (!jobs) return jobs.error();
          for (const JobView& job : jobs.value()) graph.add(job);
          whole = jobs->empty() || graph.is_whole_behind(jobs->back());
          return std::nullopt;
        });
    if (failure) return *failure;
    if (whole || pages.after.empty()) return false;
  }
  return true;
}

int show_graph(const GraphOptions& options) {
  const auto api = connect(options.client);
  if (!api) return kFailed;
  const auto answer = api->get(fmt::format("/v1/jobs/{}?limit=1", options.job));
  if (!answer) return complain_of(answer.error());
  const auto page = client::job_page(answer.value());
  if (!page) return complain_of(page.error());
  client::JobGraph graph(JobId{options.job});
  graph.add(page->job);
  bool more = false;
  for (const char* state : {"active", "over"}) {
    const std::string path =
        fmt::format("/v1/jobs?state={}&user={}", state, client::url_escaped(page->job.user));
    const auto cut = add_list(*api, path, graph);
    if (!cut) return complain_of(cut.error());
    more = more || cut.value();
  }
  if (more) {
    complain(fmt::format("warning: only the newest {} jobs of the user were looked at", kMostJobs));
  }
  if (options.client.json) {
    print_json(graph.json());
  } else {
    print_text(options.dot ? graph.dot() : graph.text());
  }
  return kDone;
}

}  // namespace

void add_graph(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<GraphOptions>();
  CLI::App* command = app.add_subcommand(
      "graph", "Show a job's pipeline: the jobs that it waits for, and those that wait for it");
  command->add_option("job", options->job, "id of any of its jobs")->required()->check(is_id());
  command->add_flag("--dot", options->dot, "a picture for Graphviz: | dot -Tsvg > pipeline.svg");
  add_client_options(*command, options->client);
  command->callback([options, &exit_code] { exit_code = show_graph(*options); });
}

}  // namespace muster::cli
