// Sends mutated requests to the HTTP API: http_fuzz [SESSIONS] [SEED]
// Every session has to end in time, whatever comes back has to be HTTP, the server has to answer a
// good request all the while, and memory has to stay within a bound.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "serve/api/server.hpp"
#include "tests/serve/fake_backend.hpp"
#include "tests/serve/raw_client.hpp"

namespace muster::api {
namespace {

constexpr int kThreads = 4;
constexpr int kHangMs = 20'000;
constexpr int kCheckEvery = 250;
constexpr std::size_t kMaxGrowthMiB = 700;  // a sanitizer keeps what was freed for a while
constexpr std::size_t kMaxText = 64 * 1024;

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t bound) {
  return bound == 0 ? 0 : static_cast<std::size_t>(random() % bound);
}

/// Sound requests, several in a row, to begin with.
std::string sound_text(Random& random) {
  static const std::vector<std::string> kRequests{
      request_text("GET", "/v1/jobs?state=all&user=ann&limit=3"),
      request_text("GET", "/v1/jobs/3/tasks/1/log?stream=err&offset=5&max=20&attempt=1"),
      request_text("GET", "/v1/jobs/3/explain"),
      request_text("HEAD", "/v1/status"),
      request_text("OPTIONS", "/v1/jobs"),
      request_text("POST", "/v1/jobs/3/cancel"),
      request_text("POST", "/v1/jobs", R"({"command": ["a", "b"], "tasks": 3, "cpus": 1.5})"),
      request_text("POST", "/v1/jobs",
                   R"({"jobs": [{"command": "x", "array": "0-9%3"}, {"command": ["y"]}]})"),
      request_text("POST", "/v1/plan", R"({"command": ["a"], "env": {"A": "b"}})"),
      request_text("POST", "/v1/jobs", {}, "Transfer-Encoding: chunked\r\n") +
          "8\r\n{\"comman\r\nb\r\nd\": [\"abc\"]}\r\n0\r\nT: 1\r\n\r\n",
      request_text("POST", "/v1/plan", R"({"command": ["a"]})", "Expect: 100-continue\r\n"),
      request_text("GET", "/healthz", {}, "Connection: Upgrade\r\nUpgrade: websocket\r\n"),
      request_text("GET", "/metrics", {}, "Connection: close\r\n"),
      request_text("GET", "/"),
  };
  std::string text;
  for (std::size_t i = 0; i <= below(random, 3); ++i) {
    text += kRequests[below(random, kRequests.size())];
  }
  return text;
}

const std::string& token(Random& random) {
  static const std::vector<std::string> kTokens{"\r\n",
                                                "\r\n\r\n",
                                                "\n",
                                                "Content-Length: 18446744073709551615\r\n",
                                                "chunked",
                                                "HTTP/1.1",
                                                "HTTP/1.0",
                                                "Transfer-Encoding: chunked\r\n",
                                                "ffffffffffffff",
                                                "\xff\xfe",
                                                "%00",
                                                "Content-Length: -1\r\n",
                                                "[[[[[[[[[[[[",
                                                "{\"jobs\": [",
                                                "\"",
                                                "Content-Length: 7\r\n",
                                                "0-99999999",
                                                "1e999",
                                                "null",
                                                "Authorization: Bearer \r\n",
                                                "../../",
                                                "%",
                                                "&limit=",
                                                "Expect: 100-continue\r\n",
                                                "\\u0000",
                                                "\\ud800",
                                                "CONNECT ",
                                                std::string(5000, 'A'),
                                                std::string(1, '\0')};
  return kTokens[below(random, kTokens.size())];
}

void mutate_once(std::string& text, Random& random) {
  const std::size_t place = below(random, text.size() + 1);
  const std::size_t length = std::min(below(random, 40), text.size() - place);
  switch (below(random, 8)) {
    case 0:
      if (place < text.size()) {
        text[place] = static_cast<char>(text[place] ^ (1 << below(random, 8)));
      }
      break;
    case 1:
      text.insert(place, 1, static_cast<char>(random()));
      break;
    case 2:
      text.erase(place, length);
      break;
    case 3:
      text.insert(place, text.substr(place, length));
      break;
    case 4:
      text.resize(place);
      break;
    case 5:
      text.replace(place, length, sound_text(random));
      break;
    case 6:
      text.replace(place, length, std::to_string(random()));
      break;
    default:
      text.insert(place, token(random));
      break;
  }
  text.resize(std::min(text.size(), kMaxText));
}

int connect_to(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    return client;
  }
  ::close(client);
  return -1;
}

