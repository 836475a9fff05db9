#include "tools/cli/job_lists.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <ctime>
#include <limits>
#include <memory>
#include <vector>

#include "model/name_pattern.hpp"
#include "model/time_text.hpp"
#include "serve/api/backend.hpp"
#include "tools/cli/client_options.hpp"
#include "tools/cli/output.hpp"
#include "tools/client/local_clock.hpp"
#include "tools/client/pages.hpp"
#include "tools/client/views.hpp"

// The commands that list jobs: both ask one question of the API, which `history` asks about jobs
// that are over. Lists are fetched and printed page by page, so that a cluster with a million jobs
// needs no more memory here than one with ten. In another order than that of submission they are
// one page.

namespace muster::cli {
namespace {

using Fault = std::optional<Failure<client::ClientError>>;

// A screen or two; a list that was asked for with --limit is as long as that says.
constexpr std::uint64_t kShownJobs = 50;
// The API sorts no more, and gives a list that it has sorted in one page.
constexpr std::uint64_t kMostSorted = 10'000;

struct ListOptions {
  ClientOptions client;
  std::string command;
  std::string state = "all";
  std::string user;
  std::string name;
  std::string since;
  std::string until;
  std::string outcome;
  std::string exit_code;
  std::string sort = "submitted";
  bool failed = false;
  std::optional<std::uint64_t> limit;

