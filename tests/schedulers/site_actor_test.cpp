#include "schedulers/site/site_actor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "model/live_ids.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/virtual_system.hpp"

namespace muster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::Heard;
using test::JobBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

/// What a master of the test says of itself, and whether it answers at all.
struct FakeMaster {
  LoadReport report;
  bool answers = true;
  std::vector<JobEnd> over;  ///< parts of jobs, for those who ask
  JobListener listener;      ///< who has asked last
  std::string refusal;       ///< why it takes no job; empty: it does
  CancelStanding standing = CancelStanding::ended;
};

/// A book that can be looked into, and that outlives its site.
class OpenBook final : public SiteBook {
 public:
  SiteMemory recall() override { return memory; }
  void keep(SiteNews&& news, std::function<void(const std::string&)> durable) override {
    if (slow) return waiting.push_back({std::move(news), std::move(durable)});
    if (!trouble.empty()) return durable(trouble);
    if (takes_no_ends && !news.ended.empty()) return durable("the disk is full");
    for (Handoff& handoff : news.handoffs) memory.handoffs.push_back(std::move(handoff));
    for (KnownToken& token : news.tokens) memory.tokens.push_back(std::move(token));
    memory.next_job = std::max(memory.next_job, news.next_job);
    for (EndedHandoff& ended : news.ended) {
      handed_over(ended.job.id, ended.to);
      memory.ended.push_back(std::move(ended));
    }
    memory.cancels.insert(memory.cancels.end(), news.cancels.begin(), news.cancels.end());
    durable({});
  }
  void handed_over(JobId job, const HandTarget& to) override {
    std::erase_if(memory.handoffs, [&](const Handoff& handoff) {
      return handoff.job.id == job && handoff.to == to;
    });
  }
  void cancelled(JobId job) override { std::erase(memory.cancels, job); }
  void keep_sorter(std::string text) override { memory.sorter = std::move(text); }

  SiteMemory memory;
  std::string trouble;
  bool takes_no_ends = false;
  /// A slow one answers when it is asked to.
  bool slow = false;
  struct Waiting {
    SiteNews news;
    std::function<void(const std::string&)> durable;
  };
  std::vector<Waiting> waiting;
};

/// Two sites and two masters that the test speaks for.
class SiteActorTest : public ::testing::Test {
 protected:
  SiteActorTest() {
    for (std::size_t i = 0; i < fakes_.size(); ++i) masters_.push_back(spawn_master(i));
    other_ = spawn_other(1);
  }
  ~SiteActorTest() override {
    system_.end(other_);
    for (FakeMaster& fake : fakes_) fake.listener = nullptr;
    for (const MasterActor& master : masters_) system_.end(master);
  }

  void note(const std::string& what) { heard_.push_back({to_seconds(system_.time().now()), what}); }

