#include "workers/process/shim/shim_replica.hpp"

#include <gmock/gmock.h>

namespace muster::process {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::StartsWith;

constexpr Duration kNow = seconds{100};

ReplicaState told_in(std::string line) {
  line.pop_back();  // its line break
  return replica_from(line).value();
}

class ShimReplicaTest : public ::testing::Test {
 protected:
  void hear(const std::string& line) { EXPECT_EQ(replica_.hear(line, kNow), "ok\n") << line; }
  void refuse(const std::string& line) {
    const auto answer = replica_.hear(line, kNow);
    ASSERT_TRUE(answer) << line;
    EXPECT_THAT(*answer, StartsWith("error: ")) << line;
  }

  ShimReplica replica_{ServiceSpec{}};
};

TEST_F(ShimReplicaTest, PutsTheStateTogetherFromTheKeepersLines) {
  hear("port http 20001");
  hear("port admin 20002");
  hear("trouble GET /healthz: 503");
  hear("replica down 3 137 20000");
  const ReplicaState state = told_in(replica_.tell(kNow));
  EXPECT_FALSE(state.ready);
  EXPECT_EQ(state.restarts, 3U);
  EXPECT_EQ(state.exit_code, 137);
  EXPECT_EQ(state.pause, seconds{20});
  EXPECT_EQ(state.trouble, "GET /healthz: 503");
  EXPECT_THAT(state.ports, ElementsAre(ReplicaPort{"http", 20001}, ReplicaPort{"admin", 20002}));
}

TEST_F(ShimReplicaTest, TellsAChangeAtOnceAndTheNextOneAfterAnInterval) {
  EXPECT_FALSE(replica_.due());
  hear("replica up 0 0 0");
  EXPECT_FALSE(replica_.due()) << "a replica that is not ready is what one is at first";
  hear("replica ready 0 0 0");
  EXPECT_EQ(replica_.due(), kNow);
  replica_.tell(kNow);
  EXPECT_FALSE(replica_.due());
  EXPECT_EQ(replica_.hear("replica up 0 0 0", kNow + milliseconds{10}), "ok\n");
  EXPECT_EQ(replica_.due(), kNow + ShimReplica::kInterval);
}

TEST_F(ShimReplicaTest, WhatIsSaidAgainIsNotTold) {
  hear("replica ready 0 0 0");
  replica_.tell(kNow);
  hear("replica ready 0 0 0");
  EXPECT_FALSE(replica_.due());
}

TEST_F(ShimReplicaTest, RefusesLinesThatSayNoState) {
  refuse("replica sideways 0 0 0");
  refuse("replica ready 0 0");
  refuse("replica ready -1 0 0");
  refuse("replica ready 0 0 -5");
  refuse("replica ready 0 0 0 more");
  refuse("port http 70000");
  refuse("port HTTP 80");
  refuse("port http");
  EXPECT_FALSE(replica_.due());
}

TEST_F(ShimReplicaTest, LinesOfOtherKindsAreNotItsOwn) {
  EXPECT_FALSE(replica_.hear("progress 3", kNow));
  EXPECT_FALSE(replica_.hear("metric p99_ms 3", kNow));
}

TEST_F(ShimReplicaTest, HasNoMorePortsThanAServiceMayHave) {
  for (std::size_t i = 0; i < kMostPorts; ++i) hear("port p" + std::to_string(i) + " 20000");
  hear("port p0 20100");  // a known one may change
  refuse("port another 20001");
}

TEST_F(ShimReplicaTest, AProgramCannotSayItIsReadyWhereACheckSaysSo) {
  refuse("ready");
}

class ReadyByLineTest : public ShimReplicaTest {
 protected:
  ReadyByLineTest() {
    ServiceSpec spec;
    spec.ready.kind = CheckKind::line;
    replica_ = ShimReplica(spec);
    hear("replica up 0 0 0");
  }
};

TEST_F(ReadyByLineTest, TheProgramSaysThatItIsReadyAndThatItIsNot) {
  EXPECT_FALSE(replica_.state().ready);
  hear("ready");
  EXPECT_TRUE(replica_.state().ready);
  hear("unready");
  EXPECT_FALSE(replica_.state().ready);
}

TEST_F(ReadyByLineTest, AProgramThatWasStartedAgainHasToSaySoAgain) {
  hear("ready");
  hear("replica down 0 1 10000");
  EXPECT_FALSE(replica_.state().ready);
  hear("replica up 1 1 0");
  EXPECT_FALSE(replica_.state().ready);
  hear("ready");
  EXPECT_TRUE(replica_.state().ready);
}

TEST_F(ReadyByLineTest, ARestartAtOnceForgetsItToo) {
  hear("ready");
  hear("replica up 1 1 0");
  EXPECT_FALSE(replica_.state().ready);
}

TEST(ReplicaLine, IsReadAsItWasWritten) {
  ReplicaState state;
  state.ready = true;
  state.restarts = 7;
  state.exit_code = -3;
  state.pause = milliseconds{1500};
  state.trouble = "exit code 3";
  state.ports = {{"http", 20000}};
  EXPECT_EQ(told_in(replica_line(state)), state);
  EXPECT_EQ(told_in(replica_line(ReplicaState{})), ReplicaState{});
}

TEST(ReplicaLine, OfAnotherShapeIsNone) {
  for (const char* line : {"", "replica", "replica 1", "replica 1 0 0 0 9 a 1",
                           "replica 1 0 0 0 1 a", "replica 1 0 0 0 1 A 5", "replica 1 0 0 -1 0 ",
                           "replica x 0 0 0 0 ", "metrics 1 0 0 0 0 "}) {
    EXPECT_FALSE(replica_from(line)) << line;
  }
}

}  // namespace
}  // namespace muster::process
