#pragma once

#include <string>
#include <vector>

#include "replay/report/summary.hpp"
#include "tools/experiment/results.hpp"

namespace muster::experiment {

/// The metrics that the experiment shows, a row a point of the grid.
report::Summary table_of_grid(const Results& results, std::size_t grid);

/// Notes that a reader of the tables needs.
std::vector<std::string> notes_of(const Results& results);

}  // namespace muster::experiment
