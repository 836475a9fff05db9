#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "config/cluster_config.hpp"

namespace muster::cli {

/// Log lines of the nodes of a local cluster, from when this is made, for the case that they do not
/// come up.
class LastWords {
 public:
  /// Ends of a node, some seconds apart, after which its trouble will not pass by itself.
  static constexpr std::size_t kVainStarts = 5;

  LastWords(const std::filesystem::path& dir, const ClusterConfig& config);

  /// Of the node; of any when no node is named. Its own complaint before what others say of it.
  std::string of(const std::string& node) const;
  /// The ends of the logs that say more, each below its path: the keeper's, and the node's own.
  std::string ends(const std::string& node) const;
  /// A node that has ended that often, so that waiting for it is in vain; empty: there is no such
  /// node.
  std::string node_that_gives_up() const;

 private:
  struct Log {
    std::filesystem::path file;
    std::uintmax_t from = 0;  ///< its length when this was made
  };
  static std::string end_of(const Log& log);

  Log keeper_;
  std::map<std::string, Log> nodes_;
};

}  // namespace muster::cli
