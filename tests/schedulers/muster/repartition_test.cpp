#include "schedulers/muster/repartition.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/schedulers/muster/repartition_bench.hpp"

namespace muster::own {
namespace {

/// Tries every way to place some pieces.
class TryingBench : public Bench {
 public:
  /// The value of the best of all ways, found by trying each.
  double best_by_trying(const std::vector<Host>& hosts, const std::vector<Piece>& pieces) const {
    std::vector<std::size_t> label(pieces.size(), 0);
    double best = -std::numeric_limits<double>::infinity();
    try_from(0, hosts, pieces, label, best);
    return best;
  }
  /// What a way is worth: labels are hosts, then new instances, the last one waits.
  double value(const std::vector<Host>& hosts, const std::vector<Piece>& pieces,
               const std::vector<std::size_t>& label) const {
    double sum = 0;
    for (std::size_t group = 0; group < hosts.size() + pieces.size(); ++group) {
      std::vector<const Piece*> set;
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        if (label[i] == group) set.push_back(&pieces[i]);
      }
      if (breaks_the_rule(hosts, pieces, group, set))
        return -std::numeric_limits<double>::infinity();
      if (group < hosts.size()) {
        const auto worth = value_on(model(), hosts[group], set, static_cast<std::uint32_t>(group));
        if (!worth) return -std::numeric_limits<double>::infinity();
        sum += *worth;
      } else if (!set.empty()) {
        const auto worth = best_new(model(), set);
        if (!worth) return -std::numeric_limits<double>::infinity();
        sum += worth->value_usd_h;
      }
    }
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (label[i] < hosts.size() + pieces.size()) continue;
      if (!pieces[i].may_wait) sum -= 1000 * pieces[i].value_usd_h;
    }
    return sum;
  }

 private:
  /// More of a job come than may be beside those who are there, stay or have still to leave.
  static bool breaks_the_rule(const std::vector<Host>& hosts, const std::vector<Piece>& pieces,
                              std::size_t group, const std::vector<const Piece*>& set) {
    for (const Piece* piece : set) {
      const auto comes = [&](const Piece* other) {
        return are_peers(*piece, *other) && (group >= hosts.size() || other->home != group);
      };
      const auto coming = std::ranges::count_if(set, comes);
      if (!piece->apart || coming == 0) continue;
      std::ptrdiff_t may_come = piece->apart.most;
      if (group < hosts.size()) {
        for (const Piece& fixed : hosts[group].fixed) may_come -= are_peers(*piece, fixed);
        for (const Piece& other : pieces) {
          may_come -= are_peers(*piece, other) && other.home == group;
        }
        for (const Newcomers& named : hosts[group].newcomers) {
          if (named.job == piece->apart.job) may_come = named.most;
        }
      }
      if (coming > may_come) return true;
    }
    return false;
  }
  void try_from(std::size_t at, const std::vector<Host>& hosts, const std::vector<Piece>& pieces,
                std::vector<std::size_t>& label, double& best) const {
    if (at == pieces.size()) {
      best = std::max(best, value(hosts, pieces, label));
      return;
    }
    for (label[at] = 0; label[at] <= hosts.size() + pieces.size(); ++label[at]) {
      try_from(at + 1, hosts, pieces, label, best);
    }
  }
};

RC_GTEST_PROP(RepartitionProperty, finds_what_trying_everything_finds, ()) {
  TryingBench bench;
  for (std::uint32_t a = 0; a < 3; ++a) {
    for (std::uint32_t b = 0; b < 3; ++b) {
      const std::vector<ClassId> beside{ClassId{b}};
      bench.rates().learn(ClassId{a}, beside, *rc::gen::inRange(30, 101) / 100.0, 50);
    }
  }
  std::vector<Host> hosts;
  const int count = *rc::gen::inRange(0, 3);
  for (int i = 0; i < count; ++i) {
    hosts.push_back(bench.host(static_cast<std::uint32_t>(*rc::gen::inRange(0, 4))));
    hosts.back().left_h = *rc::gen::inRange(0, 3) / 20.0;
    const bool spot = *rc::gen::inRange(0, 3) == 0;
    if (spot) put_on_spot(hosts.back(), *rc::gen::inRange(0, 10) / 10.0);
    if (*rc::gen::inRange(0, 3) == 0)
      hosts.back().newcomers.push_back({Slot{7}, *rc::gen::inRange(0U, 2U)});
    if (*rc::gen::inRange(0, 3) == 0) {
      hosts.back().fixed.push_back(bench.piece(3, 1, 0.5));
      if (spot) hosts.back().fixed.back().markets = MarketChoice::spot;
      if (*rc::gen::arbitrary<bool>()) hosts.back().fixed.back().apart = {Slot{8}, 2};
    }
  }
  std::vector<Piece> pieces;
  const int tasks = *rc::gen::inRange(1, 5);
  for (int i = 0; i < tasks; ++i) {
    pieces.push_back(bench.piece(static_cast<std::size_t>(*rc::gen::inRange(0, 4)),
                                 static_cast<std::uint32_t>(*rc::gen::inRange(0, 3)),
                                 *rc::gen::inRange(1, 1500) / 100.0));
    const int home = *rc::gen::inRange(0, 3);
    if (home < count) pieces.back().home = static_cast<std::uint32_t>(home);
    pieces.back().leave_h = *rc::gen::inRange(0, 10) / 100.0;
    pieces.back().may_wait = *rc::gen::inRange(0, 2) == 1;
    pieces.back().markets =
        *rc::gen::element(MarketChoice::any, MarketChoice::on_demand, MarketChoice::spot);
    pieces.back().at_risk_h = *rc::gen::inRange(0, 20) / 10.0;
    pieces.back().apart = *rc::gen::element(Apart{}, Apart{}, Apart{7, 1}, Apart{8, 2});
    // Peers are not at home on one instance.
    const auto is_peer = [&](const Piece& other) {
      return &other != &pieces.back() && are_peers(other, pieces.back());
    };
    if (std::ranges::any_of(pieces, is_peer)) pieces.back().home = UINT32_MAX;
  }
  // A fixed task that does not fit its host is no state that can be.
  for (std::uint32_t i = 0; i < hosts.size(); ++i) {
    RC_PRE(value_on(bench.model(), hosts[i], {}, i).has_value());
  }
  Repartition repartition(bench.model());
  const Partition& found = repartition.run(hosts, pieces);
  const double best = bench.best_by_trying(hosts, pieces);
  RC_ASSERT(std::abs(found.value_usd_h - best) < 1e-9 * std::max(1.0, std::abs(best)));
  std::vector<std::size_t> label;
  for (std::uint32_t host : found.host_of) {
    label.push_back(host == Partition::kWaits ? hosts.size() + pieces.size() : host);
  }
  const double said = bench.value(hosts, pieces, label);
  RC_ASSERT(std::abs(said - found.value_usd_h) < 1e-9 * std::max(1.0, std::abs(said)));
}

