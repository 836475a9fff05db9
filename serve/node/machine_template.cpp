#include "serve/node/machine_template.hpp"

#include <fmt/format.h>

#include <string>
#include <system_error>
#include <vector>

#include "actors/link/pki.hpp"
#include "actors/link/worker_link_options.hpp"
#include "config/worker_config.hpp"
#include "model/live_ids.hpp"
#include "serve/machines/task_user.hpp"

namespace muster {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMachines = "machines";

/// Where workers keep their attempts, unless that is the machines' folders. Short, for sockets have
/// their paths in it, and another one than any other cluster's.
fs::path all_attempts(const ClusterConfig& config) {
  return config.worker.attempts / fmt::format("muster-{:x}", fs::hash_value(config.state));
}

fs::path attempts_of(const ClusterConfig& config, InstanceId instance) {
  return all_attempts(config) / std::to_string(instance.value);
}

/// The node whose master has rented the instance; null when the file has no such node.
const NodeConfig* renter(const ClusterConfig& config, const ClusterRoster& roster,
                         InstanceId instance) {
  for (const NodeConfig* node : config.masters()) {
    const auto number = roster.masters.find(*node->master);
    if (number != roster.masters.end() && number->second == master_of(instance)) return node;
  }
  return nullptr;
}

/// Files that the nodes keep on this computer: stores, keys, other machines, the token of the API.
struct Hidden {
  fs::path folder;  ///< of the cluster file
  std::vector<fs::path> places;
};

/// As the paths lead now: a task may be able to replace a link, and what it leads to is hidden.
Hidden hidden_of(const ClusterConfig& config) {
  const fs::path attempts = config.worker.attempts.empty() ? fs::path() : all_attempts(config);
  Hidden hidden{fs::absolute(config.file).parent_path(), {}};
  std::error_code unreadable;  // then it stays as it is given
  for (const fs::path& place : {config.state, config.pki, config.api_token, config.api.tokens,
                                config.files.folder, attempts}) {
    if (place.empty()) continue;
    const fs::path direct = fs::weakly_canonical(fs::absolute(place), unreadable);
    hidden.places.push_back(unreadable ? place : direct);
  }
  const fs::path direct = fs::weakly_canonical(hidden.folder, unreadable);
  if (!unreadable) hidden.folder = direct;
  return hidden;
}

std::vector<std::string> hide_of(const Hidden& hidden) {
  std::vector<std::string> hide;
  // A folder that `muster up` has made is the cluster's as a whole: a file that is added there,
  // such as a token, would count. Around another cluster file there may be anything.
  if (fs::exists(hidden.folder / "client.json")) hide.push_back(hidden.folder.string());
  for (const fs::path& place : hidden.places) hide.push_back(place.string());
  return hide;
}

WorkerConfig worker_config(const NodeSetup& setup, const NodeConfig& master,
                           const MachineOrder& order, const fs::path& folder) {
  const ClusterConfig& config = setup.config;
  const fs::path shim = setup.program.parent_path() / "muster-shim";
  WorkerConfig worker;
  worker.instance = order.instance.value;
  worker.capacity = order.type.capacity;
  worker.master_texts = {to_text(*master.workers)};
  worker.master_name = master.name;
  worker.insecure_loopback = config.insecure_loopback;
  worker.state_dir =
      config.worker.attempts.empty() ? folder / "state" : attempts_of(config, order.instance);
  worker.checkpoint_root = config.worker.checkpoints;
  worker.files = config.files.folder;
  worker.outputs_max_mib = config.files.outputs_max_mib;
  worker.user_max_mib = config.files.user_max_mib;
  worker.files_patience = config.files.patience;
  worker.log = folder / "worker.log";
  if (fs::exists(shim)) worker.shim_program = shim;
  worker.tasks = config.worker;
  worker.heartbeat = config.link.heartbeat;
  worker.timeout = config.link.timeout;
  worker.max_frame_bytes = config.link.max_frame_bytes;
  if (config.insecure_loopback) return worker;
  const std::string name = certificate_name(order.instance);
  worker.certificate = folder / (name + ".pem");
  worker.key = folder / (name + ".key");
  worker.trusted = authority_certificate(config.pki, PkiRole::node);
  return worker;
}

/// Facts of the cluster when an instance is prepared.
struct Preparation {
  NodeSetup setup;
  ClusterRoster roster;
  Hidden hidden;
};

std::string prepare(const Preparation& known, const MachineOrder& order, const fs::path& folder) {
  const auto& [setup, roster, hidden] = known;
  const ClusterConfig& config = setup.config;
  const NodeConfig* master = renter(config, roster, order.instance);
  if (master == nullptr) {
    return fmt::format("instance {} is of no master of the cluster", order.instance.value);
  }
  if (!config.insecure_loopback) {
    IssueRequest request;
    request.role = PkiRole::worker;
    request.name = certificate_name(order.instance);
    request.out = folder;
    request.replace = true;
    if (auto issued = issue(config.pki, request); !issued) return issued.error().message;
  }
  std::error_code bad;
  fs::create_directories(config.worker.checkpoints, bad);
  if (bad) return config.worker.checkpoints.string() + ": " + bad.message();
  if (!config.worker.attempts.empty() && machines::other_task_user(config.worker)) {
    // Down to the instance's own, so that the one above is not empty, and goes with no other.
    const std::string trouble = machines::make_open_folder(attempts_of(config, order.instance));
    if (!trouble.empty()) return trouble;
  }
  WorkerConfig worker = worker_config(setup, *master, order, folder);
  worker.hide = hide_of(hidden);
  // On the disk before the machine's command is, without which the folder is no machine.
  return machines::write_durably(folder / "worker.toml", worker_config_text(worker));
}

/// Lets tasks of another user get through to their own folders; no other user needs access.
void open_passage(const ClusterConfig& config, const fs::path& node_state) {
  constexpr auto kThrough = fs::perms::group_exec | fs::perms::others_exec;
  std::error_code ignored;  // task_user_fault() tells what came of it
  if (!config.worker.attempts.empty()) machines::make_open_folder(all_attempts(config));
  for (const fs::path& folder :
       {config.state, node_state, node_state / kMachines, config.worker.checkpoints}) {
    machines::make_open_folder(folder);
    fs::permissions(folder, kThrough, fs::perm_options::add, ignored);
  }
}

}  // namespace

