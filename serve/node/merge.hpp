#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/views.hpp"
#include "serve/api/backend.hpp"

// How what several masters and sites say of themselves becomes one answer of the API (docs/api.md).

namespace muster::merge {

/// The instances of all masters, those that were asked for last first.
std::vector<InstanceView> instances(std::vector<InstancesView> masters);
/// The decisions of all masters, the newest first, at most `limit` of them; 0: all.
std::vector<DecisionView> decisions(std::vector<DecisionsView> masters, std::uint32_t limit);

/// The cluster's bill in $: what the masters say in parts and, when it is known, what each rented
/// instance has cost by the cloud's own count.
CostView cost(const std::vector<CostView>& masters, const std::optional<RentedView>& rented);

/// Load of a node's master, for the listings.
struct NodeLoad {
  std::uint64_t jobs = 0;
  std::uint64_t pending_tasks = 0;
  std::uint64_t instances = 0;
  double usd_h = 0;
  std::string policy;
};

/// A node for the listings.
struct NodeLine {
  std::string name;
  std::vector<std::string> roles;
  bool connected = false;
  std::optional<NodeLoad> load{};
};

/// The caps of a master.
struct CapsOf {
  std::string master;
  CapsView caps;
};

/// The cluster at a glance.
struct ClusterStatus {
  double now_s = 0;
  std::uint64_t jobs_handing_over = 0;
  std::uint64_t jobs_waiting = 0;
  std::uint64_t jobs_running = 0;
  std::uint64_t jobs_held = 0;
  std::uint64_t jobs_over = 0;
  std::uint64_t tasks_pending = 0;
  std::uint64_t tasks_running = 0;
  std::uint64_t elastic_jobs = 0;
  std::uint64_t elastic_workers = 0;
  std::vector<OfferCount> instances{};
  double usd_h = 0;
  double total_usd = 0;
  double today_usd = 0;
  std::vector<NodeLine> nodes{};
  std::vector<CapsOf> caps{};
  std::vector<std::string> trouble{};
};

/// Of the masters and the sites that answered.
ClusterStatus status(const std::vector<CellFigures>& masters, const std::vector<SiteFigures>& sites,
                     double now_s, std::vector<NodeLine> nodes);
/// The sums of the masters' pasts, a sample a minute. Between its samples, and after the last one,
/// a master counts as it was: nothing happened there, or nobody knows better.
std::vector<HistorySample> history(const std::vector<HistoryView>& masters);
api::MetricsInput metrics(const std::vector<CellFigures>& masters,
                          const std::vector<SiteFigures>& sites);

}  // namespace muster::merge
