#include "schedulers/site/site_peers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/schedulers/site/site_parts.hpp"

namespace muster::test {
namespace {

using ::testing::ElementsAre;

TEST(SitePeers, ListsMastersBeforeSitesInTheirOrder) {
  const SitePeers peers({{master_at(7), "b"}, {master_at(2), "a"}},
                        {{site_at(5), "x"}, {site_at(3), "own"}}, 3);
  EXPECT_THAT(peers.all(), ElementsAre(master_at(7), master_at(2), site_at(5), site_at(3)));
  EXPECT_EQ(peers.place_of(master_at(2)), 1u);
  EXPECT_EQ(peers.name_of(master_at(7)), "b");
  EXPECT_FALSE(peers.knows(site_at(7))) << "masters and sites have numbers of their own";
}

TEST(SitePeers, KnowsWhichOfTheSitesIsItself) {
  const SitePeers peers({{master_at(3), "m"}}, {{site_at(5), "x"}, {site_at(3), "own"}}, 3);
  EXPECT_EQ(peers.self().name, "own");
  EXPECT_EQ(peers.own(), 1u);
  EXPECT_TRUE(peers.is_self(site_at(3)));
  EXPECT_FALSE(peers.is_self(master_at(3)));
}

TEST(SitePeers, KeepAValueForEach) {
  const SitePeers peers = two_and_two();
  PerPeer<int> values(peers);
  values.at(master_at(1)) = 1;
  values.at(site_at(1)) = 2;
  EXPECT_THAT(values.masters(), ElementsAre(0, 1));
  EXPECT_THAT(values.sites(), ElementsAre(0, 2));
}

}  // namespace
}  // namespace muster::test
