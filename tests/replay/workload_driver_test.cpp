#include "replay/workload_driver.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/live_ids.hpp"
#include "schedulers/site/actor/site_actor.hpp"
#include "storage/stores/memory_site_store.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/virtual_system.hpp"

namespace muster::replay {
namespace {

using muster::test::at_s;
using muster::test::Heard;
using muster::test::IsGolden;
using muster::test::JobBuilder;
using muster::test::VirtualSystem;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

/// A user at a door that the test keeps: it hears what is handed in, and answers as it is told, or
/// lets a real site scheduler answer.
class WorkloadDriverTest : public ::testing::Test {
 protected:
  WorkloadDriverTest() {
    master_ = spawn_accepting_master();
    door_ = system_.actors().spawn(
        [this](SiteForSubmitters::pointer self) -> SiteForSubmitters::behavior_type {
          return {
              [this, self](hand_atom, const std::vector<Job>& jobs) { return hand(self, jobs); },
              [this](watch_atom, const JobListener& listener, const std::vector<JobId>& jobs) {
                listener_ = listener;
                for (JobId job : jobs) note("watches " + std::to_string(job.value));
                return over_;
              },
              [this](cancel_atom, JobId id) {
                note("cancels " + std::to_string(id.value));
                return CancelReport{id, {}, {}};
              },
          };
        });
  }
  ~WorkloadDriverTest() override {
    listener_ = nullptr;
    system_.end(user_);
    system_.end(door_);
    if (site_) system_.end(site_);
    system_.end(master_);
  }

  using Verdicts = std::vector<SubmitVerdict>;

  /// A master that takes every job; none of them ends.
  MasterForSites spawn_accepting_master() {
    return system_.actors().spawn([](MasterForSites::pointer) -> MasterForSites::behavior_type {
      return {
          [](hand_atom, const std::vector<Job>& jobs) {
            Verdicts verdicts;
            for (const Job& job : jobs) verdicts.push_back({job.id, true, {}});
            return verdicts;
          },
          [](watch_atom, const JobListener&, const std::vector<JobId>&) {
            return std::vector<JobEnd>{};
          },
          [](unwatch_atom, const JobListener&, const std::vector<JobId>&) {},
          [](cancel_atom, const std::vector<JobId>&) { return std::vector<CancelVerdict>{}; },
          [](const LoadQuestion&) { return LoadReport{}; },
          [](const CounterpartQuestion&) { return CounterpartReport{}; },
      };
    });
  }

  caf::result<Verdicts> hand(SiteForSubmitters::pointer self, const std::vector<Job>& jobs) {
    std::string text = "handed";
    for (const Job& job : jobs) text += " " + job.token + (job.id.valid() ? " numbered" : "");
    note(text);
    if (site_ && fails_ > 0) caf::anon_send(site_, hand_atom_v, jobs);  // the answer gets lost
    if (fails_ > 0) {
      --fails_;
      return ActorError::store_failed;
    }
    if (site_) return self->delegate(site_, hand_atom_v, jobs);
    Verdicts verdicts;
    for (const Job& job : jobs) {
      const bool taken = job.name != refused_;
      verdicts.push_back({taken ? job_id_of(0, ++numbered_) : JobId{}, taken, "not that one"});
    }
    return verdicts;
  }

  void job(std::uint64_t id, double submit_s) {
    workload_.jobs.push_back({JobBuilder(id).build(), at_s(submit_s), {}});
  }
  void begin() {
    WorkloadDriverSetup setup;
    setup.workload = &workload_;
    setup.sites = {door_};
    setup.origin = system_.time().origin();
    setup.answer_timeout = seconds{20};
    setup.retry = seconds{1};
    setup.progress = &progress_;
    user_ = system_.actors().spawn<WorkloadDriver>(std::move(setup));
    system_.time().drain();
  }
  /// From now on a real site answers at the door.
  void open_site(SiteStore& book) {
    SiteDependencies parts;
    parts.masters = {{master_, "m0", 0}};
    parts.accept_timeout = seconds{10};
    parts.origin = system_.time().origin();
    parts.store = &book;
    SiteSettings settings;
    settings.load_every = {};  // a single master: there is nobody to choose among
    settings.promise_wait = {};
    site_ = system_.actors().spawn<SiteScheduler>(settings, std::move(parts));
  }
  void note(const std::string& what) { heard_.push_back({to_seconds(system_.time().now()), what}); }