  MasterActor spawn_master(std::size_t index) {
    const std::string name = "m" + std::to_string(index);
    return system_.actors().spawn([this, index,
                                   name](MasterActor::pointer self) -> MasterActor::behavior_type {
      return {
          [this, self, index, name](
              hand_atom, const std::vector<Job>& jobs) -> caf::result<std::vector<AcceptVerdict>> {
            if (!fakes_[index].answers) return self->make_response_promise();
            std::vector<AcceptVerdict> verdicts;
            for (const Job& job : jobs) {
              const std::string& refusal = fakes_[index].refusal;
              note(name + (refusal.empty() ? " takes " : " refuses ") + text(job));
              verdicts.push_back({job.id, refusal.empty(), refusal});
            }
            return verdicts;
          },
          [this, self, index, name](
              watch_atom, const JobListener& listener,
              const std::vector<JobId>& jobs) -> caf::result<std::vector<JobEnd>> {
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
          [](hold_atom, JobId id, bool) { return id; },
          [](drain_atom, InstanceId id) { return id; },
          [](hello_atom, const WorkerHello&, const WorkerActor&) {},
          [](const WorkerReport&) {},
          [](const SampleAnswer&) {},
          [](const LogAnswer&) {},
          [](const CloudReport&) {},
          [](greet_atom) {},
          [this, index](load_atom) { return fakes_[index].report; },
          [](const Query&) { return std::string{}; },
          [](plan_atom, const Job&) { return std::string{}; },
          [](const LogRequest&) { return LogAnswer{}; },
          [](const Wakeup&) {},
      };
    });
  }

  static std::string text(const Job& job) {
    std::string all = "job " + std::to_string(job.id.value) + ":";
    for (const TaskSpec& task : job.tasks) all += " " + std::to_string(position_of(task.id));
    return all;
  }

  /// A site in Tokyo (0) or London (1); the other one is heavily loaded unless it is given.
  SiteActor spawn_site(SiteBook& book, std::uint32_t index = 0, const SiteActor& other = {}) {
    return system_.actors().spawn<SiteScheduler>(setup_of(book, index, other ? other : other_));
  }
  SiteSetup setup_of(SiteBook& book, std::uint32_t index, const SiteActor& other) const {
    SiteSetup setup;
    for (std::uint32_t i = 0; i < masters_.size(); ++i) {
      setup.masters.push_back({masters_[i], "m" + std::to_string(i), i});
    }
    setup.sites = {{{}, "tokyo", {35.7, 139.7}, 0}, {{}, "london", {51.5, -0.1}, 1}};
    setup.sites[1 - index].actor = other;
    setup.number = index;
    setup.rules.masters_per_job = 2;
    setup.rules.stale_after = seconds{10};
    setup.load_every = seconds{1};
    setup.accept_timeout = seconds{1};
    setup.epoch = epoch_;
    setup.room = 2;
    setup.book = &book;
    setup.life.promise_wait = seconds{1};
    setup.life.hand_retry = milliseconds{500};
    setup.life.cancel_wait = seconds{2};
    setup.life.max_cancels = 3;
    return setup;
  }
  /// Another site, with this load, that is asked for nothing else.
  SiteActor spawn_other(double load) {
    return system_.actors().spawn([load](SiteActor::pointer) -> SiteActor::behavior_type {
      return {
          [](hand_atom, const std::vector<Job>&) { return std::vector<AcceptVerdict>{}; },
          [](forward_atom, const std::vector<Job>&) { return std::vector<AcceptVerdict>{}; },
          [](watch_atom, const JobListener&, const std::vector<JobId>&) {
            return std::vector<JobEnd>{};
          },
          [](cancel_atom, JobId id) {
            return CancelReport{id, {}, {}};
          },
          [](cancel_atom, const std::vector<JobId>& jobs) {
            std::vector<CancelVerdict> verdicts;
            for (const JobId id : jobs) verdicts.push_back({id, CancelStanding::unknown});
            return verdicts;
          },
          [](over_atom, const JobEnd&) {},
          [load](load_atom) {
            LoadReport report;
            report.load = load;
            return report;
          },
          [](const Query&) { return std::string{}; },
          [](const Wakeup&) {},
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
                  [this](const std::vector<AcceptVerdict>& verdicts) {
                    std::string ids;
                    for (const AcceptVerdict& verdict : verdicts) {
                      ids += " " + std::to_string(verdict.job.value);
                    }
                    note("promised" + ids);
                  },
                  [this](const caf::error&) { note("refused"); });
        });
    system_.time().drain();
  }
  /// The oldest write that the slow book of the site was asked for comes to its end.
  void end_write(const SiteActor& site, const std::string& trouble) {
    OpenBook::Waiting write = std::move(book_.waiting.front());
    book_.waiting.erase(book_.waiting.begin());
    book_.slow = false;
    book_.trouble = trouble;
    auto step = [this, &write] { book_.keep(std::move(write.news), std::move(write.durable)); };
    caf::anon_send(site, Wakeup{step});
    system_.time().drain();
    book_.trouble.clear();
    book_.slow = true;
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
  nlohmann::json ask(const SiteActor& site, const Query& query) {
    auto text = std::make_shared<std::string>();
    system_.actors().spawn([site, query, text](caf::event_based_actor* self) {
      self->request(site, caf::infinite, query).then([text](const std::string& answer) {
        *text = answer;
      });
    });
    system_.time().drain();
    return nlohmann::json::parse(*text);
  }
  std::vector<std::uint64_t> ids_shown(const SiteActor& site, const Query& query) {
    std::vector<std::uint64_t> ids;
    const nlohmann::json answer = ask(site, query);
    for (const nlohmann::json& job : answer["jobs"]) ids.push_back(job["job"]);
    return ids;
  }
  std::vector<std::string> said() {
    std::vector<std::string> all;
    for (const Heard& each : heard_) all.push_back(each.what);
    heard_.clear();
    return all;
  }

  test::VirtualSystem system_;
  ClusterEpoch epoch_ = system_.time().epoch();
  std::vector<FakeMaster> fakes_{2};
  std::vector<MasterActor> masters_;
  SiteActor other_;
  std::vector<Heard> heard_;
  OpenBook book_, other_book_;
};

/// Somebody who waits for jobs at a site.
class Waiter {
 public:
  explicit Waiter(test::VirtualSystem& system) : system_(system) {
    actor_ = system.actors().spawn([this](JobListener::pointer) -> JobListener::behavior_type {
      return {[this](over_atom, const JobEnd& end) { told_.push_back(text(end)); }};
    });
  }
  ~Waiter() { end(); }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  /// Asks after the jobs; what the answer says is told as well.
  void watch(const SiteActor& site, std::vector<JobId> jobs) {
    system_.actors().spawn([this, site, jobs = std::move(jobs)](caf::event_based_actor* self) {
      self->request(site, caf::infinite, watch_atom_v, actor_, jobs)
          .then(
              [this](const std::vector<JobEnd>& ends) {
                for (const JobEnd& end : ends) told_.push_back("at once: " + text(end));
              },
              [this](const caf::error&) { told_.emplace_back("refused"); });
    });
    system_.time().drain();
  }
  void end() {
    if (actor_) system_.end(actor_);
    actor_ = nullptr;
  }
  std::vector<std::string> told() { return std::exchange(told_, {}); }

 private:
  static std::string text(const JobEnd& end) {
    return std::to_string(end.job.value) + " " + std::string(name_of(end.outcome));
  }

  test::VirtualSystem& system_;
  JobListener actor_;
  std::vector<std::string> told_;
};

JobEnd part_end(std::uint32_t first, std::uint32_t tasks, std::uint32_t whole,
                JobOutcome outcome = JobOutcome::completed) {
  return {JobId{1}, outcome, first, tasks, whole};
}

TEST_F(SiteActorTest, SplitsAJobAmongTwoMastersAndPromisesWhenBothHaveTheirPart) {
  const SiteActor site = spawn_site(book_);
  system_.run_until_s(0.5);
  submit(site, {tasks(3)});
  const auto all = said();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all.back(), "promised 1");
  const std::vector<std::string> parts(all.begin(), all.begin() + 2);
  const bool first_draw = parts[0].starts_with("m0") == (parts[0].ends_with("0 2"));
  EXPECT_THAT(parts, first_draw ? UnorderedElementsAre("m0 takes job 1: 0 2", "m1 takes job 1: 1")
                                : UnorderedElementsAre("m1 takes job 1: 0 2", "m0 takes job 1: 1"));
  EXPECT_THAT(book_.memory.handoffs, IsEmpty());
  system_.end(site);
}

TEST_F(SiteActorTest, GivesNothingToAHeavilyLoadedMaster) {
  fakes_[0].report.load = 0.9;
  const SiteActor site = spawn_site(book_);
  system_.run_until_s(0.5);
  submit(site, {tasks(2)});
  EXPECT_THAT(said(), ElementsAre("m1 takes job 1: 0 1", "promised 1"));
  system_.end(site);
}

TEST_F(SiteActorTest, PromisesByItselfWhenAMasterDoesNotAnswerInTime) {
  fakes_[1].answers = false;
  const SiteActor site = spawn_site(book_);
  system_.run_until_s(0.5);
  submit(site, {tasks(1), tasks(1), tasks(2)});
  EXPECT_THAT(said(), ::testing::Not(::testing::Contains("promised 1 2 3")));
  system_.run_until_s(1.6);
  EXPECT_THAT(said(), ::testing::Contains("promised 1 2 3"));
  EXPECT_FALSE(book_.memory.handoffs.empty());
  fakes_[1].answers = true;
  system_.run_until_s(4);
  EXPECT_THAT(book_.memory.handoffs, IsEmpty()) << "said again until it was taken";
  system_.end(site);
}

TEST_F(SiteActorTest, GoesOnAfterARestartAndNumbersOn) {
  fakes_[0].answers = fakes_[1].answers = false;
  const SiteActor before = spawn_site(book_);
  system_.run_until_s(0.5);
  submit(before, {tasks(1)});
  system_.end(before);
  heard_.clear();
  fakes_[0].answers = fakes_[1].answers = true;
  const SiteActor after = spawn_site(book_);
  system_.run_until_s(1);
  EXPECT_THAT(said(), ElementsAre(::testing::EndsWith("takes job 1: 0")));
  submit(after, {tasks(1)});
  EXPECT_THAT(said(), ::testing::Contains("promised 2"));
  system_.end(after);
}

TEST_F(SiteActorTest, NumbersJobsApartFromOtherSitesAfterARestartToo) {
  for (const char* promise : {"promised 1000000001", "promised 1000000002"}) {
    const SiteActor site = spawn_site(book_, 1);
    system_.run_until_s(0.1);
    submit(site, {tasks(1)});
    EXPECT_THAT(said(), ::testing::Contains(promise));
    system_.end(site);
  }
}

TEST_F(SiteActorTest, TheSameTokenIsTheSameJob) {
  const SiteActor site = spawn_site(book_);
  system_.run_until_s(0.5);
  Job job = tasks(1);
  job.token = "once";
  submit(site, {job});
  heard_.clear();
  submit(site, {job});
  EXPECT_THAT(said(), ElementsAre("promised 1"));
  system_.end(site);
}

TEST_F(SiteActorTest, ARepeatedTokenSharesTheFateOfTheFirstWrite) {
  for (const std::string trouble : {"the disk is full", ""}) {
    OpenBook fresh;
    std::swap(book_, fresh);
    const SiteActor site = spawn_site(book_);
    system_.run_until_s(to_seconds(system_.time().now()) + 0.5);
    book_.slow = true;
    submit(site, {with_token("ann", "once")});
    submit(site, {with_token("ann", "once"), with_token("ann", "twice")});
    EXPECT_THAT(said(), IsEmpty()) << "nothing is durable yet";
    ASSERT_EQ(book_.waiting.size(), 2u);
    end_write(site, trouble);
    end_write(site, "");
    const auto answers = said();
    if (trouble.empty()) {
      EXPECT_THAT(answers, ::testing::IsSupersetOf({"promised 1", "promised 1 2"}));
    } else {
      EXPECT_THAT(answers, UnorderedElementsAre("refused", "refused",
                                                ::testing::EndsWith("takes job 2: 0")));
    }
    book_.slow = false;
    submit(site, {with_token("ann", "once")});
    EXPECT_THAT(said(), ::testing::Contains(trouble.empty() ? "promised 1" : "promised 3"));
    system_.end(site);
  }
}

TEST_F(SiteActorTest, AJobThatIsForwardedAgainSharesTheFateOfTheFirstWrite) {
  const SiteActor site = spawn_site(book_);
  system_.run_until_s(0.5);
  book_.slow = true;
  Job job = tasks(1);
  job.id = job_id_of(1, 7);
  forward(site, {job});
  forward(site, {job});
  EXPECT_THAT(said(), IsEmpty()) << "nothing is durable yet";
  ASSERT_EQ(book_.waiting.size(), 1u);
  end_write(site, "the disk is full");
  EXPECT_THAT(said(), ElementsAre("refused", "refused"));
  book_.slow = false;
  forward(site, {job});
  EXPECT_THAT(said(), ::testing::Contains("promised 1000000007"));
  system_.end(site);
}

TEST_F(SiteActorTest, TheSameTokenOfTwoUsersIsTwoJobsAfterARestartToo) {
  for (int life = 0; life < 2; ++life) {
    const SiteActor site = spawn_site(book_);
    system_.run_until_s(to_seconds(system_.time().now()) + 0.5);
    submit(site, {with_token("ann", "1")});
    EXPECT_THAT(said(), ::testing::Contains("promised 1"));
    submit(site, {with_token("bob", "1")});
    EXPECT_THAT(said(), ::testing::Contains("promised 2"));
    system_.end(site);
  }
}

TEST_F(SiteActorTest, AUsersTokenDoesNotHideAForwardedJob) {
  const SiteActor site = spawn_site(book_);
  system_.run_until_s(0.5);
  submit(site, {with_token("ann", "forwarded 1000000007")});
  heard_.clear();
  Job job = tasks(1);
  job.id = job_id_of(1, 7);
  forward(site, {job});
  EXPECT_THAT(said(), ::testing::Contains(::testing::HasSubstr("takes job 1000000007")));
  system_.end(site);
}

TEST_F(SiteActorTest, AnOldTokenHasTheUserOfItsJobWhereThatIsStillThere) {
  Job job = with_token("ann", "1");
  job.id = JobId{1};
  book_.memory.handoffs.push_back({job, {false, 0}});
  book_.memory.tokens = {{"1", JobId{1}}, {"2", JobId{2}}};
  book_.memory.next_job = 3;
  const SiteActor site = spawn_site(book_);
  system_.run_until_s(0.5);
  submit(site, {with_token("ann", "1")});
  EXPECT_THAT(said(), ::testing::Contains("promised 1"));
  submit(site, {with_token("bob", "1")});
  EXPECT_THAT(said(), ::testing::Contains("promised 3"));
  submit(site, {with_token("bob", "2")});
  EXPECT_THAT(said(), ::testing::Contains("promised 2")) << "nobody knows whose it is";
  system_.end(site);
}

TEST_F(SiteActorTest, ShowsTheNewestOfTheJobsOnTheirWayAndNoMoreThanAsked) {
  fakes_[0].answers = fakes_[1].answers = false;
  const SiteActor site = spawn_site(book_);
  system_.run_until_s(0.5);
  std::vector<Job> jobs(300, with_token("ann", ""));
  for (std::size_t i = 0; i < jobs.size(); i += 2) jobs[i].user = "bob";
  jobs.push_back(tasks(2));  // with a part for each master
  submit(site, jobs);
  EXPECT_THAT(ids_shown(site, {"jobs", 0, {}, 3}), ElementsAre(301, 301, 300, 299));
  EXPECT_THAT(ids_shown(site, {"jobs", 0, R"({"user": "bob"})", 2}), ElementsAre(299, 297));
  EXPECT_THAT(ids_shown(site, {"jobs", 0, R"({"state": "over"})", 2}), IsEmpty());
  EXPECT_EQ(ids_shown(site, {"jobs", 0, {}, 0}).size(), 101u) << "without a limit 100 jobs";
  EXPECT_THAT(ids_shown(site, {"job", 7, {}, 0}), ElementsAre(7));
  system_.end(site);
}

TEST_F(SiteActorTest, RefusesWhatItCannotWriteDown) {
  const SiteActor site = spawn_site(book_);
  system_.run_until_s(0.5);
  book_.trouble = "the disk is full";
  submit(site, {tasks(1)});
  EXPECT_THAT(said(), ElementsAre("refused"));
  system_.end(site);
}

TEST_F(SiteActorTest, LeavesAJobToTheSiteThatIsNearestToItsUserAndThatTakesItOnce) {
  const SiteActor london = spawn_site(other_book_, 1);
  const SiteActor tokyo = spawn_site(book_, 0, london);
  system_.run_until_s(0.5);
  Job job = tasks(1);
  job.origin = GeoPoint{48.9, 2.4};  // Paris
  submit(tokyo, {job});
  EXPECT_THAT(said(), ElementsAre(::testing::EndsWith("takes job 1: 0"), "promised 1"));
  EXPECT_THAT(book_.memory.handoffs, IsEmpty());
  ASSERT_EQ(other_book_.memory.tokens.size(), 1u);
  Job again = job;
  again.id = JobId{1};
  again.tasks[0].id = task_id_of(JobId{1}, 0);
  caf::anon_send(london, forward_atom_v, std::vector<Job>{again});
  system_.time().drain();
  EXPECT_THAT(said(), IsEmpty());
  system_.end(tokyo);
  system_.end(london);
}

TEST_F(SiteActorTest, WhenAPartIsGivenUpTheOthersAreCancelledOnce) {
  const SiteActor site = spawn_site(book_);
  system_.run_until_s(0.5);
  fakes_[1].report.broken = {JobId{5}};
  system_.run_until_s(3.5);
  EXPECT_THAT(said(), UnorderedElementsAre("m0 cancels 5", "m1 cancels 5"));
  system_.end(site);
}

TEST_F(SiteActorTest, AJobThatAMasterRefusesIsOverForEverybodyToSee) {
  fakes_[0].refusal = fakes_[1].refusal = "the task is not valid";
  for (int life = 0; life < 2; ++life) {
    const SiteActor site = spawn_site(book_);
    run_for_s(0.5);
    if (life == 0) submit(site, {with_token("ann", "1")});
    EXPECT_THAT(ids_shown(site, {"jobs", 0, R"({"state": "over"})", 9}), ElementsAre(1));
    EXPECT_THAT(ids_shown(site, {"jobs", 0, R"({"state": "active"})", 9}), IsEmpty());
    const nlohmann::json job = ask(site, {"job", 1, {}, 0})["jobs"][0];
    EXPECT_EQ(job["state"], "refused");
    EXPECT_EQ(job["reason"], "the task is not valid");
    EXPECT_EQ(job["tasks_total"], 1);
    EXPECT_EQ(job["user"], "ann");
    EXPECT_TRUE(job["over_s"].is_number());
    EXPECT_THAT(book_.memory.handoffs, IsEmpty());
    system_.end(site);
  }
  EXPECT_THAT(said(), ElementsAre(::testing::EndsWith("refuses job 1: 0"), "promised 1"));
}

TEST_F(SiteActorTest, WhenAMasterRefusesAPartTheOthersAreCancelled) {
  fakes_[1].refusal = "no";
  const SiteActor site = spawn_site(book_);
  system_.run_until_s(0.5);
  submit(site, {tasks(2)});
  EXPECT_THAT(said(), ::testing::IsSupersetOf({"promised 1", "m0 cancels 1"}));
  EXPECT_THAT(book_.memory.cancels, IsEmpty()) << "all have confirmed";
  system_.end(site);
}

TEST_F(SiteActorTest, ARefusalThatCannotBeWrittenDownIsNotForgotten) {
  fakes_[0].refusal = fakes_[1].refusal = "no";
  book_.takes_no_ends = true;
  const SiteActor site = spawn_site(book_);
  system_.run_until_s(0.5);
  submit(site, {tasks(1)});
  EXPECT_EQ(book_.memory.handoffs.size(), 1u);
  EXPECT_EQ(ask(site, {"job", 1, {}, 0})["jobs"][0]["state"], "handing over");
  book_.takes_no_ends = false;
  run_for_s(1);
  EXPECT_EQ(ask(site, {"job", 1, {}, 0})["jobs"][0]["state"], "refused");
  system_.end(site);
}

TEST_F(SiteActorTest, ACancelIsAnsweredWhenEverybodyHasConfirmedIt) {
  const SiteActor site = spawn_site(book_);
  system_.run_until_s(0.5);
  submit(site, {tasks(1)});
  heard_.clear();
  cancel(site, 1);
  EXPECT_THAT(said(), UnorderedElementsAre("m0 cancels 1", "m1 cancels 1", "ended 1"));
  EXPECT_THAT(book_.memory.cancels, IsEmpty());
  fakes_[0].standing = fakes_[1].standing = CancelStanding::over;
  cancel(site, 1);
  EXPECT_THAT(said(), ::testing::Contains("over 1"));
  fakes_[0].standing = fakes_[1].standing = CancelStanding::unknown;
  cancel(site, 77);
  EXPECT_THAT(said(), ::testing::Contains("unknown 77"));
  system_.end(site);
}

TEST_F(SiteActorTest, ACancelThatAMasterDoesNotConfirmIsRepeatedUntilItDoesOverRestartsToo) {
  const SiteActor before = spawn_site(book_);
  system_.run_until_s(0.5);
  submit(before, {tasks(1)});
  fakes_[1].answers = false;
  heard_.clear();
  cancel(before, 1);
  run_for_s(1.5);
  EXPECT_THAT(said(), ElementsAre("m0 cancels 1")) << "no answer yet";
  run_for_s(1);
  EXPECT_THAT(said(), ElementsAre("ended 1, not by m1"));
  EXPECT_THAT(book_.memory.cancels, ElementsAre(JobId{1}));
  system_.end(before);
  const SiteActor after = spawn_site(book_);
  run_for_s(3);
  EXPECT_THAT(book_.memory.cancels, ElementsAre(JobId{1}));
  heard_.clear();
  fakes_[1].answers = true;
  run_for_s(3);
  EXPECT_THAT(said(), ElementsAre("m1 cancels 1"));
  EXPECT_THAT(book_.memory.cancels, IsEmpty());
  system_.end(after);
}

TEST_F(SiteActorTest, AJobThatHasNotLeftIsCancelledHere) {
  fakes_[0].answers = fakes_[1].answers = false;
  const SiteActor site = spawn_site(book_);
  system_.run_until_s(0.5);
  submit(site, {tasks(2)});
  submit(site, {tasks(2)});  // waits behind the first
  cancel(site, 2);
  const nlohmann::json parts = ask(site, {"job", 2, {}, 0})["jobs"];
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0]["state"], "cancelled");
  EXPECT_EQ(parts[1]["state"], "cancelled");
  heard_.clear();
  fakes_[0].answers = fakes_[1].answers = true;
  run_for_s(5);
  EXPECT_THAT(said(), ::testing::Not(::testing::Contains(::testing::HasSubstr("takes job 2"))));
  EXPECT_THAT(book_.memory.handoffs, IsEmpty());
  EXPECT_THAT(book_.memory.cancels, IsEmpty());
  system_.end(site);
}

