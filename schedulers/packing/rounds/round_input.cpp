#include "schedulers/packing/rounds/round_input.hpp"

#include <algorithm>
#include <bit>
#include <utility>

// Gathers the view once into flat arrays whose indices the packing algorithms use, so that they
// never touch the state's tables. O(tasks + instances) a round, where of the tasks that wait those
// count that Backlog takes.

namespace muster {
namespace {

/// Number of the tasks left out of a round that are told why at once, since each is an event.
constexpr std::uint32_t kMostTold = 2'000;

/// The task is on its way from or to an instance.
bool on_its_way(const TaskRow& task) {
  if (task.phase == TaskPhase::running) return task.target != kNoSlot && task.target != task.at;
  return task.phase == TaskPhase::assigned || task.phase == TaskPhase::starting ||
         task.phase == TaskPhase::stopping;
}

/// A gang that is neither waiting nor running as a whole is on its way.
bool on_its_way(const JobRow& gang, const ClusterState& state) {
  if (gang.migrating()) return true;
  return std::any_of(gang.tasks.begin(), gang.tasks.end(),
                     [&](Slot slot) { return on_its_way(state.task(slot)); });
}

}  // namespace

std::size_t TaskKinds::Hash::operator()(const TaskKind& kind) const noexcept {
  std::uint64_t h = (std::uint64_t{kind.cls.value} << 32) | kind.shape.value;
  h = (h ^ kind.gang) * 0x9e3779b97f4a7c15ULL;
  h = (h ^ (h >> 29) ^ std::bit_cast<std::uint64_t>(kind.gang_worth_usd_h)) * 0xbf58476d1ce4e5b9ULL;
  return static_cast<std::size_t>(h ^ (h >> 32));
}

std::uint32_t TaskKinds::of(const TaskRow& task, const ClusterState& state,
                            const ReservationPrices& prices) {
  if (task.slot >= by_slot_.size()) by_slot_.resize(task.slot + std::size_t{1});
  Known& known = by_slot_[task.slot];
  // Slots are used again: the id says whether the entry is of this task.
  if (known.task == task.id) return known.kind;
  TaskKind kind{task.cls, task.shape};
  const JobRow& job = state.job(task.job);
  if (gangs_ && job.job.gang && job.tasks.size() > 1) {
    kind.gang = static_cast<std::uint32_t>(job.tasks.size());
    kind.gang_worth_usd_h = worth_usd_h(job, state, prices);
  }
  const auto [entry, is_new] = ids_.emplace(kind, static_cast<std::uint32_t>(kinds_.size()));
  if (is_new) kinds_.push_back(kind);
  known = {task.id, entry->second};
  return known.kind;
}

void TaskKinds::keep_up(const ReservationPrices& prices) {
  // The worth of a gang is a part of its kinds and made of prices: at other prices the same tasks
  // are of other kinds.
  if (std::exchange(prices_, prices.version()) == prices.version()) return;
  kinds_.clear();
  ids_.clear();
  by_slot_.clear();
  summed_ = {};
}

/// Added up once for all tasks of the gang, which are asked for one after the other.
double TaskKinds::worth_usd_h(const JobRow& gang, const ClusterState& state,
                              const ReservationPrices& prices) {
  if (summed_ != gang.job.id) {
    summed_ = gang.job.id;
    summed_usd_h_ = 0;
    for (Slot slot : gang.tasks) summed_usd_h_ += prices.of(state.task(slot).shape).usd_h;
  }
  return summed_usd_h_;
}

void RoundInput::gather(const MarketView& view, ReservationPrices& prices, TaskKinds& kinds) {
  tasks_.clear();
  instances_.clear();
  jobs_.clear();
  refusals_.clear();
  peers_.clear();
  looks_ = 0;
  any_movable_ = false;
  any_apart_ = false;
  changes_with_time_ = false;
  prices.learn(view.cluster.state);
  kinds.keep_up(prices);
  // Instances before jobs, since a task's home is an index of instances_; residents after both, and
  // what a move loses last, since it is added up over residents.
  gather_instances(view, prices.types().surcharge());
  gather_jobs(view, prices, kinds);
  list_residents();
  add_up_unsaved();
}

/// In the order of acceptance; where priorities differ the highest first.
void RoundInput::gather_jobs(const MarketView& market, const ReservationPrices& prices,
                             TaskKinds& kinds) {
  const ClusterState& state = market.cluster.state;
  const auto priority = [&](Slot job) { return market.cluster.rank(state.job(job)).priority; };
  order_.clear();
  bool differ = false;
  for (const JobRow& job : state.jobs()) {
    differ |= !order_.empty() && priority(order_.back()) != priority(job.slot);
    order_.push_back(job.slot);
  }
  if (differ) {
    std::stable_sort(order_.begin(), order_.end(),
                     [&](Slot a, Slot b) { return priority(a) > priority(b); });
  }
  Walk walk{market.cluster, prices, kinds, Backlog(market, prices.mask()), kMostTold};
  for (Slot slot : order_) {
    if (market.shows(state.job(slot))) gather_job(state.job(slot), walk);
  }
  wide_.end_round();
}

void RoundInput::gather_instances(const MarketView& market, Price surcharge) {
  rests_.assign(market.cluster.catalog.size(), 0);
  for (std::uint32_t i = 0; i < rests_.size(); ++i) rests_[i] = market.rests(TypeId{i});
  left_.assign(rests_.size(), std::nullopt);
  for (const OfferingRow& row : market.cluster.state.offerings().rows()) {
    if (row.key.market == Market::on_demand && row.key.zone.empty()) {
      left_[row.key.type.value] = left_of(market.cluster.state, row);
    }
  }
  for (const InstanceRow& row : market.cluster.state.instances()) {
    if (row.slot >= instance_of_slot_.size()) instance_of_slot_.resize(row.slot + std::size_t{1});
    // No task is meant for an instance that is going away (ReleaseDecided): it is no home either.
    instance_of_slot_[row.slot] = kUnassigned;
    if (!market.shows(row)) continue;
    if (row.released || row.phase == InstancePhase::terminating) continue;
    instance_of_slot_[row.slot] = static_cast<std::uint32_t>(instances_.size());
    const bool owned = market.cluster.is_owned(row);
    instances_.push_back({.slot = row.slot,
                          .id = row.id,
                          .type = row.type,
                          .price_usd_h = owned ? 0 : row.price.usd_h() + surcharge.usd_h(),
                          .owned = owned,
                          .ready = row.phase == InstancePhase::ready,
                          .closed = market.cluster.is_closed(row)});
  }
}

void RoundInput::gather_job(const JobRow& job, Walk& walk) {
  const ClusterState& state = walk.view.state;
  if (job.terminal_outcome) return;
  Tasks of{job, nullptr, job.job.gang && on_its_way(job, state)};
  Job entry{.slot = job.slot, .priority = walk.view.rank(job).priority, .gang = job.job.gang};
  if (job.job.gang) entry.worth_usd_h = look_at_gang(job, walk, of.impossible);
  const bool may_start = walk.view.may_start(job);
  const TaskRow* only = may_start ? walk.view.turn_of_task() : nullptr;
  const bool together = job.width > 0 || (job.job.gang && job.tasks.size() > 1);
  const bool has_peers = keeps_apart(job) && (job.pending > 0 || moves_apart_);
  WideJob* wide = wide_.find(job, state);
  const auto size = static_cast<std::uint32_t>(job.tasks.size());
  const auto open_from = [&](std::uint32_t i) {
    return wide != nullptr ? wide->open_from(i, job, state) : i;
  };
  // A pending task that may not start does not exist for the policy, so that nothing is rented for
  // it.
  std::uint32_t waiting = may_start ? job.pending : 0;
  std::uint32_t placed = size - job.pending - job.withheld() - job.ended();
  for (std::uint32_t i = open_from(0); i < size && waiting + placed > 0; i = open_from(i + 1)) {
    ++looks_;
    const TaskRow& row = state.task(job.tasks[i]);
    if (row.phase == TaskPhase::finished || row.phase == TaskPhase::failed) continue;
    if (row.phase == TaskPhase::held || row.phase == TaskPhase::capped) continue;
    if (row.phase != TaskPhase::pending) {
      --placed;
      if (has_peers) list_peer(row, job);
    } else {
      if (waiting == 0) continue;
      --waiting;
      if (only != nullptr && only != &row) continue;
    }
    if (refuse(row, of, walk)) continue;
    if (row.phase == TaskPhase::pending && !together && !walk.backlog.takes(row, job)) {
      tell_left_out(row, job, walk);
      // All that wait behind it are left out as it is.
      if (wide == nullptr || !wide->is_alike() || job.confined > 0) continue;
      waiting = 0;
      for (wide->told = std::max(wide->told, i + 1); wide->told < size && may_tell(row, job, walk);
           ++wide->told) {
        ++looks_;
        tell_left_out(state.task(job.tasks[wide->told]), job, walk);
      }
      continue;
    }
    gather_task(row, of, walk);
  }
  jobs_.push_back(entry);
}

/// Its worth, $/h, and why nothing holds the first of its tasks that nothing does.
double RoundInput::look_at_gang(const JobRow& gang, const Walk& walk,
                                const ReservationPrice*& impossible) {
  const ClusterState& state = walk.view.state;
  double worth_usd_h = 0;
  for (const Slot slot : gang.tasks) {
    const TaskRow& row = state.task(slot);
    const ReservationPrice& price = walk.prices.of(row.shape, state.markets(row));
    worth_usd_h += price.usd_h;
    if (!price.fits() && impossible == nullptr) impossible = &price;
  }
  return worth_usd_h;
}

/// Lists why the task can be nowhere, where that is so. The tasks of a gang wait for each other:
/// the obstacle of one stops all.
bool RoundInput::refuse(const TaskRow& row, const Tasks& of, const Walk& walk) {
  const ReservationPrice& own = walk.prices.of(row.shape, walk.view.state.markets(row));
  if (own.fits() && of.impossible == nullptr) return false;
  const Refusal& refusal = own.fits() ? of.impossible->refusal : own.refusal;
  // A refusal that stands already would be an event without news in every round.
  if (!(row.reason == refusal)) refusals_.push_back({row.id, refusal});
  return true;
}

void RoundInput::gather_task(const TaskRow& row, const Tasks& of, Walk& walk) {
  const ClusterState& state = walk.view.state;
  const JobRow& job = of.job;
  Task task{.slot = row.slot,
            .id = row.id,
            .kind = walk.kinds.of(row, state, walk.prices),
            .job = static_cast<std::uint32_t>(jobs_.size()),
            .apart = apart_of(job)};
  // Tasks of an array go their own ways.
  task.movable = job.job.gang ? !of.gang_moves : !on_its_way(row);
  if (task.movable && row.phase == TaskPhase::running) {
    tie_down(row, walk.view, task);
    const double usd_h = walk.prices.of(row.shape, state.markets(row)).usd_h;
    task.unsaved_usd = to_hours(unsaved(state, row, walk.view.now)) * usd_h;
    changes_with_time_ |= task.unsaved_usd > 0;
  }
  // Held tasks stay in the lists: they take room that others must not be given.
  task.movable &= !task.held;
  if (row.target != kNoSlot) task.home = instance_of_slot_[row.target];
  any_movable_ |= task.movable;
  any_apart_ |= task.movable && task.apart;
  tasks_.push_back(task);
}

/// A task that moves counts where it is and where it is to be.
void RoundInput::list_peer(const TaskRow& row, const JobRow& job) {
  const Slot target = row.target != row.at ? row.target : kNoSlot;
  for (const Slot on : {row.at, target}) {
    const std::uint32_t instance = on == kNoSlot ? kUnassigned : instance_of_slot_[on];
    if (instance != kUnassigned) peers_.push_back({instance, apart_of(job)});
  }
}

PeerRooms RoundInput::peer_rooms() const {
  PeerRooms rooms;
  for (const Peer& peer : peers_) rooms.add(peer.instance, peer.apart);
  return rooms;
}

/// More can be said of who is left out.
bool RoundInput::may_tell(const TaskRow& row, const JobRow& job, Walk& walk) {
  return walk.may_tell > 0 && walk.backlog.why_waits(row, job) != nullptr;
}

/// A task that is left out waits for what the first of its equals waits for. It is told once.
void RoundInput::tell_left_out(const TaskRow& row, const JobRow& job, Walk& walk) {
  const bool lacks_reason =
      row.phase == TaskPhase::pending && row.reason.code == RefusalCode::awaiting_round;
  if (!lacks_reason || !may_tell(row, job, walk)) return;
  refusals_.push_back({row.id, *walk.backlog.why_waits(row, job)});
  --walk.may_tell;
}

/// Whether the task, which runs, has to stay where it is.
void RoundInput::tie_down(const TaskRow& row, const ClusterView& view, Task& task) {
  // The tasks of a gang stand one after the other and are held together.
  const bool known = view.state.job(row.job).job.gang && !tasks_.empty() &&
                     tasks_.back().job == task.job &&
                     view.state.task(tasks_.back().slot).phase == TaskPhase::running;
  if (known) {
    task.held = tasks_.back().held;
  } else if (task.apart && !moves_apart_) {
    task.held = true;
  } else if (const auto reason = view.why_pinned(row)) {
    task.held = true;
    changes_with_time_ |= reason->code == RefusalCode::min_stay;
  }
}

/// A gang loses what all of its tasks have run when one of them is moved.
void RoundInput::add_up_unsaved() {
  if (!changes_with_time_) return;
  std::vector<double> of_job(jobs_.size(), 0);
  for (const Task& task : tasks_) of_job[task.job] += task.unsaved_usd;
  for (Task& task : tasks_) {
    if (jobs_[task.job].gang) task.unsaved_usd = of_job[task.job];
  }
  for (Instance& instance : instances_) {
    std::uint32_t last_gang = kUnassigned;
    for (std::uint32_t i : residents(instance)) {
      const Task& task = tasks_[i];
      if (jobs_[task.job].gang && std::exchange(last_gang, task.job) == task.job) continue;
      instance.unsaved_usd += task.unsaved_usd;
    }
  }
}

void RoundInput::list_residents() {
  for (const Task& task : tasks_) {
    if (task.home == kUnassigned) continue;
    Instance& home = instances_[task.home];
    ++home.residents;
    // Pinned ends with the task's way, held lasts; an instance may be both.
    home.pinned |= !task.movable && !task.held;
    home.held |= task.held;
  }
  // Counting sort by instance: `residents` counts, then serves as the cursor of its own range.
  std::uint32_t begin = 0;
  for (Instance& instance : instances_) {
    instance.first = begin;
    begin += instance.residents;
    instance.residents = 0;
  }
  residents_.resize(begin);
  for (std::uint32_t i = 0; i < tasks_.size(); ++i) {
    if (tasks_[i].home == kUnassigned) continue;
    Instance& home = instances_[tasks_[i].home];
    residents_[home.first + home.residents++] = i;
  }
}

}  // namespace muster
