#include "schedulers/packing/priority_order.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <variant>

namespace muster {
namespace {

int priority_of(const ClusterView& view, const Place& place) {
  const TaskRow* task = view.state.find(place.task);
  return task == nullptr ? 0 : view.rank(view.state.job(task->job)).priority;
}

/// Sorts the launches and tells the places their new positions.
void order_launches(const std::vector<int>& priorities, Plan& plan) {
  std::vector<std::uint32_t> order(plan.launches.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return priorities[a] > priorities[b]; });
  std::vector<std::uint32_t> position(order.size());
  std::vector<Launch> launches;
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    position[order[i]] = i;
    launches.push_back(plan.launches[order[i]]);
  }
  plan.launches = std::move(launches);
  for (Place& place : plan.places) {
    if (auto* launch = std::get_if<LaunchIndex>(&place.to)) launch->value = position[launch->value];
  }
}

}  // namespace

std::vector<std::vector<std::uint32_t>> priority_classes(const RoundInput& input,
                                                         std::span<const std::uint32_t> tasks) {
  std::vector<std::vector<std::uint32_t>> classes;
  int last = 0;
  for (std::uint32_t task : tasks) {
    const int priority = input.jobs()[input.tasks()[task].job].priority;
    const bool is_new = classes.empty() || priority != last;
    // Tasks come by falling priority: each new number begins a class, until there are
    // kMostPriorities; the last class takes the others.
    if (is_new && classes.size() < kMostPriorities) classes.emplace_back();
    classes.back().push_back(task);
    last = priority;
  }
  return classes;
}

void order_by_priority(const ClusterView& view, Plan& plan) {
  if (plan.places.empty()) return;
  std::vector<int> priorities;
  priorities.reserve(plan.places.size());
  for (const Place& place : plan.places) priorities.push_back(priority_of(view, place));
  // The usual case: all priorities are equal. Nothing is copied then.
  if (std::ranges::all_of(priorities, [&](int one) { return one == priorities.front(); })) return;
  // A launch without places comes last.
  std::vector<int> highest(plan.launches.size(), std::numeric_limits<int>::min());
  std::vector<std::pair<int, Place>> places;
  places.reserve(plan.places.size());
  for (std::size_t i = 0; i < plan.places.size(); ++i) {
    places.emplace_back(priorities[i], plan.places[i]);
    if (const auto* launch = std::get_if<LaunchIndex>(&plan.places[i].to)) {
      highest[launch->value] = std::max(highest[launch->value], priorities[i]);
    }
  }
  std::stable_sort(places.begin(), places.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (std::size_t i = 0; i < places.size(); ++i) plan.places[i] = places[i].second;
  order_launches(highest, plan);
}

}  // namespace muster
