#include "serve/node/node_pki.hpp"

#include "actors/link/pki.hpp"

namespace muster {

TlsFiles node_tls(const ClusterConfig& config, const std::string& node) {
  const std::filesystem::path nodes = config.pki / "nodes";
  return {nodes / (node + ".pem"), nodes / (node + ".key"),
          authority_certificate(config.pki, PkiRole::node)};
}

TlsFiles worker_listener_tls(const ClusterConfig& config, const std::string& node) {
  TlsFiles files = node_tls(config, node);
  files.trusted = authority_certificate(config.pki, PkiRole::worker);
  return files;
}

WorkerLinkOptions worker_link_options(const ClusterConfig& config) {
  WorkerLinkOptions options;
  options.max_frame_bytes = config.link.max_frame_bytes;
  options.heartbeat = config.link.heartbeat;
  options.dead_after = config.link.timeout;
  options.first_delay = config.link.reconnect;
  options.insecure_loopback = config.insecure_loopback;
  return options;
}

std::optional<Failure<NodeError>> check_node_tls(const ClusterConfig& config,
                                                 const std::string& node) {
  if (config.insecure_loopback) return std::nullopt;
  for (const TlsFiles& files : {node_tls(config, node), worker_listener_tls(config, node)}) {
    const auto context = server_context(files);
    if (!context) return Failure<NodeError>{NodeError::tls, context.error().message};
  }
  return std::nullopt;
}

}  // namespace muster