TEST_F(SiteActorTest, AJobThatMayHaveLeftIsCancelledWhenItHasArrived) {
  const SiteActor london = spawn_site(other_book_, 1);
  const SiteActor tokyo = spawn_site(book_, 0, london);
  fakes_[0].answers = fakes_[1].answers = false;
  system_.run_until_s(0.5);
  Job job = tasks(1);
  job.origin = GeoPoint{48.9, 2.4};  // Paris: London is to have it
  submit(tokyo, {job});
  cancel(tokyo, 1);
  run_for_s(2.5);
  EXPECT_THAT(said(), ::testing::Contains("passed on 1, not by m0, not by m1, not by london"));
  fakes_[0].answers = fakes_[1].answers = true;
  run_for_s(5);
  const auto all = said();
  const auto taken = std::find_if(all.begin(), all.end(), [](const std::string& text) {
    return text.ends_with("takes job 1: 0");
  });
  ASSERT_NE(taken, all.end());
  EXPECT_THAT(std::vector(taken, all.end()),
              ::testing::IsSupersetOf({"m0 cancels 1", "m1 cancels 1"}))
      << "what was said before it came does not count";
  EXPECT_THAT(book_.memory.cancels, IsEmpty());
  system_.end(tokyo);
  system_.end(london);
}

