#include "workers/process/keeper/replica_voice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workers/process/keeper/fake_shim.hpp"
#include "workers/process/progress.hpp"

namespace muster::process {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;

class ReplicaVoiceTest : public testing::Test {
 protected:
  /// Until the shim has heard that number of lines.
  bool hears(std::size_t lines) {
    return shim_.hear_until([&] {
      voice_.go_on();
      return shim_.lines.size() >= lines;
    });
  }
  /// All that is said without anything new.
  void settle() {
    for (int i = 0; i < 50; ++i) {
      voice_.go_on();
      shim_.hear_once(milliseconds{0});
    }
  }
  static KeeperPace pace() {
    KeeperPace pace;
    pace.reconnect = milliseconds{1};
    pace.say_again = hours{1};
    return pace;
  }

  test::FakeShim shim_;
  ReplicaVoice voice_{shim_.socket(), pace()};
};

TEST_F(ReplicaVoiceTest, PortsComeFirstAndThenTheState) {
  voice_.go_on();
  settle();
  EXPECT_THAT(shim_.lines, IsEmpty()) << "there is no state yet";
  ReplicaState state;
  state.ports = {{"http", 20'001}, {"admin", 20'002}};
  voice_.say(state, {});
  ASSERT_TRUE(hears(3));
  settle();
  EXPECT_THAT(shim_.lines, ElementsAre("port http 20001", "port admin 20002", "replica up 0 0 0"));
}

TEST_F(ReplicaVoiceTest, OnlyChangesAreSaid) {
  ReplicaState state;
  state.ready = true;
  voice_.say(state, {});
  settle();
  voice_.say(state, {});
  settle();
  state.trouble = "no answer";
  voice_.say(state, {});
  settle();
  state.trouble = "";
  state.ready = false;
  state.restarts = 3;
  state.exit_code = 137;
  voice_.say(state, {});
  settle();
  EXPECT_THAT(shim_.lines, ElementsAre("replica ready 0 0 0", "trouble no answer", "trouble ",
                                       "replica up 3 137 0"));
}

TEST_F(ReplicaVoiceTest, APauseIsSaidByTheTimeThatIsLeft) {
  ReplicaState state;
  state.pause = hours{2};
  voice_.say(state, boot_time() + hours{1});
  ASSERT_TRUE(hears(1));
  const std::string begin = "replica down 0 0 ";
  ASSERT_TRUE(shim_.lines[0].starts_with(begin));
  const auto left = std::stoll(shim_.lines[0].substr(begin.size()));
  EXPECT_GT(left, 0);
  EXPECT_LE(left, milliseconds(hours{1}).count());
  state.pause = hours{3};
  voice_.say(state, {});
  ASSERT_TRUE(hears(2));
  EXPECT_EQ(shim_.lines[1], begin + "1") << "it is about to end";
}

TEST_F(ReplicaVoiceTest, WhileAnAnswerIsAwaitedOnlyTheNewestStateIsKept) {
  ReplicaState state;
  voice_.say(state, {});
  voice_.go_on();
  for (state.restarts = 1; state.restarts < 1000; ++state.restarts) {
    voice_.say(state, {});
    voice_.go_on();
  }
  settle();
  EXPECT_THAT(shim_.lines, ElementsAre("replica up 0 0 0", "replica up 999 0 0"));
}

TEST_F(ReplicaVoiceTest, AShimThatComesBackHearsAllOfItAgain) {
  ReplicaState state;
  state.ports = {{"http", 20'001}};
  voice_.say(state, {});
  ASSERT_TRUE(hears(2));
  settle();
  shim_.close();
  state.restarts = 1;
  state.trouble = "exit code 1";
  voice_.say(state, {});
  settle();
  shim_.open();
  shim_.lines.clear();
  ASSERT_TRUE(hears(3));
  settle();
  EXPECT_THAT(shim_.lines,
              ElementsAre("port http 20001", "trouble exit code 1", "replica up 1 0 0"));
}

TEST_F(ReplicaVoiceTest, AShimThatRefusesIsToldAgain) {
  shim_.answer_by("error: not now\n");
  ReplicaState state;
  state.ports = {{"http", 20'001}};
  voice_.say(state, {});
  ASSERT_TRUE(hears(2));
  EXPECT_THAT(shim_.lines, ElementsAre("port http 20001", "port http 20001"));
  shim_.answer_by("ok\n");
  shim_.lines.clear();
  const auto is_said = [this] {
    voice_.go_on();
    return !shim_.line_with("replica").empty();
  };
  ASSERT_TRUE(shim_.hear_until(is_said));
}

TEST_F(ReplicaVoiceTest, AStateIsSaidAgainAfterAWhile) {
  KeeperPace often = pace();
  often.say_again = milliseconds{1};
  voice_ = ReplicaVoice(shim_.socket(), often);
  voice_.say({}, {});
  EXPECT_TRUE(hears(3));
  EXPECT_EQ(shim_.lines.back(), "replica up 0 0 0");
  EXPECT_LT(voice_.due(), Duration::max());
}

TEST_F(ReplicaVoiceTest, WithoutASocketNothingIsDue) {
  ReplicaVoice silent("", pace());
  silent.say({}, {});
  silent.go_on();
  EXPECT_EQ(silent.due(), Duration::max());
  ReplicaVoice lost("/" + std::string(200, 'x'), pace());
  lost.say({}, {});
  lost.go_on();
  EXPECT_LT(lost.due(), Duration::max()) << "it tries again";
}

}  // namespace
}  // namespace muster::process
