#include "serve/local/local_cluster.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "actors/link/pki.hpp"
#include "actors/time/clock_wall.hpp"
#include "config/cluster_folder.hpp"
#include "config/cluster_keys.hpp"
#include "config/shipped_file.hpp"
#include "model/hexadecimal.hpp"
#include "serve/api/private_file.hpp"
#include "serve/local/cluster_place.hpp"
#include "serve/local/local_pki.hpp"
#include "serve/local/settings_draft.hpp"
#include "serve/local/task_passage.hpp"
#include "serve/machines/process_machines.hpp"
#include "serve/node/machine_template.hpp"
#include "serve/node/node_stores.hpp"

namespace muster::local {
namespace {

using Failed = Failure<LocalError>;
namespace fs = std::filesystem;

constexpr auto kStopPatience = std::chrono::seconds{30};  ///< from one thing that ends to the next
constexpr auto kTellEvery = std::chrono::seconds{2};
constexpr auto kOtherStop = std::chrono::minutes{10};
constexpr auto kKeeperBegins = std::chrono::seconds{5};
constexpr auto kLook = std::chrono::milliseconds{50};

Failed failed(const std::string& text) {
  return {LocalError::failed, text};
}

std::string random_token() {
  // 192 bits, not to be guessed; in hexadecimal they fit a header.
  std::array<unsigned char, 24> bytes{};
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = getrandom(bytes.data() + have, bytes.size() - have, 0);
    if (got > 0) have += static_cast<std::size_t>(got);
  }
  return hexadecimal(bytes);
}

/// The fault of the numbers; empty: no fault.
std::string fault_of(const LocalRequest& request) {
  const auto between = [](std::uint32_t number, std::uint32_t most) {
    return number >= 1 && number <= most;
  };
  if (!between(request.sites, kMaxSites)) {
    return fmt::format("a local cluster has 1 to {} sites", kMaxSites);
  }
  if (!between(request.masters, kMaxMasters)) {
    return fmt::format("a local cluster has 1 to {} masters", kMaxMasters);
  }
  const std::uint32_t least = std::max(request.sites, request.masters);
  const std::uint32_t most = most_nodes(request);
  if (request.nodes < least || request.nodes > most) {
    return fmt::format("a local cluster with {} sites and {} masters has {} to {} nodes",
                       request.sites, request.masters, least, most);
  }
  return {};
}

/// The file of a cluster that `up` has made. One of an earlier version, or from which somebody has
/// taken the caps, gets those of a new one.
Expected<ClusterConfig, ConfigError> load_own(const fs::path& file) {
  auto config = load_cluster_config(file, {});
  if (config) return config;
  auto lenient = load_cluster_config(file, {"master.caps=none"});
  if (!lenient) return config;
  set_default_caps(machines::look_at_computer(), lenient.value());
  return lenient;
}

/// There is no node's folder yet that could hold a store.
bool is_first(const ClusterConfig& config) {
  return std::none_of(config.nodes.begin(), config.nodes.end(), [&](const NodeConfig& node) {
    for (const char* role : {"site", "master", "cloud"}) {
      if (fs::exists(config.state / node.name / role)) return true;
    }
    return false;
  });
}

/// Lets every node make the stores that it lacks; empty, or why not.
std::string permit_stores(const ClusterConfig& config, bool first) {
  for (const NodeConfig& node : config.nodes) {
    const fs::path folder = config.state / node.name;
    std::error_code bad;
    fs::create_directories(folder, bad);
    if (bad) return folder.string() + ": " + bad.message();
    const std::string text = first ? kFirstStores : "";
    if (auto trouble = write_file(folder / kStorePermit, text, 0600); !trouble.empty()) {
      return trouble;
    }
  }
  return {};
}

/// Where the command finds the cluster: the first API, and the others in case that is away. Beyond
/// a loopback address they speak TLS, with certificates of the cluster's own authority.
nlohmann::json client_document(const fs::path& dir, const ClusterConfig& config) {
  std::vector<std::string> apis;
  bool tls = false;
  for (const NodeConfig& node : config.nodes) {
    if (!node.api) continue;
    const bool plain = is_loopback(*node.api) || config.insecure_loopback;
    Endpoint reached = *node.api;
    // One that listens on all addresses is asked at one of them.
    if (is_wildcard(reached)) reached.host = "127.0.0.1";
    apis.push_back((plain ? "http://" : "https://") + to_text(reached));
    tls |= !plain;
  }
  nlohmann::json document{{"api", apis.at(0)},
                          {"others", std::vector<std::string>(apis.begin() + 1, apis.end())},
                          {"token_file", "token"}};
  if (tls) {
    const fs::path ca = authority_certificate(config.pki, PkiRole::node);
    // From the folder on, which may be moved.
    const bool inside = ca.string().starts_with(dir.string() + "/");
    document["ca"] = (inside ? ca.lexically_relative(dir) : ca).string();
  }
  return document;
}

/// Waits until no machine is left, as long as their number goes on falling. Empty, or which do not
/// end.
std::string await_ends(const ProcessMachines& machines,
                       const std::function<void(std::size_t)>& progress) {
  using Steady = std::chrono::steady_clock;
  std::size_t fewest = machines.count();
  auto told = Steady::now();
  for (auto fell = told; machines.count() > 0; std::this_thread::sleep_for(kLook)) {
    const std::size_t count = machines.count();
    const auto now = Steady::now();
    if (count < fewest) fell = now;
    fewest = std::min(fewest, count);
    if (now - told >= kTellEvery) {
      told = now;
      progress(count);
    }
    if (now - fell < kStopPatience) continue;
    constexpr std::size_t kNamed = 5;
    std::string names;
    std::vector<InstanceId> left = machines.left();
    left.resize(std::min(left.size(), kNamed));
    for (const InstanceId id : left) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", id.value);
    }
    return fmt::format("{} instance{} not end: {}{}; their folders are below {}", count,
                       count == 1 ? " does" : "s do", names, count > kNamed ? " and others" : "",
                       machines.folder().string());
  }
  return {};
}

