#include "serve/notify/postman.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <thread>

namespace muster::notify {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::Not;

/// The test fails when it takes for ever.
template <class Condition>
bool comes_true(Condition condition) {
  for (int i = 0; i < 3'000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(milliseconds{10});
  }
  return false;
}

struct PostmanTest : ::testing::Test {
  std::mutex mutex;
  std::map<std::string, int> tries;  ///< by the letter's id
  std::vector<std::string> given_up;
  std::atomic<int> settled{0};
  std::atomic<std::int64_t> ticks{0};  ///< of a clock that goes on with each look at it
  /// How a try ends, by the address.
  std::function<Delivery(const Letter&, int attempt)> answer = [](const Letter&, int) -> Delivery {
    return {true, {}, {}};
  };

  Postman::Host host() {
    return {[this](const Letter& letter) {
              int attempt = 0;
              {
                const std::lock_guard lock(mutex);
                attempt = ++tries[letter.id];
              }
              return answer(letter, attempt);
            },
            [this] { return Instant{milliseconds{++ticks}}; },
            [this](const Letter& letter, std::uint32_t, const std::string&) {
              const std::lock_guard lock(mutex);
              given_up.push_back(letter.id);
            }};
  }
  static Outbox::Bounds bounds() {
    return {.tries = 3,
            .age = hours{1},
            .retry = milliseconds{1},
            .retry_longest = milliseconds{4},
            .of_user = 2,
            .at_receiver = 2};
  }
  void send(Postman& postman, const std::string& id, const std::string& to) {
    postman.send({id, "ann", to, host().now(), JobsAreOver{}}, [this] { ++settled; });
  }
};

TEST_F(PostmanTest, TriesAgainUntilALetterArrives) {
  answer = [](const Letter&, int attempt) -> Delivery {
    return {attempt == 3, "it answered 500", {}};
  };
  Postman postman(bounds(), 4, host());
  for (int i = 0; i < 3; ++i) send(postman, std::to_string(i), "me@a.org");
  EXPECT_TRUE(comes_true([&] { return settled == 3; }));
  EXPECT_TRUE(comes_true([&] { return postman.figures().sent == 3; }));
  EXPECT_EQ(postman.figures().failed_tries, 6u);
  EXPECT_EQ(postman.figures().given_up, 0u);
  EXPECT_EQ(postman.figures().waiting, 0u);
}

TEST_F(PostmanTest, GivesUpAndSaysSoWithoutTheAddress) {
  answer = [](const Letter&, int) -> Delivery { return {false, "it answered 500", {}}; };
  Postman postman(bounds(), 4, host());
  EXPECT_EQ(postman.trouble(), "");
  send(postman, "1", "https://a.org/s3cr3t");
  EXPECT_TRUE(comes_true([&] { return postman.figures().given_up == 1; }));
  EXPECT_EQ(settled, 1);
  EXPECT_THAT(postman.trouble(), HasSubstr("a.org"));
  EXPECT_THAT(postman.trouble(), Not(HasSubstr("s3cr3t")));
  const std::lock_guard lock(mutex);
  EXPECT_THAT(given_up, ::testing::ElementsAre("1"));
}

TEST_F(PostmanTest, LetsNoReceiverThatHangsKeepAnotherWaiting) {
  std::atomic<bool> hangs{true};
  answer = [&](const Letter& letter, int) -> Delivery {
    while (hangs && letter.to == "me@dead.org") std::this_thread::sleep_for(milliseconds{1});
    return {true, {}, {}};
  };
  Postman postman(bounds(), 4, host());
  for (int i = 0; i < 10; ++i) send(postman, "dead " + std::to_string(i), "me@dead.org");
  postman.send({"1", "bob", "me@a.org", host().now(), JobsAreOver{}}, [this] { ++settled; });
  EXPECT_TRUE(comes_true([&] { return settled == 1; }));
  hangs = false;
  EXPECT_TRUE(comes_true([&] { return settled == 11; }));
}

TEST_F(PostmanTest, EndsWithLettersThatWait) {
  answer = [](const Letter&, int) -> Delivery { return {false, "it answered 500", {}}; };
  Outbox::Bounds slow = bounds();
  slow.retry = slow.retry_longest = hours{1};
  {
    Postman postman(slow, 4, host());
    send(postman, "1", "me@a.org");
    EXPECT_TRUE(comes_true([&] { return postman.figures().failed_tries == 1; }));
  }
  EXPECT_EQ(settled, 0) << "its sender's store has it still";
}

}  // namespace
}  // namespace muster::notify
