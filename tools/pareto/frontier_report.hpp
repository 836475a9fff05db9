#pragma once

#include <string>

#include "tools/pareto/frontier.hpp"

namespace muster::pareto {

/// Content of a report on a frontier.
struct FrontierReport {
  std::string workload;  ///< in one line, for people
  std::string policy;    ///< that plans and is replayed, without a budget
  ElasticLoad load;
  Frontier frontier;
};

/// The classes with their loads, a line a budget, and what to know of them; no line is longer than
/// `max_width` where the table can be broken.
std::string frontier_table(const FrontierReport& report, std::size_t max_width);

/// All of it, unrounded.
std::string frontier_json(const FrontierReport& report);

/// A page that needs nothing but itself: the table and plots of the mean JCT against GPU-hours and
/// dollars, replayed points on top.
std::string frontier_html(const FrontierReport& report);

/// One budget that was asked for, in a few lines, and as JSON.
std::string budget_text(const FrontierReport& report, double target_s);
std::string budget_json(const FrontierReport& report, double target_s);

}  // namespace muster::pareto
