#include "schedulers/pollux/cluster_input.hpp"

#include <algorithm>
#include <limits>

#include "model/feasible.hpp"
#include "schedulers/packing/node_packing.hpp"

namespace muster::pollux {
namespace {

bool is_elastic(const JobRow& job) {
  return job.width > 0 && !job.terminal_outcome && !job.held_by_user;
}

const TaskRow& first_task(const ClusterState& state, const JobRow& job) {
  return state.task(job.tasks.front());
}

/// Nothing of it is on its way, and all of what runs may be stopped and started elsewhere.
bool can_change(const ClusterView& view, const JobRow& job) {
  if (job.in_transit() || job.gang.assigned > 0) return false;
  if (job.running == 0) return view.may_start(job);
  if (job.pending > 0 && !view.may_start(job)) return false;
  const TaskRow* running = nullptr;
  for (std::uint32_t i = 0; i < job.width; ++i) {
    const TaskRow& task = view.state.task(job.tasks[i]);
    if (task.phase != TaskPhase::running) continue;
    // It has to leave there in any case, and gets another place when it has; and what closes
    // empties by itself.
    const InstanceRow& there = view.state.instance(task.at);
    if (there.released || view.is_closed(there)) return false;
    running = &task;
  }
  return running == nullptr ||
         !view.why_pinned(*running);  // the reason for one is the reason for all
}

}  // namespace

const OfferingRow* cheapest_per_worker(const ClusterView& view, const PlacementMask& mask,
                                       const JobRow& job) {
  const OfferingRow* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  const Market market = job.job.markets == MarketChoice::spot ? Market::spot : Market::on_demand;
  const ShapeId shape = first_task(view.state, job).shape;
  for (const OfferingRow& row : view.state.offerings().rows()) {
    const TypeId type = row.key.type;
    if (row.key.market != market || !mask.holds(shape, type) || view.rests(type, market)) continue;
    const std::uint32_t room = workers_in(view.catalog[type].capacity, *mask.amount(shape, type));
    if (room == 0 || row.price.usd_h() / room >= least) continue;
    best = &row;
    least = row.price.usd_h() / room;
  }
  return best;
}

ClusterInput::ClusterInput(const ClusterView& view, const PlacementMask& mask)
    : view_(view), mask_(mask) {
  choose_kind();
  for (const JobRow& job : view.state.jobs()) sort_job(job);
  list_nodes();
}

/// By the oldest elastic job that can be served so, of those without a constraint first: the others
/// would rent for all what one job asks for.
void ClusterInput::choose_kind() {
  for (const bool constrained : {false, true}) {
    for (const JobRow& job : view_.state.jobs()) {
      if (!is_elastic(job) || job.job.constraint.empty() == constrained) continue;
      kind_ = kind_by(job);
      if (kind_) return;
    }
  }
}

std::optional<ClusterKind> ClusterInput::kind_by(const JobRow& job) const {
  const TaskRow& task = first_task(view_.state, job);
  ClusterKind kind;
  TypeId type;
  if (view_.rents()) {
    if (!wants(job.job.markets, Market::on_demand)) return std::nullopt;
    kind.offer = cheapest_per_worker(view_, mask_, job);
    if (kind.offer != nullptr) type = kind.offer->key.type;
  }
  // Where nothing is to be had for now, what there is tells how it would be.
  for (const InstanceRow& row : view_.state.instances()) {
    if (type.valid()) break;
    if (!mask_.allows({task.shape, view_.state.markets(job)}, kind_of(row))) continue;
    const Resources& amount = *mask_.amount(task.shape, row.type);
    if (workers_in(view_.catalog[row.type].capacity, amount) > 0) type = row.type;
  }
  if (!type.valid()) return std::nullopt;
  kind.demand = view_.state.demand(task, type);
  kind.node_holds = workers_in(view_.catalog[type].capacity, kind.demand->amount);
  kind.shape = task.shape;
  return kind;
}

/// Its workers can be on the cluster's nodes.
bool ClusterInput::suits(const JobRow& job) const {
  if (!view_.rents()) return true;
  if (!kind_ || !wants(job.job.markets, Market::on_demand)) return false;
  if (kind_->offer == nullptr) return true;
  const TypeId type = kind_->offer->key.type;
  const ShapeId shape = first_task(view_.state, job).shape;
  return mask_.holds(shape, type) &&
         workers_in(view_.catalog[type].capacity, *mask_.amount(shape, type)) > 0;
}

void ClusterInput::sort_job(const JobRow& job) {
  if (is_elastic(job) && suits(job)) {
    const auto& spec = std::get<ElasticSpec>(job.job.kind);
    least_workers_ = std::max(least_workers_, spec.min_width);
    const bool searched = can_change(view_, job);
    shares_cluster_[job.slot] = searched;
    if (searched) elastic_.push_back(&job);
    return;
  }
  if (job.pending == 0 || !view_.may_start(job) || job.terminal_outcome) return;
  if (job.width > 0 && job.in_transit()) return;
  LoneWish wish{&job, {}};
  for (const Slot slot : job.tasks) {
    if (view_.state.task(slot).phase != TaskPhase::pending) continue;
    wish.tasks.push_back(slot);
    if (job.job.gang) continue;
    lone_.push_back(std::move(wish));
    wish = {&job, {}};
  }
  if (job.job.gang) lone_.push_back(std::move(wish));
}

void ClusterInput::list_nodes() {
  for (const InstanceRow& row : view_.state.instances()) {
    if (row.released) continue;
    RoundNode node{&row, {}, false, false};
    for (const Slot slot : row.planned) {
      const TaskRow& task = view_.state.task(slot);
      if (!is_searched(task.job)) node.taken += task.planned.amount;
      node.lone |= !shares_cluster_.contains(task.job);
    }
    if (view_.is_closed(row)) node.taken = view_.catalog[row.type].capacity;
    const bool ours = view_.is_owned(row) || !view_.rents();
    node.of_cluster =
        ours || (kind_ && !node.lone && row.market == Market::on_demand && workers_of(node) > 0);
    by_slot_[row.slot] = nodes_.size();
    nodes_.push_back(node);
  }
}

std::uint32_t ClusterInput::workers_of(const RoundNode& node) const {
  if (!kind_) return 0;
  const InstanceType& type = view_.catalog[node.row->type];
  // Of another family a worker may ask for something else: it is not counted on, and nor is a type
  // on which the job that chose the kind may not be.
  const bool same = kind_->demand->family.empty() || kind_->demand->family == type.family;
  const bool counts = same && mask_.holds(kind_->shape, node.row->type);
  return counts ? workers_in(type.capacity, kind_->demand->amount) : 0;
}

RoundNode* ClusterInput::find(Slot instance) {
  const auto found = by_slot_.find(instance);
  return found == by_slot_.end() ? nullptr : &nodes_[found->second];
}

bool ClusterInput::must_stay(const JobRow& job) const {
  return view_.turn && *view_.turn != job.job.id;
}

}  // namespace muster::pollux
