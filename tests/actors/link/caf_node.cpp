// A node of its own process behind its relay, for the tests: caf_node CERTIFICATE KEY TRUSTED PORT.
// It publishes an actor that adds, prints the relay's port and runs until it is killed.

#include "tests/actors/link/caf_node.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

#include "actors/link/relay.hpp"

namespace {

using namespace std::chrono_literals;

caf::behavior adder(caf::event_based_actor* self) {
  self->set_default_handler(caf::drop);
  return {[](int a, int b) { return a + b; },
          [](const std::string& text) { return static_cast<int>(text.size()); },
          [self](const caf::actor& who) -> caf::result<int> {
            auto answer = self->make_response_promise<int>();
            self->request(who, 10s, 5, 6)
                .then([answer](int product) mutable { answer.deliver(product); },
                      [answer](caf::error& error) mutable { answer.deliver(error); });
            return answer;
          }};
}

}  // namespace

int main(int argc, char** argv) {
  using namespace muster;
  if (argc != 5) return 2;
  const TlsFiles files{argv[1], argv[2], argv[3]};
  test::CafNodeConfig config(files);
  caf::actor_system system(config);
  const auto own = caf::openssl::publish(system.spawn(adder), 0, "127.0.0.1", true);
  if (!own) return 3;
  asio::io_context io;
  RelayOptions options;
  options.listen = {asio::ip::address_v4::loopback(),
                    static_cast<std::uint16_t>(std::atoi(argv[4]))};
  options.own_port = {asio::ip::address_v4::loopback(), *own};
  options.tls = files;
  auto relay = Relay::start(io, options, nullptr);
  if (!relay) return 4;
  std::printf("%d\n", int{relay.value()->port()});
  std::fflush(stdout);
  io.run();
  return 5;
}