  VirtualSystem system_;
  std::vector<Heard> heard_;
  Workload workload_;
  RunProgress progress_;
  std::vector<JobEnd> over_;
  std::string refused_;
  int fails_ = 0;
  std::uint64_t numbered_ = 0;
  MasterForSites master_;
  SiteForSubmitters door_;
  SiteActor site_;
  WorkloadDriverHandle user_;
  JobListener listener_;
};

TEST_F(WorkloadDriverTest, HandsInWhatIsDueAtOneInstantWithOneMessageAndTheWorkloadsIdAsToken) {
  job(70, 0);
  job(7, 0);
  job(900, 5);
  begin();
  system_.run_until_s(10);
  EXPECT_THAT(heard_,
              ElementsAre(Heard{0, "handed 70 7"}, Heard{0, "watches 1"}, Heard{0, "watches 2"},
                          Heard{5, "handed 900"}, Heard{5, "watches 3"}));
  EXPECT_EQ(progress_.submitted, 3u);
  EXPECT_EQ(progress_.over, 0u);
}

TEST_F(WorkloadDriverTest, HandsInNoMoreThanAThousandAtOnce) {
  for (std::uint64_t id = 1; id <= 1001; ++id) job(id, 0);
  begin();
  std::vector<std::size_t> batches;
  for (const Heard& heard : heard_) {
    if (heard.what.starts_with("handed")) {
      batches.push_back(static_cast<std::size_t>(std::ranges::count(heard.what, ' ')));
    }
  }
  EXPECT_THAT(batches, ElementsAre(1000u, 1u));
  EXPECT_EQ(heard_.back().at_s, 0);
}

TEST_F(WorkloadDriverTest, TriesAgainWithTheSameTokenWhenItHasNoAnswer) {
  job(7, 0);
  fails_ = 2;
  begin();
  system_.run_until_s(10);
  EXPECT_THAT(heard_, ElementsAre(Heard{0, "handed 7"}, Heard{1, "handed 7"}, Heard{2, "handed 7"},
                                  Heard{2, "watches 1"}));
  EXPECT_THAT(progress_.not_accepted, IsEmpty());
}

TEST_F(WorkloadDriverTest, WhatWasHandedInTwiceIsOneJob) {
  MemorySiteStore book;
  open_site(book);
  job(7, 0);
  job(8, 0);
  fails_ = 1;  // the site takes them, and its answer gets lost
  begin();
  system_.run_until_s(10);
  EXPECT_THAT(heard_, ElementsAre(Heard{0, "handed 7 8"}, Heard{1, "handed 7 8"},
                                  Heard{1, "watches 1"}, Heard{1, "watches 2"}));
  EXPECT_EQ(book.recall().next_job, 3u);
}

TEST_F(WorkloadDriverTest, AJobThatNoTryGetsInIsNotAccepted) {
  job(7, 0);
  job(8, 30);
  fails_ = 5;
  begin();
  system_.run_until_s(20);
  EXPECT_EQ(heard_.size(), 5u);
  EXPECT_THAT(progress_.not_accepted, ElementsAre(Pair(JobId{7}, IsGolden())));
  system_.run_until_s(40);
  EXPECT_EQ(heard_.back(), (Heard{30, "watches 1"})) << "the next one is another matter";
  EXPECT_EQ(progress_.over, 1u);
}

TEST_F(WorkloadDriverTest, AJobThatTheSiteDoesNotAcceptIsNotTriedAgain) {
  job(7, 0);
  job(8, 0);
  refused_ = "job-7";
  begin();
  system_.run_until_s(20);
  EXPECT_THAT(heard_, ElementsAre(Heard{0, "handed 7 8"}, Heard{0, "watches 1"}));
  EXPECT_THAT(progress_.not_accepted, ElementsAre(Pair(JobId{7}, "not that one")));
}

TEST_F(WorkloadDriverTest, CountsEachEndOnceWhetherItWasOverBeforeTheWatchOrAfter) {
  job(7, 0);
  job(8, 0);
  over_ = {{job_id_of(0, 1), JobOutcome::refused, 0, 1, 1}};
  begin();
  EXPECT_EQ(progress_.over, 1u);
  for (int i = 0; i < 2; ++i) {
    caf::anon_send(listener_, over_atom_v, JobEnd{job_id_of(0, 2), JobOutcome::completed, 0, 1, 1});
  }
  system_.time().drain();
  EXPECT_EQ(progress_.over, 2u);
}

TEST_F(WorkloadDriverTest, ToldToCancelGivesUpWhatIsNotOver) {
  job(7, 0);
  job(8, 0);
  over_ = {{job_id_of(0, 1), JobOutcome::completed, 0, 1, 1}};
  begin();
  caf::anon_send(user_, cancel_atom_v);
  system_.time().drain();
  EXPECT_EQ(heard_.back().what, "cancels 2");
}

}  // namespace
}  // namespace muster::replay
