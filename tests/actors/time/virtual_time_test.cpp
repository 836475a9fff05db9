#include "actors/time/virtual_time.hpp"

#include <gtest/gtest.h>

#include "tests/support/virtual_system.hpp"

namespace muster {
namespace {

using Ticker = caf::typed_actor<caf::reacts_to<Wakeup>>;

class TickerActor : public Ticker::base {
 public:
  TickerActor(caf::actor_config& config, ClockOrigin origin, std::vector<std::string>& log)
      : Ticker::base(config), timer_(this, origin), log_(log) {}

 protected:
  behavior_type make_behavior() override {
    for (int second : {20, 5, 5, 0}) {
      timer_.at(Instant{std::chrono::seconds{second}}, [this, second] {
        log_.push_back(std::to_string(second) + "@" +
                       std::to_string(static_cast<int>(to_seconds(timer_.now()))));
      });
    }
    return {[](const Wakeup& wakeup) { wakeup.run(); }};
  }

 private:
  ActorTimer<Ticker, TickerActor> timer_;
  std::vector<std::string>& log_;
};

TEST(VirtualTime, JumpsFromDeadlineToDeadlineInOrder) {
  test::VirtualSystem system;
  std::vector<std::string> log;
  const Ticker ticker = system.actors().spawn<TickerActor>(system.time().origin(), log);
  system.run_until_s(5);
  EXPECT_EQ(log, (std::vector<std::string>{"0@0", "5@5", "5@5"}));
  system.run_until_s(1e6);
  EXPECT_EQ(log.back(), "20@20");
  system.end(ticker);
}

TEST(VirtualTime, StartsAtZero) {
  test::VirtualSystem system;
  EXPECT_EQ(system.time().now(), Instant{});
}

/// The order in which ten actors handle one message each.
std::vector<int> order_of_ten(std::uint64_t seed) {
  test::VirtualSystem system;
  system.time().shuffle(seed);
  std::vector<int> order;
  std::vector<caf::actor> actors;
  for (int i = 0; i < 10; ++i) {
    actors.push_back(system.actors().spawn([&order, i](caf::event_based_actor*) -> caf::behavior {
      return {[&order, i](int) { order.push_back(i); }};
    }));
  }
  system.time().drain();
  for (const caf::actor& actor : actors) caf::anon_send(actor, 1);
  system.time().drain();
  for (const caf::actor& actor : actors) system.end(actor);
  return order;
}

TEST(VirtualTime, ShufflesRepeatably) {
  EXPECT_EQ(order_of_ten(1), order_of_ten(1));
  EXPECT_NE(order_of_ten(1), order_of_ten(2));
}

}  // namespace
}  // namespace muster
