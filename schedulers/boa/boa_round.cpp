#include "schedulers/boa/boa_round.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "model/feasible.hpp"
#include "schedulers/packing/types/reservation_price.hpp"

namespace muster::boa {
namespace {

constexpr CauseCode kWidth = CauseCode::width_plan;

/// As others do that think of one market: on demand, unless the job wants spot alone.
Market market_of(const Job& job) {
  return job.markets == MarketChoice::spot ? Market::spot : Market::on_demand;
}

/// Until instances that are asked for now are ready: those that come already are there sooner.
Duration longest_wait(const Catalog& catalog, const std::vector<PackingNode>& nodes,
                      const std::vector<NodeShare>& shares) {
  Duration longest{};
  for (const NodeShare& share : shares) {
    const InstanceType& type = catalog[nodes[share.node].type];
    if (!nodes[share.node].ready) longest = std::max(longest, type.acquire + type.setup);
  }
  return longest;
}

/// Nodes take no more tasks of a job whose tasks are kept apart than may be there beside those that
/// are there or are to come.
void count_peers(const ClusterState& state, const JobRow& job, const PeerRooms& peers,
                 std::vector<PackingNode>& nodes) {
  const Apart apart = apart_of(job);
  if (!apart) return;
  const auto waits = [&](Slot slot) { return state.task(slot).phase == TaskPhase::pending; };
  const auto task = std::ranges::find_if(job.tasks, waits);
  if (task == job.tasks.end()) return;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto* id = std::get_if<InstanceId>(&nodes[i].at);
    const InstanceRow* row = id != nullptr ? state.find(*id) : nullptr;
    const std::uint32_t there = row != nullptr ? peers_on(state, state.task(*task), *row) : 0;
    nodes[i].most = peers.left(i, apart) - std::min(peers.left(i, apart), there);
  }
}

}  // namespace

Plan BoaRound::run(std::string_view choice) {
  list_nodes();
  list_wishes();
  for (const Wish& wish : narrower_) serve(wish);
  for (const Wish& wish : wishes_) {
    // At its own turn: until then no other job gets the places that it may have to keep.
    if (wish.job->width > 0) free_places_of(*wish.job);
    serve(wish);
  }
  if (memory_.params().empties_nodes) empty_a_node();
  give_back();
  note(choice);
  return std::move(plan_);
}

void BoaRound::list_nodes() {
  for (const bool ready : {true, false}) {
    for (const InstanceRow& row : view_.state.instances()) {
      if (row.released || (row.phase == InstancePhase::ready) != ready) continue;
      const Resources free =
          view_.is_closed(row) ? Resources{} : view_.catalog[row.type].capacity - row.committed;
      by_id_[row.id] = nodes_.size();
      nodes_.push_back({row.id, row.type, free, ready, !row.planned.empty(), row.market});
    }
  }
}

/// GPUs of jobs that get narrower are free before any job is served.
void BoaRound::list_wishes() {
  for (const JobRow& job : view_.state.jobs()) {
    if (job.width > 0) {
      keep_or_free(job);
    } else if (job.pending > 0 && view_.may_start(job)) {
      if (job.job.gang) {
        wishes_.push_back({&job, job.pending});
        continue;
      }
      for (const Slot slot : job.tasks) {
        if (view_.state.task(slot).phase == TaskPhase::pending) wishes_.push_back({&job, 1, slot});
      }
    }
  }
}

void BoaRound::keep_or_free(const JobRow& job) {
  const std::uint32_t planned = memory_.goal_of(job, family_now(job)).width;
  const std::uint32_t width = planned > 0 ? planned : job.width;
  const bool moves = !is_on_its_family(job);
  wanted_ += width;
  if (!can_change(job)) return;
  // In a gang's turn no other job gets anything that it may need.
  if (view_.turn && *view_.turn != job.job.id && width >= job.width) return;
  if (job.running == 0 && !view_.may_start(job)) return;
  const bool whole = job.pending == 0;
  if (whole && width == job.width && !moves) return;
  // A job that waits for an instance that comes is left to wait for it.
  if (whole && job.running == 0) return;
  if (job.running > 0) {
    const TaskRow& first = view_.state.task(job.tasks.front());
    if (first.phase == TaskPhase::running && view_.why_pinned(first)) return;
  }
  // A job that moves may have to keep its places until there are others.
  if (width < job.width && !moves) {
    free_places_of(job);
    narrower_.push_back({&job, width});
  } else {
    wishes_.push_back({&job, width});
  }
}

