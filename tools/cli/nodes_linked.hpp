#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "tools/client/context.hpp"

namespace muster::cli {

/// The obstacle that keeps a cluster from being up.
struct Missing {
  std::string text;
  std::string node{};  ///< that is not linked; empty: not known
  bool ended = false;  ///< the cluster as a whole, by somebody
};

/// Asks each API of the cluster once, for a job may go to any of its sites. The first obstacle, or
/// nothing where every node is linked; `nodes` are those that the first API shows.
std::optional<Missing> look_everywhere(const client::ClusterContext& context,
                                       nlohmann::json& nodes);

}  // namespace muster::cli
