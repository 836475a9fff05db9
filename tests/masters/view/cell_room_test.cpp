// Why a job waits for room, as its users see it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "masters/view/cell_view.hpp"
#include "model/live_ids.hpp"
#include "tests/masters/scripted_master.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/golden.hpp"

namespace muster {
namespace {

using test::at_s;
using test::IsGolden;
using test::JobBuilder;
using testing::Optional;

class GangUnderACap : public test::MasterTest {
 protected:
  GangUnderACap() {
    MasterCaps caps;
    caps.max_instances = 2;
    make_master(caps);
    master_->submit(JobBuilder(1).tasks(3).gang(true).build(), now());
  }

  /// The job's reason after a round that finds that it asks for so many instances.
  std::optional<std::string> reason_when_asking_for(double instances) {
    const Refusal capped{RefusalKind::not_now, RefusalCode::instance_cap, {}, instances, 1};
    Plan plan;
    for (std::uint64_t task : {1, 101, 102}) plan.refusals.push_back({TaskId{task}, capped});
    round(plan);
    JobQuestion wanted;
    wanted.job = JobId{1};
    return CellView{*master_, nullptr, {}, "m0", at_s(1000)}.job(wanted).view.job.reason;
  }
};

TEST_F(GangUnderACap, ThatWantsMoreThanAllOfItSaysSo) {
  EXPECT_THAT(reason_when_asking_for(3), Optional(IsGolden()));
}

TEST_F(GangUnderACap, ThatWantsMoreThanAllOfItCanNeverRunByItsPlan) {
  Job job = JobBuilder(2).tasks(3).gang(true).build();
  number_job(job, JobId{2});  // as on live clusters, whose plans tell jobs by their tasks
  const TaskId task = job.tasks.front().id;
  master_->submit(std::move(job), now());
  DryRun run;
  run.state = std::make_shared<const ClusterState>(master_->state());
  run.caps = master_->settings().caps;
  run.plan.refusals.push_back({task, {RefusalKind::not_now, RefusalCode::instance_cap, {}, 3, 1}});
  const PlanView plan = view_of(run, JobId{2}, "m0");
  ASSERT_EQ(plan.refusals.size(), 1U);
  EXPECT_EQ(plan.refusals.front().kind, RefusalKind::never);
  EXPECT_THAT(plan.refusals.front().why, IsGolden());
}

TEST_F(GangUnderACap, ThatWillFitWaitsForOthers) {
  EXPECT_THAT(reason_when_asking_for(2), Optional(IsGolden()));
}

class TaskUnderACap : public test::MasterTest {
 protected:
  /// The job's reason after a round that would have rented at this price.
  std::optional<std::string> reason_when_asking_for(double usd_h, double cap_usd_h) {
    MasterCaps caps;
    caps.max_usd_h = cap_usd_h;
    make_master(caps);
    master_->submit(JobBuilder(1).build(), now());
    Plan plan;
    plan.refusals.push_back(
        {TaskId{1}, {RefusalKind::not_now, RefusalCode::spend_cap, {}, usd_h, cap_usd_h}});
    round(plan);
    JobQuestion wanted;
    wanted.job = JobId{1};
    return CellView{*master_, nullptr, {}, "m0", at_s(1000)}.job(wanted).view.job.reason;
  }
};

TEST_F(TaskUnderACap, ThatNothingSoCheapHoldsSaysSo) {
  EXPECT_THAT(reason_when_asking_for(0.2, 0.01), Optional(IsGolden()));
}

TEST_F(TaskUnderACap, ThatACheaperTypeHoldsWaitsForOthers) {
  EXPECT_THAT(reason_when_asking_for(24, 20), Optional(IsGolden()));
}

}  // namespace
}  // namespace muster