  bool is_sorted() const { return sort != "submitted"; }
  bool is_history() const { return command == "history"; }
};

/// The text as a time of a clock.
std::optional<Instant> time_of_clock(std::string text) {
  const bool utc = text.ends_with('Z');
  if (utc) text.pop_back();
  for (const char* form :
       {"%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S"}) {
    std::tm parts{};
    parts.tm_isdst = -1;
    const char* end = strptime(text.c_str(), form, &parts);
    if (end == nullptr || *end != 0) continue;
    const std::time_t seconds = utc ? timegm(&parts) : mktime(&parts);
    if (seconds < 0) return std::nullopt;
    return Instant{std::chrono::seconds{seconds}};
  }
  return std::nullopt;
}

CLI::Validator is_time() {
  const auto check = [](const std::string& text) -> std::string {
    if (time_meant(text, client::clock_now())) return "";
    return "has to be a time from 1s to 3650d before now, like 2h, or one of the clock, like "
           "2025-11-29 or 2025-11-29T08:00 (UTC with a Z behind it); it is '" +
           text + "'";
  };
  return CLI::Validator(check, "TIME");
}

CLI::Validator is_pattern() {
  const auto check = [](const std::string& text) -> std::string {
    if (text.empty()) return "must not be empty; leave the option out to choose all";
    if (NamePattern::is_valid(text)) return "";
    return fmt::format("has at most {} bytes besides its stars", NamePattern::kMostBytes);
  };
  return CLI::Validator(check, "NAME");
}

/// The request without what pages add to it.
std::string path_of(const ListOptions& options) {
  std::string path = "/v1/jobs?state=" + options.state;
  // Escaped: a name may hold any character, and '&' would begin another parameter.
  const auto add = [&path](const char* name, const std::string& value) {
    if (!value.empty()) path += fmt::format("&{}={}", name, client::url_escaped(value));
  };
  add("user", options.user);
  add("name", options.name);
  const auto add_time = [&add](const char* name, const std::string& text) {
    const auto time = text.empty() ? std::nullopt : time_meant(text, client::clock_now());
    if (time) add(name, fmt::format("{:.0f}", to_seconds(*time)));
  };
  add_time("since_s", options.since);
  add_time("until_s", options.until);
  if (options.failed) path += "&failed=1";
  add("outcome", options.outcome);
  add("exit_code", options.exit_code);
  if (options.is_sorted()) add("sort", options.sort);
  return path;
}

/// How many jobs of all that match were sorted, where they are not all.
std::optional<std::uint64_t> cut_at(const client::Answer& page) {
  const auto of = page.document.find("sorted_of");
  const auto all = page.document.find("sorted_all");
  if (of == page.document.end() || !of->is_number_unsigned()) return std::nullopt;
  const std::uint64_t sorted = *of;
  // A cluster of an earlier version says only how many were sorted.
  const bool whole =
      all != page.document.end() && all->is_boolean() ? all->get<bool>() : sorted < kMostSorted;
  return whole ? std::nullopt : std::optional{sorted};
}

/// Says that there are more jobs than were shown, or were sorted.
std::string more_line(const ListOptions& options, bool more, std::optional<std::uint64_t> cut) {
  if (options.is_sorted()) {
    return cut ? fmt::format("Only the newest {} jobs that match were sorted.\n", *cut) : "";
  }
  // Only for the default bound: a user that has set one knows that the list is cut.
  if (!more || options.limit) return "";
  return fmt::format("There are more: `muster {} --limit {}` shows the first {}.\n",
                     options.command, 10 * kShownJobs, 10 * kShownJobs);
}

/// Prints page after page, so that any number of jobs takes no room.
int list_jobs(const ListOptions& options) {
  const auto api = connect(options.client);
  if (!api) return kFailed;
  client::Pages pages{path_of(options), "jobs", options.limit.value_or(kShownJobs)};
  if (options.is_sorted()) pages.at_once = kMostSorted;
  client::JobTable table(options.is_history());
  client::JsonOfPages document(pages.list, print_text);
  std::optional<std::uint64_t> cut;
  const auto failure =
      client::each_page(*api, pages, [&](const client::Answer& page, bool last) -> Fault {
        if (last) warn_of_silent(page);
        if (options.client.json) {
          document.add(page, last);
          return std::nullopt;
        }
        const auto jobs = client::job_list(page);
        if (!jobs) return jobs.error();
        cut = cut_at(page);
        print_text(table.next(jobs.value()));
        return std::nullopt;
      });
  if (failure) return complain_of(*failure);
  // The document has no line break of its own at its end.
  print_text(options.client.json ? "\n" : more_line(options, !pages.after.empty(), cut));
  return kDone;
}

/// The options of both commands.
void add_filters(CLI::App& command, ListOptions& list) {
  command.add_option("--user", list.user, "only those of this user")->check(is_filter());
  command
      .add_option(
          "--name", list.name,
          "only those with this in their names, or with such a name: * stands for any text, "
          "? for one character")
      ->check(is_pattern());
  command
      .add_option("--since", list.since, "only those submitted since, like 2h or 2025-11-29T08:00")
      ->check(is_time());
  command.add_option("--until", list.until, "only those submitted before")->check(is_time());
  command.add_flag("--failed", list.failed,
                   "only those that have failed, or of which a task has failed for good");
  command
      .add_option("--sort", list.sort,
                  "submitted, the newest first; cost or ran (from submission to end), the most "
                  "first; or name: all but the first of the newest 10,000 that match")
      ->check(CLI::IsMember(choices_of<api::JobSort>()))
      ->capture_default_str();
  command.add_option("--limit", list.limit, "most jobs; default: 50")
      ->check(CLI::Range(std::int64_t{1}, std::numeric_limits<std::int64_t>::max()));
  add_client_options(command, list.client);
}

}  // namespace

std::optional<Instant> time_meant(const std::string& text, Instant now) {
  constexpr Duration kLongest = std::chrono::hours{24 * 3650};
  const auto ago = parse_duration(text);
  if (!ago) return time_of_clock(text);
  if (*ago < std::chrono::seconds{1} || *ago > kLongest) return std::nullopt;
  return now - *ago;
}

void add_job_lists(CLI::App& app, int& exit_code) {
  auto list = std::make_shared<ListOptions>();
  list->command = "jobs";
  CLI::App* jobs = app.add_subcommand(
      "jobs", "List jobs: those that are not over, then the others, the newest first");
  jobs->add_option("--state", list->state,
                   "active, over or all; or those of the active ones that stand so")
      ->check(CLI::IsMember(choices_of<api::JobState>()))
      ->capture_default_str();
  add_filters(*jobs, *list);
  jobs->callback([list, &exit_code] { exit_code = list_jobs(*list); });

  auto past = std::make_shared<ListOptions>();
  past->command = "history";
  past->state = "over";
  CLI::App* history = app.add_subcommand(
      "history", "List jobs that are over: how they ended, what they cost, the newest first");
  history->add_option("--state", past->outcome, "only those that ended so")
      ->check(CLI::IsMember(choices_of<JobOutcome>()));
  history->add_option("--exit", past->exit_code, "only those with this exit code")
      ->check(CLI::Range(0, 255));
  add_filters(*history, *past);
  history->callback([past, &exit_code] { exit_code = list_jobs(*past); });
}

}  // namespace muster::cli
