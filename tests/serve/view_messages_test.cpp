// Views and questions arrive as they were sent: what the API writes of them is the same, and so is
// what it does not write.
#include <gtest/gtest.h>

#include "serve/node/view_json.hpp"
#include "tests/support/sample_views.hpp"
#include "tests/support/virtual_system.hpp"

namespace muster {
namespace {

class ViewMessages : public ::testing::Test {
 protected:
  template <class T>
  T sent(T value) {
    std::vector<char> bytes;
    caf::binary_serializer out{system_.actors(), bytes};
    EXPECT_FALSE(out(value));
    caf::binary_deserializer in{system_.actors(), bytes};
    T again;
    EXPECT_FALSE(in(again));
    return again;
  }

  test::VirtualSystem system_;
};

std::string text_of(const JobView& job) {
  JsonText text;
  view_json::add_jobs(text, {job});
  return text.take();
}
std::string text_of(const TaskView& task) {
  JsonText text;
  view_json::add_tasks(text, {task}, true);
  return text.take();
}

TEST_F(ViewMessages, Jobs) {
  const JobsView jobs = sent(JobsView{{test::sample_job(), {}}});
  ASSERT_EQ(jobs.jobs.size(), 2U);
  const JobView& job = jobs.jobs[0];
  EXPECT_EQ(text_of(job), text_of(test::sample_job()));
  EXPECT_EQ(job.whole, 12U);
  EXPECT_EQ(job.failure, "task 11 has failed");
  EXPECT_EQ(job.to, "oslo");
  EXPECT_TRUE(job.to_site);
  EXPECT_EQ(text_of(jobs.jobs[1]), text_of(JobView{})) << "what is not said";
}

TEST_F(ViewMessages, JobDetails) {
  JobDetails details{true, test::sample_job(), {test::sample_task(4), {}}, 17};
  details.tasks[1].reason = ReasonView{RefusalKind::never, std::nullopt, "x"};
  const JobDetails again = sent(details);
  EXPECT_TRUE(again.known);
  EXPECT_EQ(text_of(again.job), text_of(details.job));
  ASSERT_EQ(again.tasks.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(text_of(again.tasks[i]), text_of(details.tasks[i]));
  }
  EXPECT_EQ(again.behind, 17U);
  EXPECT_FALSE(sent(JobDetails{}).known);
}

TEST_F(ViewMessages, WhereAJobIsAndWhatItWasSubmittedAs) {
  const FoundView found = sent(FoundView{true, true, 5});
  EXPECT_TRUE(found.known);
  EXPECT_TRUE(found.over);
  EXPECT_EQ(found.position, 5U);
  EXPECT_EQ(sent(FoundView{}).position, std::nullopt);
  RequestView request;
  request.known = true;
  request.job = test::JobBuilder(7).build();
  request.job.program.env = {{"A", "b"}};
  request.whole = 3;
  request.over = true;
  request.tasks = {{2, 12, TaskEnd::Kind::failed}};
  const RequestView again = sent(request);
  EXPECT_TRUE(again.known);
  EXPECT_TRUE(again.over);
  EXPECT_EQ(again.job.program.env, request.job.program.env);
  EXPECT_EQ(again.whole, 3U);
  ASSERT_EQ(again.tasks.size(), 1U);
  EXPECT_EQ(again.tasks[0].position, 2U);
  EXPECT_EQ(again.tasks[0].index, 12U);
  EXPECT_EQ(again.tasks[0].kind, TaskEnd::Kind::failed);
}

TEST_F(ViewMessages, InstancesDecisionsAndCosts) {
  InstanceView plain;
  plain.instance = InstanceId{9};
  const InstancesView instances{{test::sample_instance(), plain}};
  EXPECT_EQ(view_json::instances(sent(instances).instances, {}),
            view_json::instances(instances.instances, {}));
  const DecisionsView decisions{{test::sample_decision()}};
  EXPECT_EQ(view_json::decisions(sent(decisions).decisions, {}),
            view_json::decisions(decisions.decisions, {}));
  EXPECT_EQ(view_json::cost(sent(test::sample_cost()), {}),
            view_json::cost(test::sample_cost(), {}));
}

TEST_F(ViewMessages, Figures) {
  const CellFigures figures = test::sample_figures();
  const CellFigures again = sent(figures);
  EXPECT_EQ(view_json::status(merge::status({again}, {}, 1, {}), {}),
            view_json::status(merge::status({figures}, {}, 1, {}), {}));
  EXPECT_EQ(again.active_jobs, 6U);
  EXPECT_EQ(again.assigned, 5U);
  EXPECT_EQ(again.instance_count, 5U);
  EXPECT_EQ(again.rounds, 99U);
  EXPECT_EQ(again.last_decision_ms, 1.25);
  ASSERT_EQ(again.counts.size(), 3U);
  EXPECT_EQ(again.counts[1].of, "cloud_capacity");
  ASSERT_EQ(again.histograms.size(), 2U);
  EXPECT_EQ(again.histograms[1].buckets[1].count, 5U);
  EXPECT_EQ(again.histograms[1].sum, 90.5);
  const HistoryView past{{test::sample_of_past(60, 1.5)}};
  EXPECT_EQ(sent(past).samples, past.samples);
  const SiteFigures site = sent(SiteFigures{"oslo", 3, "learns"});
  EXPECT_EQ(site.site, "oslo");
  EXPECT_EQ(site.waiting, 3U);
  EXPECT_EQ(site.trouble, "learns");
  const CloudFigures cloud = sent(CloudFigures{1, 2, 3, 4, "full"});
  EXPECT_EQ(cloud.worker_restarts, 4U);
  EXPECT_EQ(cloud.trouble, "full");
}

TEST_F(ViewMessages, PlansAndBills) {
  EXPECT_EQ(view_json::plan(sent(test::sample_plan())), view_json::plan(test::sample_plan()));
  RentedView bill;
  bill.rented = {{InstanceId{3}, "p3", Market::spot, RentState::ending, test::at_s(1), std::nullopt,
                  test::at_s(5), 0.25, 0.125}};
  bill.total_usd = 9.5;
  bill.launched = 4;
  const RentedView again = sent(bill);
  ASSERT_EQ(again.rented.size(), 1U);
  EXPECT_EQ(again.rented[0].state, RentState::ending);
  EXPECT_EQ(again.rented[0].up, test::at_s(1));
  EXPECT_EQ(again.rented[0].gone, std::nullopt);
  EXPECT_EQ(again.rented[0].usd, 0.125);
  EXPECT_EQ(again.total_usd, 9.5);
  EXPECT_EQ(again.launched, 4U);
}

TEST_F(ViewMessages, Questions) {
  JobsQuestion wanted{.active = false, .user = "ann", .most = 7};
  wanted.active_below = JobId{5};
  wanted.over_below = JobId{6};
  wanted.only = {JobId{1}, JobId{2}};
  const JobsQuestion jobs = sent(wanted);
  EXPECT_FALSE(jobs.active);
  EXPECT_TRUE(jobs.over);
  EXPECT_EQ(jobs.user, "ann");
  EXPECT_EQ(jobs.most, 7U);
  EXPECT_EQ(jobs.active_below, JobId{5});
  EXPECT_EQ(jobs.over_below, JobId{6});
  EXPECT_EQ(jobs.only, wanted.only);
  EXPECT_EQ(sent(JobsQuestion{}).only, std::nullopt);
  const JobQuestion job = sent(JobQuestion{JobId{7}, true, 0, "running", true, 9});
  EXPECT_EQ(job.job, JobId{7});
  EXPECT_TRUE(job.explained);
  EXPECT_EQ(job.after, 0U) << "behind the first task, which is not nothing";
  EXPECT_EQ(job.phase, "running");
  EXPECT_TRUE(job.tasks_only);
  EXPECT_EQ(job.most, 9U);
  EXPECT_EQ(sent(CostQuestion{CostSplit::job}).by, CostSplit::job);
  EXPECT_EQ(sent(FindQuestion{JobId{7}, 3}).index, 3U);
  EXPECT_EQ(sent(RequestQuestion{JobId{7}}).job, JobId{7});
  EXPECT_EQ(sent(RentedQuestion{3}).most, 3U);
}

}  // namespace
}  // namespace muster
