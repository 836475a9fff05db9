#include "masters/instances/offering_news.hpp"

#include <limits>

#include "tests/masters/master_parts.hpp"

namespace muster {
namespace {

class OfferingNewsTest : public test::MasterPartsTest {
 protected:
  OfferingNewsTest() { begin(); }
  static OfferingChange change(std::uint64_t number, double usd_h, bool available = true) {
    OfferingChange change;
    change.number = number;
    change.offering.type = "it4";
    change.offering.market = Market::spot;
    change.offering.price = Price::from_usd_h(usd_h);
    change.offering.available = available;
    return change;
  }
  bool hear(const OfferingChange& change) {
    return record_offerings(*recorder_, {&change, 1}, now());
  }
  const OfferingRow& spot() const { return *state().offerings().find(it4(), Market::spot, {}); }
};

TEST_F(OfferingNewsTest, APriceIsNewsOnce) {
  EXPECT_TRUE(hear(change(1, 0.1)));
  EXPECT_FALSE(hear(change(1, 0.1)));
  EXPECT_EQ(events<OfferingChanged>().size(), 1U);
  EXPECT_EQ(spot().price, Price::from_usd_h(0.1));
}

TEST_F(OfferingNewsTest, WhatCanBeHadAgainIsGoodNewsAndWhatCannotIsOnlyNews) {
  hear(change(1, 0.1));
  EXPECT_FALSE(hear(change(2, 0.1, false)));
  EXPECT_FALSE(spot().available);
  EXPECT_TRUE(hear(change(3, 0.1)));
}

TEST_F(OfferingNewsTest, ATypeThatIsNotInTheCatalogIsOnRecordAndGoodForNobody) {
  OfferingChange unknown = change(1, 0.1);
  unknown.offering.type = "no-such";
  EXPECT_FALSE(hear(unknown));
  EXPECT_EQ(events<OfferingChanged>().size(), 1U);
}

TEST_F(OfferingNewsTest, ARateThatIsNoNumberCountsAsNone) {
  OfferingChange odd = change(1, 0.1);
  odd.offering.interruptions_h = std::numeric_limits<double>::infinity();
  hear(odd);
  EXPECT_EQ(events<OfferingChanged>().at(0).change.offering.interruptions_h, 0);
}

TEST_F(OfferingNewsTest, AGapInTheNumbersIsAChangeThatWasMissed) {
  const OfferingChange next = change(1, 0.1), later = change(2, 0.2);
  EXPECT_FALSE(misses_change(state().offerings().known(), {&next, 1}));
  EXPECT_TRUE(misses_change(state().offerings().known(), {&later, 1}));
  hear(next);
  EXPECT_FALSE(misses_change(state().offerings().known(), {&later, 1}));
}

}  // namespace
}  // namespace muster
