#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/numbers.hpp"
#include "serve/api/backend.hpp"
#include "tools/cli/client_options.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/request_options.hpp"
#include "tools/client/story_views.hpp"
#include "tools/client/views.hpp"

// Commands that show the cluster as a whole, order something of an instance, or ask for a plan.

namespace muster::cli {
namespace {

struct CostOptions {
  ClientOptions client;
  std::string by = "user";
  bool today = false;
};

struct DecisionOptions {
  ClientOptions client;
  std::uint32_t limit = 20;
  std::optional<std::uint64_t> job{};
  std::optional<std::uint64_t> instance{};
  std::string master{};
  std::string since{};
  bool details = false;
};

struct LifeOptions {
  ClientOptions client;
  std::uint64_t instance = 0;
};

struct InstanceOptions {
  ClientOptions client;
  std::string verb;
  std::string done;
  std::uint64_t instance = 0;
};

struct PlanOptions {
  ClientOptions client;
  RequestOptions request;
};

/// Adds a command without options of its own that shows what is at `path`.
/// `words`: the command, its meaning, its path.
template <class Parse, class View>
CLI::App* add_listing(CLI::App& app, int& exit_code, const std::vector<std::string>& words,
                      Parse parse, View view) {
  auto options = std::make_shared<ClientOptions>();
  CLI::App* command = app.add_subcommand(words[0], words[1]);
  add_client_options(*command, *options);
  command->callback([options, path = words[2], parse, view, &exit_code] {
    const auto api = connect(*options);
    exit_code = api ? print_answer(api->get(path), options->json, shown_as(parse, view)) : kFailed;
  });
  return command;
}

int show_cost(const CostOptions& options) {
  const auto api = connect(options.client);
  if (!api) return kFailed;
  if (options.today) {
    return print_answer(api->get("/v1/cost/today"), options.client.json,
                        shown_as(client::today_of, [](const client::TodayAnswer& today) {
                          return client::view(today);
                        }));
  }
  return print_answer(api->get("/v1/cost?by=" + options.by), options.client.json,
                      shown_as(client::cost_of, [&](const client::CostAnswer& cost) {
                        return client::view(cost, options.by);
                      }));
}

int show_decisions(const DecisionOptions& options) {
  const auto api = connect(options.client);
  if (!api) return kFailed;
  std::string path = fmt::format("/v1/decisions?limit={}", options.limit);
  if (options.job) path += fmt::format("&job={}", *options.job);
  if (options.instance) path += fmt::format("&instance={}", *options.instance);
  if (!options.master.empty()) path += "&master=" + client::url_escaped(options.master);
  if (const auto since = parse_duration(options.since)) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(*since);
    path += fmt::format("&within_s={}", seconds.count());
  }
  return print_answer(api->get(path), options.client.json,
                      shown_as(client::view_of<DecisionsView>, [&](const DecisionsView& decisions) {
                        return client::view(decisions, options.details);
                      }));
}

int show_life(const LifeOptions& options) {
  const auto api = connect(options.client);
  if (!api) return kFailed;
  return print_answer(api->get(fmt::format("/v1/instances/{}", options.instance)),
                      options.client.json,
                      shown_as(client::view_of<InstanceLife>,
                               [](const InstanceLife& life) { return client::view(life); }));
}

void add_decisions(CLI::App& app, int& exit_code) {
  auto which = std::make_shared<DecisionOptions>();
  CLI::App* decisions =
      app.add_subcommand("decisions", "Show recent decisions of the masters and their reasons");
  constexpr std::uint32_t kMost = 10'000;
  decisions->add_option("--limit", which->limit, "most decisions, the newest first")
      ->check(CLI::Range(std::uint32_t{1}, kMost))
      ->capture_default_str();
  decisions->add_option("--job", which->job, "only those that did something with this job")
      ->check(is_id());
  decisions
      ->add_option("--instance", which->instance,
                   "only those that did something with this instance")
      ->check(is_id());
  decisions->add_option("--master", which->master, "only those of this master")->check(is_filter());
  decisions->add_option("--since", which->since, "only those of this last time, like 1h")
      ->check(is_since());
  decisions->add_flag("--details", which->details, "with the policy's own choice and figures");
  add_client_options(*decisions, which->client);
  decisions->callback([which, &exit_code] { exit_code = show_decisions(*which); });
}

int order_instance(const InstanceOptions& options) {
  const auto api = connect(options.client);
  if (!api) return kFailed;
  const auto done = [&](const client::Answer&) -> client::Parsed<std::string> {
    return fmt::format("instance {}: {}\n", options.instance, options.done);
  };
  // An order that is repeated changes nothing more, so it may go to any API.
  const ExitCode code =
      print_answer(api->post(fmt::format("/v1/instances/{}/{}", options.instance, options.verb), "",
                             client::Elsewhere::always),
                   options.client.json, done);
  if (code != kDone) return code;
  return told(fmt::format("instance {}: {}", options.instance, options.done)) ? kDone : kFailed;
}

void add_instance_order(CLI::App& app, int& exit_code, const InstanceOptions& words,
                        const std::string& meaning) {
  auto options = std::make_shared<InstanceOptions>(words);
  CLI::App* command = app.add_subcommand(options->verb, meaning);
  command->add_option("instance", options->instance, "id of an instance")
      ->required()
      ->check(is_id());
  add_client_options(*command, options->client);
  command->callback([options, &exit_code] { exit_code = order_instance(*options); });
}

int show_plan(const PlanOptions& options) {
  int exit_code = kDone;
  auto requests = make_requests(options.request, exit_code);
  if (!requests) return exit_code;
  // The API plans one job against the present state; a second would need the first one's outcome.
  if (requests->size() > 1) {
    complain("a plan is made for one job; there are several files");
    return kUsage;
  }
  // Nothing is sent for a plan, and the files decide nothing in it.
  requests->front().stage.clear();
  const auto api = connect(options.client);
  if (!api) return kFailed;
  // A plan changes nothing: it may be asked of any API.
  const auto answer = api->post("/v1/plan", to_json(requests->front()), client::Elsewhere::always);
  const ExitCode code = print_answer(
      answer, options.client.json,
      shown_as(client::view_of<PlanView>, [](const PlanView& plan) { return client::view(plan); }));
  if (code != kDone) return code;
  // A script that asks before it submits must not go on with what can never run.
  const auto plan = client::view_of<PlanView>(answer.value());
  const bool never =
      plan && std::ranges::count(plan->refusals, RefusalKind::never, &PlanView::Refusal::kind) > 0;
  return never ? kFailed : kDone;
}

}  // namespace

