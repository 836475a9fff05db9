#include "schedulers/muster/cap_price.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "schedulers/muster/memory.hpp"
#include "tests/schedulers/cluster.hpp"

namespace muster::testing {
namespace {

using own::CapPrice;
using test::JobBuilder;

constexpr CapPrice::Round kTenThatCostADollar{.instances = 10, .usd_h = 10};

class CapPrices : public ::testing::Test {
 protected:
  double after(CapPrice::Round round, std::optional<std::uint64_t> left) {
    view.left.instances = left;
    return price.after(round, view);
  }
  static CapPrice::Round with_waiting(CapPrice::Round round) {
    round.any_waits = true;
    return round;
  }
  void note(const char* choice, double usd_h) {
    RoundDecided round;
    round.note.choice = choice;
    if (usd_h > 0) round.note.figures.emplace_back(own::kPlacePrice, usd_h);
    price.observe({test::at_s(0), round});
  }

  Cluster cluster{table_3(), "muster"};
  ClusterView view = cluster.view();
  CapPrice price;
};

TEST_F(CapPrices, are_nothing_without_a_cap) {
  price.restore(3);
  EXPECT_EQ(after(with_waiting(kTenThatCostADollar), std::nullopt), 0);
}

TEST_F(CapPrices, rise_while_tasks_wait_and_no_place_is_left) {
  const CapPrice::Round full = with_waiting(kTenThatCostADollar);
  EXPECT_DOUBLE_EQ(after(full, 0), 0.1) << "a tenth of the mean instance";
  price.restore(0.1);
  EXPECT_DOUBLE_EQ(after(full, 0), 0.2);
  price.restore(1.5);
  EXPECT_DOUBLE_EQ(after(full, 0), 2) << "no more than two of them";
  EXPECT_EQ(after(full, 1), 1.5) << "one may be had";
}

TEST_F(CapPrices, rise_when_more_is_to_be_rented_than_there_are_places) {
  CapPrice::Round round = kTenThatCostADollar;
  round.launches = 3;
  EXPECT_DOUBLE_EQ(after(round, 2), 0.1);
  EXPECT_EQ(after(round, 3), 0);
}

TEST_F(CapPrices, fall_slowly_when_a_fifth_of_the_places_is_left) {
  price.restore(1.2);
  EXPECT_DOUBLE_EQ(after(kTenThatCostADollar, 2), 1.2);
  EXPECT_DOUBLE_EQ(after(kTenThatCostADollar, 3), 1.0);
  price.restore(0.055);
  EXPECT_EQ(after(kTenThatCostADollar, 3), 0);
}

TEST_F(CapPrices, are_those_that_the_last_repartition_has_noted) {
  note(own::kRepartition, 0.5);
  EXPECT_EQ(price.usd_h(), 0.5);
  note(own::kAtOnce, 0);
  note("timed tasks", 0);
  EXPECT_EQ(price.usd_h(), 0.5) << "these say nothing of it";
  note(own::kRepartition, 0);
  EXPECT_EQ(price.usd_h(), 0);
}

TEST(UnderACapOnInstances, few_large_ones_are_rented_while_places_are_dear) {
  const auto rented = [](std::optional<std::uint64_t> cap) {
    Cluster cluster(table_3(), "muster");
    cluster.cap(cap);
    RoundDecided round;
    round.note = {.choice = own::kRepartition, .figures = {{own::kPlacePrice, 4.0}}};
    cluster.tell_policy(round);
    for (std::uint64_t id = 1; id <= 4; ++id) {
      cluster.submit(JobBuilder(id).demand(Resources::of(0, 4, 12)).build());
    }
    cluster.round();
    return cluster.layout();
  };
  EXPECT_EQ(rented(8), "it3(1 2) it3(3 4)");
  EXPECT_EQ(rented({}), "it4(1) it4(2) it4(3) it4(4)") << "the cap is gone, and the price with it";
}

}  // namespace
}  // namespace muster::testing