/// Ends all instances with what runs on them. Empty, or why not.
std::string end_instances(const ClusterConfig& config, const StopRequest& request,
                          Stopped& stopped) {
  NodeSetup setup{config, config.cloud_node().name, own_program(), false, false};
  const ClusterRoster nobody;  // no roster is made here
  const fs::path state = setup.config.state / setup.node;
  MachineOptions options = machine_template(setup, nobody, state);
  LogsOfEnd logs(config);
  if (!request.drop_logs) options.over = [&logs](const fs::path& folder) { logs.bring(folder); };
  auto machines = ProcessMachines::open(options);
  // A node whose keeper was killed may be about to end, and has them until then.
  const auto until = std::chrono::steady_clock::now() + kStopPatience;
  while (!machines && machines.error().code == MachineError::refused &&
         std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(kLook);
    machines = ProcessMachines::open(options);
  }
  if (!machines) return machines.error().message;
  const std::string trouble = machines.value()->end_all(wall_now());
  stopped.instances = machines.value()->count();
  const std::string left = await_ends(*machines.value(), request.progress);
  // Its thread is the one that brings the logs.
  machines.value().reset();
  stopped.logs = logs.done();
  return left.empty() ? trouble : left;
}

/// Machines of one's own join a cluster at that address, by which they reach its masters too.
void open_to_machines(const LocalRequest& request, ClusterConfig& config) {
  const Endpoint& join = *request.join;
  if (request.rents) {
    config.cloud.own_families = {"own", "own-gpu"};
    config.catalog = shipped_file("cluster/own-and-local-types.csv");
  } else {
    config.cloud.provider = "hosts";
    config::put_defaults_beside(config.cloud.provider, config.master);
    config.catalog = shipped_file("cluster/own-types.csv");
  }
  for (NodeConfig& node : config.nodes) {
    if (node.cloud) node.join = join;
    if (node.workers) node.workers->host = join.host;
  }
}

/// A new cluster as it is when no flag says anything else.
Expected<ClusterConfig, ConfigError> fresh_config(const fs::path& dir,
                                                  const LocalRequest& request) {
  ClusterConfig config;
  config.file = dir / "cluster.toml";
  config.name = "local";
  config.nodes = spread(request);
  config.state = dir / "state";
  config.pki = dir / "pki";
  config.api_token = dir / "token";
  config.policy = kLocalPolicy;
  config.catalog = shipped_file("cluster/local-types.csv");
  config.cloud.delay_scale = kLocalDelayScale;
  if (request.join) open_to_machines(request, config);
  set_default_caps(machines::look_at_computer(), config);
  return config;
}

/// Makes the files of a new cluster besides its config; empty, or why they could not be made.
std::string make_files(const fs::path& dir, const ClusterConfig& config) {
  std::string trouble = make_pki(config.pki, config);
  if (trouble.empty()) trouble = write_file(dir / "token", random_token() + "\n", 0600);
  const std::string client = client_document(dir, config).dump(2) + "\n";
  if (trouble.empty()) trouble = write_file(dir / "client.json", client, 0600);
  return trouble;
}

