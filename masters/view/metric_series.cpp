#include "masters/view/metric_series.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "actors/messages/byte_cut.hpp"

namespace muster {
namespace {

using OfUser = std::map<std::string_view, MetricView>;

void add(OfUser& series, std::string_view name, double value) {
  const auto [at, is_new] = series.try_emplace(name);
  MetricView& view = at->second;
  ++view.tasks;
  view.least = is_new ? value : std::min(view.least, value);
  view.most = is_new ? value : std::max(view.most, value);
  // Without a sum that could grow beyond all numbers.
  view.mean += (value - view.mean) / static_cast<double>(view.tasks);
}

std::map<std::string_view, OfUser> by_user(const ClusterState& state, const MetricTally& held) {
  std::map<std::string_view, OfUser> users;
  for (const auto& [id, values] : held.tasks()) {
    const TaskRow* task = state.find(id);
    if (task == nullptr || task->phase != TaskPhase::running) continue;
    OfUser& series = users[state.job(task->job).job.user];
    for (const auto& [name, value] : task->metrics) add(series, name, value);
  }
  return users;
}

/// A user's names, those first that most tasks report.
std::vector<MetricView> in_turn(std::string_view user, OfUser series) {
  std::vector<MetricView> all;
  for (auto& [name, view] : series) {
    view.user = user;
    view.name = name;
    all.push_back(std::move(view));
  }
  std::ranges::stable_sort(all, std::greater<>{}, &MetricView::tasks);
  return all;
}

}  // namespace

std::vector<MetricView> metric_series(const ClusterState& state, const MetricTally& held,
                                      std::size_t most) {
  std::vector<std::vector<MetricView>> users;
  for (auto& [user, series] : by_user(state, held)) {
    users.push_back(in_turn(user, std::move(series)));
  }
  std::vector<MetricView> taken;
  ByteCut cut;
  for (std::size_t turn = 0, before = 1; taken.size() != before; ++turn) {
    before = taken.size();
    for (std::vector<MetricView>& of_user : users) {
      if (turn >= of_user.size() || taken.size() == most) continue;
      if (cut.takes(of_user[turn])) taken.push_back(std::move(of_user[turn]));
    }
  }
  std::ranges::sort(taken, [](const MetricView& a, const MetricView& b) {
    return std::tie(a.user, a.name) < std::tie(b.user, b.name);
  });
  return taken;
}

std::vector<FigureView> shown(const Metrics& metrics) {
  std::vector<FigureView> figures;
  for (const auto& [name, value] : metrics) figures.push_back({name, value});
  return figures;
}

}  // namespace muster
