#include "serve/local/local_pki.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "actors/link/pki.hpp"
#include "serve/machines/machine_folder.hpp"
#include "serve/node/machine_template.hpp"

namespace muster::local {
namespace {

namespace fs = std::filesystem;

/// Whether every node's certificate can be used now.
bool are_valid(const ClusterConfig& config) {
  return std::all_of(config.nodes.begin(), config.nodes.end(), [&](const NodeConfig& node) {
    const auto said = describe_certificates(config.pki / "nodes" / (node.name + ".pem"));
    return said && !said.value().empty() && said.value().front().state == "valid";
  });
}

/// The instances of a cluster that does not run.
std::size_t kept_instances(const ClusterConfig& config) {
  std::size_t count = 0;
  std::error_code none;
  const fs::path machines = machines_folder(config.state / config.cloud_node().name);
  for (const auto& entry : fs::directory_iterator(machines, none)) {
    const std::string name = entry.path().filename().string();
    if (machines::MachineFolder::instance_of(name) != InstanceId{}) ++count;
  }
  return count;
}

}  // namespace

std::string make_pki(const fs::path& dir, const ClusterConfig& config) {
  AuthorityOptions authorities;
  authorities.cluster = config.name;
  authorities.replace = true;
  if (auto made = create_authorities(dir, authorities); !made) return made.error().message;
  for (const NodeConfig& node : config.nodes) {
    IssueRequest request;
    request.name = node.name;
    request.hosts = {"127.0.0.1", "localhost"};
    // Clients compare what they have asked for with the certificate.
    if (node.api && !is_loopback(*node.api) && !is_wildcard(*node.api)) {
      request.hosts.push_back(node.api->host);
    }
    request.replace = true;
    if (auto issued = issue(dir, request); !issued) return issued.error().message;
  }
  return drop_node_authority(config);
}

std::string renew_pki(const ClusterConfig& config) {
  if (config.insecure_loopback || are_valid(config)) return drop_node_authority(config);
  const std::size_t kept = kept_instances(config);
  if (kept == 0) return make_pki(config.pki, config);
  return fmt::format(
      "the certificates of its nodes have run out, and new ones need new authorities, which {} "
      "that {} kept {} not know: `muster down` ends {}, then `muster up` makes them",
      kept == 1 ? "the instance" : fmt::format("the {} instances", kept),
      kept == 1 ? "was" : "were", kept == 1 ? "does" : "do", kept == 1 ? "it" : "them");
}

std::string drop_node_authority(const ClusterConfig& config) {
  if (!config.insecure_loopback && !are_valid(config)) return {};
  const fs::path key = authority_key(config.pki, PkiRole::node);
  std::error_code bad;
  fs::remove(key, bad);
  return bad ? key.string() + ": " + bad.message() : std::string{};
}

}  // namespace muster::local
