#include "tools/cli/job_pipeline.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>

#include "tools/cli/client_options.hpp"
#include "tools/cli/output.hpp"
#include "tools/client/pages.hpp"

// The pipeline of a job. Which jobs wait for a job is said by those jobs alone, so that this looks
// through the lists of the user's jobs, from the newest on.

namespace muster::cli {
namespace {

/// Of one list, that of jobs that are over or that of the others.
constexpr std::uint64_t kMostJobs = 20'000;
constexpr std::uint64_t kJobsOfPage = 1'000;

/// Adds the jobs of a list, as far as they may have to do with the pipeline. True: there are more
/// that were not looked at.
Expected<bool, client::ClientError> add_list(client::ApiClient& api, const std::string& path,
                                             client::JobGraph& graph) {
  client::Pages pages{path, "jobs", kJobsOfPage};
  bool whole = false;
  for (std::uint64_t seen = 0; seen < kMostJobs; seen += kJobsOfPage) {
    const auto failure = client::each_page(
        api, pages,
        [&](const client::Answer& page, bool last) -> std::optional<Failure<client::ClientError>> {
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

}  // namespace

Expected<client::JobGraph, client::ClientError> find_pipeline(client::ApiClient& api, JobId job) {
  const auto answer = api.get(fmt::format("/v1/jobs/{}?limit=1", job.value));
  if (!answer) return answer.error();
  const auto page = client::job_page(answer.value());
  if (!page) return page.error();
  client::JobGraph graph(job);
  graph.add(page->job);
  bool more = false;
  for (const char* state : {"active", "over"}) {
    const std::string path =
        fmt::format("/v1/jobs?state={}&user={}", state, client::url_escaped(page->job.user));
    const auto cut = add_list(api, path, graph);
    if (!cut) return cut.error();
    more = more || cut.value();
  }
  if (more) {
    complain(fmt::format("warning: only the newest {} jobs of the user were looked at", kMostJobs));
  }
  return graph;
}

}  // namespace muster::cli
