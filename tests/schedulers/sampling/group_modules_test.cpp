#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedulers/registry.hpp"
#include "schedulers/sampling/group_params.hpp"
#include "tests/schedulers/catalogs.hpp"
#include "tests/support/golden.hpp"

namespace muster::sampling {
namespace {

using muster::test::IsGolden;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Expected<std::any, PolicyError> read_any(const std::string& text) {
  const PolicySpec spec = parse_policy(text).value();
  return find_module(spec.name).value()->read(spec);
}

template <class P>
P read(const std::string& text) {
  return std::any_cast<P>(read_any(text).value());
}

TEST(GroupModules, are_those_of_the_papers) {
  std::vector<std::string> names;
  for (const PolicyModule& module : known_groups()) {
    names.push_back(module.name);
    EXPECT_EQ(module.composition, module.name);
    EXPECT_FALSE(module.uses.throughput || module.uses.prices || module.uses.predictions);
  }
  EXPECT_THAT(names, ElementsAre("sparrow", "eagle", "pigeon"));
}

TEST(GroupModules, have_the_settings_of_the_papers) {
  const auto eagle = read<EagleParams>("eagle");
  EXPECT_EQ(eagle.network_delay, std::chrono::microseconds{500});
  EXPECT_EQ(eagle.probes.min_probes, 20U);
  EXPECT_TRUE(eagle.queue.sticky && eagle.queue.shortest_first && eagle.queue.reject_behind_long);
  EXPECT_TRUE(eagle.is_long(90.6));
  EXPECT_FALSE(eagle.is_long(90.5811));
  const auto sparrow = read<SparrowParams>("sparrow");
  EXPECT_FALSE(sparrow.queue.sticky || sparrow.queue.shortest_first);
  EXPECT_FALSE(sparrow.is_long(1e9));
}

TEST(GroupModules, take_parameters) {
  const auto pigeon =
      read<PigeonParams>("pigeon,groups=5,weight=10,skip_blocked,network_delay_ms=2");
  EXPECT_EQ(pigeon.rules.groups, 5U);
  EXPECT_EQ(pigeon.rules.weight, 10U);
  EXPECT_TRUE(pigeon.rules.skip_blocked);
  EXPECT_EQ(pigeon.network_delay, std::chrono::milliseconds{2});
  EXPECT_TRUE(read<SparrowParams>("sparrow,cancellation").probes.cancellation);
  EXPECT_TRUE(read<EagleParams>("eagle,skip_blocked").queue.skip_blocked);
}

TEST(GroupModules, refuse_what_they_do_not_know_and_say_what_they_do) {
  EXPECT_THAT(read_any("sparrow,groups=3").error().message, HasSubstr("probe_ratio"));
  EXPECT_EQ(read_any("pigeon,groups=0").error().code, PolicyError::bad_value);
  EXPECT_THAT(read_any("pigeon,groups=0").error().message, AllOf(HasSubstr("groups"), IsGolden()));
  EXPECT_THAT(read_any("pigeon,groups=1.5").error().message, HasSubstr("whole number"));
  EXPECT_THAT(read_any("eagle,short_partition=1").error().message, HasSubstr("< 1"));
  EXPECT_THAT(read_any("eagle,srpt=maybe").error().message, HasSubstr("true or false"));
}

TEST(GroupModules, are_for_replay_only) {
  const Catalog catalog = muster::testing::table_3();
  const auto made = make_policy({"sparrow", {}}, catalog);
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code, PolicyError::replay_only);
  EXPECT_THAT(made.error().message, HasSubstr("for replay only"));
  EXPECT_THAT(make_policy({"sparow", {}}, catalog).error().message, HasSubstr("sparrow"));
}

}  // namespace
}  // namespace muster::sampling
