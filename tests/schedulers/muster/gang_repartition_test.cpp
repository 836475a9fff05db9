#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "schedulers/muster/repartition.hpp"
#include "tests/schedulers/muster/offered.hpp"

// Repartitions with gangs, against trying every way to place every piece.

namespace muster::own {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class GangBench {
 public:
  GangBench() {
    for (const Demands& demands : testing::tasks_of_table_3()) {
      shapes_.push_back(prices_.add({demands}));
    }
  }

  /// Of the smallest of Table 3's shapes.
  Piece piece(std::uint32_t cls, double value_usd_h, std::uint32_t gang = kNoGang) const {
    return shaped(3, cls, value_usd_h, gang);
  }
  Piece shaped(std::size_t shape, std::uint32_t cls, double value_usd_h,
               std::uint32_t gang = kNoGang) const {
    Piece piece;
    piece.shape = shapes_[shape];
    piece.cls = ClassId{cls};
    piece.value_usd_h = value_usd_h;
    piece.start_h = 0.01;
    piece.gang = gang;
    piece.markets = MarketChoice::on_demand;
    piece.stake_usd_h = value_usd_h;
    return piece;
  }
  Host host(std::uint32_t type) const {
    return {TypeId{type}, prices_.types().usd_h(TypeId{type}), 0, {}};
  }
  const ValueModel& model() const { return model_; }
  PairRates& rates() { return rates_; }

  /// The value of the best of all ways: every piece on every host, on every new instance of every
  /// type, and waiting.
  double best_by_trying(const std::vector<Host>& hosts, const std::vector<Piece>& pieces,
                        const std::vector<Gang>& gangs) const {
    Partition partition;
    partition.host_of.assign(pieces.size(), Partition::kWaits);
    double best = -kInfinity;
    try_from(0, {hosts, pieces, gangs}, partition, best);
    return best;
  }

 private:
  struct Case {
    const std::vector<Host>& hosts;
    const std::vector<Piece>& pieces;
    const std::vector<Gang>& gangs;
  };

  void try_from(std::size_t at, const Case& of, Partition& partition, double& best) const {
    if (at == of.pieces.size()) {
      const auto value = value_of(model_, of.hosts, of.pieces, of.gangs, partition);
      if (value) best = std::max(best, *value);
      return;
    }
    const std::size_t present = of.hosts.size() + partition.new_hosts.size();
    for (std::size_t host = 0; host < present; ++host) {
      partition.host_of[at] = static_cast<std::uint32_t>(host);
      try_from(at + 1, of, partition, best);
    }
    partition.host_of[at] = Partition::kWaits;
    try_from(at + 1, of, partition, best);
    partition.host_of[at] = static_cast<std::uint32_t>(present);
    for (std::uint32_t offer = 0; offer < offers_.size(); ++offer) {
      partition.new_hosts.push_back(offer);
      try_from(at + 1, of, partition, best);
      partition.new_hosts.pop_back();
    }
    partition.host_of[at] = Partition::kWaits;
  }

