#include "serve/notify/postman.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "config/notify_address.hpp"

namespace muster::notify {
namespace {

/// A failure is trouble for that time.
constexpr Duration kFresh = std::chrono::hours{1};
/// A sleep ends at least that often: the wall's clock may be set.
constexpr Duration kLongestRest = std::chrono::minutes{1};

}  // namespace

Postman::Postman(const Outbox::Bounds& bounds, std::uint32_t senders, Host host)
    : host_(std::move(host)), senders_(senders), outbox_(bounds) {}

Postman::~Postman() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  news_.notify_all();
  for (std::thread& each : threads_) each.join();
}

void Postman::send(Letter letter, std::function<void()> settled) {
  {
    const std::lock_guard lock(mutex_);
    if (ends_) return;
    outbox_.add(std::move(letter), std::move(settled));
    while (threads_.size() < senders_) threads_.emplace_back([this] { run(); });
  }
  news_.notify_one();
}

void Postman::run() {
  std::unique_lock lock(mutex_);
  while (!ends_) {
    std::vector<Outbox::Entry> given_up;
    auto entry = outbox_.take(host_.now(), given_up);
    if (!given_up.empty()) {
      lock.unlock();
      give_up(given_up);
      lock.lock();
    }
    if (!entry) {
      if (given_up.empty()) rest(lock);
      continue;
    }
    lock.unlock();
    const Delivery delivery = host_.deliver(entry->letter);
    const auto settled = entry->settled;
    lock.lock();
    if (delivery.arrived) {
      ++figures_.sent;
    } else {
      ++figures_.failed_tries;
      last_failure_ = {host_.now(), fmt::format("{}: {}", config::shown_address(entry->letter.to),
                                                delivery.why)};
    }
    auto lost = outbox_.put_back(*std::move(entry), delivery, host_.now());
    lock.unlock();
    // The others may go on with what this one has made ready.
    news_.notify_one();
    if (delivery.arrived) settled();
    if (lost) give_up({*std::move(lost)});
    lock.lock();
  }
}

/// Until there is news, or a lane has rested.
void Postman::rest(std::unique_lock<std::mutex>& lock) {
  Duration wait = kLongestRest;
  if (const auto until = outbox_.rests_until()) wait = std::min(wait, *until - host_.now());
  if (wait > Duration::zero()) news_.wait_for(lock, wait);
}

void Postman::give_up(const std::vector<Outbox::Entry>& entries) {
  for (const Outbox::Entry& each : entries) {
    host_.gave_up(each.letter, each.tries, each.why);
    each.settled();
  }
  const std::lock_guard lock(mutex_);
  figures_.given_up += entries.size();
}

PostFigures Postman::figures() const {
  const std::lock_guard lock(mutex_);
  PostFigures out = figures_;
  out.waiting = outbox_.waiting();
  return out;
}

std::string Postman::trouble() const {
  const std::lock_guard lock(mutex_);
  if (last_failure_.why.empty() || host_.now() - last_failure_.at > kFresh) return {};
  return fmt::format("messages to users fail ({} wait, {} were given up); the last one, {}",
                     outbox_.waiting(), figures_.given_up, last_failure_.why);
}

}  // namespace muster::notify
