#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/submission_digest.hpp"
#include "storage/job_filter.hpp"
#include "storage/task_filter.hpp"
#include "tests/support/virtual_system.hpp"
#include "tools/serve/api/traffic.hpp"
#include "tools/serve/node/actor_backend.hpp"

// The backend of the API between masters, a site and a cloud that the test speaks for.

namespace muster::test {

using api::JobChange;

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
inline nlohmann::json part(std::uint64_t job, bool over, std::uint64_t tasks = 1,
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

inline bool is_over(const nlohmann::json& part) {
  return !part["over_s"].is_null();
}

/// Of each section at most so many, the highest numbers first, as masters do it.
inline std::string listed(const FakeMaster& fake, const Query& query) {
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
inline std::string detailed(const FakeMaster& fake, const Query& query) {
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
  std::string trouble;  ///< what it says of its store
  struct Known {
    std::uint64_t digest = 0;
    JobId job;
  };
  std::map<std::pair<std::string, std::string>, Known> known;
  std::uint64_t last_job = 6;
  std::optional<std::uint32_t> max_fails{};  ///< of the last job that came

  AcceptVerdict take(const Job& job) {
    max_fails = job.max_fails;
    const auto [place, fresh] = known.try_emplace({job.user, job.token});
    if (fresh) place->second = {submission_digest(job), JobId{++last_job}};
    AcceptVerdict verdict;
    verdict.job = place->second.job;
    verdict.accepted = place->second.digest == submission_digest(job);
    if (!verdict.accepted) verdict.reason = "the token is that of another job";
    return verdict;
  }
};

inline constexpr const char* kNothing = R"({"missing": true})";

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
            return nlohmann::json{{"site", "oslo"},
                                  {"waiting", 0},
                                  {"jobs", nlohmann::json::array()},
                                  {"trouble", fake.trouble}}
                .dump();
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
  api::Answer resubmit(std::uint64_t job, const std::string& token, bool failed_only = true,
                       std::optional<std::uint32_t> max_fails = {}) {
    api::Answer answer;
    backend_->resubmit({JobId{job}, failed_only, max_fails, token},
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

  VirtualSystem system_;
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

}  // namespace muster::test
