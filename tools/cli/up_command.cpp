// A cluster on this machine: `up`, and `keeper`, which keeps its nodes running.

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>

#include "config/catalog_file.hpp"
#include "config/numbers.hpp"
#include "model/rounded_text.hpp"
#include "schedulers/registry.hpp"
#include "serve/local/folder_lock.hpp"
#include "serve/local/local_cluster.hpp"
#include "serve/local/task_passage.hpp"
#include "serve/machines/task_user.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/join_place.hpp"
#include "tools/cli/last_words.hpp"
#include "tools/cli/local_folder.hpp"
#include "tools/cli/nodes_linked.hpp"
#include "tools/cli/output.hpp"
#include "tools/client/api_client.hpp"
#include "tools/client/context.hpp"
#include "tools/client/printable.hpp"
#include "tools/client/shell_words.hpp"
#include "workers/process/limits/task_limits.hpp"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;

/// Files of a cluster are for the user who runs it.
constexpr mode_t kOwnerOnly = 077;
constexpr std::chrono::seconds kOtherUp{60};

struct UpArguments {
  std::string dir;
  std::optional<std::uint32_t> nodes, sites, masters;
  std::string policy;
  std::string catalog;
  std::string prices;
  std::optional<double> price_speed;
  std::optional<double> delay_scale;
  std::optional<std::uint16_t> api_port;
  std::string caps;
  std::string join;
  bool rents = false;
  std::vector<std::string> overrides;
  std::uint32_t wait_s = 60;
  bool json = false;
  bool quiet = false;
  bool new_stores = false;
};

/// Messages about a file name it whole, and with it the folder.
std::string about(const fs::path& dir, const std::string& message) {
  return message.find(dir.string() + "/") != std::string::npos ? message
                                                               : dir.string() + ": " + message;
}

/// Waits until every node is linked; the last thing that was missing, or nothing. Does not wait for
/// a node that ends again and again, nor for a cluster that somebody ends. `runs`: it had a keeper
/// before.
std::optional<Missing> await_ready(const fs::path& dir, std::uint32_t wait_s,
                                   const LastWords& words, bool runs, nlohmann::json& nodes) {
  client::ContextOptions where;
  where.cluster = dir.string();
  const auto context = client::find_cluster(where, client::process_environment());
  if (!context) return Missing{context.error().message};
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{wait_s};
  std::optional<Missing> missing = Missing{"nothing answers yet"};
  bool first = true;  // one that is up is seen to be so whatever the time to wait
  const local::LocalCluster cluster(dir);
  bool kept = runs;
  while (std::exchange(first, false) || std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
    if (const std::string node = words.node_that_gives_up(); !node.empty()) {
      return Missing{fmt::format("node {} has ended {} times", node, LastWords::kVainStarts), node};
    }
    // It takes a moment to begin; once it is there it ends by somebody's will alone. One that was
    // started here, and begins and ends between two looks, is told by its own end; it ends, too,
    // where another one was before it, as one that nodes have started again.
    const bool is_kept = cluster.keeper().has_value();
    const bool has_ended = waitpid(-1, nullptr, WNOHANG) > 0;
    const bool was_kept = std::exchange(kept, is_kept);
    if ((has_ended || was_kept) && !is_kept) {
      return Missing{"it was ended while it started, perhaps by `muster down`", {}, true};
    }
    missing = look_everywhere(context.value(), nodes);
    if (!missing) return std::nullopt;
  }
  missing->text += fmt::format(", after {} s", wait_s);
  return missing;
}

/// The page's address; with the token in it, it opens without asking. A browser keeps what stands
/// behind a # to itself.
std::string page_address(const client::ClusterContext& context, bool quiet) {
  return context.api + (quiet ? "/" : "/#token=" + context.token);
}

