#include <gtest/gtest.h>

#include "model/cluster_state.hpp"
#include "tests/support/builders.hpp"

namespace muster {
namespace {

using test::at_s;

/// Two instances of an offering, and changes of that.
class ClusterOfferingsTest : public ::testing::Test {
 protected:
  ClusterOfferingsTest() {
    launch(1, price_);
    launch(2, price_);
  }
  void launch(std::uint64_t id, Price price) {
    state_.apply({at_s(0), LaunchRequested{InstanceId{id}, type_, Market::on_demand, price, {}}});
  }
  OfferingChange change(Price price, std::optional<std::uint32_t> free = {}) {
    Offering offering{"it3", Market::on_demand, "", price, true, 0};
    offering.free = free;
    return {++number_, at_s(1), offering};
  }
  /// How many instances it gives another price.
  std::size_t hear(const OfferingChange& change) {
    const std::size_t repriced = state_.repriced_by(change).size();
    state_.apply({at_s(1), OfferingChanged{change}});
    return repriced;
  }
  bool has_terms() const { return state_.offerings().changed_terms(); }

  Catalog catalog_ = test::table3_catalog();
  TypeId type_ = test::type_named(catalog_, "it3");
  Price price_ = catalog_[type_].on_demand;
  Price dearer_ = Price::from_usd_h(2 * price_.usd_h());
  ClusterState state_{catalog_};
  std::uint64_t number_ = 0;
};

TEST_F(ClusterOfferingsTest, WhatIsFreeIsNoNewsOfPrices) {
  hear(change(price_, 5));
  EXPECT_TRUE(has_terms()) << "the first word of the offering";
  EXPECT_EQ(hear(change(price_, 4)), 0U);
  EXPECT_FALSE(has_terms());
}

TEST_F(ClusterOfferingsTest, AnotherPriceIsThatOfEachInstance) {
  EXPECT_EQ(hear(change(dearer_)), 2U);
  EXPECT_TRUE(has_terms());
  EXPECT_EQ(state_.find(InstanceId{2})->price, dearer_);
}

TEST_F(ClusterOfferingsTest, AnInstanceThatWasAskedForAtAnOldPriceHasTheNewOneWithTheNextWord) {
  hear(change(dearer_, 5));
  launch(3, price_);
  EXPECT_EQ(hear(change(dearer_, 4)), 1U);
  EXPECT_TRUE(has_terms()) << "for that instance";
  EXPECT_EQ(state_.find(InstanceId{3})->price, dearer_);
  EXPECT_EQ(hear(change(dearer_, 3)), 0U);
  EXPECT_TRUE(state_.inconsistencies().empty());
}

TEST_F(ClusterOfferingsTest, AnInstanceThatWentAtAnOldPriceIsNotLookedForAgain) {
  hear(change(dearer_, 5));
  launch(3, price_);
  state_.apply({at_s(2), InstanceGone{InstanceId{3}}});
  EXPECT_EQ(hear(change(dearer_, 4)), 0U);
  EXPECT_FALSE(has_terms());
}

TEST_F(ClusterOfferingsTest, ARepeatedWordIsNoNews) {
  const OfferingChange once = change(dearer_);
  hear(once);
  hear(once);
  EXPECT_FALSE(has_terms());
}

}  // namespace
}  // namespace muster