void add_cluster_views(CLI::App& app, int& exit_code) {
  add_listing(app, exit_code,
              {"status", "Show how the cluster is: jobs, instances, cost, trouble", "/v1/status"},
              client::status_of,
              [](const client::StatusAnswer& status) { return client::view(status); });
  add_listing(app, exit_code, {"instances", "List the instances", "/v1/instances"},
              client::view_of<InstancesView>,
              [](const InstancesView& instances) { return client::view(instances); });
  add_listing(app, exit_code, {"nodes", "List the nodes with their roles and loads", "/v1/nodes"},
              client::view_of<NodesView>,
              [](const NodesView& nodes) { return client::view(nodes); });
  add_decisions(app, exit_code);
  auto life = std::make_shared<LifeOptions>();
  CLI::App* instance = app.add_subcommand(
      "instance", "Show the life of an instance, also of one that is gone: its tasks and its bill");
  instance->add_option("instance", life->instance, "id of an instance")->required()->check(is_id());
  add_client_options(*instance, life->client);
  instance->callback([life, &exit_code] { exit_code = show_life(*life); });
  auto options = std::make_shared<CostOptions>();
  CLI::App* cost = app.add_subcommand("cost", "Show the cluster's costs, from the ledger");
  CLI::Option* by = cost->add_option("--by", options->by, "user, job or instance")
                        ->check(CLI::IsMember(choices_of<api::CostBy>()))
                        ->capture_default_str();
  cost->add_flag("--today", options->today, "of each user on the present day (UTC)")->excludes(by);
  add_client_options(*cost, options->client);
  cost->callback([options, &exit_code] { exit_code = show_cost(*options); });
}

void add_instance_orders(CLI::App& app, int& exit_code) {
  add_instance_order(app, exit_code, {{}, "drain", "drained: its tasks move, then it is released"},
                     "Move all tasks off an instance and release it");
  add_instance_order(app, exit_code,
                     {{}, "interrupt", "interrupted: the notice is given, then it is gone"},
                     "Interrupt a spot instance of the loopback cloud, as its cloud would");
}

void add_plan(CLI::App& app, int& exit_code, const std::vector<std::string>& words) {
  auto options = std::make_shared<PlanOptions>();
  // Words behind -- have been taken off the arguments before the library parses them.
  options->request.command = words;
  CLI::App* command =
      app.add_subcommand("plan",
                         "Show the placement that a job would get, without submitting it: plan "
                         "FILE, or -- COMMAND; exits with 1 when the job can never run");
  add_request_options(*command, options->request);
  add_client_options(*command, options->client);
  command->callback([options, &exit_code] { exit_code = show_plan(*options); });
}

}  // namespace muster::cli
