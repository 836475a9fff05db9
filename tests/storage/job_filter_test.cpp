#include "storage/job_filter.hpp"

#include <gtest/gtest.h>

#include "storage/task_filter.hpp"
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

TEST(JobFilter, begins_behind_a_cursor) {
  const JobFilter first(JobFilter::page("all", "ann", std::nullopt), 0);
  EXPECT_TRUE(first.active && first.over);
  EXPECT_FALSE(first.active_below.valid() || first.over_below.valid());
  EXPECT_EQ(first.user, "ann");
  const JobFilter active(JobFilter::page("all", "", JobCursor{false, JobId{12}}), 0);
  EXPECT_TRUE(active.active && active.over);
  EXPECT_EQ(active.active_below, JobId{12});
  EXPECT_FALSE(active.over_below.valid()) << "of those that are over none was shown yet";
  const JobFilter over(JobFilter::page("all", "", JobCursor{true, JobId{7}}), 0);
  EXPECT_FALSE(over.active) << "all of these were shown";
  EXPECT_EQ(over.over_below, JobId{7});
}

TEST(JobFilter, asks_for_all_parts_of_some_jobs) {
  const JobFilter some(JobFilter::parts_of({JobId{3}, JobId{1}}), 0);
  ASSERT_TRUE(some.only);
  EXPECT_EQ(*some.only, (std::vector<JobId>{JobId{3}, JobId{1}}));
  EXPECT_FALSE(JobFilter("{}", 0).only);
}

TEST(TaskFilter, says_what_it_is_told) {
  TaskFilter wanted;
  EXPECT_EQ(TaskFilter(wanted.text(), 0).after, std::nullopt);
  wanted.after = 7;
  wanted.phase = "not run";
  wanted.tasks_only = true;
  const TaskFilter read(wanted.text(), 20'000);
  EXPECT_EQ(read.after, 7U);
  EXPECT_EQ(read.phase, "not run");
  EXPECT_TRUE(read.tasks_only);
  EXPECT_EQ(read.most, TaskFilter::kMost);
  for (const char* text : {"", "[]", R"({"after_task": "x", "phase": 7, "tasks_only": 1})"}) {
    const TaskFilter all(text, 0);
    EXPECT_FALSE(all.after || all.tasks_only || !all.phase.empty()) << text;
    EXPECT_EQ(all.most, TaskFilter::kUnlessAsked);
  }
}

TEST(JobCursor, is_read_as_it_was_written) {
  for (const JobCursor& place :
       {JobCursor{false, JobId{0}}, JobCursor{true, JobId{1'000'000'001}}}) {
    EXPECT_EQ(job_cursor_from(to_text(place)), place);
  }
  for (const char* text : {"", "active", "active:", "over:x", "over: 1", "over:+1", "Over:1"}) {
    EXPECT_FALSE(job_cursor_from(text)) << text;
  }
}

}  // namespace
}  // namespace muster
