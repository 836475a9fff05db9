#include "serve/node/node_stores.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "model/live_ids.hpp"
#include "storage/stores/store_roster.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/temp_file.hpp"

namespace muster {
namespace {

using test::IsGolden;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

NodeConfig node_with_master(const std::string& name) {
  NodeConfig node;
  node.name = "node-of-" + name;
  node.master = name;
  return node;
}

/// A node with every role in a cluster with other masters.
class NodeStoresTest : public ::testing::Test {
 protected:
  static NodeSetup setup(const std::vector<std::string>& other_masters) {
    NodeSetup made;
    made.node = "n0";
    made.new_stores = true;
    made.config.name = "test";
    made.config.file = "cluster.toml";
    NodeConfig self = node_with_master("m0");
    self.name = "n0";
    self.site = "tokyo";
    self.cloud = true;
    for (const std::string& name : other_masters) {
      made.config.nodes.push_back(node_with_master(name));
    }
    made.config.nodes.push_back(self);
    return made;
  }
  Expected<NodeStores, NodeError> open(const std::vector<std::string>& other_masters) {
    return open_stores(setup(other_masters), catalog_, file_.folder());
  }
  std::string refusal(const std::vector<std::string>& other_masters) {
    const auto stores = open(other_masters);
    return stores ? "opened" : stores.error().message;
  }
  static void put(Store& store, Family family, const std::string& value) {
    StoreBatch batch;
    batch.put(family, key_of(1), value);
    ASSERT_FALSE(store.write(batch, Durability::process));
  }

