#include "actors/link/worker_link_dialer.hpp"

#include <algorithm>
#include <asio/connect.hpp>
#include <utility>

namespace muster {

using asio::ip::tcp;

WorkerLinkDialer::WorkerLinkDialer(std::shared_ptr<asio::io_context> io,
                                   const MasterLinkSetup& setup)
    : io_(std::move(io)),
      setup_(setup),
      resolver_(*io_),
      socket_(*io_),
      timer_(*io_),
      rng_(setup.seed) {}

void WorkerLinkDialer::listen(Connected connected, Failed failed) {
  connected_ = std::move(connected);
  failed_ = std::move(failed);
}

void WorkerLinkDialer::stop() {
  stopped_ = true;
  timer_.cancel();
  resolver_.cancel();
  std::error_code ignored;
  socket_.close(ignored);
  connected_ = nullptr;
  failed_ = nullptr;
}

// Half of a delay is certain and half of it chance: workers that lost their master together do not
// come back together.
void WorkerLinkDialer::dial() {
  if (stopped_) return;
  const Duration wait = from_seconds(to_seconds(delay_) * rng_.uniform(0.5, 1.0));
  // The delay grows with each dialing until went_well(); the first one is 0.
  delay_ = std::clamp(delay_ * 2, setup_.options.first_delay, setup_.options.max_delay);
  timer_.expires_after(wait);
  timer_.async_wait([self = shared_from_this()](std::error_code error) {
    if (!error && !self->stopped_) self->resolve();
  });
}

std::string WorkerLinkDialer::place_text() const {
  return to_text(setup_.masters[next_]);
}

void WorkerLinkDialer::fail(const std::string& why) {
  if (stopped_) return;
  timer_.cancel();
  const std::string text = place_text() + ": " + why;
  // The next place: a master may have moved while its old place still answers nothing.
  next_ = (next_ + 1) % setup_.masters.size();
  failed_(text);
}

void WorkerLinkDialer::resolve() {
  const Endpoint& place = setup_.masters[next_];
  // timer_ has rung for the delay; here it bounds resolving and connecting together.
  timer_.expires_after(setup_.options.handshake);
  timer_.async_wait([self = shared_from_this()](std::error_code error) {
    if (error || self->stopped_) return;
    self->resolver_.cancel();
    std::error_code ignored;
    self->socket_.close(ignored);
  });
  resolver_.async_resolve(
      place.host, std::to_string(place.port), tcp::resolver::numeric_service,
      [self = shared_from_this()](std::error_code error, tcp::resolver::results_type found) {
        if (self->stopped_) return;
        if (error) return self->fail("cannot be resolved: " + error.message());
        self->connect(found);
      });
}

void WorkerLinkDialer::connect(const tcp::resolver::results_type& found) {
  // All addresses of the name, since async_connect tries each.
  if (!setup_.tls) {
    for (const auto& entry : found) {
      if (!entry.endpoint().address().is_loopback()) {
        return fail("without TLS only a loopback address is dialed");
      }
    }
  }
  asio::async_connect(socket_, found,
                      [self = shared_from_this()](std::error_code error, const tcp::endpoint&) {
                        if (self->stopped_) return;
                        if (error) return self->fail("cannot be connected: " + error.message());
                        self->timer_.cancel();
                        tcp::socket socket = std::exchange(self->socket_, tcp::socket(*self->io_));
                        self->connected_(std::move(socket));
                      });
}

}  // namespace muster
