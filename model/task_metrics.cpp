#include "model/task_metrics.hpp"

#include <algorithm>

namespace muster {
namespace {

bool is_letter(char c) {
  return c >= 'a' && c <= 'z';
}

}  // namespace

bool is_metric_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxMetricNameBytes && is_letter(name.front()) &&
         std::ranges::all_of(
             name, [](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; });
}

bool is_metric_value(double value) {
  return value >= -kMostMetric && value <= kMostMetric;
}

bool are_metrics(const Metrics& values) {
  if (values.size() > kMaxMetrics) return false;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!is_metric_name(values[i].first) || !is_metric_value(values[i].second)) return false;
    if (i > 0 && values[i - 1].first >= values[i].first) return false;
  }
  return true;
}

bool set_metric(Metrics& values, std::string_view name, double value, std::size_t most) {
  const auto at = std::ranges::lower_bound(
      values, name, {}, [](const auto& each) { return std::string_view(each.first); });
  if (at != values.end() && at->first == name) {
    at->second = value;
    return true;
  }
  if (values.size() >= most) return false;
  values.emplace(at, name, value);
  return true;
}

}  // namespace muster
