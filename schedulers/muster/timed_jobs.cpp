#include "schedulers/muster/timed_jobs.hpp"

#include <algorithm>

#include "schedulers/muster/gather_pieces.hpp"
#include "schedulers/muster/run_times.hpp"

namespace muster::own {
namespace {

/// More of the task fit an instance of some type than a repartition shares out: the best partition
/// of such instances is out of its reach.
bool is_small(ShapeId shape, const ReservationPrices& prices, std::uint32_t max_tasks) {
  const PricedTypes& types = prices.types();
  for (std::uint32_t i = 0; i < types.size(); ++i) {
    const ShapeOnType& on = prices.on(shape, TypeId{i});
    if (!on.fits || !types.offered(TypeId{i})) continue;
    const Resources& capacity = types[TypeId{i}].capacity;
    const bool many = std::all_of(kAllResources.begin(), kAllResources.end(), [&](Resource kind) {
      return on.amount[kind] * (max_tasks + 1) <= capacity[kind];
    });
    if (many) return true;
  }
  return false;
}

/// The cheapest type for the task alone. Of who may run on demand it is the cheapest there:
/// prices on spot change by the minute, and a job is not to go from one kind to the other and back
/// with them.
TypeId steady_type(ShapeId shape, MarketChoice markets, const ReservationPrices& prices) {
  const ReservationPrice& regular = prices.of(shape, MarketChoice::on_demand);
  return markets != MarketChoice::spot && regular.fits() ? regular.type
                                                         : prices.of(shape, markets).type;
}

bool is_timed(const JobRow& row, const ClusterView& view, const KnownTimes& times,
              const ReservationPrices& prices) {
  const bool elastic = !std::holds_alternative<BatchSpec>(row.job.kind);
  if (elastic || is_gang(row) || row.job.most_an_instance > 0) return false;
  const TaskSpec* last = nullptr;
  ShapeId last_shape;
  return std::all_of(row.tasks.begin(), row.tasks.end(), [&](Slot slot) {
    const TaskRow& task = view.state.task(slot);
    const TaskSpec& spec = view.state.spec(task);
    // Mostly they are as the one before.
    const bool repeats = last != nullptr && last_shape == task.shape &&
                         last->runtime_hint == spec.runtime_hint && last->delays == spec.delays;
    last = &spec;
    last_shape = task.shape;
    if (repeats) return true;
    const auto known = times.of(row.job, spec, task.cls);
    if (!known || !prices.of(task.shape, row.job.markets).fits()) return false;
    const InstanceType& type = view.catalog[steady_type(task.shape, row.job.markets, prices)];
    return times.is_short(*known, change_time(type, spec.delays)) ||
           (!known->is_learnt && is_small(task.shape, prices, times.params.max_tasks));
  });
}

void mark(std::vector<char>& marks, Slot slot, char value = 1) {
  if (slot >= marks.size()) marks.resize(slot + std::size_t{1});
  marks[slot] = value;
}

bool is_marked(const std::vector<char>& marks, Slot slot) {
  return slot < marks.size() && marks[slot] != 0;
}

/// All tasks that are meant for the instance are of timed jobs, and there are some.
bool is_theirs(const InstanceRow& row, const ClusterState& state, const TimedJobs& found) {
  return !row.planned.empty() && std::all_of(row.planned.begin(), row.planned.end(), [&](Slot at) {
    return is_marked(found.jobs, state.task(at).job);
  });
}

/// Jobs with a task on an instance that is not a timed one are not timed, which may change further
/// instances. Answers whether some was found.
bool drop_mixed(const ClusterState& state, TimedJobs& found) {
  bool dropped = false;
  for (const InstanceRow& row : state.instances()) {
    if (is_marked(found.instances, row.slot)) continue;
    for (const Slot task : row.planned) {
      const Slot job = state.task(task).job;
      if (!is_marked(found.jobs, job)) continue;
      mark(found.jobs, job, 0);
      dropped = true;
    }
  }
  return dropped;
}

}  // namespace

TimedJobs find_timed_jobs(const ClusterView& view, const KnownTimes& times,
                          const ReservationPrices& prices) {
  TimedJobs found;
  // Owned instances are for all tasks.
  const MusterParams& params = times.params;
  if (params.run_times == RunTimes::unknown || params.short_runs <= 0 || view.owns_fleet) return {};
  const ClusterState& state = view.state;
  for (const JobRow& job : state.jobs()) {
    if (!job.terminal_outcome && is_timed(job, view, times, prices)) mark(found.jobs, job.slot);
  }
  if (!found.any()) return {};
  do {
    found.instances.clear();
    for (const InstanceRow& row : state.instances()) {
      if (is_theirs(row, state, found)) mark(found.instances, row.slot);
    }
  } while (drop_mixed(state, found));
  found.others = false;
  bool any_timed = false, others_wait = false;
  for (const JobRow& job : state.jobs()) {
    const bool is = is_marked(found.jobs, job.slot);
    any_timed |= is;
    found.others |= !is;
    others_wait |= !is && job.pending > 0;
    mark(found.other_jobs, job.slot, is ? 0 : 1);
  }
  if (!any_timed) return {};
  for (const InstanceRow& row : state.instances()) {
    // Empty ones are for those who have no others.
    bool is = is_marked(found.instances, row.slot) || (row.planned.empty() && !others_wait);
    found.others |= !is;
    mark(found.instances, row.slot, is ? 1 : 0);
    mark(found.other_instances, row.slot, is ? 0 : 1);
  }
  return found;
}

}  // namespace muster::own
