#pragma once

#include <vector>

#include "replay/metrics/metric_table.hpp"

namespace muster::metrics {

/// Adds the metrics of services, which runs without services do not have.
void add_services(std::vector<Metric>& table);

}  // namespace muster::metrics
