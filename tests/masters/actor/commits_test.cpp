#include "masters/actor/commits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/masters/actor/part_host.hpp"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Has batches written down when the test says so.
class HeldJournal final : public Journal {
 public:
  void append(std::vector<Event>&& batch, Durable durable) override {
    sizes.push_back(batch.size());
    if (at_once) return durable();
    open.push_back(std::move(durable));
  }
  void write_one() {
    const Durable durable = std::move(open.front());
    open.pop_front();
    durable();
  }

  bool at_once = false;
  std::vector<std::size_t> sizes;
  std::deque<Durable> open;
};

class CommitsTest : public ::testing::Test {
 protected:
  CommitsTest() : commits_(&journal_, nullptr, host_, hooks()) {}

  Commits::Host hooks() {
    Commits::Host hooks;
    hooks.end_now = [this](InstanceId id) { say("end " + std::to_string(id.value)); };
    hooks.watch = [this](const std::vector<Event>& events) {
      say("watch " + std::to_string(events.size()));
    };
    hooks.watched = [this] { say("watched"); };
    hooks.perform = [this](const Effect& effect) {
      say("stop " + std::to_string(std::get<StopTask>(effect).task.value));
    };
    hooks.appended = [this] { say("appended"); };
    return hooks;
  }
  void say(const std::string& what) { said_.push_back(what); }
  std::vector<std::string> said() { return std::exchange(said_, {}); }
  /// One event, and a task that is to be stopped once it is durable.
  static Commit stop(std::uint64_t task) {
    Commit commit;
    commit.events.emplace_back();
    commit.effects.emplace_back(StopTask{TaskId{task}, 1, {}});
    return commit;
  }

  HeldJournal journal_;
  test::FakePartHost host_;
  std::vector<std::string> said_;
  Commits commits_;
};

TEST_F(CommitsTest, EffectsAndAnswersWaitUntilTheEventsAreDurable) {
  commits_.take(stop(1), [this] { say("answer"); });
  EXPECT_THAT(said(), ElementsAre("watch 1", "watched", "appended"));
  journal_.write_one();
  EXPECT_THAT(said(), ElementsAre("stop 1", "answer"));
}

TEST_F(CommitsTest, ThoseOfALaterCommitThatHasNoEventsWaitForTheEarlierOnes) {
  commits_.take(stop(1), {});
  commits_.take({}, [this] { say("answer"); });
  said();
  EXPECT_THAT(journal_.sizes, ElementsAre(1, 0)) << "an empty batch keeps the order";
  journal_.write_one();
  EXPECT_THAT(said(), ElementsAre("stop 1"));
  journal_.write_one();
  EXPECT_THAT(said(), ElementsAre("answer"));
}

TEST_F(CommitsTest, WithoutEventsAndWithNothingThatWaitsTheyFollowAtOnce) {
  Commit commit = stop(1);
  commit.events.clear();
  commits_.take(std::move(commit), [this] { say("answer"); });
  EXPECT_THAT(said(), ElementsAre("stop 1", "answer"));
  EXPECT_THAT(journal_.sizes, IsEmpty());
  commits_.take({}, {});
  EXPECT_THAT(said(), IsEmpty());
}

TEST_F(CommitsTest, EndsThatCostMoneyDoNotWaitForTheDisk) {
  Commit commit = stop(1);
  commit.at_once.push_back({InstanceId{7}});
  commits_.take(std::move(commit), {});
  EXPECT_EQ(said().front(), "end 7");
}

TEST_F(CommitsTest, AJournalMayAnswerBeforeItReturns) {
  journal_.at_once = true;
  commits_.take(stop(1), [this] { say("answer"); });
  EXPECT_THAT(said(), ElementsAre("watch 1", "watched", "stop 1", "answer", "appended"));
}

TEST_F(CommitsTest, APartOfACommitGoesAheadOfItWithoutEffects) {
  std::vector<Event> part(3);
  commits_.take_part(std::move(part));
  EXPECT_THAT(said(), ElementsAre("watch 3"));
  commits_.take(stop(1), {});
  EXPECT_THAT(journal_.sizes, ElementsAre(3, 1));
}

}  // namespace
}  // namespace muster
