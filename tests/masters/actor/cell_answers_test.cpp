#include "masters/actor/cell_answers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/masters/actor/part_host.hpp"
#include "tests/masters/scripted_master.hpp"

namespace muster {
namespace {

/// Says that it can write nothing, or nothing new.
class TroubledJournal final : public Journal {
 public:
  void append(std::vector<Event>&&, Durable) override {}
  std::string trouble() const override { return trouble_text; }
  std::string strain() const override { return strain_text; }

  std::string trouble_text, strain_text;
};

class CellAnswersTest : public test::MasterTest {
 protected:
  CellAnswersTest() {
    CellAnswers::Setup setup;
    setup.journal = &journal_;
    setup.times = &times_;
    setup.keep_sample = [this](const HistorySample& sample) { kept_.push_back(sample); };
    CellAnswers::Host host;
    host.planner_trouble = [this] { return planner_trouble_; };
    host.workers = [] { return std::map<InstanceId, WorkerStanding>{}; };
    answers_.emplace(CellAnswers::Parts{*master_, reads_, host_}, std::move(setup),
                     std::move(host));
  }

  test::FakePartHost host_;
  ApartReads reads_{nullptr, host_};
  TroubledJournal journal_;
  DecisionTimes times_;
  std::string planner_trouble_;
  std::vector<HistorySample> kept_;
  std::optional<CellAnswers> answers_;
};

TEST_F(CellAnswersTest, TheTroublesOfJournalAndPlannerAreToldTogether) {
  EXPECT_EQ(answers_->view().trouble, "");
  planner_trouble_ = "fallen";
  EXPECT_EQ(answers_->view().trouble, "fallen");
  journal_.strain_text = "strained";
  EXPECT_EQ(answers_->view().trouble, "strained; fallen");
  journal_.trouble_text = "full";
  EXPECT_EQ(answers_->view().trouble, "full; fallen") << "a trouble says more than a strain";
}

TEST_F(CellAnswersTest, ASampleIsKeptAMinute) {
  answers_->sample();
  answers_->figures();
  EXPECT_EQ(kept_.size(), 1U);
  host_.run_until_s(59);
  answers_->sample();
  EXPECT_EQ(kept_.size(), 1U);
  host_.run_until_s(60);
  answers_->figures();
  EXPECT_EQ(kept_.size(), 2U) << "a question keeps one too";
  EXPECT_EQ(answers_->history(1).samples.size(), 2U);
}

TEST_F(CellAnswersTest, SamplesOfAClockThatWasAheadAreDropped) {
  HistorySample past, future;
  past.at = test::at_s(1);
  future.at = test::at_s(500);
  host_.run_until_s(10);
  answers_->recall({past, future}, host_.now());
  EXPECT_EQ(answers_->history(1).samples.size(), 1U);
}

TEST_F(CellAnswersTest, TheLastDecisionsTimeIsShown) {
  answers_->note_time(std::chrono::milliseconds{7});
  EXPECT_DOUBLE_EQ(answers_->view().last_decision_ms, 7);
}

TEST_F(CellAnswersTest, AViewThatFitsIntoNoMessageIsAnErrorAndNotTheEndOfTheLink) {
  test::Answered<FoundView> heard;
  CellAnswer<FoundView> small;
  answers_->show(std::move(small), heard.answer());
  EXPECT_EQ(heard.values.size(), 1U);
  CellAnswer<JobDetails> large;
  large.view.job.name = std::string(kLeastMessageBytes, 'x');
  test::Answered<JobDetails> refused;
  answers_->show(std::move(large), refused.answer());
  ASSERT_EQ(refused.errors.size(), 1U);
  EXPECT_EQ(refused.errors[0], caf::make_error(ActorError::too_large));
}

}  // namespace
}  // namespace muster
