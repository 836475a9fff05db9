#include "masters/actor/site_requests.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "tests/masters/actor/part_host.hpp"
#include "tests/masters/scripted_master.hpp"
#include "tests/support/virtual_system.hpp"

namespace muster {
namespace {

using test::JobBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Verdicts = std::vector<SubmitVerdict>;
using Cancels = std::vector<CancelVerdict>;
using Ends = std::vector<JobEnd>;

/// Jobs that are over, read when the test says so.
class ReadLater final : public History {
 public:
  void add(JobHistory job) override { jobs[job.job.id] = std::move(job); }
  std::size_t size() const override { return jobs.size(); }
  std::optional<JobHistory> find(JobId id) const override {
    const auto found = jobs.find(id);
    return found == jobs.end() ? std::nullopt : std::optional(found->second);
  }
  Expected<std::optional<JobEnding>, StoreError> ending(JobId id) const override {
    if (is_unreadable) return Failure<StoreError>{StoreError::unreadable, {}};
    const auto found = endings.find(id);
    return found == endings.end() ? History::ending(id) : std::optional(found->second);
  }
  void newest(std::size_t, const Use&) const override {}
  bool contains(JobId id) const override { return jobs.contains(id); }
  bool read_apart(std::function<void()> read) const override {
    if (is_full) return false;
    waiting.push_back(std::move(read));
    return true;
  }

  std::map<JobId, JobHistory> jobs;
  std::map<JobId, JobEnding> endings;  ///< of those that are known no more
  bool is_full = false;
  bool is_unreadable = false;
  mutable std::vector<std::function<void()>> waiting;
};

class SiteRequestsTest : public test::MasterTest {
 protected:
  SiteRequestsTest() { make(10); }
  ~SiteRequestsTest() override {
    sites_->clear();
    system_.end(listener_);
  }

  void make(std::size_t max_watches) {
    SiteRequests::Host host;
    host.takes_jobs = [this] { return takes_jobs_; };
    host.monitor = [this](const JobListener&) { ++monitored_; };
    host.tell = [this](const JobListener&, const JobEnd& end) { told_.push_back(end.job.value); };
    sites_.emplace(SiteRequests::Parts{*master_, reads_, host_}, max_watches, std::move(host));
  }
  void hand(const Job& job) { sites_->submit({job}, verdicts_.answer()); }
  void read_all() {
    for (const auto& read : std::exchange(history_.waiting, {})) read();
    host_.hear_posted();
  }
  /// The job has run here and is over.
  void complete(std::uint64_t id) {
    one_running(id);
    master_->task_finished({TaskId{first_task(id)}, 1, {}}, now());
    commit();
  }
  static std::uint64_t first_task(std::uint64_t id) {
    return JobBuilder(id).build().tasks.front().id.value;
  }
  /// The jobs that a site is told of which has heard of that many completed ones.
  std::vector<std::uint64_t> completed(std::uint64_t run, std::uint64_t heard) {
    LoadQuestion asked;
    asked.run = run;
    asked.completed = heard;
    std::vector<std::uint64_t> jobs;
    for (const JobRuntime& each : sites_->load(asked, 5).completed) jobs.push_back(each.job.value);
    return jobs;
  }

