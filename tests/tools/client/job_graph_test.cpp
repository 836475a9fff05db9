// Pipelines as people read them; the texts stand in tests/golden/tools/client/job_graph.txt.
#include "tools/client/job_graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/builders.hpp"
#include "tests/support/golden.hpp"

namespace muster::client {
namespace {

using muster::test::at_s;
using muster::test::IsGolden;
using nlohmann::json;

/// Submitted at 100 s times its number.
JobView job_of(std::uint64_t number, const std::string& name, std::vector<AfterView> after = {}) {
  JobView job;
  job.job = JobId{number};
  job.name = name;
  job.state = after.empty() ? ShownState::completed : ShownState::waiting;
  job.submitted = at_s(100.0 * static_cast<double>(number));
  job.after = std::move(after);
  return job;
}

AfterView on(std::uint64_t number, AfterEnd when = AfterEnd::ok) {
  return {JobId{number}, when};
}

/// Job 12 of two ways that meet in job 15, and jobs that have nothing to do with them.
JobGraph diamond(std::uint64_t root) {
  JobGraph graph(JobId{root});
  graph.add(job_of(20, "other", {on(19)}));
  graph.add(job_of(19, "other's first"));
  graph.add(job_of(15, "report", {on(14, AfterEnd::any), on(13)}));
  graph.add(job_of(14, "clean \"up\"\\", {on(12, AfterEnd::fail), on(3)}));
  graph.add(job_of(13, "train", {on(12)}));
  graph.add(job_of(12, "prep"));
  return graph;
}

TEST(JobGraph, IsATableInWhichAJobStandsBelowThoseThatItWaitsFor) {
  EXPECT_THAT(diamond(13).text(), IsGolden());
}

TEST(JobGraph, IsOnePipelineWhicheverOfItsJobsIsNamed) {
  for (const std::uint64_t root : {12U, 14U, 15U})
    EXPECT_EQ(diamond(root).text(), diamond(13).text());
  EXPECT_NE(diamond(20).text(), diamond(13).text());
}

TEST(JobGraph, IsAPictureForGraphvizWhateverTheNamesAre) {
  EXPECT_THAT(diamond(13).dot(), IsGolden());
}

TEST(JobGraph, IsADocument) {
  const json document = json::parse(diamond(13).json());
  EXPECT_EQ(document["job"], 13);
  EXPECT_EQ(document["jobs"].size(), 4U);
  EXPECT_EQ(document["jobs"][3]["after"], json::parse(R"([{"job": 14, "when": "any"},
                                                         {"job": 13, "when": "ok"}])"));
  EXPECT_EQ(document["unknown"], json({3}));
}

TEST(JobGraph, HasAJobThatIsNamedTwiceInConditionsOnce) {
  JobGraph graph(JobId{1});
  graph.add(job_of(2, "second", {on(1), on(1, AfterEnd::any)}));
  graph.add(job_of(1, "first"));
  graph.add(job_of(1, "first"));
  EXPECT_EQ(json::parse(graph.json())["jobs"].size(), 2U);
}

TEST(JobGraph, IsWholeWhenAllThatItWaitsForIsThereAndOlderJobsFollow) {
  JobGraph graph(JobId{13});
  graph.add(job_of(13, "train", {on(12)}));
  EXPECT_FALSE(graph.is_whole_behind(job_of(11, "older"))) << "job 12 was not seen";
  graph.add(job_of(12, "prep"));
  EXPECT_TRUE(graph.is_whole_behind(job_of(11, "older")));
  EXPECT_FALSE(graph.is_whole_behind(job_of(12, "prep"))) << "others may have come with it";
  JobView unsaid = job_of(11, "older");
  unsaid.submitted.reset();
  EXPECT_FALSE(graph.is_whole_behind(unsaid));
}

TEST(JobGraphTest, AResubmissionBelongsToItsPipeline) {
  JobGraph graph(JobId{13});
  JobView first = job_of(12, "prep");
  first.state = ShownState::failed;
  JobView again = job_of(14, "prep");
  again.again_of = JobId{12};
  graph.add(again);
  graph.add(job_of(13, "train", {on(12)}));
  graph.add(first);
  EXPECT_THAT(graph.text(), IsGolden());
  EXPECT_THAT(graph.dot(), IsGolden());
  EXPECT_EQ(json::parse(graph.json())["jobs"].back()["again_of"], 12);
}

}  // namespace
}  // namespace muster::client
