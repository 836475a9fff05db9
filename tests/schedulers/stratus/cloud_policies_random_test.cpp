// The policies of the Stratus paper over random histories: their plans can be carried out, and who
// is started again from the words of another decides as that one does.

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "model/feasible.hpp"
#include "schedulers/registry.hpp"
#include "tests/schedulers/catalogs.hpp"
#include "tests/schedulers/draw.hpp"
#include "tests/support/random_cluster.hpp"

namespace muster {
namespace {

using testing::draw;

constexpr const char* kPolicies[] = {
    "stratus",
    "stratus,period_s=1,clear_after=0",
    "stratus,eager,unit_s=60,clear_after=1,bandwidth_mbit_s=0",
    "stratus,packing=dot,period_s=2,default_s=1",
    "stratus,packing=none,period_s=5",
    "hotspot,period_s=2,default_s=600000,run_times=unknown",
    "spot-fleet,period_s=2",
    "spot-fleet,eager,pack=memory,price=cpu",
    "supercloud,period_s=2,default_s=600000,run_times=unknown",
    "supercloud,eager,dot,rank=capacity",
    "synergy,eager",
    "synergy,artifact,spot=allowed",
};

Catalog two_families() {
  std::vector<InstanceType> types{testing::type_of("g", "gpu", Resources::of(2, 6, 12), 2),
                                  testing::type_of("c", "cpu", Resources::of(0, 8, 16), 0.4),
                                  testing::type_of("d", "cpu", Resources::of(0, 4, 8), 0.25)};
  for (InstanceType& type : types) type.spot = Price::from_usd_h(type.on_demand.usd_h() / 3);
  return Catalog(std::move(types));
}

std::string text_of(const Plan& plan) {
  std::string text;
  const auto say = [&](auto... parts) { ((text += std::to_string(parts) + " "), ...); };
  for (const Launch& part : plan.launches) {
    say(part.type.value, static_cast<int>(part.market), part.group);
  }
  for (const Place& part : plan.places) {
    const auto* id = std::get_if<InstanceId>(&part.to);
    say(part.task.value, id != nullptr ? id->value : std::get<LaunchIndex>(part.to).value,
        part.group);
  }
  for (const Release& part : plan.releases) say(part.instance.value, part.group);
  return text + plan.note.choice;
}

/// A random cluster under a policy: what happens is told to it, what it plans is done.
struct History {
  History(const char* the_spec, bool fixed, std::uint64_t seed)
      : spec(the_spec), fixed_fleet(fixed), cluster(catalog, seed), policy(fresh()) {}