void describe(const fs::path& dir, const ClusterConfig& config, const nlohmann::json& nodes) {
  fmt::print("The cluster in {} is up:\n", client::printable(dir.string()));
  for (const auto& node : nodes.value("nodes", nlohmann::json::array())) {
    std::string roles;
    for (const auto& role : node.value("roles", nlohmann::json::array())) {
      roles += (roles.empty() ? "" : ", ") + role.get<std::string>();
    }
    fmt::print("  {:<4} {}\n", node.value("node", ""), roles);
  }
  fmt::print("Caps: {}\n", local::caps_text(config));
  // A catalog that cannot be read is no reason against showing a cluster that is up.
  const auto catalog = load_catalog(config.catalog);
  const std::string shortfall = catalog ? local::caps_shortfall(config, catalog.value()) : "";
  if (!shortfall.empty()) fmt::print("Note: {}\n", shortfall);
  if (config.cloud.max_instances != 0) {
    fmt::print("Room: {} at once on this computer (cloud.max_instances)\n",
               count_text(config.cloud.max_instances.value_or(
                              machines::most_workers(machines::look_at_computer())),
                          "instance"));
  }
  const std::string prices = local::moving_prices(config.cloud);
  if (!prices.empty()) fmt::print("Prices: {}\n", prices);
  const std::string rounds = catalog ? local::batch_rounds(config, catalog.value()) : "";
  if (!rounds.empty()) fmt::print("Rounds: {}\n", rounds);
}

/// Where to go on from here.
void say_what_next(const fs::path& dir, const std::string& page) {
  fmt::print("API and page: {}\n", page);
  const bool is_default = dir == local_folder("");
  const std::string flag = is_default ? "" : " --cluster " + client::shell_word(dir.string());
  fmt::print("Try: muster submit{} --wait -- echo hello\n", flag);
  fmt::print("End: muster down{}\n",
             is_default ? "" : " --dir " + client::shell_word(dir.string()));
}

/// The caps of all masters together; null: no caps.
nlohmann::json caps_json(const ClusterConfig& config) {
  // The file holds the cap of each master; people state that of the cluster.
  const auto masters = static_cast<double>(config.masters().size());
  const auto total = [&](double cap) { return cap > 0 ? nlohmann::json(cap * masters) : nullptr; };
  return {{"max_instances", total(config.master.caps.max_instances)},
          {"max_usd_h", total(config.master.caps.max_usd_h)},
          {"max_usd_day", total(config.master.caps.max_usd_day)}};
}

/// The folder above that of the cluster when `up` makes both; else an empty path.
fs::path own_parent(const fs::path& dir) {
  const fs::path usual = client::local_cluster_folder(client::process_environment());
  return dir == fs::absolute(usual) ? dir.parent_path() : fs::path();
}

/// How to have tasks run as another user, as far as there is a way to the cluster's folder for it.
std::string as_another_user(const fs::path& dir) {
  constexpr std::uint32_t kNobody = 65534;
  const fs::path above =
      own_parent(dir).empty() ? dir.parent_path() : own_parent(dir).parent_path();
  if (machines::barred_on_way(above, kNobody)) {
    return "As another user, in a new cluster: " +
           local::elsewhere(kNobody, fmt::format("task_uid={}", kNobody));
  }
  const std::string where =
      own_parent(dir).empty() ? " --dir " + client::shell_word(dir.string()) : "";
  return fmt::format("As another user: muster down{0} && muster up{0} --set worker.task_uid={1}",
                     where, kNobody);
}

/// As whom the tasks of a loopback cloud run, and what that lets them do.
std::string task_user(const fs::path& dir, const ClusterConfig& config) {
  const bool as_root = geteuid() == 0 && !machines::other_task_user(config.worker);
  const std::string said = machines::task_user_sentence(config.worker);
  return as_root ? said + ". " + as_another_user(dir) : said;
}

/// Difference between a cluster that is there and the wanted one; empty: no difference, or there is
/// no cluster yet.
std::string difference(const UpArguments& asked, const local::LocalCluster& cluster) {
  if (!cluster.exists()) return {};
  const auto config = load_cluster_config(cluster.config_file(), {});
  if (!config) return {};  // said when it is loaded for use
  const std::size_t sites = config.value().sites().size();
  const std::size_t masters = config.value().masters().size();
  const std::size_t nodes = config.value().nodes.size();
  const bool same = asked.sites.value_or(sites) == sites &&
                    asked.masters.value_or(masters) == masters &&
                    asked.nodes.value_or(nodes) == nodes;
  if (!same) {
    return fmt::format("the cluster here has {}, {} and {}", count_text(sites, "site"),
                       count_text(masters, "master"), count_text(nodes, "node"));
  }
  if (asked.join.empty()) return {};
  const auto& join = config.value().cloud_node().join;
  if (!join) return "no machines join the cluster here";
  if (join != join_place(asked.join)) {
    return fmt::format("machines join the cluster here at {}", to_text(*join));
  }
  const bool rents = config.value().cloud.provider != "hosts";
  if (rents == asked.rents) return {};
  return rents ? "the cluster here rents beside machines that join (--rent)"
               : "the cluster here rents nothing beside machines that join";
}

