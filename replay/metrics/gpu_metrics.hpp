#pragma once

#include <vector>

#include "replay/metrics/metric_table.hpp"

namespace muster::metrics {

/// What is rented of GPUs and not used, by where it goes.
void add_unused_gpus(std::vector<Metric>& table);
/// What is used, rented and billed of GPUs, and what elastic jobs make of it.
void add_gpus(std::vector<Metric>& table);

}  // namespace muster::metrics
