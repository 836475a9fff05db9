#include "config/cluster_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "config/ip_rules.hpp"
#include "config/notify_address.hpp"
#include "config/task_keys.hpp"
#include "model/letter.hpp"

// Checks keys of different tables against each other. Each check says all that is wrong, so that a
// file is mended in one go.

namespace muster::config {
namespace {

constexpr Duration kShortestBackup = std::chrono::minutes{1};
constexpr std::array<const char*, 4> kEndpointKeys = {"address", "workers", "api", "join"};

const Endpoint* endpoint_of(const NodeConfig& node, std::string_view key) {
  // Port 0 is the mark of an endpoint that was not given.
  if (key == "address") return node.address.port == 0 ? nullptr : &node.address;
  const std::optional<Endpoint>& endpoint = key == "workers" ? node.workers
                                            : key == "api"   ? node.api
                                                             : node.join;
  return endpoint ? &*endpoint : nullptr;
}

// An optional role that a node does not have has no name to check.
const std::string* name_of(const NodeConfig& node, std::string_view key) {
  if (key == "name") return node.name.empty() ? nullptr : &node.name;
  const std::optional<std::string>& name = key == "site" ? node.site : node.master;
  return name ? &*name : nullptr;
}

void check_roles(NodeEntry& entry) {
  KeyReader<NodeConfig>& reader = entry.reader;
  reader.need_required();
  if (reader.given("master")) {
    reader.need("workers", ", and the node runs a master");
  } else if (reader.given("workers")) {
    reader.complain("workers", "is only for a node with a master, and this node has no master");
  }
  if (reader.given("api") && !reader.given("site")) {
    reader.complain("api", "is only for a node with a site, and this node has no site");
  }
  if (!reader.given("site") && !reader.given("master") && !entry.node.cloud) {
    reader.complain("", "runs nothing; it has to have a site, a master or the cloud");
  }
}

void check_endpoints(NodeEntry& entry, bool insecure) {
  for (const char* key : kEndpointKeys) {
    const Endpoint* endpoint = endpoint_of(entry.node, key);
    if (endpoint == nullptr) continue;
    // An address that others dial has to lead to one machine; the API and the join port may listen
    // on all of a machine's.
    const bool is_listened_on = std::string_view(key) == "api" || std::string_view(key) == "join";
    if (is_wildcard(*endpoint) && !is_listened_on) {
      entry.reader.complain(key, fmt::format("has to be an address that others can reach; it is {}",
                                             to_text(*endpoint)));
    } else if (insecure && !is_loopback(*endpoint)) {
      entry.reader.complain(key,
                            fmt::format("has to be a loopback address, like 127.0.0.1:{}, because "
                                        "insecure_loopback is on; it is {}",
                                        endpoint->port, to_text(*endpoint)));
    }
  }
}

// O(nodes log nodes): names of one kind have to differ over the whole cluster.
void check_names(std::deque<NodeEntry>& nodes, const std::string& key) {
  std::set<std::string> seen;
  for (NodeEntry& entry : nodes) {
    const std::string* name = name_of(entry.node, key);
    if (name == nullptr || seen.insert(*name).second) continue;
    entry.reader.complain(key, fmt::format("has to be another one than those of the nodes before; "
                                           "\"{}\" is taken",
                                           *name));
  }
}

struct Taken {
  const NodeConfig* node;
  const char* key;
};

/// Both cannot listen: on one machine, and with the same port.
bool clash(const Endpoint& one, const Endpoint& other, bool same_node) {
  // A wildcard takes the port on all addresses of its machine.
  if (one.port != other.port) return false;
  if (same_node && (is_wildcard(one) || is_wildcard(other))) return true;
  return one.host == other.host && !is_wildcard(one);
}

// O(endpoints^2): a cluster has a handful of nodes.
void check_addresses(std::deque<NodeEntry>& nodes) {
  std::vector<Taken> taken;
  for (NodeEntry& entry : nodes) {
    for (const char* key : kEndpointKeys) {
      const Endpoint* endpoint = endpoint_of(entry.node, key);
      if (endpoint == nullptr) continue;
      const auto other = std::find_if(taken.begin(), taken.end(), [&](const Taken& before) {
        return clash(*endpoint, *endpoint_of(*before.node, before.key), before.node == &entry.node);
      });
      if (other != taken.end()) {
        entry.reader.complain(
            key, fmt::format("has to be an address of its own; {} is that of node \"{}\" as {}",
                             to_text(*endpoint), other->node->name, other->key));
      }
      // Listed even when it clashes: a third one is compared with both.
      taken.push_back({&entry.node, key});
    }
  }
}

bool any_has(const std::deque<NodeEntry>& nodes, std::string_view key) {
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](const NodeEntry& entry) { return entry.reader.given(key); });
}

