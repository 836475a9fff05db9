#include "actors/link/relay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/actors/link/raw_peer.hpp"
#include "tests/actors/link/relay_world.hpp"
#include "tests/support/golden.hpp"

namespace muster {
namespace {

using test::basp_header;
using test::basp_message;
using test::IsGolden;
using test::RawPeer;
using test::RelayWorld;

const std::string kGreeting = basp_message(BaspOperation::server_handshake, 40);
const std::string kHello = basp_message(BaspOperation::client_handshake, 30);
const std::string kHeartbeat = basp_message(BaspOperation::heartbeat, 0);

TlsContext node_context(RelayWorld& world, const std::string& name = "n1") {
  return client_context(world.pki().node(name)).value();
}

/// Goes through a good session up to the node's first answer.
bool is_served(RawPeer& peer) {
  return peer.receive(kGreeting.size()) == kGreeting && peer.send(kHello) &&
         peer.receive(kHeartbeat.size()) == kHeartbeat;
}

bool is_served_by(RelayWorld& world) {
  RawPeer peer(world.port());
  return peer.start_tls(node_context(world)) && is_served(peer);
}

/// A peer that is sent away by its certificate, and for nothing else.
void expect_tls_refused(RelayWorld& world, const TlsContext& context) {
  RawPeer peer(world.port());
  peer.start_tls(context);
  EXPECT_TRUE(peer.is_closed_by_other());
  EXPECT_TRUE(world.counts(RelayEvent::tls_failed, 1));
  EXPECT_EQ(world.counters().of(RelayEvent::opened), 0u);
  EXPECT_EQ(world.node().bytes(), 0u);
  EXPECT_TRUE(is_served_by(world));
}

TEST(Relay, carries_both_directions_for_a_node_of_the_cluster) {
  RelayWorld world;
  RawPeer peer(world.port());
  ASSERT_TRUE(peer.start_tls(node_context(world)));
  EXPECT_TRUE(is_served(peer));
  EXPECT_TRUE(peer.send(basp_message(BaspOperation::direct_message, 1 << 20)));
  const std::uint64_t all = kHello.size() + kBaspHeaderBytes + (1 << 20);
  EXPECT_TRUE(RelayWorld::comes_true([&] { return world.node().bytes() == all; }));
  EXPECT_TRUE(RelayWorld::comes_true([&] { return world.counters().bytes_in == all; }));
  EXPECT_EQ(world.counters().headers_in, 2u);
  EXPECT_EQ(world.counters().of(RelayEvent::opened), 1u);
}

TEST(Relay, refuses_a_certificate_of_the_worker_authority) {
  RelayWorld world;
  expect_tls_refused(world, client_context(world.pki().worker("instance-1")).value());
}

TEST(Relay, refuses_a_certificate_of_another_cluster) {
  RelayWorld world;
  const test::ClusterPki other;
  TlsFiles files = other.node("n1");
  files.trusted = world.pki().authority(PkiRole::node);
  expect_tls_refused(world, client_context(files).value());
}

TEST(Relay, refuses_a_certificate_that_signed_itself) {
  RelayWorld world;
  TlsFiles files;
  files.certificate = world.pki().authority(PkiRole::worker);
  files.key = authority_key(world.pki().dir(), PkiRole::worker);
  files.trusted = world.pki().authority(PkiRole::node);
  expect_tls_refused(world, client_context(files).value());
}

TEST(Relay, refuses_an_expired_certificate) {
  RelayWorld world;
  const TlsContext context = node_context(world);
  // The own side would not load it either: put into a context that is already there.
  const TlsFiles expired = world.pki().node("n1", -30);
  context->use_certificate_file(expired.certificate.string(), asio::ssl::context::pem);
  context->use_private_key_file(expired.key.string(), asio::ssl::context::pem);
  expect_tls_refused(world, context);
}

TEST(Relay, refuses_a_peer_without_a_certificate) {
  RelayWorld world;
  expect_tls_refused(world, std::make_shared<asio::ssl::context>(asio::ssl::context::tls_client));
}

TEST(Relay, refuses_a_peer_that_does_not_speak_tls) {
  RelayWorld world;
  RawPeer peer(world.port());
  peer.send(kHello);
  EXPECT_TRUE(peer.is_closed_by_other());
  EXPECT_TRUE(world.counts(RelayEvent::tls_failed, 1));
  EXPECT_EQ(world.node().bytes(), 0u);
}

TEST(Relay, lets_in_only_the_nodes_of_its_list) {
  RelayWorld world([](RelayOptions& options) { options.allowed = {"n1", "n7"}; });
  RawPeer stranger(world.port());
  stranger.start_tls(node_context(world, "n2"));
  EXPECT_TRUE(stranger.is_closed_by_other());
  EXPECT_TRUE(world.counts(RelayEvent::name_not_allowed, 1));
  EXPECT_TRUE(is_served_by(world));
}

TEST(Relay, closes_at_a_bad_header_and_says_who_sent_it) {
  RelayWorld world;
  RawPeer peer(world.port());
  ASSERT_TRUE(peer.start_tls(node_context(world)));
  ASSERT_TRUE(is_served(peer));
  peer.send(basp_header(1, 0));
  EXPECT_TRUE(peer.is_closed_by_other());
  EXPECT_TRUE(world.counts(RelayEvent::bad_header, 1));
  EXPECT_EQ(world.node().bytes(), kHello.size());
  const auto is_told = [&] { return world.reports().back().event == RelayEvent::bad_header; };
  ASSERT_TRUE(RelayWorld::comes_true(is_told));
  const RelayReport last = world.reports().back();
  EXPECT_EQ(last.name, "n1");
  EXPECT_THAT(last.detail, testing::AllOf(testing::HasSubstr("header 2"), IsGolden()));
}

TEST(Relay, checks_what_comes_from_its_own_port_too) {
  RelayWorld world;
  world.node().greet_with(basp_header(0, 0));
  RawPeer peer(world.port());
  ASSERT_TRUE(peer.start_tls(node_context(world)));
  EXPECT_EQ(peer.receive(1), "");
  EXPECT_TRUE(world.counts(RelayEvent::bad_header, 1));
}

TEST(Relay, closes_a_peer_that_is_silent_before_its_tls_handshake) {
  RelayWorld world([](RelayOptions& o) { o.handshake_timeout = from_seconds(0.2); });
  RawPeer peer(world.port());
  EXPECT_TRUE(peer.is_closed_by_other());
  EXPECT_TRUE(world.counts(RelayEvent::handshake_timeout, 1));
}

TEST(Relay, closes_a_peer_whose_first_header_does_not_come) {
  RelayWorld world([](RelayOptions& o) { o.header_timeout = from_seconds(0.2); });
  RawPeer peer(world.port());
  ASSERT_TRUE(peer.start_tls(node_context(world)));
  peer.send(kHello.substr(0, 31));
  EXPECT_TRUE(peer.is_closed_by_other());
  EXPECT_TRUE(world.counts(RelayEvent::header_timeout, 1));
  EXPECT_EQ(world.node().bytes(), 0u);
}

TEST(Relay, closes_a_peer_that_falls_silent) {
  RelayWorld world([](RelayOptions& o) { o.idle_timeout = from_seconds(0.2); });
  RawPeer peer(world.port());
  ASSERT_TRUE(peer.start_tls(node_context(world)));
  ASSERT_TRUE(is_served(peer));
  EXPECT_TRUE(peer.is_closed_by_other());
  EXPECT_TRUE(world.counts(RelayEvent::idle, 1));
}

TEST(Relay, reads_no_more_than_its_buffer_when_the_node_takes_nothing) {
  RelayWorld world([](RelayOptions& o) {
    o.stall_timeout = from_seconds(1);
    o.max_payload_bytes = 512u << 20;
  });
  world.node().stop_reading();
  RawPeer peer(world.port());
  ASSERT_TRUE(peer.start_tls(node_context(world)));
  ASSERT_EQ(peer.receive(kGreeting.size()), kGreeting);
  peer.send(kHello + basp_header(2, 256u << 20));
  const std::string block(1 << 20, 'x');
  int sent = 0;
  while (sent < 256 && peer.send(block)) ++sent;
  EXPECT_LT(sent, 128);  // socket buffers of the system take a few
  EXPECT_TRUE(world.counts(RelayEvent::stalled, 1));
}

TEST(Relay, ends_the_other_side_when_one_has_gone) {
  RelayWorld world;
  {
    RawPeer peer(world.port());
    ASSERT_TRUE(peer.start_tls(node_context(world)));
    ASSERT_TRUE(is_served(peer));
    EXPECT_EQ(world.counters().open, 1u);
    peer.finish_sending();
    EXPECT_TRUE(peer.is_closed_by_other());
  }
  EXPECT_TRUE(RelayWorld::comes_true([&] { return world.counters().open == 0; }));
}

TEST(Relay, holds_its_limits_of_connections_and_takes_new_ones_afterwards) {
  struct Case {
    RelayEvent event;
    RelayWorld::Change change;
  };
  const std::vector<Case> cases{
      {RelayEvent::too_many, [](RelayOptions& o) { o.max_connections = 3; }},
      {RelayEvent::too_many_handshaking, [](RelayOptions& o) { o.max_handshaking = 3; }},
      {RelayEvent::too_many_of_address, [](RelayOptions& o) { o.max_per_address = 3; }}};
  for (const Case& each : cases) {
    RelayWorld world(each.change);
    {
      const RawPeer one(world.port());
      const RawPeer two(world.port());
      const RawPeer three(world.port());
      RawPeer four(world.port());
      EXPECT_TRUE(four.is_closed_by_other());
      EXPECT_TRUE(world.counts(each.event, 1)) << to_string(each.event);
    }
    EXPECT_TRUE(RelayWorld::comes_true([&] { return world.counters().open == 0; }));
    EXPECT_TRUE(is_served_by(world));
  }
}

TEST(Relay, says_when_its_own_port_does_not_answer) {
  RelayWorld world;
  test::Background thread;
  RelayOptions options;
  options.listen = {asio::ip::address_v4::loopback(), 0};
  options.tls = world.pki().node("n0");
  options.handshake_timeout = from_seconds(5);
  {
    asio::ip::tcp::acceptor taken(thread.io(), {asio::ip::address_v4::loopback(), 0});
    options.own_port = taken.local_endpoint();
  }
  auto relay = thread.run([&] { return Relay::start(thread.io(), options, nullptr); });
  ASSERT_TRUE(relay);
  RawPeer peer(relay.value()->port());
  peer.start_tls(node_context(world));
  EXPECT_TRUE(peer.is_closed_by_other());
  // The peer may see its end before the relay has counted it.
  EXPECT_TRUE(RelayWorld::comes_true(
      [&] { return relay.value()->counters().of(RelayEvent::own_port_failed) == 1; }));
  thread.run([&] { relay.value().reset(); });
}

TEST(Relay, bounds_the_reports_and_counts_everything) {
  RelayWorld world([](RelayOptions& o) { o.max_reports_per_s = 1; });
  for (int i = 0; i < 40; ++i) {
    RawPeer peer(world.port());
    peer.send("no TLS at all");
    EXPECT_TRUE(peer.is_closed_by_other());
  }
  EXPECT_TRUE(world.counts(RelayEvent::tls_failed, 40));
  EXPECT_LT(world.reports().size(), 40u);
}

TEST(Relay, takes_new_files_for_new_connections_and_keeps_good_ones) {
  RelayWorld world;
  EXPECT_TRUE(world.with_relay([](Relay& relay) { return relay.reload().has_value(); }));
  EXPECT_TRUE(is_served_by(world));
  std::filesystem::remove(world.pki().dir() / "nodes" / "n0.key");
  EXPECT_FALSE(world.with_relay([](Relay& relay) { return relay.reload().has_value(); }));
  EXPECT_TRUE(is_served_by(world));
}

TEST(Relay, works_without_tls_on_loopback_with_the_same_checks) {
  RelayWorld world([](RelayOptions& options) { options.plain = true; });
  RawPeer good(world.port());
  EXPECT_TRUE(is_served(good));
  RawPeer bad(world.port());
  EXPECT_EQ(bad.receive(kGreeting.size()), kGreeting);
  bad.send(basp_header(0, 0));
  EXPECT_TRUE(bad.is_closed_by_other());
  EXPECT_TRUE(world.counts(RelayEvent::bad_header, 1));
  EXPECT_EQ(world.node().bad_headers(), 0u);
}

TEST(Relay, does_not_start_where_it_must_not) {
  asio::io_context io;
  const test::ClusterPki pki;
  RelayOptions options;
  options.tls = pki.node("n0");
  options.listen = {asio::ip::make_address("0.0.0.0"), 0};
  options.own_port = {asio::ip::address_v4::loopback(), 1};
  EXPECT_TRUE(Relay::start(io, options, nullptr));

  const auto message = [&](const RelayOptions& wrong) {
    auto relay = Relay::start(io, wrong, nullptr);
    return relay ? std::string{} : relay.error().message;
  };
  RelayOptions wrong = options;
  wrong.plain = true;
  EXPECT_NE(message(wrong).find("loopback"), std::string::npos);
  wrong = options;
  wrong.own_port.address(asio::ip::make_address("192.0.2.1"));
  EXPECT_NE(message(wrong).find("loopback"), std::string::npos);
  wrong = options;
  wrong.max_connections = 0;
  EXPECT_NE(message(wrong).find("max_connections"), std::string::npos);
  wrong = options;
  wrong.tls.key = pki.node("n9").key;
  EXPECT_NE(message(wrong).find("is not the key of"), std::string::npos);
  auto holder = Relay::start(io, options, nullptr);
  wrong = options;
  wrong.listen.port(holder.value()->port());
  EXPECT_NE(message(wrong).find("cannot listen"), std::string::npos);
}

}  // namespace
}  // namespace muster
