// Serves the API and the dashboard over a cluster that is made up, until its input ends:
//   fake_api [PORT] [TOKEN]
// Prints the address it listens on.
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "serve/api/server.hpp"
#include "tests/serve/fake_backend.hpp"

namespace {

constexpr int kTickMs = 500;

/// Whether the input has ended; waits for a tick at most.
bool input_ended() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (::poll(&input, 1, kTickMs) <= 0) {
    return false;
  }
  char byte = 0;
  return ::read(STDIN_FILENO, &byte, 1) <= 0;
}

}  // namespace

int main(int argc, char** argv) {
  muster::api::FakeBackend backend;
  muster::api::ServerOptions options;
  options.port = static_cast<std::uint16_t>(argc > 1 ? std::atoi(argv[1]) : 0);
  const auto now = [] { return static_cast<std::int64_t>(muster::api::FakeBackend::kBegin); };
  options.tokens = muster::api::TokenBook::in_memory(
      {argc > 2 ? argv[2] : "a-token-for-tests", "another-token-for-tests"}, now);
  auto server = muster::api::Server::start(backend, options);
  if (!server) {
    std::fprintf(stderr, "%s\n", server.error().message.c_str());
    return 1;
  }
  std::printf("%s\n", server.value()->url().c_str());
  std::fflush(stdout);
  while (!input_ended()) {
    backend.tick();
  }
  return 0;
}