/// Of the instance where its first worker is to be; empty: it has no place.
std::string_view BoaRound::family_now(const JobRow& job) const {
  const TaskRow& first = view_.state.task(job.tasks.front());
  if (first.target == kNoSlot) return {};
  return view_.catalog[view_.state.instance(first.target).type].family;
}

/// Empty, for any, also where instances are given or nothing of the family can be had for its
/// workers.
std::string_view BoaRound::family_of(const JobRow& job) const {
  if (!view_.rents() || job.width == 0) return {};
  const std::string_view family = memory_.goal_of(job, family_now(job)).family;
  if (family.empty()) return {};
  const ShapeId shape = view_.state.task(job.tasks.front()).shape;
  const Market market = market_of(job.job);
  const std::vector<OfferingRow>& rows = view_.state.offerings().rows();
  const bool is_there = std::ranges::any_of(rows, [&](const OfferingRow& row) {
    return view_.catalog[row.key.type].family == family && room_of(row, market, shape) > 0;
  });
  return is_there ? family : std::string_view();
}

/// Workers that an instance of the offering has room for; 0 where it cannot be had on the market.
std::uint32_t BoaRound::room_of(const OfferingRow& row, Market market, ShapeId shape) const {
  const TypeId type = row.key.type;
  if (row.key.market != market || !mask_.holds(shape, type) || view_.rests(type, market)) return 0;
  return workers_in(view_.catalog[type].capacity, *mask_.amount(shape, type));
}

/// Where its first worker is, or is to be.
bool BoaRound::is_on_its_family(const JobRow& job) const {
  const std::string_view family = family_of(job);
  const std::string_view now = family_now(job);
  return family.empty() || now.empty() || now == family;
}

void BoaRound::free_places_of(const JobRow& job) {
  for (const Slot slot : job.tasks) {
    const TaskRow& task = view_.state.task(slot);
    if (task.target == kNoSlot) continue;
    const auto node = by_id_.find(view_.state.instance(task.target).id);
    if (node != by_id_.end()) nodes_[node->second].free += task.planned.amount;
  }
}

/// The offering whose room for a worker costs least, of those that caps leave one of where there
/// are such; null: no offering can be had.
const OfferingRow* BoaRound::best_offer(const JobRow& row_of_job, ShapeId shape) const {
  const std::string_view family = family_of(row_of_job);
  const OfferingRow* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  bool within_caps = false;
  const Market market = market_of(row_of_job.job);
  for (const OfferingRow& row : view_.state.offerings().rows()) {
    if (!family.empty() && view_.catalog[row.key.type].family != family) continue;
    const std::uint32_t room = room_of(row, market, shape);
    if (room == 0) continue;
    const bool is_left = left_.allows(1, row.price);
    const double usd_h = row.price.usd_h() / room;
    if (is_left < within_caps || (is_left == within_caps && usd_h >= least)) continue;
    best = &row;
    least = usd_h;
    within_caps = is_left;
  }
  return best;
}