  Catalog catalog_ = table_3_on_both_markets();
  ReservationPrices prices_{catalog_, MarketChoice::any};
  PairRates rates_{0.9};
  std::vector<Host> offers_ = all_offers(prices_.types(), 0.3);
  ValueModel model_{prices_, rates_, 2, offers_};
  std::vector<ShapeId> shapes_;
};

Gang drawn_gang() {
  Gang gang;
  gang.whole = *rc::gen::arbitrary<bool>();
  if (gang.whole) return gang;
  if (*rc::gen::arbitrary<bool>()) gang.pace_elsewhere = *rc::gen::inRange(5, 11) / 10.0;
  gang.starts = *rc::gen::inRange(0, 3) == 0;
  if (gang.starts) gang.share_elsewhere = *rc::gen::inRange(5, 11) / 10.0;
  return gang;
}

void learn_some_rates(GangBench& bench) {
  for (std::uint32_t a = 0; a < 3; ++a) {
    for (std::uint32_t b = 0; b < 3; ++b) {
      const std::vector<ClassId> beside{ClassId{b}};
      bench.rates().learn(ClassId{a}, beside, *rc::gen::inRange(30, 101) / 100.0, 50);
    }
  }
}

RC_GTEST_PROP(GangRepartitionProperty, finds_what_trying_everything_finds, ()) {
  GangBench bench;
  learn_some_rates(bench);
  std::vector<Gang> gangs{drawn_gang()};
  if (*rc::gen::arbitrary<bool>()) gangs.push_back(drawn_gang());
  std::vector<Host> hosts;
  const int count = *rc::gen::inRange(0, 3);
  for (int i = 0; i < count; ++i) {
    hosts.push_back(bench.host(static_cast<std::uint32_t>(*rc::gen::inRange(0, 4))));
    hosts.back().left_h = *rc::gen::inRange(0, 3) / 20.0;
    const bool spot = *rc::gen::inRange(0, 3) == 0;
    if (spot) put_on_spot(hosts.back(), *rc::gen::inRange(0, 10) / 10.0);
    if (*rc::gen::inRange(0, 3) > 0) continue;
    // A gang with a task that stays is not all among the pieces that may be moved.
    const auto gang = static_cast<std::uint32_t>(*rc::gen::inRange(0, 2));
    const bool of_gang = gang < gangs.size() && !gangs[gang].whole;
    hosts.back().fixed.push_back(bench.piece(1, 0.5, of_gang ? gang : kNoGang));
    if (spot) hosts.back().fixed.back().markets = MarketChoice::spot;
  }
  std::vector<double> leave_h(gangs.size());
  std::vector<char> may_wait(gangs.size());
  const auto drawn_markets = [] {
    return *rc::gen::element(MarketChoice::any, MarketChoice::on_demand, MarketChoice::spot);
  };
  std::vector<MarketChoice> markets(gangs.size());
  for (MarketChoice& choice : markets) choice = drawn_markets();
  for (std::size_t g = 0; g < gangs.size(); ++g) {
    leave_h[g] = *rc::gen::inRange(0, 10) / 100.0;
    may_wait[g] = *rc::gen::arbitrary<bool>();
  }
  std::vector<Piece> pieces;
  const int tasks = *rc::gen::inRange(1, 5);
  for (int i = 0; i < tasks; ++i) {
    const auto gang = static_cast<std::uint32_t>(*rc::gen::inRange(0, 3));
    const bool of_gang = gang < gangs.size();
    pieces.push_back(bench.shaped(static_cast<std::size_t>(*rc::gen::inRange(0, 4)),
                                  static_cast<std::uint32_t>(*rc::gen::inRange(0, 3)),
                                  *rc::gen::inRange(1, 1500) / 100.0, of_gang ? gang : kNoGang));
    const int home = *rc::gen::inRange(0, 3);
    if (home < count) pieces.back().home = static_cast<std::uint32_t>(home);
    pieces.back().leave_h = of_gang ? leave_h[gang] : *rc::gen::inRange(0, 10) / 100.0;
    pieces.back().markets = of_gang ? markets[gang] : drawn_markets();
    // All of a gang stops with one of its tasks.
    if (of_gang) pieces.back().stake_usd_h = 20;
    pieces.back().at_risk_h = *rc::gen::inRange(0, 10) / 10.0;
    pieces.back().may_wait = of_gang ? may_wait[gang] != 0 : *rc::gen::arbitrary<bool>();
  }
  for (Host& host : hosts) {
    for (Piece& fixed : host.fixed) {
      if (fixed.gang == kNoGang) continue;
      fixed.leave_h = leave_h[fixed.gang];
      fixed.stake_usd_h = 20;
    }
  }
  // A fixed task that does not fit its host is no state that can be.
  for (std::uint32_t i = 0; i < hosts.size(); ++i) {
    RC_PRE(value_on(bench.model(), hosts[i], {}, i).has_value());
  }
  Repartition repartition(bench.model(), 10'000);
  const Partition& found = repartition.run(hosts, pieces, gangs, kNever);
  const double best = bench.best_by_trying(hosts, pieces, gangs);
  if (best == -kInfinity) {
    RC_ASSERT(found.value_usd_h == kNever);
    return;
  }
  RC_ASSERT(std::abs(found.value_usd_h - best) < 1e-6 * std::max(1.0, std::abs(best)));
  const auto said = value_of(bench.model(), hosts, pieces, gangs, found);
  RC_ASSERT(said.has_value());
  RC_ASSERT(std::abs(*said - found.value_usd_h) < 1e-9 * std::max(1.0, std::abs(*said)));
}

RC_GTEST_PROP(GangRepartitionProperty, few_searches_find_what_holds_though_it_may_not_be_the_best,
              ()) {
  GangBench bench;
  learn_some_rates(bench);
  const std::vector<Gang> gangs{drawn_gang()};
  const std::vector<Host> hosts{bench.host(1), bench.host(3)};
  std::vector<Piece> pieces;
  for (std::uint32_t i = 0; i < 3; ++i) {
    pieces.push_back(bench.piece(i, *rc::gen::inRange(1, 500) / 100.0, 0));
    pieces.back().home = static_cast<std::uint32_t>(*rc::gen::inRange(0, 2));
  }
  Repartition repartition(bench.model(), 1);
  const Partition& found = repartition.run(hosts, pieces, gangs, kNever);
  if (found.value_usd_h == kNever) return;
  RC_ASSERT(found.value_usd_h <= bench.best_by_trying(hosts, pieces, gangs) + 1e-9);
  const auto said = value_of(bench.model(), hosts, pieces, gangs, found);
  RC_ASSERT(said.has_value());
  RC_ASSERT(std::abs(*said - found.value_usd_h) < 1e-9);
}

TEST(GangRepartition, a_gang_waits_or_starts_as_a_whole) {
  GangBench bench;
  const std::vector<Gang> gangs{{.whole = true}};
  std::vector<Piece> pieces{bench.piece(0, 0.01, 0), bench.piece(0, 5, 0)};
  for (Piece& piece : pieces) piece.may_wait = true;
  Repartition repartition(bench.model());
  const Partition& found = repartition.run({}, pieces, gangs, kNever);
  EXPECT_NE(found.host_of[0], Partition::kWaits) << "for the other one's sake";
  EXPECT_NE(found.host_of[1], Partition::kWaits);
}

TEST(GangRepartition, part_of_a_gang_is_not_paused) {
  GangBench bench;
  const std::vector<Gang> gangs{{.pace_elsewhere = 1}};
  Piece poor = bench.piece(0, 0.001, 0);
  poor.may_wait = true;
  Repartition repartition(bench.model());
  EXPECT_NE(repartition.run({}, std::vector{poor}, gangs, kNever).host_of[0], Partition::kWaits);
}

TEST(GangRepartition, moving_one_task_costs_the_start_of_all) {
  GangBench bench;
  // On an instance that is too large the task would be better off on a small one of its own.
  Piece small = bench.piece(0, 30, 0);
  small.home = 0;
  small.leave_h = 1.9;
  const std::vector<Host> hosts{bench.host(1)};
  Repartition repartition(bench.model());
  const std::vector<Gang> runs{{.pace_elsewhere = 1}};
  EXPECT_EQ(repartition.run(hosts, std::vector{small}, runs, kNever).host_of[0], 0u);
  const std::vector<Gang> starts_anyway{
      {.pace_elsewhere = 1, .share_elsewhere = 0.04, .starts = true}};
  EXPECT_EQ(repartition.run(hosts, std::vector{small}, starts_anyway, kNever).host_of[0], 1u);
}

TEST(GangRepartition, nothing_is_looked_for_that_is_worth_less_than_what_there_is) {
  GangBench bench;
  const std::vector<Gang> gangs{{.whole = true}};
  const std::vector<Piece> pieces{bench.piece(0, 5, 0), bench.piece(1, 5, 0)};
  Repartition repartition(bench.model());
  EXPECT_EQ(repartition.run({}, pieces, gangs, 1000).value_usd_h, kNever);
}

}  // namespace
}  // namespace muster::own
