#include "serve/node/peer_dialer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "tests/support/golden.hpp"
#include "tests/support/virtual_system.hpp"

namespace muster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::IsGolden;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::SizeIs;

/// A dialer whose connector and doors the test speaks for.
class PeerDialerTest : public ::testing::Test {
 protected:
  PeerDialerTest() {
    connector_ = system_.actors().spawn([this](caf::event_based_actor*) -> caf::behavior {
      return {[this](caf::connect_atom, const std::string&, std::uint16_t)
                  -> caf::result<caf::node_id, caf::strong_actor_ptr, std::set<std::string>> {
        dials_s_.push_back(to_seconds(system_.time().now()));
        if (!is_there_) return caf::sec::cannot_connect_to_node;
        handshakes_.push_back(spawn_handshake());
        return {system_.actors().node(), caf::actor_cast<caf::strong_actor_ptr>(handshakes_.back()),
                system_.actors().message_types<NodeActor>()};
      }};
    });
    PeerDialerSetup setup;
    setup.node = "n1";
    setup.connector = connector_;
    setup.link.reconnect = milliseconds{300};
    setup.link.request_timeout = seconds{10};
    setup.roles = std::make_shared<PeerRoles>(system_.actors());
    setup.own = NodeRoles{"n2", own_roster_, {}, {}, {}, false};
    setup.news = {[this](const std::string& text) { notes_.push_back(text); },
                  [this](const RosterOffer& offer) { offers_.push_back(offer); }};
    dialer_ = system_.actors().spawn<PeerDialer>(std::move(setup));
  }
  ~PeerDialerTest() override {
    for (const NodeActor& handshake : handshakes_) system_.end(handshake);
    handshakes_.clear();
    system_.end(dialer_);
    system_.end(connector_);
  }

  NodeActor spawn_handshake() {
    return system_.actors().spawn([answers = answers_, roster = other_roster_](
                                      NodeActor::pointer self) -> NodeActor::behavior_type {
      return {[answers, roster, self](roles_atom, const NodeRoles&) -> caf::result<NodeRoles> {
        if (!answers) return self->make_response_promise<NodeRoles>();
        return NodeRoles{"n1", roster, {}, {}, {}, true};
      }};
    });
  }

  test::VirtualSystem system_;
  bool is_there_ = true;
  bool answers_ = true;
  const ClusterRoster own_roster_ = with_names({}, {{"tokyo"}, {"m0"}});
  ClusterRoster other_roster_ = own_roster_;
  std::vector<RosterOffer> offers_;
  std::vector<double> dials_s_;
  std::vector<std::string> notes_;
  std::vector<NodeActor> handshakes_;
  caf::actor connector_;
  caf::actor dialer_;
};

TEST_F(PeerDialerTest, ConnectsAndAgainWhenTheLinkIsLost) {
  system_.run_until_s(1);
  EXPECT_THAT(notes_, ElementsAre("linked with n1"));
  system_.end(handshakes_[0]);
  system_.run_until_s(2);
  EXPECT_THAT(notes_,
              ElementsAre("linked with n1", AllOf(HasSubstr("n1"), IsGolden()), "linked with n1"));
  EXPECT_THAT(dials_s_, ElementsAre(0, 1.3));
}

TEST_F(PeerDialerTest, WaitsLongerAndLongerForANodeThatIsNotThereUpToABound) {
  is_there_ = false;
  system_.run_until_s(12);
  EXPECT_THAT(dials_s_, ElementsAre(0, 0.3, 0.9, 2.1, 4.5, 7.5, 10.5));
  is_there_ = true;
  system_.run_until_s(14);
  EXPECT_EQ(notes_.back(), "linked with n1");
}

TEST_F(PeerDialerTest, ADoorThatDoesNotAnswerAndThenDiesIsOneFailureAndNotTwo) {
  answers_ = false;
  system_.run_until_s(1);
  system_.end(handshakes_[0]);
  answers_ = true;
  system_.run_until_s(2);
  EXPECT_EQ(notes_.back(), "linked with n1");
  system_.run_until_s(30);  // the first door's question has timed out meanwhile
  EXPECT_EQ(notes_.back(), "linked with n1");
  EXPECT_THAT(dials_s_, SizeIs(2));
}

