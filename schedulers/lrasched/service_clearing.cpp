#include "schedulers/lrasched/service_clearing.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "schedulers/lrasched/service_plan.hpp"
#include "schedulers/lrasched/service_round.hpp"
#include "schedulers/lrasched/size_moves.hpp"

// Services outlive those that they came with, and get smaller: the rest of them on an instance may
// not be worth its price. Each clearing lowers what is paid, so that they come to an end.

namespace muster::lrasched {
namespace {

/// An instance that is used more is not looked at, and a way that saves less is not taken.
constexpr double kMostUsed = 0.75;
constexpr double kLeastSaved = 0.1;

/// It serves where it is meant to be, and its service is whole.
bool may_move(const ClusterView& view, const TaskRow& task) {
  const JobRow& job = view.state.job(task.job);
  return job.job.service() != nullptr && !job.terminal_outcome && task.wanted &&
         is_endpoint(task) && task.at == task.target && job.leaving == 0 &&
         job.wanted == job.replicas && !view.why_pinned(task);
}

/// All of them may move together.
bool may_move(const ClusterView& view, const std::vector<Slot>& replicas) {
  std::map<Slot, std::uint32_t> of_job;
  for (const Slot slot : replicas) {
    const TaskRow& task = view.state.task(slot);
    if (!may_move(view, task)) return false;
    ++of_job[task.job];
  }
  return std::ranges::all_of(of_job, [&](const auto& each) {
    return each.second <= spare_of(view.state.job(each.first));
  });
}

double price_usd_h(const Plan& plan, const ClusterView& view) {
  double sum = 0;
  for (const Launch& launch : plan.launches) {
    sum += price_of(view, launch).usd_h();
  }
  return sum;
}

/// The share of it that is used, where services alone use it and that is little.
std::optional<double> little_used(const ClusterView& view, const InstanceRow& row) {
  const bool is_candidate = row.phase == InstancePhase::ready && !row.released &&
                            !row.planned.empty() && row.occupants.size() == row.planned.size() &&
                            row.price > Price{} && !view.is_owned(row) && !view.is_closed(row);
  if (!is_candidate) return std::nullopt;
  const double used = row.committed.dominant_share(view.catalog[row.type].capacity);
  const bool is_poor = used <= kMostUsed && may_move(view, row.planned);
  return is_poor ? std::optional(used) : std::nullopt;
}

/// Since when all of its replicas serve.
Instant serves_since(const ClusterView& view, const InstanceRow& row) {
  Instant since{};
  for (const Slot slot : row.planned) {
    since = std::max(since, view.state.task(slot).ready_since);
  }
  return since;
}

}  // namespace

std::vector<PoorInstance> poor_instances(const ClusterView& view) {
  std::vector<std::pair<double, PoorInstance>> found;
  for (const InstanceRow& row : view.state.instances()) {
    const std::optional<double> used = little_used(view, row);
    if (!used || serves_since(view, row) + kStayBeforeClearing > view.now) continue;
    const double price = row.price.usd_h();
    found.push_back({price * (1 - *used), {row.id, price, row.planned}});
  }
  const auto by_waste = [](const auto& a, const auto& b) { return a.first > b.first; };
  std::ranges::stable_sort(found, by_waste);
  std::vector<PoorInstance> poor;
  for (auto& [waste, instance] : found) {
    if (poor.size() == kMostCleared) break;
    poor.push_back(std::move(instance));
  }
  return poor;
}

bool may_get_poor(const ClusterView& view) {
  const auto& rows = view.state.instances();
  return std::any_of(rows.begin(), rows.end(), [&](const InstanceRow& row) {
    return little_used(view, row) && serves_since(view, row) + kStayBeforeClearing > view.now;
  });
}

Plan plan_of_clearing(const ServiceParts& parts, Rng& rng, Budget& budget) {
  for (const PoorInstance& poor : poor_instances(parts.view)) {
    ServiceInput input = gather_moves(parts, poor.id, poor.replicas);
    budget.spend(1 + input.nodes.size() * input.waiting.size() / kLooksOfStep);
    ServiceRound round(parts.params, input, nullptr);
    const ServiceChoice choice = round.run(parts.view.left, true, rng);
    if (!choice.refused.empty() || !input.refusals.empty()) continue;
    Plan plan = plan_of_services(parts, input, choice);
    if (plan.places.size() != poor.replicas.size()) continue;
    if (price_usd_h(plan, parts.view) > (1 - kLeastSaved) * poor.price_usd_h) continue;
    // All of it or nothing: half of it would cost more than before.
    plan.releases.push_back({poor.id, {CauseCode::partial_reconfiguration, 0}});
    for (Launch& launch : plan.launches) launch.group = 1;
    for (Place& place : plan.places) place.group = 1;
    for (Release& release : plan.releases) release.group = 1;
    return plan;
  }
  return {};
}

}  // namespace muster::lrasched