TEST_F(SiteActorTest, ACancelThatIsNotDurableIsNotPromised) {
  const SiteActor site = spawn_site(book_);
  system_.run_until_s(0.5);
  submit(site, {tasks(1)});
  book_.trouble = "the disk is full";
  cancel(site, 1);
  EXPECT_THAT(said(), ::testing::Contains("ended 1")) << "all have confirmed: no promise is left";
  fakes_[1].answers = false;
  cancel(site, 1);
  run_for_s(2.5);
  EXPECT_THAT(said(), ::testing::Contains("refused"));
  system_.end(site);
}

TEST_F(SiteActorTest, RefusesMoreCancelsThanMayBeOpen) {
  fakes_[1].answers = false;
  const SiteActor site = spawn_site(book_);
  system_.run_until_s(0.5);
  for (std::uint64_t job = 1; job <= 3; ++job) cancel(site, job);
  heard_.clear();
  cancel(site, 4);
  EXPECT_THAT(said(), ElementsAre("refused"));
  system_.end(site);
}

TEST_F(SiteActorTest, TellsWhoWatchesOnceAndOfTheWorstOfTheParts) {
  const SiteActor site = spawn_site(book_);
  Waiter waiter(system_);
  system_.run_until_s(0.5);
  submit(site, {tasks(4)});
  heard_.clear();
  waiter.watch(site, {JobId{1}});
  EXPECT_THAT(said(), UnorderedElementsAre("m0 watches 1", "m1 watches 1"));
  caf::anon_send(fakes_[0].listener, over_atom_v, part_end(0, 2, 4, JobOutcome::failed));
  system_.time().drain();
  EXPECT_THAT(waiter.told(), IsEmpty());
  EXPECT_THAT(said(), UnorderedElementsAre("m0 cancels 1", "m1 cancels 1"));
  caf::anon_send(fakes_[0].listener, over_atom_v, part_end(0, 2, 4, JobOutcome::failed));
  system_.time().drain();
  EXPECT_THAT(waiter.told(), IsEmpty()) << "the same part again is not the other one";
  caf::anon_send(fakes_[1].listener, over_atom_v, part_end(1, 2, 4, JobOutcome::cancelled));
  caf::anon_send(fakes_[1].listener, over_atom_v, part_end(1, 2, 4, JobOutcome::cancelled));
  system_.time().drain();
  EXPECT_THAT(waiter.told(), ElementsAre("1 failed"));
  system_.end(site);
}

