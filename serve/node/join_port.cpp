#include "serve/node/join_port.hpp"

#include "actors/link/join_pki.hpp"
#include "actors/link/openssl_handles.hpp"
#include "serve/node/node_pki.hpp"
#include "workers/process/files/checkpoint_mark.hpp"

namespace muster {
namespace {

/// Between two looks at the mark of the cluster's folder of checkpoints.
constexpr std::chrono::seconds kMarkPeriod{60};

}  // namespace

Expected<std::unique_ptr<hosts::JoinServer>, NodeError> open_join_port(const JoinPortParts& parts) {
  const std::filesystem::path chain = authority_certificate(parts.config.pki, PkiRole::node);
  const auto authority = ssl::read_file(chain);
  if (!authority) return Failure<NodeError>{NodeError::tls, authority.error().message};
  hosts::JoinDeskSetup desk;
  desk.pki = parts.config.pki;
  desk.authority = authority.value();
  if (parts.audit) {
    desk.audit = [audit = parts.audit, book = parts.hosts](const hosts::JoinPeer& peer, int status,
                                                           const std::string& about) {
      api::AuditEntry entry;
      entry.at_s = book->now_s();
      entry.address = peer.address;
      entry.method = "POST";
      entry.path = hosts::kJoinPath;
      entry.status = status;
      entry.about = about;
      constexpr int kFirstFault = 400;
      status >= kFirstFault ? audit->add_refused(std::move(entry)) : audit->add(std::move(entry));
    };
  }
  hosts::JoinServerSetup server;
  server.address = parts.node.join->host;
  server.port = parts.node.join->port;
  server.tls = worker_listener_tls(parts.config, parts.node.name);
  server.chain = chain;
  server.desk = std::make_shared<hosts::JoinDesk>(parts.hosts, std::move(desk));
  auto started = hosts::JoinServer::start(std::move(server));
  if (!started) return Failure<NodeError>{NodeError::listen, started.error().message};
  return std::move(started).value();
}

Expected<std::unique_ptr<process::SlowSteps>, NodeError> mark_checkpoints(
    const ClusterConfig& config, std::function<void(const std::string&)> warn) {
  const auto mark = authority_print(authority_certificate(config.pki, PkiRole::node));
  if (!mark) return Failure<NodeError>{NodeError::tls, mark.error().message};
  auto step = [folder = config.worker.checkpoints, mark = mark.value(), warn = std::move(warn),
               said = std::string()]() mutable {
    std::string trouble = process::put_mark(folder, mark);
    if (!trouble.empty() && trouble != said) {
      warn("machines take their checkpoints for their own: " + trouble);
    }
    said = std::move(trouble);
  };
  return std::make_unique<process::SlowSteps>(std::move(step), kMarkPeriod);
}

Expected<std::shared_ptr<api::HostAdmin>, NodeError> host_admin(const JoinPortParts& parts) {
  const auto print = authority_print(authority_certificate(parts.config.pki, PkiRole::node));
  if (!print) return Failure<NodeError>{NodeError::tls, print.error().message};
  return std::shared_ptr<api::HostAdmin>(std::make_shared<hosts::BookAdmin>(
      parts.hosts, parts.config.cloud.own.of<HostsCloudSettings>().lease, print.value()));
}

}  // namespace muster
