#include "schedulers/stratus/stratus_round.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "schedulers/packing/awaits_room.hpp"
#include "schedulers/packing/rules.hpp"

// A round gathers rooms and tasks once and then works on indexes: a task costs the logarithm of the
// number of rooms. Clearing is in clearing.cpp.

namespace muster::stratus {

StratusRound::StratusRound(const RoundParts& parts)
    : p_(parts),
      packer_(parts.groups, parts.prices.mask(), parts.params.packer),
      scaler_(parts.prices, MarketOffers(parts.prices.types(), parts.view), parts.params.group),
      taken_(parts.input.instances().size(), 0) {}

Plan StratusRound::run() {
  plan_.refusals = p_.input.refusals();
  list_waiting();
  plan_.places.reserve(waiting_.size());
  add_rooms();
  pack();
  if (!p_.view.rents() && p_.params.packer.packing == Packing::none) refuse_all();
  if (p_.view.rents()) {
    scale_out();
    if (p_.params.clearing.on) clear();
    release_empty();
  }
  note();
  return std::move(plan_);
}

/// All tasks get their remaining time, which makes that of their instances; those that wait are
/// sorted: the longest first among jobs of one priority.
void StratusRound::list_waiting() {
  const ClusterState& state = p_.view.state;
  remaining_.reserve(p_.input.tasks().size());
  for (std::uint32_t i = 0; i < p_.input.tasks().size(); ++i) {
    const RoundInput::Task& task = p_.input.tasks()[i];
    const TaskRow& row = state.task(task.slot);
    const Job& job = state.job(row.job).job;
    const RunTimeRules& rules = p_.params.run_times;
    const Duration expected = expected_run(job, state.spec(row), rules);
    remaining_.push_back(expected_left(expected, ran_so_far(row, p_.view.now), rules));
    if (task.home != kUnassigned || row.phase != TaskPhase::pending) continue;
    const int priority = p_.input.jobs()[task.job].priority;
    waiting_.push_back({i, priority, {row.shape, state.markets(row), remaining_.back()}});
  }
  std::stable_sort(waiting_.begin(), waiting_.end(), [](const Waiting& a, const Waiting& b) {
    if (a.priority != b.priority) return a.priority > b.priority;
    return a.item.remaining > b.item.remaining;
  });
}

void StratusRound::add_rooms() {
  const ClusterState& state = p_.view.state;
  for (const RoundInput::Instance& instance : p_.input.instances()) {
    const InstanceRow& row = state.instance(instance.slot);
    Room room{row.type, row.market, p_.view.catalog[row.type].capacity - row.committed};
    for (std::uint32_t task : p_.input.residents(instance)) {
      room.remaining = std::max(room.remaining, remaining_[task]);
    }
    const std::uint32_t number = packer_.add(room);
    // Given instances are there when ready; rented ones will be, for tasks that wait for them.
    if ((!p_.view.rents() && !instance.ready) || instance.closed) packer_.close(number);
  }
}

/// Leaves in `waiting_` what finds no room.
void StratusRound::pack() {
  std::vector<Waiting> left;
  const auto job_of = [&](std::size_t i) { return p_.input.tasks()[waiting_[i].task].job; };
  for (std::size_t at = 0; at < waiting_.size();) {
    // Where nothing is rented the tasks of a gang find room together or not at all.
    const bool gang = !p_.view.rents() && p_.input.jobs()[job_of(at)].gang;
    const bool apart = is_apart(waiting_[at]);
    std::size_t end = at + 1;
    while (end < waiting_.size() &&
           (gang ? job_of(end) == job_of(at)
                 : waiting_[end].item == waiting_[at].item && is_apart(waiting_[end]) == apart &&
                       (!apart || job_of(end) == job_of(at)))) {
      ++end;
    }
    const auto unit = std::span(waiting_).subspan(at, end - at);
    if (gang || !apart) open_peers();
    const std::size_t placed = gang    ? (pack_gang(unit) ? unit.size() : 0)
                               : apart ? pack_apart(unit)
                                       : pack_alike(unit);
    left.insert(left.end(), unit.begin() + static_cast<std::ptrdiff_t>(placed), unit.end());
    at = end;
  }
  open_peers();
  waiting_ = std::move(left);
}

/// Without packing each instance is rented for its tasks: on given ones no task can ever run.
void StratusRound::refuse_all() {
  const Refusal nothing_rented{RefusalKind::never, RefusalCode::fixed_fleet, {}, 1, 0};
  for (const Waiting& waiting : waiting_) {
    plan_.refusals.push_back({row_of(waiting).id, nothing_rented});
  }
}

/// Gives how many find a room: when one does not, nor do those after it.
std::size_t StratusRound::pack_alike(std::span<const Waiting> tasks) {
  std::size_t at = 0;
  while (at < tasks.size()) {
    const auto found = packer_.find(tasks[at].item);
    if (!found) break;
    // The next one finds the same room again, which is the closest still, or has come to the bin of
    // the tasks; only in a greater bin another one may have more available then.
    const bool again = found->phase != Phase::up && p_.params.packer.packing == Packing::bins;
    const std::size_t at_most = again ? tasks.size() - at : 1;
    const std::size_t count = packer_.fill({tasks[at].item, found->room, at_most});
    up_ += found->phase == Phase::up;
    down_ += found->phase == Phase::down;
    packed_ += static_cast<std::uint32_t>(count);
    for (std::size_t i = 0; i < count; ++i) place(tasks[at + i], *found);
    at += count;
  }
  return at;
}

bool StratusRound::is_apart(const Waiting& waiting) const {
  return bool(p_.input.tasks()[waiting.task].apart);
}

/// Looked up once a job and round, and kept up by place().
std::map<std::uint32_t, std::uint32_t>& StratusRound::rooms_of_job(const Waiting& waiting) {
  const std::uint32_t job = p_.input.tasks()[waiting.task].job;
  const auto [known, is_new] = rooms_of_job_.try_emplace(job);
  if (!is_new) return known->second;
  const ClusterState& state = p_.view.state;
  std::vector<Slot> there;  // a task that moves counts where it is and where it is to be
  for (Slot slot : state.job(row_of(waiting).job).tasks) {
    const TaskRow& task = state.task(slot);
    if (task.at != kNoSlot) there.push_back(task.at);
    if (task.target != kNoSlot && task.target != task.at) there.push_back(task.target);
  }
  if (room_of_slot_.empty()) {
    for (std::uint32_t i = 0; i < p_.input.instances().size(); ++i) {
      room_of_slot_.emplace(p_.input.instances()[i].slot, i);
    }
  }
  for (Slot slot : there) {
    const auto room = room_of_slot_.find(slot);
    if (room != room_of_slot_.end()) ++known->second[room->second];
  }
  return known->second;
}

/// They stay closed until a task of another job is looked at: the tasks of a job mostly follow each
/// other, and closing the rooms for each would cost the square of their number.
bool StratusRound::close_peers(const Waiting& waiting) {
  const std::uint32_t job = p_.input.tasks()[waiting.task].job;
  if (closed_job_ == job) return false;
  open_peers();
  closed_job_ = job;
  for (const auto& [room, tasks] : rooms_of_job(waiting)) close_if_full(room, tasks, waiting);
  return true;
}

/// `tasks`: of its job in the room.
void StratusRound::close_if_full(std::uint32_t room, std::uint32_t tasks, const Waiting& waiting) {
  const bool is_full = tasks >= p_.input.tasks()[waiting.task].apart.most;
  if (is_full && packer_.close(room)) closed_.push_back(room);
}

void StratusRound::open_peers() {
  for (std::uint32_t room : closed_) packer_.open(room);
  closed_.clear();
  closed_job_.reset();
}

/// Alike and of one job: one room after the other, each till it has as many as it may. Gives how
/// many find one.
std::size_t StratusRound::pack_apart(std::span<const Waiting> tasks) {
  close_peers(tasks.front());
  std::size_t at = 0;
  for (; at < tasks.size(); ++at) {
    const auto found = packer_.find(tasks[at].item);
    if (!found) break;
    packer_.put(tasks[at].item, found->room);
    up_ += found->phase == Phase::up;
    down_ += found->phase == Phase::down;
    ++packed_;
    place(tasks[at], *found);
    close_if_full(found->room, rooms_of_job(tasks[at])[found->room], tasks[at]);
  }
  return at;
}

bool StratusRound::pack_gang(std::span<const Waiting> gang) {
  Undo undo;
  std::vector<Found> found;
  const bool whole = try_rooms(gang, undo, found);
  open_peers();
  if (!whole) {
    take_back(undo);
    refuse_gang(gang);
    return false;
  }
  for (std::size_t i = 0; i < gang.size(); ++i) {
    place(gang[i], found[i]);
    up_ += found[i].phase == Phase::up;
    down_ += found[i].phase == Phase::down;
  }
  packed_ += static_cast<std::uint32_t>(gang.size());
  return true;
}

/// Where nothing is packed another refusal says why.
void StratusRound::refuse_gang(std::span<const Waiting> gang) {
  if (p_.params.packer.packing == Packing::none) return;
  for (const Waiting& waiting : gang) plan_.refusals.push_back({row_of(waiting).id, awaits_room()});
}

/// Each finds a room beside those before it. False: one of them does not. The rooms of the job that
/// was looked at last stay closed.
bool StratusRound::try_rooms(std::span<const Waiting> tasks, Undo& undo,
                             std::vector<Found>& found) {
  const auto job_of = [&](std::size_t at) { return p_.input.tasks()[tasks[at].task].job; };
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> tried;  // by job and room
  const auto close_tried = [&](std::uint32_t room, std::size_t i) {
    const auto& there = rooms_of_job(tasks[i]);
    const auto known = there.find(room);
    const std::uint32_t before = known != there.end() ? known->second : 0;
    close_if_full(room, before + tried[{job_of(i), room}], tasks[i]);
  };
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const bool apart = is_apart(tasks[i]);
    if (!apart) {
      open_peers();
    } else if (close_peers(tasks[i])) {
      for (std::size_t before = 0; before < i; ++before) {
        if (job_of(before) == job_of(i)) close_tried(found[before].room, i);
      }
    }
    const auto one = packer_.find(tasks[i].item);
    if (!one) return false;
    undo.emplace_back(one->room, packer_.room(one->room));
    packer_.put(tasks[i].item, one->room);
    if (apart) {
      ++tried[{job_of(i), one->room}];
      close_tried(one->room, i);
    }
    found.push_back(*one);
  }
  return true;
}

