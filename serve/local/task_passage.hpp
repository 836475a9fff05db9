#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "config/cluster_config.hpp"

// Tasks of another user have to get through to their own folders below that of a local cluster.

namespace muster::local {

/// Where tasks of another user could not get to their folders in the cluster of `dir`, and where
/// they can; empty: they can, or there are no such tasks. Only looks: files in `dir`, or in `own`,
/// were made by `up` and can be changed as needed.
std::string passage_fault(const std::filesystem::path& dir,
                          const std::vector<std::filesystem::path>& own,
                          const ClusterConfig& config);

/// Lets tasks of another user through `dir` and `own`; closes `dir` when there are no such tasks.
/// Empty, or why not.
std::string open_passage(const std::filesystem::path& dir,
                         const std::vector<std::filesystem::path>& own,
                         const ClusterConfig& config);

/// The command for a cluster whose tasks run as the setting says ("task_uid=65534"), in a folder
/// that this user can get to.
std::string elsewhere(std::uint32_t user, const std::string& setting);

}  // namespace muster::local