Expected<std::string, int> remote_worker_settings(const NodeSetup& setup,
                                                  const ClusterRoster& roster,
                                                  const MachineOrder& order) {
  const NodeConfig* master = renter(setup.config, roster, order.instance);
  if (master == nullptr) {
    return Failure<int>{
        1, fmt::format("instance {} is of no master of the cluster", order.instance.value)};
  }
  WorkerConfig worker = worker_config(setup, *master, order, "machine");
  worker.state_dir = "machine/state";
  worker.checkpoint_root = "machine/checkpoints";
  // It has no way to the store of files.
  worker.files.clear();
  worker.trusted = "machine/node-ca.pem";
  worker.shim_program.clear();
  return worker_config_text(worker);
}

fs::path machines_folder(const fs::path& node_state) {
  return node_state / kMachines;
}

std::string task_user_fault(const ClusterConfig& config, const fs::path& node_state) {
  if (const auto fault = machines::task_user_fault(config.worker)) {
    return fmt::format("worker.{} = {}: {}", fault->key, fault->value, fault->text);
  }
  const auto user = machines::other_task_user(config.worker);
  if (!user) return {};
  for (const fs::path& place :
       {node_state / kMachines, config.worker.checkpoints, config.worker.attempts}) {
    if (place.empty()) continue;
    if (const auto barred = machines::barred_on_way(place, *user)) {
      return fmt::format("worker.{}: {}", machines::task_user_setting(config.worker),
                         machines::barred_text(*barred, *user));
    }
  }
  return {};
}

MachineOptions machine_template(const NodeSetup& setup, const ClusterRoster& roster,
                                const fs::path& node_state) {
  MachineOptions options;
  options.dir = node_state / kMachines;
  options.passage = machines::other_task_user(setup.config.worker).has_value();
  if (options.passage) open_passage(setup.config, node_state);
  constexpr double kGiB = 1024.0 * 1024 * 1024;
  options.memory_reserve_bytes =
      static_cast<std::uint64_t>(setup.config.cloud.memory_reserve_gib * kGiB);
  options.command = {setup.program.string(), "worker", "--config", "{dir}/worker.toml"};
  options.prepare = [known = Preparation{setup, roster, hidden_of(setup.config)}](
                        const MachineOrder& order, const fs::path& folder) {
    return prepare(known, order, folder);
  };
  if (!setup.config.worker.attempts.empty()) {
    options.outside = [config = setup.config](InstanceId instance) {
      return attempts_of(config, instance);
    };
  }
  return options;
}

}  // namespace muster