  const Catalog catalog_ = test::table3_catalog();
  test::TempFile file_{"beside", ""};
};

TEST_F(NodeStoresTest, NumbersByTheOrderOfTheFirstFileAndKeepsThatInEveryStore) {
  {
    const auto stores = open({"m1", "m2"});
    ASSERT_TRUE(stores) << stores.error().message;
    EXPECT_THAT(stores->roster.masters, ElementsAre(Pair("m0", 2), Pair("m1", 0), Pair("m2", 1)));
    for (const Store* store : {stores->cloud.get(), stores->master.get(), stores->site.get()}) {
      EXPECT_EQ(load_roster(*store).value(), stores->roster);
    }
  }
  const auto again = open({"m3", "m2", "m1"});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_THAT(again->roster.masters,
              ElementsAre(Pair("m0", 2), Pair("m1", 0), Pair("m2", 1), Pair("m3", 3)));
}

TEST_F(NodeStoresTest, TakesOtherNumbersInEveryStoreWhileItsOwnMeanNothing) {
  const ClusterRoster others = with_names({}, {{"oslo", "tokyo"}, {"m1", "m0"}});
  {
    const auto stores = open({});
    EXPECT_FALSE(stores->numbered);
  }
  EXPECT_FALSE(take_roster(setup({}), catalog_, others, file_.folder()));
  {
    const auto stores = open({});
    EXPECT_EQ(stores->roster, others);
    put(*stores->site, Family::token, encode_token({"t", JobId{1}, "ann"}));
  }
  EXPECT_TRUE(open({})->numbered);
  const auto refused =
      take_roster(setup({}), catalog_, with_names({}, {{"tokyo"}, {"m0"}}), file_.folder());
  ASSERT_TRUE(refused);
  EXPECT_THAT(refused->message, AllOf(HasSubstr("site tokyo"), IsGolden()));
  EXPECT_EQ(open({})->roster, others) << "of all the stores";
}

TEST_F(NodeStoresTest, TakesNoOtherNumbersOverAJournalThatSpeaksOfSitesByTheOnesItHas) {
  {
    const auto stores = open({});
    put(*stores->master, Family::journal, "the events of a job of site number 0");
  }
  const ClusterRoster others = with_names({}, {{"oslo", "tokyo"}, {"m0"}});
  const auto refused = take_roster(setup({}), catalog_, others, file_.folder());
  ASSERT_TRUE(refused);
  EXPECT_THAT(refused->message, IsGolden());
  EXPECT_FALSE(open({})->roster == others);
}

TEST_F(NodeStoresTest, MakesNoStoreWithoutBeingToldToAndSaysHow) {
  NodeSetup plain = setup({});
  plain.new_stores = false;
  const auto refused = open_stores(plain, catalog_, file_.folder());
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message,
              AllOf(HasSubstr((file_.folder() / "cloud").string()), HasSubstr("--new-store")));
  { ASSERT_TRUE(open({})); }
  EXPECT_TRUE(open_stores(plain, catalog_, file_.folder())) << "those that are there it opens";
  std::filesystem::remove_all(file_.folder() / "site");
  const auto lost = open_stores(plain, catalog_, file_.folder());
  ASSERT_FALSE(lost);
  EXPECT_THAT(lost.error().message, HasSubstr((file_.folder() / "site").string()));
}

TEST_F(NodeStoresTest, APermitInItsFolderIsUsedUpAndOnlyThatOfAFirstStartLetsASiteNumberAtOnce) {
  NodeSetup plain = setup({});
  plain.new_stores = false;
  for (const char* text : {"", kFirstStores}) {
    std::filesystem::remove_all(file_.folder() / "site");
    std::ofstream(file_.folder() / kStorePermit) << text;
    const auto stores = open_stores(plain, catalog_, file_.folder());
    ASSERT_TRUE(stores) << stores.error().message;
    EXPECT_EQ(stores->site->get(Family::meta, kAsksNumbers).value().has_value(),
              std::string(text).empty());
    EXPECT_FALSE(std::filesystem::exists(file_.folder() / kStorePermit));
  }
}

TEST_F(NodeStoresTest, SaysWhichKeyOfWhichFileAStoreIsNotOf) {
  { const auto stores = open({}); }
  NodeSetup other = setup({});
  other.config.nodes.back().master = "m7";
  const auto stores = open_stores(other, catalog_, file_.folder());
  ASSERT_FALSE(stores);
  EXPECT_THAT(stores.error().message,
              AllOf(HasSubstr("master m0"), HasSubstr("master m7"), HasSubstr("cluster.toml"),
                    HasSubstr("node n0"), IsGolden()));
}

TEST_F(NodeStoresTest, RefusesAFileWithoutTheMasterThatAJobIsOnItsWayTo) {
  {
    const auto stores = open({"m1"});
    put(*stores->site, Family::handoff, encode_handoff({test::JobBuilder(1).build(), {false, 0}}));
  }
  EXPECT_THAT(refusal({}), AllOf(HasSubstr((file_.folder() / "site").string()), HasSubstr("1 job "),
                                 HasSubstr("master m1"), IsGolden()));
  EXPECT_THAT(refusal({"m9"}), AllOf(HasSubstr("master m1"), IsGolden()));
  {
    const auto again = open({"m8", "m1"});
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_FALSE(again->roster.masters.contains("m9")) << "a start that is refused changes nothing";
  }
  EXPECT_EQ(refusal({"m9", "m1"}), "opened");
}

TEST_F(NodeStoresTest, RefusesAFileWithoutTheMasterThatAnInstanceIsRentedFor) {
  {
    const auto stores = open({"m1"});
    RentedRecord record;
    record.instance = InstanceId{first_instance_of(0)};
    put(*stores->cloud, Family::instance, encode_rented(record));
  }
  EXPECT_THAT(refusal({}), AllOf(HasSubstr((file_.folder() / "cloud").string()),
                                 HasSubstr("1 instance "), HasSubstr("master m1"), IsGolden()));
}

TEST_F(NodeStoresTest, RefusesANumberThatNobodyEverHad) {
  {
    const auto stores = open({});
    put(*stores->site, Family::handoff, encode_handoff({test::JobBuilder(1).build(), {false, 7}}));
  }
  EXPECT_THAT(refusal({}), HasSubstr("master number 7"));
}

TEST_F(NodeStoresTest, RefusesStoresThatContradictEachOtherAndNamesBoth) {
  {
    const auto stores = open({"m1"});
    ASSERT_FALSE(keep_roster(*stores->site, with_names({}, {{"tokyo"}, {"m0", "m1"}})));
  }
  EXPECT_THAT(refusal({"m1"}), AllOf(HasSubstr((file_.folder() / "cloud").string()),
                                     HasSubstr((file_.folder() / "site").string()),
                                     HasSubstr("master m0 is number 1 in ")));
}

}  // namespace
}  // namespace muster
