#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "model/views.hpp"
#include "serve/api/backend.hpp"

// How what several masters and sites say of themselves becomes one answer of the API (docs/api.md).

namespace muster::merge {

/// The lists of all masters, one behind the other.
template <class View, class Part>
std::vector<Part> all_of(std::vector<View> masters, std::vector<Part> View::*list) {
  std::vector<Part> all;
  for (View& one : masters)
    std::move((one.*list).begin(), (one.*list).end(), std::back_inserter(all));
  return all;
}

/// The instances of all masters, those that were asked for last first.
InstancesView instances(std::vector<InstancesView> masters);
/// The decisions of all masters, each with its sentence, the newest first, at most `limit` of them;
/// 0: all.
DecisionsView decisions(std::vector<DecisionsView> masters, std::uint32_t limit);

/// The cluster's bill in $: the masters' figures in parts and, when it is known, the cost of each
/// rented instance by the cloud's own count.
CostView cost(const std::vector<CostView>& masters, const std::optional<RentedView>& rented);

/// Of the masters and the sites that answered.
StatusView status(const std::vector<CellFigures>& masters, const std::vector<SiteFigures>& sites,
                  Instant now, std::vector<NodeView> nodes);
/// The sums of the masters' pasts, a sample a minute. Between its samples, and after the last one,
/// a master counts as it was: nothing happened there, or nobody knows better.
HistoryView history(const std::vector<HistoryView>& masters);
api::MetricsInput metrics(const std::vector<CellFigures>& masters,
                          const std::vector<SiteFigures>& sites);

}  // namespace muster::merge
