#include "schedulers/eva/fleet_layout.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "schedulers/packing/awaits_room.hpp"
#include "schedulers/packing/priority_order.hpp"
#include "schedulers/packing/rounds/least_amounts.hpp"

// Gangs make this more than a greedy fill: one that does not fit whole must not hold room that
// others could use, so that tasks are seated in passes, each with fewer gangs.

namespace muster::eva {
namespace {

/// A gang that does not fit as a whole gives way to the others, which are seated anew without it.
/// Passes at most; the plan check then refuses the gangs that are still incomplete.
constexpr int kMostPasses = 8;

}  // namespace

void FleetLayout::run(const RoundInput& input, const ClusterState& state, const WorthModel& model,
                      const TaskKinds& kinds, Layout& out, std::vector<Refuse>& refusals) {
  // left_out_ marks the gangs that give way at present, given_up_ those that do not fit at all.
  left_out_.assign(input.jobs().size(), 0);
  excluded_ = left_out_;
  for (int left = kMostPasses; left > 0; --left) {
    assign(input, model, kinds, out);
    // The last pass but one leaves out all gangs that are incomplete, so that the last one can seat
    // the others in the room that they leave.
    if (!leave_out_gangs(input, state, left == 2)) break;
  }
  measure(input, model, kinds, out);
  sum_up_fleet(input, model);
  std::map<std::uint32_t, Refusal> of_shape, of_gang;  // by the number of the shape, of the job
  for (std::uint32_t i = 0; i < input.tasks().size(); ++i) {
    const RoundInput::Task& task = input.tasks()[i];
    const TaskRow& row = state.task(task.slot);
    // Tasks of gangs that gave way have no host either and get their reason here.
    if (out.host_of[i] != kUnassigned || row.phase != TaskPhase::pending) continue;
    const auto alone = of_shape.try_emplace(row.shape.value);
    Refusal* reason = &alone.first->second;
    if (alone.second) *reason = why_not(model, {row.shape});
    // One task would fit by itself: the reason is what the gang lacks as a whole.
    if (left_out_[task.job] && reason->code == RefusalCode::awaiting_capacity) {
      const auto gang = of_gang.try_emplace(task.job);
      reason = &gang.first->second;
      if (gang.second) *reason = why_not(model, waiting_of(input, state, task.job));
    }
    // Compared by code alone: amounts change with every task that starts or ends, and each
    // difference would be an event.
    if (row.reason.code != reason->code) refusals.push_back({row.id, *reason});
  }
}

void FleetLayout::assign(const RoundInput& input, const WorthModel& model, const TaskKinds& kinds,
                         Layout& out) {
  out.reset(input.tasks().size());
  open_.clear();
  for (std::uint32_t i = 0; i < input.instances().size(); ++i) {
    const RoundInput::Instance& instance = input.instances()[i];
    const std::uint32_t host = out.add_present(input, i);
    out.hosts[host].worth_usd_h = present_worth(input, instance, model, kinds, scratch_);
    for (std::uint32_t task : input.residents(instance)) out.assign(task, host);
  }
  // No task moves, so that tasks on their way need not be left alone: others may join them.
  open_.assign(out.hosts.size(), 1);
  waiting_.clear();
  for (std::uint32_t i = 0; i < input.tasks().size(); ++i) {
    const RoundInput::Task& task = input.tasks()[i];
    if (task.home != kUnassigned || left_out_[task.job]) continue;
    if (task.movable) waiting_.push_back(i);
  }
  std::vector<std::uint32_t> left;
  // A higher priority has its pick of all room, by worth and then anywhere, before the next one.
  for (std::vector<std::uint32_t>& tasks : priority_classes(input, waiting_)) {
    waiting_ = std::move(tasks);
    fill_existing_.run(input, model, kinds, open_, waiting_, out);
    seat_anywhere(input, model, kinds, out);
    left.insert(left.end(), waiting_.begin(), waiting_.end());
  }
  waiting_ = std::move(left);
}

/// Hosts stand in the order of the instances.
void FleetLayout::list_peers(const RoundInput& input, const Layout& out) {
  peers_.clear();
  if (!input.any_apart()) return;
  peers_ = input.peer_rooms();
  for (std::uint32_t i = 0; i < out.host_of.size(); ++i) {
    const RoundInput::Task& task = input.tasks()[i];
    // Those that stay at home are peers of the input.
    const std::uint32_t host = out.host_of[i];
    if (host != kUnassigned && host != task.home) peers_.add(host, task.apart);
  }
}

/// Those that may have room for something that waits.
std::vector<std::uint32_t> FleetLayout::hosts_with_room(const RoundInput& input,
                                                        const WorthModel& model,
                                                        const TaskKinds& kinds,
                                                        const Layout& out) const {
  std::vector<ShapeId> shapes;
  for (const std::uint32_t task : waiting_) {
    shapes.push_back(kinds.all()[input.tasks()[task].kind].shape);
  }
  std::ranges::sort(shapes);
  shapes.erase(std::unique(shapes.begin(), shapes.end()), shapes.end());
  LeastAmounts least(model.prices, shapes);
  std::vector<std::uint32_t> hosts;
  for (std::uint32_t host = 0; host < out.hosts.size(); ++host) {
    if (least.may_fit(out.hosts[host].type, used_[host])) hosts.push_back(host);
  }
  return hosts;
}

/// Seats what fits, whatever it is worth: kind by kind, each on the first instances with room.
void FleetLayout::seat_anywhere(const RoundInput& input, const WorthModel& model,
                                const TaskKinds& kinds, Layout& out) {
  if (waiting_.empty()) return;
  measure(input, model, kinds, out);
  list_peers(input, out);
  // In the order of the kinds' first tasks: kinds have their numbers from what the policy has met.
  std::vector<std::vector<std::uint32_t>> groups;
  std::map<std::pair<std::uint32_t, Apart>, std::size_t> group_of;
  for (std::uint32_t i : waiting_) {
    const RoundInput::Task& task = input.tasks()[i];
    const auto [group, is_new] = group_of.try_emplace({task.kind, task.apart}, groups.size());
    if (is_new) groups.emplace_back();
    groups[group->second].push_back(i);
  }
  const std::vector<std::uint32_t> hosts = hosts_with_room(input, model, kinds, out);
  // Hosts only fill up: one that is too full for a shape is so for all kinds of that shape.
  std::map<std::uint32_t, std::size_t> first_host;  // with room, by the number of the shape
  for (const std::vector<std::uint32_t>& tasks : groups) {
    const TaskKind& kind = kinds.all()[input.tasks()[tasks.front()].kind];
    const Apart apart = input.tasks()[tasks.front()].apart;
    auto next = tasks.begin();
    std::size_t& first = first_host[kind.shape.value];
    for (std::size_t at = first; at < hosts.size(); ++at) {
      const std::uint32_t host = hosts[at];
      ++looks_;
      const TypeId type = out.hosts[host].type;
      const ShapeOnType& shape = model.prices.on(kind.shape, type);
      const Resources& capacity = model.prices.types()[type].capacity;
      const auto has_room = [&] {
        return shape.fits && (used_[host] + shape.amount).fits_in(capacity);
      };
      while (next != tasks.end() && has_room() && !peers_.is_full(host, apart)) {
        used_[host] += shape.amount;
        peers_.add(host, apart);
        out.assign(*next++, host);
      }
      // Later tasks of the shape do not look again at the full hosts before all others. One that is
      // passed by for the sake of peers has room for others.
      if (at == first && !has_room()) ++first;
      if (next == tasks.end()) break;
    }
  }
  std::erase_if(waiting_, [&](std::uint32_t task) { return out.host_of[task] != kUnassigned; });
}

/// Marks gangs of which some task has found no place; whether there are any. Several may each have
/// taken room that another one lacks: all but the first give way, unless `all` do. A gang that is
/// incomplete though all others are whole does not fit, and those that gave way to it may have its
/// room.
bool FleetLayout::leave_out_gangs(const RoundInput& input, const ClusterState& state, bool all) {
  std::vector<std::uint32_t> incomplete;
  for (std::uint32_t task : waiting_) {
    const std::uint32_t job = input.tasks()[task].job;
    const JobRow& row = state.job(input.jobs()[job].slot);
    if (!row.job.gang || row.tasks.size() == 1 || left_out_[job]) continue;
    if (incomplete.empty() || incomplete.back() != job) incomplete.push_back(job);
  }
  if (incomplete.empty()) return false;
  const std::uint32_t first = incomplete.front();
  const bool alone = std::all_of(incomplete.begin(), incomplete.end(),
                                 [first](std::uint32_t job) { return job == first; });
  // It is alone and still incomplete, so it does not fit at all: those that gave way to it come
  // back.
  if (alone && !all) {
    excluded_[first] = 1;
    left_out_ = excluded_;
    return true;
  }
  for (std::uint32_t job : incomplete) left_out_[job] = job != first || all ? 1 : 0;
  return true;
}

/// Sums up what the layout's instances hold.
void FleetLayout::measure(const RoundInput& input, const WorthModel& model, const TaskKinds& kinds,
                          const Layout& out) {
  used_.assign(out.hosts.size(), {});
  for (std::uint32_t i = 0; i < out.host_of.size(); ++i) {
    const std::uint32_t host = out.host_of[i];
    if (host == kUnassigned) continue;
    const ShapeId shape = kinds.all()[input.tasks()[i].kind].shape;
    used_[host] += model.prices.on(shape, out.hosts[host].type).amount;
  }
}

/// Demands of the gang's tasks without a place.
std::vector<ShapeId> FleetLayout::waiting_of(const RoundInput& input, const ClusterState& state,
                                             std::uint32_t job) {
  std::vector<ShapeId> shapes;
  for (Slot slot : state.job(input.jobs()[job].slot).tasks) {
    const TaskRow& task = state.task(slot);
    if (task.phase == TaskPhase::pending) shapes.push_back(task.shape);
  }
  return shapes;
}

/// Sums up what the instances of the round have, and have left.
void FleetLayout::sum_up_fleet(const RoundInput& input, const WorthModel& model) {
  const PricedTypes& types = model.prices.types();
  fleet_ = {};
  std::vector<char> met(types.size(), 0);
  for (std::uint32_t i = 0; i < input.instances().size(); ++i) {
    const TypeId type = input.instances()[i].type;
    if (!std::exchange(met[type.value], 1)) fleet_.types.push_back(type);
    const Resources& capacity = types[type].capacity;
    for (Resource kind : kAllResources) {
      const double free = capacity[kind] - used_[i][kind];
      fleet_.largest[kind] = std::max(fleet_.largest[kind], capacity[kind]);
      fleet_.most_left[kind] = std::max(fleet_.most_left[kind], free);
      fleet_.left[kind] += free;
    }
  }
}

/// Why there is no room for a task, or for all tasks of a gang together: no instance of the fleet
/// is large enough, or there is not enough left. With numbers when these say so.
Refusal FleetLayout::why_not(const WorthModel& model, const std::vector<ShapeId>& shapes) const {
  const auto fits = [&](TypeId type) { return model.prices.on(shapes[0], type).fits; };
  const auto first = std::find_if(fleet_.types.begin(), fleet_.types.end(), fits);
  const bool none = first == fleet_.types.end();
  Refusal refusal = awaits_room();
  if (none) refusal.code = RefusalCode::fixed_fleet;
  const ReservationPrice& price = model.prices.of(shapes[0]);
  Resources asked;
  for (ShapeId shape : shapes) {
    asked += model.prices.on(shape, none ? price.type : *first).amount;
  }
  // A gang may spread over all instances, a single task may not.
  const Resources& there = none                ? fleet_.largest
                           : shapes.size() > 1 ? fleet_.left
                                               : fleet_.most_left;
  if (const auto binding = asked.first_exceeding(there)) {
    refusal.binding = binding;
    refusal.asked = asked[*binding];
    refusal.available = there[*binding];
  }
  return refusal;
}

}  // namespace muster::eva