TEST_F(SiteActorTest, AWatchThatComesAfterTheEndIsAnsweredAtOnce) {
  fakes_[0].over = {part_end(0, 2, 3)};
  fakes_[1].over = {part_end(1, 1, 3)};
  const SiteActor site = spawn_site(book_);
  Waiter waiter(system_);
  waiter.watch(site, {JobId{1}});
  EXPECT_THAT(waiter.told(), ElementsAre("at once: 1 completed"));
  waiter.watch(site, {JobId{1}});
  EXPECT_THAT(waiter.told(), ElementsAre("at once: 1 completed"));
  system_.end(site);
}

TEST_F(SiteActorTest, OfAJobInOnePartTheOtherMasterHearsThatNobodyWatchesItAnyMore) {
  const SiteActor site = spawn_site(book_);
  Waiter first(system_), second(system_);
  first.watch(site, {JobId{1}});
  second.watch(site, {JobId{1}});
  said();
  caf::anon_send(fakes_[0].listener, over_atom_v, part_end(0, 3, 3));
  system_.time().drain();
  EXPECT_THAT(first.told(), ElementsAre("1 completed"));
  EXPECT_THAT(second.told(), ElementsAre("1 completed"));
  EXPECT_THAT(said(), UnorderedElementsAre("m0 unwatches 1", "m1 unwatches 1"));
  system_.end(site);
}

