#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "model/live_ids.hpp"
#include "schedulers/site/actor/site_actor.hpp"
#include "tests/schedulers/site/open_site_store.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/job_waiter.hpp"
#include "tests/support/virtual_system.hpp"

// A site scheduler between masters and another site that the test speaks for.

namespace muster::test {

/// What a master of the test says of itself, and whether it answers at all.
struct MasterOfSite {
  LoadReport report;
  bool answers = true;
  bool tells_load = true;
  std::vector<JobEnd> over;  ///< parts of jobs, for those who ask
  JobListener listener;      ///< who has asked last
  int asked = 0;             ///< how often somebody has
  int loads_asked = 0;       ///< for its load
  std::string refusal;       ///< why it takes no job; empty: it does
  bool conflict = false;     ///< and the reason is that it has another job of that number
  bool mute = false;         ///< answers without a verdict
  bool is_late = false;      ///< says that it has taken jobs when the test calls `say_taken`
  std::function<void()> say_taken{};  ///< runs in the master
  CancelStanding standing = CancelStanding::ended;
  std::optional<JobId> chokes_on{};    ///< says nothing to a message with that job in it
  std::size_t largest = 0;             ///< message of jobs that came
  std::vector<std::size_t> batches{};  ///< how many jobs each of them had
  std::vector<LoadQuestion> load_questions{};
  CounterpartReport counterparts;
  std::vector<CounterpartQuestion> counterpart_questions{};
};

/// A master as sites know it, which a test can make answer later.
using MasterOfSiteActor = Together<MasterForSites, OwnSteps>;

/// Two sites and two masters that the test speaks for.
class SiteActorTest : public ::testing::Test {
 protected:
  SiteActorTest() {
    for (std::size_t i = 0; i < fakes_.size(); ++i) masters_.push_back(spawn_master(i));
    other_ = spawn_other(1);
  }
  ~SiteActorTest() override {
    system_.end(other_);
    for (MasterOfSite& fake : fakes_) fake.listener = nullptr;
    for (const MasterOfSiteActor& master : masters_) system_.end(master);
  }

  void note(const std::string& what) { heard_.push_back({to_seconds(system_.time().now()), what}); }

  MasterOfSiteActor spawn_master(std::size_t index) {
    const std::string name = "m" + std::to_string(index);
    return system_.actors().spawn([this, index, name](MasterOfSiteActor::pointer self)
                                      -> MasterOfSiteActor::behavior_type {
      return {
          [this, self, index, name](
              hand_atom, const std::vector<Job>& jobs) -> caf::result<std::vector<SubmitVerdict>> {
            MasterOfSite& fake = fakes_[index];
            fake.largest = std::max(fake.largest, encoded_bytes(jobs));
            fake.batches.push_back(jobs.size());
            const bool chokes = std::any_of(
                jobs.begin(), jobs.end(), [&](const Job& job) { return job.id == fake.chokes_on; });
            if (!fake.answers || chokes) return self->make_response_promise();
            std::vector<SubmitVerdict> verdicts;
            if (fakes_[index].mute) {
              note(name + " says nothing");
              return verdicts;
            }
            for (const Job& job : jobs) {
              const std::string& refusal = fakes_[index].refusal;
              note(name + (refusal.empty() ? " takes " : " refuses ") + text(job));
              verdicts.push_back({job.id, refusal.empty(), refusal, fakes_[index].conflict});
            }
            if (!fakes_[index].is_late) return verdicts;
            auto promise = self->make_response_promise<std::vector<SubmitVerdict>>();
            fakes_[index].say_taken = [promise, verdicts]() mutable { promise.deliver(verdicts); };
            return promise;
          },
          [this, self, index, name](
              watch_atom, const JobListener& listener,
              const std::vector<JobId>& jobs) -> caf::result<std::vector<JobEnd>> {
            ++fakes_[index].asked;
            if (!fakes_[index].answers) return self->make_response_promise();
            for (JobId job : jobs) note(name + " watches " + std::to_string(job.value));
            fakes_[index].listener = listener;
            return fakes_[index].over;
          },
          [this, name](unwatch_atom, const JobListener&, const std::vector<JobId>& jobs) {
            for (JobId job : jobs) note(name + " unwatches " + std::to_string(job.value));
          },
          [this, self, index, name](cancel_atom, const std::vector<JobId>& jobs)
              -> caf::result<std::vector<CancelVerdict>> {
            if (!fakes_[index].answers) return self->make_response_promise();
            std::vector<CancelVerdict> verdicts;
            for (const JobId id : jobs) {
              note(name + " cancels " + std::to_string(id.value));
              verdicts.push_back({id, fakes_[index].standing});
            }
            return verdicts;
          },
          [this, self, index](const LoadQuestion& asked) -> caf::result<LoadReport> {
            ++fakes_[index].loads_asked;
            fakes_[index].load_questions.push_back(asked);
            if (!fakes_[index].tells_load) return self->make_response_promise();
            return fakes_[index].report;
          },
          [this, index](const CounterpartQuestion& asked) {
            fakes_[index].counterpart_questions.push_back(asked);
            return fakes_[index].counterparts;
          },
          [](const Wakeup& wakeup) { wakeup.run(); },
      };
    });
  }

