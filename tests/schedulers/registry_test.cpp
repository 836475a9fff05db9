#include "schedulers/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedulers/eva/eva_policy.hpp"
#include "schedulers/market_split.hpp"
#include "tests/schedulers/catalogs.hpp"

namespace muster {
namespace {

using ::testing::HasSubstr;
using ::testing::Pair;

const Catalog& catalog() {
  static const Catalog table = testing::table_3();
  return table;
}

Expected<std::unique_ptr<Policy>, PolicyError> make(const std::string& text) {
  auto spec = parse_policy(text);
  EXPECT_TRUE(spec.has_value()) << text;
  return make_policy(spec.value(), catalog());
}

void expect_failure(const std::string& text, PolicyError code,
                    const std::vector<std::string>& said) {
  const auto made = make(text);
  ASSERT_FALSE(made.has_value()) << text;
  EXPECT_EQ(made.error().code, code) << made.error().message;
  for (const std::string& part : said) EXPECT_THAT(made.error().message, HasSubstr(part));
}

TEST(ParsePolicy, reads_a_name_with_values_and_flags) {
  const auto spec = parse_policy("eva,t=0.9,full-only");
  ASSERT_TRUE(spec.has_value());
  EXPECT_EQ(spec->name, "eva");
  EXPECT_THAT(spec->params, ::testing::ElementsAre(Pair("t", "0.9"), Pair("full-only", "true")));
}

TEST(ParsePolicy, refuses_empty_parts) {
  for (const char* text : {"", ",", "eva,", "eva,,t=1", "=1", "eva=2", "eva,=3"}) {
    const auto spec = parse_policy(text);
    ASSERT_FALSE(spec.has_value()) << text;
    EXPECT_EQ(spec.error().code, PolicyError::malformed);
  }
}

TEST(MakePolicy, makes_every_policy_that_is_listed_with_every_default_it_lists) {
  for (const PolicyInfo& info : known_policies()) {
    PolicySpec spec{info.name, {}};
    EXPECT_TRUE(make_policy(spec, catalog()).has_value()) << info.name;
    for (const ParamInfo& param : info.params) {
      spec.params.emplace_back(param.name, param.default_value);
    }
    EXPECT_TRUE(make_policy(spec, catalog()).has_value()) << info.name;
  }
}

TEST(MakePolicy, hands_the_parameters_on) {
  const auto made = make("eva,period_s=60");
  EXPECT_EQ(made.value()->cadence().period, std::chrono::seconds{60});
  EXPECT_EQ(make("hcoop").value()->cadence().period, std::chrono::seconds{30});
  EXPECT_EQ(make("hcoop,period_s=5").value()->cadence().period, std::chrono::seconds{5});
  const auto careful = make("eva,t=0.5");
  const auto& split = dynamic_cast<const MarketSplit&>(*careful.value());
  const auto* eva = dynamic_cast<const eva::EvaPolicy*>(&split.on_demand());
  ASSERT_NE(eva, nullptr);
  EXPECT_EQ(eva->table().default_pair(), 0.5);
}

TEST(MakePolicy, names_the_known_policies_when_it_does_not_know_one) {
  expect_failure("hcopo", PolicyError::unknown_policy, {"hcopo", "no-packing", "eva"});
}

TEST(MakePolicy, names_the_known_parameters_when_it_does_not_know_one) {
  expect_failure("eva,tt=1", PolicyError::unknown_parameter, {"tt", "period_s", "artifact"});
  expect_failure("hcoop-no-packing,group=2", PolicyError::unknown_parameter, {"backfill"});
  expect_failure("no-packing,t=1", PolicyError::unknown_parameter, {"no-packing", "period_s"});
}

TEST(MakePolicy, names_the_range_of_a_bad_value) {
  for (const char* bad : {"0", "1.01", "-1", "nan", "inf", "", "0.9x", "x"}) {
    expect_failure(std::string("eva,t=") + bad, PolicyError::bad_value, {"> 0 and <= 1"});
  }
  expect_failure("eva,rp=yes", PolicyError::bad_value, {"true or false", "yes"});
  expect_failure("no-packing,period_s=0", PolicyError::bad_value, {"604800"});
  for (const char* bad : {"0", "4", "1.5"}) {
    expect_failure(std::string("hcoop,group=") + bad, PolicyError::bad_value, {"1, 2 or 3"});
  }
  expect_failure("hcoop,pairing=best", PolicyError::bad_value, {"greedy or exact", "best"});
  expect_failure("hcoop,idle_release_s=-1", PolicyError::bad_value, {">= 0"});
  EXPECT_TRUE(make("hcoop,idle_release_s=0,max_interruptions=0").has_value());
}

TEST(MakePolicy, refuses_parameters_that_contradict_each_other) {
  expect_failure("eva,full-only,partial-only", PolicyError::contradiction, {"full-only"});
  expect_failure("eva,t=0.9,t=0.8", PolicyError::contradiction, {"twice"});
  EXPECT_TRUE(make("eva,full-only,partial-only=false").has_value());
  expect_failure("hcoop,pairing=exact,group=3", PolicyError::contradiction, {"group"});
}

}  // namespace
}  // namespace muster