/// Lets the command find an API that has moved. A client.json that says something else than the
/// settings from before is its owner's own.
std::string move_client(const fs::path& dir, const ClusterConfig& before,
                        const ClusterConfig& after) {
  const fs::path file = dir / "client.json";
  const std::string text = client_document(dir, after).dump(2) + "\n";
  const bool is_ours = text_of(file) == client_document(dir, before).dump(2) + "\n";
  return is_ours && text_of(file) != text ? write_file(file, text, 0600) : std::string{};
}

}  // namespace

std::optional<int> LocalCluster::keeper() const {
  return keeper_of(dir_);
}

Expected<Prepared, LocalError> LocalCluster::prepare(const LocalRequest& request) const {
  if (std::string wrong = fault_of(request); !wrong.empty()) {
    return Failed{LocalError::bad_request, std::move(wrong)};
  }
  const bool fresh = !exists();
  const bool runs = keeper().has_value();
  std::string wrong = runs ? left_fault(dir_) : copy_fault(dir_);
  if (wrong.empty() && !fresh && !runs) wrong = settle_place(dir_);
  if (!wrong.empty()) return failed(wrong);
  std::vector<fs::path> own = request.made;
  if (!request.own_parent.empty()) own.push_back(request.own_parent);
  const auto before = fresh ? fresh_config(dir_, request) : load_own(config_file());
  if (!before) return Failed{LocalError::bad_request, before.error().message};
  auto wanted = settle(config_file(), before.value(), request);
  if (!wanted) return wanted;
  Prepared& prepared = wanted.value();
  prepared.runs = runs;
  if (!prepared.runs || !prepared.changes.empty()) {
    std::string fault = settings_fault(prepared.config, request);
    if (fault.empty()) fault = passage_fault(dir_, own, prepared.config);
    if (!fault.empty()) return Failed{LocalError::bad_request, std::move(fault)};
  }
  if (fresh || prepared.config.backup != before.value().backup) {
    std::string fault = backup_fault(prepared.config, request);
    if (!fault.empty()) return Failed{LocalError::bad_request, std::move(fault)};
  }
  if (prepared.runs && request.new_stores) {
    return Failed{LocalError::running,
                  "it runs, and stores are made at its start only: `muster down` first, then "
                  "`muster up --new-store`"};
  }
  if (prepared.runs && !prepared.changes.empty()) {
    return Failed{LocalError::running, refusal_while_it_runs(prepared.changes)};
  }
  if (prepared.runs) {
    std::string trouble = drop_node_authority(prepared.config);
    return trouble.empty() ? std::move(wanted) : failed(trouble);
  }
  // Before the file that makes this a cluster: without it the next start begins again.
  std::string trouble;
  if (fresh || !prepared.changes.empty()) trouble = keep_catalog(dir_, prepared.config);
  if (trouble.empty()) trouble = make_parts(request, prepared.config);
  if (trouble.empty()) trouble = put_settings(before.value(), prepared);
  if (!trouble.empty()) return failed(trouble);
  if (fresh) prepared.changes.clear();
  trouble = settle_in(prepared.config);
  if (!trouble.empty()) return failed(trouble);
  trouble = open_passage(dir_, own, prepared.config);
  if (!trouble.empty()) return failed(trouble);
  return wanted;
}

std::string LocalCluster::make_parts(const LocalRequest& request,
                                     const ClusterConfig& config) const {
  if (!exists()) {
    const std::string trouble = permit_stores(config, is_first(config));
    return trouble.empty() ? make_files(dir_, config) : trouble;
  }
  if (std::string trouble = renew_pki(config); !trouble.empty()) return trouble;
  return request.new_stores ? permit_stores(config, false) : std::string{};
}

/// The settings from before are kept beside the new ones until the cluster has come up with these.
/// A process that is killed between the lines leaves the old settings, perhaps with an equal copy;
/// or the new ones with the old ones beside them: then the next start tries the new ones, and puts
/// the old ones back when it fails. A copy that is there already is of the last settings that the
/// cluster came up with, and stays.
std::string LocalCluster::put_settings(const ClusterConfig& before,
                                       const Prepared& prepared) const {
  const bool is_new = !exists();
  // A file that only load_own() can read is no use to the nodes.
  const bool is_usable = !is_new && load_cluster_config(config_file(), {});
  if (is_usable && prepared.changes.empty()) return {};
  std::string trouble;
  if (is_new) keep_settings();  // the folder was not a cluster
  if (!prepared.changes.empty() && !fs::exists(before_file())) {
    trouble = write_file(before_file(),
                         is_usable ? text_of(config_file()) : cluster_config_text(before), 0600);
  }
  if (trouble.empty()) {
    trouble = write_file(config_file(), cluster_config_text(prepared.config), 0600);
  }
  return trouble.empty() ? move_client(dir_, before, prepared.config) : trouble;
}