  static std::string text(const Job& job) {
    std::string all = "job " + std::to_string(job.id.value) + ":";
    for (const TaskSpec& task : job.tasks) all += " " + std::to_string(position_of(task.id));
    return all;
  }

  /// A site in Tokyo (0) or London (1); the other one is heavily loaded unless it is given.
  SiteActor spawn_site(SiteStore& store, std::uint32_t index = 0, const SiteForSites& other = {}) {
    return system_.actors().spawn<SiteScheduler>(settings_,
                                                 parts_of(store, index, other ? other : other_));
  }
  static SiteSettings settings_of_two() {
    SiteSettings settings;
    settings.masters_per_job = 2;
    settings.capacity = 2;
    return settings;
  }
  SiteDependencies parts_of(SiteStore& store, std::uint32_t index,
                            const SiteForSites& other) const {
    SiteDependencies parts;
    for (std::uint32_t i = 0; i < masters_.size(); ++i) {
      parts.masters.push_back({masters_[i], "m" + std::to_string(i), i});
    }
    parts.sites = {{{}, "tokyo", {35.7, 139.7}, 0}, {{}, "london", {51.5, -0.1}, 1}};
    parts.sites[1 - index].actor = other;
    parts.number = index;
    parts.accept_timeout = std::chrono::seconds{1};
    parts.origin = origin_;
    parts.store = &store;
    parts.cancel_wait = std::chrono::seconds{2};
    parts.max_cancels = 3;
    return parts;
  }
  /// Another site, with this load, at which the jobs are over that `over_there_` says.
  SiteForSites spawn_other(double load) {
    return system_.actors().spawn([this,
                                   load](SiteForSites::pointer) -> SiteForSites::behavior_type {
      return {
          [this](watch_atom, const JobListener&, const std::vector<JobId>&) { return over_there_; },
          [](forward_atom, const std::vector<Job>&) { return std::vector<SubmitVerdict>{}; },
          [](cancel_atom, const std::vector<JobId>& jobs) {
            std::vector<CancelVerdict> verdicts;
            for (const JobId id : jobs) verdicts.push_back({id, CancelStanding::unknown});
            return verdicts;
          },
          [load](const LoadQuestion&) {
            LoadReport report;
            report.load = load;
            return report;
          },
      };
    });
  }

  static Job tasks(std::size_t count) {
    Job job = JobBuilder(1).tasks(count).build();
    job.gang = false;
    return job;
  }

