#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "tools/cli/client_options.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/interrupt_watch.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/request_options.hpp"
#include "tools/cli/stage_folders.hpp"
#include "tools/cli/wait_for_jobs.hpp"
#include "tools/client/views.hpp"

// The command that submits jobs: one request for all of them, sent again until it is answered. Its
// token makes that safe: a site gives the same job for the same token.

namespace muster::cli {
namespace {

struct SubmitOptions {
  ClientOptions client;
  RequestOptions request;
  bool wait = false;
  bool quiet = false;
};

std::string body_of(const std::vector<JobRequest>& requests) {
  if (requests.size() == 1) return to_json(requests.front());
  std::string body = R"({"jobs":[)";
  for (const JobRequest& request : requests) {
    if (body.back() != '[') body += ',';
    body += to_json(request);
  }
  return body + "]}";
}

/// Of a submission that was sent and not answered.
void say_what_may_be(const Failure<client::ClientError>& failure, const std::string& token) {
  if (failure.code != client::ClientError::unanswered) return;
  const std::string again = token.empty() ? "" : ", or submit them again with --token " + token;
  complain("the jobs may have been submitted nevertheless: look at `muster jobs`" + again);
}

/// Jobs that were taken, and sentences on those of them that cannot run as things are.
struct Taken {
  std::vector<std::uint64_t> jobs;
  std::vector<std::string> warnings;
};

/// A request brings a token along. An earlier command may have made its job already, at the first
/// API's site.
bool has_own_token(const std::vector<JobRequest>& requests) {
  return std::ranges::any_of(requests,
                             [](const JobRequest& request) { return !request.token.empty(); });
}

/// Sends the requests as one; nothing after a complaint.
std::optional<Taken> submit(const SubmitOptions& options, client::ApiClient& api,
                            std::vector<JobRequest> requests) {
  // The token makes it safe to send again what may have got there.
  const auto elsewhere =
      has_own_token(requests) ? client::Elsewhere::never : client::Elsewhere::unsent;
  for (JobRequest& request : requests) {
    if (request.token.empty()) request.token = client::random_token();
  }
  const std::string token = requests.size() == 1 ? requests.front().token : "";
  const std::string body = body_of(requests);
  if (body.size() > kMaxBatchBytes) {
    complain(fmt::format("the jobs are {} bytes together; at most {} can be sent at once",
                         body.size(), kMaxBatchBytes));
    return std::nullopt;
  }
  const auto answer = api.post("/v1/jobs", body, elsewhere);
  if (!answer) {
    complain_of(answer.error());
    say_what_may_be(answer.error(), token);
    return std::nullopt;
  }
  const auto jobs = client::submitted_jobs(answer.value());
  if (!jobs) {
    complain_of(jobs.error());
    return std::nullopt;
  }
  // Ids are matched to requests by position.
  if (jobs->size() != requests.size()) {
    complain(fmt::format("jobs sent: {}; jobs acknowledged: {}", requests.size(), jobs->size()));
    return std::nullopt;
  }
  if (options.client.json && !options.wait) print_json(answer->text);
  const auto warnings = client::warnings_in(answer.value());
  return Taken{jobs.value(), warnings ? warnings.value() : std::vector<std::string>{}};
}

/// A gang may be more than the caps let its policy rent, which only a plan shows. Without a plan
/// there is nothing to say: the job is taken.
std::vector<std::string> warnings_of_plan(const SubmitOptions& options, JobRequest request) {
  if (!request.gang) return {};
  const auto try_once = [](client::ApiOptions& api) { api.retry_for = Duration::zero(); };
  const auto api = connect(options.client, try_once);
  if (!api) return {};
  request.stage.clear();  // as `muster plan` has it
  const auto answer = api->post("/v1/plan", to_json(request), client::Elsewhere::always);
  if (!answer) return {};
  const auto plan = client::view_of<PlanView>(answer.value());
  std::string text = plan ? client::never_text(plan.value()) : "";
  if (text.empty()) return {};
  text.pop_back();
  return {std::move(text)};
}

/// "8 tasks", or "1 to 8 workers" of an elastic job.
std::string size_text(const Job& job) {
  if (const auto* elastic = std::get_if<ElasticSpec>(&job.kind)) {
    return fmt::format("{} to {} workers", elastic->min_width, elastic->max_width);
  }
  return fmt::format("{} task{}", job.tasks.size(), job.tasks.size() == 1 ? "" : "s");
}

/// `staged`: of each request which files it begins with, as text; empty: with no files.
void print_ids(const SubmitOptions& options, const std::vector<JobRequest>& requests,
               const std::vector<std::string>& staged, const std::vector<std::uint64_t>& jobs) {
  if (options.client.json) return;
  std::string text;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (options.quiet) {
      text += fmt::format("{}\n", jobs[i]);
      continue;
    }
    const Job job = make_job(requests[i]);
    // Which of the two a file was taken for decides what its text means.
    const std::string script =
        job.program.script.empty()
            ? ""
            : fmt::format(", with the script as it is now ({} bytes)", job.program.script.size());
    const std::string files = staged[i].empty() ? "" : ", with " + staged[i];
    text += fmt::format("job {}: {}, {}{}{}\n", jobs[i], job.name, size_text(job), script, files);
  }
  print_text(text);
}

/// Jobs that were taken, and for each which files it begins with, as text.
struct Sent {
  Taken taken;
  std::vector<std::string> files;
};

/// Sends the files of the requests and then the requests; nothing after a complaint.
std::optional<Sent> stage_and_submit(const SubmitOptions& options,
                                     std::vector<JobRequest>& requests) {
  const auto api = connect(options.client, be_patient);
  if (!api) return std::nullopt;
  // The jobs go to the API that has their files: to the first one, if they have to go there.
  const auto elsewhere =
      has_own_token(requests) ? client::Elsewhere::never : client::Elsewhere::always;
  const auto files = stage_folders(*api, requests, elsewhere);
  if (!files) return std::nullopt;
  const auto taken = submit(options, *api, requests);
  return taken ? std::optional(Sent{*taken, *files}) : std::nullopt;
}

int run_command(const SubmitOptions& options) {
  int exit_code = kDone;
  auto requests = make_requests(options.request, exit_code);
  if (!requests) return exit_code;
  auto sent = stage_and_submit(options, *requests);
  if (!sent) return kFailed;
  Taken* taken = &sent->taken;
  const std::vector<std::uint64_t>* jobs = &taken->jobs;
  print_ids(options, *requests, sent->files, *jobs);
  // A user who repeats a call that failed would have the jobs twice.
  const bool heard = told(fmt::format("job{} {} {} taken", jobs->size() == 1 ? "" : "s",
                                      fmt::join(*jobs, ", "), jobs->size() == 1 ? "was" : "were"));
  if (taken->warnings.empty() && requests->size() == 1) {
    taken->warnings = warnings_of_plan(options, requests->front());
  }
  for (const std::string& warning : taken->warnings) complain("warning: " + warning);
  if (!options.wait) return heard ? kDone : kFailed;
  WaitOptions wait;
  wait.show_progress = !options.quiet;
  return wait_for_jobs(options.client, *jobs, wait);
}

}  // namespace

void add_submit(CLI::App& app, int& exit_code, const std::vector<std::string>& words) {
  auto options = std::make_shared<SubmitOptions>();
  options->request.command = words;
  CLI::App* command = app.add_subcommand(
      "submit",
      "Submit jobs: from files, a script: submit [OPTIONS] SCRIPT ARGUMENTS..., or a command: "
      "submit [OPTIONS] -- COMMAND ARGUMENTS...");
  add_request_options(*command, options->request);
  command->add_flag("--wait", options->wait,
                    "wait until the jobs are over, and exit with their exit code");
  command->add_flag("-q,--quiet", options->quiet, "print only the ids of the jobs");
  add_client_options(*command, options->client);
  command->callback([options, &exit_code] { exit_code = run_command(*options); });
}

}  // namespace muster::cli
