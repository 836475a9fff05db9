#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "model/day_spend.hpp"
#include "model/ledger.hpp"
#include "model/state_snapshot.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/same_state.hpp"

namespace muster {
namespace {

using test::at_s;
using test::JobBuilder;

constexpr InstanceId kHere{0};

Price usd(double usd_h) {
  return Price::from_usd_h(usd_h);
}

/// A master's state, ledger and sums of the days, which hear the same events.
class Books {
 public:
  void hear(Instant at, EventBody body) {
    const Event event{at, std::move(body)};
    if (const auto* up = std::get_if<InstanceUp>(&event.body)) {
      spend.up(*state.find(up->instance), up->billed_from.value_or(at));
    } else if (const auto* changed = std::get_if<OfferingChanged>(&event.body)) {
      spend.reprice(changed->change, state);
    } else if (const auto* gone = std::get_if<InstanceGone>(&event.body)) {
      spend.gone(*state.find(gone->instance), gone->billed_until.value_or(at));
    }
    ledger.observe(event, state);
    state.apply(event);
  }
  void hear(double at, EventBody body) { hear(at_s(at), std::move(body)); }
  /// The cloud's change of that number, from that time of its clock on.
  static OfferingChanged change(std::uint64_t number, double at, double usd_h,
                                bool available = true) {
    return {{number, at_s(at), {"it3", Market::on_demand, "", usd(usd_h), available, 0}}};
  }
  void launch(double at) {
    const TypeId type = test::type_named(catalog, "it3");
    const Price price = state.offerings().find(type, Market::on_demand)->price;
    hear(at, LaunchRequested{kHere, type, Market::on_demand, price, {}, "", price});
  }
  void run(double at, std::uint64_t id, double cpus) {
    hear(at, JobAccepted{JobBuilder(id).demand(Resources::of(0, cpus, 0)).build()});
    hear(at, TaskAssigned{TaskId{id}, kHere, {}});
    hear(at, StartIssued{TaskId{id}, kHere, 1});
    hear(at, TaskStarted{TaskId{id}, 1, {}, {}});
  }
  Money parts() const {
    Money sum = ledger.tasks();
    for (OverheadKind kind : {OverheadKind::boot, OverheadKind::idle, OverheadKind::drain,
                              OverheadKind::fragmentation}) {
      sum += ledger.idleness(kind);
    }
    return sum;
  }
  Money days() const {
    Money sum;
    for (const auto& [day, amount] : spend.by_day) sum += amount;
    return sum;
  }