TEST_F(PeerDialerTest, TakesTheNumbersOfANodeThatHasMadeUseOfThem) {
  other_roster_ = with_names({}, {{"tokyo"}, {"m1", "m0"}});
  system_.run_until_s(0.1);
  ASSERT_THAT(offers_, SizeIs(1));
  EXPECT_EQ(offers_[0].node, "n1");
  EXPECT_EQ(offers_[0].roster, other_roster_);
  EXPECT_EQ(offers_[0].difference, "master m0 is number 0 in node n2 and number 1 in node n1");
  EXPECT_THAT(notes_,
              ElementsAre(AllOf(HasSubstr("n1"), EndsWith(offers_[0].difference), IsGolden())));
}

/// A node's door, and what a visitor with this roster is told there.
class NodeHandshakeTest : public ::testing::Test {
 protected:
  ~NodeHandshakeTest() override { system_.end(handshake_); }

  std::string visit(const ClusterRoster& own, const ClusterRoster& visitors,
                    bool own_numbered = true, bool visitors_numbered = true) {
    NodeRoles roles{"n0", own, {}, {}, {}, own_numbered};
    const Peers peers{{"n1", std::make_shared<PeerRoles>(system_.actors())}};
    handshake_ = system_.actors().spawn<NodeHandshake>(
        roles, peers,
        MeetingNews{[this](const std::string& text) { notes_.push_back(text); },
                    [this](const RosterOffer& offer) { offers_.push_back(offer); }});
    std::string told = "nothing";
    const auto visitor = system_.actors().spawn([&](caf::event_based_actor* self) {
      self->request(handshake_, caf::infinite, roles_atom_v,
                    NodeRoles{"n1", visitors, {}, {}, {}, visitors_numbered})
          .then([&](const NodeRoles& answer) { told = answer.node; },
                [&, self](const caf::error& error) { told = self->system().render(error); });
    });
    system_.time().drain();
    system_.end(visitor);
    return told;
  }

  test::VirtualSystem system_;
  NodeActor handshake_;
  std::vector<std::string> notes_;
  std::vector<RosterOffer> offers_;
};

TEST_F(NodeHandshakeTest, LetsInWhoHasTheSameRosterOrOneThatHasGrown) {
  const ClusterRoster roster = with_names({}, {{"tokyo"}, {"m0", "m1"}});
  EXPECT_EQ(visit(roster, with_names(roster, {{"london"}, {}})), "n0");
  EXPECT_THAT(notes_, ElementsAre("linked with n1"));
}

TEST_F(NodeHandshakeTest, TurnsAwayWhoNumbersAMasterInAnotherWayAndNamesBoth) {
  const std::string wrong = "master m0 is number 0 in node n0 and number 1 in node n1";
  const std::string told =
      visit(with_names({}, {{"tokyo"}, {"m0", "m1"}}), with_names({}, {{"tokyo"}, {"m1", "m0"}}));
  EXPECT_THAT(told, ::testing::HasSubstr(wrong));
  EXPECT_THAT(notes_, ElementsAre("turns n1 away: " + wrong));
  EXPECT_THAT(offers_, SizeIs(0));
}

TEST_F(NodeHandshakeTest, ANodeWithoutStateTakesTheNumbersOfAVisitorThatHasMadeUseOfIts) {
  const ClusterRoster visitors = with_names({}, {{"tokyo"}, {"m1", "m0"}});
  const std::string told = visit(with_names({}, {{"tokyo"}, {"m0", "m1"}}), visitors, false, true);
  EXPECT_THAT(told, ::testing::HasSubstr("master m0 is number 0")) << "there is no link before";
  ASSERT_THAT(offers_, SizeIs(1));
  EXPECT_EQ(offers_[0].roster, visitors);
}

TEST_F(NodeHandshakeTest, SaysItsNumbersToAVisitorThatHasToTakeThem) {
  for (const bool own_numbered : {true, false}) {
    EXPECT_EQ(visit(with_names({}, {{"tokyo"}, {"m0", "m1"}}),
                    with_names({}, {{"tokyo"}, {"m1", "m0"}}), own_numbered, false),
              "n0")
        << "of two without state the one whose name comes first keeps its numbers";
    EXPECT_THAT(offers_, SizeIs(0));
    system_.end(handshake_);
  }
}

}  // namespace
}  // namespace muster
