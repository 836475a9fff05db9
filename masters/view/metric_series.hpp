#pragma once

#include <cstddef>
#include <vector>

#include "masters/metric_tally.hpp"
#include "model/cluster_state.hpp"
#include "model/views.hpp"

namespace muster {

/// The last values of running tasks, put together by user and name: by rising users and names, of
/// `most` of these at most, and no more than go into one message. Where there are more, users have
/// turns, each with the name that most of the user's tasks report: nobody's names crowd out those
/// of another. Looks at all values that are held.
std::vector<MetricView> metric_series(const ClusterState& state, const MetricTally& held,
                                      std::size_t most);

/// The values of a task, for people.
std::vector<FigureView> shown(const Metrics& metrics);

}  // namespace muster
