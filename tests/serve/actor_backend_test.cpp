#include "tools/serve/node/actor_backend.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "model/submission_digest.hpp"
#include "storage/job_filter.hpp"
#include "storage/task_filter.hpp"
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
  /// What it has of some jobs; empty: it says what it finds.
  std::vector<nlohmann::json> jobs{};
  std::vector<std::string> asked{};  ///< the texts of the queries
};

/// A part of a job as a master lists it.
nlohmann::json part(std::uint64_t job, bool over, std::uint64_t tasks = 1,
                    std::uint64_t whole = 1) {
  return {{"job", job},
          {"master", "m"},
          {"state", over ? "completed" : "running"},
          {"tasks_total", tasks},
          {"whole_tasks", whole},
          {"running", over ? 0 : tasks},
          {"finished", over ? tasks : 0},
          {"over_s", over ? nlohmann::json(9.5) : nlohmann::json(nullptr)}};
}

bool is_over(const nlohmann::json& part) {
  return !part["over_s"].is_null();
}

/// Of each section at most so many, the highest numbers first, as masters do it.
std::string listed(const FakeMaster& fake, const Query& query) {
  const JobFilter filter(query.text, query.limit);
  std::vector<nlohmann::json> jobs = fake.jobs;
  std::sort(jobs.begin(), jobs.end(), [](const auto& a, const auto& b) {
    return a["job"].template get<std::uint64_t>() > b["job"].template get<std::uint64_t>();
  });
  nlohmann::json list = nlohmann::json::array();
  std::size_t count[2] = {0, 0};
  for (const nlohmann::json& job : jobs) {
    const bool over = is_over(job);
    const JobId id{job["job"].get<std::uint64_t>()};
    const bool wanted =
        filter.only ? std::find(filter.only->begin(), filter.only->end(), id) != filter.only->end()
                    : (over ? filter.over && id < filter.over_below
                            : filter.active && id < filter.active_below) &&
                          count[over]++ < filter.most;
    if (wanted) list.push_back(job);
  }
  return nlohmann::json{{"jobs", list}}.dump();
}

