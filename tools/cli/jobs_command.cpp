#include <fmt/format.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/cli/client_options.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/job_choice.hpp"
#include "tools/cli/job_lists.hpp"
#include "tools/cli/job_pipeline.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/task_pages.hpp"
#include "tools/client/pages.hpp"
#include "tools/client/story_views.hpp"
#include "tools/client/views.hpp"

// The commands that show, cancel, hold, release and resubmit jobs; job_lists.cpp lists them. Orders
// name one job each; an order that fails does not keep the others from being sent.

namespace muster::cli {
namespace {

using Fault = std::optional<Failure<client::ClientError>>;

struct JobOptions {
  ClientOptions client;
  TaskChoice tasks;
  std::uint64_t job = 0;
  bool attempts = false;
};

struct AgainOptions {
  ClientOptions client;
  std::uint64_t job = 0;
  bool failed = false;
  std::optional<std::uint32_t> max_fails;
  bool quiet = false;
};

/// The same request for several jobs.
struct EachOptions {
  ClientOptions client;
  std::string verb;
  std::string done;  ///< the verb when it has been done
  JobChoice choice{};
  bool pipelines = false;  ///< of those that are named, all jobs of their pipelines
};

int show_job(const JobOptions& options) {
  const auto api = connect(options.client);
  if (!api) return kFailed;
  const bool json = options.client.json;
  client::Pages pages = task_pages(fmt::format("/v1/jobs/{}", options.job), options.tasks, json);
  if (options.attempts) pages.path += pages.path.back() == '?' ? "attempts=1" : "&attempts=1";
  client::TaskTable tasks;
  client::AttemptTable attempts;
  client::JsonOfPages document(pages.list, print_text);
  std::string more;
  const auto failure =
      client::each_page(*api, pages, [&](const client::Answer& page, bool last) -> Fault {
        if (last) warn_of_silent(page);
        if (json) {
          document.add(page, last);
          return std::nullopt;
        }
        const auto job = client::job_page(page);
        if (!job) return job.error();
        print_text(options.attempts ? attempts.next(job.value()) : tasks.next(job.value()));
        // Each page replaces the line; that of the last page counts.
        more =
            more_tasks_line(fmt::format("muster job {}", options.job), options.tasks, job.value());
        return std::nullopt;
      });
  if (failure) return complain_of(*failure);
  print_text(json ? "\n" : more);
  return kDone;
}

/// Sends the same token again until the answer has come: one command is one job.
int resubmit(const AgainOptions& options) {
  // be_patient: an answer that is waited for longer saves the user from asking whether the job
  // exists.
  const auto api = connect(options.client, be_patient);
  if (!api) return kFailed;
  const std::string fails =
      options.max_fails ? fmt::format(R"("max_fails":{},)", *options.max_fails) : "";
  // Made once, outside of post(), which may send the body several times.
  const std::string body = fmt::format(R"({{"failed":{},{}"token":"{}"}})", options.failed, fails,
                                       client::random_token());
  const auto answer =
      api->post(fmt::format("/v1/jobs/{}/resubmit", options.job), body, client::Elsewhere::unsent);
  std::uint64_t fresh = 0;
  const ExitCode code = print_answer(
      answer, options.client.json, [&](const client::Answer& said) -> client::Parsed<std::string> {
        const auto jobs = client::submitted_jobs(said);
        if (!jobs) return jobs.error();
        fresh = jobs->empty() ? 0 : jobs->front();
        if (options.quiet) return fmt::format("{}\n", fresh);
        return fmt::format("job {}: {} job {} once more\n", fresh,
                           options.failed ? "the unfinished tasks of" : "all of", options.job);
      });
  if (code != kDone) return code;
  const auto warnings = client::warnings_in(answer.value());
  if (warnings) {
    for (const std::string& warning : warnings.value()) complain("warning: " + warning);
  }
  const std::string job = fresh > 0 ? fmt::format("job {}", fresh) : "the new job";
  return told(job + " was taken") ? kDone : kFailed;
}

/// The outcome: done, or done when the named masters and sites have confirmed it.
std::string outcome_text(std::uint64_t job, const EachOptions& options,
                         const client::Answer& answer) {
  const auto unconfirmed = client::unconfirmed_by(answer);
  if (!unconfirmed || unconfirmed->empty()) return fmt::format("job {}: {}", job, options.done);
  return fmt::format("job {}: will be {}; not confirmed yet by {}", job, options.done,
                     fmt::join(unconfirmed.value(), ", "));
}

/// Asks for every job, also after one that failed.
int ask_each(client::ApiClient& api, const EachOptions& options, bool by_choice) {
  int exit_code = kDone;
  std::string answers;
  for (const std::uint64_t job : options.choice.jobs) {
    const auto answer =
        api.post(fmt::format("/v1/jobs/{}/{}", job, options.verb), "", client::Elsewhere::always);
    if (!answer) {
      // It has ended since it was found: the user has not asked for this very one.
      if (by_choice && answer.error().code == client::ClientError::conflict) continue;
      const std::string name = fmt::format("job {}", job);
      const std::string& why = answer.error().message;
      // Most messages of the API name the job already.
      complain(why.find(name) == std::string::npos ? name + ": " + why : why);
      exit_code = kFailed;
      continue;
    }
    answers += (answers.empty() ? "" : ",") + answer->text;
    if (options.client.json) continue;
    const std::string outcome = outcome_text(job, options, answer.value());
    print_text(outcome + "\n");
    // The order is carried out, whether the output is read or not.
    if (!told(outcome)) exit_code = kFailed;
  }
  if (!options.client.json) return exit_code;
  // One job that is named gives the API's answer as it is; anything else a list, also of one or
  // none.
  const bool alone = options.choice.jobs.size() == 1 && !by_choice;
  // A request that failed has its complaint and no document.
  if (alone && answers.empty()) return exit_code;
  print_json(alone ? answers : R"({"jobs":[)" + answers + "]}");
  return exit_code;
}

/// "All" may be an empty set; a name was typed: that no job has it is a mistake.
int none_found(const EachOptions& options) {
  const std::string& name = options.choice.name;
  complain(fmt::format("no job that is not over {}: nothing was {}",
                       name.empty() ? "is meant" : fmt::format("has the name '{}'", name),
                       options.done));
  if (!name.empty()) return kFailed;
  if (options.client.json) print_json(R"({"jobs":[]})");
  return kDone;
}

/// Puts the jobs of the pipelines for the jobs that are named, the last first: no job begins, or is
/// skipped, before it has its turn.
std::optional<Failure<client::ClientError>> widen(client::ApiClient& api, JobChoice& choice) {
  std::vector<std::uint64_t> all;
  std::set<std::uint64_t> seen;
  for (const std::uint64_t job : choice.jobs) {
    if (seen.contains(job)) continue;
    const auto graph = find_pipeline(api, JobId{job});
    if (!graph) return graph.error();
    for (const JobId each : graph->open_jobs()) {
      if (seen.insert(each.value).second) all.push_back(each.value);
    }
  }
  choice.jobs = std::move(all);
  return std::nullopt;
}

/// Sends one order for each of the jobs that are named, or that are not over and are chosen.
int order_each(EachOptions options) {
  if (!says_which(options.choice)) return kUsage;
  const auto api = connect(options.client);
  if (!api) return kFailed;
  bool by_choice = options.choice.by_choice();
  if (options.pipelines && !by_choice) {
    if (const auto failure = widen(*api, options.choice)) return complain_of(*failure);
    by_choice = true;
    if (options.choice.jobs.empty()) return none_found(options);
  } else if (by_choice) {
    if (const auto failure = find_jobs(*api, options.choice)) return complain_of(*failure);
    if (options.choice.jobs.empty()) return none_found(options);
  }
  return ask_each(*api, options, by_choice);
}

void add_each(CLI::App& app, int& exit_code, const EachOptions& words, const std::string& meaning) {
  auto options = std::make_shared<EachOptions>(words);
  CLI::App* command = app.add_subcommand(options->verb, meaning);
  add_job_choice(*command, options->choice);
  if (words.verb == "cancel") {
    CLI::Option* pipeline = command->add_flag(
        "--pipeline", options->pipelines, "with each job that is named all jobs of its pipeline");
    for (const char* choice : {"--all", "--user", "--name", "--state"}) {
      pipeline->excludes(command->get_option(choice));
    }
  }
  add_client_options(*command, options->client);
  command->callback([options, &exit_code] { exit_code = order_each(*options); });
}

}  // namespace

void add_jobs(CLI::App& app, int& exit_code) {
  add_job_lists(app, exit_code);
  auto one = std::make_shared<JobOptions>();
  CLI::App* job = app.add_subcommand("job", "Show a job and its tasks");
  job->add_option("job", one->job, "id of a job")->required()->check(is_id());
  add_task_choice(*job, one->tasks);
  job->add_flag("--attempts", one->attempts,
                "every attempt of each task: where it ran, when, and why it left");
  add_client_options(*job, one->client);
  job->callback([one, &exit_code] { exit_code = show_job(*one); });
}

void add_job_orders(CLI::App& app, int& exit_code) {
  add_each(app, exit_code, {{}, "cancel", "cancelled"}, "Cancel jobs: their tasks are stopped");
  add_each(app, exit_code, {{}, "hold", "held"}, "Hold jobs: no further task of them starts");
  add_each(app, exit_code, {{}, "release", "released"}, "Release jobs that are held");
  auto again = std::make_shared<AgainOptions>();
  CLI::App* command = app.add_subcommand("resubmit", "Submit a job once more, as a new one");
  command->add_option("job", again->job, "id of a job")->required()->check(is_id());
  command->add_flag("--failed", again->failed,
                    "only its tasks that have failed or, when it is over, did not finish");
  command->add_option("--max-fails", again->max_fails,
                      "tasks of the new job that may fail; default: as in the first job");
  command->add_flag("-q,--quiet", again->quiet, "print only the id of the new job");
  add_client_options(*command, again->client);
  command->callback([again, &exit_code] { exit_code = resubmit(*again); });
}

}  // namespace muster::cli
