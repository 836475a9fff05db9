// Replaying a store as a start does, to find out whether one would end.

#include "masters/event_replay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "model/check.hpp"
#include "schedulers/registry.hpp"
#include "tests/support/builders.hpp"

namespace muster {
namespace {

using test::at_s;
using test::JobBuilder;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kMeaning = "means that never meet";

/// A policy that comes to grief at the third event.
class Fragile final : public Policy {
 public:
  explicit Fragile(bool throws) : throws_(throws) {}
  Cadence cadence() const override { return {}; }
  void observe(const Event&, const ClusterView&) override {
    if (++seen_ < 3) return;
    if (throws_) throw std::out_of_range("no such class");
    MUSTER_CHECK(false, kMeaning);
  }
  Plan decide(const ClusterView&, Rng&, Budget&) override { return {}; }
  std::unique_ptr<Policy> clone() const override { return std::make_unique<Fragile>(*this); }

 private:
  bool throws_;
  int seen_ = 0;
};

class EventReplay : public ::testing::Test {
 protected:
  ReplayedEvents replay(std::unique_ptr<Policy> policy) const {
    MasterDependencies parts;
    parts.catalog = &catalog_;
    parts.policy = std::move(policy);
    return replay_in_child({none_, events_}, std::move(parts));
  }

  Catalog catalog_ = test::table3_catalog();
  std::optional<MasterSnapshot> none_;
  std::vector<Event> events_{{at_s(1), JobAccepted{JobBuilder(1).build()}},
                             {at_s(2), JobAccepted{JobBuilder(2).build()}},
                             {at_s(3), JobAccepted{JobBuilder(3).build()}},
                             {at_s(4), JobHeld{JobId{1}}}};
};

TEST_F(EventReplay, SaysThatAMasterWouldComeUp) {
  for (const PolicyModule& module : known_policies()) {
    SCOPED_TRACE(module.name);
    auto policy = make_policy(parse_policy(module.name).value(), catalog_);
    const ReplayedEvents replayed = replay(std::move(policy).value());
    EXPECT_THAT(replayed.problem, IsEmpty());
    EXPECT_EQ(replayed.events, 4u);
  }
}

TEST_F(EventReplay, ReportsACheckThatFailsWithTheEvent) {
  const ReplayedEvents replayed = replay(std::make_unique<Fragile>(false));
  EXPECT_THAT(replayed.problem, HasSubstr(kMeaning));
  EXPECT_EQ(replayed.events, 2u);
}

TEST_F(EventReplay, ReportsAnExceptionWithTheEvent) {
  const ReplayedEvents replayed = replay(std::make_unique<Fragile>(true));
  EXPECT_THAT(replayed.problem, HasSubstr("no such class"));
  EXPECT_EQ(replayed.events, 2u);
}

TEST_F(EventReplay, ReportsEventsThatCannotHaveHappened) {
  events_.push_back({at_s(5), TaskFinished{TaskId{77}, 1, {}}});
  const auto policy = make_policy(parse_policy("no-packing").value(), catalog_);
  const ReplayedEvents replayed = replay(policy.value()->clone());
  EXPECT_THAT(replayed.problem, testing::Not(IsEmpty()));
  EXPECT_EQ(replayed.events, 4u);
}

}  // namespace
}  // namespace muster
