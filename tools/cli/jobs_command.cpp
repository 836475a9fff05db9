#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "tools/cli/client_options.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"
#include "tools/client/views.hpp"

namespace muster::cli {
namespace {

constexpr std::uint32_t kShownJobs = 50;
constexpr std::uint32_t kMostJobs = 10'000;  // that the API gives

struct JobsOptions {
  ClientOptions client;
  std::string state = "all";
  std::string user;
  std::uint32_t limit = kShownJobs;
};

struct JobOptions {
  ClientOptions client;
  std::uint64_t job = 0;
};

struct AgainOptions {
  ClientOptions client;
  std::uint64_t job = 0;
  bool failed = false;
  bool quiet = false;
};

/// The same request for several jobs.
struct EachOptions {
  ClientOptions client;
  std::string verb;
  std::string done;  ///< the verb when it has been done
  std::vector<std::uint64_t> jobs;
};

int list_jobs(const JobsOptions& options) {
  const auto api = connect(options.client);
  if (!api) return kFailed;
  std::string path = fmt::format("/v1/jobs?state={}&limit={}", options.state, options.limit);
  if (!options.user.empty()) path += "&user=" + client::url_escaped(options.user);
  return print_answer(api->get(path), options.client.json,
                      shown_as(client::job_list, [](const std::vector<client::JobAnswer>& jobs) {
                        return client::view(jobs);
                      }));
}

int show_job(const JobOptions& options) {
  const auto api = connect(options.client);
  if (!api) return kFailed;
  return print_answer(api->get(fmt::format("/v1/jobs/{}", options.job)), options.client.json,
                      shown_as(client::job_details,
                               [](const client::JobDetails& job) { return client::view(job); }));
}

/// Sends the same token again until the answer has come: one command is one job.
int resubmit(const AgainOptions& options) {
  const auto api = connect(options.client, be_patient);
  if (!api) return kFailed;
  const std::string body =
      fmt::format(R"({{"failed":{},"token":"{}"}})", options.failed, client::random_token());
  const auto answer = api->post(fmt::format("/v1/jobs/{}/resubmit", options.job), body);
  return print_answer(
      answer, options.client.json, [&](const client::Answer& said) -> client::Parsed<std::string> {
        const auto jobs = client::submitted_jobs(said);
        if (!jobs) return jobs.error();
        const std::uint64_t fresh = jobs->empty() ? 0 : jobs->front();
        if (options.quiet) return fmt::format("{}\n", fresh);
        return fmt::format("job {}: {} job {} once more\n", fresh,
                           options.failed ? "what did not finish of" : "all of", options.job);
      });
}

/// What has been done, or will be when those that are named have confirmed it.
std::string outcome_text(std::uint64_t job, const EachOptions& options,
                         const client::Answer& answer) {
  const auto unconfirmed = client::unconfirmed_by(answer);
  if (!unconfirmed || unconfirmed->empty()) return fmt::format("job {}: {}\n", job, options.done);
  return fmt::format("job {}: will be {}; not confirmed yet by {}\n", job, options.done,
                     fmt::join(unconfirmed.value(), ", "));
}

/// Asks for every job, also after one that failed.
int ask_each(const EachOptions& options) {
  const auto api = connect(options.client);
  if (!api) return kFailed;
  int exit_code = kDone;
  std::string answers;
  for (const std::uint64_t job : options.jobs) {
    const auto answer = api->post(fmt::format("/v1/jobs/{}/{}", job, options.verb), "");
    if (!answer) {
      complain(fmt::format("job {}: {}", job, answer.error().message));
      exit_code = kFailed;
      continue;
    }
    answers += (answers.empty() ? "" : ",") + answer->text;
    if (!options.client.json) print_text(outcome_text(job, options, answer.value()));
  }
  if (!options.client.json) return exit_code;
  print_json(options.jobs.size() == 1 ? answers : R"({"jobs":[)" + answers + "]}");
  return exit_code;
}

void add_each(CLI::App& app, int& exit_code, const EachOptions& words, const std::string& meaning) {
  auto options = std::make_shared<EachOptions>(words);
  CLI::App* command = app.add_subcommand(options->verb, meaning);
  command->add_option("jobs", options->jobs, "ids of jobs")->required()->check(is_id());
  add_client_options(*command, options->client);
  command->callback([options, &exit_code] { exit_code = ask_each(*options); });
}

}  // namespace

void add_jobs(CLI::App& app, int& exit_code) {
  auto list = std::make_shared<JobsOptions>();
  CLI::App* jobs = app.add_subcommand("jobs", "List jobs, the newest first");
  jobs->add_option("--state", list->state, "active, over or all")
      ->check(CLI::IsMember({"active", "over", "all"}))
      ->capture_default_str();
  jobs->add_option("--user", list->user, "only those of this user");
  jobs->add_option("--limit", list->limit, "at most so many")
      ->check(CLI::Range(std::uint32_t{1}, kMostJobs))
      ->capture_default_str();
  add_client_options(*jobs, list->client);
  jobs->callback([list, &exit_code] { exit_code = list_jobs(*list); });

  auto one = std::make_shared<JobOptions>();
  CLI::App* job = app.add_subcommand("job", "Show a job and its tasks");
  job->add_option("job", one->job, "id of a job")->required()->check(is_id());
  add_client_options(*job, one->client);
  job->callback([one, &exit_code] { exit_code = show_job(*one); });
}

void add_job_orders(CLI::App& app, int& exit_code) {
  add_each(app, exit_code, {{}, "cancel", "cancelled", {}}, "Cancel jobs: their tasks are stopped");
  add_each(app, exit_code, {{}, "hold", "held", {}},
           "Hold jobs: none of their waiting tasks is started");
  add_each(app, exit_code, {{}, "release", "released", {}}, "Release jobs that are held");
  auto again = std::make_shared<AgainOptions>();
  CLI::App* command = app.add_subcommand("resubmit", "Submit a job once more, as a new one");
  command->add_option("job", again->job, "id of a job")->required()->check(is_id());
  command->add_flag("--failed", again->failed,
                    "only its tasks that have failed or, when it is over, did not finish");
  command->add_flag("-q,--quiet", again->quiet, "print only the id of the new job");
  add_client_options(*command, again->client);
  command->callback([again, &exit_code] { exit_code = resubmit(*again); });
}

}  // namespace muster::cli
