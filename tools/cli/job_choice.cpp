#include "tools/cli/job_choice.hpp"

#include <limits>

#include "tools/cli/output.hpp"
#include "tools/client/answers.hpp"
#include "tools/client/token_views.hpp"

// Which jobs are meant by who does not name them. All are found before anything is done to the
// first: pages would shift while jobs end.

namespace muster::cli {
namespace {

/// Whose jobs the token may change; empty: everybody's, or the API does not say.
std::string whose_jobs(client::ApiClient& api) {
  const auto answer = api.get("/v1/me");
  if (!answer) return "";
  const auto token = client::own_token(answer.value());
  return token && token->role == "user" ? token->user : "";
}

}  // namespace

void add_job_choice(CLI::App& command, JobChoice& choice) {
  command.add_option("jobs", choice.jobs, "ids of jobs")->check(is_id());
  command.add_flag("--all", choice.all, "all jobs that are not over; with a user's token: its own");
  command.add_option("--user", choice.user, "those of this user")->check(is_filter());
  command.add_option("--name", choice.name, "those that have this name")->check(is_filter());
  command.add_option("--state", choice.state, "those that are waiting, running or held")
      ->check(CLI::IsMember({"waiting", "running", "held"}));
}

bool says_which(const JobChoice& choice) {
  if (choice.by_choice() != !choice.jobs.empty()) return true;
  complain("say which jobs: their ids, or --all, --user, --name or --state; not both");
  return false;
}

client::Pages job_pages(const JobChoice& choice, const std::string& state, std::uint64_t most) {
  client::Pages pages{"/v1/jobs?state=" + state, "jobs", most};
  // Escaped: a user's name may hold any character, and '&' would begin another parameter.
  if (!choice.user.empty()) pages.path += "&user=" + client::url_escaped(choice.user);
  pages.name = choice.name;
  return pages;
}

std::optional<Failure<client::ClientError>> find_jobs(client::ApiClient& api, JobChoice& choice) {
  // "All" are all of one's own where others' are none of the token's business.
  if (choice.user.empty()) choice.user = whose_jobs(api);
  client::Pages pages = job_pages(choice, "active", std::numeric_limits<std::uint64_t>::max());
  return client::each_page(
      api, pages,
      [&](const client::Answer& page, bool last) -> std::optional<Failure<client::ClientError>> {
        if (last) warn_of_silent(page);
        const auto jobs = client::job_list(page);
        if (!jobs) return jobs.error();
        for (const JobView& job : jobs.value()) {
          // The API filters by active or over only; finer states are told apart here.
          if (choice.state.empty() || name_of(job.state) == choice.state) {
            choice.jobs.push_back(job.job.value);
          }
        }
        return std::nullopt;
      });
}

}  // namespace muster::cli