  Catalog catalog = test::table3_catalog();
  ClusterState state{catalog};
  Ledger ledger;
  DaySpend spend;
};

Money for_s(double usd_h, double seconds) {
  return Money::of(usd(usd_h), from_seconds(seconds));
}

TEST(Prices, a_change_counts_from_its_instant_on) {
  Books books;
  books.launch(0);
  books.hear(10, InstanceUp{kHere});
  books.hear(20, InstanceReady{kHere});
  books.run(20, 1, 4);  // half of it
  books.hear(50, Books::change(1, 50, 1.6));
  EXPECT_EQ(books.state.find(kHere)->price, usd(1.6));
  EXPECT_EQ(books.state.sums().up_nano_usd_h, usd(1.6).nano_usd_h());
  EXPECT_EQ(books.ledger.accrued(books.state, at_s(60)), for_s(0.8, 40) + for_s(1.6, 10));
  EXPECT_EQ(books.spend.until(at_s(60), books.state), for_s(0.8, 40) + for_s(1.6, 10));
  books.hear(100, TaskFinished{TaskId{1}, 1});
  EXPECT_EQ(books.ledger.task(TaskId{1}), for_s(0.4, 30) + for_s(0.8, 50));
  books.hear(110, InstanceGone{kHere});
  EXPECT_EQ(books.ledger.total(), for_s(0.8, 40) + for_s(1.6, 60));
  EXPECT_EQ(books.parts(), books.ledger.total());
  EXPECT_EQ(books.days(), books.ledger.total());
  EXPECT_TRUE(books.state.inconsistencies().empty());
}

TEST(Prices, a_number_that_is_known_changes_nothing) {
  Books books;
  books.launch(0);
  books.hear(10, InstanceUp{kHere});
  books.hear(20, Books::change(2, 20, 1.6));
  books.hear(30, Books::change(2, 30, 9));
  books.hear(40, Books::change(1, 40, 9));
  EXPECT_EQ(books.state.offerings().known(), 2u);
  EXPECT_EQ(books.ledger.accrued(books.state, at_s(50)), for_s(0.8, 10) + for_s(1.6, 30));
}

TEST(Prices, of_other_markets_and_zones_do_not_count) {
  Books books;
  books.launch(0);
  books.hear(10, InstanceUp{kHere});
  books.hear(20, OfferingChanged{{1, at_s(20), {"it3", Market::spot, "", usd(9), true, 0}}});
  books.hear(20, OfferingChanged{{2, at_s(20), {"it3", Market::on_demand, "b", usd(9), true, 0}}});
  books.hear(20, OfferingChanged{{3, at_s(20), {"nobody", Market::spot, "", usd(9), true, 0}}});
  EXPECT_EQ(books.state.offerings().known(), 3u);
  EXPECT_EQ(books.state.find(kHere)->price, usd(0.8));
  const TypeId type = test::type_named(books.catalog, "it3");
  EXPECT_EQ(books.state.offerings().find(type, Market::on_demand, "b")->price, usd(9));
  EXPECT_EQ(books.state.offerings().find(type, Market::on_demand)->price, usd(0.8));
}

TEST(Prices, heard_late_are_put_right) {
  Books books;
  books.launch(0);
  books.hear(10, InstanceUp{kHere});
  books.hear(20, InstanceReady{kHere});
  books.run(20, 1, 8);
  books.hear(60, TaskFinished{TaskId{1}, 1});  // all until then is booked at the old price
  books.hear(70, Books::change(1, 40, 0.4));
  books.hear(90, InstanceGone{kHere});
  EXPECT_EQ(books.ledger.total(), for_s(0.8, 30) + for_s(0.4, 50));
  EXPECT_EQ(books.parts(), books.ledger.total());
  EXPECT_EQ(books.days(), books.ledger.total());
}

TEST(Prices, that_changed_before_its_beginning_was_heard_count_from_their_instants) {
  Books books;
  books.launch(0);
  books.hear(30, Books::change(1, 25, 1.6));
  books.hear(50, Books::change(2, 45, 0.4));
  books.hear(60, InstanceUp{kHere, at_s(10)});
  EXPECT_EQ(books.ledger.accrued(books.state, at_s(60)),
            for_s(0.8, 15) + for_s(1.6, 20) + for_s(0.4, 15));
  books.hear(80, InstanceGone{kHere, at_s(75)});
  EXPECT_EQ(books.ledger.total(), for_s(0.8, 15) + for_s(1.6, 20) + for_s(0.4, 30));
  EXPECT_EQ(books.days(), books.ledger.total());
}

TEST(Prices, that_changed_before_its_end_was_heard_do_not_count_after_it) {
  Books books;
  books.launch(0);
  books.hear(10, InstanceUp{kHere});
  books.hear(60, Books::change(1, 50, 1.6));
  books.hear(70, InstanceReady{kHere});
  books.hear(80, InstanceGone{kHere, at_s(40)});
  EXPECT_EQ(books.ledger.total(), for_s(0.8, 30));
  EXPECT_EQ(books.parts(), books.ledger.total());
  EXPECT_EQ(books.days(), books.ledger.total());
}

TEST(Prices, of_an_instance_that_is_gone_change_nothing) {
  Books books;
  books.launch(0);
  books.hear(10, InstanceUp{kHere});
  books.hear(40, InstanceGone{kHere});
  books.hear(50, Books::change(1, 20, 9));
  EXPECT_EQ(books.ledger.total(), for_s(0.8, 30));
}

/// News as a cloud sends them: sorted by when they are heard, not by when they were true.
struct News {
  Instant heard;
  EventBody body;
};

RC_GTEST_PROP(Prices, add_up_to_the_clouds_own_charge_however_late_news_come, ()) {
  Books books;
  const auto some_ns = [](std::int64_t from, std::int64_t to) {
    return Duration{*rc::gen::inRange<std::int64_t>(from, to)};
  };
  const Duration ahead = some_ns(-500, 500);  // of the cloud's clock
  const Instant up = Instant{some_ns(1'000, 2'000)};
  const Instant gone = up + some_ns(1, 20'000);
  PriceSteps steps;
  Price price = usd(0.8);
  std::vector<News> news;
  Instant at{};
  Instant heard{};
  for (std::uint64_t number = 1; number <= 10; ++number) {
    at += some_ns(0, 3'000);
    heard = std::max(heard, at - ahead) + some_ns(0, 2'000);
    const auto nano = static_cast<std::int64_t>(1 + *rc::gen::inRange(0, 1'000'000'000));
    const Price next = Price::from_nano_usd_h(nano);
    steps.push_back({at, price});
    price = next;
    if (at <= gone) {  // what is told in the order in which it became true
      news.push_back({heard, OfferingChanged{{number, at, {"it3", Market::on_demand, "", next}}}});
    }
  }
  const Instant up_heard = up - ahead + some_ns(0, 1'000);
  const Instant gone_heard = std::max({up_heard, heard, gone - ahead}) + some_ns(1, 1'000);
  news.push_back({up_heard, InstanceUp{kHere, up, ahead}});
  news.push_back({up_heard + some_ns(0, 1'000), InstanceReady{kHere}});
  std::stable_sort(news.begin(), news.end(),
                   [](const News& a, const News& b) { return a.heard < b.heard; });
  books.hear(Instant{},
             LaunchRequested{
                 kHere, test::type_named(books.catalog, "it3"), Market::on_demand, usd(0.8), {}});
  std::uint64_t task = 0;
  for (News& one : news) {
    const InstanceRow* row = books.state.find(kHere);
    if (row->phase == InstancePhase::ready && task < 4 && *rc::gen::arbitrary<bool>()) {
      ++task;
      books.hear(one.heard, JobAccepted{JobBuilder(task).demand(Resources::of(0, 1.3, 2)).build()});
      books.hear(one.heard, TaskAssigned{TaskId{task}, kHere, {}});
      books.hear(one.heard, StartIssued{TaskId{task}, kHere, 1});
    }
    books.hear(one.heard, std::move(one.body));
    RC_ASSERT(books.parts() == books.ledger.total());
    RC_ASSERT(books.state.inconsistencies().empty());
  }
  books.hear(gone_heard, InstanceGone{kHere, gone});
  const Money charged = charge(steps, price, up, gone);
  RC_ASSERT(books.ledger.total() == charged);
  RC_ASSERT(books.parts() == charged);
  RC_ASSERT(books.days() == charged);
}

TEST(Prices, are_the_same_after_a_restart) {
  Books books;
  books.launch(0);
  books.hear(10, InstanceUp{kHere});
  books.hear(20, Books::change(7, 15, 1.6, false));
  auto again = restore(snapshot_of(books.state), books.catalog);
  ASSERT_TRUE(again);
  EXPECT_EQ(test::difference(again.value(), books.state), "");
  const OfferingRow* row =
      again->offerings().find(test::type_named(books.catalog, "it3"), Market::on_demand);
  EXPECT_EQ(row->price, usd(1.6));
  EXPECT_FALSE(row->available);
  again->apply({at_s(30), Books::change(8, 30, 2)});
  EXPECT_EQ(again->find(kHere)->price, usd(2));
}

}  // namespace
}  // namespace muster
