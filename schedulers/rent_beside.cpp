#include "schedulers/rent_beside.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "model/feasible.hpp"

namespace muster {
namespace {

class Renting {
 public:
  Renting(Plan& plan, const ClusterView& view) : plan_(plan), view_(view) {
    for (const OfferingRow& row : view.state.offerings().rows()) {
      if (row.key.market != Market::on_demand || !row.key.zone.empty() || !row.available) continue;
      if (const auto left = left_of(view.state, row)) {
        machines_.push_back({&row, *left});
      } else {
        others_.push_back(&row);
      }
    }
  }

  void run() {
    if (machines_.empty() || others_.empty()) return;
    gather_places();
    // Machines that the plan asks for by itself go first.
    std::vector<std::uint32_t> beyond, others;
    for (std::uint32_t i = 0; i < plan_.launches.size(); ++i) {
      const Launch& launch = plan_.launches[i];
      const auto machine = std::ranges::find_if(machines_, [&](const Machines& each) {
        return each.row->key.type == launch.type && each.row->key.market == launch.market;
      });
      if (machine == machines_.end()) {
        if (launch.market == Market::on_demand) others.push_back(i);
      } else if (machine->left > 0) {
        --machine->left;
      } else {
        beyond.push_back(i);
      }
    }
    for (const std::uint32_t launch : others) use_machine(launch);
    for (const std::uint32_t launch : beyond) rent(launch);
  }

 private:
  struct Machines {
    const OfferingRow* row;
    std::uint32_t left;
  };

  void gather_places() {
    places_.resize(plan_.launches.size());
    for (const Place& place : plan_.places) {
      const auto* launch = std::get_if<LaunchIndex>(&place.to);
      if (launch != nullptr && launch->value < places_.size()) {
        places_[launch->value].push_back(&place);
      }
    }
  }

  /// A task that is to be there, and its grant.
  struct Guest {
    const TaskRow* task;
    std::optional<Grant> grant;
  };

  /// Those for which the instance is ordered; nothing where one of them runs.
  std::vector<Guest> guests_of(std::uint32_t launch) const {
    std::vector<Guest> guests;
    for (const Place* place : places_[launch]) {
      const TaskRow* task = view_.state.find(place->task);
      if (task == nullptr || task->phase != TaskPhase::pending) return {};
      guests.push_back({task, place->grant});
    }
    return guests;
  }

  /// A machine that is left and costs less than what the plan would rent, on which no task is to
  /// run slower.
  void use_machine(std::uint32_t launch) {
    const TypeId planned = plan_.launches[launch].type;
    const std::optional<Price> most = view_.price(planned, Market::on_demand);
    const auto is_better = [&](const Machines& each) {
      return each.left > 0 && most && each.row->price < *most;
    };
    if (std::ranges::none_of(machines_, is_better)) return;
    const std::vector<Guest> guests = guests_of(launch);
    if (guests.empty()) return;
    Machines* best = nullptr;
    for (Machines& each : machines_) {
      if (!is_better(each) || (best != nullptr && best->row->price <= each.row->price)) continue;
      const std::optional<double> speed = speed_on(each.row->key.type, guests, planned);
      if (speed && *speed >= 1) best = &each;
    }
    if (best == nullptr) return;
    --best->left;
    change(launch, best->row->key.type);
  }

  /// The type that costs least for what it does.
  void rent(std::uint32_t launch) {
    const std::vector<Guest> guests = guests_of(launch);
    if (guests.empty()) return;
    const OfferingRow* best = nullptr;
    double least_usd = 0;
    for (const OfferingRow* row : others_) {
      const auto speed = speed_on(row->key.type, guests, plan_.launches[launch].type);
      if (!speed) continue;
      const double usd = row->price.usd_h() / *speed;
      if (best != nullptr && usd >= least_usd) continue;
      best = row;
      least_usd = usd;
    }
    if (best != nullptr) change(launch, best->key.type);
  }

  /// How fast the slowest of them runs on the type for each unit of its speed on the planned one;
  /// nothing where they have no place there together, or the type cannot be had.
  std::optional<double> speed_on(TypeId type, const std::vector<Guest>& guests,
                                 TypeId planned) const {
    if (view_.rests(type, Market::on_demand)) return std::nullopt;
    Resources used;
    double slowest = std::numeric_limits<double>::max();
    for (const auto& [task, grant] : guests) {
      const Placing placing{task, type, Market::on_demand, grant};
      if (why_infeasible(view_.state, placing)) return std::nullopt;
      used += grant_of(view_.state, placing).amount;
      const FamilyDemand* here = view_.state.demand(*task, type);
      const FamilyDemand* there = view_.state.demand(*task, planned);
      if (here == nullptr || here->speed <= 0) return std::nullopt;
      const bool known = there != nullptr && there->speed > 0;
      slowest = std::min(slowest, known ? here->speed / there->speed : 1);
    }
    if (!used.fits_in(view_.catalog[type].capacity)) return std::nullopt;
    return slowest;
  }

  void change(std::uint32_t number, TypeId type) {
    Launch& launch = plan_.launches[number];
    const auto before = view_.price(launch.type, launch.market);
    const auto after = view_.price(type, launch.market);
    if (before && after) launch.cause.gain_usd_h += before->usd_h() - after->usd_h();
    launch.type = type;
    launch.zone.clear();
    launch.max_price.reset();
  }

  Plan& plan_;
  const ClusterView& view_;
  std::vector<Machines> machines_;                 ///< types that the cloud counts
  std::vector<const OfferingRow*> others_;         ///< those that it does not, on demand
  std::vector<std::vector<const Place*>> places_;  ///< of each launch
};

}  // namespace

void rent_beside(Plan& plan, const ClusterView& view) {
  if (view.rents()) Renting(plan, view).run();
}

}  // namespace muster
