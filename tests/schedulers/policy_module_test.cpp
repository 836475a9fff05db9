#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedulers/baselines/no_packing.hpp"
#include "schedulers/describe.hpp"
#include "tests/schedulers/catalogs.hpp"
#include "tests/support/golden.hpp"

namespace muster {
namespace {

using test::IsGolden;
using ::testing::AllOf;
using ::testing::HasSubstr;

struct Inner {
  bool deep = true;
};

/// One member of each kind.
struct SampleParams {
  double share = 0.25;
  std::uint32_t count = 7;
  bool on = false;
  bool usual = true;
  std::optional<std::uint32_t> cap;
  Duration wait{std::chrono::milliseconds{1500}};
  std::filesystem::path model;
  std::vector<std::string> types{"a", "b"};
  Inner inner;
};

PolicyModule sample_module() {
  return describe<SampleParams>("sample", "for tests")
      .param("share", &SampleParams::share, params::number(params::above(0).up_to(1)), "a share")
      .param("count", &SampleParams::count, params::whole(1, 9), "a count")
      .param("on", &SampleParams::on, params::flag(), "a flag")
      .param("unusual", &SampleParams::usual, params::negated_flag(), "a negated flag")
      .param("cap", &SampleParams::cap, params::optional(params::whole(1, 9)), "a cap")
      .param("wait_s", &SampleParams::wait, params::in_seconds(params::from(0).up_to(60)), "a wait")
      .param("model", &SampleParams::model, params::path(), "a file")
      .param("types", &SampleParams::types, params::list(), "names")
      .param("deep", in(&SampleParams::inner, &Inner::deep), params::flag(), "of a member")
      .divided("share")
      .check([](const SampleParams& params) -> std::string {
        if (!params.cap || *params.cap >= params.count) return {};
        return "cap has to be at least count";
      })
      .made_by([](const SampleParams&, const Catalog& catalog) {
        return std::make_unique<NoPacking>(catalog, Market::on_demand);
      });
}

SampleParams read(const std::string& text) {
  return std::any_cast<SampleParams>(sample_module().read(parse_policy(text).value()).value());
}

Failure<PolicyError> failure_of(const std::string& text) {
  return sample_module().read(parse_policy(text).value()).error();
}

TEST(PolicyModule, shares_what_is_stated_for_all_masters_among_them) {
  const PolicyModule module = sample_module();
  const auto share_text = [&](const std::string& policy, std::uint32_t masters) {
    const PolicySpec spec = share_of(module, parse_policy(policy).value(), masters);
    return std::any_cast<SampleParams>(module.read(spec).value());
  };
  EXPECT_EQ(share_text("sample,share=0.5,count=3", 4).share, 0.125);
  EXPECT_EQ(share_text("sample,share=0.5,count=3", 4).count, 3U);
  EXPECT_EQ(share_text("sample", 2).share, 0.125) << "of the default, too";
  EXPECT_EQ(share_text("sample,share=0.5", 1).share, 0.5);
  const PolicySpec wrong = share_of(module, parse_policy("sample,share=much").value(), 2);
  EXPECT_THAT(module.read(wrong).error().message, HasSubstr("much"));
}

TEST(PolicyModule, shows_the_defaults_of_the_struct_and_the_ranges_of_the_kinds) {
  std::string defaults;
  std::string texts;
  for (const ParamInfo& param : sample_module().params) {
    defaults += param.name + "=" + param.default_value + " ";
    texts += param.name + " (" + param.range + ") " + param.meaning + "\n";
  }
  EXPECT_EQ(
      defaults,
      "share=0.25 count=7 on=false unusual=false cap=none wait_s=1.5 model= types=a+b deep=true ");
  EXPECT_THAT(texts, IsGolden());
}

TEST(PolicyModule, sets_the_members_that_parameters_are_bound_to_and_no_others) {
  const SampleParams given =
      read("sample,share=0.5,on,unusual,cap=8,wait_s=2,model=m.svm,types=c,deep=false");
  EXPECT_EQ(given.share, 0.5);
  EXPECT_EQ(given.count, 7U);
  EXPECT_TRUE(given.on);
  EXPECT_FALSE(given.usual);
  EXPECT_EQ(given.cap, 8U);
  EXPECT_EQ(given.wait, std::chrono::seconds{2});
  EXPECT_EQ(given.model, "m.svm");
  EXPECT_EQ(given.types, std::vector<std::string>{"c"});
  EXPECT_FALSE(given.inner.deep);
  EXPECT_EQ(read("sample").share, 0.25);
}

TEST(PolicyModule, names_the_parameter_and_what_is_right_for_each_kind) {
  for (const auto& [text, right] : std::vector<std::pair<std::string, std::string>>{
           {"share=0", "a number > 0 and <= 1"},
           {"share=on", "a number > 0 and <= 1"},
           {"count=10", "a whole number from 1 to 9"},
           {"count=1.5", "a whole number from 1 to 9"},
           {"on=maybe", "true or false"},
           {"unusual=1", "true or false"},
           {"cap=0", "or none"},
           {"wait_s=61", "a number >= 0 and <= 60, or with a unit"},
           {"wait_s=2min", "a number >= 0 and <= 60"},
           {"types=a+", "texts joined by +"}}) {
    const Failure<PolicyError> failure = failure_of("sample," + text);
    EXPECT_EQ(failure.code, PolicyError::bad_value);
    EXPECT_THAT(failure.message,
                HasSubstr("policy \"sample\": parameter \"" + text.substr(0, text.find('='))));
    EXPECT_THAT(failure.message, HasSubstr(right));
    EXPECT_THAT(failure.message, HasSubstr("not \"" + text.substr(text.find('=') + 1) + "\""));
  }
}

TEST(PolicyModule, refuses_a_parameter_that_is_given_twice) {
  for (const char* text : {"sample,on,on", "sample,share=0.5,share=0.5", "sample,cap=8,cap=none"}) {
    const Failure<PolicyError> failure = failure_of(text);
    EXPECT_EQ(failure.code, PolicyError::contradiction);
    EXPECT_THAT(failure.message, HasSubstr("twice"));
  }
}

TEST(PolicyModule, lists_the_parameters_that_there_are) {
  const Failure<PolicyError> failure = failure_of("sample,shar=1");
  EXPECT_EQ(failure.code, PolicyError::unknown_parameter);
  EXPECT_THAT(failure.message, AllOf(HasSubstr("count, on, unusual"), IsGolden()));
}

TEST(PolicyModule, holds_parameters_against_each_other_when_all_are_read) {
  const Failure<PolicyError> failure = failure_of("sample,cap=3");
  EXPECT_EQ(failure.code, PolicyError::contradiction);
  EXPECT_THAT(failure.message, IsGolden());
  EXPECT_EQ(read("sample,cap=3,count=2").cap, 3U);
}

TEST(PolicyModule, makes_its_policy) {
  const Catalog catalog = testing::table_3();
  EXPECT_TRUE(sample_module().make_policy({"sample", {}}, catalog).has_value());
  EXPECT_FALSE(sample_module().make_policy({"sample", {{"cap", "3"}}}, catalog).has_value());
}

}  // namespace
}  // namespace muster
