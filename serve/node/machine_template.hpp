#pragma once

#include <filesystem>

#include "model/roster.hpp"
#include "serve/machines/process_machines.hpp"
#include "serve/node/live_node.hpp"

namespace muster {

/// How the machines of a loopback cloud are made: workers of the node's own program, each with a
/// config and a certificate of its own in its folder.
MachineOptions machine_template(const NodeSetup& setup, const ClusterRoster& roster,
                                const std::filesystem::path& node_state);

/// The settings of an instance's worker on a machine that has joined, TOML. Paths in them are
/// placeholders: that machine has its own.
Expected<std::string, int> remote_worker_settings(const NodeSetup& setup,
                                                  const ClusterRoster& roster,
                                                  const MachineOrder& order);

/// Where a node keeps its machines.
std::filesystem::path machines_folder(const std::filesystem::path& node_state);

/// Why tasks cannot run as the user that the config names, or not get to their folders, once the
/// recipe has been made; empty: they can.
std::string task_user_fault(const ClusterConfig& config, const std::filesystem::path& node_state);

}  // namespace muster