TEST(Repartition, puts_no_more_tasks_of_a_job_together_than_it_allows) {
  Bench bench;
  bench.rates().learn(ClassId{0}, std::vector{ClassId{0}}, 1, 100);
  std::vector<Piece> pieces(3, bench.piece(3, 0, 5));
  std::vector<Host> hosts{bench.host(0)};
  hosts[0].price_usd_h = 0;  // it is there and costs nothing
  Repartition repartition(bench.model());
  const auto on_host = [&] {
    return std::ranges::count(repartition.run(hosts, pieces).host_of, 0U);
  };
  EXPECT_EQ(on_host(), 3);
  for (Piece& piece : pieces) piece.apart = {Slot{7}, 2};
  EXPECT_EQ(on_host(), 2);
  for (Piece& piece : pieces) piece.apart = {Slot{7}, 1};
  EXPECT_EQ(on_host(), 1);
  hosts[0].newcomers = {{Slot{7}, 0}};
  EXPECT_EQ(on_host(), 0) << "a peer has still to leave";
  hosts[0].newcomers.clear();
  hosts[0].fixed = {pieces[0]};
  EXPECT_EQ(on_host(), 0) << "a peer stays";
}

TEST(Repartition, gives_an_instance_back_that_pays_for_nobody) {
  Bench bench;
  Piece small = bench.piece(3, 0, 0.45);
  small.home = 0;
  const std::vector<Host> hosts{bench.host(0)};  // the dearest type
  Repartition repartition(bench.model());
  const Partition& found = repartition.run(hosts, std::vector{small});
  ASSERT_EQ(found.new_hosts.size(), 1u);
  EXPECT_EQ(found.host_of[0], 1u) << "on the new one";
}

TEST(Repartition, lets_wait_who_may_and_is_not_worth_an_instance_and_nobody_else) {
  Bench bench;
  Piece cheap = bench.piece(3, 0, 0.01);
  Repartition repartition(bench.model());
  EXPECT_NE(repartition.run({}, std::vector{cheap}).host_of[0], Partition::kWaits);
  cheap.may_wait = true;
  EXPECT_EQ(repartition.run({}, std::vector{cheap}).host_of[0], Partition::kWaits);
}

TEST(Repartition, puts_on_spot_instances_who_may_be_there_and_loses_little_by_an_interruption) {
  Bench bench;
  Repartition repartition(bench.model());
  Piece task = bench.piece(3, 0, 5);
  const auto market_for = [&] {
    const Partition& found = repartition.run({}, std::vector{task});
    return bench.model().offers[found.new_hosts.at(0)].market;
  };
  EXPECT_EQ(market_for(), Market::on_demand);
  task.markets = MarketChoice::any;
  EXPECT_EQ(market_for(), Market::spot);
  task.at_risk_h = 2;
  EXPECT_EQ(market_for(), Market::on_demand) << "0.3 times an hour two hours of work of $5";
  task.markets = MarketChoice::spot;
  EXPECT_EQ(market_for(), Market::spot) << "it has no choice";
}

TEST(Repartition, takes_more_steps_the_more_there_is_to_share) {
  Bench bench;
  Repartition repartition(bench.model());
  const std::vector<Host> hosts{bench.host(0), bench.host(1)};
  std::uint64_t last = 0;
  std::vector<Piece> pieces;
  for (std::uint32_t i = 0; i < kMostTasks; ++i) {
    pieces.push_back(bench.piece(3, i, 1));
    const std::uint64_t before = repartition.steps();
    repartition.run(hosts, pieces);
    EXPECT_GT(repartition.steps() - before, last);
    last = repartition.steps() - before;
  }
}

}  // namespace
}  // namespace muster::own
