#include "schedulers/boa/gpu_types.hpp"

#include <utility>

namespace muster::boa {

std::vector<RunOption> typed_options(std::span<const TypeSpeeds> types) {
  std::vector<RunOption> options;
  for (std::uint32_t type = 0; type < types.size(); ++type) {
    std::uint32_t width = 0;
    for (const double speedup : types[type].speedup) {
      ++width;
      options.push_back({1 / speedup, types[type].usd_h * width / speedup, width, type});
    }
  }
  return efficient_options(std::move(options));
}

TypePlanner::TypePlanner(const std::vector<ClassWork>& classes, const std::vector<GpuType>& types)
    : types_(types.size()) {
  for (std::size_t c = 0; c < classes.size(); ++c) {
    const ClassWork& work = classes[c];
    rates_.push_back(work.jobs_per_h);
    weights_.push_back(work.weight);
    for (std::size_t epoch = 0; epoch < work.epochs.size(); ++epoch) {
      std::vector<TypeSpeeds> speeds;
      for (const GpuType& type : types) {
        TypeSpeeds& own = speeds.emplace_back(TypeSpeeds{work.epochs[epoch].speedup, type.usd_h});
        for (double& speedup : own.speedup) speedup *= type.speed;
      }
      pieces_.push_back(
          {c, epoch, work.jobs_per_h * work.epochs[epoch].gpu_h, typed_options(speeds)});
    }
  }
}

Expected<TypedPlan, WidthError> TypePlanner::plan(double budget_usd_h) const {
  std::vector<PairLoad> pairs;
  for (const Piece& piece : pieces_) {
    pairs.push_back({piece.gpu_h, weights_[piece.work_class], piece.options});
  }
  const BudgetSpender spender(std::move(pairs));
  const auto spent = spender.spend(budget_usd_h);
  if (!spent) return spent.error();
  TypedPlan plan;
  plan.chosen.resize(rates_.size());
  plan.gpus.resize(types_);
  plan.usd_h = spent->cost;
  plan.least_usd_h = spender.least_cost();
  double hours = 0;
  const auto add = [&](const Piece& piece, const RunOption& option, double share) {
    const double busy_h = share * piece.gpu_h * option.time;
    hours += busy_h;
    plan.gpus[option.type] += busy_h * option.width;
  };
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    const Piece& piece = pieces_[p];
    const RunOption& option = piece.options[spent->chosen[p]];
    plan.chosen[piece.work_class].push_back(option);
    const bool splits = spent->split && spent->split->pair == p;
    const double share = splits ? spent->split->share : 0;
    add(piece, option, 1 - share);
    if (!splits) continue;
    const RunOption& next = piece.options[spent->chosen[p] + 1];
    add(piece, next, share);
    plan.split = {piece.work_class, piece.epoch, next, share};
  }
  double rate = 0, weighted = 0;
  for (std::size_t c = 0; c < rates_.size(); ++c) {
    rate += rates_[c];
    weighted += rates_[c] * weights_[c];
  }
  if (rate > 0) plan.mean_jct_h = hours / rate;
  if (weighted > 0) plan.weighted_jct_h = spent->time / weighted;
  return plan;
}

}  // namespace muster::boa