TEST_F(SiteActorTest, AListenerThatDiesIsDroppedAndMastersHearOfIt) {
  const SiteActor site = spawn_site(book_);
  Waiter first(system_), second(system_);
  first.watch(site, {JobId{1}, JobId{2}});
  second.watch(site, {JobId{2}});
  said();
  first.end();
  EXPECT_THAT(said(), UnorderedElementsAre("m0 unwatches 1", "m1 unwatches 1"))
      << "somebody else still watches job 2";
  second.end();
  EXPECT_THAT(said(), UnorderedElementsAre("m0 unwatches 2", "m1 unwatches 2"));
  system_.end(site);
}

TEST_F(SiteActorTest, AsksAMasterThatDidNotAnswerAgainWhileSomebodyWatches) {
  fakes_[1].answers = false;
  const SiteActor site = spawn_site(book_);
  Waiter waiter(system_);
  waiter.watch(site, {JobId{1}});
  EXPECT_THAT(said(), ElementsAre("m0 watches 1"));
  system_.run_until_s(1.2);
  fakes_[1].over = {part_end(0, 1, 1)};
  fakes_[1].answers = true;
  system_.run_until_s(3);
  EXPECT_THAT(waiter.told(), ElementsAre("1 completed"));
  EXPECT_THAT(said(), ::testing::Contains("m1 watches 1"));
  system_.end(site);
}

