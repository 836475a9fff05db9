#include "tests/serve/node/actor_backend_fixture.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/sample_views.hpp"

namespace muster::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST_F(ActorBackendTest, AJobIsHeldWhenEveryMasterWithAPartHasConfirmedIt) {
  fakes_[1].finds = {};
  for (const JobChange each : {JobChange::hold, JobChange::release}) {
    EXPECT_EQ(change(each).status, 200);
  }
  EXPECT_EQ(fakes_[0].held, 2);
  EXPECT_EQ(fakes_[1].held, 0);
  EXPECT_EQ(fakes_[2].held, 2);
}

TEST_F(ActorBackendTest, AJobThatWaitsAtASiteIsHeldThere) {
  for (FakeMaster& fake : fakes_) fake.finds = {};
  JobView waits;
  waits.job = JobId{1};
  site_says_.shows = {waits};
  EXPECT_EQ(change(JobChange::hold).status, 200);
  EXPECT_TRUE(site_says_.held.at(JobId{1}));
  EXPECT_EQ(change(JobChange::release).status, 200);
  EXPECT_FALSE(site_says_.held.at(JobId{1}));
  site_says_.holds = ActorError::unknown;
  EXPECT_EQ(change(JobChange::hold).status, 409) << "it has just left";
}

TEST_F(ActorBackendTest, AMasterThatMayHaveAPartAndDoesNotAnswerIsNamed) {
  fakes_[1].answers = false;
  for (const JobChange each : {JobChange::hold, JobChange::release}) {
    const api::Answer answer = change(each);
    EXPECT_EQ(answer.status, 503);
    EXPECT_THAT(answer.json, AllOf(HasSubstr("master m1"), IsGolden()));
  }
  EXPECT_EQ(fakes_[0].held, 2) << "the others are told all the same";
  fakes_[1].answers = true;
  fakes_[1].finds = {};
  EXPECT_EQ(change(JobChange::release).status, 200);
}

TEST_F(ActorBackendTest, AMasterThatGoesBeforeItHasConfirmedIsNamed) {
  fakes_[0].answers = false;
  fakes_[2].holds = ActorError::not_connected;
  const api::Answer answer = change(JobChange::hold);
  EXPECT_EQ(answer.status, 503);
  EXPECT_THAT(answer.json, AllOf(HasSubstr("master m0, master m2"), Not(HasSubstr("m1"))));
}

TEST_F(ActorBackendTest, WhoseAJobIsIsSaidByAnyPartOfItOrElseWhyNot) {
  fakes_[1].answers = false;
  fakes_[2].jobs = {part(1, true)};
  fakes_[2].jobs.front().user = "ann";
  std::optional<api::JobOwner> said;
  const auto ask = [&] {
    said.reset();
    backend_->owner(JobId{1}, [&](api::JobOwner owner) { said = std::move(owner); });
    system_.time().drain();
    ASSERT_TRUE(said.has_value());
  };
  ask();
  EXPECT_EQ(said->user, "ann");
  fakes_[2].jobs.clear();
  for (FakeMaster& fake : fakes_) fake.finds = {};
  ask();
  EXPECT_EQ(said->user, std::nullopt);
  EXPECT_EQ(said->why.status, 503);
  EXPECT_THAT(said->why.json, HasSubstr("m1"));
  fakes_[1].answers = true;
  ask();
  EXPECT_EQ(said->why.status, 404);
}

TEST_F(ActorBackendTest, WhoseAJobIsThatCameInHereIsKnownWhileItsMasterIsSilent) {
  for (FakeMaster& fake : fakes_) fake.answers = false;
  Job job = JobBuilder(1).build();
  job.user = "ann";
  std::optional<api::Answer> taken;
  backend_->submit({job}, [&](api::Answer answer) { taken = std::move(answer); });
  system_.time().drain();
  ASSERT_TRUE(taken.has_value());
  EXPECT_EQ(taken->json, R"({"jobs":[{"job":7}]})");
  std::optional<api::JobOwner> said;
  backend_->owner(JobId{7}, [&](api::JobOwner owner) { said = std::move(owner); });
  ASSERT_TRUE(said.has_value());
  EXPECT_EQ(said->user, "ann");
}

TEST(JobOwners, AreKnownOfTheNewestJobs) {
  JobOwners owners(2);
  owners.add(JobId{1}, "ann");
  owners.add(JobId{2}, "bob");
  owners.add(JobId{2}, "cleo");
  EXPECT_EQ(owners.find(JobId{1}), "ann");
  owners.add(JobId{3}, "dora");
  EXPECT_EQ(owners.find(JobId{1}), std::nullopt);
  EXPECT_EQ(owners.find(JobId{2}), "cleo");
  EXPECT_EQ(owners.find(JobId{3}), "dora");
}

/// A master's figures.
CellFigures figures() {
  CellFigures all;
  all.master = "m";
  all.usd_h = 0.5;
  all.today_usd = 1;
  all.total_usd = 2;
  all.instance_count = 3;
  all.active_jobs = 4;
  all.pending = 5;
  all.assigned = 1;
  return all;
}

