// Random catalogs with labels and random constraints under every policy of the table.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "model/rng.hpp"
#include "tests/replay/every_policy.hpp"
#include "tests/replay/replay_setup.hpp"

namespace muster::replay {
namespace {

using test::SmallReplay;

/// A constraint, and by a rule of its own what it means.
struct Wish {
  std::string text;
  std::set<std::string> types;  ///< that meet it
};

Catalog random_catalog(Rng& rng) {
  std::vector<InstanceType> types;
  const std::size_t count = 4 + rng.below(6);
  for (std::size_t i = 0; i < count; ++i) {
    const double cpus = 4.0 * static_cast<double>(1 + rng.below(4));
    InstanceType type;
    type.family = rng.below(3) == 0 ? "m" : "c";
    type.name = type.family + "." + std::to_string(i);
    type.capacity = Resources::of(0, cpus, 4 * cpus);
    type.on_demand = Price::from_usd_h(cpus / 20 * rng.uniform(0.5, 1.5));
    if (rng.below(2) == 0) type.spot = Price::from_usd_h(type.on_demand.usd_h() / 3);
    type.setup = std::chrono::seconds{30};
    if (rng.below(2) == 0) type.labels.emplace_back("disk", "nvme");
    if (rng.below(5) > 0) {
      type.labels.emplace_back("zone", std::string(1, static_cast<char>('a' + rng.below(3))));
    }
    types.push_back(std::move(type));
  }
  return Catalog(std::move(types));
}

/// One term of a constraint: of each type whether it meets it.
struct DrawnTerm {
  std::string text;
  std::function<bool(const InstanceType&)> meets;
};

DrawnTerm draw_term(Rng& rng) {
  const bool wanted = rng.below(3) > 0;
  const std::string sign = wanted ? "=" : "!=";
  const auto has = [](const InstanceType& type, const std::string& key, const std::string& value) {
    return std::ranges::any_of(type.labels, [&](const auto& label) {
      return label.first == key && label.second == value;
    });
  };
  const std::string zone(1, static_cast<char>('a' + rng.below(3)));
  switch (rng.below(4)) {
    case 0:
      return {"zone" + sign + zone,
              [=](const InstanceType& type) { return has(type, "zone", zone) == wanted; }};
    case 1:
      return {"zone" + sign + "a|" + zone, [=](const InstanceType& type) {
                return (has(type, "zone", "a") || has(type, "zone", zone)) == wanted;
              }};
    case 2:
      return {"label.disk" + sign + "nvme",
              [=](const InstanceType& type) { return has(type, "disk", "nvme") == wanted; }};
    default:
      return {"type" + sign + "c.*",
              [=](const InstanceType& type) { return (type.name[0] == 'c') == wanted; }};
  }
}

Wish draw_wish(Rng& rng, const Catalog& catalog) {
  Wish wish;
  std::vector<DrawnTerm> terms;
  for (std::uint64_t i = rng.below(3); i > 0; --i) {
    terms.push_back(draw_term(rng));
    wish.text += (wish.text.empty() ? "" : ",") + terms.back().text;
  }
  for (const InstanceType& type : catalog.types()) {
    const bool meets =
        std::ranges::all_of(terms, [&](const auto& term) { return term.meets(type); });
    if (meets) wish.types.insert(type.name);
  }
  return wish;
}

struct Drawn {
  SmallReplay replay;
  std::vector<Wish> wishes;  ///< of each job
  std::size_t possible = 0;  ///< jobs whose wish some type meets
};

/// Each task fits on every type.
Drawn draw(std::uint64_t seed, bool gangs) {
  Rng rng(seed);
  Drawn drawn;
  drawn.replay.use(random_catalog(rng));
  double at = 0;
  for (int i = 0; i < 30; ++i) {
    at += rng.exponential(120);
    const std::size_t tasks = 1 + rng.below(4);
    drawn.replay.job(at, rng.uniform(60, 2000),
                     Resources::of(0, 0.5 * static_cast<double>(1 + rng.below(7)), 1), tasks);
    Job& job = drawn.replay.workload().jobs.back().job;
    job.gang = gangs && rng.below(3) == 0;
    job.runtime_hint = from_seconds(600);
    const Wish& wish = drawn.wishes.emplace_back(draw_wish(rng, drawn.replay.catalog()));
    job.constraint = wish.text;
    drawn.possible += !wish.types.empty();
  }
  return drawn;
}

/// Tasks that were sent to an instance of a type that their job's wish bars.
std::size_t barred(const Run& run, const Drawn& drawn) {
  std::map<InstanceId, TypeId> type_of;
  std::map<TaskId, std::size_t> job_of;
  std::size_t count = 0;
  const auto look = [&](TaskId task, InstanceId on) {
    const std::string& name = drawn.replay.catalog()[type_of.at(on)].name;
    count += !drawn.wishes[job_of.at(task)].types.contains(name);
  };
  for (const Event& event : run.events) {
    if (const auto* launch = std::get_if<LaunchRequested>(&event.body)) {
      type_of[launch->instance] = launch->type;
    } else if (const auto* accepted = std::get_if<JobAccepted>(&event.body)) {
      for (const TaskSpec& task : accepted->job.tasks) job_of[task.id] = accepted->job.id.value;
    } else if (const auto* assigned = std::get_if<TaskAssigned>(&event.body)) {
      look(assigned->task, assigned->to);
    } else if (const auto* start = std::get_if<StartIssued>(&event.body)) {
      look(start->task, start->instance);
    }
  }
  return count;
}

class ConstraintsUnder : public ::testing::TestWithParam<std::string> {};

TEST_P(ConstraintsUnder, AreKeptAndJobsEndWhoseConstraintCanBeMet) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Drawn drawn = draw(seed, seed % 2 == 0);
    const auto run = drawn.replay.run(GetParam(), seed);
    ASSERT_TRUE(run.has_value()) << "seed " << seed << ": " << run.error().message;
    EXPECT_EQ(barred(run.value(), drawn), 0U) << "seed " << seed;
    EXPECT_EQ(run->result.jobs_completed, drawn.possible) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, ConstraintsUnder, ::testing::ValuesIn(test::every_policy()),
                         [](const auto& policy) { return test::test_name(policy.param); });

}  // namespace
}  // namespace muster::replay
