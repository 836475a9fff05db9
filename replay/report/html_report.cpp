#include "replay/report/html_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "replay/report/assets.hpp"
#include "replay/report/html_text.hpp"
#include "replay/report/summary.hpp"
#include "serve/page/chart_js.hpp"

// The report as one HTML file that needs no other and no network: style, scripts and data are put
// into it. Texts of users are escaped wherever they go, as HTML or as JSON inside a script.

namespace muster::report {
namespace {

using metrics::RunResult;
using metrics::Series;
using Json = nlohmann::ordered_json;
using Runs = std::vector<const RunResult*>;

// More than a plot has pixels for; a run may have millions of jobs.
constexpr std::size_t kDistributionPoints = 400;
// As many colours as are told apart at a glance; the others are summed.
constexpr std::size_t kTypesShown = 9;

/// Six digits are more than a plot shows.
/// The scale follows the value's size: five digits after the first one.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double scale = std::pow(10, 5 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

Json points_of(const Series& series) {
  Json points = Json::array();
  for (const auto& [x, y] : series) points.push_back({rounded(x), rounded(y)});
  return points;
}

/// The share of values up to each of them, thinned out.
Json distribution(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  Json points = Json::array();
  const std::size_t count = std::min(values.size(), kDistributionPoints);
  for (std::size_t i = 0; i < count; ++i) {
    // Evenly over the ranks, the first and the last included.
    const std::size_t rank = count == 1 ? 0 : i * (values.size() - 1) / (count - 1);
    const double share = static_cast<double>(rank + 1) / static_cast<double>(values.size());
    points.push_back({rounded(values[rank]), rounded(share)});
  }
  return points;
}

double weight_of(const Series& series) {
  double sum = 0;
  for (const auto& point : series) sum += point.second;
  return sum;
}

/// The types most in use, each with its series, and the sum of all others.
Json instances_of(const RunResult& run) {
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [type, series] : run.instances_by_type) {
    // Sorted by falling weight and then by name, so that equal runs give equal reports.
    order.emplace_back(-weight_of(series), type);
  }
  std::sort(order.begin(), order.end());
  Json types = Json::array();
  Series others;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Series& series = run.instances_by_type.at(order[i].second);
    if (i < kTypesShown) {
      types.push_back({{"type", order[i].second}, {"points", points_of(series)}});
      continue;
    }
    if (others.empty()) others.assign(series.size(), {0, 0});
    for (std::size_t k = 0; k < std::min(series.size(), others.size()); ++k) {
      others[k] = {series[k].first, others[k].second + series[k].second};
    }
  }
  if (!others.empty()) types.push_back({{"type", "others"}, {"points", points_of(others)}});
  return types;
}

/// The mean over the runs of a policy, purposes in the order in which they appear.
Json purposes_of(const Runs& runs) {
  std::vector<std::pair<std::string, double>> sums;
  for (const RunResult* run : runs) {
    for (const auto& [purpose, usd] : run->cost_by_purpose) {
      const auto known = std::find_if(
          sums.begin(), sums.end(), [&, name = &purpose](auto& sum) { return sum.first == *name; });
      if (known == sums.end()) {
        sums.emplace_back(purpose, usd);
      } else {
        known->second += usd;
      }
    }
  }
  Json purposes = Json::array();
  for (const auto& [purpose, usd] : sums) {
    purposes.push_back({purpose, rounded(usd / static_cast<double>(runs.size()))});
  }
  return purposes;
}

Json policy_json(const Runs& runs) {
  const RunResult& first = *runs.front();
  std::vector<double> jct_h;
  std::vector<double> uptime_h;
  for (const RunResult* run : runs) {
    jct_h.insert(jct_h.end(), run->jct_h.begin(), run->jct_h.end());
    uptime_h.insert(uptime_h.end(), run->instance_uptime_h.begin(), run->instance_uptime_h.end());
  }
  return {{"policy", first.policy},
          {"seed", first.seed},
          {"cost", points_of(first.cost_over_time)},
          {"instances", instances_of(first)},
          {"allocation",
           {points_of(first.allocation_over_time[0]), points_of(first.allocation_over_time[1]),
            points_of(first.allocation_over_time[2])}},
          {"gpus", {points_of(first.gpus_over_time.rented), points_of(first.gpus_over_time.used)}},
          {"efficiency", points_of(first.gpus_over_time.efficiency)},
          {"width_error", points_of(first.width_error_over_time)},
          {"jct", distribution(std::move(jct_h))},
          {"uptime", distribution(std::move(uptime_h))},
          {"purposes", purposes_of(runs)}};
}

/// The jobs that did not complete, under every policy.
std::string html_leftovers(std::span<const RunResult> runs) {
  // A policy that completes nothing would otherwise make a page of all jobs.
  constexpr std::size_t kMost = 200;
  std::string rows;
  std::size_t count = 0;
  for (const RunResult& run : runs) {
    for (const auto& [job, reason] : run.not_completed) {
      if (++count > kMost) continue;
      rows += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                          escape_html(run.policy), run.seed, escape_html(job), escape_html(reason));
    }
  }
  if (count == 0) return "<p>Every job completed under every policy.</p>";
  if (count > kMost) rows += fmt::format("<tr><td>and {} more</td></tr>\n", count - kMost);
  return "<table class=\"text\"><thead><tr><th>policy</th><th>seed</th><th>job</th><th>reason</th>"
         "</tr></thead><tbody>\n" +
         rows + "</tbody></table>";
}

}  // namespace

std::string html_report(const std::string& title, std::span<const RunResult> runs) {
  Json data = Json::array();
  for (const Runs& group : by_policy(runs)) data.push_back(policy_json(group));
  return fill_page(assets::kPage, {{"title", escape_html(title)},
                                   {"style", std::string(assets::kStyle)},
                                   {"summary", html_table(summarize(runs))},
                                   {"leftovers", html_leftovers(runs)},
                                   {"data", script_safe(data)},
                                   {"chartjs", std::string(web::kChartJs)},
                                   {"script", std::string(assets::kScript)}});
}

}  // namespace muster::report
