#include "schedulers/packing/rounds/full_reconfiguration.hpp"

#include <algorithm>
#include <limits>

// Algorithm 1 of Eva for many tasks. Four things make it fast and leave the result that of the
// plain form: equal tasks are one group, a fill is repeated while all its groups last, candidates
// are sorted so that a bound ends the search for the best one, and of those that differ in their
// demands only the first that fits is found without a look at the others.
// Tasks that are kept apart are groups of their own job, of which a fill takes no more tasks than
// may be together.

namespace muster {
namespace {

constexpr std::uint32_t kNoGroup = std::numeric_limits<std::uint32_t>::max();
/// Fewer are looked at one by one sooner than a tree of them is made.
constexpr std::size_t kFewCandidates = 512;

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
  group_of_job_.clear();
  for (std::uint32_t task = 0; task < tasks.kind_of.size(); ++task) {
    std::uint32_t& group = group_of(tasks, task);
    if (group == kNoGroup) {
      group = static_cast<std::uint32_t>(groups_.size());
      groups_.push_back({.kind = tasks.kind_of[task], .apart = tasks.apart(task)});
    }
    ++groups_[group].end;
  }
  // Counting sort: `end` holds the group's size until here, then the range [next, end) of members_.
  std::uint32_t begin = 0;
  for (Group& group : groups_) {
    const std::uint32_t count = group.end;
    group.next = group.end = begin;
    begin += count;
  }
  members_.resize(tasks.kind_of.size());
  for (std::uint32_t task = 0; task < tasks.kind_of.size(); ++task) {
    members_[groups_[group_of(tasks, task)].end++] = task;
  }
}

/// kNoGroup: it has no group yet.
std::uint32_t& FullReconfiguration::group_of(const PackingTasks& tasks, std::uint32_t task) {
  const std::uint32_t kind = tasks.kind_of[task];
  if (!tasks.apart(task)) return group_of_kind_[kind];
  return group_of_job_.try_emplace({tasks.apart(task).job, kind}, kNoGroup).first->second;
}

/// The fill has as many tasks of the group's job as may be together.
bool FullReconfiguration::is_full_of_peers(const Group& group) const {
  return group.apart && std::ranges::count(apart_, group.apart.job) >= group.apart.most;
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

void FullReconfiguration::make_runs() {
  std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
    if (a.entrant.worth != b.entrant.worth) return a.entrant.worth > b.entrant.worth;
    if (a.entrant.loss != b.entrant.loss) return a.entrant.loss < b.entrant.loss;
    return a.entrant.cls != b.entrant.cls ? a.entrant.cls < b.entrant.cls : a.group < b.group;
  });
  runs_.clear();
  live_.clear();
  const Entrant* before = nullptr;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    const Entrant& own = candidates_[i].entrant;
    const bool alike = before != nullptr && before->worth == own.worth &&
                       before->loss == own.loss && before->cls == own.cls;
    if (!alike) {
      live_.push_back(static_cast<std::uint32_t>(runs_.size()));
      runs_.push_back({i, i, i});
    }
    ++runs_.back().end;
    before = &own;
  }
  if (candidates_.size() <= kFewCandidates) return;
  tree_.reset(candidates_.size());
  of_job_.clear();
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    tree_.set(i, candidates_[i].amount);
    const Apart& apart = groups_[candidates_[i].group].apart;
    if (apart) of_job_[apart.job].push_back(static_cast<std::uint32_t>(i));
  }
  tree_.build();
}

/// Of which some task is left for the present fill. A task that does not fit now fits no more in
/// the fill, in which room only shrinks: the search goes on where the last one of the run ended.
const FullReconfiguration::Candidate* FullReconfiguration::first_that_fits(
    Run& run, const Resources& capacity) {
  const auto fits = [&](const Resources& amount) {
    ++looks_;
    return (used_ + amount).fits_in(capacity);
  };
  const auto may_enter = [&](const Candidate& candidate) {
    const Group& group = groups_[candidate.group];
    return group.used < group.left() && !is_full_of_peers(group) && fits(candidate.amount);
  };
  if (candidates_.size() > kFewCandidates) {
    if (run.at < run.end && may_enter(candidates_[run.at])) return &candidates_[run.at];
    const std::size_t found = tree_.first(run.at, run.end, fits);
    run.at = std::min(found, run.end);
  } else {
    while (run.at < run.end && !may_enter(candidates_[run.at])) ++run.at;
  }
  return run.at < run.end ? &candidates_[run.at] : nullptr;
}

