#include "masters/cell_view.hpp"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "storage/job_filter.hpp"
#include "storage/task_filter.hpp"
#include "tests/masters/scripted_master.hpp"
#include "tests/support/builders.hpp"

namespace muster {
namespace {

using nlohmann::json;
using test::at_s;
using test::JobBuilder;

/// Plans nothing.
class IdlePolicy final : public Policy {
 public:
  Cadence cadence() const override { return {.period = std::chrono::seconds{300}}; }
  void observe(const Event&, const ClusterView&) override {}
  std::unique_ptr<Policy> clone() const override { return std::make_unique<IdlePolicy>(*this); }
  Plan decide(const ClusterView&, Rng&) override { return {}; }
};

/// Keeps what it is given, and counts how often it is read.
class CountedHistory final : public History {
 public:
  void add(JobHistory job) override { jobs.push_back(std::move(job)); }
  std::size_t size() const override { return jobs.size(); }
  std::optional<JobHistory> find(JobId id) const override {
    ++reads;
    for (const JobHistory& job : jobs) {
      if (job.job.id == id) return job;
    }
    return std::nullopt;
  }
  void newest(std::size_t limit, const Use& use) const override {
    for (auto it = jobs.rbegin(); it != jobs.rend() && limit > 0; ++it, --limit) {
      ++reads;
      if (!use(*it)) return;
    }
  }
  bool contains(JobId id) const override {
    return std::any_of(jobs.begin(), jobs.end(),
                       [&](const JobHistory& job) { return job.job.id == id; });
  }
  std::map<std::string, Money> spent_by_user() const override { return spent; }
  void newest_entries(std::size_t limit,
                      const std::function<void(const HistoryEntry&)>& use) const override {
    for (auto it = jobs.rbegin(); it != jobs.rend() && limit > 0; ++it, --limit) use(entry_of(*it));
  }

  std::vector<JobHistory> jobs;
  std::map<std::string, Money> spent;
  mutable int reads = 0;
};

TaskFilter tasks_wanted(std::optional<std::uint32_t> after, const std::string& phase = {}) {
  TaskFilter filter;
  filter.after = after;
  filter.phase = phase;
  return filter;
}

class CellViewTest : public ::testing::Test {
 protected:
  CellViewTest() {
    MasterParts parts;
    parts.catalog = &catalog_;
    parts.policy = std::make_unique<IdlePolicy>();
    master_.emplace(std::move(parts));
  }

  void over(std::uint64_t id, const std::string& user, double usd) {
    JobHistory job;
    job.job = JobBuilder(id).build();
    job.job.user = user;
    job.tasks.resize(1);
    job.tasks[0].cost = dollars(usd);
    history_.add(std::move(job));
    history_.spent[user] += dollars(usd);
  }
  static Money dollars(double usd) {
    return Money::of(Price::from_usd_h(usd), std::chrono::hours{1});
  }
  CellAnswer ask(const std::string& what, std::uint64_t id = 0, const std::string& text = {},
                 std::uint32_t limit = 0) {
    CellView view{*master_, &history_, {}, "m0", at_s(10)};
    return view.answer(what, id, text, limit);
  }
  static json whole(const CellAnswer& answer) {
    return json::parse(answer.read ? answer.read() : answer.text);
  }

