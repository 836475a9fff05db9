#include "schedulers/param_kinds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/golden.hpp"

namespace muster::params {
namespace {

using muster::test::IsGolden;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;

/// The kind shows the value as that text, and reads it back from it.
template <class T>
void expect_both_ways(const Kind<T>& kind, const std::string& text, const T& value) {
  EXPECT_EQ(kind.print(value), text);
  EXPECT_EQ(kind.parse(text), std::optional<T>(value)) << text;
}

template <class T>
void expect_refused(const Kind<T>& kind, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) EXPECT_EQ(kind.parse(text), std::nullopt) << text;
}

TEST(ParamKinds, a_flag_is_true_or_false) {
  EXPECT_EQ(flag().range, "true or false");
  expect_both_ways(flag(), "true", true);
  expect_both_ways(flag(), "false", false);
  expect_refused(flag(), {"", "yes", "1", "True"});
}

TEST(ParamKinds, a_negated_flag_means_the_opposite_of_its_member) {
  expect_both_ways(negated_flag(), "true", false);
  expect_both_ways(negated_flag(), "false", true);
  expect_refused(negated_flag(), {"", "no"});
}

TEST(ParamKinds, a_time_beyond_any_run_is_taken_for_a_long_one) {
  for (const char* text : {"1e18", "1e300", "1.7e308"}) {
    const auto time = in_seconds(above(0)).parse(text);
    ASSERT_TRUE(time) << text;
    EXPECT_GT(*time, std::chrono::hours{24 * 365 * 10}) << text;
  }
}

TEST(ParamKinds, a_number_is_in_its_range) {
  const Kind<double> share = number(above(0).up_to(1));
  EXPECT_EQ(share.range, "a number > 0 and <= 1");
  expect_both_ways(share, "0.95", 0.95);
  expect_both_ways(share, "1", 1.0);
  expect_refused(share, {"0", "1.01", "-1", "nan", "inf", "", "0.9x", "x", " 1"});
  const Kind<double> below_one = number(from(0).below(1));
  EXPECT_EQ(below_one.range, "a number >= 0 and < 1");
  expect_both_ways(below_one, "0", 0.0);
  expect_refused(below_one, {"1"});
}

TEST(ParamKinds, numbers_are_written_short) {
  EXPECT_EQ(number_text(604800), "604800");
  EXPECT_EQ(number_text(90.5811), "90.5811");
  EXPECT_EQ(number_text(1e9), "1e9");
  EXPECT_EQ(number_text(1e12), "1e12");
  EXPECT_EQ(number_text(2.5e-7), "2.5e-07");
  EXPECT_EQ(number_text(-3), "-3");
}

TEST(ParamKinds, a_whole_number_has_no_fraction) {
  const Kind<std::uint32_t> count = whole(2, 2000);
  EXPECT_THAT(count.range, AllOf(HasSubstr("2 to 2000"), IsGolden()));
  expect_both_ways(count, "200", std::uint32_t{200});
  expect_refused(count, {"1", "2001", "2.5", "-3", "", "two", "99999999999"});
  EXPECT_EQ(whole(1, 3).range, "1, 2 or 3") << "a few are listed";
}

TEST(ParamKinds, a_choice_is_one_of_its_words) {
  enum class Way { left, right };
  const Kind<Way> way = choice<Way>({{"left", Way::left}, {"right", Way::right}});
  EXPECT_EQ(way.range, "left or right");
  EXPECT_EQ(way.print(Way::right), "right");
  EXPECT_EQ(way.parse("left"), Way::left);
  EXPECT_EQ(way.parse("up"), std::nullopt);
  EXPECT_EQ(any_of({"1", "2", "3"}), "1, 2 or 3");
}

TEST(ParamKinds, a_duration_is_a_number_of_its_unit) {
  const Kind<Duration> seconds = in_seconds(above(0).up_to(604800));
  EXPECT_THAT(seconds.range, AllOf(HasSubstr("> 0 and <= 604800"), IsGolden()));
  expect_both_ways(seconds, "300", Duration{std::chrono::seconds{300}});
  expect_both_ways(seconds, "0.5", Duration{std::chrono::milliseconds{500}});
  expect_refused(seconds, {"0", "604801", "5fortnights", ""});
  EXPECT_EQ(seconds.parse("5min"), Duration{std::chrono::minutes{5}});
  EXPECT_EQ(seconds.parse("10:00"), Duration{std::chrono::minutes{10}});
  EXPECT_EQ(seconds.parse("0.5h"), Duration{std::chrono::minutes{30}});
  EXPECT_EQ(in_milliseconds(from(0).up_to(10)).parse("5ms"),
            Duration{std::chrono::milliseconds{5}});
  expect_refused(in_milliseconds(from(0).up_to(10)), {"1s"});
  expect_refused(seconds, {"8d", "0s", "-1s"});
  expect_refused(seconds, {"1e-10", "1e-300"});  // less than a nanosecond
  expect_refused(in_seconds(from(0).up_to(10)), {"1e-10"});
  expect_both_ways(in_milliseconds(from(0).up_to(10)), "0.5",
                   Duration{std::chrono::microseconds{500}});
}

TEST(ParamKinds, a_path_may_be_left_out) {
  expect_both_ways(path(), "models/a.svm", std::filesystem::path{"models/a.svm"});
  expect_both_ways(path(), "", std::filesystem::path{});
}

TEST(ParamKinds, a_list_has_no_empty_part) {
  expect_both_ways(list(), "", {});
  EXPECT_THAT(list().parse("p3.2xlarge+c7i"), Optional(ElementsAre("p3.2xlarge", "c7i")));
  EXPECT_EQ(list().print({"a", "b"}), "a+b");
  expect_refused(list(), {"+", "a+", "+a", "a++b"});
}

TEST(ParamKinds, an_optional_value_may_be_none) {
  const auto cap = optional(number(above(0).up_to(10)));
  EXPECT_EQ(cap.range, "a number > 0 and <= 10, or none");
  EXPECT_EQ(cap.print(std::nullopt), "none");
  EXPECT_EQ(cap.print(2.5), "2.5");
  EXPECT_THAT(cap.parse("none"), Optional(std::optional<double>{}));
  EXPECT_THAT(cap.parse("2.5"), Optional(std::optional<double>{2.5}));
  EXPECT_EQ(cap.parse("0"), std::nullopt);
}

}  // namespace
}  // namespace muster::params
