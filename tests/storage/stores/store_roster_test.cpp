#include "storage/stores/store_roster.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/live_ids.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/temp_store.hpp"

namespace muster {
namespace {

using test::IsGolden;
using test::JobBuilder;
using test::TempStore;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

Handoff handoff(std::uint64_t job, HandoffTarget to) {
  return {JobBuilder(job).build(), to};
}

RentedRecord rented(std::uint32_t master, std::uint64_t number) {
  RentedRecord record;
  record.instance = InstanceId{first_instance_of(master) + number};
  record.type = "it1";
  return record;
}

void put(Store& store, Family family, std::uint64_t key, const std::string& value) {
  ASSERT_FALSE(store.write(test::batch_of(family, key_of(key), value), Durability::process));
}

TEST(StoreRoster, IsEmptyInAStoreThatHasNone) {
  const TempStore folder;
  EXPECT_TRUE(load_roster(*folder.open()).value().empty());
}

TEST(StoreRoster, IsFoundAgainAfterARestart) {
  const TempStore folder;
  const ClusterRoster roster = with_names({}, {{"tokyo", "london"}, {"m0"}});
  ASSERT_FALSE(keep_roster(*folder.open(), roster));
  EXPECT_EQ(load_roster(*folder.open()).value(), roster);
}

TEST(StoreRoster, NumbersMeanSomethingOnceThereIsAJobAnInstanceOrAHandOff) {
  const std::vector<std::pair<Family, std::string>> records{
      {Family::handoff, encode_handoff(handoff(1, {false, 0}))},
      {Family::token, encode_token({"t", JobId{1}, "ann"})},
      {Family::instance, encode_rented(rented(0, 1))},
      {Family::cancel, encode_number(1)},
      {Family::forwarded, encode_numbers({}, 1)}};
  for (const auto& [family, record] : records) {
    const TempStore folder;
    const auto store = folder.open();
    ASSERT_FALSE(keep_roster(*store, with_names({}, {{"tokyo"}, {"m0"}})));
    EXPECT_FALSE(has_numbered(*store).value()) << "names alone";
    put(*store, family, 1, record);
    EXPECT_TRUE(has_numbered(*store).value()) << name_of(family);
  }
}

TEST(StoreRoster, CountsTheJobsThatAreOnTheirWayByWhoIsToHaveThem) {
  const TempStore folder;
  const auto store = folder.open();
  put(*store, Family::handoff, 1, encode_handoff(handoff(1, {false, 2})));
  put(*store, Family::handoff, 2, encode_handoff(handoff(2, {false, 2})));
  put(*store, Family::handoff, 3, encode_handoff(handoff(3, {true, 1})));
  EXPECT_THAT(handoffs_by_target(*store).value(),
              ElementsAre(Pair(HandoffTarget{false, 2}, 2), Pair(HandoffTarget{true, 1}, 1)));
}

TEST(StoreRoster, CountsTheInstancesThatAreNotGoneByTheirMaster) {
  const TempStore folder;
  const auto store = folder.open();
  RentedRecord gone = rented(0, 1);
  gone.gone_at = Instant{};
  RentedRecord refused = rented(0, 2);
  refused.refused = true;
  put(*store, Family::instance, 1, encode_rented(gone));
  put(*store, Family::instance, 2, encode_rented(refused));
  EXPECT_THAT(rented_by_master(*store).value(), IsEmpty());
  put(*store, Family::instance, 3, encode_rented(rented(3, 1)));
  EXPECT_THAT(rented_by_master(*store).value(), ElementsAre(Pair(3, 1)));
}

TEST(StoreRoster, MayChangeWhereNoIdAndNoHandOffWouldMeanSomebodyElse) {
  const TempStore folder;
  const auto store = folder.open();  // of master m0
  const ClusterRoster before = with_names({}, {{"tokyo"}, {"m1", "m0"}});
  const ClusterRoster after = with_names({}, {{"tokyo"}, {"m0", "m1"}});
  ASSERT_FALSE(keep_roster(*store, before));
  EXPECT_EQ(obstacle_to(after, *store).value(), "") << "it has made nothing yet";
  put(*store, Family::handoff, 1, encode_handoff(handoff(1, {true, 0})));
  EXPECT_THAT(obstacle_to(after, *store).value(), IsGolden());
  const ClusterRoster more = with_names(before, {{}, {"m2"}});
  EXPECT_EQ(obstacle_to(more, *store).value(), "") << "nobody's number changes";
}

TEST(StoreRoster, MayNotChangeForASiteOfWhoseJobsNothingIsLeftButTheirNumbers) {
  const TempStore folder;
  const auto store = Store::open(folder.path(), folder.options("site tokyo")).value();
  ASSERT_FALSE(keep_roster(*store, with_names({}, {{"oslo", "tokyo"}, {"m0"}})));
  const ClusterRoster turned = with_names({}, {{"tokyo", "oslo"}, {"m0"}});
  EXPECT_EQ(obstacle_to(turned, *store).value(), "");
  ASSERT_FALSE(store->write(test::batch_of(Family::meta, "next job", encode_number(2)),
                            Durability::process));
  EXPECT_THAT(obstacle_to(turned, *store).value(), IsGolden());
}

TEST(StoreRoster, MayNotChangeForASiteOfBeforeRostersThatHasMadeIds) {
  const TempStore folder;
  const auto store = Store::open(folder.path(), folder.options("site tokyo")).value();
  const ClusterRoster roster = with_names({}, {{"tokyo", "oslo"}, {"m0"}});
  EXPECT_EQ(obstacle_to(roster, *store).value(), "") << "it has made nothing yet";
  ASSERT_FALSE(store->write(test::batch_of(Family::meta, "next job", encode_number(500)),
                            Durability::process));
  EXPECT_THAT(obstacle_to(roster, *store).value(), IsGolden());
  ASSERT_FALSE(keep_roster(*store, roster));
  EXPECT_EQ(obstacle_to(roster, *store).value(), "") << "started once";
}

TEST(StoreRoster, MayNotChangeForWhoHasJobsOnTheirWay) {
  const TempStore folder;
  const auto store = folder.open();
  ASSERT_FALSE(keep_roster(*store, with_names({}, {{"tokyo"}, {"m1", "m2"}})));
  put(*store, Family::handoff, 1, encode_handoff(handoff(1, {false, 1})));
  EXPECT_THAT(obstacle_to(with_names({}, {{"tokyo"}, {"m2", "m1"}}), *store).value(), IsGolden());
}

}  // namespace
}  // namespace muster
