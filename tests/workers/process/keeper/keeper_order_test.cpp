#include "workers/process/keeper/keeper_order.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace muster::process {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

KeeperOrder whole_order() {
  KeeperOrder order;
  order.service.ports = {"http", "admin"};
  order.service.ready = {.kind = CheckKind::http,
                         .port = "http",
                         .path = "/healthz?full=\"yes\"",
                         .command = {},
                         .every = milliseconds{1500},
                         .timeout = milliseconds{250},
                         .successes = 2,
                         .failures = 4};
  order.service.alive.kind = CheckKind::command;
  order.service.alive.command = {"./check", "two words\n", "ü"};
  order.service.goal.metric = "p99_ms";
  order.service.goal.probe = {"./probe", "-q"};
  order.service.goal.every = minutes{1};
  order.service.start_within = minutes{2};
  order.service.drain = seconds{10};
  order.first_port = 20'000;
  order.last_port = 29'999;
  order.stop_grace = seconds{30};
  return order;
}

TEST(KeeperOrder, ATextIsReadAsItWasWritten) {
  const std::string text = to_text(whole_order());
  EXPECT_EQ(text.find('\n'), std::string::npos) << "it is one word of a command line";
  EXPECT_EQ(keeper_order_from(text), whole_order());
  for (const CheckKind kind : kAllOf<CheckKind>) {
    KeeperOrder order = whole_order();
    order.service.ready.kind = kind;
    order.service.ready.command = {"true"};
    EXPECT_EQ(keeper_order_from(to_text(order)), order) << name_of(kind);
  }
}

TEST(KeeperOrder, AnOrderWithoutPortsNeedsNoRange) {
  const KeeperOrder order;
  EXPECT_EQ(keeper_order_from(to_text(order)), order);
}

TEST(KeeperOrder, EveryCutTextIsRefused) {
  const std::string text = to_text(whole_order());
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(keeper_order_from(text.substr(0, size))) << size;
  }
}

TEST(KeeperOrder, MembersOfAnotherKindAreRefused) {
  const std::string text = to_text(whole_order());
  const auto with = [&text](const std::string& part, const std::string& other) {
    std::string changed = text;
    const std::size_t at = changed.find(part);
    EXPECT_NE(at, std::string::npos) << part;
    return changed.replace(at, part.size(), other);
  };
  EXPECT_FALSE(keeper_order_from(with("\"http\",\"path\"", "\"smtp\",\"path\"")));
  EXPECT_FALSE(keeper_order_from(with("\"kind\":\"http\"", "\"kind\":\"gopher\"")));
  EXPECT_FALSE(keeper_order_from(with("\"successes\":2", "\"successes\":-2")));
  EXPECT_FALSE(keeper_order_from(with("\"successes\":2", "\"successes\":5000000000")));
  EXPECT_FALSE(keeper_order_from(with("\"drain_ns\":1", "\"drain_ns\":9999999991")));
  EXPECT_FALSE(keeper_order_from(with("\"ports\":[\"http\",", "\"ports\":[7,")));
  EXPECT_FALSE(keeper_order_from(with("\"stop_grace_ns\"", "\"grace\"")));
  EXPECT_FALSE(keeper_order_from("[]"));
  EXPECT_FALSE(keeper_order_from("7"));
}

TEST(KeeperOrder, OrdersThatCannotBeFollowedAreRefused) {
  const std::vector<std::function<void(KeeperOrder&)>> faults{
      [](KeeperOrder& order) { order.service.ready.port = "data"; },
      [](KeeperOrder& order) { order.service.ready.path = "healthz"; },
      [](KeeperOrder& order) { order.service.ready.path = "/a\r\nHost: b"; },
      [](KeeperOrder& order) { order.service.ready.path = "/a b"; },
      [](KeeperOrder& order) { order.service.ready.every = {}; },
      [](KeeperOrder& order) { order.service.alive.timeout = {}; },
      [](KeeperOrder& order) { order.service.alive.command.clear(); },
      [](KeeperOrder& order) { order.service.start_within = {}; },
      [](KeeperOrder& order) { order.service.goal.every = {}; },
      [](KeeperOrder& order) { order.service.goal.metric = "p99 ms"; },
      [](KeeperOrder& order) { order.service.ports.emplace_back("no name"); },
      [](KeeperOrder& order) { order.first_port = 0; },
      [](KeeperOrder& order) { order.last_port = 65'536; },
      [](KeeperOrder& order) { order.first_port = order.last_port + 1; }};
  for (std::size_t i = 0; i < faults.size(); ++i) {
    KeeperOrder order = whole_order();
    faults[i](order);
    EXPECT_FALSE(keeper_order_from(to_text(order))) << i;
  }
}

TEST(KeeperOrder, BytesThatAreNoTextGiveNoOrder) {
  KeeperOrder order = whole_order();
  order.service.alive.command = {"\xff"};
  EXPECT_EQ(to_text(order), "");
}

}  // namespace
}  // namespace muster::process
