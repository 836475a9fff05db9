#include "tools/serve/node/actor_backend.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "model/submission_digest.hpp"
#include "tests/support/virtual_system.hpp"
#include "tools/serve/api/traffic.hpp"

namespace muster {
namespace {

using api::JobChange;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// What a master of the test has of job 1, and what it says when that is to be held.
struct FakeMaster {
  std::string finds = R"({"over": false})";  ///< empty: it does not answer
  ActorError holds{};                        ///< none: it does
  int held = 0;                              ///< how often it was asked to
};

/// A site that knows its submissions by user and token, as a real one does.
struct FakeSite {
  bool answers = true;
  struct Known {
    std::uint64_t digest = 0;
    JobId job;
  };
  std::map<std::pair<std::string, std::string>, Known> known;
  std::uint64_t last_job = 6;

  AcceptVerdict take(const Job& job) {
    const auto [place, fresh] = known.try_emplace({job.user, job.token});
    if (fresh) place->second = {submission_digest(job), JobId{++last_job}};
    AcceptVerdict verdict;
    verdict.job = place->second.job;
    verdict.accepted = place->second.digest == submission_digest(job);
    if (!verdict.accepted) verdict.reason = "the token is that of another job";
    return verdict;
  }
};

constexpr const char* kNothing = R"({"missing": true})";

/// An API whose masters, site and cloud the test speaks for; no job is at the site.
class ActorBackendTest : public ::testing::Test {
 protected:
  ActorBackendTest() {
    config_.link.request_timeout = std::chrono::seconds{10};
    ClusterHandles handles;
    for (std::size_t i = 0; i < fakes_.size(); ++i) {
      NodeConfig node;
      node.name = "n" + std::to_string(i);
      node.master = "m" + std::to_string(i);
      config_.nodes.push_back(node);
      masters_.push_back(spawn_master(fakes_[i]));
      handles.numbers.push_back(static_cast<std::uint32_t>(i));
    }
    handles.masters = masters_;
    site_ = spawn_site(site_says_);
    config_.nodes.front().site = "oslo";
    handles.own_site = site_;
    handles.sites = {site_};
    NodeConfig node;
    node.name = "n9";
    node.cloud = true;
    config_.nodes.push_back(node);
    cloud_ = spawn_cloud(rented_);
    handles.cloud = cloud_;
    handles.connected = [](const std::string&) { return true; };
    backend_.emplace(system_.actors(), config_, std::move(handles), system_.time().epoch());
  }
  ~ActorBackendTest() override {
    backend_.reset();
    for (const MasterActor& master : masters_) system_.end(master);
    system_.end(site_);
    system_.end(cloud_);
  }

  SiteActor spawn_site(FakeSite& fake) {
    return system_.actors().spawn([&fake](SiteActor::pointer) -> SiteActor::behavior_type {
      return {
          [&fake](hand_atom, const std::vector<Job>& jobs) {
            std::vector<AcceptVerdict> verdicts;
            for (const Job& job : jobs) verdicts.push_back(fake.take(job));
            return verdicts;
          },
          [](forward_atom, const std::vector<Job>&) { return std::vector<AcceptVerdict>{}; },
          [](watch_atom, const JobListener&, const std::vector<JobId>&) {
            return std::vector<JobEnd>{};
          },
          [](cancel_atom, JobId) { return CancelReport{}; },
          [](cancel_atom, const std::vector<JobId>&) { return std::vector<CancelVerdict>{}; },
          [](over_atom, const JobEnd&) {},
          [](load_atom) { return LoadReport{}; },
          [&fake](const Query&) -> caf::result<std::string> {
            if (!fake.answers) return ActorError::not_connected;
            return std::string(R"({"site": "oslo", "waiting": 0, "jobs": []})");
          },
          [](const Wakeup&) {},
      };
    });
  }
  /// `rented` is its answer; empty: none.
  CloudActor spawn_cloud(const std::string& rented) {
    return system_.actors().spawn([&rented](CloudActor::pointer) -> CloudActor::behavior_type {
      return {
          [](launch_atom, const LaunchOrder&, const MasterActor&) {},
          [](end_atom, InstanceId, const MasterActor&) {},
          [](greet_atom, const MasterActor&) {},
          [](interrupt_atom, InstanceId id) { return id; },
          [&rented](const Query&) -> caf::result<std::string> {
            if (rented.empty()) return ActorError::not_connected;
            return rented;
          },
          [](const Wakeup&) {},
      };
    });
  }

