#include "tools/train/past_services.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::train {
namespace {

using muster::test::IsGolden;
using muster::test::message_of;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kHeader = "service,cores,memory_gib,performance\n";

auto read(const std::string& rows, std::uint32_t most = kMostPastServices) {
  const muster::test::TempFile file("past.csv", kHeader + rows);
  return read_past_services(file.path(), most);
}

std::string error_of(const std::string& rows) {
  return message_of(read(rows), ConfigError::invalid);
}

TEST(MeasuredServices, are_read_in_any_order_of_their_sizes_and_relative_to_their_best) {
  const auto measured = read(
      "web,2,4,300\nweb,1,2,100\nqueue,8,16,5\n"
      "web,1,4,200\nweb,2,2,150\n");
  ASSERT_TRUE(measured) << measured.error().message;
  ASSERT_THAT(measured->services, SizeIs(2));
  EXPECT_EQ(measured->rows, 5U);
  const PastService& web = measured->services.front();
  EXPECT_THAT(web.cores, ElementsAre(1, 2));
  EXPECT_THAT(web.memory_gib, ElementsAre(2, 4));
  EXPECT_THAT(web.values, ElementsAre(100 / 300.0, 200 / 300.0, 150 / 300.0, 1));
  EXPECT_THAT(measured->services.back().values, ElementsAre(1));
  EXPECT_THAT(measured->names, ElementsAre("web", "queue"));
}

TEST(MeasuredServices, beyond_the_most_are_the_last_ones) {
  const auto measured = read("a,1,1,1\nb,1,2,1\nc,1,3,1\n", 2);
  ASSERT_TRUE(measured);
  EXPECT_EQ(measured->left_out, 1U);
  ASSERT_THAT(measured->services, SizeIs(2));
  EXPECT_THAT(measured->services.front().memory_gib, ElementsAre(2));
  EXPECT_THAT(measured->names, ElementsAre("b", "c"));
}

TEST(MeasuredServices, are_read_as_a_run_of_service_curves_wrote_them) {
  const auto measured = read_past_services(
      muster::test::source_dir() / "tests/data/services/example_server.csv", kMostPastServices);
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_EQ(measured->rows, 384U);
  ASSERT_THAT(measured->services, SizeIs(24));
  for (const PastService& service : measured->services) EXPECT_TRUE(valid_past_service(service));
}

TEST(MeasuredServices, have_all_that_is_wrong_with_them_named_together) {
  const std::string text = error_of(
      "web,1,2,fast\n"
      "web,0,2,1\n"
      ",1,2,1\n"
      "queue,1,2,5\nqueue,1,2,6\n"
      "cache,1,2,5\ncache,2,4,6\n"
      "idle,1,2,0\n");
  EXPECT_THAT(text, IsGolden()) << "of web no missing rows are named: not all were understood";
}

TEST(MeasuredServices, have_no_more_sizes_than_a_learner_compares) {
  std::string rows;
  for (int cores = 1; cores <= 9; ++cores) {
    for (int gib = 1; gib <= 8; ++gib) {
      rows += "web," + std::to_string(cores) + "," + std::to_string(gib) + ",1\n";
    }
  }
  EXPECT_THAT(error_of(rows), IsGolden());
}

TEST(MeasuredServices, need_their_columns_and_a_row) {
  EXPECT_THAT(error_of(""), HasSubstr("has no service"));
  const muster::test::TempFile file("past.csv", "service,cores,gib\nweb,1,1\n");
  EXPECT_THAT(message_of(read_past_services(file.path(), 1), ConfigError::invalid),
              AllOf(HasSubstr("gib"), HasSubstr("memory_gib"), HasSubstr("performance")));
  EXPECT_EQ(read_past_services("/no/such/file", 1).error().code, ConfigError::unreadable);
}

}  // namespace
}  // namespace muster::train