void LocalCluster::keep_settings() const {
  std::error_code bad;
  fs::remove(before_file(), bad);
}

/// The copy goes last, so that who is killed before it is gone does all of it again.
Expected<bool, LocalError> LocalCluster::restore_settings() const {
  if (!fs::exists(before_file())) return false;
  const auto tried = load_own(config_file());
  const auto before = load_own(before_file());
  if (!before) return failed(before.error().message);
  std::string trouble = write_file(dir_ / "cluster.toml.failed", text_of(config_file()), 0600);
  if (trouble.empty() && tried) trouble = move_client(dir_, tried.value(), before.value());
  if (!trouble.empty()) return failed(trouble);
  std::error_code bad;
  fs::rename(before_file(), config_file(), bad);
  if (bad) return failed(config_file().string() + ": " + bad.message());
  trouble = sync_folder_of(config_file());
  return trouble.empty() ? Expected<bool, LocalError>(true) : failed(trouble);
}

Expected<bool, LocalError> LocalCluster::start(const fs::path& program) const {
  // First: a keeper without the mark ends, as `muster down` has taken it away.
  std::string trouble = mark_keeper(dir_, true);
  if (trouble.empty()) trouble = start_keeper(dir_, program, Surroundings::whole);
  // No later command has to start one that cannot be.
  if (!trouble.empty()) mark_keeper(dir_, false);
  return trouble.empty() ? Expected<bool, LocalError>(true) : failed(trouble);
}

bool LocalCluster::start_again(const fs::path& program) const {
  if (keeper_state(dir_) != KeeperState::killed ||
      !start_keeper(dir_, program, Surroundings::whole).empty()) {
    return false;
  }
  const auto until = std::chrono::steady_clock::now() + kKeeperBegins;
  while (!keeper() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(kLook);
  return keeper().has_value();
}

Expected<Stopped, LocalError> LocalCluster::stop(const StopRequest& request) const {
  if (!exists()) return Failed{LocalError::bad_request, "there is no cluster in " + dir_.string()};
  // One ends a cluster: others wait until it has, and find nothing left to do.
  const api::FileLock alone(dir_ / "down", kOtherStop);
  if (!alone.fault().empty()) {
    return failed("another `muster down` is still at work here: " + alone.fault());
  }
  // The process before may have ended it, and erased it.
  if (!exists()) return Stopped{};
  // The files of a copy speak of the original's instances, which are not to end with it.
  if (!keeper() && !copy_fault(dir_).empty()) return Stopped{};
  // A keeper that gets the lock from here on ends at once.
  if (std::string trouble = mark_keeper(dir_, false); !trouble.empty()) return failed(trouble);
  Stopped stopped;
  const auto until = std::chrono::steady_clock::now() + kStopPatience;
  if (const auto pid = keeper()) {
    stopped.ran = true;
    kill(*pid, SIGTERM);
    while (keeper() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(kLook);
    if (keeper()) return failed(fmt::format("its keeper (process {}) does not end", *pid));
  }
  if (std::string trouble = settle_place(dir_); !trouble.empty()) return failed(trouble);
  if (request.keep_instances) return stopped;
  auto config = load_own(config_file());
  if (!config) return Failed{LocalError::bad_request, config.error().message};
  const std::string trouble = end_instances(config.value(), request, stopped);
  return trouble.empty() ? Expected<Stopped, LocalError>(stopped) : failed(trouble);
}

std::string LocalCluster::settle_in(const ClusterConfig& config) const {
  // Those that were left in another folder know it by its old name, or are not of this one at all:
  // they end as by `muster down`, and their tasks begin again on others.
  const bool ends =
      is_moved(dir_) && fs::exists(machines_folder(config.state / config.cloud_node().name));
  Stopped stopped;
  const StopRequest request{.progress = [](std::size_t) {}};
  std::string trouble = ends ? end_instances(config, request, stopped) : std::string{};
  return trouble.empty() ? take_place(dir_) : trouble;
}

fs::path own_program() {
  std::error_code bad;
  const fs::path program = fs::read_symlink("/proc/self/exe", bad);
  return bad ? fs::path("muster") : program;
}

}  // namespace muster::local
