// The answers as people read them; the texts stand in tests/golden/tools/client/views.txt.

#include "tools/client/views.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <optional>
#include <sstream>

#include "tests/support/builders.hpp"
#include "tests/support/golden.hpp"
#include "tools/client/printable.hpp"
#include "tools/client/shared_text.hpp"
#include "tools/client/token_views.hpp"

namespace muster::client {
namespace {

using muster::test::at_s;
using muster::test::IsGolden;
using testing::HasSubstr;
using testing::Not;

/// 2027-01-15 08:00:00
constexpr double kNow_s = 1'800'000'000;

/// Times are those of UTC.
class ViewsTest : public testing::Test {
 protected:
  ViewsTest() {
    const char* before = std::getenv("TZ");
    if (before != nullptr) before_ = before;
    setenv("TZ", "UTC0", 1);
    tzset();
  }
  ~ViewsTest() override {
    before_ ? setenv("TZ", before_->c_str(), 1) : unsetenv("TZ");
    tzset();
  }

 private:
  std::optional<std::string> before_;
};

JobView job() {
  JobView view;
  view.job = JobId{12};
  view.name = "sweep";
  view.user = "ann";
  view.command = {"sh", "-c", "echo $A"};
  view.state = ShownState::running;
  view.tasks = 9;
  view.waiting = 1;
  view.held = 2;
  view.capped = 3;
  view.starting = 1;
  view.running = 1;
  view.finished = 1;
  view.failed_attempts = 1;
  view.submitted = at_s(kNow_s);
  view.usd = 0.25;
  view.master = "m0";
  return view;
}

TaskView task(std::uint32_t index, ShownPhase phase) {
  TaskView view;
  view.index = index;
  view.phase = phase;
  view.attempt = 1;
  return view;
}

std::string table_of(const JobPage& page) {
  return TaskTable().next(page);
}

TEST_F(ViewsTest, AJobIsShownWithItsTasks) {
  JobPage page{job()};
  page.tasks = {task(0, ShownPhase::running), task(1, ShownPhase::failed),
                task(2, ShownPhase::pending), task(3, ShownPhase::finished)};
  page.tasks[0].instance = InstanceId{7};
  page.tasks[0].instance_type = "c7i.large";
  page.tasks[0].ran_s = 59.9;
  page.tasks[0].metrics = {{"loss", 0.25}, {"p99_ms", 12.5}};
  page.tasks[1].last_failure = FailureView{FailureKind::exit_code, "exit code 3"};
  page.tasks[1].exit_code = 3;
  page.tasks[1].instance = InstanceId{8};
  page.tasks[1].moves = 2;
  page.tasks[1].ran_s = 187;
  page.tasks[2].reason = ReasonView{RefusalKind::not_now, "no room", "there is no room"};
  page.tasks[3].exit_code = 0;
  page.tasks[3].ran_s = 7'500;
  page.tasks[3].usd = 0.125;
  EXPECT_THAT(table_of(page), IsGolden());
}

TEST_F(ViewsTest, AJobThatIsOverSaysWhenAndWithWhat) {
  JobPage page{job()};
  page.job.state = ShownState::failed;
  page.job.over = at_s(kNow_s + 60);
  page.job.exit_code = 3;
  page.job.reason = "task 2 has failed";
  page.job.movable = false;
  page.job.checkpoints = true;
  page.job.distinct_instances = true;
  page.job.master = "";
  EXPECT_THAT(table_of(page), IsGolden());
  page.job.exit_code = 0;
  EXPECT_THAT(table_of(page), Not(HasSubstr("exit code")));
  page.job.distinct_instances = false;
  page.job.most_an_instance = 3;
  EXPECT_THAT(table_of(page), HasSubstr("at most 3"));
  page.job.exit_code = 3;
  page.job.state = ShownState::running;
  EXPECT_THAT(table_of(page), Not(HasSubstr("exit code"))) << "it is not over";
}

TEST_F(ViewsTest, AJobSaysOfItsSubmissionWhatDiffers) {
  JobPage page{job()};
  SubmittedAs said;
  said.cpus = 1;
  said.memory_gib = 0.1 + 0.2;
  said.market = MarketChoice::any;
  said.tasks = 1;
  said.array = "0";
  page.submission = said;
  EXPECT_THAT(table_of(page), IsGolden());
  page.submission->cpus = 2.5;
  page.submission->gpus = 1;
  page.submission->market = MarketChoice::spot;
  page.submission->time_limit_s = 600;
  page.submission->runtime_hint_s = 90.5;
  page.submission->stop_grace_s = 1e10;
  page.submission->max_fails = 0;
  page.submission->retries = 4;
  page.submission->max_running = 3;
  page.submission->array = "0-99:10";
  page.submission->tasks = 10;
  EXPECT_THAT(table_of(page), IsGolden());
}

TEST_F(ViewsTest, ANumberOfTasksIsNoArrayAndAGangIsSaid) {
  JobPage page{job()};
  page.submission = SubmittedAs{};
  page.submission->tasks = 4;
  page.submission->array = "0-3";
  EXPECT_THAT(table_of(page), Not(HasSubstr("array")));
  page.submission->gang = true;
  page.submission->array = "0-2,7";
  EXPECT_THAT(table_of(page), IsGolden());
}

TEST_F(ViewsTest, ATimeBeyondThoseThatUnitsHoldIsInSeconds) {
  JobPage page{job()};
  page.submission = SubmittedAs{};
  page.submission->time_limit_s = 9e9;
  EXPECT_THAT(table_of(page), HasSubstr("time limit 2500000h"));
  page.submission->time_limit_s = 9.1e9;
  EXPECT_THAT(table_of(page), HasSubstr("time limit 9.1e+09 s"));
  page.submission->time_limit_s = -1;
  EXPECT_THAT(table_of(page), HasSubstr("time limit -1 s"));
}

TEST_F(ViewsTest, TasksOfMorePagesStandBelowOneHead) {
  TaskTable table;
  JobPage page{job()};
  page.tasks = {task(0, ShownPhase::pending)};
  const std::string first = table.next(page);
  EXPECT_THAT(first, HasSubstr("job 12"));
  const std::string second = table.next(page);
  EXPECT_THAT(second, Not(HasSubstr("job 12")));
  EXPECT_THAT(second, Not(HasSubstr("PHASE")));
  EXPECT_THAT(second, HasSubstr("pending"));
}

TEST_F(ViewsTest, JobsAreATableOfWhatTheyAreAndCost) {
  JobView over = job();
  over.state = ShownState::completed;
  over.exit_code = 0;
  JobView strange = job();
  strange.state = ShownState::running;
  strange.exit_code = 7;  // shown when it is over
  strange.submitted = std::nullopt;
  EXPECT_THAT(JobTable().next({over, strange}), IsGolden());
}

TEST_F(ViewsTest, WhyIsALineATaskWithTimesOfTheReader) {
  setenv("TZ", "EST5", 1);
  tzset();
  JobPage page{job()};
  page.tasks = {task(0, ShownPhase::running), task(1, ShownPhase::pending),
                task(2, ShownPhase::pending)};
  page.tasks[0].instance = InstanceId{7};
  page.tasks[0].why = "runs since 2027-01-15 08:00:00 UTC, and until 2027-01-15 09:00:00 UTC";
  page.tasks[0].metrics = {{"loss", 0.25}};
  page.tasks[1].reason = ReasonView{RefusalKind::not_now, "no room", "there is no room"};
  page.tasks[2].why = "UTC, 08:00:00 UTC and 2027-13-45 08:00:00 UTC are no times";
  WhyLines lines;
  EXPECT_THAT(lines.next(page), IsGolden());
  EXPECT_THAT(lines.next(page), Not(HasSubstr("job 12")));
}

TEST_F(ViewsTest, InstancesSayWhatIsOnThemAndWhatIsUsed) {
  InstanceView one;
  one.instance = InstanceId{7};
  one.type = "c7i.large";
  one.market = Market::spot;
  one.phase = InstancePhase::ready;
  one.usd_h = 0.0892;
  one.master = "m0";
  one.connected = true;
  one.tasks = {{JobId{12}, 0}, {JobId{13}, 4}};
  one.used = Resources::of(0, 1.5, 0.1 + 0.2);
  one.capacity = Resources::of(1, 2, 4);
  InstanceView lost = one;
  lost.connected = false;
  lost.more_tasks = 3;
  lost.released = true;
  InstanceView booting = one;
  booting.phase = InstancePhase::requested;
  booting.connected = false;
  booting.tasks.clear();
  EXPECT_THAT(view(InstancesView{{one, lost, booting}}), IsGolden());
}

TEST_F(ViewsTest, NodesSayWhatTheirRolesKnow) {
  NodeView known{"n0", {"site tokyo", "api"}, true, {3, 4, 5, 0.5, "eva"}};
  NodeView silent{"n1", {"master m0"}, false, {}};
  EXPECT_THAT(view(NodesView{{known, silent}}), IsGolden());
}

TEST_F(ViewsTest, TheStatusIsALineForEachKindOfThing) {
  StatusAnswer status;
  status.jobs = {.handing_over = 0, .waiting = 1, .running = 2, .held = 3, .over = 4};
  status.tasks = {5, 6};
  status.instances = {{"c7i.large", Market::spot, 2}, {"c7i.xlarge", Market::on_demand, 1}};
  status.usd_h = 0.5;
  status.today_usd = 12.345;
  status.total_usd = 99.999;
  status.nodes = {{"n0", {}, true, {}}, {"n1", {}, false, {}}};
  status.caps = {{"m0", {3, 0, 40}}, {"m1", {0, 2.5, 0}}};
  status.trouble = {"m0: its disk is full"};
  EXPECT_THAT(view(status), IsGolden());
  status.elastic = {1, 1};
  status.instances.clear();
  status.nodes[1].connected = true;
  status.silent = {{.master = "m1"}};
  EXPECT_THAT(view(status), IsGolden());
}

TEST_F(ViewsTest, WhoIsSilentIsNamedByWhatItIs) {
  SilentView silent{.master = "m0"};
  EXPECT_THAT(silence_text(silent), IsGolden());
  silent.since = std::chrono::milliseconds{12'400};
  EXPECT_THAT(silence_text(silent), IsGolden());
  silent.site = "oslo";
  EXPECT_THAT(silence_text(silent), IsGolden());
  silent.cloud = "n3";
  silent.last = LastFigures{0.5, 1, 30, 1, 2, 3};
  EXPECT_THAT(silence_text(silent), IsGolden());
}

TEST_F(ViewsTest, CostsStandByTheirNameAndIdlenessInTheOrderOfALife) {
  CostAnswer cost;
  cost.by = {{"ann", 1.5}, {"bob", 0.00001}};
  cost.idle = {{"later", 0.5}, {"drain", 0.25}, {"boot", 0.125}, {"idle", 0}};
  cost.total_usd = 2.375;
  EXPECT_THAT(view(cost, "user"), IsGolden());
  cost.silent = {{.site = "oslo"}};
  EXPECT_THAT(view(cost, "instance"), IsGolden());
}

TEST_F(ViewsTest, CostsOfTodayStandByUserWithTheirBeginning) {
  TodayAnswer today;
  today.since = at_s(1'764'374'400);
  today.by = {{"ann", 1.5}, {"bob", 0.25}};
  EXPECT_THAT(view(today), IsGolden());
}

TEST_F(ViewsTest, APlanSaysWhenItIsNone) {
  PlanView plan;
  plan.usd_h_now = 0.5;
  EXPECT_THAT(view(plan), IsGolden());
  plan.refusals = {{0, RefusalKind::not_now, "there is no room"}};
  EXPECT_THAT(view(plan), IsGolden());
  plan.places = {{1, "a new c7i.large"}};
  plan.launches = {{"c7i.large", Market::on_demand, 0.0892}};
  plan.usd_h = 0.5892;
  plan.moves = 1;
  plan.left_out = 2;
  EXPECT_THAT(view(plan), IsGolden());
  plan.refusals.clear();
  plan.moves = 0;
  plan.left_out = 0;
  EXPECT_THAT(view(plan), IsGolden());
}

TEST_F(ViewsTest, HowFarJobsAreCountsWhatCanEnd) {
  JobView elastic = job();
  elastic.elastic = ElasticView{1, 8, 2};
  EXPECT_EQ(progress_line({elastic}), "3 waiting, 2 running, 1 of 2 finished");
  elastic.elastic->width = 0;
  EXPECT_EQ(progress_line({elastic}), "3 waiting, 2 running, 1 of 1 finished");
  EXPECT_EQ(progress_line({}), "0 waiting, 0 running, 0 of 0 finished");
}

TEST_F(ViewsTest, AmountsAndTimesHaveTheirLastForms) {
  EXPECT_EQ(usd_text(9.99994), "$9.9999");
  EXPECT_EQ(usd_text(10), "$10.00");
  EXPECT_EQ(usd_text(-0.00001), "<$0.0001");
  EXPECT_EQ(usd_text(0.00005), "$0.0001");
  EXPECT_EQ(time_text(253'402'214'399.0), "9999-12-30 23:59:59");
  EXPECT_EQ(time_text(253'402'214'400.0), "?");
}

TEST_F(ViewsTest, HowLongATaskRanIsInItsLargestUnits) {
  const auto ran = [](std::optional<double> seconds) {
    JobPage page{job()};
    page.tasks = {task(0, ShownPhase::running)};
    page.tasks[0].ran_s = seconds;
    const std::string text = table_of(page);
    const std::string row = text.substr(text.rfind('\n', text.size() - 2) + 1);
    // TASK PHASE ATTEMPT WHERE EXIT RAN MOVES COST
    std::istringstream words(row);
    std::string word;
    for (int i = 0; i < 6; ++i) words >> word;
    return word;
  };
  EXPECT_EQ(ran(0), "0s");
  EXPECT_EQ(ran(59.9), "59s");
  EXPECT_EQ(ran(60), "1m00s");
  EXPECT_EQ(ran(3599), "59m59s");
  EXPECT_EQ(ran(3600), "1h00m");
  EXPECT_EQ(ran(90'000), "25h00m");
  for (const std::optional<double> none : {std::optional<double>{}, {-1.0}, {1e15}, {1e300}}) {
    EXPECT_EQ(ran(none), "-");
  }
}

TEST(SharedText, HasPartsThatAddUpToTheLastDigit) {
  const auto text = shared_text({{"a", 0.00005}, {"b", 0.00005}}, 0.0001);
  EXPECT_THAT(text.parts, testing::ElementsAre("$0.0001", "$0.0000"))
      << "of equal ones the first is rounded up";
  EXPECT_EQ(text.total, "$0.0001");
}

TEST(SharedText, ShowsSmallPartsWithMoreDigits) {
  const auto text = shared_text({{"a", 0.000004}, {"b", 1}}, 1.000004);
  EXPECT_THAT(text.parts, testing::ElementsAre("$0.000004", "$1.000000"));
  EXPECT_EQ(text.total, "$1.000004");
  const auto least = shared_text({{"a", 1e-12}, {"b", 0}}, 1e-12);
  EXPECT_EQ(least.total, "$0.000000000");
}

TEST(SharedText, RoundsPartsThatAreNotAllOfTheTotalEachForItself) {
  const auto text = shared_text({{"a", 0.33338}, {"b", 0.33332}}, 5);
  EXPECT_THAT(text.parts, testing::ElementsAre("$0.3334", "$0.3333"));
  EXPECT_EQ(text.total, "$5.0000");
  EXPECT_EQ(shared_text({}, 0).total, "$0.0000");
}

TEST(Cut, LeavesAsManyColumnsAsItSays) {
  EXPECT_EQ(cut("abcdef", 6), "abcdef");
  EXPECT_EQ(cut("abcdef", 5), "ab...");
  EXPECT_EQ(cut("abcdef", 3), "...");
  EXPECT_EQ(cut("abcdef", 2), "...");
  EXPECT_EQ(width_of("a\xC3\xA9"), 2U);
}

Answer answer(const std::string& text) {
  return {text, nlohmann::json::parse(text)};
}

TEST_F(ViewsTest, TokensAreATableWithoutTheirSecrets) {
  const auto tokens = token_list(answer(R"({"tokens": [
      {"name": "laptop", "role": "user", "user": "ann", "state": "valid",
       "created_s": 1800000000, "expires_s": 1800000060, "earlier_until_s": null},
      {"name": "api", "role": "admin", "user": null, "state": "revoked",
       "created_s": null, "expires_s": null, "earlier_until_s": null}]})"));
  ASSERT_TRUE(tokens);
  EXPECT_THAT(view(tokens.value()), IsGolden());
  EXPECT_FALSE(token_list(answer(R"({"tokens": [{"name": 1}]})")));
  EXPECT_FALSE(token_list(answer("{}")));
}

TEST_F(ViewsTest, ATokenThatWasMadeIsShownWithItsSecretOnce) {
  const std::string token = R"("name": "laptop", "role": "user", "user": "ann", "state": "valid",
      "created_s": 1, "secret": "s3")";
  const auto made =
      issued_token(answer("{" + token + R"(, "expires_s": null, "earlier_until_s": null})"));
  ASSERT_TRUE(made);
  EXPECT_THAT(issued_text(made.value()), IsGolden());
  auto again = issued_token(
      answer("{" + token + R"(, "expires_s": 1800000000, "earlier_until_s": 1800000060})"));
  ASSERT_TRUE(again);
  again->user = "";
  EXPECT_THAT(issued_text(again.value()), IsGolden());
  EXPECT_EQ(own_token(answer(R"({"token": "a", "role": "user", "user": null})"))->name, "a");
}

TEST_F(ViewsTest, TheAuditLogSaysWhatItDoesNotHave) {
  const auto entries = audit_list(answer(R"({"node": "n0", "entries": [
      {"at_s": 1800000000, "token": "laptop", "user": "ann", "address": "127.0.0.1",
       "method": "POST", "path": "/v1/jobs", "status": 201, "about": "job 12", "unlisted": 0},
      {"at_s": 1800000001, "token": null, "user": null, "address": null, "method": "GET",
       "path": "/x", "status": null, "about": null, "unlisted": 2},
      {"at_s": 1800000002, "token": null, "user": null, "address": null, "method": "",
       "path": "", "status": null, "about": null, "unlisted": 1, "lost": 5}]})"));
  ASSERT_TRUE(entries);
  EXPECT_THAT(view(entries.value()), IsGolden());
  EXPECT_THAT(view(std::vector<AuditAnswer>{entries.value()[0]}), Not(HasSubstr("too fast")));
  EXPECT_EQ(audit_node(answer(R"({"node": "n0", "entries": []})")), "n0");
  EXPECT_EQ(audit_node(answer("{}")), "");
  EXPECT_EQ(audit_node(answer(R"({"node": 3})")), "");
}

}  // namespace
}  // namespace muster::client