void BoaRound::serve(const Wish& wish) {
  const ClusterState& state = view_.state;
  const TaskRow& task = state.task(wish.task != kNoSlot ? wish.task : wish.job->tasks.front());
  const TaskSpec& spec = state.spec(task);
  // Nodes are taken to be of one family: that of the best offer, or of what there is.
  const OfferingRow* offer = view_.rents() ? best_offer(*wish.job, task.shape) : nullptr;
  const TypeId type = offer != nullptr  ? offer->key.type
                      : !nodes_.empty() ? nodes_.front().type
                                        : TypeId{};
  const FamilyDemand* demand = type.valid() ? spec.demands.on(view_.catalog[type].family) : nullptr;
  std::uint32_t holds =
      demand == nullptr ? 0 : workers_in(view_.catalog[type].capacity, demand->amount);
  if (const Apart apart = apart_of(*wish.job)) holds = std::min(holds, apart.most);
  if (holds == 0) {
    const ReservationPrice price = reservation_price(state.shape(task.shape), view_.catalog);
    if (view_.rents() && !price.fits()) return refuse(wish, price.refusal);
    return refuse(wish, {RefusalKind::not_now, RefusalCode::awaiting_capacity, {}, 1, 0});
  }
  const WorkerDemand worker{demand->amount, holds};
  const std::string_view family = family_of(*wish.job);
  for (PackingNode& node : nodes_) {
    const std::string& own = view_.catalog[node.type].family;
    node.suits = mask_.allows({task.shape, state.markets(*wish.job)}, {node.type, node.market}) &&
                 spec.demands.on(own) == demand && (family.empty() || own == family);
    node.most = std::numeric_limits<std::uint32_t>::max();
  }
  count_peers(view_.state, *wish.job, peers_, nodes_);
  if (const auto shares = pack_workers(nodes_, wish.workers, worker, true)) {
    take(nodes_, *shares, worker.amount);
    return start(wish, *shares);
  }
  auto kept = view_.rents() ? rent(wish, worker, offer, Caps::are_kept) : std::nullopt;
  if (!kept && offer != nullptr && serve_under_cap(wish, worker, *offer)) return;
  // A job that has to be whole is planned nevertheless: by the master's refusal it gets its turn.
  if (!kept && needs_a_turn(*wish.job, holds)) {
    kept = rent(wish, worker, offer, Caps::are_the_masters);
  }
  if (wish.job->width > 0 && go_on_meanwhile(wish, worker, kept)) return;
  if (kept) return start(wish, *kept);
  const std::uint32_t nodes = (wish.workers + holds - 1) / holds;
  if (offer != nullptr && !left_.allows(nodes, offer->price)) {
    return refuse(wish, cap_refusal(*offer, nodes));
  }
  refuse(wish, {RefusalKind::not_now,
                RefusalCode::awaiting_capacity,
                {},
                static_cast<double>(wish.workers),
                0});
}

/// Keeps room on instances that come, and rents what is missing. Nothing: no offer has any, or caps
/// that are kept leave too few.
std::optional<std::vector<NodeShare>> BoaRound::rent(const Wish& wish, const WorkerDemand& worker,
                                                     const OfferingRow* offer, Caps caps) {
  const std::size_t before = plan_.launches.size();
  const RentLeft left = left_;
  auto shares = pack_workers(nodes_, wish.workers, worker, false);
  // At most as many as its workers fill: some of these may have room elsewhere, which comes first.
  for (std::uint32_t i = 0; !shares && offer != nullptr && i < wish.workers; ++i) {
    if (caps == Caps::are_kept && !left_.allows(1, offer->price)) break;
    launch(*offer);
    shares = pack_workers(nodes_, wish.workers, worker, false);
  }
  if (shares) {
    take(nodes_, *shares, worker.amount);
    // A set that the master refuses as a whole leaves the caps to the others.
    if (caps == Caps::are_the_masters) left_ = left;
  } else {
    take_back(before, left);
  }
  return shares;
}

void BoaRound::launch(const OfferingRow& offer) {
  plan_.launches.push_back({offer.key.type, offer.key.market, Cause{kWidth, 0}, offer.key.zone});
  const LaunchIndex index{static_cast<std::uint32_t>(plan_.launches.size() - 1)};
  const InstanceType& type = view_.catalog[offer.key.type];
  nodes_.push_back({index, offer.key.type, type.capacity, false, false, offer.key.market});
  left_.take(offer.price);
}

/// Takes back the launches after the first ones, which are empty; caps left that much before them.
void BoaRound::take_back(std::size_t launches, const RentLeft& left) {
  nodes_.resize(nodes_.size() - (plan_.launches.size() - launches));
  plan_.launches.resize(launches);
  left_ = left;
}

