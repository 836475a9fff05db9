#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "config/endpoint.hpp"
#include "model/expected.hpp"
#include "serve/hosts/host_client.hpp"
#include "serve/hosts/join_protocol.hpp"

namespace muster::hosts {

/// A machine's part of a cluster, in a state folder of its own:
///
///     join.json    the cluster's join port, its authority, the machine's number
///     host.key     made here, and never sent
///     host.pem     the machine's certificate
///     node-ca.pem  the nodes' authority
///     lease, boot  until when instances may run, and of which boot that time is
///     machines/    the instances
struct JoinedHost {
  JoinPort port;
  std::uint32_t number = 0;
  std::string type;
  Measured measured;
};

/// How a machine joins.
struct JoinWish {
  Endpoint place;
  JoinToken token;
  Labels labels;
  std::string name;
  Measured measured;
};

/// Nothing: the folder has not joined yet. A failure's message names the file.
Expected<std::optional<JoinedHost>, int> joined_in(const std::filesystem::path& state);
/// Makes a key, or takes the one that an earlier try has left, asks for its certificate, and writes
/// all that a daemon needs.
Expected<JoinedHost, AskError> join_cluster(const std::filesystem::path& state,
                                            const JoinWish& wish);

/// Where a daemon works.
struct DaemonSetup {
  std::filesystem::path state;
  std::filesystem::path checkpoints;  ///< of tasks; shared by all machines, or this one's
  std::filesystem::path program;      ///< the muster command, for workers
  std::function<void(const std::string&)> note;
  /// Waits that long; true: the daemon is to end.
  std::function<bool(std::chrono::milliseconds)> wait;
};

/// How a daemon has ended.
struct HostEnd {
  std::string fault{};   ///< why it cannot go on; empty: it was told to end
  bool removed = false;  ///< the cluster does not know the machine any more
};

/// Reports until it is told to end, and begins and ends instances as the connector says. When it
/// ends, instances go on until their lease ends.
HostEnd run_host(const JoinedHost& host, const DaemonSetup& setup);

}  // namespace muster::hosts
