// Which tasks are shown, which words are a submission's own, and what is said of misspelt ones.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "tests/support/golden.hpp"
#include "tools/cli/client_options.hpp"
#include "tools/cli/request_options.hpp"
#include "tools/cli/suggest.hpp"
#include "tools/cli/task_pages.hpp"
#include "tools/cli/wait_for_jobs.hpp"

namespace muster::cli {
namespace {

using muster::test::IsGolden;
using testing::HasSubstr;

client::JobPage page(std::optional<std::uint64_t> next, std::uint64_t behind) {
  client::JobPage made;
  made.next = next;
  made.tasks_behind = behind;
  return made;
}

TEST(MoreTasksLine, SaysHowToSeeTheOthers) {
  TaskChoice choice;
  EXPECT_EQ(more_tasks_line("muster job 7", choice, page(std::nullopt, 0)), "");
  EXPECT_THAT(more_tasks_line("muster job 7", choice, page(9, 1)), IsGolden());
  choice.limit = 5;
  choice.phase = "failed";
  EXPECT_EQ(more_tasks_line("muster job 7", choice, page(0, 2)),
            "2 more tasks: `muster job 7 --phase failed --from 1 --limit 5`\n");
  choice.phase = "not run";
  EXPECT_THAT(more_tasks_line("x", choice, page(0, 2)), HasSubstr("`x --phase 'not run' --from 1"));
}

TEST(TaskPages, AreOfWhatWasChosen) {
  TaskChoice choice;
  EXPECT_EQ(choice.shown(), 100U);
  EXPECT_EQ(task_pages("/j", choice, false).path, "/j?");
  EXPECT_EQ(task_pages("/j", choice, false).most, 100U);
  EXPECT_EQ(task_pages("/j", choice, true).most, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(task_pages("/j", choice, false).after, "");
  choice.limit = 7;
  choice.from = 1;
  choice.phase = "not run";
  const client::Pages pages = task_pages("/j", choice, true);
  EXPECT_EQ(pages.path, "/j?phase=not%20run");
  EXPECT_EQ(pages.most, 7U);
  EXPECT_EQ(pages.after, "0");
  EXPECT_EQ(pages.list, "tasks");
}

TEST(ExitCodeOf, AJobIsThatOfItsTaskWhereAProcessCanHaveIt) {
  JobView job;
  job.state = ShownState::completed;
  job.exit_code = 3;
  EXPECT_EQ(exit_code_of(job), 0);
  job.state = ShownState::failed;
  EXPECT_EQ(exit_code_of(job), 3);
  job.exit_code = 255;
  EXPECT_EQ(exit_code_of(job), 255);
  for (const std::optional<std::int32_t> odd : {std::optional<std::int32_t>{}, {0}, {-1}, {256}}) {
    job.exit_code = odd;
    EXPECT_EQ(exit_code_of(job), kFailed);
  }
  job.state = ShownState::cancelled;
  EXPECT_EQ(exit_code_of(job), kStopped);
}

TEST(NegativeNumber, IsFoundAmongTheWords) {
  const auto found = [](std::vector<const char*> words) {
    words.insert(words.begin(), "muster");
    return negative_number(static_cast<int>(words.size()), words.data());
  };
  EXPECT_EQ(found({"job", "-1"}), "-1");
  EXPECT_EQ(found({"job", "-x", "-12", "-3"}), "-12");
  EXPECT_EQ(found({"job", "1", "-", "--1", "-1.5", "-q", "x-1"}), "");
  EXPECT_EQ(found({}), "");
}

TEST(NumberFrom, TakesWhatIsBetweenItsBounds) {
  const CLI::Validator validator = number_from(1, 8);
  for (std::string good : {"1", "8", "2.5"}) EXPECT_EQ(validator(good), "") << good;
  for (std::string bad : {"0.99", "8.01", "nan", "inf", "x", ""}) {
    EXPECT_THAT(validator(bad), HasSubstr("from 1 to 8; it is '" + bad + "'"));
  }
}

/// "muster submit ...": how many words are its own, and where the command begins.
OwnWords own(std::vector<const char*> words) {
  words.insert(words.begin(), "muster");
  return own_words(static_cast<int>(words.size()), words.data());
}
testing::Matcher<OwnWords> are(int own, int rest) {
  return testing::Truly([=](const OwnWords& words) {
    const auto [count, begin] = words;
    return count == own && begin == rest;
  });
}

TEST(OwnWords, EndAtTheDashesOrBehindAScript) {
  EXPECT_THAT(own({}), are(1, 1));
  EXPECT_THAT(own({"jobs", "--", "x"}), are(4, 4)) << "only some have a command behind them";
  EXPECT_THAT(own({"submit", "--cpus", "2", "--", "a", "--b"}), are(4, 5));
  EXPECT_THAT(own({"plan", "--"}), are(2, 3));
  EXPECT_THAT(own({"exec", "12", "--", "sh", "-c"}), are(3, 4));
  EXPECT_THAT(own({"exec", "12"}), are(3, 3));
  EXPECT_THAT(own({"submit", "/nowhere.toml", "--cpus", "2"}), are(5, 5));
}

/// What is suggested for words that a command line does not know.
Suggestion suggestion_for(std::vector<std::string> words) {
  CLI::App app;
  int exit_code = kDone;
  add_client_commands(app, exit_code, {});
  for (CLI::App* command : app.get_subcommands({})) command->callback([] {});
  app.allow_extras();
  for (CLI::App* command : app.get_subcommands({})) command->allow_extras();
  std::reverse(words.begin(), words.end());
  app.parse(words);
  return suggestion(app);
}

std::string suggested(const std::vector<std::string>& words) {
  return suggestion_for(words).text;
}

TEST(Suggestion, IsTheNearestOptionOrCommand) {
  EXPECT_THAT(suggested({"jobs", "--limti", "3"}), IsGolden());
  EXPECT_THAT(suggested({"jobs", "--limti=3"}), IsGolden());
  EXPECT_THAT(suggested({"jbos"}), IsGolden());
  EXPECT_THAT(suggested({"qqqqqqqqqq"}), HasSubstr("'qqqqqqqqqq'"));
  EXPECT_EQ(suggested({"jobs", "--zzzzzzzzzzz"}), "");
  EXPECT_EQ(suggested({"jobs"}), "");
}

TEST(Suggestion, IsAllThatIsSaidWhereTheLibraryHasNothingToAdd) {
  for (const char* word : {"jbos", "qqqqqqqqqq"}) EXPECT_TRUE(suggestion_for({word}).is_all);
  EXPECT_TRUE(suggestion_for({"--cluster", "/x", "jobs"}).is_all) << "it stands behind";
  EXPECT_FALSE(suggestion_for({"jobs", "--limti", "3"}).is_all) << "the library names the word";
}

TEST(ConversionFault, SaysWhatTheOptionHasToBe) {
  CLI::App app;
  std::uint32_t count = 0;
  int whole = 0;
  double number = 0;
  app.add_option("--count", count);
  app.add_option("--whole", whole);
  app.add_option("--number", number);
  const auto fault = [&](const std::string& option) {
    return conversion_fault(app, "Could not convert: " + option + " = x");
  };
  for (const char* option : {"--count", "--whole", "--number", "--other"}) {
    EXPECT_THAT(fault(option), muster::test::IsGoldenAt(option));
  }
  EXPECT_EQ(conversion_fault(app, "other = x"), "other = x");
  EXPECT_EQ(conversion_fault(app, "Could: x"), "Could: x");
}

}  // namespace
}  // namespace muster::cli
