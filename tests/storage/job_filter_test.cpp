#include "storage/job_filter.hpp"

#include <gtest/gtest.h>

#include "tests/support/builders.hpp"

namespace muster {
namespace {

TEST(JobFilter, takes_all_of_everybody_unless_it_says_otherwise) {
  for (const char* text : {"", "{}", "no json", "[1]", R"({"state": 7, "user": null})"}) {
    const JobFilter filter(text, 0);
    EXPECT_TRUE(filter.active && filter.over) << text;
    EXPECT_TRUE(filter.takes(test::JobBuilder(1).build())) << text;
    EXPECT_EQ(filter.most, JobFilter::kUnlessAsked) << text;
  }
}

TEST(JobFilter, takes_what_it_says) {
  const JobFilter over(R"({"state": "over", "user": "bob"})", 7);
  EXPECT_FALSE(over.active);
  EXPECT_TRUE(over.over);
  EXPECT_EQ(over.most, 7u);
  EXPECT_FALSE(over.takes(test::JobBuilder(1).build())) << "a job of ann";
  const JobFilter active(R"({"state": "active"})", 1'000'000);
  EXPECT_TRUE(active.active);
  EXPECT_FALSE(active.over);
  EXPECT_EQ(active.most, JobFilter::kMost);
}

}  // namespace
}  // namespace muster