const FullReconfiguration::Candidate* FullReconfiguration::best_candidate(
    const Resources& capacity) {
  const Candidate* best = nullptr;
  double best_worth = 0;
  // open_ is compacted on the way. A run of which nothing fits cannot enter this fill later either,
  // since used_ only grows.
  std::size_t kept = 0;
  bool sure = false;  // that no later run can be better
  for (std::uint32_t number : open_) {
    if (!sure) {
      const Candidate* candidate = first_that_fits(runs_[number], capacity);
      if (candidate == nullptr) continue;  // for the rest of this fill
      // Runs stand by falling worth, and the bound falls with it: no later one can be better.
      if (best != nullptr && worth_.bound_with(candidate->entrant) < best_worth) {
        sure = true;
      } else {
        const double worth = worth_.with(candidate->entrant);
        if (best == nullptr || worth > best_worth ||
            // Equal worth: the group whose first task is earlier, as in the plain form.
            (worth == best_worth && candidate->group < best->group)) {
          best = candidate;
          best_worth = worth;
        }
      }
    }
    open_[kept++] = number;
  }
  open_.resize(kept);
  // The set must not be worth less than before the task (Algorithm 1).
  return best != nullptr && best_worth < worth_.usd_h() ? nullptr : best;
}

/// Resets what the last fill touched, not all groups.
void FullReconfiguration::take_back_fill() {
  const bool many = candidates_.size() > kFewCandidates;
  const auto put_back = [&](std::uint32_t position) {
    const Candidate& candidate = candidates_[position];
    const bool some_left = groups_[candidate.group].left() > 0;
    some_left ? tree_.put(position, candidate.amount) : tree_.drop(position);
  };
  for (std::uint32_t position : fill_) {
    groups_[candidates_[position].group].used = 0;
    if (many) put_back(position);
  }
  for (std::size_t i = 0; many && i < apart_.size(); ++i) {
    for (std::uint32_t position : of_job_[apart_[i]]) put_back(position);
  }
  fill_.clear();
  apart_.clear();
}

void FullReconfiguration::begin_fill(const WorthModel& model) {
  take_back_fill();
  worth_.clear(model);
  used_ = {};
  open_ = live_;
  for (std::uint32_t number : open_) runs_[number].at = runs_[number].begin;
}

void FullReconfiguration::fill(const WorthModel& model, const Resources& capacity) {
  begin_fill(model);
  const Candidate* best = best_candidate(capacity);
  // On an empty instance everything fits: candidates that are gone by now have no task left.
  live_ = open_;
  for (; best != nullptr; best = best_candidate(capacity)) {
    const auto position = static_cast<std::uint32_t>(best - candidates_.data());
    worth_.add(best->entrant);
    used_ += best->amount;
    enter(position);
  }
}

/// A task of the candidate is in the fill; candidates without a task that can still enter leave the
/// tree.
void FullReconfiguration::enter(std::uint32_t position) {
  const bool many = candidates_.size() > kFewCandidates;
  Group& group = groups_[candidates_[position].group];
  if (++group.used == group.left() && many) tree_.drop(position);
  fill_.push_back(position);
  if (!group.apart) return;
  apart_.push_back(group.apart.job);
  if (!many || !is_full_of_peers(group)) return;
  for (std::uint32_t peer : of_job_[group.apart.job]) tree_.drop(peer);
}

std::uint32_t FullReconfiguration::accept(TypeId type, std::uint32_t most, Configuration& result) {
  // Greedy choices depend on which groups have tasks left and not on how many: as long as each
  // group of the fill has enough of them, the next fill would be equal.
  std::uint32_t times = most;
  for (std::uint32_t position : fill_) {
    const Group& group = groups_[candidates_[position].group];
    times = std::min(times, group.left() / group.used);
  }
  for (std::uint32_t i = 0; i < times; ++i) {
    const auto first = static_cast<std::uint32_t>(result.tasks.size());
    for (std::uint32_t position : fill_) {
      result.tasks.push_back(members_[groups_[candidates_[position].group].next++]);
    }
    result.bins.push_back({type, first, static_cast<std::uint32_t>(fill_.size()), worth_.usd_h()});
  }
  return times;
}

void FullReconfiguration::run(const PackingTasks& tasks, const WorthModel& model,
                              Configuration& result) {
  result.clear();
  looks_ = 0;
  make_groups(tasks);
  const PricedTypes& types = model.prices.types();
  for (TypeId type : types.by_descending_price()) {
    if (tasks.most(type) == 0) continue;
    const Resources& capacity = types[type].capacity;
    // A set that is worth its price but for rounding is worth it.
    const double price = types.usd_h(type) - kWorthEpsilon_usd_h;
    fill_.clear();  // positions of another type's candidates
    apart_.clear();
    // No set is worth more than its tasks undisturbed; the slack is for rounding.
    if (collect(tasks, model, type) * (1 + 1e-12) < price) continue;
    make_runs();
    std::uint32_t most = tasks.most(type);
    for (fill(model, capacity); !fill_.empty() && most > 0; fill(model, capacity)) {
      if (worth_.usd_h() < price) break;
      most -= accept(type, most, result);
    }
    // fill_ holds positions in candidates_, which the next type replaces: the last chance to reset
    // them.
    take_back_fill();
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
      // Rented although the task is worth less than its price there: it has to run somewhere, and
      // its reservation price is that of the cheapest way.
      worth_.clear(model);
      worth_.add(entrant_of(model, kind, price.type));
      result.bins.push_back(
          {price.type, static_cast<std::uint32_t>(result.tasks.size()), 1, worth_.usd_h()});
      result.tasks.push_back(members_[i]);
    }
  }
}

}  // namespace muster
