#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/numbers.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/job_choice.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/wait_for_jobs.hpp"

// The command that waits for jobs which were submitted before, perhaps by somebody else or from a
// terminal that is gone.

namespace muster::cli {
namespace {

struct WaitCommandOptions {
  ClientOptions client;
  JobChoice choice;
  std::string at_most;
  bool quiet = false;
};

std::string check_time(const std::string& text) {
  const auto time = parse_duration(text);
  if (time && *time >= Duration{}) return "";
  return fmt::format("has to be a time: {}; it is '{}'", kDurationForms, text);
}

/// The newest job that is over and has the name; nothing when there is no such job.
Expected<std::vector<std::uint64_t>, client::ClientError> newest_over(client::ApiClient& api,
                                                                      const JobChoice& choice) {
  std::vector<std::uint64_t> newest;
  client::Pages pages = job_pages(choice, "over", 1);
  const auto failure = client::each_page(
      api, pages,
      [&](const client::Answer& page, bool) -> std::optional<Failure<client::ClientError>> {
        const auto jobs = client::job_list(page);
        if (!jobs) return jobs.error();
        for (const JobView& job : jobs.value()) newest.push_back(job.job.value);
        return std::nullopt;
      });
  if (failure) return *failure;
  return newest;
}

/// Finds the jobs that are chosen; an exit code when there is nothing to wait for.
std::optional<int> choose(WaitCommandOptions& options) {
  const auto api = connect(options.client);
  if (!api) return kFailed;
  JobChoice& choice = options.choice;
  if (const auto failure = find_jobs(*api, choice)) return complain_of(*failure);
  if (!choice.jobs.empty()) return std::nullopt;
  if (choice.name.empty()) {
    if (options.client.json) print_json(R"({"jobs":[]})");
    return kDone;
  }
  // A name is one that somebody gave: one that has come to its end meanwhile is meant, and one that
  // there never was is a mistake.
  auto over = newest_over(*api, choice);
  if (!over) return complain_of(over.error());
  if (over->empty()) {
    complain("no job is known that has the name '" + choice.name + "'");
    return kFailed;
  }
  choice.jobs = std::move(over).value();
  return std::nullopt;
}

int run_command(WaitCommandOptions options) {
  if (!says_which(options.choice)) return kUsage;
  if (options.choice.by_choice()) {
    if (const auto exit_code = choose(options)) return *exit_code;
  }
  WaitOptions how;
  how.show_progress = !options.quiet;
  how.accepted = false;
  if (!options.at_most.empty()) how.at_most = parse_duration(options.at_most);
  return wait_for_jobs(options.client, options.choice.jobs, how);
}

}  // namespace

void add_wait(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<WaitCommandOptions>();
  CLI::App* command = app.add_subcommand(
      "wait", "Wait until jobs are over, and exit with their exit code, as submit --wait does");
  add_job_choice(*command, options->choice);
  command
      ->add_option("--timeout", options->at_most,
                   "longest wait, like 10min; the exit code is 124 after it")
      ->check(CLI::Validator(check_time, "TIME"));
  command->add_flag("-q,--quiet", options->quiet, "show no progress");
  add_client_options(*command, options->client);
  command->callback([options, &exit_code] { exit_code = run_command(*options); });
}

}  // namespace muster::cli
