// The commands that are a cluster: `node`, and `up`, `down` and `keeper` for one on this machine.

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "config/catalog_file.hpp"
#include "schedulers/registry.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"
#include "tools/client/api_client.hpp"
#include "tools/client/context.hpp"
#include "tools/serve/local/local_cluster.hpp"
#include "tools/serve/local/shipped_file.hpp"
#include "tools/serve/node/live_node.hpp"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;

struct NodeArguments {
  std::string config;
  std::string name;
  std::vector<std::string> overrides;
  bool terminal = false;
  bool kept = false;
};

int run_node(const NodeArguments& arguments) {
  auto config = load_cluster_config(arguments.config, arguments.overrides);
  if (!config) {
    complain(config.error().message);
    return kUsage;
  }
  // Nodes of a keeper that is killed would be in the way of those of the next one.
  if (arguments.kept) prctl(PR_SET_PDEATHSIG, SIGTERM);
  // Before there are threads, so that all of them inherit it.
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  signal(SIGPIPE, SIG_IGN);
  NodeSetup setup{std::move(config).value(), arguments.name, local::own_program(),
                  arguments.terminal};
  if (setup.node.empty() && setup.config.nodes.size() == 1) {
    setup.node = setup.config.nodes.front().name;
  }
  auto node = LiveNode::start(std::move(setup));
  if (!node) {
    complain(node.error().message);
    return node.error().code == NodeError::unknown_node ? kUsage : kFailed;
  }
  int caught = 0;
  sigwait(&ends, &caught);
  return kDone;
}

struct UpArguments {
  std::string dir;
  std::optional<std::uint32_t> nodes, sites, masters;
  std::string policy;
  std::string catalog;
  double delay_scale = 0.02;
  std::uint16_t api_port = 0;
  std::vector<std::string> overrides;
  std::uint32_t wait_s = 60;
  bool json = false;
};

fs::path folder_of(const std::string& dir) {
  const fs::path folder =
      dir.empty() ? client::local_cluster_folder(client::process_environment()) : fs::path(dir);
  return fs::absolute(folder);
}

/// Waits until every node is linked; the last thing that was missing, or nothing.
std::string await_ready(const fs::path& dir, std::uint32_t wait_s, nlohmann::json& nodes) {
  client::ContextOptions where;
  where.cluster = dir.string();
  const auto context = client::find_cluster(where, client::process_environment());
  if (!context) return context.error().message;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{wait_s};
  std::string missing = "nothing answers yet";
  while (std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
    client::ApiClient api(context.value(), {});
    auto answer = api.get("/v1/nodes");
    if (!answer) continue;
    nodes = answer.value().document;
    missing.clear();
    for (const auto& node : nodes.value("nodes", nlohmann::json::array())) {
      if (!node.value("connected", false)) missing = node.value("node", "") + " is not linked yet";
    }
    if (missing.empty()) return {};
  }
  return missing;
}

void describe(const fs::path& dir, const client::ClusterContext& context,
              const nlohmann::json& nodes) {
  fmt::print("The cluster in {} is up:\n", dir.string());
  for (const auto& node : nodes.value("nodes", nlohmann::json::array())) {
    std::string roles;
    for (const auto& role : node.value("roles", nlohmann::json::array())) {
      roles += (roles.empty() ? "" : ", ") + role.get<std::string>();
    }
    fmt::print("  {:<4} {}\n", node.value("node", ""), roles);
  }
  fmt::print("API and page: {}/#token={}\n", context.api, context.token);
  const bool is_default = dir == client::local_cluster_folder(client::process_environment());
  const std::string flag = is_default ? "" : " --cluster " + dir.string();
  fmt::print("Try: muster submit{} --wait -- echo hello\n", flag);
  fmt::print("End: muster down{}\n", is_default ? "" : " --dir " + dir.string());
}

/// What is wrong with the policy or the catalog, before anything is made.
std::string fault_of(const local::LocalRequest& request) {
  const auto catalog = load_catalog(request.catalog);
  if (!catalog) return catalog.error().message;
  if (request.policy.empty()) return {};
  const auto spec = parse_policy(request.policy);
  if (!spec) return spec.error().message;
  const auto policy = make_policy(spec.value(), catalog.value());
  return policy ? std::string{} : policy.error().message;
}

/// The last line that a node complained with.
std::string last_words(const fs::path& log) {
  std::ifstream in(log);
  std::string line;
  std::string last = "none";
  while (std::getline(in, line)) {
    if (line.starts_with("muster:")) last = line;
  }
  return last;
}

