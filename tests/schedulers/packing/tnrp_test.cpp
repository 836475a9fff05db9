#include "schedulers/packing/tnrp.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "tests/schedulers/catalogs.hpp"
#include "tests/schedulers/draw.hpp"

namespace muster {
namespace {

constexpr TypeId kIt1{0};

/// Table 3 of the paper; task i has class i and shape i.
struct RatedTable3 {
  Catalog catalog = testing::table_3();
  ReservationPrices prices{catalog};
  ColocationTable rates;
  WorthModel model{.prices = prices, .rates = &rates};

  RatedTable3() {
    for (const Demands& demands : testing::tasks_of_table_3()) prices.add({demands});
  }
  TaskKind task(std::uint32_t number) const { return {ClassId{number - 1}, ShapeId{number - 1}}; }
  void slows(std::uint32_t task, std::uint32_t neighbour, double rate) {
    rates.record(ClassId{task - 1}, std::vector{ClassId{neighbour - 1}}, rate);
  }
  double worth(const std::vector<TaskKind>& tasks) {
    InstanceWorth set;
    set.clear(model);
    for (const TaskKind& kind : tasks) {
      const double expected = set.with(entrant_of(model, kind, kIt1));
      set.add(entrant_of(model, kind, kIt1));
      EXPECT_EQ(set.usd_h(), expected) << "with() announces what add() brings";
    }
    return set.usd_h();
  }
};

TEST(Tnrp, makes_the_mild_pair_of_the_paper_worth_its_instance) {
  RatedTable3 paper;
  paper.slows(1, 2, 0.8);
  paper.slows(2, 1, 0.9);
  EXPECT_NEAR(paper.worth({paper.task(1), paper.task(2)}), 12.3, 1e-9);
}

TEST(Tnrp, makes_the_severe_pair_of_the_paper_not_worth_it) {
  RatedTable3 paper;
  paper.slows(1, 2, 0.7);
  paper.slows(2, 1, 0.8);
  EXPECT_NEAR(paper.worth({paper.task(1), paper.task(2)}), 10.8, 1e-9);
}

TEST(Tnrp, is_the_reservation_price_of_a_task_alone) {
  RatedTable3 paper;
  EXPECT_EQ(paper.worth({paper.task(2)}), 3);
  paper.rates.record(ClassId{1}, {}, 0.5);
  EXPECT_EQ(paper.worth({paper.task(2)}), 3) << "alone is full speed by definition";
  paper.model.alone_is_learned = true;
  EXPECT_EQ(paper.worth({paper.task(2)}), 1.5);
}

TEST(Tnrp, without_a_table_knows_no_interference) {
  RatedTable3 paper;
  paper.slows(1, 2, 0.1);
  paper.model.rates = nullptr;
  EXPECT_DOUBLE_EQ(paper.worth({paper.task(1), paper.task(2), paper.task(4)}), 15.4);
}

TEST(Tnrp, charges_a_task_of_a_job_for_what_all_of_the_job_loses) {
  // The job of section 4.4: four equal tasks of $3; the fourth shares its instance and slows to
  // 0.9.
  RatedTable3 paper;
  TaskKind fourth = paper.task(2);
  fourth.gang = 4;
  fourth.gang_worth_usd_h = 12;
  paper.slows(2, 4, 0.9);
  paper.slows(4, 2, 1.0);
  EXPECT_NEAR(paper.worth({fourth, paper.task(4)}), 3 - 0.1 * 12 + 0.4, 1e-12);
  EXPECT_NEAR(paper.worth({paper.task(2), paper.task(4)}), 3 * 0.9 + 0.4, 1e-12)
      << "a task of its own loses only its own share";
}

TEST(Tnrp, may_be_negative_for_a_job_unless_clipped) {
  RatedTable3 paper;
  TaskKind gang = paper.task(2);
  gang.gang = 4;
  gang.gang_worth_usd_h = 12;
  paper.slows(2, 4, 0.5);
  paper.slows(4, 2, 1.0);
  EXPECT_NEAR(paper.worth({gang, paper.task(4)}), 3 - 0.5 * 12 + 0.4, 1e-12);
  paper.model.form = GangForm::clipped;
  EXPECT_NEAR(paper.worth({gang, paper.task(4)}), 0 + 0.4, 1e-12);
  paper.model.form = GangForm::plain;
  EXPECT_NEAR(paper.worth({gang, paper.task(4)}), 1.5 + 0.4, 1e-12);
}

TEST(Tnrp, prefers_what_was_recorded_of_the_whole_set) {
  RatedTable3 paper;
  paper.rates.record(ClassId{0}, std::vector{ClassId{1}, ClassId{3}}, 0.5);
  const double others = 3 * 0.95 * 0.95 + 0.4 * 0.95 * 0.95;
  EXPECT_NEAR(paper.worth({paper.task(1), paper.task(2), paper.task(4)}), 6 + others, 1e-12);
}

RC_GTEST_PROP(Tnrp, is_the_sum_of_looked_up_rates_and_within_its_bound, ()) {
  RatedTable3 paper;
  const auto some_class = [] { return ClassId{testing::draw(0u, 4u)}; };
  for (int i = testing::draw(0, 30); i > 0; --i) {
    std::vector<ClassId> neighbours(testing::draw<std::size_t>(1, 4));
    for (ClassId& one : neighbours) one = some_class();
    std::sort(neighbours.begin(), neighbours.end());
    paper.rates.record(some_class(), neighbours, testing::draw(1, 101) / 100.0);
  }
  InstanceWorth set;
  set.clear(paper.model);
  std::vector<TaskKind> tasks;
  for (int i = testing::draw(1, 7); i > 0; --i) {
    TaskKind kind{some_class(), ShapeId{testing::draw(0u, 4u)}};
    const Entrant entrant = entrant_of(paper.model, kind, kIt1);
    RC_ASSERT(set.with(entrant) <= set.bound_with(entrant));
    set.add(entrant);
    tasks.push_back(kind);
    double expected = 0;
    for (std::size_t me = 0; me < tasks.size(); ++me) {
      std::vector<ClassId> neighbours;
      for (std::size_t other = 0; other < tasks.size(); ++other) {
        if (other != me) neighbours.push_back(tasks[other].cls);
      }
      std::sort(neighbours.begin(), neighbours.end());
      const double worth = paper.prices.of(tasks[me].shape).usd_h;
      const double rate = neighbours.empty() ? 1 : paper.rates.rate(tasks[me].cls, neighbours);
      expected += worth * rate;
    }
    RC_ASSERT(std::abs(set.usd_h() - expected) < 1e-9);
  }
}

}  // namespace
}  // namespace muster