/// Shows the cluster, whose nodes are linked, and what has been changed of it.
int show_cluster(const UpArguments& arguments, const local::LocalCluster& cluster,
                 const nlohmann::json& nodes, const std::vector<std::string>& changes) {
  const fs::path dir = local_folder(arguments.dir);
  const auto config = load_cluster_config(cluster.config_file(), {});
  client::ContextOptions where;
  where.cluster = dir.string();
  const auto context = client::find_cluster(where, client::process_environment());
  if (!config || !context) {
    complain(about(dir, !config ? config.error().message : context.error().message));
    return kFailed;
  }
  // The cluster has come up with them: a later failure goes back to these and no further.
  cluster.keep_settings();
  const std::string user = task_user(dir, config.value());
  if (!arguments.json) {
    for (const std::string& change : changes)
      fmt::print("Changed: {}\n", client::printable(change));
    describe(dir, config.value(), nodes);
    say_what_next(dir, page_address(context.value(), arguments.quiet));
    fmt::print("{}\n", user);
    say_how_to_join(config.value().cloud_node().join);
    return kDone;
  }
  fmt::print("{}\n", nlohmann::json{{"dir", dir.string()},
                                    {"api", context.value().api},
                                    {"caps", caps_json(config.value())},
                                    {"changed", changes},
                                    {"tasks_run_as", user},
                                    {"nodes", nodes.value("nodes", nlohmann::json::array())}}
                         .dump());
  return kDone;
}

/// Makes "5min" or "10:00" a number of seconds; other texts stay for the library to complain of.
std::string in_whole_seconds(std::string& text) {
  const auto time = parse_duration(text);
  const bool whole = time && *time >= Duration{} && *time % std::chrono::seconds{1} == Duration{};
  if (whole) text = std::to_string(*time / std::chrono::seconds{1});
  return "";
}

/// A script whose variable is not set asks for nothing in particular; it is told so.
CLI::Validator not_empty() {
  const auto check = [](const std::string& text) -> std::string {
    return text.empty() ? "must not be empty; leave the option out for what is usual" : "";
  };
  return CLI::Validator(check, "TEXT");
}

local::LocalRequest request_of(const UpArguments& arguments) {
  local::LocalRequest request;
  // A single process has one site. One master has all room and all caps, so that nothing waits
  // beside what another would have free.
  request.sites = arguments.sites.value_or(std::min<std::uint32_t>(2, arguments.nodes.value_or(2)));
  request.masters = arguments.masters.value_or(1);
  request.policy = with_absolute_paths(arguments.policy);
  if (!arguments.catalog.empty()) request.catalog = fs::absolute(arguments.catalog);
  if (!arguments.prices.empty()) request.prices = fs::absolute(arguments.prices);
  request.price_speed = arguments.price_speed;
  request.delay_scale = arguments.delay_scale;
  request.api_port = arguments.api_port;
  request.overrides = arguments.overrides;
  request.new_stores = arguments.new_stores;
  if (!arguments.join.empty()) request.join = join_place(arguments.join);
  request.rents = arguments.rents;
  request.nodes = arguments.nodes.value_or(local::most_nodes(request));
  return request;
}

/// Lines about a change that was made.
std::vector<std::string> said_of(const local::Prepared& prepared, bool was_there,
                                 const UpArguments& arguments) {
  std::vector<std::string> said;
  for (const local::SettingChange& change : prepared.changes) {
    said.push_back(fmt::format("{} (it had {})", change.flag, change.holds));
  }
  if (arguments.new_stores && was_there) {
    said.push_back("--new-store (stores that were not there have been made)");
  }
  return said;
}

