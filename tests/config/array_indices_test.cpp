#include "config/array_indices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/job_request.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"

namespace muster {
namespace {

using test::IsGolden;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(ParseArray, UnderstandsIndicesRangesAndALimit) {
  EXPECT_THAT(parse_array("0-3")->indices, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(parse_array("1,3,7-9")->indices, ElementsAre(1, 3, 7, 8, 9));
  EXPECT_THAT(parse_array("9,2")->indices, ElementsAre(9, 2));
  EXPECT_THAT(parse_array("0-100:10")->indices,
              ElementsAre(0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100));
  EXPECT_THAT(parse_array("1-6:4,10%2")->indices, ElementsAre(1, 5, 10));
  EXPECT_THAT(parse_array("3-5:7")->indices, ElementsAre(3));
  EXPECT_EQ(parse_array("0-999990:10")->indices.size(), kMaxTasksPerJob);
  EXPECT_EQ(parse_array("0-99%10")->max_running, 10U);
  EXPECT_EQ(parse_array("0-99999")->indices.size(), kMaxTasksPerJob);
  EXPECT_THAT(parse_array("999999999")->indices, ElementsAre(kMaxArrayIndex));
}

TEST(ParseArray, SaysWhatIsWrong) {
  const auto error = [](const std::string& text) {
    return test::message_of(parse_array(text), ArrayError::malformed);
  };
  EXPECT_THAT(error(""), IsGolden());
  EXPECT_THAT(error("1,,2"), IsGolden());
  EXPECT_THAT(error("-5"), HasSubstr("'-5' is neither"));
  EXPECT_THAT(error("1-2-3"), HasSubstr("'1-2-3' is neither"));
  EXPECT_THAT(error("a"), HasSubstr("'a' is neither"));
  EXPECT_THAT(error("5-2"), HasSubstr("'5-2' runs backwards"));
  EXPECT_THAT(error("0-8:2,4"), HasSubstr("index 4 is there twice"));
  for (const char* bad : {"0-9:0", "0-9:", "0-9:x", "0-9:-1", "5:2", "0-9:2:3"}) {
    EXPECT_THAT(error(bad), IsGolden()) << bad;
  }
  for (const char* bad : {"1:2-3", "5:2-9:1", ":", ":2", "-:1"}) EXPECT_NE(error(bad), "no error");
  EXPECT_THAT(error("0-1000000:10"), HasSubstr("more than 100000 indices"));
  EXPECT_THAT(error("0-4,3"), HasSubstr("index 3 is there twice"));
  EXPECT_THAT(error("0-100000"), HasSubstr("more than 100000 indices"));
  EXPECT_THAT(error("0-1000000000"), IsGolden());
  EXPECT_THAT(error("0-9%"), HasSubstr("behind '%'"));
  EXPECT_THAT(error("0-9%0"), HasSubstr("behind '%'"));
  EXPECT_THAT(error("0-9%x"), HasSubstr("behind '%'"));
}

TEST(ArrayText, IsTheShortestThatNamesTheIndices) {
  for (const char* text :
       {"0-99", "1,3,7-9", "0-100:10", "5", "9,2", "1,3", "0-1", "0-8:4,9-11,20"}) {
    EXPECT_EQ(array_text(parse_array(text)->indices), text);
  }
  EXPECT_EQ(array_text({0, 10, 20}), "0-20:10");
  std::vector<std::uint32_t> wild;
  for (std::uint32_t i = 0; i < 50'000; ++i) wild.push_back(i * i % 1'000'003);
  EXPECT_LT(array_text(wild).size(), 300U);
  EXPECT_TRUE(array_text(wild).ends_with(",..."));
}

}  // namespace
}  // namespace muster
