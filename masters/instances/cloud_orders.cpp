#include "masters/instances/cloud_orders.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "model/live_ids.hpp"

// Orders to the cloud, each of which has to survive a crash on either side: an order is repeated
// until the cloud has answered it, and the cloud knows a repeated one by its number. So numbers
// must never be given out twice, which is why a store that may be old has to ask first.

namespace muster {
namespace {

/// The plan's launches by what is placed on them: see CloudOrders::launch().
std::vector<std::size_t> launches_in_order(const Plan& plan, const MasterFacts& facts) {
  constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();
  using Key = std::tuple<std::uint32_t, std::int64_t, TaskId>;  // refusals, less priority, task
  std::vector<Key> oldest(plan.launches.size(), Key{kNever, 0, {}});
  for (const Place& part : plan.places) {
    const auto* launch = std::get_if<LaunchIndex>(&part.to);
    if (launch == nullptr || launch->value >= oldest.size()) continue;
    const TaskRow* task = facts.state.find(part.task);
    Key key{0, 0, part.task};
    if (task != nullptr) {
      const Job& job = facts.state.job(task->job).job;
      key = {facts.gangs.refusals(job.id), -std::int64_t{job.priority}, part.task};
    }
    oldest[launch->value] = std::min(oldest[launch->value], key);
  }
  std::vector<std::size_t> order(plan.launches.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return oldest[a] < oldest[b]; });
  return order;
}

/// Answers of an event to orders that are open.
struct Answers {
  std::set<InstanceId>& unanswered;
  const ClusterState& state;

  void operator()(const LaunchRequested& e) { unanswered.insert(e.instance); }
  void operator()(const LaunchRefused& e) { unanswered.erase(e.instance); }
  void operator()(const TerminateIssued& e) { unanswered.insert(e.instance); }
  void operator()(const InstanceUp& e) {
    const bool ending = state.find(e.instance)->phase == InstancePhase::terminating;
    if (!ending) unanswered.erase(e.instance);
  }
  void operator()(const InstanceGone& e) { unanswered.erase(e.instance); }
  template <class Other>
  void operator()(const Other&) {}
};

}  // namespace

CloudOrders::CloudOrders(MasterRecorder& recorder, std::uint64_t first_instance)
    : recorder_(recorder), first_instance_(first_instance) {
  recorder_.listen(*this);
}

void CloudOrders::before(const Event& event, const MasterFacts& facts) {
  std::visit(Answers{unanswered_, facts.state}, event.body);
}

void CloudOrders::restored(const MasterFacts& facts) {
  for (const InstanceRow& row : facts.state.instances()) {
    if (!row.up || row.phase == InstancePhase::terminating) unanswered_.insert(row.id);
  }
}

std::vector<InstanceId> CloudOrders::launch(const Plan& plan, const CheckedPlan& checked,
                                            Instant now) {
  const MasterFacts& facts = recorder_.facts();
  std::vector<InstanceId> launched(plan.launches.size());
  for (std::size_t i : launches_in_order(plan, facts)) {
    if (!checked.launched(i)) continue;
    const Launch& launch = plan.launches[i];
    const InstanceId id{facts.next_instance};
    launched[i] = id;
    const OfferingRow& offer =
        *facts.state.offerings().find(launch.type, launch.market, launch.zone);
    const Price most = most_for(facts.state, launch);
    recorder_.record(LaunchRequested{id, launch.type, launch.market, offer.price, launch.cause,
                                     launch.zone, most},
                     now);
    recorder_.effect(LaunchInstance{id, launch.type, launch.market, launch.zone, most});
  }
  return launched;
}

void CloudOrders::end(InstanceId id, Instant now) {
  recorder_.record(TerminateIssued{id}, now);
  recorder_.effect(EndInstance{id});
}

void CloudOrders::remind() {
  for (InstanceId id : unanswered_) ask_after(id);
}

void CloudOrders::ask_after(InstanceId id) {
  const InstanceRow* row = recorder_.facts().state.find(id);
  if (row == nullptr) return;
  if (row->phase == InstancePhase::terminating) {
    recorder_.effect(EndInstance{id});
  } else {
    recorder_.effect(LaunchInstance{id, row->type, row->market, row->zone, row->max_price});
  }
}

void CloudOrders::ask_after_all() {
  for (const InstanceRow& row : recorder_.facts().state.instances()) ask_after(row.id);
}

bool CloudOrders::know_instances(const std::vector<InstanceId>& newest) {
  for (const InstanceId id : newest) {
    if (master_of(id) != master_of(InstanceId{first_instance_})) continue;
    recorder_.skip_instances(id.value + 1);
  }
  return std::exchange(asks_numbers_, false);
}

}  // namespace muster
