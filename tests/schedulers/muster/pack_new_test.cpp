#include "schedulers/muster/pack_new.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "tests/schedulers/muster/repartition_bench.hpp"

namespace muster::own {
namespace {

RC_GTEST_PROP(PackNewProperty, every_piece_has_a_place_or_may_wait_and_all_add_up, ()) {
  Bench bench;
  for (std::uint32_t cls = 0; cls < 3; ++cls) {
    const std::vector<ClassId> beside{ClassId{0}};
    bench.rates().learn(ClassId{cls}, beside, *rc::gen::inRange(30, 101) / 100.0, 50);
  }
  std::vector<Piece> pieces;
  for (int i = *rc::gen::inRange(0, 30); i > 0; --i) {
    pieces.push_back(bench.piece(static_cast<std::size_t>(*rc::gen::inRange(0, 4)),
                                 static_cast<std::uint32_t>(*rc::gen::inRange(0, 3)),
                                 *rc::gen::inRange(1, 5)));
    pieces.back().leave_h = *rc::gen::inRange(0, 3) / 10.0;
    pieces.back().markets =
        *rc::gen::element(MarketChoice::any, MarketChoice::on_demand, MarketChoice::spot);
    pieces.back().at_risk_h = *rc::gen::inRange(0, 3);
    pieces.back().may_wait = *rc::gen::arbitrary<bool>();
  }
  const Partition found = pack_new(bench.model(), pieces).partition;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const bool waits = pieces[i].may_wait && found.host_of[i] == Partition::kWaits;
    RC_ASSERT(waits || found.host_of[i] < found.new_hosts.size());
  }
  const auto value = value_of(bench.model(), {}, pieces, {}, found);
  RC_ASSERT(value.has_value());
  RC_ASSERT(std::abs(*value - found.value_usd_h) < 1e-9 * std::max(1.0, std::abs(*value)));
}

TEST(PackNew, fills_a_large_instance_that_pays_only_when_it_is_full) {
  Bench bench;
  bench.rates().learn(ClassId{0}, std::vector{ClassId{0}}, 1, 100);
  // The first one needs an instance of $12 for itself, the others of $3 each.
  const std::vector<Piece> pieces{bench.piece(0, 0, 10), bench.piece(1, 0, 3),
                                  bench.piece(1, 0, 3)};
  const Packing found = pack_new(bench.model(), pieces);
  EXPECT_EQ(found.partition.new_hosts.size(), 1u);
  EXPECT_GT(found.looks, pieces.size());
}

TEST(PackNew, leaves_room_that_costs_more_by_slowing_others_than_it_saves) {
  Bench bench;
  bench.rates().learn(ClassId{0}, std::vector{ClassId{0}}, 0.5, 100);
  const std::vector<Piece> pieces(4, bench.piece(3, 0, 0.5));
  EXPECT_EQ(pack_new(bench.model(), pieces).partition.new_hosts.size(), 4u);
}

/// Pieces of which four fill a small instance and sixteen a large one, at one price a core.
class TwoSizes : public ::testing::Test {
 protected:
  static InstanceType sized(const char* name, double cpu, double usd_h, int setup_s) {
    InstanceType type = testing::type_of(name, "cpu", Resources::of(0, cpu, 2 * cpu), usd_h);
    type.setup = std::chrono::seconds{setup_s};
    return type;
  }
  Partition pack(std::size_t pieces, bool may_wait) {
    Piece piece;
    piece.shape = prices_.add({Demands(Resources::of(0, 0.5, 1))});
    piece.value_usd_h = 0.034;
    piece.markets = MarketChoice::on_demand;
    piece.may_wait = may_wait;
    const std::vector<Host> offers = all_offers(prices_.types(), 0);
    return pack_new({prices_, rates_, 2, offers}, std::vector(pieces, piece)).partition;
  }

 private:
  Catalog catalog_{{sized("two", 2, 0.1, 163), sized("eight", 8, 0.4, 143)}};
  ReservationPrices prices_{catalog_, MarketChoice::on_demand};
  PairRates rates_{1};
};

TEST_F(TwoSizes, pieces_that_may_wait_do_where_they_fill_no_instance) {
  EXPECT_TRUE(pack(2, true).new_hosts.empty());
  EXPECT_EQ(pack(2, false).new_hosts.size(), 1u);
  const Partition found = pack(6, true);
  EXPECT_EQ(found.new_hosts.size(), 1u) << "two of them are left";
  EXPECT_GT(found.value_usd_h, 0);
}

TEST_F(TwoSizes, smaller_instances_are_taken_where_a_large_one_saves_hardly_more) {
  EXPECT_EQ(pack(16, false).new_hosts.size(), 4u);
}

TEST(PackNew, what_no_offer_holds_waits) {
  Bench bench;
  Piece spot = bench.piece(3, 0, 1);
  spot.markets = MarketChoice::spot;
  ValueModel on_demand = bench.model();
  std::vector<Host> offers;
  for (const Host& host : bench.model().offers) {
    if (host.market == Market::on_demand) offers.push_back(host);
  }
  on_demand.offers = offers;
  const std::vector<Piece> pieces{spot, bench.piece(3, 0, 1)};
  const Partition found = pack_new(on_demand, pieces).partition;
  EXPECT_EQ(found.host_of[0], Partition::kWaits);
  EXPECT_LT(found.host_of[1], found.new_hosts.size());
  EXPECT_DOUBLE_EQ(found.value_usd_h, value_of(on_demand, {}, pieces, {}, found).value());
}

}  // namespace
}  // namespace muster::own