  MasterActor spawn_master(FakeMaster& fake) {
    return system_.actors().spawn([&fake](MasterActor::pointer) -> MasterActor::behavior_type {
      return {
          [](hand_atom, const std::vector<Job>&) { return std::vector<AcceptVerdict>{}; },
          [](watch_atom, const JobListener&, const std::vector<JobId>&) {
            return std::vector<JobEnd>{};
          },
          [](unwatch_atom, const JobListener&, const std::vector<JobId>&) {},
          [](cancel_atom, const std::vector<JobId>&) { return std::vector<CancelVerdict>{}; },
          [&fake](hold_atom, JobId id, bool) -> caf::result<JobId> {
            ++fake.held;
            if (fake.holds != ActorError{}) return fake.holds;
            return id;
          },
          [](drain_atom, InstanceId id) { return id; },
          [](hello_atom, const WorkerHello&, const WorkerActor&) {},
          [](const WorkerReport&) {},
          [](const SampleAnswer&) {},
          [](const LogAnswer&) {},
          [](const CloudReport&) {},
          [](greet_atom) {},
          [](load_atom) { return LoadReport{}; },
          [&fake](const Query&) -> caf::result<std::string> {
            if (fake.finds.empty()) return ActorError::not_connected;
            return fake.finds;
          },
          [](plan_atom, const Job&) { return std::string{}; },
          [](const LogRequest&) { return LogAnswer{}; },
          [](const Wakeup&) {},
      };
    });
  }
  api::Answer change(JobChange change) {
    api::Answer answer;
    backend_->change_job(JobId{1}, change, [&](api::Answer said) { answer = std::move(said); });
    system_.time().drain();
    return answer;
  }

  /// The answer to a request to submit the failed tasks of a job again.
  api::Answer resubmit(std::uint64_t job, const std::string& token, bool failed_only = true) {
    api::Answer answer;
    backend_->resubmit({JobId{job}, failed_only, token},
                       [&](api::Answer said) { answer = std::move(said); });
    system_.time().drain();
    return answer;
  }

  nlohmann::json look(api::View::Kind kind, api::CostBy by = api::CostBy::user) {
    nlohmann::json document;
    backend_->view({.kind = kind, .by = by}, [&](const api::Answer& said) {
      EXPECT_EQ(said.status, 200) << said.json;
      document = nlohmann::json::parse(said.json);
    });
    system_.time().drain();
    return document;
  }
  /// muster_master_reachable of each master.
  std::vector<double> reachable() {
    std::vector<double> values;
    backend_->metrics([&](const std::optional<api::MetricsInput>& all) {
      text_ = api::metrics_text(all, {});
      for (const api::Metric& metric : all->metrics) {
        if (metric.name != "muster_master_reachable") continue;
        for (const api::Sample& sample : metric.samples) values.push_back(sample.value);
      }
    });
    system_.time().drain();
    return values;
  }