/// Ends what did not come up, and takes back what was to be changed with it.
int take_back(const local::LocalCluster& cluster, const std::string& why) {
  complain(why);
  // `true` keeps the instances: tasks that run must not end with a start that has failed.
  if (auto stopped = cluster.stop({.keep_instances = true}); !stopped)
    complain(stopped.error().message);
  const auto restored = cluster.restore_settings();
  if (!restored) {
    complain(restored.error().message);
  } else if (restored.value()) {
    complain(
        fmt::format("its earlier settings are restored; the settings that it did not start with "
                    "are in {}.failed",
                    cluster.config_file().string()));
  }
  return kFailed;
}

/// Of nodes that somebody has taken out of the file: their stores stay unread.
void warn_of_left_nodes(const fs::path& dir, const ClusterConfig& config) {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(config.state, none)) {
    const std::string node = entry.path().filename().string();
    if (config.find(node) != nullptr) continue;
    std::string roles;
    for (const char* role : {"site", "master"}) {
      if (fs::exists(entry.path() / role, none)) {
        roles += (roles.empty() ? "" : " and ") + std::string(role);
      }
    }
    if (roles.empty()) continue;
    complain(
        fmt::format("{}: node {} is not in cluster.toml, and the jobs of its {} are not seen; "
                    "they are in {}, for when it is there again",
                    dir.string(), node, roles, entry.path().string()));
  }
}

/// As far as they may be raised; says which stay low.
void raise_limits() {
  process::raise_own_limits();
  if (const std::string low = process::low_limits(); !low.empty()) {
    complain("the hard limits of where this is started hold the cluster and its tasks too: " + low +
             " (ulimit -H)");
  }
}

void mend_keeper(const local::LocalCluster& cluster, const fs::path& dir) {
  if (!cluster.start_again(local::own_program())) return;
  complain(dir.string() + ": its keeper was killed, and is started again");
}

int run_up(const UpArguments& arguments) {
  // Before anything is written: keys and the token lie in the folder.
  umask(kOwnerOnly);
  const fs::path dir = local_folder(arguments.dir);
  if (dir.empty()) {
    complain(std::string(client::kNoHome));
    return kFailed;
  }
  // As long as another one may wait for its nodes, and some for what it does before.
  const local::FolderLock lock(dir, std::chrono::seconds{arguments.wait_s} + kOtherUp, [&] {
    complain(dir.string() + ": another `muster up` is at work here; waiting for it");
  });
  if (!lock.trouble().empty()) {
    complain(lock.trouble());
    return kFailed;
  }
  const local::LocalCluster cluster(dir);
  local::LocalRequest request = request_of(arguments);
  request.own_parent = own_parent(dir);
  request.made = lock.made();
  if (!arguments.caps.empty()) {
    auto caps = local::caps_from(arguments.caps);
    if (!caps) {
      complain(caps.error().message);
      return kUsage;
    }
    request.caps = std::move(caps).value();
  }
  if (const std::string other = difference(arguments, cluster); !other.empty()) {
    complain(fmt::format("{}: {}; `muster down --erase` forgets it, --dir makes another one",
                         dir.string(), other));
    return kUsage;
  }
  const bool was_there = cluster.exists();
  mend_keeper(cluster, dir);
  // Writes the folder; start() then begins the processes that read it.
  const auto prepared = cluster.prepare(request);
  if (!prepared) {
    complain(about(dir, prepared.error().message));
    return prepared.error().code == local::LocalError::bad_request ? kUsage : kFailed;
  }
  const std::string rest =
      request.caps ? local::caps_rest(*request.caps, prepared.value().config) : "";
  if (!rest.empty()) complain("--caps: " + rest);
  warn_of_left_nodes(dir, prepared.value().config);
  raise_limits();
  // Before the start, so that the lengths of the logs separate old complaints from new ones.
  const LastWords words(dir, prepared.value().config);
  const bool runs = prepared.value().runs;
  if (!runs) {
    if (auto started = cluster.start(local::own_program()); !started) {
      return take_back(cluster, started.error().message);
    }
  }
  nlohmann::json nodes;
  if (const auto missing = await_ready(dir, arguments.wait_s, words, runs, nodes)) {
    if (!runs) {
      return take_back(
          cluster, fmt::format("the cluster did not come up: {}; its last words: {}{}",
                               missing->text, words.of(missing->node), words.ends(missing->node)));
    }
    complain(dir.string() + (missing->ended ? ": " : ": it runs, but ") + missing->text);
    return kFailed;
  }
  // Of one that runs nothing has been changed: prepare() refuses what would need another start.
  return show_cluster(arguments, cluster, nodes, said_of(prepared.value(), was_there, arguments));
}

