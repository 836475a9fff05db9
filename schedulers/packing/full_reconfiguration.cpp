#include "schedulers/packing/full_reconfiguration.hpp"

#include <algorithm>
#include <limits>

namespace muster {
namespace {

constexpr std::uint32_t kNoGroup = std::numeric_limits<std::uint32_t>::max();

}  // namespace

void Configuration::clear() {
  bins.clear();
  tasks.clear();
  unplaced.clear();
}

double cost_usd_h(const Configuration& configuration, const PricedTypes& types) {
  double sum = 0;
  for (const auto& bin : configuration.bins) sum += types.usd_h(bin.type);
  return sum;
}

void FullReconfiguration::make_groups(const PackingTasks& tasks) {
  groups_.clear();
  group_of_kind_.assign(tasks.kinds.size(), kNoGroup);
  for (std::uint32_t kind : tasks.kind_of) {
    if (group_of_kind_[kind] == kNoGroup) {
      group_of_kind_[kind] = static_cast<std::uint32_t>(groups_.size());
      groups_.push_back({.kind = kind});
    }
    ++groups_[group_of_kind_[kind]].end;
  }
  std::uint32_t begin = 0;
  for (Group& group : groups_) {
    const std::uint32_t count = group.end;
    group.next = group.end = begin;
    begin += count;
  }
  members_.resize(tasks.kind_of.size());
  for (std::uint32_t task = 0; task < tasks.kind_of.size(); ++task) {
    members_[groups_[group_of_kind_[tasks.kind_of[task]]].end++] = task;
  }
}

double FullReconfiguration::collect(const PackingTasks& tasks, const WorthModel& model,
                                    TypeId type) {
  candidates_.clear();
  double worth = 0;
  for (std::uint32_t i = 0; i < groups_.size(); ++i) {
    const Group& group = groups_[i];
    if (group.left() == 0) continue;
    const TaskKind& kind = tasks.kinds[group.kind];
    const ShapeOnType& shape = model.prices.on(kind.shape, type);
    if (!shape.fits) continue;
    candidates_.push_back({i, entrant_of(model, kind, type), shape.amount});
    worth += group.left() * shape.worth_usd_h;
  }
  return worth;
}

const FullReconfiguration::Candidate* FullReconfiguration::best_candidate(
    const Resources& capacity) {
  const Candidate* best = nullptr;
  double best_worth = 0;
  std::size_t kept = 0;
  bool sure = false;  // that no later candidate can be better
  for (std::uint32_t position : open_) {
    const Candidate& candidate = candidates_[position];
    if (!sure) {
      const Group& group = groups_[candidate.group];
      if (group.used == group.left() || !(used_ + candidate.amount).fits_in(capacity)) {
        continue;  // for the rest of this fill
      }
      if (best != nullptr && worth_.bound_with(candidate.entrant) < best_worth) {
        sure = true;
      } else {
        const double worth = worth_.with(candidate.entrant);
        if (best == nullptr || worth > best_worth ||
            (worth == best_worth && candidate.group < best->group)) {
          best = &candidate;
          best_worth = worth;
        }
      }
    }
    open_[kept++] = position;
  }
  open_.resize(kept);
  return best != nullptr && best_worth < worth_.usd_h() ? nullptr : best;
}

void FullReconfiguration::fill(const WorthModel& model, const Resources& capacity) {
  for (std::uint32_t position : fill_) groups_[candidates_[position].group].used = 0;
  fill_.clear();
  open_.clear();
  for (std::uint32_t i = 0; i < candidates_.size(); ++i) open_.push_back(i);
  worth_.clear(model);
  used_ = {};
  while (const Candidate* best = best_candidate(capacity)) {
    worth_.add(best->entrant);
    used_ += best->amount;
    ++groups_[best->group].used;
    fill_.push_back(static_cast<std::uint32_t>(best - candidates_.data()));
  }
}

void FullReconfiguration::accept(TypeId type, Configuration& result) {
  std::uint32_t times = std::numeric_limits<std::uint32_t>::max();
  for (std::uint32_t position : fill_) {
    const Group& group = groups_[candidates_[position].group];
    times = std::min(times, group.left() / group.used);
  }
  for (; times > 0; --times) {
    const auto first = static_cast<std::uint32_t>(result.tasks.size());
    for (std::uint32_t position : fill_) {
      result.tasks.push_back(members_[groups_[candidates_[position].group].next++]);
    }
    result.bins.push_back({type, first, static_cast<std::uint32_t>(fill_.size()), worth_.usd_h()});
  }
}

void FullReconfiguration::run(const PackingTasks& tasks, const WorthModel& model,
                              Configuration& result) {
  result.clear();
  make_groups(tasks);
  const PricedTypes& types = model.prices.types();
  for (TypeId type : types.by_descending_price()) {
    const Resources& capacity = types[type].capacity;
    const double price = types.usd_h(type) - kWorthEpsilon_usd_h;
    fill_.clear();
    // No set is worth more than its tasks undisturbed; the slack is for rounding.
    if (collect(tasks, model, type) * (1 + 1e-12) < price) continue;
    std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
      return a.entrant.worth != b.entrant.worth ? a.entrant.worth > b.entrant.worth
                                                : a.group < b.group;
    });
    for (fill(model, capacity); !fill_.empty(); fill(model, capacity)) {
      if (worth_.usd_h() < price) break;
      accept(type, result);
    }
    for (std::uint32_t position : fill_) groups_[candidates_[position].group].used = 0;
  }
  place_leftovers(tasks, model, result);
}

void FullReconfiguration::place_leftovers(const PackingTasks& tasks, const WorthModel& model,
                                          Configuration& result) {
  for (const Group& group : groups_) {
    const TaskKind& kind = tasks.kinds[group.kind];
    const ReservationPrice& price = model.prices.of(kind.shape);
    for (std::uint32_t i = group.next; i < group.end; ++i) {
      if (!price.fits()) {
        result.unplaced.push_back(members_[i]);
        continue;
      }
      worth_.clear(model);
      worth_.add(entrant_of(model, kind, price.type));
      result.bins.push_back(
          {price.type, static_cast<std::uint32_t>(result.tasks.size()), 1, worth_.usd_h()});
      result.tasks.push_back(members_[i]);
    }
  }
}

}  // namespace muster
