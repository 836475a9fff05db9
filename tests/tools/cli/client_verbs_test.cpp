// Commands that speak to a cluster, run in this process against a server whose answers stand here:
// what they ask for, print and exit with.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/golden.hpp"
#include "tests/tools/cli/run_command.hpp"

namespace muster::cli {
namespace {

using muster::test::FakeServer;
using muster::test::IsGolden;
using muster::test::reply_of;
using muster::test::TempFile;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::string jobs(const std::string& some, const std::string& more = "") {
  return reply_of(200, R"({"jobs": [)" + some + "]" + more + "}");
}
std::string refused(int status, const std::string& why) {
  return reply_of(status, R"({"error": {"code": "x", "message": ")" + why + "\"}}");
}
const std::string kMe = reply_of(200, R"({"token": "t", "role": "user", "user": "ann"})");
const std::string kDoneReply = reply_of(200, R"({"job": 1})");

TEST(JobsCommand, ListsAScreenAndSaysWhereThereAreMore) {
  const FakeServer server(
      {jobs(job(2, "running"), R"(, "next": "p")"), jobs(job(1, "waiting"), R"(, "next": null)")});
  const Ran all = run(server, {"jobs"});
  EXPECT_EQ(all.exit_code, kDone);
  EXPECT_THAT(asked(server), ElementsAre("GET /v1/jobs?state=all&limit=50",
                                         "GET /v1/jobs?state=all&limit=49&after=p"));
  EXPECT_THAT(all.out, IsGolden());
  const FakeServer cut({jobs(job(2, "running"), R"(, "next": "p")")});
  const Ran limited = run(cut, {"jobs", "--limit", "1"});
  EXPECT_THAT(limited.out, Not(HasSubstr("--limit"))) << "who has set a bound knows that it cuts";
}

TEST(JobsCommand, AsksForWhatWasChosen) {
  const FakeServer server({jobs("")});
  EXPECT_EQ(run(server, {"jobs", "--state", "over", "--user", "a&b"}).exit_code, kDone);
  EXPECT_THAT(asked(server), ElementsAre("GET /v1/jobs?state=over&user=a%26b&limit=50"));
  for (const Words& wrong :
       {Words{"jobs", "--state", "old"}, Words{"jobs", "--limit", "0"}, Words{"jobs", "--user", ""},
        Words{"jobs", "--name", ""}, Words{"jobs", "--retry-for", "25h"},
        Words{"jobs", "--retry-for", "-1s"}, Words{"job"}, Words{"job", "-1"}, Words{"job", "x"},
        Words{"job", "1", "--phase", "x"}, Words{"job", "1", "--from", "-1"},
        Words{"decisions", "--limit", "0"}, Words{"cost", "--by", "day"}, Words{"cancel", "1.5"},
        Words{"wait", "1", "--timeout", "soon"}, Words{"logs", "1", "--err", "--both"},
        Words{"logs", "1", "--task", ""}}) {
    EXPECT_EQ(run(server, wrong).exit_code, kUsage) << testing::PrintToString(wrong);
  }
  EXPECT_EQ(server.requests().size(), 1U) << "nobody was asked";
}

TEST(JobsCommand, PrintsTheDocumentAsItIs) {
  const FakeServer server({jobs("1,  2", R"(, "next": null)")});
  EXPECT_EQ(run(server, {"jobs", "--json"}).out, "{\"jobs\": [1,  2], \"next\": null}\n");
}

TEST(JobsCommand, FailsWithWhatTheApiSays) {
  const FakeServer server({refused(403, "forbidden")});
  const Ran ran = run(server, {"jobs"});
  EXPECT_EQ(ran.exit_code, kFailed);
  EXPECT_EQ(ran.err, "muster: forbidden\n");
  const FakeServer strange({jobs("3")});
  EXPECT_EQ(run(strange, {"jobs"}).exit_code, kFailed);
  EXPECT_EQ(run(strange, {"job", "1"}).exit_code, kFailed);
}

TEST(JobsCommand, WarnsOfWhoIsSilent) {
  const FakeServer server({jobs("", R"(, "silent": [{"master": "m1"}])")});
  const Ran ran = run(server, {"jobs"});
  EXPECT_EQ(ran.exit_code, kDone);
  EXPECT_THAT(ran.err, IsGolden());
}

TEST(JobCommand, ShowsItsTasksFromThereOn) {
  const FakeServer server(
      {reply_of(200, job(7, "running", R"(, "exit_code": null, "tasks": [], "next": null)"))});
  const Ran ran = run(server, {"job", "7", "--from", "3", "--limit", "1", "--phase", "not run"});
  EXPECT_EQ(ran.exit_code, kDone);
  EXPECT_EQ(asked(server).front(), "GET /v1/jobs/7?phase=not%20run&limit=1&after=2");
  const FakeServer plain({reply_of(200, job(7, "running", R"(, "exit_code": null, "tasks": [])"))});
  EXPECT_EQ(run(plain, {"job", "7", "--from", "0"}).exit_code, kDone);
  EXPECT_THAT(asked(plain), ElementsAre("GET /v1/jobs/7?limit=100"));
  EXPECT_EQ(run(plain, {"job", "7", "--json"}).exit_code, kDone);
  EXPECT_EQ(asked(plain).back(), "GET /v1/jobs/7?limit=1000") << "all of them";
}

TEST(JobOrders, AreGivenForEachAlsoAfterOneThatFailed) {
  const FakeServer server({kDoneReply, refused(404, "there is none"), kDoneReply});
  const Ran ran = run(server, {"cancel", "1", "2", "3"});
  EXPECT_EQ(ran.exit_code, kFailed);
  EXPECT_EQ(ran.out, "job 1: cancelled\njob 3: cancelled\n");
  EXPECT_EQ(ran.err, "muster: job 2: there is none\n");
  EXPECT_THAT(asked(server), ElementsAre("POST /v1/jobs/1/cancel", "POST /v1/jobs/2/cancel",
                                         "POST /v1/jobs/3/cancel"));
  const FakeServer named({refused(409, "job 2 is over")});
  EXPECT_EQ(run(named, {"hold", "2"}).err, "muster: job 2 is over\n") << "and is not named twice";
  EXPECT_EQ(run(named, {"release", "2"}).exit_code, kFailed);
  EXPECT_THAT(asked(named), ElementsAre("POST /v1/jobs/2/hold", "POST /v1/jobs/2/release"));
}

TEST(JobOrders, AreTheApisAnswerAloneOrAListOfThem) {
  const FakeServer server({kDoneReply});
  EXPECT_EQ(run(server, {"cancel", "1", "--json"}).out, "{\"job\": 1}\n");
  EXPECT_EQ(run(server, {"cancel", "1", "1", "--json"}).out,
            "{\"jobs\":[{\"job\": 1},{\"job\": 1}]}\n");
}

TEST(JobOrders, ThatAreRefusedPrintNoDocument) {
  const FakeServer server({refused(409, "job 2 is over")});
  for (const char* order : {"cancel", "hold", "release"}) {
    const Ran ran = run(server, {order, "2", "--json"});
    EXPECT_EQ(ran.out, "") << order;
    EXPECT_EQ(ran.err, "muster: job 2 is over\n");
    EXPECT_EQ(ran.exit_code, kFailed);
  }
}

TEST(JobOrders, SayWhoHasNotConfirmedThem) {
  const FakeServer server({reply_of(202, R"({"job": 1, "unconfirmed": ["m0", "m1"]})")});
  const Ran ran = run(server, {"cancel", "1"});
  EXPECT_EQ(ran.exit_code, kDone);
  EXPECT_THAT(ran.out, IsGolden());
}

TEST(JobOrders, NameJobsOrChooseThemAndNotBoth) {
  const FakeServer server({kDoneReply});
  for (const Words& wrong :
       {Words{"cancel"}, Words{"cancel", "1", "--all"}, Words{"hold", "1", "--name", "x"},
        Words{"release", "1", "--state", "held"}, Words{"wait"},
        Words{"wait", "1", "--user", "a"}}) {
    EXPECT_EQ(run(server, wrong).exit_code, kUsage) << testing::PrintToString(wrong);
  }
  EXPECT_THAT(server.requests(), IsEmpty());
}

TEST(JobOrders, OfAllAreThoseOfTheTokensUserThatAreNotOver) {
  const FakeServer server({kMe, jobs(job(3, "running") + "," + job(2, "waiting")), kDoneReply,
                           refused(409, "job 2 is over")});
  const Ran ran = run(server, {"cancel", "--all"});
  EXPECT_EQ(ran.exit_code, kDone) << "nobody has asked for the one that has ended meanwhile";
  EXPECT_EQ(ran.out, "job 3: cancelled\n");
  EXPECT_THAT(asked(server),
              ElementsAre("GET /v1/me", "GET /v1/jobs?state=active&user=ann&limit=1000",
                          "POST /v1/jobs/3/cancel", "POST /v1/jobs/2/cancel"));
}

TEST(JobOrders, OfAStateOrANameAreThoseAlone) {
  const std::string both = jobs(job(3, "running") + "," + job(2, "waiting"));
  const FakeServer state({both, kDoneReply});
  EXPECT_EQ(run(state, {"hold", "--user", "bob", "--state", "waiting"}).out, "job 2: held\n");
  const FakeServer name({both, kDoneReply});
  EXPECT_EQ(run(name, {"hold", "--user", "bob", "--name", "n3"}).out, "job 3: held\n");
}

TEST(JobOrders, OfNoneAreAMistakeWhereANameWasGiven) {
  const FakeServer server({jobs("")});
  EXPECT_EQ(run(server, {"cancel", "--user", "bob"}).exit_code, kDone);
  EXPECT_EQ(run(server, {"cancel", "--user", "bob", "--json"}).out, "{\"jobs\":[]}\n");
  const Ran named = run(server, {"cancel", "--user", "bob", "--name", "x"});
  EXPECT_EQ(named.exit_code, kFailed);
  EXPECT_THAT(named.err, IsGolden());
}

TEST(ResubmitCommand, SendsWhatIsWantedOnceWithAToken) {
  const FakeServer server({reply_of(201, R"({"jobs": [{"job": 9}]})")});
  EXPECT_EQ(run(server, {"resubmit", "7", "-q"}).out, "9\n");
  EXPECT_THAT(body_of(server.requests().back()), StartsWith(R"({"failed":false,"token":")"));
  const Ran failed = run(server, {"resubmit", "7", "--failed", "--max-fails", "2"});
  EXPECT_THAT(failed.out, IsGolden());
  EXPECT_THAT(body_of(server.requests().back()),
              StartsWith(R"({"failed":true,"max_fails":2,"token":")"));
  EXPECT_EQ(asked(server).back(), "POST /v1/jobs/7/resubmit");
  EXPECT_NE(body_of(server.requests()[0]), body_of(server.requests()[1]));
}

TEST(InstanceOrders, AreGivenForOneAndSayWhatBecomesOfIt) {
  const FakeServer server({reply_of(200, R"({"instance": 3})")});
  EXPECT_THAT(run(server, {"drain", "3"}).out, StartsWith("instance 3: drained"));
  EXPECT_THAT(run(server, {"interrupt", "3"}).out, StartsWith("instance 3: interrupted"));
  EXPECT_EQ(run(server, {"drain", "3", "--json"}).out, "{\"instance\": 3}\n");
  EXPECT_THAT(asked(server),
              ElementsAre("POST /v1/instances/3/drain", "POST /v1/instances/3/interrupt",
                          "POST /v1/instances/3/drain"));
  const FakeServer gone({refused(404, "gone")});
  EXPECT_EQ(run(gone, {"drain", "3"}).exit_code, kFailed);
}

TEST(ClusterViews, AskForTheirDocument) {
  const std::string cost = R"({"total_usd": 2, "idle_usd": {}, "by": [{"name": "7", "usd": 2}]})";
  const FakeServer server({reply_of(200, cost), reply_of(200, R"({"decisions": []})"),
                           reply_of(200, R"({"decisions": []})"), reply_of(200, R"({"nodes": []})"),
                           reply_of(200, R"({"instances": []})"), reply_of(200, "{}")});
  EXPECT_THAT(run(server, {"cost", "--by", "job"}).out, StartsWith("JOB"));
  EXPECT_THAT(run(server, {"decisions", "--limit", "3"}).out, StartsWith("no decision"));
  EXPECT_THAT(run(server, {"decisions", "--job", "4", "--instance", "7", "--master", "m0",
                           "--since", "90min", "--details"})
                  .out,
              StartsWith("no decision"));
  EXPECT_THAT(run(server, {"nodes"}).out, StartsWith("NODE"));
  EXPECT_THAT(run(server, {"instances"}).out, StartsWith("INSTANCE"));
  EXPECT_EQ(run(server, {"status"}).exit_code, kFailed) << "a document without anything is none";
  EXPECT_EQ(run(server, {"status", "--json"}).out, "{}\n") << "and is printed all the same";
  EXPECT_THAT(
      asked(server),
      ElementsAre("GET /v1/cost?by=job", "GET /v1/decisions?limit=3",
                  "GET /v1/decisions?limit=20&job=4&instance=7&master=m0&within_s=5400",
                  "GET /v1/nodes", "GET /v1/instances", "GET /v1/status", "GET /v1/status"));
}

TEST(SubmitCommand, SendsTheFileWithTheFlagsOverIt) {
  const TempFile file("a.toml", "command = [\"a\"]\ncpus = 2\nmarket = \"spot\"\ntasks = 3\n");
  const FakeServer server({reply_of(201, R"({"jobs": [{"job": 9}]})")});
  const Ran ran = run(server, {"submit", file.path(), "--cpus", "4", "--any", "--array", "0-1",
                               "--env", "A=b=c", "--name", "x", "--gang", "--no-move"});
  EXPECT_EQ(ran.exit_code, kUsage) << "a gang is no array";
  const Ran good = run(server, {"submit", file.path(), "--cpus", "4", "--any", "--array", "0-1%1",
                                "--env", "A=b=c", "--name", "x", "--no-move", "--token", "t"});
  EXPECT_EQ(good.exit_code, kDone);
  EXPECT_THAT(good.out, IsGolden());
  const auto body = nlohmann::json::parse(body_of(server.requests().at(0)));
  EXPECT_EQ(body, nlohmann::json::parse(R"({"command": ["a"], "cpus": 4.0,
      "array": "0-1%1", "env": {"A": "b=c"}, "name": "x", "movable": false, "token": "t"})"));
  EXPECT_EQ(run(server, {"submit", file.path(), "-q"}).out, "9\n");
  EXPECT_EQ(run(server, {"submit", file.path(), "--json"}).out, "{\"jobs\": [{\"job\": 9}]}\n");
}

TEST(SubmitCommand, WarnsOfJobsThatTheCapsHoldUpForEver) {
  const FakeServer told({reply_of(201, R"({"jobs": [{"job": 9}], "warnings": ["it is more"]})")});
  const TempFile file("a.toml", "command = [\"a\"]\ngang = true\ntasks = 2\n");
  const Ran ran = run(told, {"submit", "-q", file.path()});
  EXPECT_EQ(ran.exit_code, kDone);
  EXPECT_EQ(ran.out, "9\n");
  EXPECT_THAT(ran.err, IsGolden());
  const FakeServer planned({reply_of(201, R"({"jobs": [{"job": 9}]})"), reply_of(200, R"({
      "launches": [], "places": [], "moves": 0, "usd_h": 0, "usd_h_now": 0, "refusals": [
        {"task": 0, "kind": "never", "why": "never under the caps"},
        {"task": 1, "kind": "never", "why": "never under the caps"}]})")});
  const Ran gang = run(planned, {"submit", file.path()});
  EXPECT_EQ(gang.exit_code, kDone) << "it is taken";
  EXPECT_THAT(gang.err, IsGolden());
}

TEST(SubmitCommand, RefusesFlagsThatSayNothingRight) {
  const TempFile file("a.toml", "command = [\"a\"]\n");
  const FakeServer server({reply_of(201, R"({"jobs": [{"job": 9}]})")});
  for (const Words& flags :
       {Words{"--cpus", "0"}, Words{"--cpus", "x"}, Words{"--tasks", "1.5"},
        Words{"--memory", "4 gigs"}, Words{"--time", "soon"}, Words{"--env", "A"},
        Words{"--array", "3-1"}, Words{"--workdir", ""}, Words{"--spot", "--any"},
        Words{"--spot", "--on-demand"}, Words{"--retries", "-1"}, Words{"--signal", "KILL"}}) {
    Words words{"submit", file.path()};
    words.insert(words.end(), flags.begin(), flags.end());
    const Ran ran = run(server, words);
    EXPECT_EQ(ran.exit_code, kUsage) << flags[0];
    EXPECT_THAT(ran.err, HasSubstr(flags[0].substr(2))) << "it names the option or its key";
  }
  EXPECT_EQ(run(server, {"submit"}).exit_code, kUsage);
  EXPECT_EQ(run(server, {"submit", file.path(), file.path(), "--token", "t"}).exit_code, kUsage);
  EXPECT_EQ(run(server, {"submit", file.folder() / "absent.toml"}).exit_code, kFailed);
  EXPECT_THAT(server.requests(), IsEmpty());
}

TEST(SubmitCommand, SeveralFilesAreOneRequestThatHasToGiveAsManyJobs) {
  const TempFile one("a.toml", "command = [\"a\"]\n"), other("b.json", R"({"command": ["b"]})");
  const FakeServer server({reply_of(201, R"({"jobs": [{"job": 9}, {"job": 10}]})"),
                           reply_of(201, R"({"jobs": [{"job": 9}]})")});
  EXPECT_EQ(run(server, {"submit", one.path(), other.path(), "-q"}).out, "9\n10\n");
  const auto body = nlohmann::json::parse(body_of(server.requests().front()));
  ASSERT_EQ(body.at("jobs").size(), 2U);
  EXPECT_NE(body["jobs"][0]["token"], body["jobs"][1]["token"]);
  const Ran fewer = run(server, {"submit", one.path(), other.path()});
  EXPECT_EQ(fewer.exit_code, kFailed);
  EXPECT_THAT(fewer.err, IsGolden());
}

TEST(PlanCommand, FailsForWhatCanNeverRun) {
  const TempFile file("a.toml", "command = [\"a\"]\n");
  const auto plan = [&](const std::string& kind) {
    const FakeServer server({reply_of(200, R"({"launches": [], "places": [], "refusals": [
        {"task": 0, "kind": ")" + kind + R"(", "why": "no room"}], "moves": 0, "usd_h": 0,
        "usd_h_now": 0})")});
    return run(server, {"plan", file.path()});
  };
  EXPECT_EQ(plan("never").exit_code, kFailed);
  EXPECT_EQ(plan("not now").exit_code, kDone);
  EXPECT_THAT(plan("not now").out, HasSubstr("task 0 waits: no room"));
  const FakeServer server({kDoneReply});
  EXPECT_EQ(run(server, {"plan", file.path(), file.path()}).exit_code, kUsage);
}

TEST(WaitCommand, EndsAsTheFirstJobThatFailed) {
  const auto over = [](int number, const std::string& state, const std::string& more) {
    return reply_of(200, job(number, state, more + R"(, "tasks": [])"));
  };
  const std::string none = R"(, "exit_code": null)";
  const FakeServer good({over(1, "completed", none)});
  EXPECT_EQ(run(good, {"wait", "1"}).exit_code, 0);
  EXPECT_THAT(asked(good), ElementsAre(StartsWith("GET /v1/jobs/1?")));
  const FakeServer two({over(1, "completed", none), over(2, "failed", R"(, "exit_code": 3)")});
  const Ran ran = run(two, {"wait", "1", "2"});
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_THAT(ran.err, IsGolden());
  for (const auto& [code, exits] :
       std::map<std::string, int>{{"null", 1}, {"0", 1}, {"255", 255}, {"256", 1}, {"-1", 1}}) {
    const FakeServer failed({over(1, "failed", R"(, "exit_code": )" + code)});
    EXPECT_EQ(run(failed, {"wait", "1"}).exit_code, exits) << code;
  }
  const FakeServer cancelled({over(1, "cancelled", R"(, "exit_code": 5)")});
  EXPECT_EQ(run(cancelled, {"wait", "1"}).exit_code, 130);
  const FakeServer open({over(1, "running", none)});
  const Ran late = run(open, {"wait", "1", "--timeout", "0s"});
  EXPECT_EQ(late.exit_code, 124);
  EXPECT_THAT(late.err, IsGolden());
}

TEST(WaitCommand, ForANameIsForTheOneThatIsOverWhereNoneIsOpen) {
  const FakeServer server({jobs(""), jobs(job(4, "completed")),
                           reply_of(200, job(4, "completed", R"(, "exit_code": 0, "tasks": [])"))});
  EXPECT_EQ(run(server, {"wait", "--user", "ann", "--name", "n4"}).exit_code, 0);
  const FakeServer never({jobs("")});
  EXPECT_EQ(run(never, {"wait", "--user", "ann", "--name", "n4"}).exit_code, kFailed);
  EXPECT_EQ(run(never, {"wait", "--user", "ann"}).exit_code, kDone);
}

TEST(TokenCommands, SendWhatIsWantedAndShowTheSecretOnce) {
  const FakeServer server({reply_of(201, R"({"name": "a b", "role": "user", "user": "ann",
      "state": "valid", "created_s": 1, "expires_s": null, "earlier_until_s": null,
      "secret": "s3cret"})")});
  EXPECT_EQ(run(server, {"token", "create", "a b", "--role", "user", "--user", "ann", "--expires",
                         "90d", "--quiet"})
                .out,
            "s3cret\n");
  EXPECT_EQ(nlohmann::json::parse(body_of(server.requests().at(0))),
            nlohmann::json::parse(
                R"({"name": "a b", "role": "user", "user": "ann", "lifetime_s": 7776000})"));
  EXPECT_THAT(run(server, {"token", "rotate", "a b", "--overlap", "10min"}).out,
              HasSubstr("\ns3cret\n"));
  EXPECT_EQ(run(server, {"token", "revoke", "a b"}).exit_code, kDone);
  EXPECT_THAT(asked(server), ElementsAre("POST /v1/tokens", "POST /v1/tokens/a%20b/rotate",
                                         "POST /v1/tokens/a%20b/revoke"));
  for (const Words& wrong : {Words{"token"}, Words{"token", "create", "x"},
                             Words{"token", "create", "", "--role", "user"},
                             Words{"token", "create", "x", "--role", "king"},
                             Words{"token", "create", "x", "--role", "user", "--expires", "0s"},
                             Words{"token", "create", "x", "--role", "user", "--user", ""},
                             Words{"token", "rotate", "x", "--overlap", "-1s"}}) {
    EXPECT_EQ(run(server, wrong).exit_code, kUsage) << testing::PrintToString(wrong);
  }
}

}  // namespace
}  // namespace muster::cli
