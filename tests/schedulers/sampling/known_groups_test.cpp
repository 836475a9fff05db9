#include "schedulers/sampling/known_groups.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/schedulers/catalogs.hpp"

namespace muster::sampling {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

Expected<GroupParams, PolicyError> read(const std::string& text) {
  auto group = read_group(parse_policy(text).value());
  EXPECT_TRUE(group.has_value()) << text;
  return std::move(*group);
}

TEST(KnownGroups, AreReadWithEveryDefaultTheyList) {
  for (const PolicyInfo& info : known_groups()) {
    PolicySpec spec{info.name, {}};
    for (const ParamInfo& param : info.params) {
      spec.params.emplace_back(param.name, param.default_value);
    }
    ASSERT_TRUE(read_group(spec).has_value());
    EXPECT_TRUE(read_group(spec)->has_value()) << info.name;
  }
  EXPECT_FALSE(read_group({"eva", {}}).has_value());
}

TEST(KnownGroups, HaveTheSettingsOfThePapers) {
  const GroupParams eagle = read("eagle").value();
  EXPECT_EQ(eagle.network_delay, std::chrono::microseconds{500});
  EXPECT_EQ(eagle.probes.min_probes, 20U);
  EXPECT_TRUE(eagle.queue.sticky && eagle.queue.shortest_first && eagle.queue.reject_behind_long);
  EXPECT_TRUE(eagle.is_long(90.6));
  EXPECT_FALSE(eagle.is_long(90.5811));
  const GroupParams sparrow = read("sparrow").value();
  EXPECT_FALSE(sparrow.queue.sticky || sparrow.queue.shortest_first);
  EXPECT_FALSE(sparrow.is_long(1e9));
}

TEST(KnownGroups, TakeParameters) {
  const GroupParams pigeon = read("pigeon,groups=5,weight=10,network_delay_ms=2").value();
  EXPECT_EQ(pigeon.pigeon.groups, 5U);
  EXPECT_EQ(pigeon.pigeon.weight, 10U);
  EXPECT_EQ(pigeon.network_delay, std::chrono::milliseconds{2});
  EXPECT_TRUE(read("sparrow,cancellation").value().probes.cancellation);
}

TEST(KnownGroups, RefuseWhatTheyDoNotKnowAndSayWhatTheyDo) {
  EXPECT_THAT(read("sparrow,groups=3").error().message, HasSubstr("probe_ratio"));
  EXPECT_THAT(read("pigeon,groups=0").error().message, HasSubstr("whole number >= 1"));
  EXPECT_THAT(read("pigeon,groups=1.5").error().message, HasSubstr("whole number"));
  EXPECT_THAT(read("eagle,short_partition=1").error().message, HasSubstr("< 1"));
  EXPECT_THAT(read("eagle,srpt=maybe").error().message, HasSubstr("true or false"));
}

TEST(KnownGroups, AreForReplayOnly) {
  const Catalog catalog = muster::testing::table_3();
  const auto made = make_policy({"sparrow", {}}, catalog);
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code, PolicyError::replay_only);
  EXPECT_THAT(made.error().message, HasSubstr("for replay only"));
  EXPECT_THAT(make_policy({"sparow", {}}, catalog).error().message, HasSubstr("sparrow"));
}

TEST(KnownGroups, SayWhatFleetTheyNeed) {
  EXPECT_THAT(fault_of(read("sparrow").value(), 0), HasSubstr("master.fleet"));
  EXPECT_THAT(fault_of(read("sparrow").value(), 1), IsEmpty());
  EXPECT_THAT(fault_of(read("eagle").value(), 1), HasSubstr("two workers"));
  EXPECT_THAT(fault_of(read("pigeon,groups=5").value(), 4), HasSubstr("5 groups"));
}

}  // namespace
}  // namespace muster::sampling