/// The only job, whose tasks are the first so many that the master tells at once.
std::string detailed(const FakeMaster& fake, const Query& query) {
  const TaskFilter filter(query.text, query.limit);
  constexpr std::size_t kAtOnce = 4;
  nlohmann::json job = fake.jobs.front();
  const nlohmann::json all = job["tasks"];
  job["tasks"] = nlohmann::json::array();
  std::size_t behind = 0;
  for (const nlohmann::json& task : all) {
    if (filter.after && task["task"].get<std::uint32_t>() <= *filter.after) continue;
    if (job["tasks"].size() < std::min(kAtOnce, filter.most)) {
      job["tasks"].push_back(task);
    } else {
      ++behind;
    }
  }
  job["tasks_behind"] = behind;
  return job.dump();
}

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
          [&fake](const Query& query) -> caf::result<std::string> {
            fake.asked.push_back(query.text);
            if (fake.finds.empty()) return ActorError::not_connected;
            if (query.what == "jobs" && !fake.jobs.empty()) return listed(fake, query);
            if (query.what == "job" && !fake.jobs.empty()) return detailed(fake, query);
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
    return look(api::View{.kind = kind, .by = by});
  }
  nlohmann::json look(const api::View& what) {
    nlohmann::json document;
    backend_->view(what, [&](const api::Answer& said) {
      EXPECT_EQ(said.status, 200) << said.json;
      document = nlohmann::json::parse(said.json);
    });
    system_.time().drain();
    return document;
  }
  /// A page of jobs: their numbers, with a minus where they are over, and where the next begins.
  std::string page(api::JobState state, std::uint32_t limit, const std::string& after = {}) {
    api::View what{.kind = api::View::Kind::jobs, .state = state, .limit = limit};
    what.after = job_cursor_from(after);
    const nlohmann::json document = look(what);
    std::string text;
    for (const nlohmann::json& job : document["jobs"]) {
      text += (is_over(job) ? "-" : "") + job["job"].dump() + " ";
    }
    if (document["next"].is_null()) return text + "end";
    return text + document["next"].get<std::string>();
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

TEST_F(ActorBackendTest, AListGoesOverAllMastersPageByPage) {
  fakes_[0].jobs = {part(1, false), part(4, false), part(9, true), part(2, true)};
  fakes_[1].jobs = {part(3, false), part(8, true), part(1'000'000'001, true)};
  using enum api::JobState;
  EXPECT_EQ(page(all, 9), "4 3 1 -1000000001 -9 -8 -2 end");
  EXPECT_EQ(page(all, 2), "4 3 active:3");
  EXPECT_EQ(page(all, 2, "active:3"), "1 -1000000001 over:1000000001");
  EXPECT_EQ(page(all, 2, "over:1000000001"), "-9 -8 over:8");
  EXPECT_EQ(page(all, 2, "over:8"), "-2 end");
  EXPECT_EQ(page(active, 3), "4 3 1 end");
  EXPECT_EQ(page(active, 2, "active:4"), "3 1 end");
  EXPECT_EQ(page(over, 1), "-1000000001 over:1000000001");
  EXPECT_EQ(page(over, 9, "over:9"), "-8 -2 end");
}

TEST_F(ActorBackendTest, AJobOfWhichAPartRunsOnIsListedOnceAndNotAsOver) {
  fakes_[0].jobs = {part(7, true, 3, 5), part(9, true), part(2, true)};
  fakes_[1].jobs = {part(7, false, 2, 5), part(20, false), part(21, false)};
  using enum api::JobState;
  EXPECT_EQ(page(all, 9), "21 20 7 -9 -2 end");
  EXPECT_EQ(page(all, 3), "21 20 7 active:7");
  EXPECT_EQ(page(all, 2, "active:7"), "-9 over:7") << "it looks over to one of them only";
  EXPECT_EQ(page(all, 2, "over:7"), "-2 end");
  EXPECT_EQ(page(over, 9), "-9 -2 end");
  const nlohmann::json jobs =
      look({.kind = api::View::Kind::jobs, .state = active, .limit = 9})["jobs"];
  ASSERT_EQ(jobs.size(), 3U);
  EXPECT_EQ(jobs[2]["finished"], 3) << "its part that is over is asked for";
  EXPECT_EQ(jobs[2]["running"], 2);
}

TEST_F(ActorBackendTest, OfAJobWithAPartAtASilentMasterIsNotSaidThatItIsOver) {
  fakes_[0].jobs = {part(7, true, 3, 5), part(9, true)};
  fakes_[2].finds = "";
  using enum api::JobState;
  EXPECT_EQ(page(over, 9), "-9 end");
  const nlohmann::json all_jobs = look({.kind = api::View::Kind::jobs, .state = all, .limit = 9});
  ASSERT_EQ(all_jobs["jobs"].size(), 2U);
  EXPECT_EQ(all_jobs["jobs"][1]["state"], "unknown");
  EXPECT_EQ(all_jobs["complete"], false);
}

TEST_F(ActorBackendTest, ALongPageIsAskedForInPiecesOfThoseThatAnswer) {
  for (std::uint64_t job = 1; job <= 700; ++job) {
    fakes_[job % 2].jobs.push_back(part(job, job % 5 == 0));
  }
  fakes_[2].finds = "";
  const nlohmann::json jobs =
      look({.kind = api::View::Kind::jobs, .state = api::JobState::all, .limit = 650});
  ASSERT_EQ(jobs["jobs"].size(), 650U);
  EXPECT_EQ(jobs["next"], "over:255");
  EXPECT_EQ(jobs["complete"], false);
  EXPECT_EQ(fakes_[0].asked.size(), 3U);
  EXPECT_EQ(fakes_[2].asked.size(), 1U) << "a silent one is waited for once";
}

TEST_F(ActorBackendTest, APageOfTasksIsPutTogetherOfWhatMastersTellAtOnce) {
  for (std::size_t i = 0; i < 2; ++i) {
    fakes_[i].jobs = {part(7, false, 15, 30)};
    fakes_[i].jobs[0]["tasks"] = nlohmann::json::array();
    for (std::uint32_t task = 0; task < 15; ++task) {
      fakes_[i].jobs[0]["tasks"].push_back({{"task", i == 0 ? task : 15 + task}});
    }
  }
  fakes_[2].finds = kNothing;
  const auto tasks = [&](std::uint32_t limit, std::optional<std::uint32_t> after) {
    api::View what{.kind = api::View::Kind::job, .job = JobId{7}, .limit = limit};
    what.after_task = after;
    const nlohmann::json job = look(what);
    EXPECT_EQ(job["tasks_total"], 30);
    EXPECT_EQ(job["complete"], true);
    std::string text;
    for (const nlohmann::json& task : job["tasks"]) text += task["task"].dump() + " ";
    return text + job["next"].dump() + " " + job["tasks_behind"].dump();
  };
  EXPECT_EQ(tasks(3, std::nullopt), "0 1 2 2 27");
  EXPECT_EQ(tasks(6, 11), "12 13 14 15 16 17 17 12");
  EXPECT_EQ(tasks(9, 26), "27 28 29 null 0");
  EXPECT_TRUE(tasks(100, std::nullopt).ends_with("28 29 null 0"));
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
