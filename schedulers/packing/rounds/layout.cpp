#include "schedulers/packing/rounds/layout.hpp"

// A layout says where all tasks are; a plan says what changes. Reconfigurations and the fixed fleet
// end here, so that their plans differ in the layout alone.

namespace muster {

void Layout::reset(std::size_t tasks) {
  hosts.clear();
  host_of.assign(tasks, kUnassigned);
}

std::uint32_t Layout::add_present(const RoundInput& input, std::uint32_t instance) {
  const RoundInput::Instance& present = input.instances()[instance];
  hosts.push_back({.type = present.type, .present = instance, .price_usd_h = present.price_usd_h});
  return static_cast<std::uint32_t>(hosts.size() - 1);
}

std::uint32_t Layout::add_new(const PricedTypes& types, TypeId type, Market market) {
  const Price price = types.price(type, market).value_or(types.price(type));
  hosts.push_back({.type = type, .market = market, .price_usd_h = price.usd_h()});
  return static_cast<std::uint32_t>(hosts.size() - 1);
}

double Layout::worth_usd_h() const {
  double sum = 0;
  for (const Host& host : hosts) sum += host.worth_usd_h;
  return sum;
}

double Layout::cost_usd_h() const {
  double sum = 0;
  for (const Host& host : hosts) sum += host.price_usd_h;
  return sum;
}

double present_worth(const RoundInput& input, const RoundInput::Instance& instance,
                     const WorthModel& model, const TaskKinds& kinds, InstanceWorth& scratch) {
  scratch.clear(model);
  for (std::uint32_t task : input.residents(instance)) {
    scratch.add(entrant_of(model, kinds.all()[input.tasks()[task].kind], instance.type));
  }
  return scratch.usd_h();
}

namespace {

double gain_usd_h(const Layout::Host& host) {
  return host.worth_usd_h - host.price_usd_h;
}

CauseCode cause_of_start(const Layout::Host& host) {
  return host.tasks == 1 ? CauseCode::alone : CauseCode::packed;
}

void add_places(const Layout& layout, const RoundInput& input,
                const std::vector<std::uint32_t>& launch_of, CauseCode reconfiguration,
                Plan& plan) {
  for (std::uint32_t task = 0; task < input.tasks().size(); ++task) {
    if (!layout.moves(input, task)) continue;
    const Layout::Host& host = layout.hosts[layout.host_of[task]];
    // A task without a home starts, whichever host it gets; all others are moved by the
    // reconfiguration.
    const bool had_place = input.tasks()[task].home != kUnassigned;
    const CauseCode cause = had_place ? reconfiguration : cause_of_start(host);
    PlaceTarget to = LaunchIndex{launch_of[layout.host_of[task]]};
    if (host.present != kUnassigned) to = input.instances()[host.present].id;
    plan.places.push_back({input.tasks()[task].id, to, {cause, gain_usd_h(host)}});
  }
}

}  // namespace

Plan plan_of(const Layout& layout, const RoundInput& input, const WorthModel& model,
             const TaskKinds& kinds, CauseCode reconfiguration) {
  Plan plan;
  plan.refusals = input.refusals();
  std::vector<std::uint32_t> launch_of(layout.hosts.size(), kUnassigned);
  std::vector<char> kept(input.instances().size(), 0);
  for (std::size_t i = 0; i < layout.hosts.size(); ++i) {
    const Layout::Host& host = layout.hosts[i];
    if (host.present != kUnassigned) {
      kept[host.present] = 1;
      continue;
    }
    launch_of[i] = static_cast<std::uint32_t>(plan.launches.size());
    plan.launches.push_back({host.type, host.market, {cause_of_start(host), gain_usd_h(host)}});
  }
  add_places(layout, input, launch_of, reconfiguration, plan);
  InstanceWorth scratch;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (kept[i] || input.instances()[i].owned) continue;
    // No host of the layout stands for it. Its residents have places on other hosts in the plan
    // already.
    const RoundInput::Instance& instance = input.instances()[i];
    const double worth = present_worth(input, instance, model, kinds, scratch);
    const CauseCode cause = instance.residents == 0 ? CauseCode::empty : reconfiguration;
    plan.releases.push_back({instance.id, {cause, worth - instance.price_usd_h}});
  }
  return plan;
}

}  // namespace muster