  Catalog catalog_ = test::table3_catalog();
  std::optional<Master> master_;
  CountedHistory history_;
};

TEST_F(CellViewTest, AnAnswerAboutJobsThatAreOverReadsNothingByItself) {
  over(1, "ada", 2);
  for (const char* what : {"jobs", "job", "explain", "find", "cost", "load"}) ask(what, 1, "0");
  EXPECT_EQ(history_.reads, 0);
  EXPECT_EQ(whole(ask("job", 1))["master"], "m0");
  EXPECT_EQ(whole(ask("explain", 1))["job"]["job"], 1);
  EXPECT_EQ(whole(ask("find", 1, "0"))["over"], true);
  EXPECT_EQ(whole(ask("job", 2))["missing"], true);
}

TEST_F(CellViewTest, AListReadsNoMoreThanItShows) {
  for (std::uint64_t id = 1; id <= 50; ++id) over(id, id % 2 == 0 ? "ada" : "bob", 1);
  ASSERT_EQ(master_->accept(JobBuilder(99).build(), at_s(1)), AcceptResult::accepted);
  const json list = whole(ask("jobs", 0, {}, 3))["jobs"];
  ASSERT_EQ(list.size(), 4u) << "as many of those that are over as it would show without others";
  EXPECT_EQ(list[0]["job"], 99);
  EXPECT_EQ(list[1]["job"], 50);
  EXPECT_EQ(list[2]["master"], "m0");
  EXPECT_EQ(history_.reads, 3);
  const json of_bob = whole(ask("jobs", 0, R"({"state":"over","user":"bob"})", 2))["jobs"];
  ASSERT_EQ(of_bob.size(), 2u);
  EXPECT_EQ(of_bob[0]["job"], 49);
  EXPECT_TRUE(ask("jobs", 0, R"({"state":"active"})").read == nullptr);
}

TEST_F(CellViewTest, APageBeginsBehindItsCursorAndGoesByNumber) {
  for (const std::uint64_t id : {8, 3, 9, 5}) over(id, "ada", 1);
  for (const std::uint64_t id : {20, 12, 31, 15}) {
    ASSERT_EQ(master_->accept(JobBuilder(id).build(), at_s(1)), AcceptResult::accepted);
  }
  const auto page = [&](const char* state, const char* after, std::uint32_t most) {
    const std::string text = JobFilter::page(state, "", job_cursor_from(after));
    std::string jobs;
    const json list = whole(ask("jobs", 0, text, most))["jobs"];
    for (const json& job : list) jobs += job["job"].dump() + " ";
    return jobs;
  };
  EXPECT_EQ(page("all", "", 9), "31 20 15 12 9 8 5 3 ");
  EXPECT_EQ(page("all", "", 2), "31 20 ") << "it has as many that are not over";
  EXPECT_EQ(page("active", "active:20", 9), "15 12 ");
  EXPECT_EQ(page("all", "active:20", 3), "15 12 9 8 5 ") << "three of each";
  EXPECT_EQ(page("all", "over:8", 9), "5 3 ");
  EXPECT_EQ(page("over", "", 3), "9 8 5 ");
  EXPECT_EQ(page("over", "over:3", 3), "");
}

TEST_F(CellViewTest, SaysWhatItHasOfTheJobsThatAreAskedFor) {
  for (const std::uint64_t id : {8, 3, 9}) over(id, "ada", 1);
  ASSERT_EQ(master_->accept(JobBuilder(20).build(), at_s(1)), AcceptResult::accepted);
  const auto some = [&](const std::vector<JobId>& jobs) {
    return ask("jobs", 0, JobFilter::parts_of(jobs), static_cast<std::uint32_t>(jobs.size()));
  };
  const json list = whole(some({JobId{9}, JobId{20}, JobId{4}, JobId{3}}))["jobs"];
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(list[0]["job"], 20);
  EXPECT_EQ(list[1]["job"], 9);
  EXPECT_EQ(list[2]["job"], 3);
  EXPECT_TRUE(some({JobId{20}, JobId{4}}).read == nullptr) << "nothing has to be read";
}

TEST_F(CellViewTest, AJobThatGetsOverBeforeItsHistoryIsReadIsListedOnce) {
  ASSERT_EQ(master_->accept(JobBuilder(20).build(), at_s(1)), AcceptResult::accepted);
  const CellAnswer answer = ask("jobs");
  over(20, "ada", 1);
  EXPECT_EQ(whole(answer)["jobs"].size(), 1U);
}

TEST_F(CellViewTest, ShowsAPageOfTheTasksOfAJobThatIsOver) {
  over(1, "ada", 2);
  JobHistory& array = history_.jobs.back();
  array.job = JobBuilder(1).tasks(600).gang(false).build();
  for (std::uint32_t i = 0; i < 600; ++i) array.job.tasks[i].array_index = 599 - i;
  array.tasks.assign(600, {});
  for (std::uint32_t i = 0; i < 600; i += 100) array.tasks[i].failed = true;
  const auto page = [&](TaskFilter filter, std::uint32_t most) {
    const json job = whole(ask("job", 1, filter.text(), most));
    std::string tasks;
    for (const json& task : job["tasks"]) tasks += task["task"].dump() + " ";
    return tasks + job["tasks_behind"].dump();
  };
  EXPECT_EQ(page({}, 3), "0 1 2 597");
  EXPECT_EQ(page(tasks_wanted(596), 3), "597 598 599 0");
  EXPECT_EQ(page(tasks_wanted(599), 3), "0");
  EXPECT_EQ(page(tasks_wanted({}, "failed"), 3), "99 199 299 3");
  EXPECT_EQ(page(tasks_wanted(299, "failed"), 9), "399 499 599 0");
  EXPECT_EQ(whole(ask("explain", 1, tasks_wanted({}, "failed").text(), 2))["tasks_behind"], 4);
  EXPECT_EQ(whole(ask("job", 1, {}, 500))["tasks"].size(), 500U) << "it is not read on the actor";
}

TEST_F(CellViewTest, CostsByUserAreThoseOfAllJobsThatEverWere) {
  over(1, "ada", 2);
  history_.spent["ada"] += dollars(40);  // of jobs that are no longer kept
  const json cost = whole(ask("cost", 0, "user"));
  std::map<std::string, double> parts;
  for (const json& part : cost["by"]) parts[part["name"]] = part["usd"];
  EXPECT_DOUBLE_EQ(parts["ada"], 42);
}

TEST_F(CellViewTest, TheCostsPartsAddUpToTheTasksTotal) {
  over(1, "ada", 2);
  over(2, "bob", 1);
  for (const char* by : {"user", "job"}) {
    // The ledger knows of nothing that was spent, so what is named is too much by all of it.
    const json cost = whole(ask("cost", 0, by));
    double sum = 0;
    for (const json& part : cost["by"]) sum += part["usd"].get<double>();
    EXPECT_NEAR(sum, cost["tasks_usd"].get<double>(), 1e-12) << by;
    EXPECT_EQ(cost["by"][0]["name"], "(earlier jobs)");
  }
  EXPECT_EQ(history_.reads, 0);
}

/// Jobs of one user under a master that does what the test plans.
class RunningCell : public test::MasterTest {
 protected:
  json ask(const std::string& what, std::uint64_t id = 0, const std::string& text = {}) {
    const CellView view{*master_, nullptr, {}, "m0", at_s(1000)};
    return json::parse(view.answer(what, id, text, 0).text);
  }
  std::string word(std::uint64_t job) { return ask("job", job)["state"]; }
  void accept(const Job& job) { ASSERT_EQ(master_->accept(job, now()), AcceptResult::accepted); }
};

TEST_F(RunningCell, AJobsWordIsTrue) {
  accept(JobBuilder(1).tasks(2).gang(false).build());
  EXPECT_EQ(word(1), "waiting");
  round(together({1}));
  EXPECT_EQ(word(1), "starting") << "its instance is not there yet";
  boot(0);
  ASSERT_EQ(master_->state().find(TaskId{1})->phase, TaskPhase::starting);
  EXPECT_EQ(word(1), "starting");
  EXPECT_EQ(ask("load")["jobs"]["running"], 0);
  EXPECT_EQ(ask("load")["jobs"]["waiting"], 1);
  started(1, 1);
  EXPECT_EQ(word(1), "running");
  EXPECT_EQ(ask("load")["jobs"]["running"], 1);
  master_->task_failed({TaskId{1}, 1, "exit 3"}, now());
  EXPECT_EQ(word(1), "waiting") << "nothing of it runs";
  master_->hold(JobId{1}, true, now());
  EXPECT_EQ(word(1), "held");
  EXPECT_EQ(ask("load")["jobs"]["held"], 1);
  master_->hold(JobId{1}, false, now());
  Plan again;
  again.places = {{TaskId{1}, InstanceId{0}, {}}};
  round(again);
  started(1, 2);
  master_->cancel(JobId{1}, now());
  EXPECT_EQ(word(1), "stopping");
  EXPECT_EQ(ask("load")["tasks"]["pending"], 1);
}

TEST_F(RunningCell, SaysWhyMostOfAJobsTasksWait) {
  accept(JobBuilder(1).tasks(4).gang(false).build());
  const Refusal capped{RefusalKind::not_now, RefusalCode::instance_cap, {}, 1, 0};
  Plan plan = together({1});
  for (std::uint64_t task : {101, 102}) plan.refusals.push_back({TaskId{task}, capped});
  round(plan);
  EXPECT_EQ(ask("job", 1)["reason"],
            "2 of 4 tasks wait, not now: instance cap (asked 1, available 0); 2 for other reasons");
  EXPECT_EQ(ask("explain", 1)["job"]["reason"], ask("job", 1)["reason"]);
  boot(0);
  started(1, 1);
  master_->task_failed({TaskId{1}, 1, "exit 3", {3, {}, {}}}, now());
  const json job = ask("job", 1);
  EXPECT_TRUE(
      job["reason"].get<std::string>().ends_with("; task 0 has failed once, the last time: exit 3"))
      << job["reason"];
  EXPECT_EQ(job["failed_attempts"], 1);
  EXPECT_EQ(job["failed"], 0) << "it is tried again";
  EXPECT_EQ(job["exit_code"], nullptr);
  accept(JobBuilder(2).build());
  EXPECT_EQ(ask("job", 2)["reason"], "waits, not now: awaiting round");
  EXPECT_EQ(ask("jobs")["jobs"][0]["reason"], nullptr) << "a list looks at no task";
}

TEST_F(RunningCell, ShowsAPageOfAJobsTasks) {
  Job array = JobBuilder(1).tasks(600).gang(false).build();
  for (std::uint32_t i = 0; i < 600; ++i) array.tasks[i].array_index = i;
  accept(array);
  round(together({1}));
  boot(0);
  started(1, 1);
  const json first = ask("job", 1);
  EXPECT_EQ(first["tasks"].size(), 250U)
      << "no more at once, for the master has other things to do";
  EXPECT_EQ(first["tasks_behind"], 350);
  EXPECT_EQ(first["tasks_total"], 600);
  TaskFilter next = tasks_wanted(597);
  next.tasks_only = true;
  const json last = ask("explain", 1, next.text());
  ASSERT_EQ(last["tasks"].size(), 2U);
  EXPECT_EQ(last["tasks"][0]["task"], 598);
  EXPECT_TRUE(last["tasks"][0].contains("why"));
  EXPECT_EQ(last["tasks_behind"], 0);
  EXPECT_TRUE(last["job"]["reason"].is_null()) << "that is said once";
  const json running = ask("job", 1, tasks_wanted({}, "running").text());
  ASSERT_EQ(running["tasks"].size(), 1U);
  EXPECT_EQ(running["tasks"][0]["phase"], "running");
  EXPECT_TRUE(ask("job", 1, tasks_wanted({}, "failed").text())["tasks"].empty());
}

TEST_F(RunningCell, OfAGangThatWaitsItSaysWhatKeepsItWaiting) {
  accept(JobBuilder(1).tasks(3).gang(true).build());
  const Refusal crowded{RefusalKind::not_now, RefusalCode::over_capacity, Resource::cpu, 2, 1};
  const Refusal peers{RefusalKind::not_now, RefusalCode::awaiting_peers, {}, 0, 0};
  Plan plan;
  plan.refusals = {{TaskId{1}, peers}, {TaskId{101}, crowded}, {TaskId{102}, peers}};
  round(plan);
  EXPECT_EQ(ask("job", 1)["reason"],
            "1 of 3 tasks waits, not now: over capacity (cpu: asked 2, available 1); 2 for other "
            "reasons");
}

TEST_F(RunningCell, NamesWhatUsersAndJobsThatAreNotOverHaveCost) {
  one_running(1);
  Job of_bob = JobBuilder(2).tasks(2).gang(false).build();
  of_bob.user = "bob";
  accept(of_bob);
  round(together({2, 201}));
  boot(1);
  started(2, 1);
  started(201, 1);
  clock_s_ = 500;
  master_->task_finished({TaskId{1}, 1}, now());
  master_->task_finished({TaskId{201}, 1}, now());
  const Ledger& ledger = master_->ledger();
  const double bob = (ledger.task(TaskId{2}) + ledger.task(TaskId{201})).usd();
  ASSERT_GT(bob, 0);
  const double earlier = ledger.tasks().usd() - bob;  // job 1 is over
  for (const char* by : {"user", "job"}) {
    std::map<std::string, double> parts;
    const json cost = ask("cost", 0, by);
    for (const json& part : cost["by"]) parts[part["name"]] = part["usd"];
    ASSERT_EQ(parts.size(), 2u) << by;
    EXPECT_DOUBLE_EQ(parts[by == std::string("user") ? "bob" : "2 job-2"], bob);
    EXPECT_NEAR(parts["(earlier jobs)"], earlier, 1e-12);
    EXPECT_DOUBLE_EQ(cost["tasks_usd"], ledger.tasks().usd());
  }
  EXPECT_DOUBLE_EQ(ask("jobs")["jobs"][0]["usd"], bob);
}

TEST_F(RunningCell, SaysHowLongATaskHasRunAndWhatItsJobAllows) {
  Job job = JobBuilder(1).tasks(2).gang(false).build();
  job.movable = false;
  job.checkpoints = true;
  accept(job);
  round(together({1}));
  boot(0);
  clock_s_ = 400;
  started(1, 1);
  json shown = ask("job", 1);  // at second 1000
  EXPECT_EQ(shown["movable"], false);
  EXPECT_EQ(shown["checkpoints"], true);
  EXPECT_EQ(shown["tasks"][0]["ran_s"], 600);
  EXPECT_EQ(shown["tasks"][0]["started_s"], 400);
  EXPECT_EQ(shown["tasks"][1]["ran_s"], 0);
  EXPECT_EQ(shown["tasks"][1]["started_s"], nullptr);
  EXPECT_EQ(ask("jobs")["jobs"][0]["checkpoints"], true);
  clock_s_ = 500;
  master_->task_failed({TaskId{1}, 1, "exit 3", {3, {}, {}}}, now());
  EXPECT_EQ(ask("job", 1)["tasks"][0]["ran_s"], 0) << "all of that attempt was lost";
}

TEST_F(CellViewTest, OfATaskThatIsOverItSaysHowLongItRanWhereOneAttemptWasAll) {
  over(1, "ada", 2);
  JobHistory& job = history_.jobs.back();
  job.job = JobBuilder(1).tasks(3).build();
  job.tasks.assign(3, {});
  for (std::size_t i = 0; i < 2; ++i) {
    job.tasks[i].attempts = static_cast<Attempt>(i + 1);
    job.tasks[i].finished = true;
    job.tasks[i].started_at = at_s(2);
    job.tasks[i].ended_at = at_s(9);
  }
  const json tasks = whole(ask("job", 1))["tasks"];
  EXPECT_EQ(tasks[0]["ran_s"], 7);
  EXPECT_EQ(tasks[1]["ran_s"], nullptr);
  EXPECT_EQ(tasks[2]["ran_s"], 0);
}

TEST_F(CellViewTest, SaysHowEachTaskOfAnArrayHasEnded) {
  over(1, "ada", 2);
  JobHistory& array = history_.jobs.back();
  array.job = JobBuilder(1).tasks(5).gang(false).build();
  for (std::uint32_t i = 0; i < 5; ++i) array.job.tasks[i].array_index = 4 - i;
  array.outcome = JobOutcome::failed;
  array.tasks.assign(5, {});
  const auto ended = [&](std::size_t i, std::int32_t code) -> TaskHistory& {
    TaskHistory& task = array.tasks[i];
    task.attempts = 1;
    task.ended_at = at_s(9);
    task.end.exit_code = code;
    return task;
  };
  ended(0, 0).finished = true;
  ended(1, 143);
  for (const std::size_t i : {2, 3}) {
    TaskHistory& task = ended(i, i == 2 ? 9 : 7);
    task.failed = true;
    task.failures = 1;
    task.failure = FailureKind::out_of_memory;
    task.reason = "out of memory: 9 MiB used, 8 MiB granted";
  }
  const json job = whole(ask("job", 1));
  EXPECT_EQ(job["exit_code"], 7) << "of the failed task with the lowest index";
  EXPECT_EQ(job["failed_task"], 1);
  EXPECT_EQ(job["failed"], 2);
  EXPECT_EQ(job["finished"], 1);
  std::vector<std::string> phases;
  for (const json& task : job["tasks"]) phases.push_back(task["phase"]);
  EXPECT_EQ(phases,
            (std::vector<std::string>{"not run", "failed", "failed", "stopped", "finished"}))
      << "by their indices";
  EXPECT_EQ(job["tasks"][4]["exit_code"], 0);
  EXPECT_EQ(job["tasks"][3]["exit_code"], 143);
  EXPECT_EQ(job["tasks"][0]["exit_code"], nullptr);
  EXPECT_EQ(job["tasks"][1]["last_failure"]["kind"], "out of memory");
  EXPECT_EQ(job["tasks"][3]["last_failure"], nullptr);
  const json explained = whole(ask("explain", 1))["tasks"];
  EXPECT_EQ(explained[3]["why"], "was stopped, for the job has failed");
  EXPECT_EQ(explained[1]["why"], "has failed: out of memory: 9 MiB used, 8 MiB granted");
}

TEST_F(CellViewTest, SaysWhatAJobWasSubmittedAs) {
  over(1, "ada", 2);
  history_.jobs.back().job = JobBuilder(1).tasks(2).build();
  history_.jobs.back().job.program.env = {{"A", "b"}};
  history_.jobs.back().tasks.assign(2, {});
  history_.jobs.back().tasks[0].finished = true;
  history_.jobs.back().tasks[1].failed = true;
  const json said = whole(ask("request", 1));
  EXPECT_EQ(json::parse(said["request"].get<std::string>())["env"]["A"], "b");
  EXPECT_EQ(said["over"], true);
  EXPECT_EQ(said["whole_tasks"], 2);
  EXPECT_EQ(said["tasks"][0][2], "finished");
  EXPECT_EQ(said["tasks"][1][2], "failed");
  EXPECT_FALSE(whole(ask("job", 1)).contains("env")) << "it is for the job's tasks alone";
  EXPECT_EQ(whole(ask("request", 99))["missing"], true);
}

TEST_F(CellViewTest, SaysWhyAJobFailedOrWasRefused) {
  over(1, "ada", 2);
  JobHistory& failed = history_.jobs.back();
  failed.job = JobBuilder(1).tasks(3).build();
  for (std::uint32_t i = 0; i < 3; ++i) failed.job.tasks[i].array_index = 10 + i;
  failed.outcome = JobOutcome::failed;
  failed.tasks.assign(3, {});
  failed.tasks[1].failures = 1;
  failed.tasks[2].failures = 5;
  failed.tasks[2].reason = "exit code 3";
  failed.tasks[2].failed = true;
  EXPECT_EQ(whole(ask("job", 1))["reason"],
            "task 12 has failed 5 times, the last time: exit code 3");
  over(2, "ada", 2);
  JobHistory& refused = history_.jobs.back();
  refused.outcome = JobOutcome::refused;
  refused.tasks[0].reason = "never: fits no type (gpu: asked 16, available 8)";
  EXPECT_EQ(whole(ask("job", 2))["reason"],
            "is refused, never: fits no type (gpu: asked 16, available 8)");
  over(3, "ada", 2);
  EXPECT_EQ(whole(ask("job", 3))["reason"], nullptr);
}

}  // namespace
}  // namespace muster