void add_up(CLI::App& app, int& exit_code) {
  auto up = std::make_shared<UpArguments>();
  CLI::App* command =
      app.add_subcommand("up", "start a whole cluster on this machine, in a folder of its own");
  command
      ->add_option("--dir", up->dir,
                   "its folder; else MUSTER_CLUSTER, else one below the user's state folder")
      ->type_name("DIR")
      ->check(not_empty());
  command->add_option("--sites", up->sites, "site schedulers, 1 to 5 (2)")
      ->check(CLI::Range(1U, local::kMaxSites));
  command
      ->add_option("--masters", up->masters,
                   "masters, 1 to 8 (1); several share the caps out, and each job is one's")
      ->check(CLI::Range(1U, local::kMaxMasters));
  command
      ->add_option("--nodes", up->nodes,
                   "processes that share the roles (one a role, and one for the cloud)")
      ->check(CLI::Range(1U, local::kMaxSites + local::kMaxMasters + 1));
  command
      ->add_option("--policy", up->policy,
                   std::string("NAME[,key=value...] (") + local::kLocalPolicy + ")")
      ->check(not_empty());
  command->add_option("--catalog", up->catalog, "instance types, CSV; default: the shipped ones")
      ->check(not_empty());
  command
      ->add_option("--prices", up->prices,
                   "prices over time, CSV as `muster market` makes it; default: the catalog's")
      ->check(not_empty());
  command->add_option("--price-speed", up->price_speed,
                      "seconds of --prices that pass in one second, 1 to 100000 (1)");
  command->add_option("--delay-scale", up->delay_scale,
                      "factor on the catalog's delays and on the notice of an interruption (0.02)");
  command->add_option("--api-port", up->api_port, "port of the API; default: a free one")
      ->check(CLI::Range(0, 65535));
  command
      ->add_option(
          "--caps", up->caps,
          "caps of all masters together: none, or one or more of instances=N,usd_h=X,usd_day=Y")
      ->check(not_empty());
  command
      ->add_option("--join", up->join,
                   "have machines of your own join at this address of this computer, ADDRESS or "
                   "ADDRESS:PORT (7443), instead of processes here; for a new cluster")
      ->check(CLI::Validator(check_join_place, "ADDRESS"));
  command->add_flag("--rent", up->rents,
                    "with --join: rent instances, which are processes here, for work that finds no "
                    "room on the machines");
  command->add_option("--set", up->overrides, "KEY=VALUE of the cluster file");
  command->add_option("--wait", up->wait_s, "seconds to wait for all nodes, or like 5min (60)")
      ->transform(CLI::Validator(in_whole_seconds, ""));
  command->add_flag("--new-store", up->new_stores,
                    "make the stores that are not there: of a node that was added to the file, or "
                    "whose store is lost");
  command->add_flag("--json", up->json, "say it as JSON");
  command->add_flag("--quiet", up->quiet,
                    "leave the token out of the page's address: for logs that others read");
  command->callback([up, &exit_code] {
    if (!up->rents || !up->join.empty()) {
      exit_code = run_up(*up);
      return;
    }
    complain("--rent needs --join, the address at which machines of your own join");
    exit_code = kUsage;
  });
}

void add_keeper(CLI::App& app, int& exit_code) {
  auto dir = std::make_shared<std::string>();
  // Started by `up` in a process of its own and not by users: hidden from the help.
  CLI::App* command =
      app.add_subcommand("keeper", "keep the nodes of a local cluster running")->group("");
  command->add_option("DIR", *dir)->required();
  command->callback(
      [dir, &exit_code] { exit_code = local::keep_nodes(*dir, local::own_program()); });
}

}  // namespace

void add_local_cluster(CLI::App& app, int& exit_code) {
  add_up(app, exit_code);
  add_down(app, exit_code);
  add_keeper(app, exit_code);
}

}  // namespace muster::cli
