#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/cluster_config.hpp"
#include "config/ip_rules.hpp"
#include "model/job.hpp"

namespace muster::notify {

/// Which addresses the nodes of a cluster send to.
struct ToldRules {
  config::AllowedHosts allowed{};
  bool mail = false;  ///< there is a program that sends it
  /// Why webhooks cannot be called here; empty: they can.
  std::function<std::string()> webhook_fault{};
};
ToldRules rules_of(const NotifyConfig& config);

/// Why a job cannot have somebody told who it names, as far as the address itself says it: names
/// of hosts are looked up when a message is sent. Nothing: it can.
std::optional<std::string> why_not_told(const std::vector<Job>& jobs, const ToldRules& rules);

}  // namespace muster::notify