  test::VirtualSystem system_;
  JobListener listener_ =
      system_.actors().spawn([](JobListener::pointer) -> JobListener::behavior_type {
        return {[](over_atom, const JobEnd&) {}};
      });
  ReadLater history_;
  test::FakePartHost host_;
  ApartReads reads_{&history_, host_};
  bool takes_jobs_ = true;
  int monitored_ = 0;
  std::vector<std::uint64_t> told_;
  test::Answered<Verdicts> verdicts_;
  test::Answered<Cancels> cancels_;
  test::Answered<Ends> ends_;
  std::optional<SiteRequests> sites_;
};

TEST_F(SiteRequestsTest, AJobThatIsHandedOverAgainIsTheSameAndAnotherOfItsNumberIsNot) {
  hand(JobBuilder(1).build());
  hand(JobBuilder(1).build());
  Job other = JobBuilder(1).tasks(2).build();
  hand(other);
  ASSERT_EQ(verdicts_.values.size(), 3U);
  EXPECT_TRUE(verdicts_.values[1][0].accepted);
  EXPECT_FALSE(verdicts_.values[2][0].accepted);
  EXPECT_TRUE(verdicts_.values[2][0].conflict);
  EXPECT_EQ(host_.commits, 3) << "what is answered is durable";
}

TEST_F(SiteRequestsTest, JobsAreNotTakenWhileTheyCannotBeKept) {
  takes_jobs_ = false;
  hand(JobBuilder(1).build());
  ASSERT_EQ(verdicts_.errors.size(), 1U);
  EXPECT_EQ(verdicts_.errors[0], caf::make_error(ActorError::store_failed));
  EXPECT_EQ(master_->state().find(JobId{1}), nullptr);
}

TEST_F(SiteRequestsTest, AJobThatIsOverIsComparedWithTheHistoryApart) {
  Job job = JobBuilder(7).build();
  job.token = "again";
  history_.jobs[job.id].job = job;
  hand(job);
  Job other = JobBuilder(7).tasks(2).build();
  other.token = "again";
  hand(other);
  EXPECT_THAT(verdicts_.values, IsEmpty()) << "the disk has not answered";
  read_all();
  ASSERT_EQ(verdicts_.values.size(), 2U);
  EXPECT_TRUE(verdicts_.values[0][0].accepted);
  EXPECT_TRUE(verdicts_.values[1][0].conflict);
  history_.is_full = true;
  hand(job);
  ASSERT_EQ(verdicts_.errors.size(), 1U);
  EXPECT_EQ(verdicts_.errors[0], caf::make_error(ActorError::store_failed));
}

TEST_F(SiteRequestsTest, HowAWholeJobEndedIsKnownWhenTheHistoryHasDroppedIt) {
  complete(1);
  master_->submit(JobBuilder(2).build(), now());
  master_->cancel(JobId{2}, now(), JobOutcome::expired);
  master_->submit(JobBuilder(3).build(), now());
  master_->cancel(JobId{3}, now());
  commit();
  sites_->watch(listener_, {JobId{1}, JobId{2}, JobId{3}}, ends_.answer());
  read_all();
  ASSERT_EQ(ends_.values.size(), 1U);
  const Ends& ends = ends_.values[0];
  ASSERT_EQ(ends.size(), 3U);
  EXPECT_TRUE(ends[0].known);
  EXPECT_EQ(ends[0].outcome, JobOutcome::completed);
  EXPECT_TRUE(ends[1].known);
  EXPECT_EQ(ends[1].outcome, JobOutcome::failed);
  EXPECT_FALSE(ends[2].known) << "neither completed nor failed";
}

TEST_F(SiteRequestsTest, HowAPartEndedIsToldWhenTheHistoryHasDroppedIt) {
  Job part = JobBuilder(3).build();
  part.total_tasks = 5;
  master_->submit(part, now());
  master_->cancel(JobId{3}, now());
  commit();
  history_.endings[JobId{3}] = {.job = JobId{3},
                                .outcome = JobOutcome::cancelled,
                                .first = 4,
                                .tasks = 1,
                                .whole = 5,
                                .broken = true};
  sites_->watch(listener_, {JobId{3}}, ends_.answer());
  read_all();
  const Ends& ends = ends_.values.at(0);
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_TRUE(ends[0].known);
  EXPECT_TRUE(ends[0].broken);
  EXPECT_EQ(ends[0].outcome, JobOutcome::cancelled);
  EXPECT_EQ(ends[0].first, 4U);
  EXPECT_EQ(ends[0].tasks, 1U) << "it is not taken for the whole job";
  EXPECT_EQ(ends[0].whole, 5U);
}

TEST_F(SiteRequestsTest, AnEndThatCannotBeReadNowIsNotTakenForAForgottenOne) {
  complete(1);
  history_.is_unreadable = true;
  sites_->watch(listener_, {JobId{1}}, ends_.answer());
  read_all();
  EXPECT_THAT(ends_.values, IsEmpty());
  ASSERT_EQ(ends_.errors.size(), 1U);
  EXPECT_EQ(ends_.errors[0], caf::make_error(ActorError::store_failed));
}

TEST_F(SiteRequestsTest, ACancelSaysHowTheJobStands) {
  complete(1);
  hand(JobBuilder(2).build());
  sites_->cancel({JobId{1}, JobId{2}, JobId{3}}, cancels_.answer());
  ASSERT_EQ(cancels_.values.size(), 1U);
  EXPECT_EQ(cancels_.values[0][0].standing, CancelStanding::over);
  EXPECT_EQ(cancels_.values[0][1].standing, CancelStanding::ended);
  EXPECT_EQ(cancels_.values[0][2].standing, CancelStanding::unknown);
}

TEST_F(SiteRequestsTest, AnEndIsToldOnceAndALateWatchIsAnsweredAtOnce) {
  sites_->watch(listener_, {JobId{1}, JobId{2}}, ends_.answer());
  EXPECT_EQ(monitored_, 1);
  EXPECT_THAT(ends_.values.at(0), IsEmpty()) << "what is unknown may be on its way";
  complete(1);
  const JobEnd end{JobId{1}, JobOutcome::completed, 0, 1, 1, false};
  sites_->tell(end);
  sites_->tell(end);
  EXPECT_THAT(told_, ElementsAre(1));
  sites_->watch(listener_, {JobId{1}}, ends_.answer());
  ASSERT_EQ(ends_.values.at(1).size(), 1U);
  EXPECT_THAT(history_.waiting, IsEmpty()) << "the newest ends are known";
}

TEST_F(SiteRequestsTest, WhatEndedLongAgoIsReadAndWhatIsForgottenHasNoTasks) {
  complete(1);
  history_.jobs[JobId{7}].job = JobBuilder(7).tasks(3).build();
  sites_->watch(listener_, {JobId{1}, JobId{7}}, ends_.answer());
  EXPECT_THAT(ends_.values, IsEmpty());
  read_all();
  ASSERT_EQ(ends_.values.size(), 1U);
  EXPECT_EQ(ends_.values[0].at(0).tasks, 0U);
  EXPECT_EQ(ends_.values[0].at(1).tasks, 3U);
}

TEST_F(SiteRequestsTest, AListenerThatHasEndedIsToldNothing) {
  sites_->watch(listener_, {JobId{1}}, ends_.answer());
  EXPECT_TRUE(sites_->drop(listener_.address()));
  EXPECT_FALSE(sites_->drop(listener_.address())) << "it is known no more";
  sites_->tell({JobId{1}, JobOutcome::completed, 0, 1, 1, false});
  EXPECT_THAT(told_, IsEmpty());
}

TEST_F(SiteRequestsTest, MoreJobsThanMayBeWatchedAreTurnedAway) {
  make(1);
  sites_->watch(listener_, {JobId{1}, JobId{2}}, ends_.answer());
  ASSERT_EQ(ends_.errors.size(), 1U);
  EXPECT_EQ(ends_.errors[0], caf::make_error(ActorError::not_connected));
}

TEST_F(SiteRequestsTest, CompletedJobsAreToldUntilTheSiteHasHeardOfThem) {
  complete(1);
  complete(2);
  EXPECT_THAT(completed(5, 0), ElementsAre(1, 2));
  EXPECT_THAT(completed(5, 1), ElementsAre(2));
  EXPECT_THAT(completed(5, 2), IsEmpty());
  EXPECT_THAT(completed(4, 2), ElementsAre(1, 2)) << "of another run it has heard nothing";
}

Job with_deadline(std::uint64_t id, double s) {
  Job job = JobBuilder(id).build();
  job.deadline = test::at_s(s);
  return job;
}

TEST_F(SiteRequestsTest, AJobThatIsNotOverAtItsDeadlineIsEnded) {
  host_.on_commit = [this] { commit(); };
  hand(with_deadline(1, 50));
  hand(with_deadline(2, 60));
  hand(JobBuilder(3).build());
  host_.run_until_s(49);
  EXPECT_NE(master_->state().find(JobId{1}), nullptr);
  host_.run_until_s(55);
  EXPECT_EQ(master_->state().find(JobId{1}), nullptr);
  EXPECT_NE(master_->state().find(JobId{2}), nullptr);
  EXPECT_EQ(host_.rounds_wanted, 1) << "others may have its room";
  sites_->tell({JobId{2}, JobOutcome::completed, 0, 1, 1});
  host_.run_until_s(70);
  EXPECT_NE(master_->state().find(JobId{2}), nullptr) << "it was said to be over";
  EXPECT_NE(master_->state().find(JobId{3}), nullptr);
}

TEST_F(SiteRequestsTest, DeadlinesHoldThroughARestart) {
  host_.on_commit = [this] { commit(); };
  hand(with_deadline(1, 50));
  make(10);
  sites_->recall();
  host_.run_until_s(51);
  EXPECT_EQ(master_->state().find(JobId{1}), nullptr);
}

}  // namespace
}  // namespace muster