  /// Hands the jobs in; what comes back is noted.
  void submit(const SiteActor& site, std::vector<Job> jobs) { give(hand_atom_v, site, jobs); }
  /// The same as another site.
  void forward(const SiteActor& site, std::vector<Job> jobs) { give(forward_atom_v, site, jobs); }
  template <class Verb>
  void give(Verb verb, const SiteActor& site, const std::vector<Job>& jobs) {
    const caf::actor asker =
        system_.actors().spawn([this, verb, site, jobs](caf::event_based_actor* self) {
          self->request(site, caf::infinite, verb, jobs)
              .then(
                  [this](const std::vector<SubmitVerdict>& verdicts) {
                    std::string ids;
                    for (const SubmitVerdict& verdict : verdicts) {
                      if (!verdict.accepted) return note("refused: " + verdict.reason);
                      ids += " " + std::to_string(verdict.job.value);
                    }
                    note("promised" + ids);
                  },
                  [this](const caf::error& error) {
                    const bool learns = error == ActorError::learns_numbers;
                    note(learns ? error.context().get_as<std::string>(0) : "refused");
                  });
        });
    system_.time().drain();
  }
  /// The oldest write that the slow book of the site was asked for comes to its end.
  void end_write(const SiteActor& site, const std::string& trouble) {
    OpenSiteStore::Waiting write = std::move(site_store_.waiting.front());
    site_store_.waiting.erase(site_store_.waiting.begin());
    site_store_.slow = false;
    site_store_.trouble = trouble;
    auto step = [this, &write] {
      site_store_.persist(std::move(write.news), std::move(write.durable));
    };
    caf::anon_send(site, Wakeup{step});
    system_.time().drain();
    site_store_.trouble.clear();
    site_store_.slow = true;
  }
  static Job with_token(const std::string& user, const std::string& token) {
    Job job = tasks(1);
    job.user = user;
    job.token = token;
    return job;
  }
  /// Cancels as a user does; what comes back is noted.
  void cancel(const SiteActor& site, std::uint64_t job) {
    system_.actors().spawn([this, site, job](caf::event_based_actor* self) {
      self->request(site, caf::infinite, cancel_atom_v, JobId{job})
          .then(
              [this](const CancelReport& report) {
                static constexpr const char* kWords[] = {"unknown", "passed on", "over", "ended"};
                std::string text = kWords[static_cast<int>(report.standing)];
                text += " " + std::to_string(report.job.value);
                for (const std::string& name : report.unconfirmed) text += ", not by " + name;
                note(text);
              },
              [this](const caf::error&) { note("refused"); });
    });
    system_.time().drain();
  }
  void run_for_s(double length) { system_.run_until_s(to_seconds(system_.time().now()) + length); }
  /// What the site answers to a question.
  template <class View, class... Question>
  View ask(const SiteActor& site, Question... question) {
    View view;
    caf::scoped_actor self{system_.actors()};
    auto asked = self->request(site, caf::infinite, question...);
    system_.time().drain();
    asked.receive([&](View& answer) { view = std::move(answer); },
                  [](const caf::error&) { ADD_FAILURE() << "the site does not answer"; });
    return view;
  }
  std::vector<JobView> jobs_shown(const SiteActor& site, const JobsQuestion& wanted) {
    return ask<JobsView>(site, wanted).jobs;
  }
  /// All that it has of one job.
  std::vector<JobView> parts_shown(const SiteActor& site, std::uint64_t job) {
    return jobs_shown(site, JobsQuestion::parts_of({JobId{job}}));
  }
  std::vector<std::uint64_t> ids_shown(const SiteActor& site, const JobsQuestion& wanted) {
    std::vector<std::uint64_t> ids;
    for (const JobView& job : jobs_shown(site, wanted)) ids.push_back(job.job.value);
    return ids;
  }
  std::vector<std::string> said() {
    std::vector<std::string> all;
    for (const Heard& each : heard_) all.push_back(each.what);
    heard_.clear();
    return all;
  }

  VirtualSystem system_;
  SiteSettings settings_ = settings_of_two();
  ClockOrigin origin_ = system_.time().origin();
  std::vector<MasterOfSite> fakes_{2};
  std::vector<MasterOfSiteActor> masters_;
  SiteForSites other_;
  std::vector<JobEnd> over_there_;
  std::vector<Heard> heard_;
  OpenSiteStore site_store_, other_store_;
};

/// Somebody who waits for jobs at a site.
struct Waiter : JobWaiter {
  explicit Waiter(VirtualSystem& system) : JobWaiter(system, text_of_whole) {}
};

/// One part of job 1 is over.
inline JobEnd part_end(std::uint32_t first, std::uint32_t tasks, std::uint32_t whole,
                       JobOutcome outcome = JobOutcome::completed) {
  return {JobId{1}, outcome, first, tasks, whole, outcome != JobOutcome::completed};
}

}  // namespace muster::test
