// Hostile bytes against the relay: relay_fuzz [SESSIONS] [SEED] (or MUSTER_FUZZ_SESSIONS).
// Eight attackers run mutated sessions, before and behind TLS; the program fails when the relay
// does not answer a good session, passes a harmful header on, keeps a connection or descriptor, or
// grows.

#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/actors/link/raw_peer.hpp"
#include "tests/actors/link/relay_world.hpp"

namespace muster::test {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr std::int64_t kMaxGrowthKib = 400 << 10;  // freed memory rests in the quarantine
#else
constexpr std::int64_t kMaxGrowthKib = 64 << 10;
#endif
constexpr int kAttackers = 8;
constexpr int kRounds = 10;

std::int64_t resident_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::atoll(line.c_str() + 6);
  }
  return 0;
}

std::ptrdiff_t descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return std::distance(begin(all), end(all));
}

std::string good_session() {
  return basp_message(BaspOperation::client_handshake, 30) +
         basp_message(BaspOperation::direct_message, 200) +
         basp_message(BaspOperation::heartbeat, 0) +
         basp_message(BaspOperation::monitor_message, 50) +
         basp_message(BaspOperation::routed_message, 3000);
}

/// The first bytes of a client that begins TLS in earnest.
std::string client_hello(const TlsContext& context) {
  const std::unique_ptr<SSL, decltype(&SSL_free)> tls(SSL_new(context->native_handle()), &SSL_free);
  SSL_set_bio(tls.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  SSL_connect(tls.get());
  char* data = nullptr;
  const long size = BIO_get_mem_data(SSL_get_wbio(tls.get()), &data);
  return {data, static_cast<std::size_t>(size)};
}

class Attacker {
 public:
  struct Target {
    std::uint16_t port;
    TlsContext node;
    TlsContext worker;
    std::string hello;
  };

  Attacker(const Target& target, std::uint64_t seed) : target_(target), draw_(seed) {}

  void run(int sessions) {
    for (int i = 0; i < sessions; ++i) attack();
  }

 private:
  std::size_t below(std::size_t bound) { return draw_() % bound; }

  void attack() {
    RawPeer peer(target_.port);
    if (!peer.connected()) return;
    if (below(4) != 0) peer.reset();
    const std::size_t kind = below(10);
    if (kind < 3) {
      peer.send(random_bytes(below(3000)));
    } else if (kind < 6) {
      std::string hello = target_.hello;
      if (below(2) == 0) hello.resize(below(hello.size()));
      if (below(2) == 0 && !hello.empty()) hello[below(hello.size())] ^= static_cast<char>(draw_());
      peer.send(hello + random_bytes(below(100)));
    } else if (kind == 6) {
      if (peer.start_tls(target_.worker)) peer.send(good_session());
    } else {
      behind_tls(peer);
    }
    if (below(8) == 0) peer.finish_sending();
    if (below(32) == 0) peer.is_closed_by_other();
  }

  void behind_tls(RawPeer& peer) {
    if (!peer.start_tls(target_.node)) return;
    std::string session = good_session();
    for (std::size_t i = below(4); i > 0; --i) mutate(session);
    const std::size_t chunk = 1 + below(below(2) == 0 ? 40 : 4000);
    for (std::size_t at = 0; at < session.size(); at += chunk) {
      if (!peer.send(std::string_view(session).substr(at, chunk))) return;
      if (below(200) == 0) std::this_thread::sleep_for(std::chrono::milliseconds{2});
    }
    if (below(2) == 0) peer.receive(72);
  }

  void mutate(std::string& session) {
    static constexpr std::array<std::size_t, 5> kHeaders{0, 62, 294, 326, 408};
    if (session.empty()) return;
    const std::size_t header = std::min(kHeaders[below(kHeaders.size())], session.size() - 1);
    switch (below(7)) {
      case 0:
        session[below(session.size())] ^= static_cast<char>(1 << below(8));
        break;
      case 1:
        set_length(session, header, below(2) == 0 ? 0 : static_cast<std::uint32_t>(draw_()));
        break;
      case 2:
        session[header] = static_cast<char>(below(9));
        break;
      case 3:
        session.resize(below(session.size()));
        break;
      case 4:
        session.insert(below(session.size()), random_bytes(1 + below(64)));
        break;
      case 5:
        session.erase(below(session.size()), 1 + below(64));
        break;
      default:
        session += basp_header(static_cast<std::uint8_t>(below(8)),
                               static_cast<std::uint32_t>(below(2) * draw_()));
    }
  }

  static void set_length(std::string& session, std::size_t header, std::uint32_t length) {
    for (std::size_t i = 0; i < 4 && header + 7 - i < session.size(); ++i) {
      session[header + 7 - i] = static_cast<char>(length >> (8 * i));
    }
  }

  std::string random_bytes(std::size_t size) {
    std::string bytes(size, '\0');
    std::ranges::generate(bytes, [this] { return static_cast<char>(draw_()); });
    return bytes;
  }

  const Target& target_;
  std::mt19937_64 draw_;
};

bool answers_a_good_session(const RelayWorld& world, const TlsContext& context) {
  RawPeer peer(world.port());
  if (!peer.connected() || !peer.start_tls(context)) return false;
  const std::string greeting = basp_message(BaspOperation::server_handshake, 40);
  if (peer.receive(greeting.size()) != greeting) return false;
  if (!peer.send(basp_message(BaspOperation::client_handshake, 30))) return false;
  return peer.receive(kBaspHeaderBytes) == basp_message(BaspOperation::heartbeat, 0);
}

/// Connections that come, say too little and stay, as long as they are let.
class Slow {
 public:
  Slow(const RelayWorld& world, const TlsContext& context) {
    for (int i = 0; i < 8; ++i) {
      peers_.push_back(std::make_unique<RawPeer>(world.port()));
      if (i % 2 == 0 && peers_.back()->start_tls(context)) {
        peers_.back()->send(std::string_view(good_session()).substr(0, 7 * i));
      }
    }
  }

 private:
  std::vector<std::unique_ptr<RawPeer>> peers_;
};

void quicken(RelayOptions& options) {
  options.handshake_timeout = from_seconds(1);
  options.header_timeout = from_seconds(0.5);
  options.idle_timeout = from_seconds(0.5);
  options.stall_timeout = from_seconds(2);
  options.max_per_address = options.max_connections;
}

void one_round(const Attacker::Target& target, int sessions, std::uint64_t seed) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kAttackers; ++i) {
    threads.emplace_back([&target, sessions, seed, i] {
      Attacker(target, seed * kAttackers + static_cast<std::uint64_t>(i))
          .run(sessions / kAttackers);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

int fail(const char* what) {
  std::printf("FAILED: %s\n", what);
  return 1;
}

void print(const RelayWorld& world) {
  const RelayCounters counters = world.counters();
  std::printf("accepted %llu, forwarded %llu bytes and %llu headers\n",
              static_cast<unsigned long long>(counters.accepted),
              static_cast<unsigned long long>(counters.bytes_in),
              static_cast<unsigned long long>(counters.headers_in));
  for (std::size_t i = 0; i < kRelayEvents; ++i) {
    if (counters.events[i] == 0) continue;
    std::printf("  %-48s %llu\n", to_string(static_cast<RelayEvent>(i)).c_str(),
                static_cast<unsigned long long>(counters.events[i]));
  }
}

int run(int sessions, std::uint64_t seed) {
  RelayWorld world(quicken);
  const TlsFiles node = world.pki().node("n1");
  TlsFiles worker = world.pki().worker("instance-1");
  Attacker::Target target{world.port(), client_context(node).value(),
                          client_context(worker).value(), ""};
  target.hello = client_hello(target.node);
  const auto quiet = [&] { return world.comes_true([&] { return world.counters().open == 0; }); };

  one_round(target, std::min(sessions, 400), seed + 1000);
  if (!quiet()) return fail("connections are left after the first sessions");
  const std::int64_t memory_before = resident_kib();
  const std::ptrdiff_t descriptors_before = descriptors();
  for (int round = 0; round < kRounds; ++round) {
    const Slow slow(world, target.node);
    one_round(target, sessions / kRounds, seed + static_cast<std::uint64_t>(round));
    if (!answers_a_good_session(world, target.node)) return fail("a good session got no answer");
  }
  if (!quiet()) return fail("connections are left");
  const std::int64_t growth = resident_kib() - memory_before;
  print(world);
  std::printf(
      "%d sessions, seed %llu: memory grew by %lld KiB to %lld KiB, descriptors %td -> %td\n",
      sessions, static_cast<unsigned long long>(seed), static_cast<long long>(growth),
      static_cast<long long>(resident_kib()), descriptors_before, descriptors());
  if (world.node().bad_headers() != 0) return fail("a harmful header reached the node");
  if (world.counters().of(RelayEvent::bad_header) == 0) return fail("no header was refused");
  if (growth > kMaxGrowthKib) return fail("memory grew beyond the bound");
  const auto back = [&] { return descriptors() <= descriptors_before; };
  return RelayWorld::comes_true(back) ? 0 : fail("descriptors are left open");
}

}  // namespace
}  // namespace muster::test

int main(int argc, char** argv) {
  const char* from_environment = std::getenv("MUSTER_FUZZ_SESSIONS");
  const char* sessions = argc > 1 ? argv[1] : from_environment;
  const int count = sessions != nullptr ? std::atoi(sessions) : 2000;
  const unsigned long long seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  if (count < 20) {
    std::printf("usage: relay_fuzz [SESSIONS (20 or more)] [SEED]\n");
    return 2;
  }
  return muster::test::run(count, seed);
}
