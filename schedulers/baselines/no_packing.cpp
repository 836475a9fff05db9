#include "schedulers/baselines/no_packing.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "model/feasible.hpp"
#include "schedulers/packing/index/empty_rooms.hpp"
#include "schedulers/packing/rounds/alone_on_fleet.hpp"
#include "schedulers/packing/rules.hpp"
#include "schedulers/packing/types/cheapest_types.hpp"

// Rounds in which nothing can differ from the last one answer at once: with a round a period and
// weeks of replay most are of that kind.

namespace muster {
namespace {

constexpr const char* kChanged = "changed";
constexpr const char* kUnchanged = "unchanged";

}  // namespace

void NoPacking::observe(const Event& event, const ClusterView&) {
  if (std::holds_alternative<RoundDecided>(event.body)) changed_ = false;
  // Tasks of an array end, and leave their instances empty, long before their job does.
  changed_ |= std::holds_alternative<JobAccepted>(event.body) ||
              std::holds_alternative<JobFinished>(event.body) ||
              std::holds_alternative<TaskFinished>(event.body) ||
              std::holds_alternative<TaskFailed>(event.body) ||
              std::holds_alternative<TaskCheckpointed>(event.body) ||
              std::holds_alternative<TaskUnassigned>(event.body);
}

std::string NoPacking::save_state(const ClusterState&) const {
  return changed_ ? kChanged : kUnchanged;
}

bool NoPacking::load_state(std::string_view text, const ClusterView&) {
  changed_ = text != kUnchanged;  // earlier versions kept nothing: then anything may have happened
  return text.empty() || text == kChanged || text == kUnchanged;
}

Plan NoPacking::decide(const ClusterView& view, Rng&, Budget&) {
  Plan plan;
  if (!changed_ && view.state.pending().empty()) return plan;
  input_.gather({view, prices_.types().markets()}, prices_, kinds_);
  plan.refusals = input_.refusals();
  const std::vector<char> placed = place_on_fleet(view, plan);
  if (!view.rents()) return plan;
  // Tasks that no type holds are not among the input's: it lists their refusals.
  for (std::uint32_t i = 0; i < input_.tasks().size(); ++i) {
    const RoundInput::Task& task = input_.tasks()[i];
    const TaskRow& row = view.state.task(task.slot);
    if (task.home != kUnassigned || row.phase != TaskPhase::pending || placed[i] != 0) continue;
    const ReservationPrice& price = prices_.of(row.shape);
    const LaunchIndex launch{static_cast<std::uint32_t>(plan.launches.size())};
    plan.launches.push_back(
        {price.type, prices_.types().market_of(price.type), {CauseCode::alone, 0}});
    plan.places.push_back({row.id, launch, {CauseCode::alone, 0}});
  }
  use_cheapest_types(view, prices_.mask(), plan);
  for (const RoundInput::Instance& instance : input_.instances()) {
    if (instance.residents > 0 || instance.owned) continue;
    plan.releases.push_back({instance.id, {CauseCode::empty, -instance.price_usd_h}});
  }
  return plan;
}

/// The instances that are used as they come empty: all where they are given, else the owned ones.
/// Which tasks have a place then.
std::vector<char> NoPacking::place_on_fleet(const ClusterView& view, Plan& plan) const {
  std::vector<char> placed(input_.tasks().size(), 0);
  std::vector<char> wider;  // of each job: no place is looked for
  if (!view.rents()) wider = refuse_gangs_wider_than_fleet(view, input_, plan);
  std::vector<EmptyRooms> empty(view.catalog.size());  // of each type, in the order of request
  for (std::uint32_t i = 0; i < input_.instances().size(); ++i) {
    const RoundInput::Instance& instance = input_.instances()[i];
    if (view.rents() && !instance.owned) continue;
    if (instance.residents == 0 && !instance.closed) empty[instance.type.value].add(i);
  }
  const auto none = [](const EmptyRooms& rooms) { return rooms.empty(); };
  if (std::all_of(empty.begin(), empty.end(), none)) return placed;
  for (std::uint32_t at = 0; at < input_.tasks().size(); ++at) {
    const RoundInput::Task& task = input_.tasks()[at];
    const TaskRow& row = view.state.task(task.slot);
    if (task.home != kUnassigned || row.phase != TaskPhase::pending) continue;
    if (!wider.empty() && wider[row.job] != 0) continue;
    std::optional<TypeId> cheapest;
    std::uint32_t instance = kUnassigned;
    RoomRule may_join;
    if (task.apart) {
      // Peers may have still to leave an instance without a target.
      may_join = {{task.apart.job}, [&](std::uint64_t room) {
                    const RoundInput::Instance& on = input_.instances()[room];
                    return may_share(view.state, row, view.state.instance(on.slot));
                  }};
    }
    for (std::uint32_t i = 0; i < view.catalog.size(); ++i) {
      const TypeId type{i};
      if (empty[i].empty() || !prices_.on(row.shape, type).fits) continue;
      if (cheapest && prices_.types().price(*cheapest) <= prices_.types().price(type)) continue;
      const auto found = empty[i].first(may_join);
      if (!found) continue;
      cheapest = type;
      instance = *found;
    }
    // Waits for an empty instance, or has one rented; no reason is given, since none of the fleet
    // is too small for good.
    if (!cheapest) continue;
    plan.places.push_back({row.id, input_.instances()[instance].id, {CauseCode::alone, 0}});
    empty[cheapest->value].take(instance);
    placed[at] = 1;
  }
  return placed;
}

}  // namespace muster