void StratusRound::take_back(Undo& undo) {
  for (; !undo.empty(); undo.pop_back()) packer_.restore(undo.back().first, undo.back().second);
}

void StratusRound::take(const Waiting& waiting, std::uint32_t room) {
  taken_[room] = 1;
  if (is_apart(waiting)) ++rooms_of_job(waiting)[room];
}

void StratusRound::place(const Waiting& waiting, const Found& found) {
  take(waiting, found.room);
  // Room that is paid for saves what an instance of its own would cost.
  plan_.places.push_back({row_of(waiting).id,
                          p_.input.instances()[found.room].id,
                          {CauseCode::packed, worth_usd_h(waiting)}});
}

/// Bin by bin, the greatest first; jobs of one choice of markets by themselves, since an instance
/// is rented on one.
void StratusRound::scale_out() {
  const auto bin = [&](const Waiting& one) { return packer_.bin_of(one.item.remaining); };
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    const auto end = std::find_if(at, waiting_.end(), [&](const Waiting& one) {
      return one.priority != at->priority || bin(one) != bin(*at);
    });
    for (MarketChoice choice : {MarketChoice::any, MarketChoice::on_demand, MarketChoice::spot}) {
      std::vector<Waiting> same;
      std::copy_if(at, end, std::back_inserter(same),
                   [&](const Waiting& one) { return one.item.markets == choice; });
      // An instance is rented for tasks of one list.
      const auto apart = [this](const Waiting& one) { return p_.input.tasks()[one.task].apart; };
      for (const auto& layer : layers_of(std::move(same), apart)) scale_out(layer);
    }
    at = end;
  }
}

