#include "replay/width_errors.hpp"

#include <algorithm>
#include <any>
#include <cmath>
#include <utility>
#include <variant>

#include "schedulers/boa/class_work.hpp"
#include "schedulers/registry.hpp"

namespace muster::replay {
namespace {

boa::BoaParams told(boa::BoaParams params) {
  params.speedups = boa::SpeedSource::oracle;
  return params;
}

}  // namespace

double width_error(const boa::WidthPlan& learnt, const boa::WidthPlan& told,
                   const std::vector<boa::ClassWork>& work) {
  double sum = 0, loads = 0;
  for (std::size_t c = 0; c < work.size(); ++c) {
    for (std::size_t e = 0; e < work[c].epochs.size(); ++e) {
      const double load = work[c].jobs_per_h * work[c].epochs[e].gpu_h;
      const double width = learnt.widths[c][std::min(e, learnt.widths[c].size() - 1)];
      sum += load * std::abs(width / told.widths[c][e] - 1);
      loads += load;
    }
  }
  return loads > 0 ? sum / loads : 0;
}

WidthErrors::WidthErrors(const boa::BoaParams& params, const Catalog& catalog)
    : params_(params), catalog_(catalog) {}

void WidthErrors::see(const Event& event) {
  last_ = event.at;
  while (cells_.size() <= event.cell) {
    cells_.push_back(
        {ClusterState(catalog_), boa::BoaMemory(params_), boa::BoaMemory(told(params_))});
  }
  if (const auto* accepted = std::get_if<JobAccepted>(&event.body)) {
    const auto* elastic = std::get_if<ElasticSpec>(&accepted->job.kind);
    all_state_ = all_state_ && (elastic == nullptr || boa::states_speedups(*elastic));
  }
  Cell& cell = cells_[event.cell];
  cell.state.apply(event);
  const ClusterView view{cell.state, catalog_, event.at};
  cell.learns.observe(event, view);
  cell.is_told.observe(event, view);
  const auto* round = std::get_if<RoundDecided>(&event.body);
  if (round == nullptr || round->note.choice != boa::BoaMemory::kRecomputed) return;
  cell.error = width_error(cell.learns.plan(), cell.is_told.plan(), cell.is_told.work(event.at));
  add_point(event.at);
}

/// The mean over the masters that have a plan.
void WidthErrors::add_point(Instant at) {
  double sum = 0, count = 0;
  for (const Cell& cell : cells_) {
    if (!cell.error) continue;
    sum += *cell.error;
    ++count;
  }
  points_.emplace_back(to_seconds(at.time_since_epoch()) / 3600, sum / count);
}

void WidthErrors::finish(metrics::RunResult& result) const {
  const double end_h = to_seconds(last_.time_since_epoch()) / 3600;
  if (!all_state_ || points_.empty() || end_h <= points_.front().first) return;
  double sum = 0;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const double until = i + 1 < points_.size() ? points_[i + 1].first : end_h;
    sum += points_[i].second * (until - points_[i].first);
  }
  result.width_error = sum / (end_h - points_.front().first);
  result.width_error_over_time = points_;
}

std::optional<WidthErrors> width_errors_of(const PolicySpec& policy, std::uint32_t masters,
                                           const Catalog& catalog) {
  const auto module = find_module(policy.name);
  if (!module) return std::nullopt;
  const auto params = module.value()->read(share_of(*module.value(), policy, masters));
  const auto* boa = params ? std::any_cast<boa::BoaParams>(&params.value()) : nullptr;
  if (boa == nullptr || boa->speedups != boa::SpeedSource::learned) return std::nullopt;
  if (boa->budget_usd_h > 0) return std::nullopt;  // widths of several types do not compare
  return std::optional<WidthErrors>(std::in_place, *boa, catalog);
}

}  // namespace muster::replay
