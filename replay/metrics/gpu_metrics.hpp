#pragma once

#include <vector>

#include "replay/metrics/metric_table.hpp"

namespace muster::metrics {

/// Metrics of rented GPUs that are not used, by cause.
void add_unused_gpus(std::vector<Metric>& table);
/// Metrics of used, rented and billed GPUs, and of the use that elastic jobs make of them.
void add_gpus(std::vector<Metric>& table);

}  // namespace muster::metrics
