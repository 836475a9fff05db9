#include "config/fleet.hpp"

#include <gtest/gtest.h>

#include "tests/support/golden.hpp"

namespace muster {
namespace {

using test::IsGoldenAt;

Catalog catalog() {
  InstanceType plain;
  plain.name = "plain";
  InstanceType cheap;
  cheap.name = "cheap";
  cheap.spot = Price::from_usd_h(0.1);
  return Catalog({plain, cheap});
}

TEST(Fleet, IsReadFromCountTypeAndMarket) {
  EXPECT_EQ(parse_fleet_part("30*plain"), (FleetPart{30, "plain", Market::on_demand}));
  EXPECT_EQ(parse_fleet_part("1*cheap:spot"), (FleetPart{1, "cheap", Market::spot}));
  EXPECT_EQ(to_text({1, "cheap", Market::spot}), "1*cheap:spot");
}

TEST(Fleet, AnythingElseIsNone) {
  for (const char* text : {"", "plain", "*plain", "3*", "0*plain", "-1*plain", "3 *plain",
                           "3*:spot", "10000001*plain", "99999999999*plain"}) {
    EXPECT_FALSE(parse_fleet_part(text)) << text;
  }
}

TEST(Fleet, IsSharedAmongMastersAsEvenlyAsCanBe) {
  const std::vector<FleetPart> parts{{5, "plain", Market::on_demand}, {1, "cheap", Market::spot}};
  const Fleet first = fleet_share(parts, catalog(), 0, 2).value();
  const Fleet second = fleet_share(parts, catalog(), 1, 2).value();
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first[0].count, 3u);
  EXPECT_EQ(first[1].count, 1u);
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(second[0].count, 2u);
}

TEST(Fleet, WhatTheCatalogDoesNotOfferIsNamed) {
  const auto unknown = fleet_share({{1, "huge", Market::on_demand}}, catalog());
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, IsGoldenAt("master.fleet: \"1*huge\""));
  const auto not_on_spot = fleet_share({{1, "plain", Market::spot}}, catalog());
  ASSERT_FALSE(not_on_spot);
  EXPECT_THAT(not_on_spot.error().message, IsGoldenAt("master.fleet: \"1*plain:spot\""));
}

TEST(Fleet, HasFromOneInstanceToTenMillion) {
  EXPECT_TRUE(parse_fleet_part("1*p3"));
  EXPECT_TRUE(parse_fleet_part("10000000*p3"));
  EXPECT_FALSE(parse_fleet_part("0*p3"));
  EXPECT_FALSE(parse_fleet_part("10000001*p3"));
  EXPECT_FALSE(parse_fleet_part("4*:spot")) << "of no type";
}

TEST(Fleet, APartIsWrittenAsItIsRead) {
  for (const char* text : {"3*p3", "3*p3:spot"}) EXPECT_EQ(to_text(*parse_fleet_part(text)), text);
}

}  // namespace
}  // namespace muster