/// Machines of one's own and the port where they join go together.
void check_hosts(const ClusterEntry& entry) {
  const ClusterConfig& c = entry.config;
  const bool is_hosts = c.cloud.provider == "hosts";
  const bool takes_machines = c.cloud.takes_machines();
  const char* const why = is_hosts ? ", and cloud.provider is hosts"
                                   : ", and cloud.own_families names types of machines that join";
  for (NodeEntry& node : entry.nodes) {
    const bool given = node.reader.given("join");
    if (given && !node.node.cloud) {
      node.reader.complain("join", "is only for the node with cloud = true, and this is another");
    } else if (given && !takes_machines) {
      node.reader.complain(
          "join", fmt::format("needs cloud.provider = \"hosts\", or cloud.own_families beside "
                              "another provider; the provider is \"{}\"",
                              c.cloud.provider));
    } else if (given && c.insecure_loopback) {
      node.reader.complain("join", "needs certificates, and insecure_loopback is on");
    } else if (takes_machines && node.node.cloud) {
      node.reader.need("join", why);
      // Tokens by which machines join are made there.
      node.reader.need("api", ", and machines join here");
    }
  }
  if (is_hosts && !c.cloud.own_families.empty()) {
    entry.reader.complain("cloud.own_families",
                          "is for machines of one's own beside another provider; with the provider "
                          "hosts all types are machines that join");
  }
  const auto& hosts = c.cloud.own.of<HostsCloudSettings>();
  if (!takes_machines || hosts.lease == Duration{} || hosts.lease >= 10 * hosts.report) return;
  entry.reader.complain("cloud.host_lease",
                        fmt::format("has to be at least ten times host_report, which is {}; it is "
                                    "{}",
                                    duration_text(hosts.report), duration_text(hosts.lease)));
}

void check_cloud(const ClusterEntry& entry) {
  const NodeEntry* first = nullptr;
  for (NodeEntry& node : entry.nodes) {
    if (!node.node.cloud) continue;
    if (first != nullptr) {
      node.reader.complain("cloud",
                           fmt::format("has to be true for one node only, and node \"{}\" has it",
                                       first->node.name));
    } else {
      first = &node;
    }
  }
  check_hosts(entry);
  if (first == nullptr)
    entry.reader.complain("node", "one node has to have cloud = true, and no node has it");
}

/// A node's folder must not be that of the checkpoints.
void check_folders(const ClusterEntry& entry) {
  for (NodeEntry& node : entry.nodes) {
    // A node without a name is reported by need_required().
    if (node.node.name.empty()) continue;
    if (entry.config.worker.checkpoints != entry.config.state / node.node.name) continue;
    node.reader.complain("name", fmt::format("has to be another one; {} is the folder of the "
                                             "checkpoints",
                                             entry.config.worker.checkpoints.string()));
  }
}

/// A master without any cap needs its owner's word for it. A fleet beyond which nothing is rented
/// is a limit.
void check_caps(const ClusterEntry& entry) {
  const ClusterConfig& c = entry.config;
  // Each of the three caps is enough: it bounds spending.
  const bool capped = c.master.caps.any();
  const bool fixed = !c.fleet.texts.empty() && !c.master.rent_beyond_fleet;
  if (capped || c.live_master.uncapped || fixed) return;
  entry.reader.complain("master",
                        "has no cap on what a master may rent: [master] has to have max_instances, "
                        "max_usd_h or max_usd_day, or, to let it rent without limit, "
                        "caps = \"none\"");
}