TEST_F(SiteActorTest, WhoWatchesAJobThatNoMasterTakesHearsOfItsEnd) {
  fakes_[0].refusal = fakes_[1].refusal = "no";
  const SiteActor site = spawn_site(book_);
  Waiter early(system_), late(system_);
  early.watch(site, {JobId{1}});
  system_.run_until_s(0.5);
  submit(site, {tasks(2)});
  run_for_s(1);
  EXPECT_THAT(early.told(), ElementsAre("1 refused"));
  late.watch(site, {JobId{1}});
  EXPECT_THAT(late.told(), ElementsAre("at once: 1 refused"));
  system_.end(site);
}

TEST_F(SiteActorTest, TurnsAwayWhoWatchesMoreThanThereIsRoomFor) {
  SiteSetup setup = setup_of(book_, 0, other_);
  setup.life.max_watches = 2;
  const SiteActor small = system_.actors().spawn<SiteScheduler>(std::move(setup));
  Waiter waiter(system_);
  waiter.watch(small, {JobId{1}, JobId{2}, JobId{3}});
  EXPECT_THAT(waiter.told(), ElementsAre("refused"));
  waiter.watch(small, {JobId{1}, JobId{2}});
  EXPECT_THAT(waiter.told(), IsEmpty());
  waiter.watch(small, {JobId{3}});
  EXPECT_THAT(waiter.told(), ElementsAre("refused"));
  system_.end(small);
}

}  // namespace
}  // namespace muster
