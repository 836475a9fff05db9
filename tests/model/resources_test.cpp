#include "model/resources.hpp"

#include <gtest/gtest.h>

#include "model/job.hpp"
#include "tests/support/builders.hpp"

namespace muster {
namespace {

TEST(Resources, FitWhenNoKindExceedsTheRoom) {
  EXPECT_TRUE(Resources::of(1, 4, 10).fits_in(Resources::of(1, 4, 10)));
  EXPECT_FALSE(Resources::of(1, 4.1, 10).fits_in(Resources::of(1, 4, 10)));
}

TEST(Resources, IgnoreDifferencesBelowTheEpsilon) {
  const Resources tenth = Resources::of(0.1, 0, 0);
  const Resources sum = tenth + tenth + tenth;
  EXPECT_TRUE(sum.fits_in(Resources::of(0.3, 0, 0)));
}

TEST(Resources, NameTheFirstKindThatDoesNotFit) {
  EXPECT_EQ(Resources::of(1, 9, 90).first_exceeding(Resources::of(1, 8, 61)), Resource::cpu);
  EXPECT_EQ(Resources::of(1, 8, 61).first_exceeding(Resources::of(1, 8, 61)), std::nullopt);
}

TEST(Resources, TheDominantKindHasTheLargestShareOfTheCapacity) {
  const Resources capacity = Resources::of(4, 16, 244);
  EXPECT_EQ(Resources::of(1, 8, 10).dominant(capacity), Resource::cpu);
  EXPECT_DOUBLE_EQ(Resources::of(1, 8, 10).dominant_share(capacity), 0.5);
}

TEST(Resources, KindsThatAnInstanceLacksHaveNoShare) {
  EXPECT_DOUBLE_EQ(Resources::of(0, 4, 8).dominant_share(Resources::of(0, 8, 32)), 0.5);
}

TEST(Demands, AFamilysOwnEntryGoesBeforeTheOneForAny) {
  const Demands demands({{"", Resources::of(0, 8, 8), 1}, {"c7i", Resources::of(0, 4, 8), 1.2}});
  EXPECT_EQ(demands.on("c7i")->amount, Resources::of(0, 4, 8));
  EXPECT_EQ(demands.on("p3")->amount, Resources::of(0, 8, 8));
}

TEST(Demands, WithoutAnEntryForItAFamilyIsOutOfBounds) {
  const Demands demands({{"p3", Resources::of(1, 4, 8), 1}});
  EXPECT_EQ(demands.on("c7i"), nullptr);
}

TEST(Catalog, OrdersTypesByDescendingPriceAndKeepsTiesInOrder) {
  const Catalog catalog = test::table3_catalog();
  std::vector<std::string> names;
  for (TypeId id : catalog.by_descending_price()) names.push_back(catalog[id].name);
  EXPECT_EQ(names, (std::vector<std::string>{"it1", "it2", "it3", "it4"}));
  EXPECT_EQ(catalog.find("it9"), std::nullopt);
}

}  // namespace
}  // namespace muster