TEST_F(ActorBackendTest, TheTroubleOfASitesStoreIsSeenInTheStatus) {
  for (FakeMaster& fake : fakes_) fake.figures = figures();
  EXPECT_EQ(look(api::Operation::status)["trouble"], nlohmann::json::array());
  site_says_.trouble = "the disk is full";
  EXPECT_EQ(look(api::Operation::status)["trouble"],
            nlohmann::json::array({"site oslo: the disk is full"}));
}

TEST_F(ActorBackendTest, OnlyTheMetricsAskMastersForTheSeriesOfWhatTasksReport) {
  for (FakeMaster& fake : fakes_) fake.figures = figures();
  look(api::Operation::status);
  look(api::Operation::nodes);
  system_.run_until_s(60);
  EXPECT_EQ(fakes_[0].series_asked, 0);
  EXPECT_EQ(reachable(), (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(fakes_[0].series_asked, 1);
}

TEST_F(ActorBackendTest, ATotalThatLacksAPartSaysWhoseSinceWhenAndWhatTheySaidLast) {
  for (FakeMaster& fake : fakes_) fake.figures = figures();
  const nlohmann::json whole = look(api::Operation::status);
  EXPECT_EQ(whole["complete"], true);
  EXPECT_EQ(whole["silent"], nlohmann::json::array());
  EXPECT_EQ(whole["usd_h"], 1.5);
  system_.run_until_s(100);
  fakes_[1].answers = false;
  system_.run_until_s(112);
  for (const auto kind : {api::Operation::status, api::Operation::cost, api::Operation::jobs}) {
    const nlohmann::json part = look(kind);
    EXPECT_EQ(part["complete"], false);
    ASSERT_EQ(part["silent"].size(), 1U);
    const nlohmann::json silent = part["silent"][0];
    EXPECT_EQ(silent["master"], "m1");
    EXPECT_EQ(silent["since_s"], 112);
    EXPECT_EQ(silent["last"], nlohmann::json::parse(R"({"usd_h": 0.5, "today_usd": 1.0,
        "total_usd": 2.0, "instances": 3, "active_jobs": 4, "pending_tasks": 6})"));
  }
  EXPECT_EQ(look(api::Operation::status)["usd_h"], 1) << "what the others say";
  EXPECT_EQ(reachable(), (std::vector<double>{1, 0, 1}));
  fakes_[1].answers = true;
  EXPECT_EQ(look(api::Operation::cost)["complete"], true);
  EXPECT_EQ(reachable(), (std::vector<double>{1, 1, 1}));
}

TEST_F(ActorBackendTest, ThePastIsTheSumOfWhatTheMastersKeepAndSaysWhosePartIsMissing) {
  fakes_[0].past.samples = {sample_of_past(60, 1), sample_of_past(120, 2)};
  fakes_[1].past.samples = {sample_of_past(60, 4)};
  fakes_[2].answers = false;
  const nlohmann::json past = look(api::Operation::history);
  ASSERT_EQ(past["samples"].size(), 2U);
  EXPECT_EQ(past["samples"][1]["usd_h"], 6.0);
  EXPECT_EQ(past["complete"], false);
  EXPECT_EQ(past["silent"][0]["master"], "m2");
}

TEST_F(ActorBackendTest, OfOneThatNeverAnsweredNothingIsKnown) {
  fakes_[1].answers = fakes_[2].answers = false;
  const nlohmann::json part = look(api::Operation::status);
  ASSERT_EQ(part["silent"].size(), 2U);
  EXPECT_FALSE(part["silent"][0].contains("last"));
}

TEST_F(ActorBackendTest, WhatAMasterSaidLastIsKnownThoughNobodyAsked) {
  for (FakeMaster& fake : fakes_) fake.figures = figures();
  backend_->keep_asking();
  system_.run_until_s(60);
  fakes_[2].answers = false;
  system_.run_until_s(90);
  const nlohmann::json silent = look(api::Operation::status)["silent"];
  ASSERT_EQ(silent.size(), 1U);
  EXPECT_EQ(silent[0]["master"], "m2");
  EXPECT_EQ(silent[0]["since_s"], 30);
  EXPECT_EQ(silent[0]["last"]["usd_h"], 0.5);
}

TEST_F(ActorBackendTest, WhatUsersHaveCostTodayIsCountedThoughNobodyAsked) {
  backend_->keep_asking();
  system_.run_until_s(30);
  fakes_[0].cost.by = {{"ann", 2}, {"bob", 1}};
  fakes_[1].cost.by = {{"bob", 3}};
  system_.run_until_s(60);
  const nlohmann::json today = look(api::Operation::cost_today);
  EXPECT_EQ(today["by"][0]["name"], "bob");
  EXPECT_EQ(today["by"][0]["usd"], 4);
  EXPECT_EQ(today["by"][1]["usd"], 2);
  EXPECT_EQ(today["since_s"], 0);
}

TEST_F(ActorBackendTest, SinceWhenASiteIsSilentIsKnownThoughNobodyAsked) {
  for (FakeMaster& fake : fakes_) fake.figures = figures();
  backend_->keep_asking();
  system_.run_until_s(60);
  site_says_.answers = false;
  system_.run_until_s(90);
  const nlohmann::json silent = look(api::Operation::status)["silent"];
  ASSERT_EQ(silent.size(), 1U);
  EXPECT_EQ(silent[0]["site"], "oslo");
  EXPECT_EQ(silent[0]["since_s"], 30);
}

TEST_F(ActorBackendTest, TheClusterIsReachableWhileAMasterIs) {
  for (FakeMaster& fake : fakes_) fake.answers = false;
  EXPECT_EQ(reachable(), (std::vector<double>{0, 0, 0}));
  EXPECT_THAT(text_, HasSubstr("\nmuster_cluster_reachable 0\n"));
  EXPECT_THAT(text_, HasSubstr("muster_master_reachable{master=\"m1\"} 0\n"));
  fakes_[1].answers = true;
  EXPECT_EQ(reachable(), (std::vector<double>{0, 1, 0}));
  EXPECT_THAT(text_, HasSubstr("\nmuster_cluster_reachable 1\n"));
}

TEST_F(ActorBackendTest, WhatInstancesHaveCostIsToldWithoutTheCloudsPart) {
  for (FakeMaster& fake : fakes_) fake.cost.total_usd = 2;
  const nlohmann::json part = look(api::Operation::cost, api::CostBy::instance);
  EXPECT_EQ(part["complete"], false);
  EXPECT_EQ(part["silent"], nlohmann::json::parse(R"([{"cloud": "n9"}])"));
  EXPECT_EQ(part["total_usd"], 6);
  RentedInstance one{InstanceId{3}, "c7i.large"};
  one.usd = 0.5;
  rented_ = RentedView{{one}};
  const nlohmann::json whole = look(api::Operation::cost, api::CostBy::instance);
  EXPECT_EQ(whole["complete"], true);
  EXPECT_EQ(whole["by"][0]["name"], "3 c7i.large");
}

/// What a master has of a job of two tasks.
RequestView request_of(TaskEnd::Kind first, TaskEnd::Kind second) {
  RequestView view;
  view.known = true;
  view.job = JobBuilder(1).build();
  view.job.id = {};
  view.whole = 2;
  view.tasks = {{0, 0, first}, {1, 1, second}};
  return view;
}
constexpr auto kFailed = TaskEnd::Kind::failed;

TEST_F(ActorBackendTest, AResubmissionIsTheSameAfterMoreOfItsTasksHaveFailed) {
  fakes_[0].request = request_of(kFailed, TaskEnd::Kind::neither);
  EXPECT_EQ(resubmit(1, "mine").json, R"({"jobs":[{"job":7}]})");
  fakes_[0].request = request_of(kFailed, kFailed);
  const api::Answer again = resubmit(1, "mine");
  EXPECT_EQ(again.status, 201) << again.json;
  EXPECT_EQ(again.json, R"({"jobs":[{"job":7}]})");
  EXPECT_EQ(resubmit(1, "another").json, R"({"jobs":[{"job":8}]})");
  EXPECT_EQ(resubmit(1, "mine", false).json, R"({"jobs":[{"job":9}]})")
      << "asks for something else";
  EXPECT_EQ(resubmit(2, "mine").json, R"({"jobs":[{"job":10}]})") << "likewise";
}

TEST_F(ActorBackendTest, AResubmissionMayAllowOtherFailures) {
  fakes_[0].request = request_of(kFailed, kFailed);
  EXPECT_EQ(resubmit(1, "mine").status, 201);
  EXPECT_EQ(site_says_.max_fails, std::nullopt);
  EXPECT_EQ(resubmit(1, "mine", true, 3).json, R"({"jobs":[{"job":8}]})") << "something else";
  EXPECT_EQ(site_says_.max_fails, 3u);
}

TEST_F(ActorBackendTest, APartThatIsOverMeanwhileIsNoObstacle) {
  fakes_[2].holds = ActorError::unknown;
  EXPECT_EQ(change(JobChange::hold).status, 200);
  fakes_[0].holds = fakes_[1].holds = ActorError::unknown;
  EXPECT_EQ(change(JobChange::hold).status, 409) << "all of them are";
}

TEST_F(ActorBackendTest, AJobThatIsStoppingIsNeitherHeldNorReleased) {
  for (FakeMaster& fake : fakes_) fake.holds = ActorError::stopping;
  fakes_[1].holds = ActorError::unknown;
  for (const JobChange each : {JobChange::hold, JobChange::release}) {
    const api::Answer answer = change(each);
    EXPECT_EQ(answer.status, 409);
    EXPECT_THAT(answer.json, HasSubstr("job 1 is stopping"));
  }
}

TEST_F(ActorBackendTest, AJobIsOverWhenNobodyWhoMayHaveAPartOfItIsSilent) {
  for (FakeMaster& fake : fakes_) fake.finds.over = true;
  EXPECT_EQ(change(JobChange::hold).status, 409);
  fakes_[0].answers = false;
  fakes_[1].holds = fakes_[2].holds = ActorError::unknown;
  EXPECT_EQ(change(JobChange::hold).status, 503);
}

}  // namespace
}  // namespace muster::test
