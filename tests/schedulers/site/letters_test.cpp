#include "schedulers/site/letters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <utility>

#include "tests/support/builders.hpp"

namespace muster {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr Instant kNow{seconds{1'000}};

struct LettersTest : ::testing::Test {
  std::vector<std::uint64_t> watched;
  std::map<JobId, JobLetter> kept;
  std::vector<std::pair<Letter, std::function<void()>>> sent;
  std::vector<std::pair<Duration, std::function<void()>>> later;
  Letters letters{{.most = 6, .look_again = seconds{10}}, host()};

  Letters::Host host() {
    Letters::Host made;
    made.watch = [this](const std::vector<JobId>& jobs) {
      for (const JobId job : jobs) watched.push_back(job.value);
    };
    made.keep = [this](const JobLetter& letter) {
      if (letter.to.empty()) {
        kept.erase(letter.job);
      } else {
        kept[letter.job] = letter;
      }
    };
    made.send = [this](Letter letter, std::function<void()> settled) {
      sent.emplace_back(std::move(letter), std::move(settled));
    };
    made.after = [this](Duration wait, std::function<void()> step) {
      later.emplace_back(wait, std::move(step));
    };
    made.now = [] { return kNow; };
    return made;
  }
  static Job job(std::uint64_t id, std::vector<std::string> notify = {"me@example.org"},
                 NotifyOn on = NotifyOn::end) {
    Job made = test::JobBuilder(id).build();
    made.name = "train";
    made.user = "ann";
    made.notify = std::move(notify);
    made.notify_on = on;
    return made;
  }
  void submit(const std::vector<Job>& jobs) {
    auto made = Letters::of(jobs);
    // As the store does it together with the jobs.
    for (const JobLetter& each : made) kept[each.job] = each;
    letters.add(std::move(made));
  }
  void over(std::uint64_t id, JobOutcome outcome = JobOutcome::completed, std::uint32_t whole = 1) {
    letters.hear(JobId{id}, whole > 0 ? std::optional(outcome) : std::nullopt, whole);
  }
  std::vector<std::string> ids() const {
    std::vector<std::string> out;
    for (const auto& each : sent) out.push_back(each.first.id);
    return out;
  }
  /// As after a restart on the same store.
  void restart() {
    std::vector<JobLetter> memory;
    for (const auto& [id, letter] : kept) memory.push_back(letter);
    sent.clear();
    watched.clear();
    again =
        std::make_unique<Letters>(Letters::Bounds{.most = 6, .look_again = seconds{10}}, host());
    again->recall(std::move(memory));
    again->begin();
  }
  std::unique_ptr<Letters> again;
};

TEST_F(LettersTest, ARecurringJobIsNotToldOfAndKeepsNoOtherWaiting) {
  Job recurs = job(1, {"me@example.org"}, NotifyOn::all);
  recurs.every = "0 3 * * *";
  submit({recurs, job(2, {"me@example.org"}, NotifyOn::all)});
  EXPECT_THAT(watched, ElementsAre(2));
  over(2);
  EXPECT_EQ(sent.size(), 1U);
}

TEST_F(LettersTest, CostNothingForAJobThatTellsNobody) {
  submit({job(1, {})});
  EXPECT_THAT(watched, IsEmpty());
  EXPECT_THAT(later, IsEmpty());
  EXPECT_EQ(letters.size(), 0u);
  over(1);
  EXPECT_THAT(sent, IsEmpty());
}

TEST_F(LettersTest, AreSentToEachAddressOnceWhenTheJobIsOver) {
  submit({job(7, {"https://a.b/x", "me@example.org"})});
  EXPECT_THAT(watched, ElementsAre(7));
  EXPECT_TRUE(letters.waits(JobId{7}));
  over(7, JobOutcome::failed, 3);
  over(7, JobOutcome::failed, 3);
  EXPECT_FALSE(letters.waits(JobId{7}));
  ASSERT_EQ(sent.size(), 2u);
  const Letter& letter = sent[0].first;
  EXPECT_EQ(letter.to, "https://a.b/x");
  EXPECT_EQ(letter.user, "ann");
  EXPECT_EQ(letter.at, kNow);
  const auto& what = std::get<JobIsOver>(letter.what);
  EXPECT_EQ(what.job, JobId{7});
  EXPECT_EQ(what.end.outcome, JobOutcome::failed);
  EXPECT_EQ(what.end.tasks, 3u);
  EXPECT_NE(ids()[0], ids()[1]);
  sent[0].second();
  EXPECT_THAT(kept.at(JobId{7}).to, ElementsAre("me@example.org"));
  sent[1].second();
  EXPECT_THAT(kept, IsEmpty());
  EXPECT_EQ(letters.size(), 0u);
}

TEST_F(LettersTest, OfFailuresAreNotSentForOtherEnds) {
  for (std::uint64_t id = 1; id <= 5; ++id) submit({job(id, {"me@example.org"}, NotifyOn::fail)});
  over(1, JobOutcome::completed);
  over(2, JobOutcome::cancelled);
  EXPECT_THAT(sent, IsEmpty());
  EXPECT_EQ(letters.size(), 3u);
  over(3, JobOutcome::failed);
  over(4, JobOutcome::skipped);
  over(5, JobOutcome::completed, 0);
  EXPECT_EQ(sent.size(), 3u) << "also of one of which nobody knows any more how it ended";
  EXPECT_EQ(std::get<JobIsOver>(sent[2].first.what).end.outcome, std::nullopt);
}

TEST_F(LettersTest, OfASubmissionAreOneWhenAllIsOver) {
  const std::vector<std::string> to{"https://a.b/x"};
  submit({job(1, to, NotifyOn::all), job(2, to, NotifyOn::all), job(3, to, NotifyOn::all)});
  over(3, JobOutcome::failed);
  over(1);
  EXPECT_THAT(sent, IsEmpty());
  over(2, JobOutcome::cancelled);
  ASSERT_EQ(sent.size(), 1u);
  const auto& what = std::get<JobsAreOver>(sent[0].first.what);
  EXPECT_EQ(what.first, JobId{1});
  EXPECT_EQ(what.jobs, 3u);
  EXPECT_EQ(what.completed, 1u);
  EXPECT_EQ(what.failed, 1u);
  EXPECT_EQ(what.others, 1u);
  sent[0].second();
  EXPECT_THAT(kept, IsEmpty());
  EXPECT_EQ(letters.size(), 0u);
}

TEST_F(LettersTest, GoOnAfterARestartUnderEqualIds) {
  submit({job(1, {"https://a.b/x", "me@example.org"}), job(2)});
  over(1);
  sent[0].second();
  const std::string open = ids()[1];
  restart();
  EXPECT_THAT(ids(), ElementsAre(open));
  EXPECT_EQ(sent[0].first.at, kNow) << "its age counts from the end of the job";
  EXPECT_THAT(watched, ElementsAre(2));
  again->hear(JobId{2}, JobOutcome::completed, 1);
  EXPECT_EQ(sent.size(), 2u);
}

TEST_F(LettersTest, OfASubmissionGoOnAfterARestart) {
  const std::vector<std::string> to{"https://a.b/x"};
  submit({job(1, to, NotifyOn::all), job(2, to, NotifyOn::all)});
  over(1, JobOutcome::failed);
  restart();
  EXPECT_THAT(sent, IsEmpty());
  EXPECT_THAT(watched, ElementsAre(2));
  again->hear(JobId{2}, JobOutcome::completed, 1);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(std::get<JobsAreOver>(sent[0].first.what).failed, 1u);
  const std::string id = ids()[0];
  restart();
  EXPECT_THAT(ids(), ElementsAre(id)) << "all had ended, and nobody was told yet";
}

TEST_F(LettersTest, AreBoundedInNumberAndForEachUser) {
  EXPECT_TRUE(letters.has_room({job(1), job(2), job(3)}));
  EXPECT_FALSE(letters.has_room({job(1), job(2), job(3), job(4)})) << "half are one user's";
  submit({job(1), job(2), job(3)});
  EXPECT_FALSE(letters.has_room({job(4)}));
  EXPECT_TRUE(letters.has_room({job(4, {})}));
  Job other = job(5);
  other.user = "bob";
  EXPECT_TRUE(letters.has_room({other}));
  over(1);
  sent[0].second();
  EXPECT_TRUE(letters.has_room({job(4)}));
}

TEST_F(LettersTest, AskAgainAfterJobsThatAreNotOver) {
  submit({job(1), job(2)});
  over(1);
  watched.clear();
  ASSERT_EQ(later.size(), 1u);
  EXPECT_EQ(later[0].first, seconds{10});
  std::exchange(later, {})[0].second();
  EXPECT_THAT(watched, ElementsAre(2));
  over(2);
  watched.clear();
  std::exchange(later, {})[0].second();
  EXPECT_THAT(watched, IsEmpty());
  EXPECT_THAT(later, IsEmpty());
}

}  // namespace
}  // namespace muster