int run_up(const UpArguments& arguments) {
  const fs::path dir = folder_of(arguments.dir);
  const local::LocalCluster cluster(dir);
  local::LocalRequest request;
  request.dir = dir;
  // Fewer processes than the usual roles share one site and master.
  const std::uint32_t usual = std::min<std::uint32_t>(2, arguments.nodes.value_or(2));
  request.sites = arguments.sites.value_or(usual);
  request.masters = arguments.masters.value_or(usual);
  request.nodes = arguments.nodes.value_or(request.sites + request.masters + 1);
  request.policy = arguments.policy;
  if (request.policy.empty() && !cluster.exists()) request.policy = "eva,period_s=10,eager";
  request.catalog = arguments.catalog.empty()
                        ? local::shipped_file(local::own_program(), "cluster/local-types.csv")
                        : fs::absolute(arguments.catalog);
  request.delay_scale = arguments.delay_scale;
  request.api_port = arguments.api_port;
  request.overrides = arguments.overrides;
  if (const std::string wrong = fault_of(request); !wrong.empty()) {
    complain(wrong);
    return kUsage;
  }
  if (auto made = cluster.prepare(request); !made) {
    complain(dir.string() + ": " + made.error().message);
    return made.error().code == local::LocalError::bad_request ? kUsage : kFailed;
  }
  if (auto started = cluster.start(local::own_program()); !started) {
    complain(started.error().message);
    return kFailed;
  }
  nlohmann::json nodes;
  if (const std::string missing = await_ready(dir, arguments.wait_s, nodes); !missing.empty()) {
    complain(fmt::format("the cluster did not come up in {} s: {}; its last words: {}",
                         arguments.wait_s, missing, last_words(dir / "keeper.log")));
    if (auto stopped = cluster.stop(true); !stopped) complain(stopped.error().message);
    return kFailed;
  }
  client::ContextOptions where;
  where.cluster = dir.string();
  const auto context = client::find_cluster(where, client::process_environment());
  if (arguments.json) {
    fmt::print("{}\n", nlohmann::json{{"dir", dir.string()},
                                      {"api", context.value().api},
                                      {"nodes", nodes.value("nodes", nlohmann::json::array())}}
                           .dump());
  } else {
    describe(dir, context.value(), nodes);
  }
  return kDone;
}

int run_down(const std::string& dir, bool keep_instances, bool erase) {
  const fs::path folder = folder_of(dir);
  if (auto stopped = local::LocalCluster(folder).stop(keep_instances); !stopped) {
    complain(stopped.error().message);
    return stopped.error().code == local::LocalError::bad_request ? kUsage : kFailed;
  }
  if (!erase) return kDone;
  std::error_code bad;
  fs::remove_all(folder, bad);
  if (bad) complain(folder.string() + ": " + bad.message());
  return bad ? kFailed : kDone;
}

}  // namespace

void add_node(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<NodeArguments>();
  CLI::App* command = app.add_subcommand("node", "run one node of a cluster, until SIGTERM");
  command->add_option("--config", arguments->config, "cluster file (see config-keys --cluster)")
      ->required();
  command->add_option("--name", arguments->name, "which of the file's nodes this is");
  command->add_option("--set", arguments->overrides, "KEY=VALUE instead of what the file says");
  command->add_flag("--verbose", arguments->terminal, "log to standard error too");
  command->add_flag("--kept", arguments->kept)->group("");
  command->callback([arguments, &exit_code] { exit_code = run_node(*arguments); });
}

void add_local_cluster(CLI::App& app, int& exit_code) {
  auto up = std::make_shared<UpArguments>();
  CLI::App* command =
      app.add_subcommand("up", "start a whole cluster on this machine, in a folder of its own");
  command->add_option("--dir", up->dir, "its folder; default: below the user's state folder");
  command->add_option("--sites", up->sites, "site schedulers, 1 to 5 (2)");
  command->add_option("--masters", up->masters, "masters, 1 to 8 (2)");
  command->add_option("--nodes", up->nodes,
                      "processes that share the roles (one a role, and one for the cloud)");
  command->add_option("--policy", up->policy, "NAME[,key=value...] (eva,period_s=10,eager)");
  command->add_option("--catalog", up->catalog, "instance types, CSV; default: the shipped ones");
  command->add_option("--delay-scale", up->delay_scale, "of the catalog's delays (0.02)");
  command->add_option("--api-port", up->api_port, "of the API; default: one that is free");
  command->add_option("--set", up->overrides, "KEY=VALUE of the cluster file");
  command->add_option("--wait", up->wait_s, "seconds to wait for all nodes (60)");
  command->add_flag("--json", up->json, "say it as JSON");
  command->callback([up, &exit_code] { exit_code = run_up(*up); });

  struct DownArguments {
    std::string dir;
    bool keep = false;
    bool erase = false;
  };
  auto down = std::make_shared<DownArguments>();
  command = app.add_subcommand("down", "end the cluster that `up` started");
  command->add_option("--dir", down->dir, "its folder");
  command->add_flag("--keep-instances", down->keep, "leave the instances and their tasks running");
  command->add_flag("--erase", down->erase, "delete its folder, with everything it knows");
  command->callback(
      [down, &exit_code] { exit_code = run_down(down->dir, down->keep, down->erase); });

  auto dir = std::make_shared<std::string>();
  command = app.add_subcommand("keeper", "keep the nodes of a local cluster running")->group("");
  command->add_option("DIR", *dir)->required();
  command->callback(
      [dir, &exit_code] { exit_code = local::keep_nodes(*dir, local::own_program()); });
}

}  // namespace muster::cli
