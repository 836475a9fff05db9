#include "serve/notify/outbox.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <set>

namespace muster::notify {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const Delivery kArrived{true, {}, {}};
const Delivery kFailed{false, "it answered 500", {}};

struct OutboxTest : ::testing::Test {
  Outbox outbox{{.tries = 3,
                 .age = hours{1},
                 .retry = seconds{5},
                 .retry_longest = seconds{15},
                 .of_user = 4,
                 .at_receiver = 2}};
  Instant now{seconds{100'000}};
  std::vector<Outbox::Entry> given_up;
  std::vector<std::string> settled;

  void add(const std::string& id, const std::string& user, const std::string& to) {
    Letter letter;
    letter.id = id;
    letter.user = user;
    letter.to = to;
    letter.at = now;
    outbox.add(std::move(letter), [this, id] { settled.push_back(id); });
  }
  std::optional<Outbox::Entry> take() { return outbox.take(now, given_up); }
  /// Ids of all that may be tried now.
  std::vector<std::string> take_all(std::vector<Outbox::Entry>& taken) {
    std::vector<std::string> ids;
    while (auto entry = take()) {
      ids.push_back(entry->letter.id);
      taken.push_back(*std::move(entry));
    }
    return ids;
  }
};

TEST_F(OutboxTest, GivesLettersInTheirOrder) {
  add("1", "ann", "me@a.org");
  add("2", "ann", "me@a.org");
  auto first = take();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->letter.id, "1");
  EXPECT_FALSE(outbox.put_back(*std::move(first), kArrived, now));
  EXPECT_EQ(take()->letter.id, "2");
  EXPECT_EQ(outbox.waiting(), 1u) << "the one under way";
}

TEST_F(OutboxTest, RestsAfterAFailureTwiceAsLongEachTime) {
  add("1", "ann", "me@a.org");
  std::vector<Duration> rests;
  for (int i = 0; i < 2; ++i) {
    auto entry = take();
    ASSERT_TRUE(entry);
    EXPECT_FALSE(outbox.put_back(*std::move(entry), kFailed, now));
    EXPECT_FALSE(take());
    rests.push_back(*outbox.rests_until() - now);
    now = *outbox.rests_until();
  }
  EXPECT_THAT(rests, ElementsAre(seconds{5}, seconds{10}));
  auto last = take();
  ASSERT_TRUE(last);
  const auto lost = outbox.put_back(*std::move(last), kFailed, now);
  ASSERT_TRUE(lost) << "after the third try";
  EXPECT_EQ(lost->tries, 3u);
  EXPECT_EQ(lost->why, kFailed.why);
  EXPECT_EQ(outbox.waiting(), 0u);
}

TEST_F(OutboxTest, RestsNoLongerThanItsBoundWhateverAReceiverAsksFor) {
  add("1", "ann", "me@a.org");
  auto entry = take();
  outbox.put_back(*std::move(entry), {false, "it answered 429", seconds{12}}, now);
  EXPECT_EQ(*outbox.rests_until() - now, seconds{12});
  now = *outbox.rests_until();
  entry = take();
  outbox.put_back(*std::move(entry), {false, "it answered 429", hours{24}}, now);
  EXPECT_EQ(*outbox.rests_until() - now, seconds{15});
}

TEST_F(OutboxTest, TriesTheOthersOfALaneBeforeTheOneThatFailed) {
  add("bad", "ann", "me@a.org");
  add("good", "ann", "me@a.org");
  auto entry = take();
  ASSERT_EQ(entry->letter.id, "bad");
  outbox.put_back(*std::move(entry), kFailed, now);
  EXPECT_FALSE(take()) << "the receiver rests";
  now += seconds{5};
  entry = take();
  ASSERT_EQ(entry->letter.id, "good");
  EXPECT_FALSE(take()) << "one at a time, after a failure";
  outbox.put_back(*std::move(entry), kArrived, now);
  EXPECT_EQ(take()->letter.id, "bad");
}

TEST_F(OutboxTest, GivesUpWhatIsTooOld) {
  add("1", "ann", "me@a.org");
  add("2", "ann", "me@a.org");
  now += hours{1} + seconds{1};
  add("3", "ann", "me@a.org");
  auto entry = take();
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->letter.id, "3");
  ASSERT_EQ(given_up.size(), 2u);
  EXPECT_EQ(given_up[0].tries, 0u);
  EXPECT_EQ(outbox.waiting(), 1u);
}

TEST_F(OutboxTest, HasAFewUnderWayOfAUserAndAtAReceiver) {
  for (int host = 0; host < 5; ++host) {
    for (int i = 0; i < 5; ++i) {
      add("ann-" + std::to_string(host), "ann", "https://h" + std::to_string(host) + ".org/");
    }
  }
  add("bob-0", "bob", "https://h0.org/b");
  add("bob-9", "bob", "https://h9.org/b");
  std::vector<Outbox::Entry> taken;
  take_all(taken);
  std::map<std::string, int> of_user, at_host;
  for (const auto& each : taken) {
    ++of_user[each.letter.user];
    ++at_host[receiver_of(each.letter.to)];
  }
  EXPECT_EQ(of_user["ann"], 4);
  EXPECT_GE(of_user["bob"], 1);
  for (const auto& [host, count] : at_host) EXPECT_LE(count, 2) << host;
}

TEST_F(OutboxTest, TakesTurnsBetweenUsersThatWaitForOneReceiver) {
  for (int i = 0; i < 1'000; ++i) {
    add("ann", "ann", "https://hooks.org/" + std::to_string(i));
  }
  std::vector<Outbox::Entry> taken;
  take_all(taken);
  ASSERT_EQ(taken.size(), 2u);
  add("bob", "bob", "https://hooks.org/bob");
  EXPECT_FALSE(take());
  std::size_t tries = 0;
  for (bool bobs = false; !bobs; ++tries) {
    ASSERT_LT(tries, 4u) << "behind a thousand of another";
    outbox.put_back(std::move(taken.back()), kFailed, now);
    taken.pop_back();
    for (const std::string& id : take_all(taken)) bobs |= id == "bob";
  }
}

/// A hundred thousand jobs of a user with a dead receiver end at once.
TEST_F(OutboxTest, CostsADeadReceiverATryNowAndThen) {
  constexpr std::size_t kMany = 100'000;
  for (std::size_t i = 0; i < kMany; ++i) add("ann", "ann", "https://dead.org/");
  std::size_t tries = 0, of_bob = 0;
  const Instant end = now + minutes{10};
  while (now < end) {
    add("bob", "bob", "https://alive.org/");
    while (auto entry = take()) {
      const bool is_bob = entry->letter.user == "bob";
      is_bob ? ++of_bob : ++tries;
      outbox.put_back(*std::move(entry), is_bob ? kArrived : kFailed, now);
    }
    now += seconds{1};
  }
  EXPECT_EQ(of_bob, 600u) << "each at once";
  EXPECT_LT(tries, 60u);
  now += hours{1};
  while (outbox.waiting() > 0) {
    given_up.clear();
    ASSERT_FALSE(take());
    // A lane that rests still is looked at when it has rested.
    if (given_up.empty()) now += seconds{15};
  }
}

/// In any order of events no letter is lost and no bound is passed.
TEST_F(OutboxTest, SettlesEachLetterOnce) {
  std::uint64_t state = 1;
  const auto draw = [&](std::uint64_t most) {
    state = state * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
    return (state >> 33U) % most;
  };
  std::size_t added = 0, ended = 0;
  std::vector<Outbox::Entry> taken;
  for (int step = 0; step < 20'000; ++step) {
    const auto what = draw(4);
    if (what == 0 && step < 15'000) {
      add(std::to_string(added++), "u" + std::to_string(draw(5)),
          "https://h" + std::to_string(draw(4)) + ".org/" + std::to_string(draw(3)));
    } else if (what == 1) {
      given_up.clear();
      if (auto entry = take()) taken.push_back(*std::move(entry));
      ended += given_up.size();
    } else if (what == 2 && !taken.empty()) {
      std::swap(taken[draw(taken.size())], taken.back());
      const Delivery& delivery = draw(2) == 0 ? kArrived : kFailed;
      const bool lost = outbox.put_back(std::move(taken.back()), delivery, now).has_value();
      ended += lost || delivery.arrived;
      taken.pop_back();
    } else {
      now += seconds{draw(3)};
    }
    std::map<std::string, std::uint32_t> of_user, at_host;
    for (const auto& each : taken) {
      ASSERT_LE(++of_user[each.letter.user], 4u);
      ASSERT_LE(++at_host[receiver_of(each.letter.to)], 2u);
    }
    ASSERT_EQ(outbox.waiting(), added - ended);
  }
  while (outbox.waiting() > 0) {
    given_up.clear();
    while (auto entry = take()) taken.push_back(*std::move(entry));
    ended += given_up.size();
    for (auto& each : taken) outbox.put_back(std::move(each), kArrived, now), ++ended;
    taken.clear();
    now += seconds{15};
  }
  EXPECT_EQ(ended, added);
  EXPECT_FALSE(outbox.rests_until());
}

TEST(Receivers, AreHostsAndDomains) {
  EXPECT_EQ(receiver_of("https://Example.org:8443/x?y"), "example.org");
  EXPECT_EQ(receiver_of("me@Example.org"), "example.org");
}

}  // namespace
}  // namespace muster::notify
