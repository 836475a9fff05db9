#include <regex>
#include <set>

#include "tests/serve/node/actor_backend_fixture.hpp"
#include "tests/support/golden.hpp"

namespace muster::test {
namespace {

TEST_F(ActorBackendTest, AListGoesOverAllMastersPageByPage) {
  fakes_[0].jobs = {part(1, false), part(4, false), part(9, true), part(2, true)};
  fakes_[1].jobs = {part(3, false), part(8, true), part(1'000'000'001, true)};
  using enum api::JobState;
  EXPECT_EQ(page(all, 9), "4 3 1 -1000000001 -9 -8 -2 end");
  EXPECT_EQ(page(all, 2), "4 3 active:0:3");
  EXPECT_EQ(page(all, 2, "active:0:3"), "1 -1000000001 over:0:1000000001");
  EXPECT_EQ(page(all, 2, "over:0:1000000001"), "-9 -8 over:0:8");
  EXPECT_EQ(page(all, 2, "over:0:8"), "-2 end");
  EXPECT_EQ(page(active, 3), "4 3 1 end");
  EXPECT_EQ(page(active, 2, "active:0:4"), "3 1 end");
  EXPECT_EQ(page(over, 1), "-1000000001 over:0:1000000001");
  EXPECT_EQ(page(over, 9, "over:0:9"), "-8 -2 end");
}

TEST_F(ActorBackendTest, AListInAnotherOrderIsMadeOfAllThatMatch) {
  for (std::uint64_t job = 1; job <= 600; ++job) {
    JobView made = part(job, job % 2 == 0);
    made.usd = static_cast<double>(job % 100);
    made.failed = job % 3 == 0 ? 1 : 0;
    fakes_[job % 2].jobs.push_back(made);
  }
  api::View what{.of = api::Operation::jobs, .state = api::JobState::all, .limit = 3};
  what.sort = api::JobSort::cost;
  const nlohmann::json all = look(what);
  ASSERT_EQ(all["jobs"].size(), 3U);
  EXPECT_EQ(all["jobs"][0]["usd"], 99);
  EXPECT_EQ(all["sorted_of"], 600);
  EXPECT_EQ(all["sorted_all"], true);
  EXPECT_TRUE(all["next"].is_null());
  what.filter.failed = true;
  EXPECT_EQ(look(what)["sorted_of"], 200);
}

TEST_F(ActorBackendTest, AJobOfWhichAPartRunsOnIsListedOnceAndNotAsOver) {
  fakes_[0].jobs = {part(7, true, 3, 5), part(9, true), part(2, true)};
  fakes_[1].jobs = {part(7, false, 2, 5), part(20, false), part(21, false)};
  using enum api::JobState;
  EXPECT_EQ(page(all, 9), "21 20 7 -9 -2 end");
  EXPECT_EQ(page(all, 3), "21 20 7 active:0:7");
  EXPECT_EQ(page(all, 2, "active:0:7"), "-9 over:0:7") << "it looks over to one of them only";
  EXPECT_EQ(page(all, 2, "over:0:7"), "-2 end");
  EXPECT_EQ(page(over, 9), "-9 -2 end");
  const nlohmann::json jobs =
      look({.of = api::Operation::jobs, .state = active, .limit = 9})["jobs"];
  ASSERT_EQ(jobs.size(), 3U);
  EXPECT_EQ(jobs[2]["finished"], 3) << "its part that is over is asked for";
  EXPECT_EQ(jobs[2]["running"], 2);
}

TEST_F(ActorBackendTest, OfAJobWithAPartAtASilentMasterIsNotSaidThatItIsOver) {
  fakes_[0].jobs = {part(7, true, 3, 5), part(9, true)};
  fakes_[2].answers = false;
  using enum api::JobState;
  EXPECT_EQ(page(over, 9), "-9 end");
  const nlohmann::json all_jobs = look({.of = api::Operation::jobs, .state = all, .limit = 9});
  ASSERT_EQ(all_jobs["jobs"].size(), 2U);
  EXPECT_EQ(all_jobs["jobs"][1]["state"], "unknown");
  EXPECT_EQ(all_jobs["complete"], false);
}

TEST_F(ActorBackendTest, ALongPageIsAskedForInPiecesOfThoseThatAnswer) {
  for (std::uint64_t job = 1; job <= 700; ++job) {
    fakes_[job % 2].jobs.push_back(part(job, job % 5 == 0));
  }
  fakes_[2].answers = false;
  const nlohmann::json jobs =
      look({.of = api::Operation::jobs, .state = api::JobState::all, .limit = 650});
  ASSERT_EQ(jobs["jobs"].size(), 650U);
  EXPECT_EQ(jobs["next"], "over:0:255");
  EXPECT_EQ(jobs["complete"], false);
  EXPECT_EQ(fakes_[0].asked, 3);
  EXPECT_EQ(fakes_[2].asked, 1) << "a silent one is waited for once";
}

TEST_F(ActorBackendTest, APageOfTasksIsPutTogetherOfWhatMastersTellAtOnce) {
  for (std::size_t i = 0; i < 2; ++i) {
    fakes_[i].jobs = {part(7, false, 15, 30)};
    for (std::uint32_t task = 0; task < 15; ++task) {
      fakes_[i].tasks.emplace_back();
      fakes_[i].tasks.back().index = i == 0 ? task : 15 + task;
    }
  }
  const auto tasks = [&](std::uint32_t limit, std::optional<std::uint32_t> after) {
    api::View what{.of = api::Operation::job, .job = JobId{7}, .limit = limit};
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

TEST_F(ActorBackendTest, AListThatMastersCutIsAskedOnUntilItIsWhole) {
  fakes_[0].jobs = {part(1, false), part(4, false), part(9, true), part(2, true),
                    part(7, true, 1, 2)};
  fakes_[1].jobs = {part(3, false), part(8, true), part(7, true, 1, 2)};
  for (FakeMaster& fake : fakes_) fake.at_once = 1;
  using enum api::JobState;
  EXPECT_EQ(page(all, 9), "4 3 1 -9 -8 -7 -2 end");
  EXPECT_EQ(page(all, 2), "4 3 active:0:3");
  EXPECT_EQ(page(all, 4, "active:0:3"), "1 -9 -8 -7 over:0:7");
  EXPECT_EQ(page(over, 9), "-9 -8 -7 -2 end");
}

TEST_F(ActorBackendTest, InstancesComeInAsManyAnswersAsTheyNeed) {
  for (std::uint64_t id = 1; id <= 5; ++id) {
    fakes_[id % 2].instances.instances.emplace_back();
    fakes_[id % 2].instances.instances.back().instance = InstanceId{id};
  }
  for (FakeMaster& fake : fakes_) fake.at_once = 2;
  const nlohmann::json shown = look(api::Operation::instances);
  EXPECT_EQ(shown["instances"].size(), 5U);
  EXPECT_EQ(shown["complete"], true);
}

TEST_F(ActorBackendTest, RunningTasksComePageByPageOneMasterAfterTheOther) {
  TaskUsageView task;
  task.job = JobId{7};
  for (FakeMaster& fake : fakes_) fake.usage.tasks = {task};
  fakes_[0].usage.place = UsagePlace{{Instant{Duration{5}}, JobId{7}}, 3};
  api::View what{.of = api::Operation::usage, .job = JobId{7}, .user = "ann", .limit = 9};
  const nlohmann::json first = look(what);
  EXPECT_EQ(first["tasks"].size(), 1U);
  EXPECT_EQ(first["next"], "0:5:7:3");
  ASSERT_EQ(fakes_[0].usages.size(), 1U);
  EXPECT_EQ(fakes_[0].usages[0].job, JobId{7});
  EXPECT_EQ(fakes_[0].usages[0].user, "ann");
  EXPECT_EQ(fakes_[0].usages[0].most, 9U);
  EXPECT_TRUE(fakes_[1].usages.empty()) << "a page is of one master";

  fakes_[0].usage.place.reset();
  what.from = *usage_cursor_from("0:5:7:3");
  EXPECT_EQ(look(what)["next"], "1");
  EXPECT_EQ(fakes_[0].usages[1].from.position, 3U);
  what.from = *usage_cursor_from("1");
  EXPECT_EQ(look(what)["tasks"].size(), 1U);
  fakes_[1].answers = false;
  const nlohmann::json silent = look(what);
  EXPECT_EQ(silent["complete"], false);
  EXPECT_EQ(silent["tasks"].size(), 0U);
  what.from = *usage_cursor_from("99");
  EXPECT_TRUE(look(what)["next"].is_null());
}

ServiceView web() {
  ServiceView service;
  service.name = "web";
  service.user = "ann";
  service.job = JobId{7};
  return service;
}

TEST_F(ActorBackendTest, EveryRouteThatAsksForAViewGetsOne) {
  using enum api::Operation;
  fakes_[0].jobs = {part(7, false)};
  fakes_[0].services.services = {web()};
  // The node answers these by itself, but a task's output, which is no view.
  const std::set<api::Operation> others = {me,      tokens, audit,       log,     openapi,
                                           metrics, hosts,  join_tokens, outputs, content};
  for (const api::Route& route : api::routes()) {
    if (route.method != "GET" || route.access == api::Access::open) continue;
    if (others.contains(route.operation)) continue;
    EXPECT_FALSE(look(api::View{.of = route.operation, .job = JobId{7}}).is_null())
        << route.pattern;
  }
}

TEST_F(ActorBackendTest, AServiceThatNoMasterHasIsNotFoundUnlessOneDoesNotAnswer) {
  const auto status = [&] {
    api::Answer answer;
    backend_->view({.of = api::Operation::endpoints, .name = "web"},
                   [&](const api::Answer& said) { answer = said; });
    system_.time().drain();
    return answer.status;
  };
  EXPECT_EQ(status(), 404);
  fakes_[1].answers = false;
  EXPECT_EQ(status(), 503);
}

TEST_F(ActorBackendTest, WhoWaitsForOtherEndpointsIsAnsweredWhenTheyAreOthers) {
  ServiceView service = web();
  fakes_[0].services.services = {service};
  const api::View asks{.of = api::Operation::endpoints, .name = "web"};
  const auto known = look(asks)["revision"].get<std::string>();
  api::View waits = asks;
  waits.revision = known;
  waits.wait = std::chrono::seconds{20};
  std::vector<api::Answer> answers;
  const auto hear = [&](const api::Answer& said) { answers.push_back(said); };
  backend_->view(waits, hear);
  system_.time().run_until(system_.time().now() + waits.wait / 2);
  EXPECT_TRUE(answers.empty()) << "it is the list that is known";
  system_.time().run_until(system_.time().now() + waits.wait);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_NE(answers[0].json.find(known), std::string::npos) << "the time has passed";
  service.replicas.emplace_back().ready = true;
  fakes_[0].services.services = {service};
  backend_->view(waits, hear);
  system_.time().drain();
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[1].json.find(known), std::string::npos);
}

TEST_F(ActorBackendTest, AnAnswerThatIsTooLargeIsNotTakenForAMasterThatIsAway) {
  for (FakeMaster& fake : fakes_) fake.too_large = true;
  std::string answers;
  using enum api::Operation;
  for (const api::View& what :
       {api::View{.of = jobs}, api::View{.of = job, .job = JobId{1}},
        api::View{.of = explain, .job = JobId{1}}, api::View{.of = instances},
        api::View{.of = cost}, api::View{.of = decisions}, api::View{.of = history}}) {
    api::Answer answer;
    backend_->view(what, [&](const api::Answer& said) { answer = said; });
    system_.time().drain();
    EXPECT_EQ(answer.status, 503);
    answers += answer.json + "\n";
  }
  EXPECT_THAT(answers, IsGolden());
}

TEST_F(ActorBackendTest, WhoAsksForADryRunIsToldWhenAllMastersHaveTooManyOfThem) {
  const auto plan = [&] {
    api::Answer answer;
    backend_->plan(JobBuilder(1).build(), [&](const api::Answer& said) { answer = said; });
    system_.time().drain();
    return answer;
  };
  for (FakeMaster& fake : fakes_) fake.plans = ActorError::busy;
  EXPECT_EQ(plan().status, 503);
  EXPECT_THAT(plan().json, IsGolden());
  fakes_[2].plans = {};
  EXPECT_EQ(plan().status, 200) << "any master will do";
}

TEST_F(ActorBackendTest, AMasterThatMakesNoPlanInTimeIsSaidToBeBusy) {
  for (FakeMaster& fake : fakes_) fake.plans_late = true;
  api::Answer answer;
  backend_->plan(JobBuilder(1).build(), [&](const api::Answer& said) { answer = said; });
  system_.time().drain();
  EXPECT_EQ(answer.status, 503);
  EXPECT_THAT(answer.json, IsGolden());
}

TEST_F(ActorBackendTest, JobsOfOneRequestHaveABoundedNumberOfConstraints) {
  std::vector<Job> jobs;
  for (std::uint64_t i = 0; i < 33; ++i) {
    jobs.push_back(JobBuilder(i + 1).build());
    jobs.back().constraint = "type!=t" + std::to_string(i);
  }
  api::Answer answer;
  backend_->submit(jobs, [&](const api::Answer& said) { answer = said; });
  system_.time().drain();
  EXPECT_EQ(answer.status, 422);
  EXPECT_THAT(answer.json, IsGolden());
}

TEST_F(ActorBackendTest, AJobThatNoMessageCarriesIsRefusedWithItsSize) {
  Job job = JobBuilder(1).build();
  job.program.argv = {std::string(1U << 20U, 'a')};
  api::Answer answer;
  const auto hear = [&](const api::Answer& said) { answer = said; };
  backend_->submit({job}, hear);
  system_.time().drain();
  EXPECT_EQ(answer.status, 422);
  EXPECT_THAT(std::regex_replace(answer.json, std::regex("[0-9]{6,}"), "{bytes}"), IsGolden());
  answer = {};
  backend_->plan(job, hear);
  system_.time().drain();
  EXPECT_EQ(answer.status, 422);
}

}  // namespace
}  // namespace muster::test
