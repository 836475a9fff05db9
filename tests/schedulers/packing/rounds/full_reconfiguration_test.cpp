#include "schedulers/packing/rounds/full_reconfiguration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/schedulers/catalogs.hpp"
#include "tests/schedulers/draw.hpp"

namespace muster {
namespace {

using ::testing::ElementsAre;

std::vector<std::uint32_t> members(const Configuration& configuration, std::size_t bin) {
  const auto span = configuration.tasks_of(configuration.bins[bin]);
  return {span.begin(), span.end()};
}

/// One kind a task, in the order of Table 3.
struct Table3 {
  Catalog catalog = testing::table_3();
  ReservationPrices prices{catalog};
  ColocationTable rates;
  WorthModel model{.prices = prices};
  std::vector<TaskKind> kinds;
  std::vector<std::uint32_t> kind_of{0, 1, 2, 3};

  Table3() {
    std::uint32_t number = 0;
    for (const Demands& demands : testing::tasks_of_table_3()) {
      kinds.push_back({ClassId{number++}, prices.add({demands})});
    }
  }
  Configuration run() const {
    FullReconfiguration packing;
    Configuration result;
    packing.run({kinds, kind_of}, model, result);
    return result;
  }
};

TEST(FullReconfiguration, reproduces_the_example_of_the_paper) {
  const Table3 paper;
  const Configuration result = paper.run();
  ASSERT_EQ(result.bins.size(), 2u);
  EXPECT_EQ(result.bins[0].type, TypeId{0});
  EXPECT_THAT(members(result, 0), ElementsAre(0, 1, 3)) << "tasks 1, 2 and 4 on it1";
  EXPECT_NEAR(result.bins[0].worth_usd_h, 15.4, 1e-9);
  EXPECT_EQ(result.bins[1].type, TypeId{2});
  EXPECT_THAT(members(result, 1), ElementsAre(2)) << "task 3 on it3";
  EXPECT_NEAR(cost_usd_h(result, paper.prices.types()), 12.8, 1e-9);
  double singles = 0;
  for (const TaskKind& kind : paper.kinds) singles += paper.prices.of(kind.shape).usd_h;
  EXPECT_NEAR(singles, 16.2, 1e-9);
}

TEST(FullReconfiguration, stops_filling_where_one_task_more_would_be_worth_less) {
  Table3 paper;
  paper.model.rates = &paper.rates;
  paper.rates.record(ClassId{0}, std::vector{ClassId{1}}, 0.7);
  paper.rates.record(ClassId{1}, std::vector{ClassId{0}}, 0.8);
  paper.kind_of = {0, 1};
  const Configuration result = paper.run();
  ASSERT_EQ(result.bins.size(), 2u) << "$10.8 together, $12 and $3 apart";
  EXPECT_THAT(members(result, 0), ElementsAre(0));
  EXPECT_THAT(members(result, 1), ElementsAre(1));
}

TEST(FullReconfiguration, packs_the_mild_pair_of_the_paper) {
  Table3 paper;
  paper.model.rates = &paper.rates;
  paper.rates.record(ClassId{0}, std::vector{ClassId{1}}, 0.8);
  paper.rates.record(ClassId{1}, std::vector{ClassId{0}}, 0.9);
  paper.kind_of = {0, 1};
  const Configuration result = paper.run();
  ASSERT_EQ(result.bins.size(), 1u);
  EXPECT_NEAR(result.bins[0].worth_usd_h, 12.3, 1e-9);
}

TEST(FullReconfiguration, sets_a_job_of_many_tasks_apart_where_single_tasks_would_be_packed) {
  // At 0.98 a task of $3 beside the $12 one is worth packing, unless four tasks pay for it.
  Table3 paper;
  paper.model.rates = &paper.rates;
  paper.rates.record(ClassId{1}, std::vector{ClassId{0}}, 0.7);
  paper.rates.record(ClassId{0}, std::vector{ClassId{1}}, 1.0);
  paper.kind_of = {0, 1};
  EXPECT_EQ(paper.run().bins.size(), 1u);
  paper.kinds[1].gang = 4;
  paper.kinds[1].gang_worth_usd_h = 12;
  EXPECT_EQ(paper.run().bins.size(), 2u) << "3 - 0.3 x 12 < 0";
}

TEST(FullReconfiguration, fills_no_more_instances_of_a_type_than_there_may_be) {
  Table3 paper;
  paper.kind_of = {3, 3, 3};
  std::vector<std::uint32_t> most(4, 10);
  const PackingTasks tasks{paper.kinds, paper.kind_of, {}, most};
  FullReconfiguration packing;
  Configuration result;
  packing.run(tasks, paper.model, result);
  ASSERT_FALSE(result.bins.empty());
  const TypeId best = result.bins.front().type;
  const auto count = [&] {
    return std::ranges::count_if(result.bins, [&](const auto& bin) { return bin.type == best; });
  };
  const auto unbound = count();
  most[best.value] = 0;
  packing.run(tasks, paper.model, result);
  EXPECT_GT(unbound, 0);
  EXPECT_EQ(result.tasks.size(), 3U) << "all have a place";
}

TEST(FullReconfiguration, lists_what_no_type_holds) {
  Table3 paper;
  paper.kinds.push_back({ClassId{9}, paper.prices.add({Demands(Resources::of(9, 1, 1))})});
  paper.kind_of = {4, 3, 4};
  const Configuration result = paper.run();
  EXPECT_THAT(result.unplaced, ElementsAre(0, 2));
  ASSERT_EQ(result.bins.size(), 1u);
  EXPECT_THAT(members(result, 0), ElementsAre(1));
}

TEST(FullReconfiguration, places_nothing_when_there_is_nothing) {
  Table3 paper;
  paper.kind_of.clear();
  const Configuration result = paper.run();
  EXPECT_TRUE(result.bins.empty() && result.tasks.empty() && result.unplaced.empty());
}

/// Looks of a run at whether something fits, a task, where each has demands of its own.
double looks_a_task(std::uint32_t tasks) {
  Table3 world;
  ColocationTable rates{0.95};
  world.model.rates = &rates;
  world.kinds.clear();
  world.kind_of.clear();
  // Two sequences that fill the square evenly and are not in step.
  const auto share = [](std::uint32_t i, double step) { return i * step - std::floor(i * step); };
  for (std::uint32_t i = 0; i < tasks; ++i) {
    const double cpu = 0.5 + 3.5 * share(i, 0.7548776662466927);
    const double gib = 1 + 23 * share(i, 0.5698402909980532);
    world.kinds.push_back(
        {ClassId{i % 9}, world.prices.add({Demands(Resources::of(0, cpu, gib))})});
    world.kind_of.push_back(i);
  }
  FullReconfiguration packing;
  Configuration result;
  packing.run({world.kinds, world.kind_of}, world.model, result);
  EXPECT_EQ(result.tasks.size(), tasks);
  return static_cast<double>(packing.looks()) / tasks;
}

TEST(FullReconfiguration, looks_little_more_for_each_of_many_tasks_of_distinct_demands) {
  // At n^1.3 a task of eight times as many costs 1.87 times as much.
  EXPECT_LE(looks_a_task(16'000), 1.87 * looks_a_task(2'000));
  EXPECT_LE(looks_a_task(16'000), 400);
}

// --- properties on random worlds ---

/// Small numbers on purpose, so that ties and full instances are frequent.
struct World {
  Catalog catalog;
  ReservationPrices prices{catalog};
  ColocationTable rates{0.9};
  WorthModel model{.prices = prices, .rates = &rates};
  std::vector<TaskKind> kinds;
  std::vector<std::uint32_t> kind_of;
  std::vector<Apart> apart_of;  ///< empty: of none are kept apart
  std::vector<std::uint32_t> most_bins;

  explicit World(int most_tasks) : catalog(random_types()) {
    add_shapes();
    add_rates();
    add_kinds();
    kind_of.resize(testing::draw(0, most_tasks + 1));
    for (std::uint32_t& kind : kind_of) {
      kind = testing::draw<std::uint32_t>(0, static_cast<std::uint32_t>(kinds.size()));
    }
    if (testing::draw(0, 2) == 0) {
      for (std::size_t i = 0; i < kind_of.size(); ++i) {
        const Slot job = testing::draw<Slot>(0, 4);
        apart_of.push_back(testing::draw(0, 2) == 0 ? Apart{job, 1 + job % 3} : Apart{});
      }
    }
    if (testing::draw(0, 5) == 0) model.rates = nullptr;
    if (testing::draw(0, 5) == 0) model.form = GangForm::clipped;
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  void draw_bounds() {
    for (std::size_t i = 0; i < catalog.size(); ++i) {
      most_bins.push_back(testing::draw<std::uint32_t>(0, 4));
    }
  }
  PackingTasks tasks() const { return {kinds, kind_of, apart_of, most_bins}; }

 private:
  static std::vector<InstanceType> random_types() {
    std::vector<InstanceType> types;
    for (int i = testing::draw(1, 6); i > 0; --i) {
      const int gpus = testing::draw(0, 3);
      const int cpus = testing::draw(1, 9);
      const int price = testing::draw(1, 13);
      types.push_back(testing::type_of("t" + std::to_string(i), i % 2 == 0 ? "even" : "odd",
                                       Resources::of(gpus, cpus, 16), price / 4.0));
    }
    return types;
  }
  void add_shapes() {
    for (int i = testing::draw(1, 6); i > 0; --i) {
      const Resources amount =
          Resources::of(testing::draw(0, 2), testing::draw(0, 5), testing::draw(0, 9));
      if (testing::draw(0, 3) > 0) {
        prices.add({Demands(amount)});
      } else {
        const double speed = testing::draw(1, 4) / 2.0;
        prices.add({Demands({{"even", amount, speed}, {"odd", amount, 1}})});
      }
      ++shapes_;
    }
  }
  void add_rates() {
    for (int i = testing::draw(0, 25); i > 0; --i) {
      std::vector<ClassId> neighbours(testing::draw<std::size_t>(0, 4));
      for (ClassId& one : neighbours) one = ClassId{testing::draw(0u, 4u)};
      std::sort(neighbours.begin(), neighbours.end());
      rates.record(ClassId{testing::draw(0u, 4u)}, neighbours, testing::draw(4, 11) / 10.0);
    }
  }
  void add_kinds() {
    for (int i = testing::draw(1, 9); i > 0; --i) {
      TaskKind kind{ClassId{testing::draw(0u, 4u)}, ShapeId{testing::draw(0u, shapes_)}};
      kind.gang = testing::draw(0, 3) == 0 ? testing::draw(2u, 5u) : 1;
      if (kind.gang > 1) kind.gang_worth_usd_h = kind.gang * prices.of(kind.shape).usd_h;
      if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
    }
  }
  std::uint32_t shapes_ = 0;
};

RC_GTEST_PROP(FullReconfiguration, is_the_same_grouped_as_task_by_task, ()) {
  World world(40);
  if (testing::draw(0, 3) == 0) world.draw_bounds();
  FullReconfiguration packing;
  Configuration grouped;
  packing.run(world.tasks(), world.model, grouped);
  packing.run(world.tasks(), world.model, grouped);  // memory of an earlier run leaves no trace
  const Configuration plain = full_reconfiguration_plain(world.tasks(), world.model);
  RC_ASSERT(grouped.bins.size() == plain.bins.size());
  for (std::size_t i = 0; i < plain.bins.size(); ++i) {
    RC_ASSERT(grouped.bins[i].type == plain.bins[i].type);
    RC_ASSERT(grouped.bins[i].worth_usd_h == plain.bins[i].worth_usd_h);
    RC_ASSERT(members(grouped, i) == members(plain, i));
  }
  RC_ASSERT(grouped.unplaced == plain.unplaced);
}

/// More candidates than are looked at one by one.
void expect_same_for_many(bool some_apart) {
  Table3 world;
  ColocationTable rates{0.95};
  world.model.rates = &rates;
  for (std::uint32_t i = 0; i < 700; ++i) {
    const double cpu = 0.5 + i % 37 * 0.1, gib = 1 + i % 41 * 0.5;
    world.kinds.push_back(
        {ClassId{i % 3}, world.prices.add({Demands(Resources::of(0, cpu, gib))})});
    world.kind_of.push_back(static_cast<std::uint32_t>(world.kinds.size() - 1));
  }
  std::vector<Apart> apart_of(world.kind_of.size());
  for (std::uint32_t i = 0; some_apart && i < apart_of.size(); i += 1 + i % 3) {
    apart_of[i] = {i % 29, 1 + i % 29 % 3};
  }
  const PackingTasks tasks{world.kinds, world.kind_of, apart_of};
  FullReconfiguration packing;
  Configuration fast;
  packing.run(tasks, world.model, fast);
  const Configuration plain = full_reconfiguration_plain(tasks, world.model);
  EXPECT_EQ(fast.tasks, plain.tasks);
  EXPECT_EQ(fast.bins.size(), plain.bins.size());
}

TEST(FullReconfiguration, is_the_same_for_many_distinct_demands_as_task_by_task) {
  for (const bool some_apart : {false, true}) {
    SCOPED_TRACE(some_apart);
    expect_same_for_many(some_apart);
  }
}

RC_GTEST_PROP(FullReconfiguration, gives_an_instance_no_more_tasks_of_a_job_than_may_be_together,
              ()) {
  const World world(200);
  FullReconfiguration packing;
  Configuration result;
  packing.run(world.tasks(), world.model, result);
  for (const auto& bin : result.bins) {
    std::map<Apart, std::uint32_t> together;
    for (std::uint32_t task : result.tasks_of(bin)) {
      const Apart apart = world.tasks().apart(task);
      if (apart) RC_ASSERT(++together[apart] <= apart.most);
    }
  }
}

RC_GTEST_PROP(FullReconfiguration, puts_every_task_in_exactly_one_place, ()) {
  const World world(200);
  FullReconfiguration packing;
  Configuration result;
  packing.run(world.tasks(), world.model, result);
  std::vector<int> times(world.kind_of.size(), 0);
  for (const auto& bin : result.bins) {
    for (std::uint32_t task : result.tasks_of(bin)) ++times[task];
  }
  for (std::uint32_t task : result.unplaced) {
    ++times[task];
    RC_ASSERT(!world.prices.of(world.kinds[world.kind_of[task]].shape).fits());
  }
  for (int count : times) RC_ASSERT(count == 1);
}

RC_GTEST_PROP(FullReconfiguration, never_overfills_and_never_pays_more_than_a_set_is_worth, ()) {
  const World world(200);
  FullReconfiguration packing;
  Configuration result;
  packing.run(world.tasks(), world.model, result);
  double singles = 0;
  for (const auto& bin : result.bins) {
    Resources used;
    for (std::uint32_t task : result.tasks_of(bin)) {
      const ShapeId shape = world.kinds[world.kind_of[task]].shape;
      RC_ASSERT(world.prices.on(shape, bin.type).fits);
      used += world.prices.on(shape, bin.type).amount;
      singles += world.prices.of(shape).usd_h;
    }
    const InstanceType& type = world.catalog[bin.type];
    RC_ASSERT(used.fits_in(type.capacity));
    RC_ASSERT(bin.worth_usd_h >= type.on_demand.usd_h() - 1e-9);
  }
  // With families of equal speed what is worth its price costs no more than everybody alone.
  bool one_speed = true;
  for (const TaskKind& kind : world.kinds) {
    for (std::uint32_t t = 0; t < world.catalog.size(); ++t) {
      const ShapeOnType& on = world.prices.on(kind.shape, TypeId{t});
      one_speed &= !on.fits || on.worth_usd_h == world.prices.of(kind.shape).usd_h;
    }
  }
  if (one_speed) RC_ASSERT(cost_usd_h(result, world.prices.types()) <= singles + 1e-6);
}

}  // namespace
}  // namespace muster