  std::unique_ptr<Policy> fresh() const {
    return make_policy(parse_policy(spec).value(), catalog).value();
  }
  ClusterView view() const {
    return {cluster.state, catalog, now, fixed_fleet ? nullptr : &cluster.state.offerings()};
  }
  void tell(const Event& event) {
    now = event.at;
    policy->observe(event, view());
  }
  void happen(EventBody body) {
    const Event event{now, std::move(body)};
    cluster.ledger.observe(event, cluster.state);
    cluster.state.apply(event);
    tell(event);
  }
  /// A job of several tasks comes of which one or two may share an instance.
  void accept_distinct(std::uint64_t number) {
    constexpr std::uint64_t kFirst = 500'000;
    Job job = test::JobBuilder(kFirst + number)
                  .tasks(draw<std::size_t>(2, 5))
                  .demand(Resources::of(0, draw(1, 40) / 10.0, 1))
                  .gang(draw(0, 2) == 0)
                  .build();
    job.most_an_instance = draw(1U, 3U);
    job.markets = static_cast<MarketChoice>(draw(0, 3));
    job.runtime_hint = from_seconds(draw(1, 5000));
    happen(JobAccepted{std::move(job)});
  }
  void steps(int count) {
    for (; count > 0; --count) {
      const Event event = cluster.step();
      // Rounds are held here.
      if (!std::holds_alternative<RoundDecided>(event.body)) tell(event);
    }
  }
  Plan decide(Policy& who) const {
    Rng rng(1);
    Budget budget;
    return who.decide(view(), rng, budget);
  }
  /// A round of which the policy is told; only places on instances that are there are done.
  void hold_round() {
    const Plan plan = decide(*policy);
    RC_ASSERT(text_of(plan) == text_of(decide(*policy)));
    check(plan);
    happen(RoundDecided{rounds++, plan.note});
    for (const Place& place : plan.places) {
      const auto* id = std::get_if<InstanceId>(&place.to);
      if (id != nullptr && place.group == 0) happen(TaskAssigned{place.task, *id, place.cause});
    }
  }
  /// Nobody is placed twice or beside more peers than may be together, nothing over capacity
  /// or where a job may not be, nothing is given back that somebody goes to, and who leaves for
  /// good leaves nobody behind.
  void check(const Plan& plan) const {
    const ClusterState& state = cluster.state;
    std::set<TaskId> placed;
    std::map<std::tuple<Slot, bool, std::uint64_t>, std::uint32_t> coming;
    std::map<InstanceId, Resources> come;
    std::vector<Resources> launched(plan.launches.size());
    const auto take = [&](const TaskRow& row, TypeId type, Market market, Resources& sum) {
      const FamilyDemand* demand = state.demand(row, type);
      RC_ASSERT(demand != nullptr);
      RC_ASSERT(wants(state.job(row.job).job.markets, market));
      sum += demand->amount;
    };
    for (const Place& place : plan.places) {
      RC_ASSERT(placed.insert(place.task).second);
      const TaskRow& row = *state.find(place.task);
      // On a fleet the master's check refuses who finds no instance with few enough peers; so it
      // does where a task that runs is to move to one.
      const std::uint32_t most = state.job(row.job).job.most_an_instance;
      if (most > 0 && !fixed_fleet && row.phase == TaskPhase::pending) {
        const auto* at = std::get_if<InstanceId>(&place.to);
        const std::uint64_t number =
            at != nullptr ? at->value : std::get<LaunchIndex>(place.to).value;
        const std::uint32_t come = ++coming[{row.job, at != nullptr, number}];
        const std::uint32_t there = at != nullptr ? peers_on(state, row, *state.find(*at)) : 0;
        RC_ASSERT(come + there <= most);
      }
      if (const auto* id = std::get_if<InstanceId>(&place.to)) {
        const InstanceRow* to = state.find(*id);
        RC_ASSERT(to != nullptr && !to->released);
        take(row, to->type, to->market, come[*id]);
      } else {
        const std::uint32_t index = std::get<LaunchIndex>(place.to).value;
        take(row, plan.launches.at(index).type, plan.launches[index].market, launched[index]);
      }
    }
    for (const auto& [id, sum] : come) {
      const InstanceRow& row = *state.find(id);
      RC_ASSERT((row.committed + sum).fits_in(catalog[row.type].capacity));
    }
    for (std::size_t i = 0; i < launched.size(); ++i) {
      RC_ASSERT(launched[i] != Resources{});
      RC_ASSERT(launched[i].fits_in(catalog[plan.launches[i].type].capacity));
    }
    for (const Release& release : plan.releases) {
      RC_ASSERT(!come.contains(release.instance));
      for (Slot slot : state.find(release.instance)->planned) {
        RC_ASSERT(release.group != 0 && placed.contains(state.task(slot).id));
      }
    }
    RC_ASSERT(!fixed_fleet || (plan.launches.empty() && plan.releases.empty()));
  }

  Catalog catalog = two_families();
  std::string spec;
  bool fixed_fleet;
  test::RandomCluster cluster;
  std::unique_ptr<Policy> policy;
  Instant now{};
  std::uint64_t rounds = 1'000'000;
};

RC_GTEST_PROP(CloudPolicies, make_plans_that_can_be_carried_out_and_go_on_from_their_words, ()) {
  const char* spec = kPolicies[draw<std::size_t>(0, std::size(kPolicies))];
  RC_TAG(spec);
  History history(spec, draw(0, 4) == 0, draw(0U, 1'000'000U));
  for (int i = draw(1, 30); i > 0; --i) {
    history.steps(draw(1, 40));
    if (draw(0, 3) == 0) history.accept_distinct(static_cast<std::uint64_t>(i));
    const std::string words = history.policy->save_state(history.cluster.state);
    auto twin = history.fresh();
    RC_ASSERT(twin->load_state(words, history.view()));
    RC_ASSERT(twin->save_state(history.cluster.state) == words);
    RC_ASSERT(text_of(history.decide(*twin)) == text_of(history.decide(*history.policy)));
    if (draw(0, 2) == 0) history.policy = std::move(twin);
    history.hold_round();
  }
}

}  // namespace
}  // namespace muster
