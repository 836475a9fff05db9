// A policy that throws costs its master a round and nothing else.

#include <stdexcept>

#include "tests/masters/actor/master_actor_fixture.hpp"
#include "tests/support/golden.hpp"

namespace muster {
namespace {

using test::IsGolden;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// Decides as another policy, but for the next decisions and events at which it throws.
struct Faults {
  int decisions = 0;  ///< negative: at all
  int events = 0;
  int words = 0;
  int asked = 0;
  int anew = 0;  ///< how often a policy was given the words of another one
};

class FailingPolicy final : public Policy {
 public:
  FailingPolicy(std::unique_ptr<Policy> inner, std::shared_ptr<Faults> faults)
      : inner_(std::move(inner)), faults_(std::move(faults)) {}

  Cadence cadence() const override { return inner_->cadence(); }
  void observe(const Event& event, const ClusterView& view) override {
    if (faults_->events != 0) {
      --faults_->events;
      throw std::out_of_range("an event");
    }
    inner_->observe(event, view);
  }
  Plan decide(const ClusterView& view, Rng& rng, Budget& budget) override {
    ++faults_->asked;
    if (faults_->decisions != 0) {
      --faults_->decisions;
      throw std::out_of_range("no such row");
    }
    return inner_->decide(view, rng, budget);
  }
  std::string save_state(const ClusterState& state) const override {
    if (faults_->words != 0) throw std::runtime_error("invalid UTF-8");
    return inner_->save_state(state);
  }
  bool load_state(std::string_view text, const ClusterView& view) override {
    ++faults_->anew;
    return inner_->load_state(text, view);
  }
  std::unique_ptr<Policy> clone() const override {
    return std::make_unique<FailingPolicy>(inner_->clone(), faults_);
  }
  bool settled(const ClusterView& view) const override { return inner_->settled(view); }

 private:
  std::unique_ptr<Policy> inner_;
  std::shared_ptr<Faults> faults_;
};

class PlannerFailuresTest : public test::MasterActorTest,
                            public ::testing::WithParamInterface<PlannerPlace> {
 protected:
  void start_failing() {
    start([&](MasterSetup& setup) {
      setup.planner = GetParam();
      setup.parts.policy = std::make_unique<FailingPolicy>(std::move(setup.parts.policy), faults_);
      setup.settings.planner_retry = std::chrono::seconds{10};
      setup.settings.planner_retry_longest = std::chrono::seconds{40};
      setup.note = [&](const std::string& text) { notes_.push_back(text); };
    });
  }
  CellFigures figures() {
    CellFigures told;
    caf::scoped_actor self{system_.actors()};
    auto asked = self->request(master_, caf::infinite, figures_atom_v);
    system_.time().drain();
    asked.receive([&](const CellFigures& heard) { told = heard; },
                  [](const caf::error&) { ADD_FAILURE() << "the master does not answer"; });
    return told;
  }

  std::shared_ptr<Faults> faults_ = std::make_shared<Faults>();
  std::vector<std::string> notes_;
};

TEST_P(PlannerFailuresTest, OneThatThrowsOnceIsMadeAnewAndAskedAgainAfterAPause) {
  faults_->decisions = 1;
  start_failing();
  accept(1);
  system_.run_until_s(5);
  EXPECT_EQ(times_heard("launch 0"), 0U);
  EXPECT_EQ(all<RoundDecided>().size(), 0U) << "the round has not been";
  EXPECT_THAT(figures().trouble, AllOf(HasSubstr("(no such row)"), HasSubstr("10 s"), IsGolden()));
  EXPECT_EQ(notes_.size(), 1U);
  EXPECT_EQ(faults_->anew, 1);
  system_.run_until_s(11);
  EXPECT_EQ(times_heard("launch 0"), 1U);
  ASSERT_EQ(all<RoundDecided>().size(), 1U);
  EXPECT_EQ(all<RoundDecided>()[0].round, 0U);
  EXPECT_EQ(figures().trouble, "");
}

TEST_P(PlannerFailuresTest, OneThatAlwaysThrowsIsTriedAtGrowingPausesAndTheRestGoesOn) {
  start_failing();
  run_one();
  faults_->decisions = -1;
  const int before = faults_->asked;
  accept(2);
  system_.run_until_s(1000);
  const int tries = faults_->asked - before;
  EXPECT_GE(tries, 3);
  EXPECT_LE(tries, 25) << "40 s apart in the end";
  EXPECT_EQ(all<JobAccepted>().size(), 2U) << "jobs are taken";
  tell(WorkerReportKind::finished, 1);
  system_.time().drain();
  EXPECT_EQ(all<TaskFinished>().size(), 1U) << "ends are heard";
  caf::anon_send(master_, cancel_atom_v, std::vector<JobId>{JobId{2}});
  system_.time().drain();
  EXPECT_EQ(all<JobFinished>().size(), 2U) << "a job is cancelled at once";
  EXPECT_THAT(figures().trouble, HasSubstr("nothing is planned"));
  caf::anon_send(master_, drain_atom_v, InstanceId{0});
  system_.run_until_s(1100);
  EXPECT_EQ(times_heard("end 0"), 1U) << "orders are carried out";
}

TEST_P(PlannerFailuresTest, OneThatThrowsAtAnEventGoesOnWithTheNext) {
  start_failing();
  faults_->events = 1;
  accept(1);
  system_.run_until_s(5);
  EXPECT_EQ(times_heard("launch 0"), 1U);
  ASSERT_EQ(notes_.size(), 1U);
  EXPECT_THAT(notes_[0], AllOf(HasSubstr("(an event)"), IsGolden()));
}

TEST_P(PlannerFailuresTest, OneThatCannotSayWhatItRemembersBeginsWithNothing) {
  faults_->decisions = 1;
  faults_->words = 1;
  start_failing();
  accept(1);
  system_.run_until_s(11);
  EXPECT_EQ(times_heard("launch 0"), 1U);
  EXPECT_THAT(notes_.at(0), IsGolden());
}

INSTANTIATE_TEST_SUITE_P(Places, PlannerFailuresTest,
                         ::testing::Values(PlannerPlace::in_master, PlannerPlace::beside));

}  // namespace
}  // namespace muster
