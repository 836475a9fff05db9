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
#include "serve/api/traffic.hpp"
#include "serve/node/actor_backend.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/virtual_system.hpp"

// The backend of the API between masters, a site and a cloud that the test speaks for.

namespace muster::test {

using api::JobChange;

/// What a master of the test has of job 1, and what it says when that is to be held.
struct FakeMaster {
  bool answers = true;
  FoundView finds{true, false, {}};
  RequestView request{};
  CellFigures figures{};
  HistoryView past{};
  CostView cost{};
  ServicesView services{};
  ActorError holds{};                ///< none: it does
  ActorError scales{};               ///< likewise
  std::uint32_t scaled = 0;          ///< replicas that it was asked for last
  int held = 0;                      ///< how often it was asked to
  std::vector<JobView> jobs{};       ///< what it has of some jobs
  std::vector<TaskView> tasks{};     ///< of the first of them
  int asked = 0;                     ///< how often for what it shows
  std::size_t at_once = 100'000;     ///< jobs of a list, and instances, that go into one answer
  InstancesView instances{};         ///< by rising numbers
  bool too_large = false;            ///< no message carries what it shows
  ActorError plans{};                ///< why it makes no plan; none: it does
  bool plans_late = false;           ///< nobody waits for its plan any more
  int series_asked = 0;              ///< how often for the series of metrics
  std::vector<ExecRequest> execs{};  ///< about commands, as they came
  ExecAnswer exec_answer{};
  std::vector<UsageQuestion> usages{};
  UsageView usage{};
};

/// Leaves what goes into one answer, as masters do it: those that are not over first.
inline void cut(JobsView& list, const JobsQuestion& wanted, std::size_t at_once) {
  std::stable_partition(list.jobs.begin(), list.jobs.end(),
                        [](const JobView& job) { return !job.over; });
  if (list.jobs.size() <= at_once) return;
  list.cut = true;
  for (std::size_t i = at_once; wanted.only && i < list.jobs.size(); ++i) {
    list.rest.push_back(list.jobs[i].job);
  }
  list.jobs.resize(at_once);
}

/// A part of a job as a master lists it.
inline JobView part(std::uint64_t job, bool over, std::uint64_t tasks = 1,
                    std::uint64_t whole = 1) {
  JobView view;
  view.job = JobId{job};
  view.master = "m";
  view.state = over ? ShownState::completed : ShownState::running;
  view.tasks = tasks;
  view.whole = whole;
  (over ? view.finished : view.running) = tasks;
  if (over) view.over = at_s(9.5);
  return view;
}

/// Of each section at most so many, the highest numbers first, as masters do it.
inline JobsView listed(const FakeMaster& fake, const JobsQuestion& wanted) {
  std::vector<JobView> jobs = fake.jobs;
  std::sort(jobs.begin(), jobs.end(),
            [](const JobView& a, const JobView& b) { return a.job > b.job; });
  JobsView list;
  std::size_t count[2] = {0, 0};
  for (const JobView& job : jobs) {
    const bool over = job.over.has_value();
    const bool is_wanted =
        wanted.only
            ? std::find(wanted.only->begin(), wanted.only->end(), job.job) != wanted.only->end()
            : (over ? wanted.over && merge::place_of(job) < wanted.over_below
                    : wanted.active && merge::place_of(job) < wanted.active_below) &&
                  count[over]++ < wanted.most;
    if (is_wanted) list.jobs.push_back(job);
  }
  cut(list, wanted, fake.at_once);
  return list;
}

/// The only job, whose tasks are the first so many that the master tells at once.
inline JobDetails detailed(const FakeMaster& fake, const JobQuestion& wanted) {
  if (fake.jobs.empty()) return {};
  constexpr std::size_t kAtOnce = 4;
  JobDetails details{true, fake.jobs.front()};
  for (const TaskView& task : fake.tasks) {
    if (wanted.after && task.index <= *wanted.after) continue;
    if (details.tasks.size() < std::min(kAtOnce, wanted.bound())) {
      details.tasks.push_back(task);
    } else {
      ++details.behind;
    }
  }
  return details;
}

/// Answers with the view, or not at all while the stand-in is to be silent.
template <class View>
caf::result<View> shown_by(FakeMaster& fake, View view) {
  ++fake.asked;
  if (!fake.answers) return ActorError::not_connected;
  if (fake.too_large) return ActorError::too_large;
  return view;
}

/// Those of higher numbers, as many as go into one answer.
inline InstancesView instances_after(const FakeMaster& fake, InstanceId after) {
  InstancesView view;
  for (const InstanceView& one : fake.instances.instances) {
    if (after.valid() && one.instance <= after) continue;
    view.more = view.instances.size() == fake.at_once;
    if (view.more) break;
    view.instances.push_back(one);
  }
  return view;
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
  Job last{};                                ///< that one
  std::vector<JobView> shows{};              ///< jobs that it has
  ActorError holds{};                        ///< its answer to a hold, if it is no yes
  std::map<JobId, bool> held{};

  SubmitVerdict take(const Job& job) {
    max_fails = job.max_fails;
    last = job;
    const auto [place, fresh] = known.try_emplace({job.user, job.token});
    if (fresh) place->second = {submission_digest(job), JobId{++last_job}};
    SubmitVerdict verdict;
    verdict.job = place->second.job;
    verdict.accepted = place->second.digest == submission_digest(job);
    if (!verdict.accepted) verdict.reason = "the token is that of another job";
    return verdict;
  }
};

/// A site as the API knows it.
using FakeSiteActor = Together<SiteForSubmitters, SiteForUsers>;

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
    backend_.emplace(system_.actors(), config_, std::move(handles), system_.time().origin());
  }
  ~ActorBackendTest() override {
    backend_.reset();
    for (const MasterForUsers& master : masters_) system_.end(master);
    system_.end(site_);
    system_.end(cloud_);
  }

  FakeSiteActor spawn_site(FakeSite& fake) {
    return system_.actors().spawn([&fake](FakeSiteActor::pointer) -> FakeSiteActor::behavior_type {
      return {
          [&fake](hand_atom, const std::vector<Job>& jobs) {
            std::vector<SubmitVerdict> verdicts;
            for (const Job& job : jobs) verdicts.push_back(fake.take(job));
            return verdicts;
          },
          [](watch_atom, const JobListener&, const std::vector<JobId>&) {
            return std::vector<JobEnd>{};
          },
          [](cancel_atom, JobId) { return CancelReport{}; },
          [&fake](hold_atom, JobId id, bool held) -> caf::result<JobId> {
            if (fake.holds != ActorError{}) return fake.holds;
            fake.held[id] = held;
            return id;
          },
          [&fake](const JobsQuestion&) -> caf::result<JobsView> {
            if (!fake.answers) return ActorError::not_connected;
            JobsView view;
            view.jobs = fake.shows;
            return view;
          },
          [&fake](figures_atom) -> caf::result<SiteFigures> {
            if (!fake.answers) return ActorError::not_connected;
            return SiteFigures{"oslo", 0, fake.trouble};
          },
      };
    });
  }
  /// `rented` is its answer; nothing: none.
  CloudForUsers spawn_cloud(const std::optional<RentedView>& rented) {
    return system_.actors().spawn(
        [&rented](CloudForUsers::pointer) -> CloudForUsers::behavior_type {
          return {
              [](interrupt_atom, InstanceId id) { return id; },
              [&rented](const RentedQuestion&) -> caf::result<RentedView> {
                if (!rented) return ActorError::not_connected;
                return *rented;
              },
              [](figures_atom) { return CloudFigures{}; },
          };
        });
  }

  MasterForUsers spawn_master(FakeMaster& fake) {
    return system_.actors().spawn(
        [&fake](MasterForUsers::pointer) -> MasterForUsers::behavior_type {
          return {
              [](cancel_atom, const std::vector<JobId>&) { return std::vector<CancelVerdict>{}; },
              [&fake](hold_atom, JobId id, bool) -> caf::result<JobId> {
                ++fake.held;
                if (fake.holds != ActorError{}) return fake.holds;
                return id;
              },
              [&fake](scale_atom, JobId id, std::uint32_t replicas) -> caf::result<JobId> {
                fake.scaled = replicas;
                if (fake.scales != ActorError{}) return fake.scales;
                return id;
              },
              [](drain_atom, InstanceId id) { return id; },
              [&fake](const JobsQuestion& wanted) { return shown_by(fake, listed(fake, wanted)); },
              [&fake](const JobQuestion& wanted) { return shown_by(fake, detailed(fake, wanted)); },
              [&fake](const FindQuestion&) { return shown_by(fake, fake.finds); },
              [&fake](const RequestQuestion&) { return shown_by(fake, fake.request); },
              [&fake](instances_atom, InstanceId after) {
                return shown_by(fake, instances_after(fake, after));
              },
              [&fake](const CostQuestion&) { return shown_by(fake, fake.cost); },
              [&fake](const ServicesQuestion&) { return shown_by(fake, fake.services); },
              [&fake](const InstanceQuestion&) {
                InstanceLife life;
                life.known = true;
                return shown_by(fake, std::move(life));
              },
              [&fake](decisions_atom, const DecisionsQuestion&) {
                return shown_by(fake, DecisionsView{});
              },
              [&fake](figures_atom) { return shown_by(fake, fake.figures); },
              [&fake](series_atom) {
                ++fake.series_asked;
                return shown_by(fake, fake.figures);
              },
              [&fake](history_atom, std::uint32_t) { return shown_by(fake, fake.past); },
              [&fake](plan_atom, const Job&) -> caf::result<PlanView> {
                if (fake.plans == ActorError::busy) {
                  return caf::make_error(fake.plans, std::string("ask again in a few seconds"));
                }
                if (fake.plans_late) return caf::make_error(caf::sec::request_timeout);
                return shown_by(fake, PlanView{});
              },
              [](const LogRequest&) { return LogAnswer{}; },
              [&fake](const ExecRequest& request) {
                fake.execs.push_back(request);
                return fake.exec_answer;
              },
              [&fake](const UsageQuestion& wanted) {
                fake.usages.push_back(wanted);
                return shown_by(fake, fake.usage);
              },
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

  nlohmann::json look(api::Operation of, api::CostBy by = api::CostBy::user) {
    return look(api::View{.of = of, .by = by});
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
    api::View what{.of = api::Operation::jobs, .state = state, .limit = limit};
    what.after = job_cursor_from(after);
    const nlohmann::json document = look(what);
    std::string text;
    for (const nlohmann::json& job : document["jobs"]) {
      text += (job["over_s"].is_null() ? "" : "-") + job["job"].dump() + " ";
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
  std::vector<MasterForUsers> masters_;
  FakeSite site_says_;
  FakeSiteActor site_;
  std::optional<RentedView> rented_;
  CloudForUsers cloud_;
  std::string text_;  ///< of the metrics
  ClusterConfig config_;
  std::optional<ActorBackend> backend_;
};

}  // namespace muster::test