void StratusRound::scale_out(std::span<const Waiting> bin) {
  std::vector<Item> items;
  items.reserve(bin.size());
  for (const Waiting& waiting : bin) items.push_back(waiting.item);
  for (const Candidate& group : scaler_.groups(items)) {
    rent(group, bin.subspan(group.first, group.tasks));
  }
}

void StratusRound::rent(const Candidate& group, std::span<const Waiting> tasks) {
  double gain_usd_h = -group.price.usd_h();
  for (const Waiting& waiting : tasks) gain_usd_h += worth_usd_h(waiting);
  const Cause cause{tasks.size() > 1 ? CauseCode::packed : CauseCode::alone, gain_usd_h};
  const LaunchIndex launch{static_cast<std::uint32_t>(plan_.launches.size())};
  plan_.launches.push_back({group.type, group.market, cause});
  for (const Waiting& waiting : tasks) plan_.places.push_back({row_of(waiting).id, launch, cause});
}

void StratusRound::release_empty() {
  for (std::uint32_t i = 0; i < p_.input.instances().size(); ++i) {
    const RoundInput::Instance& instance = p_.input.instances()[i];
    // The input leaves some tasks out, as those of a job that is to end.
    const bool empty = p_.view.state.instance(instance.slot).planned.empty();
    if (!empty || taken_[i] || instance.owned) continue;
    plan_.releases.push_back({instance.id, {CauseCode::empty, -instance.price_usd_h}});
  }
}

void StratusRound::note() {
  const auto tell = [&](const char* name, double value) {
    if (value > 0) plan_.note.figures.emplace_back(name, value);
  };
  tell("packed", packed_);
  tell("up", up_);
  tell("down", down_);
  tell("cleared", cleared_);
  tell("moved", moved_);
}

}  // namespace muster::stratus
