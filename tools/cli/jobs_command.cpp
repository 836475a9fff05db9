#include <fmt/format.h>

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/cli/client_options.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/task_pages.hpp"
#include "tools/client/pages.hpp"
#include "tools/client/token_views.hpp"
#include "tools/client/views.hpp"

// The commands that list, show, cancel, hold, release and resubmit jobs. Lists are fetched and
// printed page by page, so that a cluster with a million jobs needs no more memory here than one
// with ten. Orders name one job each; an order that fails does not keep the others from being sent.

namespace muster::cli {
namespace {

using Fault = std::optional<Failure<client::ClientError>>;

// A screen or two; a list that was asked for with --limit is as long as that says.
constexpr std::uint64_t kShownJobs = 50;

struct JobsOptions {
  ClientOptions client;
  std::string state = "all";
  std::string user;
  std::optional<std::uint64_t> limit;
};

struct JobOptions {
  ClientOptions client;
  TaskChoice tasks;
  std::uint64_t job = 0;
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
  std::vector<std::uint64_t> jobs;
  bool by_choice = false;  ///< the jobs were found, not named: there may be any number
};

struct CancelOptions {
  EachOptions each{{}, "cancel", "cancelled", {}, false};
  bool all = false;
  std::string user;
  std::string state;
};

/// The jobs of a list, as many as are wanted.
client::Pages job_pages(const std::string& state, const std::string& user, std::uint64_t most) {
  client::Pages pages{"/v1/jobs?state=" + state, "jobs", most};
  if (!user.empty()) pages.path += "&user=" + client::url_escaped(user);
  return pages;
}

/// Prints page after page, so that any number of jobs takes no room.
int list_jobs(const JobsOptions& options) {
  const auto api = connect(options.client);
  if (!api) return kFailed;
  client::Pages pages = job_pages(options.state, options.user, options.limit.value_or(kShownJobs));
  client::JobTable table;
  client::JsonOfPages document(pages.list, print_text);
  const auto failure =
      client::each_page(*api, pages, [&](const client::Answer& page, bool last) -> Fault {
        if (last) warn_of_silent(page);
        if (options.client.json) {
          document.add(page, last);
          // Escaped: a user's name may hold any character, and '&' would begin another parameter.
          return std::nullopt;
        }
        const auto jobs = client::job_list(page);
        if (!jobs) return jobs.error();
        print_text(table.next(jobs.value()));
        return std::nullopt;
      });
  if (failure) return complain_of(*failure);
  if (options.client.json) {
    // The document has no line break of its own at its end.
    print_text("\n");
    // Only for the default bound: a user that has set one knows that the list is cut.
  } else if (!pages.after.empty() && !options.limit) {
    print_text(fmt::format("There are more: `muster jobs --limit {}` shows the first {}.\n",
                           10 * kShownJobs, 10 * kShownJobs));
  }
  return kDone;
}

int show_job(const JobOptions& options) {
  const auto api = connect(options.client);
  if (!api) return kFailed;
  const bool json = options.client.json;
  client::Pages pages = task_pages(fmt::format("/v1/jobs/{}", options.job), options.tasks, json);
  client::TaskTable table;
  client::JsonOfPages document(pages.list, print_text);
  std::string more;
  const auto failure =
      client::each_page(*api, pages, [&](const client::Answer& page, bool last) -> Fault {
        if (last) warn_of_silent(page);
        if (json) {
          document.add(page, last);
          return std::nullopt;
        }
        const auto job = client::job_details(page);
        if (!job) return job.error();
        print_text(table.next(job.value()));
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
int ask_each(client::ApiClient& api, const EachOptions& options) {
  int exit_code = kDone;
  std::string answers;
  for (const std::uint64_t job : options.jobs) {
    const auto answer =
        api.post(fmt::format("/v1/jobs/{}/{}", job, options.verb), "", client::Elsewhere::always);
    if (!answer) {
      // It has ended since it was found: nobody has asked for this very one.
      if (options.by_choice && answer.error().code == client::ClientError::conflict) continue;
      const std::string name = fmt::format("job {}", job);
      const std::string& why = answer.error().message;
      // Most messages of the API name the job already.
      complain(why.find(name) == std::string::npos ? name + ": " + why : why);
      exit_code = kFailed;
      continue;
    }
    answers += (answers.empty() ? "" : ",") + answer->text;
    if (!options.client.json) print_text(outcome_text(job, options, answer.value()));
  }
  if (!options.client.json) return exit_code;
  // One job that is named gives the API's answer as it is; anything else a list, also of one or
  // none.
  const bool alone = options.jobs.size() == 1 && !options.by_choice;
  print_json(alone ? answers : R"({"jobs":[)" + answers + "]}");
  return exit_code;
}

int order_each(const EachOptions& options) {
  const auto api = connect(options.client);
  return api ? ask_each(*api, options) : kFailed;
}

/// Whose jobs the token may cancel; empty: everybody's, or the API does not say.
std::string whose_jobs(client::ApiClient& api) {
  const auto answer = api.get("/v1/me");
  if (!answer) return "";
  const auto token = client::own_token(answer.value());
  return token && token->role == "user" ? token->user : "";
}

/// Cancels the jobs that are named, or those that are not over and of the user and state asked for.
int cancel_jobs(CancelOptions options) {
  const bool chosen = options.all || !options.user.empty() || !options.state.empty();
  // Ids and filters exclude each other: exactly one of the two is given.
  if (chosen == !options.each.jobs.empty()) {
    complain("say which jobs: their ids, or --all, --user or --state; not both");
    return kUsage;
  }
  const auto api = connect(options.each.client);
  if (!api) return kFailed;
  if (!chosen) return ask_each(*api, options.each);
  // "All" are all of one's own where others' are none of the token's business.
  if (options.user.empty()) options.user = whose_jobs(*api);
  constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
  // All are found before the first is cancelled: pages would shift while jobs end.
  client::Pages pages = job_pages("active", options.user, kAll);
  const auto choose = [&](const client::Answer& page, bool last) -> Fault {
    if (last) warn_of_silent(page);
    const auto jobs = client::job_list(page);
    if (!jobs) return jobs.error();
    for (const client::JobAnswer& job : jobs.value()) {
      // The API filters by active or over only; finer states are told apart here.
      if (options.state.empty() || job.state == options.state) {
        options.each.jobs.push_back(job.job);
      }
    }
    return std::nullopt;
  };
  if (const auto failure = client::each_page(*api, pages, choose)) return complain_of(*failure);
  options.each.by_choice = true;
  return ask_each(*api, options.each);
}

void add_cancel(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<CancelOptions>();
  CLI::App* command = app.add_subcommand("cancel", "Cancel jobs: their tasks are stopped");
  command->add_option("jobs", options->each.jobs, "ids of jobs")->check(is_id());
  command->add_flag("--all", options->all,
                    "all jobs that are not over; with a user's token: its own");
  command->add_option("--user", options->user, "those of this user")->check(is_filter());
  command->add_option("--state", options->state, "those that are waiting, running or held")
      ->check(CLI::IsMember({"waiting", "running", "held"}));
  add_client_options(*command, options->each.client);
  command->callback([options, &exit_code] { exit_code = cancel_jobs(*options); });
}

void add_each(CLI::App& app, int& exit_code, const EachOptions& words, const std::string& meaning) {
  auto options = std::make_shared<EachOptions>(words);
  CLI::App* command = app.add_subcommand(options->verb, meaning);
  command->add_option("jobs", options->jobs, "ids of jobs")->required()->check(is_id());
  add_client_options(*command, options->client);
  command->callback([options, &exit_code] { exit_code = order_each(*options); });
}

}  // namespace

void add_jobs(CLI::App& app, int& exit_code) {
  auto list = std::make_shared<JobsOptions>();
  CLI::App* jobs = app.add_subcommand(
      "jobs", "List jobs: those that are not over, then the others, the newest first");
  jobs->add_option("--state", list->state, "active, over or all")
      ->check(CLI::IsMember({"active", "over", "all"}))
      ->capture_default_str();
  jobs->add_option("--user", list->user, "only those of this user")->check(is_filter());
  jobs->add_option("--limit", list->limit, "at most so many; default: 50")
      ->check(CLI::Range(std::int64_t{1}, std::numeric_limits<std::int64_t>::max()));
  add_client_options(*jobs, list->client);
  jobs->callback([list, &exit_code] { exit_code = list_jobs(*list); });

  auto one = std::make_shared<JobOptions>();
  CLI::App* job = app.add_subcommand("job", "Show a job and its tasks");
  job->add_option("job", one->job, "id of a job")->required()->check(is_id());
  add_task_choice(*job, one->tasks);
  add_client_options(*job, one->client);
  job->callback([one, &exit_code] { exit_code = show_job(*one); });
}

void add_job_orders(CLI::App& app, int& exit_code) {
  add_cancel(app, exit_code);
  add_each(app, exit_code, {{}, "hold", "held", {}, false},
           "Hold jobs: none of their waiting tasks is started");
  add_each(app, exit_code, {{}, "release", "released", {}, false}, "Release jobs that are held");
  auto again = std::make_shared<AgainOptions>();
  CLI::App* command = app.add_subcommand("resubmit", "Submit a job once more, as a new one");
  command->add_option("job", again->job, "id of a job")->required()->check(is_id());
  command->add_flag("--failed", again->failed,
                    "only its tasks that have failed or, when it is over, did not finish");
  command->add_option("--max-fails", again->max_fails,
                      "so many tasks of the new job may fail; default: as of the first one");
  command->add_flag("-q,--quiet", again->quiet, "print only the id of the new job");
  add_client_options(*command, again->client);
  command->callback([again, &exit_code] { exit_code = resubmit(*again); });
}

}  // namespace muster::cli