void check_messages(const ClusterEntry& entry) {
  const NotifyConfig& c = entry.config.notify;
  const auto complain = [&](const char* key, std::string_view right, const std::string& text) {
    entry.reader.complain(key, fmt::format("has to be {}; it has \"{:.60}\"", right, text));
  };
  for (const std::string& each : c.allow) {
    if (is_allowed_text(each)) continue;
    complain("notify.allow", "host names, addresses, and blocks like \"10.1.0.0/16\"", each);
  }
  for (const std::string& each : c.caps) {
    if (is_notify_address(each)) continue;
    complain("notify.caps", "webhooks (https://...) and mail addresses", each);
  }
  if (c.caps.size() > kMostLetterAddresses) {
    entry.reader.complain("notify.caps", fmt::format("has to be at most {} addresses; they are {}",
                                                     kMostLetterAddresses, c.caps.size()));
  }
  if (!c.from.empty() && !is_mail_address(c.from)) {
    complain("notify.from", "a mail address like muster@example.org", c.from);
  }
  const auto is_mail = [](const std::string& each) { return is_mail_address(each); };
  if (c.sendmail.empty() && std::any_of(c.caps.begin(), c.caps.end(), is_mail)) {
    entry.reader.complain("notify.sendmail",
                          "is missing, and notify.caps has a mail address; it has to be the "
                          "program that sends mail, such as \"/usr/sbin/sendmail\"");
  }
}

void at_least(const ClusterEntry& entry, const std::string& key, Duration value,
              const std::pair<std::string, Duration>& least) {
  if (value >= least.second) return;
  entry.reader.complain(key,
                        fmt::format("has to be at least {}, which is {}; it is {}", least.first,
                                    duration_text(least.second), duration_text(value)));
}

void check_times(const ClusterEntry& entry) {
  const ClusterConfig& c = entry.config;
  // Reports come every load_every: one that is late must not make its sender count as lost.
  at_least(entry, "site.load_stale_after", c.site.load_stale_after,
           {"twice load_every", 2 * c.site.load_every});
  at_least(entry, "link.timeout", c.link.timeout, {"twice heartbeat", 2 * c.link.heartbeat});
  // Else an instance could be given back while its link still waits for a sign of life.
  at_least(entry, "master.worker_lost_after", c.master.watch.worker_lost_after,
           {"link.timeout", c.link.timeout});
  at_least(entry, "notify.retry_longest", c.notify.retry_longest, {"retry", c.notify.retry});
  at_least(entry, "master.planner_retry_longest", c.master.planner_retry_longest,
           {"planner_retry", c.master.planner_retry});
}

/// Both are normal.
bool is_within(const std::filesystem::path& path, const std::filesystem::path& folder) {
  const std::filesystem::path way = path.lexically_relative(folder);
  return !way.empty() && *way.begin() != "..";
}

void check_backup(const ClusterEntry& entry) {
  const ClusterConfig& c = entry.config;
  const BackupConfig& backup = c.backup;
  if (!backup.to.empty()) {
    // Not `to` itself: it may be the folder that has the cluster's folder and others.
    const std::filesystem::path folder = backup.to / c.name;
    if (is_within(folder, c.state) || is_within(c.state, folder)) {
      entry.reader.complain(
          "backup.to", fmt::format("has to be a folder apart from the state's, {}, with which the "
                                   "backups would be lost; they would be in {}",
                                   c.state.string(), folder.string()));
    }
  }
  if (backup.every == Duration{}) return;
  if (!entry.reader.given("backup.to")) {
    entry.reader.complain("backup.to",
                          "is missing, and backup.every is given; it has to be a folder that is "
                          "there, best on another disk, such as \"/backup/muster\"");
  }
  if (backup.every < kShortestBackup) {
    entry.reader.complain("backup.every",
                          fmt::format("has to be 0, for no backups, or at least {}; it is {}",
                                      duration_text(kShortestBackup), duration_text(backup.every)));
  }
}

}  // namespace

void check_cluster(const ClusterEntry& entry) {
  entry.reader.need_required();
  if (!entry.config.insecure_loopback) entry.reader.need("pki", ", and insecure_loopback is off");
  if (any_has(entry.nodes, "api")) entry.reader.need("api_token", ", and a node has an api");
  for (NodeEntry& node : entry.nodes) {
    check_roles(node);
    check_endpoints(node, entry.config.insecure_loopback);
  }
  for (const char* key : {"name", "site", "master"}) check_names(entry.nodes, key);
  check_addresses(entry.nodes);
  for (const char* key : {"site", "master"}) {
    if (any_has(entry.nodes, key)) continue;
    entry.reader.complain(
        "node", fmt::format("at least one node has to have a {}, and no node has one", key));
  }
  check_cloud(entry);
  check_folders(entry);
  check_caps(entry);
  check_backup(entry);
  check_messages(entry);
  check_times(entry);
  check_task_keys(entry.config.worker, entry.reader, "worker", "task_uid");
}

}  // namespace muster::config
