#include "tools/serve/node/actor_backend.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/virtual_system.hpp"

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

constexpr const char* kNothing = R"({"missing": true})";

/// An API whose masters the test speaks for; its site has no job.
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
    handles.connected = [](const std::string&) { return true; };
    backend_.emplace(system_.actors(), config_, std::move(handles), system_.time().epoch());
  }
  ~ActorBackendTest() override {
    backend_.reset();
    for (const MasterActor& master : masters_) system_.end(master);
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

  nlohmann::json look(api::View::Kind kind) {
    nlohmann::json document;
    backend_->view({.kind = kind}, [&](const api::Answer& said) {
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

TEST_F(ActorBackendTest, APartThatIsOverMeanwhileIsNoObstacle) {
  fakes_[2].holds = ActorError::unknown;
  EXPECT_EQ(change(JobChange::hold).status, 200);
  fakes_[0].holds = fakes_[1].holds = ActorError::unknown;
  EXPECT_EQ(change(JobChange::hold).status, 409) << "all of them are";
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