/// A job that one free node would not help: of what caps leave, the others would always have that
/// before it.
bool BoaRound::needs_a_turn(const JobRow& job, std::uint32_t node_holds) const {
  if (!view_.rents()) return false;
  const auto* elastic = std::get_if<ElasticSpec>(&job.job.kind);
  if (elastic == nullptr) return true;
  return job.running == 0 && elastic->min_width > node_holds;
}

/// Which of the caps leaves fewer instances of the offering than that.
Refusal BoaRound::cap_refusal(const OfferingRow& offer, std::uint32_t instances) const {
  if (left_.instances && *left_.instances < instances) {
    return {RefusalKind::not_now,
            RefusalCode::instance_cap,
            {},
            static_cast<double>(instances),
            static_cast<double>(*left_.instances)};
  }
  return {RefusalKind::not_now,
          RefusalCode::spend_cap,
          {},
          Price::from_nano_usd_h(instances * offer.price.nano_usd_h()).usd_h(),
          Price::from_nano_usd_h(left_.nano_usd_h.value_or(0)).usd_h()};
}

/// As wide as there is room for with what caps leave, where they leave too little for its width: a
/// job would never run whose width is more than all that may be rented. One that runs grows so only
/// when that doubles it, or it would start again for each GPU that others leave, and goes on until
/// there is room that is ready.
bool BoaRound::serve_under_cap(const Wish& wish, const WorkerDemand& worker,
                               const OfferingRow& offer) {
  const JobRow& job = *wish.job;
  if (job.width == 0 || someone_is_under_cap_) return false;
  const bool runs = job.running > 0;
  if (runs && job.pending > 0) return false;
  const std::uint32_t least =
      runs ? 2 * job.width : std::max(1U, std::get<ElasticSpec>(job.job.kind).min_width);
  const auto most = [&](bool ready_only) {
    std::optional<std::vector<NodeShare>> shares;
    for (std::uint32_t workers = wish.workers - 1; !shares && workers >= least; --workers) {
      shares = pack_workers(nodes_, workers, worker, ready_only);
    }
    return shares;
  };
  auto shares = runs ? most(true) : std::nullopt;
  const bool starts = shares || !runs;
  const std::size_t before = plan_.launches.size();
  const RentLeft left = left_;
  if (!shares) {
    for (std::uint32_t i = 0; i < wish.workers && left_.allows(1, offer.price); ++i) launch(offer);
    shares = most(false);
  }
  if (!shares) {
    take_back(before, left);
    return false;
  }
  someone_is_under_cap_ = true;
  take(nodes_, *shares, worker.amount);
  if (starts) {
    std::uint32_t workers = 0;
    for (const NodeShare& share : *shares) workers += share.workers;
    start({wish.job, workers}, *shares);
  } else {
    hold_places_of(job);
  }
  return true;
}

/// Holds the places that free_places_of() has freed: on another family a worker may ask for
/// something else.
void BoaRound::hold_places_of(const JobRow& job) {
  if (job.width == 0) return;
  for (const Slot slot : job.tasks) {
    const TaskRow& task = view_.state.task(slot);
    if (task.target == kNoSlot) continue;
    const auto node = by_id_.find(view_.state.instance(task.target).id);
    if (node != by_id_.end()) take(nodes_, {{node->second, 1}}, task.planned.amount);
  }
}

/// An elastic job that runs goes on as it does until there is room for its new width. Of those that
/// wait one begins on what is left; the others queue behind it.
bool BoaRound::go_on_meanwhile(const Wish& wish, const WorkerDemand& worker,
                               const std::optional<std::vector<NodeShare>>& kept) {
  const JobRow& job = *wish.job;
  if (job.running > 0 && job.pending == 0) {
    hold_places_of(job);
    return true;
  }
  if (std::exchange(someone_is_partly_served_, true)) return false;
  // It would be stopped again before its start had brought it anything.
  if (kept && longest_wait(view_.catalog, nodes_, *kept) <= memory_.rescale_of(job)) return false;
  const std::uint32_t least = std::get<ElasticSpec>(job.job.kind).min_width;
  std::vector<NodeShare> there;
  std::uint32_t workers = 0;
  for (const NodeShare& share : kept.value_or(std::vector<NodeShare>{})) {
    if (!nodes_[share.node].ready) continue;
    there.push_back(share);
    workers += share.workers;
  }
  if (workers >= std::max(1U, least)) {
    start({wish.job, workers}, there);
    return true;
  }
  for (workers = wish.workers - 1; workers >= std::max(1U, least); --workers) {
    const auto shares = pack_workers(nodes_, workers, worker, true);
    if (!shares) continue;
    take(nodes_, *shares, worker.amount);
    start({wish.job, workers}, *shares);
    return true;
  }
  return false;
}

