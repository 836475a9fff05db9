#include "serve/node/node_api.hpp"

#include <utility>

#include "actors/link/pki.hpp"
#include "serve/node/node_pki.hpp"

namespace muster {
namespace {

Failure<NodeError> failed(const Failure<api::ServerError>& error) {
  return {NodeError::listen, error.message};
}

/// In the state's folder, which no isolated task sees, unless the config names another place. A
/// file alone could not be hidden: a change puts a new one in its place.
std::filesystem::path named_tokens(const ClusterConfig& config) {
  return config.api.tokens.empty() ? config.state / "named-tokens" : config.api.tokens;
}

}  // namespace

Expected<api::ServerOptions, NodeError> api_options(const NodeApi& parts) {
  const ClusterConfig& config = parts.config;
  api::ServerOptions options;
  options.address = parts.node.api->host;
  options.port = parts.node.api->port;
  options.hosts = config.api.hosts;
  options.api.max_waiting = config.api.waiting;
  options.api.of_token = config.api.waiting_of_token;
  options.api.max_waiting_for_jobs = config.api.waiting_for_jobs;
  options.api.jobs_of_token = config.api.waiting_for_jobs_of_token;
  if (!is_loopback(*parts.node.api) && !config.insecure_loopback) {
    const TlsFiles files = node_tls(config, parts.node.name);
    options.certificate = files.certificate;
    options.key = files.key;
    // The maker of the certificate wants the API to be asked by these names.
    const auto said = describe_certificates(files.certificate);
    if (said && !said->empty()) {
      const std::vector<std::string>& names = said->front().hosts;
      options.hosts.insert(options.hosts.end(), names.begin(), names.end());
    }
  }
  api::FileStoreOptions files;
  files.folder = config.files.folder;
  files.stage_max_bytes = std::uint64_t{config.files.stage_max_mib} << 20;
  files.user_max_bytes = std::uint64_t{config.files.user_max_mib} << 20;
  files.clock = parts.clock;
  files.families_away = config.cloud.own_families;
  files.all_are_away = config.cloud.provider == "hosts";
  options.files = std::make_shared<api::FileStore>(std::move(files));
  // A store that cannot be made is no reason not to serve the rest: requests about files tell.
  options.files->begin(parts.warn);
  auto tokens =
      api::TokenBook::open({config.api_token, named_tokens(config)}, parts.clock, parts.warn);
  if (!tokens) return failed(tokens.error());
  options.tokens = std::move(tokens).value();
  options.api.max_user_priority = static_cast<int>(config.api.max_user_priority);
  // Beside the tokens, which the APIs of a machine share as well.
  options.requests =
      std::make_shared<api::RequestBook>(named_tokens(config).string() + ".requests", parts.warn);
  api::AuditOptions audit;
  audit.file = parts.state / "audit.log";
  audit.node = parts.node.name;
  audit.max_bytes = std::uint64_t{config.api.audit_mib} << 20;
  audit.max_files = config.api.audit_files;
  audit.note = parts.warn;
  auto log = api::AuditLog::open(std::move(audit));
  if (!log) return failed(log.error());
  options.audit = std::move(log).value();
  return options;
}

}  // namespace muster