  test::VirtualSystem system_;
  std::vector<FakeMaster> fakes_{3};
  std::vector<MasterActor> masters_;
  FakeSite site_says_;
  SiteActor site_;
  std::string rented_;
  CloudActor cloud_;
  std::string text_;  ///< of the metrics
  ClusterConfig config_;
  std::optional<ActorBackend> backend_;
};

TEST_F(ActorBackendTest, AJobIsHeldWhenEveryMasterWithAPartHasConfirmedIt) {
  fakes_[1].finds = kNothing;
  for (const JobChange each : {JobChange::hold, JobChange::release}) {
    EXPECT_EQ(change(each).status, 200);
  }
  EXPECT_EQ(fakes_[0].held, 2);
  EXPECT_EQ(fakes_[1].held, 0);
  EXPECT_EQ(fakes_[2].held, 2);
}

TEST_F(ActorBackendTest, AMasterThatMayHaveAPartAndDoesNotAnswerIsNamed) {
  fakes_[1].finds = "";
  for (const JobChange each : {JobChange::hold, JobChange::release}) {
    const api::Answer answer = change(each);
    EXPECT_EQ(answer.status, 503);
    EXPECT_THAT(answer.json, AllOf(HasSubstr("not confirmed by master m1, which"),
                                   HasSubstr("the same may be sent again")));
  }
  EXPECT_EQ(fakes_[0].held, 2) << "the others are told all the same";
  fakes_[1].finds = kNothing;
  EXPECT_EQ(change(JobChange::release).status, 200);
}

TEST_F(ActorBackendTest, AMasterThatGoesBeforeItHasConfirmedIsNamed) {
  fakes_[0].finds = "";
  fakes_[2].holds = ActorError::not_connected;
  const api::Answer answer = change(JobChange::hold);
  EXPECT_EQ(answer.status, 503);
  EXPECT_THAT(answer.json, AllOf(HasSubstr("master m0, master m2"), Not(HasSubstr("m1"))));
}

constexpr const char* kLoad =
    R"({"master": "m", "usd_h": 0.5, "today_usd": 1, "total_usd": 2, "instance_count": 3,
        "active_jobs": 4, "tasks": {"pending": 5, "assigned": 1, "held": 0}, "idle_usd": {}})";

TEST_F(ActorBackendTest, ATotalThatLacksAPartSaysWhoseSinceWhenAndWhatTheySaidLast) {
  for (FakeMaster& fake : fakes_) fake.finds = kLoad;
  const nlohmann::json whole = look(api::View::Kind::status);
  EXPECT_EQ(whole["complete"], true);
  EXPECT_EQ(whole["silent"], nlohmann::json::array());
  EXPECT_EQ(whole["usd_h"], 1.5);
  system_.run_until_s(100);
  fakes_[1].finds = "";
  system_.run_until_s(112);
  for (const auto kind : {api::View::Kind::status, api::View::Kind::cost, api::View::Kind::jobs}) {
    const nlohmann::json part = look(kind);
    EXPECT_EQ(part["complete"], false);
    ASSERT_EQ(part["silent"].size(), 1U);
    const nlohmann::json silent = part["silent"][0];
    EXPECT_EQ(silent["master"], "m1");
    EXPECT_EQ(silent["since_s"], 112);
    EXPECT_EQ(silent["last"], nlohmann::json::parse(R"({"usd_h": 0.5, "today_usd": 1.0,
        "total_usd": 2.0, "instances": 3, "active_jobs": 4, "pending_tasks": 6})"));
  }
  EXPECT_EQ(look(api::View::Kind::status)["usd_h"], 1) << "what the others say";
  EXPECT_EQ(reachable(), (std::vector<double>{1, 0, 1}));
  fakes_[1].finds = kLoad;
  EXPECT_EQ(look(api::View::Kind::cost)["complete"], true);
  EXPECT_EQ(reachable(), (std::vector<double>{1, 1, 1}));
}

TEST_F(ActorBackendTest, OfOneThatNeverAnsweredNothingIsKnown) {
  fakes_[0].finds = kLoad;
  fakes_[1].finds = fakes_[2].finds = "";
  const nlohmann::json part = look(api::View::Kind::status);
  ASSERT_EQ(part["silent"].size(), 2U);
  EXPECT_FALSE(part["silent"][0].contains("last"));
}

TEST_F(ActorBackendTest, WhatAMasterSaidLastIsKnownThoughNobodyAsked) {
  for (FakeMaster& fake : fakes_) fake.finds = kLoad;
  backend_->keep_asking();
  system_.run_until_s(60);
  fakes_[2].finds = "";
  system_.run_until_s(90);
  const nlohmann::json silent = look(api::View::Kind::status)["silent"];
  ASSERT_EQ(silent.size(), 1U);
  EXPECT_EQ(silent[0]["master"], "m2");
  EXPECT_EQ(silent[0]["since_s"], 30);
  EXPECT_EQ(silent[0]["last"]["usd_h"], 0.5);
}

