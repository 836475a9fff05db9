#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "config/numbers.hpp"
#include "tools/cli/client_options.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/named_task.hpp"
#include "tools/cli/output.hpp"
#include "tools/client/pages.hpp"
#include "tools/client/usage_views.hpp"

// `muster top`: running tasks with what they take of their instances, at present or live.

namespace muster::cli {
namespace {

using client::ClientError;
using client::UsageSort;

constexpr std::uint64_t kMostShown = 10'000;
/// Entries of a page: as many as the API gives at once.
constexpr std::uint64_t kAtOnce = 250;
/// Rows of a terminal that does not say how many it has.
constexpr std::size_t kUsualRows = 24;
/// Of a screen besides the tasks: the line above them, the table's head, and the cursor's.
constexpr std::size_t kOtherRows = 3;
constexpr const char* kClearScreen = "\x1b[H\x1b[J";

struct TopOptions {
  ClientOptions client;
  std::vector<std::string> tasks;  ///< JOB or JOB:TASK; none: all
  std::string user;
  std::string sort = "cpu";
  std::string interval = "2s";
  std::uint64_t limit = 1'000;
  bool once = false;
};

/// Tasks that run at one time.
struct TopLook {
  std::vector<TaskUsageView> tasks{};
  std::set<std::pair<std::uint64_t, std::uint32_t>> seen{};  ///< jobs and indices of these
  bool more = false;     ///< further tasks run than were asked for
  bool complete = true;  ///< all masters have answered
  bool warns = true;     ///< of those that have not, on the standard error
  nlohmann::json documents = nlohmann::json::array();  ///< the tasks as the API writes them
};

/// The path of what one of the named tasks takes, or of all.
std::string path_of(const TopOptions& options, const std::optional<NamedTask>& named) {
  std::string path = "/v1/usage?";
  if (named) path += fmt::format("job={}&", named->job);
  if (named && named->task) path += fmt::format("task={}&", *named->task);
  if (!options.user.empty()) path += "user=" + client::url_escaped(options.user) + "&";
  return path.substr(0, path.size() - 1) + (path.back() == '?' ? "?" : "");
}

/// Adds the running tasks of that path, each once though several names stand for it.
std::optional<Failure<ClientError>> add_tasks(client::ApiClient& api, const std::string& path,
                                              std::uint64_t most, TopLook& look) {
  // One more than is shown: whether others run is only known by one of them.
  client::Pages pages{path, "tasks", most + 1};
  pages.at_once = kAtOnce;
  const auto failure = client::each_page(
      api, pages, [&](const client::Answer& page, bool) -> std::optional<Failure<ClientError>> {
        // A page is of one master: a silent one is named on its own page.
        if (look.warns) warn_of_silent(page);
        const auto read = client::view_of<UsageView>(page);
        if (!read) return read.error();
        auto document = nlohmann::json::parse(page.text, nullptr, false);
        if (!document.is_object()) return std::nullopt;
        look.complete &= document.value("complete", true);
        for (std::size_t i = 0; i < read->tasks.size(); ++i) {
          const TaskUsageView& task = read->tasks[i];
          if (!look.seen.emplace(task.job.value, task.index).second) continue;
          look.more |= look.tasks.size() == most;
          if (look.more) break;
          look.tasks.push_back(task);
          look.documents.push_back(std::move(document["tasks"][i]));
        }
        return std::nullopt;
      });
  return failure;
}

/// `warns`: of masters that do not answer.
Expected<TopLook, ClientError> look_at_tasks(client::ApiClient& api, const TopOptions& options,
                                             bool warns) {
  TopLook look;
  look.warns = warns;
  std::vector<std::optional<NamedTask>> named;
  for (const std::string& text : options.tasks) named.push_back(named_task(text));
  if (named.empty()) named.emplace_back();
  for (const auto& each : named) {
    if (look.more) break;
    if (const auto failure = add_tasks(api, path_of(options, each), options.limit, look)) {
      return *failure;
    }
  }
  return look;
}

/// The present as text; `rows`: at most this number of tasks.
std::string text_of(TopLook& look, const TopOptions& options, std::size_t rows) {
  client::sort_usage(look.tasks, options.sort == "mem" ? UsageSort::mem : UsageSort::cpu);
  std::string text = (look.complete ? "" : "at least ") + client::usage_line(look.tasks);
  if (look.more) text += fmt::format("; more run than --limit {}", options.limit);
  return text + "\n" + client::usage_table(look.tasks, rows);
}

std::size_t rows_of_screen() {
  winsize size{};
  const bool said = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
  const std::size_t rows = said ? size.ws_row : kUsualRows;
  return rows > kOtherRows ? rows - kOtherRows : 1;
}

int show_once(client::ApiClient& api, const TopOptions& options) {
  auto look = look_at_tasks(api, options, true);
  if (!look) return complain_of(look.error());
  if (options.client.json) {
    nlohmann::json document{{"tasks", std::move(look->documents)}, {"complete", look->complete}};
    document["more"] = look->more;
    print_json(document.dump());
  } else {
    print_text(text_of(look.value(), options, look->tasks.size()));
  }
  return kDone;
}

/// Draws the screen anew at each look, until it is interrupted or the cluster does not answer.
int show_live(client::ApiClient& api, const TopOptions& options, Duration interval) {
  while (true) {
    auto look = look_at_tasks(api, options, false);
    if (!look) return complain_of(look.error());
    print_text(kClearScreen + text_of(look.value(), options, rows_of_screen()));
    std::cout << std::flush;
    if (!std::cout) return kFailed;
    std::this_thread::sleep_for(interval);
  }
}

CLI::Validator is_interval() {
  const auto check = [](const std::string& text) -> std::string {
    constexpr double kLeastS = 0.5, kMostS = 3600;
    const auto time = parse_duration(text);
    if (time && to_seconds(*time) >= kLeastS && to_seconds(*time) <= kMostS) return "";
    return "has to be a time from 0.5s to 1h, like 2s; it is '" + text + "'";
  };
  return CLI::Validator(check, "TIME");
}

int run_top(const TopOptions& options) {
  const auto interval = parse_duration(options.interval);
  const auto api = connect(options.client);
  if (!api || !interval) return kFailed;
  const bool lives = !options.once && !options.client.json && is_able_terminal(STDOUT_FILENO);
  return lives ? show_live(*api, options, *interval) : show_once(*api, options);
}

}  // namespace

void add_top(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<TopOptions>();
  CLI::App* command = app.add_subcommand(
      "top", "Show running tasks with the processors and the memory that they take");
  command
      ->add_option("job", options->tasks,
                   "ids of jobs, each perhaps with a task in it: 12 or 12:3; default: all")
      ->check(is_task());
  command->add_option("--user", options->user, "only tasks of this user")->check(is_filter());
  command->add_option("--sort", options->sort, "key of the order, the most first")
      ->check(CLI::IsMember({"cpu", "mem"}))
      ->capture_default_str();
  command->add_option("--limit", options->limit, "most tasks that are asked for")
      ->check(CLI::Range(std::uint64_t{1}, kMostShown))
      ->capture_default_str();
  command->add_flag("--once", options->once,
                    "print one table and end; so it is where the output is no terminal");
  command->add_option("--interval", options->interval, "time between two looks")
      ->check(is_interval())
      ->capture_default_str();
  add_client_options(*command, options->client);
  command->callback([options, &exit_code] { exit_code = run_top(*options); });
}

}  // namespace muster::cli