/// Workers that are at a node of the job already stay there.
void BoaRound::start(const Wish& wish, const std::vector<NodeShare>& shares) {
  const JobRow& job = *wish.job;
  const ClusterState& state = view_.state;
  const Cause cause{kWidth, 0};
  for (const NodeShare& share : shares) peers_.add(share.node, apart_of(job), share.workers);
  if (wish.task != kNoSlot) {
    plan_.places.push_back({state.task(wish.task).id, nodes_[shares.front().node].at, cause});
    return;
  }
  if (job.width > 0 && wish.workers != job.width) {
    plan_.resizes.push_back({job.job.id, wish.workers, cause});
  }
  std::map<std::size_t, std::uint32_t> left;  // workers that the nodes are still to get
  for (const NodeShare& share : shares) left[share.node] += share.workers;
  std::vector<TaskId> homeless;
  // A gang that is not elastic has all of its waiting tasks placed, wherever they are in the list.
  const std::size_t end = job.width > 0 ? wish.workers : job.tasks.size();
  for (std::size_t i = 0; i < end; ++i) {
    const TaskRow& task = state.task(job.tasks[i]);
    if (job.width == 0 && task.phase != TaskPhase::pending) continue;
    const auto node =
        task.target == kNoSlot ? by_id_.end() : by_id_.find(state.instance(task.target).id);
    const auto there = node == by_id_.end() ? left.end() : left.find(node->second);
    if (there != left.end() && there->second > 0) {
      --there->second;
    } else {
      homeless.push_back(task.id);
    }
  }
  for (const TaskId id : homeless) {
    const auto room =
        std::find_if(left.begin(), left.end(), [](const auto& entry) { return entry.second > 0; });
    --room->second;
    plan_.places.push_back({id, nodes_[room->first].at, cause});
  }
}

void BoaRound::refuse(const Wish& wish, const Refusal& refusal) {
  hold_places_of(*wish.job);
  Refusal why = refusal;
  // Where instances are rented it is not the budget that is in the way.
  if (memory_.over_budget() && !view_.rents() && wish.job->width > 0) {
    why = {RefusalKind::not_now,
           RefusalCode::over_budget,
           {},
           memory_.plan().least_gpus,
           memory_.budget_for_jobs()};
  }
  for (const Slot slot : wish.job->tasks) {
    const TaskRow& task = view_.state.task(slot);
    const bool meant = wish.task == kNoSlot || wish.task == slot;
    if (meant && task.phase == TaskPhase::pending) plan_.refusals.push_back({task.id, why});
  }
}

void BoaRound::give_back() {
  if (!view_.rents()) return;
  for (const PackingNode& node : nodes_) {
    const auto* id = std::get_if<InstanceId>(&node.at);
    if (id == nullptr || node.wanted) continue;
    const InstanceRow& row = *view_.state.find(*id);
    if (view_.is_owned(row) || memory_.keeps(row, view_.now)) continue;
    plan_.releases.push_back({row.id, {CauseCode::empty, -row.price.usd_h()}});
  }
}

void BoaRound::note(std::string_view choice) {
  plan_.note.choice = std::string(choice);
  plan_.note.figures = {{"wanted", wanted_},
                        {"budget", memory_.budget_for_jobs()},
                        {"load", memory_.load()},
                        {"load_planned_for", memory_.plan().least_gpus},
                        {"planned_gpus", memory_.plan().cost_gpus},
                        {"planned_jct_s", memory_.plan().mean_jct_h * 3600}};
}

}  // namespace muster::boa