TEST_F(ActorBackendTest, SinceWhenASiteIsSilentIsKnownThoughNobodyAsked) {
  for (FakeMaster& fake : fakes_) fake.finds = kLoad;
  backend_->keep_asking();
  system_.run_until_s(60);
  site_says_.answers = false;
  system_.run_until_s(90);
  const nlohmann::json silent = look(api::View::Kind::status)["silent"];
  ASSERT_EQ(silent.size(), 1U);
  EXPECT_EQ(silent[0]["site"], "oslo");
  EXPECT_EQ(silent[0]["since_s"], 30);
}

TEST_F(ActorBackendTest, TheClusterIsReachableWhileAMasterIs) {
  for (FakeMaster& fake : fakes_) fake.finds = "";
  EXPECT_EQ(reachable(), (std::vector<double>{0, 0, 0}));
  EXPECT_THAT(text_, HasSubstr("\nmuster_cluster_reachable 0\n"));
  EXPECT_THAT(text_, HasSubstr("muster_master_reachable{master=\"m1\"} 0\n"));
  fakes_[1].finds = kLoad;
  EXPECT_EQ(reachable(), (std::vector<double>{0, 1, 0}));
  EXPECT_THAT(text_, HasSubstr("\nmuster_cluster_reachable 1\n"));
}

TEST_F(ActorBackendTest, WhatInstancesHaveCostIsToldWithoutTheCloudsPart) {
  for (FakeMaster& fake : fakes_) fake.finds = R"({"total_usd": 2, "by": []})";
  const nlohmann::json part = look(api::View::Kind::cost, api::CostBy::instance);
  EXPECT_EQ(part["complete"], false);
  EXPECT_EQ(part["silent"], nlohmann::json::parse(R"([{"cloud": "n9"}])"));
  EXPECT_EQ(part["total_usd"], 6);
  rented_ = R"({"rented": [{"instance": 3, "type": "c7i.large", "usd": 0.5}]})";
  const nlohmann::json whole = look(api::View::Kind::cost, api::CostBy::instance);
  EXPECT_EQ(whole["complete"], true);
  EXPECT_EQ(whole["by"][0]["name"], "3 c7i.large");
}

/// What a master has of a job of two tasks.
std::string request_of(const char* first, const char* second) {
  return R"({"request": "{\"user\": \"ada\", \"command\": [\"true\"]}", "over": false,
             "whole_tasks": 2, "tasks": [[0, 0, ")" +
         std::string(first) + R"("], [1, 1, ")" + second + R"("]]})";
}

TEST_F(ActorBackendTest, AResubmissionIsTheSameAfterMoreOfItsTasksHaveFailed) {
  fakes_[1].finds = fakes_[2].finds = kNothing;
  fakes_[0].finds = request_of("failed", "");
  EXPECT_EQ(resubmit(1, "mine").json, R"({"jobs":[{"job":7}]})");
  fakes_[0].finds = request_of("failed", "failed");
  const api::Answer again = resubmit(1, "mine");
  EXPECT_EQ(again.status, 201) << again.json;
  EXPECT_EQ(again.json, R"({"jobs":[{"job":7}]})");
  EXPECT_EQ(resubmit(1, "another").json, R"({"jobs":[{"job":8}]})");
  EXPECT_EQ(resubmit(1, "mine", false).json, R"({"jobs":[{"job":9}]})")
      << "asks for something else";
  EXPECT_EQ(resubmit(2, "mine").json, R"({"jobs":[{"job":10}]})") << "likewise";
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
  for (FakeMaster& fake : fakes_) fake.finds = R"({"over": true})";
  EXPECT_EQ(change(JobChange::hold).status, 409);
  fakes_[0].finds = "";
  fakes_[1].holds = fakes_[2].holds = ActorError::unknown;
  EXPECT_EQ(change(JobChange::hold).status, 503);
}

}  // namespace
}  // namespace muster