/// All that came until the server closed; the second is false when it did not in time.
std::pair<std::string, bool> read_to_end(int client) {
  std::string all;
  std::array<char, 65'536> buffer{};
  while (true) {
    pollfd ready{client, POLLIN, 0};
    if (::poll(&ready, 1, kHangMs) <= 0) {
      return {all, false};
    }
    const ssize_t got = ::recv(client, buffer.data(), buffer.size(), 0);
    if (got <= 0) {
      return {all, true};
    }
    all.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

struct Tally {
  std::mutex mutex;
  std::map<std::string, std::uint64_t> statuses;
  std::vector<std::string> faults;
};

void fault(Tally& tally, std::uint64_t session, const std::string& what) {
  const std::lock_guard lock(tally.mutex);
  tally.faults.push_back(fmt::format("session {}: {}", session, what));
}

void run_session(std::uint16_t port, std::uint64_t seed, std::uint64_t session, Tally& tally) {
  Random random(seed * 0x9e3779b97f4a7c15ULL + session);
  std::string text = sound_text(random);
  for (std::size_t i = 0; i <= below(random, 8); ++i) {
    mutate_once(text, random);
  }
  const int client = connect_to(port);
  if (client < 0) {
    return fault(tally, session, "cannot connect");
  }
  const std::size_t cut = below(random, 4) == 0 ? below(random, text.size() + 1) : text.size();
  ::send(client, text.data(), cut, MSG_NOSIGNAL);
  ::send(client, text.data() + cut, text.size() - cut, MSG_NOSIGNAL);
  ::shutdown(client, SHUT_WR);
  const auto [answer, ended] = read_to_end(client);
  ::close(client);
  if (!ended) {
    return fault(tally, session, "the server does not end the connection");
  }
  if (!answer.empty() && !answer.starts_with("HTTP/1.1 ")) {
    return fault(tally, session, "what came back is not HTTP");
  }
  const std::string status = answer.empty() ? "none" : answer.substr(9, 3);
  if (status == "500" ||
      (status != "none" && reason_phrase(std::atoi(status.c_str())) == "Unknown" &&
       status != "100")) {
    fault(tally, session, "was answered with " + status);
  }
  const std::lock_guard lock(tally.mutex);
  ++tally.statuses[status];
}

std::size_t resident_mib() {
  std::ifstream file("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  file >> total >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) / (1024 * 1024);
}

int report(Tally& tally, std::uint64_t sessions, std::size_t before) {
  const std::size_t after = resident_mib();
  fmt::print("{} sessions; first status of each:", sessions);
  for (const auto& [status, count] : tally.statuses) {
    fmt::print(" {} x {}", status, count);
  }
  fmt::print("; memory {} -> {} MiB\n", before, after);
  if (after > before + kMaxGrowthMiB) {
    tally.faults.push_back("the memory has grown too much");
  }
  for (const std::string& what : tally.faults) {
    fmt::print("FAULT {}\n", what);
  }
  return tally.faults.empty() ? 0 : 1;
}

int run(std::uint64_t sessions, std::uint64_t seed) {
  FakeBackend backend;
  backend.forget_jobs();
  ServerOptions options;
  options.tokens = TokenBook::in_memory({kToken}, [] { return std::int64_t{0}; });
  auto server = Server::start(backend, options);
  if (!server) {
    fmt::print("{}\n", server.error().message);
    return 1;
  }
  const std::uint16_t port = server.value()->port();
  const std::size_t before = resident_mib();
  Tally tally;
  std::atomic<std::uint64_t> next{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (std::uint64_t session = next++; session < sessions; session = next++) {
        run_session(port, seed, session, tally);
        if (session % kCheckEvery == 0 && ask(port, "GET", "/v1/status").status != 200) {
          fault(tally, session, "a good request has no good answer any more");
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  return report(tally, sessions, before);
}

}  // namespace
}  // namespace muster::api

int main(int argc, char** argv) {
  const std::uint64_t sessions = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 2000;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  return muster::api::run(sessions, seed);
}
