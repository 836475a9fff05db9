#include "schedulers/packing/round_input.hpp"

#include <bit>

namespace muster {
namespace {

/// A job that is neither waiting nor running as a whole is on its way.
bool on_its_way(const JobRow& job, const ClusterState& state) {
  if (job.migrating()) return true;
  for (Slot slot : job.tasks) {
    const TaskRow& task = state.task(slot);
    if (task.phase == TaskPhase::running && task.target != kNoSlot && task.target != task.at) {
      return true;
    }
  }
  return false;
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
  if (known.task == task.id) return known.kind;
  TaskKind kind{task.cls, task.shape};
  const JobRow& job = state.job(task.job);
  if (gangs_ && job.job.gang && job.tasks.size() > 1) {
    kind.gang = static_cast<std::uint32_t>(job.tasks.size());
    for (Slot slot : job.tasks) kind.gang_worth_usd_h += prices.of(state.task(slot).shape).usd_h;
  }
  const auto [entry, is_new] = ids_.emplace(kind, static_cast<std::uint32_t>(kinds_.size()));
  if (is_new) kinds_.push_back(kind);
  known = {task.id, entry->second};
  return known.kind;
}

void RoundInput::gather(const ClusterView& view, ReservationPrices& prices, TaskKinds& kinds) {
  tasks_.clear();
  instances_.clear();
  jobs_.clear();
  refusals_.clear();
  any_movable_ = false;
  prices.learn(view.state);
  gather_instances(view);
  for (const JobRow& job : view.state.jobs()) gather_job(job, view, prices, kinds);
  list_residents();
}

void RoundInput::gather_instances(const ClusterView& view) {
  for (const InstanceRow& row : view.state.instances()) {
    if (row.slot >= instance_of_slot_.size()) instance_of_slot_.resize(row.slot + std::size_t{1});
    instance_of_slot_[row.slot] = kUnassigned;
    if (row.market != view.market) continue;
    if (row.released || row.phase == InstancePhase::terminating) continue;
    instance_of_slot_[row.slot] = static_cast<std::uint32_t>(instances_.size());
    instances_.push_back({.slot = row.slot,
                          .id = row.id,
                          .type = row.type,
                          .price_usd_h = row.price.usd_h(),
                          .ready = row.phase == InstancePhase::ready});
  }
}

void RoundInput::gather_job(const JobRow& job, const ClusterView& view,
                            const ReservationPrices& prices, TaskKinds& kinds) {
  const ClusterState& state = view.state;
  const bool wants_spot = job.job.markets == MarketChoice::spot;
  if (job.given_up || wants_spot != (view.market == Market::spot)) return;
  Job entry{.slot = job.slot, .movable = !on_its_way(job, state)};
  const ReservationPrice* impossible = nullptr;
  for (Slot slot : job.tasks) {
    const ReservationPrice& price = prices.of(state.task(slot).shape);
    entry.worth_usd_h += price.usd_h;
    if (!price.fits() && impossible == nullptr) impossible = &price;
  }
  const auto index = static_cast<std::uint32_t>(jobs_.size());
  const bool may_start = view.may_start(job);
  for (Slot slot : job.tasks) {
    const TaskRow& row = state.task(slot);
    if (row.phase == TaskPhase::finished || row.phase == TaskPhase::failed) continue;
    if (row.phase == TaskPhase::held) continue;
    if (row.phase == TaskPhase::pending && !may_start) continue;
    const ReservationPrice& own = prices.of(row.shape);
    if (impossible != nullptr && (job.job.gang || !own.fits())) {
      // The tasks of a gang wait for each other: what stops one stops all.
      const Refusal& refusal = own.fits() ? impossible->refusal : own.refusal;
      if (!(row.reason == refusal)) refusals_.push_back({row.id, refusal});
      continue;
    }
    Task task{.slot = slot, .id = row.id, .kind = kinds.of(row, state, prices), .job = index};
    task.movable = entry.movable;
    if (row.target != kNoSlot) task.home = instance_of_slot_[row.target];
    any_movable_ |= task.movable;
    tasks_.push_back(task);
  }
  jobs_.push_back(entry);
}

void RoundInput::list_residents() {
  for (const Task& task : tasks_) {
    if (task.home == kUnassigned) continue;
    Instance& home = instances_[task.home];
    ++home.residents;
    home.pinned |= !task.movable;
  }
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
