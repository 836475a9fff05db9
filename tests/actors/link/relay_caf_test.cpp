#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <caf/io/basp/header.hpp>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>

#include "actors/link/basp_header.hpp"
#include "tests/actors/link/caf_node.hpp"
#include "tests/actors/link/cluster_pki.hpp"
#include "tests/support/places.hpp"

namespace muster {
namespace {

using namespace std::chrono_literals;
using test::ClusterPki;

/// Far beyond what an answer takes on a busy machine: only a fault lets a test wait for it.
constexpr auto kPatience = 60s;

/// tests/actors/link/caf_node.cpp, running.
class OtherNode {
 public:
  OtherNode(const TlsFiles& files, std::uint16_t port) {
    std::array<int, 2> ends{};
    MUSTER_CHECK(pipe2(ends.data(), O_CLOEXEC) == 0, "no pipe");
    const std::string program = test::built_program("caf_node");
    std::array<std::string, 5> words{program, files.certificate, files.key, files.trusted,
                                     std::to_string(port)};
    std::array<char*, 6> args{};
    std::ranges::transform(words, args.begin(), [](std::string& word) { return word.data(); });
    posix_spawn_file_actions_t actions{};
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    MUSTER_CHECK(posix_spawn(&pid_, program.c_str(), &actions, nullptr, args.data(), environ) == 0,
                 "the node does not start");
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    std::array<char, 16> said{};
    if (read(ends[0], said.data(), said.size() - 1) > 0) {
      port_ = static_cast<std::uint16_t>(std::atoi(said.data()));
    }
    close(ends[0]);
  }
  ~OtherNode() { kill_now(); }
  OtherNode(const OtherNode&) = delete;
  OtherNode& operator=(const OtherNode&) = delete;

