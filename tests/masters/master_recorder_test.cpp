#include "masters/master_recorder.hpp"

#include "tests/masters/master_parts.hpp"

namespace muster {
namespace {

using namespace std::chrono_literals;
using test::at_s;
using test::JobBuilder;
using testing::ElementsAre;
using testing::IsEmpty;

/// Writes down what it hears, and whether the facts knew of it.
class Notes final : public EventListener {
 public:
  Notes(std::string name, std::vector<std::string>& notes)
      : name_(std::move(name)), notes_(notes) {}
  void before(const Event&, const MasterFacts& facts) override { note("before", facts); }
  void after(const Event&, const MasterFacts& facts) override { note("after", facts); }
  void restored(const MasterFacts& facts) override { note("restored", facts); }

 private:
  void note(const std::string& when, const MasterFacts& facts) {
    notes_.push_back(name_ + " " + when + " " + std::to_string(facts.state.jobs().size()));
  }
  std::string name_;
  std::vector<std::string>& notes_;
};

class MasterRecorderTest : public test::MasterPartsTest {
 protected:
  /// A round that changed nothing.
  void calm_round(double at, std::uint64_t round = 0) {
    recorder_->record(RoundDecided{round, {}, facts().quiet, true, 0, {}, 0}, at_s(at));
  }
  static constexpr Duration kPeriod = 300s;
};

TEST_F(MasterRecorderTest, ListenersHearOfAnEventBeforeTheFactsAndAfterInTheirOrder) {
  begin();
  std::vector<std::string> notes;
  Notes first("first", notes), second("second", notes);
  recorder_->listen(first);
  recorder_->listen(second);
  submit(1);
  EXPECT_THAT(notes,
              ElementsAre("first before 0", "second before 0", "first after 1", "second after 1"));
  notes.clear();
  recorder_->unlisten(first);
  submit(2);
  EXPECT_THAT(notes, ElementsAre("second before 1", "second after 2"));
}

TEST_F(MasterRecorderTest, ACommitHasWhatHappenedSinceTheLastOne) {
  begin();
  submit(1);
  recorder_->effect(EndInstance{InstanceId{7}});
  recorder_->at_once(InstanceId{8});
  recorder_->over(JobHistory{});
  const Commit commit = recorder_->commit();
  EXPECT_EQ(commit.events.size(), 1U);
  EXPECT_EQ(commit.effects.size(), 1U);
  EXPECT_EQ(commit.at_once.size(), 1U);
  EXPECT_EQ(commit.over.size(), 1U);
  EXPECT_TRUE(recorder_->commit().events.empty());
}

TEST_F(MasterRecorderTest, WhatIsReplayedIsOnRecordAlready) {
  begin();
  std::vector<std::string> notes;
  Notes listener("it", notes);
  recorder_->listen(listener);
  recorder_->replay({at_s(5), JobAccepted{JobBuilder(1).build()}});
  EXPECT_THAT(notes, ElementsAre("it before 0", "it after 1"));
  EXPECT_THAT(recorder_->commit().events, IsEmpty());
  EXPECT_EQ(facts().newest, at_s(5));
}

TEST_F(MasterRecorderTest, ListenersAreToldOnceOfASnapshot) {
  begin();
  submit(1);
  MasterSnapshot snapshot = recorder_->memory().snapshot();
  begin();
  std::vector<std::string> notes;
  Notes listener("it", notes);
  recorder_->listen(listener);
  recorder_->restore(std::move(snapshot));
  EXPECT_THAT(notes, ElementsAre("it restored 1"));
}

TEST_F(MasterRecorderTest, TheRoundsThatACalmLeftOutCountBeforeWhatEndsIt) {
  begin({}, kPeriod);
  calm_round(0);
  ASSERT_TRUE(facts().calm);
  forget();
  recorder_->record(JobAccepted{JobBuilder(1).build()}, at_s(1000));
  const Commit commit = recorder_->commit();
  ASSERT_EQ(commit.events.size(), 2U);
  EXPECT_EQ(std::get<Measured>(commit.events.front().body).quiet, 3U);
  EXPECT_TRUE(std::holds_alternative<JobAccepted>(commit.events.back().body));
}

TEST_F(MasterRecorderTest, WhatTasksReportOfThemselvesEndsNoCalm) {
  begin({}, kPeriod);
  calm_round(0);
  forget();
  recorder_->record(Measured{{}, 0, {}, {{TaskId{1}, {{"a", 1}}}}}, at_s(1000));
  EXPECT_EQ(recorder_->commit().events.size(), 1U);
  EXPECT_TRUE(facts().calm);
  recorder_->end_calm(at_s(1000), 0);
  EXPECT_EQ(std::get<Measured>(recorder_->commit().events.front().body).quiet, 3U);
}

// The calm ends without an event of its own when no regular round was left out in it.
TEST_F(MasterRecorderTest,
       WhatTasksReportOfThemselvesEndsTheCalmOfAPolicyThatWantsItInEveryMemory) {
  const auto calm_goes_on = [&](Told told, const Fleet& fleet) {
    told_ = told;
    begin(fleet, kPeriod);
    calm_round(0);
    recorder_->record(Measured{{}, 0, {}, {{TaskId{1}, {{"a", 1}}}}}, at_s(1));
    MasterMemory other(settings_, dependencies(fleet, kPeriod));
    for (const Event& event : recorder_->commit().events) other.absorb(event);
    EXPECT_EQ(other.facts().calm.has_value(), facts().calm.has_value());
    return facts().calm.has_value();
  };
  const Fleet fleet{{it4(), Market::on_demand, 1}};
  EXPECT_FALSE(calm_goes_on({.rented = true}, {}));
  EXPECT_TRUE(calm_goes_on({.of_fleet = true}, {}));
  EXPECT_FALSE(calm_goes_on({.of_fleet = true}, fleet));
  EXPECT_TRUE(calm_goes_on({.rented = true}, fleet));
}

TEST_F(MasterRecorderTest, ARoundThatIsHeldDoesNotCountAsLeftOut) {
  begin({}, kPeriod);
  calm_round(0);
  forget();
  recorder_->end_calm(at_s(900), 1);
  EXPECT_EQ(std::get<Measured>(recorder_->commit().events.front().body).quiet, 2U);
  recorder_->end_calm(at_s(1800), 0);
  EXPECT_THAT(recorder_->commit().events, IsEmpty()) << "it is over";
}

}  // namespace
}  // namespace muster
