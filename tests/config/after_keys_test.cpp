// Which jobs a job begins after, as requests say it.

#include "config/after_keys.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "config/job_request.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"

namespace muster {
namespace {

using test::IsGoldenAt;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> texts_of(const std::string& after) {
  const auto read =
      job_request_from_toml("command = [\"true\"]\nafter = " + after + "\n", "job.toml");
  return read ? read->after : std::vector<std::string>{"?"};
}

std::string error_of(const std::string& after) {
  return test::message_of(
      job_request_from_toml("command = [\"true\"]\nafter = " + after + "\n", "job.toml"),
      ConfigError::invalid);
}

/// Jobs of a pipeline: of each its name and what it waits for.
using Pipeline = std::vector<std::pair<std::string, std::string>>;
std::string body_of(const Pipeline& jobs) {
  std::string text = R"({"jobs": [)";
  for (const auto& [name, after] : jobs) {
    if (text.back() == '}') text += ", ";
    text += R"({"command": ["true"], "name": ")" + name + "\"";
    if (!after.empty()) text += R"(, "after": )" + after;
    text += "}";
  }
  return text + "]}";
}

TEST(AfterKeys, MayBeAListATextOrANumber) {
  EXPECT_THAT(texts_of("[\"prep\", 12, \"13:any\"]"), ElementsAre("12", "13:any", "prep"));
  EXPECT_THAT(texts_of("\"12, 13:fail ,#2:ok\""), ElementsAre("#2", "12", "13:fail"));
  EXPECT_THAT(texts_of("7"), ElementsAre("7"));
  EXPECT_THAT(texts_of("\"12,12:ok\""), ElementsAre("12")) << "two spellings of one job";
  EXPECT_THAT(texts_of("[\"a:b\", \"c,d\"]"), ElementsAre("a:b", "c,d")) << "names";
}

TEST(AfterKeys, SayForWhichTasksAndForAStart) {
  EXPECT_THAT(texts_of("\"12:start, 13:index, 14:any:index, 15:ok:index\""),
              ElementsAre("12:start", "13:index", "14:any:index", "15:index"));
  EXPECT_THAT(texts_of("{ job = \"prep\", when = \"fail\", match = \"index\" }"),
              ElementsAre("prep:fail:index"));
  EXPECT_THAT(texts_of("[{ job = 12 }, { job = \"a:any\", match = \"job\" }, \"x\"]"),
              ElementsAre("12", "a:any:ok", "x"));
  const std::vector<AfterJob> jobs = config::after_of({"12:start", "#3:any:index"});
  EXPECT_THAT(jobs, ElementsAre(AfterJob{JobId{12}, AfterEnd::start},
                                AfterJob{{}, AfterEnd::any, 3, false, true}));
  EXPECT_THAT(config::after_texts(jobs), ElementsAre("12:start", "#3:any:index"));
}

TEST(AfterKeys, RefuseTasksThatCannotBeginOneByOne) {
  const std::string kRest[] = {"gang = true\ntasks = 2", "elastic = \"1-2\"", "on_fail = \"keep\""};
  for (const std::string& rest : kRest) {
    const auto read = job_request_from_toml(
        "command = [\"true\"]\nafter = \"12:index\"\n" + rest + "\n", "job.toml");
    EXPECT_THAT(test::message_of(read, ConfigError::invalid),
                IsGoldenAt(rest.starts_with("on_fail") ? "on_fail" : "after"))
        << rest;
  }
}

TEST(AfterKeys, RefuseWhatIsNoJob) {
  for (const char* wrong :
       {"0", "-1", "1.5", "\"\"", "\"12,\"", "[\"#0\"]", "[\"#x\"]", "[\":any\"]", "true", "[[1]]",
        "\"12:start:index\"", "{ when = \"ok\" }", "{ job = 12, match = \"task\" }",
        "{ job = 12, if = \"ok\" }", "{ job = 12, when = \"done\" }"}) {
    EXPECT_THAT(error_of(wrong), IsGoldenAt("after")) << wrong;
  }
}

TEST(AfterKeys, AreForJobsThatEnd) {
  const auto read = job_request_from_toml(
      "command = [\"true\"]\nname = \"web\"\nafter = [3]\n[service]\n", "job.toml");
  EXPECT_THAT(test::message_of(read, ConfigError::invalid), IsGoldenAt("after"));
}

TEST(AfterKeys, BecomeJobsAndTextsAgain) {
  const std::vector<std::string> texts{"#3:fail", "12", "13:any"};
  const std::vector<AfterJob> jobs = config::after_of(texts);
  EXPECT_THAT(jobs, ElementsAre(AfterJob{{}, AfterEnd::fail, 3}, AfterJob{JobId{12}},
                                AfterJob{JobId{13}, AfterEnd::any}));
  EXPECT_EQ(config::after_texts(jobs), texts);
  JobRequest request;
  request.command = {"true"};
  request.after = texts;
  EXPECT_EQ(request_of(make_job(request)).after, texts);
}

TEST(AfterKeys, AreAddedToThoseOfAFileOnce) {
  std::vector<std::string> texts{"12", "prep:any"};
  config::add_after_texts(texts, {"prep:any", "11"});
  EXPECT_THAT(texts, ElementsAre("11", "12", "prep:any"));
}

TEST(AfterKeys, PutPlacesForNamesOfASubmission) {
  const auto read = job_requests_from_json(
      body_of({{"report", R"(["train:any", "prep"])"}, {"train", R"("prep,12")"}, {"prep", ""}}),
      "body");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(read.value()[0].after, ElementsAre("#3", "#2:any"));
  EXPECT_THAT(read.value()[1].after, ElementsAre("12", "#3"));
}

TEST(AfterKeys, RefuseNamesThatAreNotThereOrTwice) {
  const auto fault = [](const Pipeline& jobs) {
    return test::message_of(job_requests_from_json(body_of(jobs), "body"), ConfigError::invalid);
  };
  EXPECT_THAT(fault({{"a", ""}, {"b", R"(["c"])"}}), IsGoldenAt("/jobs/1/after"));
  EXPECT_THAT(fault({{"a", ""}, {"a", ""}, {"b", R"(["a"])"}}), IsGoldenAt("/jobs/2/after"));
  EXPECT_THAT(fault({{"a", ""}, {"b", R"(["#3"])"}}), IsGoldenAt("/jobs/1/after"));
  EXPECT_THAT(fault({{"2024", ""}, {"b", R"(["2024"])"}}), IsGoldenAt("/jobs/1/after"));
}

TEST(AfterKeys, RefuseConditionsThatThereAreNot) {
  for (const char* after : {R"("a:done")", R"("12:foo")", R"("a:index:any")"}) {
    EXPECT_THAT(test::message_of(job_requests_from_json(body_of({{"a", ""}, {"b", after}}), "body"),
                                 ConfigError::invalid),
                IsGoldenAt("/jobs/1/after"))
        << after;
  }
}

TEST(AfterKeys, RefuseEndsOfAJobThatExcludeEachOther) {
  const auto with = [](const char* after) {
    return job_requests_from_json(body_of({{"a", ""}, {"b", after}}), "body");
  };
  EXPECT_THAT(test::message_of(with(R"(["a", "a:fail"])"), ConfigError::invalid),
              IsGoldenAt("/jobs/1/after"));
  EXPECT_FALSE(with(R"(["a:ok", "a:fail:index"])"));
  EXPECT_TRUE(with(R"(["a:fail", "a:ok:index"])")) << "some tasks of a failed job have completed";
  EXPECT_TRUE(with(R"(["a:start", "a:fail"])"));
}

TEST(AfterKeys, RefuseJobsThatWaitForEachOther) {
  const auto fault = [](const Pipeline& jobs) {
    return test::message_of(job_requests_from_json(body_of(jobs), "body"), ConfigError::invalid);
  };
  EXPECT_THAT(fault({{"a", R"(["a"])"}}), IsGoldenAt("/jobs/0/after"));
  EXPECT_THAT(fault({{"x", ""}, {"a", R"(["c", "x"])"}, {"b", R"(["a"])"}, {"c", R"(["b"])"}}),
              IsGoldenAt("after"));
}

TEST(AfterKeys, TakeALongChain) {
  Pipeline jobs{{"j0", ""}};
  for (std::size_t i = 1; i < kMaxJobsPerBatch; ++i) {
    jobs.emplace_back("j" + std::to_string(i), "[\"j" + std::to_string(i - 1) + "\"]");
  }
  std::reverse(jobs.begin(), jobs.end());
  EXPECT_TRUE(job_requests_from_json(body_of(jobs), "body"));
}

TEST(JobFiles, MayHaveSeveralJobs) {
  const auto read = job_requests_from_file(
      "[[jobs]]\nname = \"prep\"\ncommand = \"true\"\n"
      "[[jobs]]\ncommand = \"true\"\nafter = [\"prep\", \"elsewhere\"]\n",
      "pipeline.toml", false);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read.value().size(), 2U);
  EXPECT_THAT(read.value()[1].after, ElementsAre("elsewhere", "prep"))
      << "the other one may be in another file";
  const auto wrong = job_requests_from_file(
      "[[jobs]]\ncommand = \"true\"\n[[jobs]]\ncommand = \"true\"\ncpus = \"many\"\n",
      "pipeline.toml", false);
  EXPECT_THAT(test::message_of(wrong, ConfigError::invalid),
              IsGoldenAt("pipeline.toml:5:8: jobs/1/cpus"));
}

}  // namespace
}  // namespace muster