  std::uint16_t port() const { return port_; }
  void kill_now() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_ = 0;
  std::uint16_t port_ = 0;
};

caf::strong_actor_ptr dial(caf::scoped_actor& self, std::uint16_t port) {
  const auto middleman =
      caf::actor_cast<caf::actor>(self->home_system().openssl_manager().actor_handle());
  caf::strong_actor_ptr found;
  self->request(middleman, kPatience, caf::connect_atom_v, std::string("127.0.0.1"), port)
      .receive([&](const caf::node_id&, caf::strong_actor_ptr& there,
                   const std::set<std::string>&) { found = there; },
               [](const caf::error&) {});
  return found;
}

std::optional<int> add(caf::scoped_actor& self, const caf::actor& there, int a, int b,
                       std::chrono::seconds patience = kPatience) {
  std::optional<int> sum;
  self->request(there, patience, a, b)
      .receive([&](int answer) { sum = answer; }, [](const caf::error&) {});
  return sum;
}

/// CAF may answer a dial just after a loss with the handle of the lost link: then it is tried
/// again.
std::optional<int> add_on_new_link(caf::scoped_actor& self, std::uint16_t port, int a, int b) {
  for (int i = 0; i < 20; ++i) {
    const auto there = caf::actor_cast<caf::actor>(dial(self, port));
    const auto sum = there ? add(self, there, a, b, 3s) : std::nullopt;
    if (sum) return sum;
    std::this_thread::sleep_for(200ms);
  }
  return std::nullopt;
}

TEST(RelayBeforeCaf, carries_requests_and_survives_a_killed_node_that_comes_back) {
  const ClusterPki pki;
  OtherNode other(pki.node("n1"), 0);
  const std::uint16_t port = other.port();
  ASSERT_NE(port, 0);
  test::CafNodeConfig config(pki.node("n2"));
  caf::actor_system system(config);
  caf::scoped_actor self(system);

  const auto there = caf::actor_cast<caf::actor>(dial(self, port));
  ASSERT_TRUE(there);
  EXPECT_EQ(add(self, there, 20, 22), 42);
  std::optional<int> size;
  self->request(there, kPatience, std::string(3 << 20, 'x'))
      .receive([&](int answer) { size = answer; }, [](const caf::error&) {});
  EXPECT_EQ(size, 3 << 20);

  self->monitor(there);
  other.kill_now();
  bool down = false;
  self->receive([&](const caf::down_msg&) { down = true; }, caf::after(kPatience) >> [] {});
  EXPECT_TRUE(down);

  const OtherNode restarted(pki.node("n1"), port);
  ASSERT_EQ(restarted.port(), port);
  EXPECT_EQ(add_on_new_link(self, port, 1, 2), 3);
}

TEST(RelayBeforeCaf, carries_requests_of_the_node_that_was_dialled) {
  const ClusterPki pki;
  const OtherNode other(pki.node("n1"), 0);
  test::CafNodeConfig config(pki.node("n2"));
  caf::actor_system system(config);
  caf::scoped_actor self(system);
  const auto there = caf::actor_cast<caf::actor>(dial(self, other.port()));
  ASSERT_TRUE(there);
  const caf::actor own = system.spawn([](caf::event_based_actor*) -> caf::behavior {
    return {[](int a, int b) { return a * b; }};
  });
  std::optional<int> product;
  self->request(there, kPatience, own)
      .receive([&](int answer) { product = answer; }, [](const caf::error&) {});
  EXPECT_EQ(product, 30);
  caf::anon_send_exit(own, caf::exit_reason::user_shutdown);
}

TEST(RelayBeforeCaf, closes_a_message_above_the_bound_and_the_node_goes_on) {
  const ClusterPki pki;
  const OtherNode other(pki.node("n1"), 0);
  test::CafNodeConfig config(pki.node("n2"));
  caf::actor_system system(config);
  caf::scoped_actor self(system);
  const auto there = caf::actor_cast<caf::actor>(dial(self, other.port()));
  ASSERT_TRUE(there);

  self->monitor(there);
  self->send(there, std::string(5 << 20, 'x'));
  bool down = false;
  self->receive([&](const caf::down_msg&) { down = true; }, caf::after(kPatience) >> [] {});
  EXPECT_TRUE(down);
  EXPECT_EQ(add_on_new_link(self, other.port(), 1, 2), 3);
}

TEST(RelayBeforeCaf, refuses_a_caf_node_with_a_certificate_of_the_worker_authority) {
  const ClusterPki pki;
  const OtherNode other(pki.node("n1"), 0);
  test::CafNodeConfig config(pki.worker("instance-1"));
  caf::actor_system system(config);
  caf::scoped_actor self(system);
  EXPECT_FALSE(dial(self, other.port()));
}

TEST(RelayBeforeCaf, lets_nothing_pass_that_caf_itself_takes_for_invalid) {
  std::mt19937 draw(7);
  int passed = 0;
  for (int i = 0; i < 200000; ++i) {
    std::array<std::uint8_t, kBaspHeaderBytes> bytes{};
    bytes[0] = static_cast<std::uint8_t>(draw() % 9);
    bytes[3] = static_cast<std::uint8_t>(draw() % 6);
    bytes[7] = static_cast<std::uint8_t>(draw() % 3);
    const auto sender = draw() % 2 == 0 ? BaspSender::connecting : BaspSender::accepting;
    if (BaspChecker(sender, 4u << 20).look(bytes).pass == 0) continue;
    ++passed;
    const BaspHeader header = read_basp_header(bytes);
    // The fields that the relay does not judge are those of a message that CAF could have written.
    const bool handshake = header.operation < 2;
    const caf::io::basp::header theirs{static_cast<caf::io::basp::message_type>(header.operation),
                                       header.flags,
                                       header.payload_bytes,
                                       header.operation == 0 ? 3u : 0u,
                                       0,
                                       handshake ? 0u : 1u};
    EXPECT_TRUE(caf::io::basp::valid(theirs)) << int{header.operation};
  }
  EXPECT_GT(passed, 1000);
}

}  // namespace
}  // namespace muster
