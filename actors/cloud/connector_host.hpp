#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <utility>

#include "actors/cloud/connector.hpp"

namespace muster {

/// The connector as its provider and its store see it. Everything that the connector does is a
/// turn; what is told within a turn is part of it, what comes from elsewhere becomes a message.
class CloudConnector::Host final : public CloudHost, public std::enable_shared_from_this<Host> {
 public:
  explicit Host(CloudConnector* connector)
      : connector_(connector), address_(caf::actor_cast<caf::weak_actor_ptr>(connector)) {}

  Instant now() const override { return connector_->timer_.now(); }
  void at(Instant when, std::function<void()> step) override {
    connector_->timer_.at(when, [this, step = std::move(step)] { turn(step); });
  }
  void run(std::function<void()> step) override {
    // The provider answers within the connector's own call: this is its turn already.
    if (in_turn_.load() == std::this_thread::get_id()) return step();
    if (auto cloud = caf::actor_cast<CloudActor>(address_.lock())) {
      auto host = shared_from_this();
      caf::anon_send(cloud, Wakeup{[host, step = std::move(step)] { host->turn(step); }});
    }
  }
  void tell(ProviderNews news) override {
    run([this, news = std::move(news)] { connector_->on_news(news); });
  }

  template <class Step>
  void turn(const Step& step) {
    const Turn here(in_turn_);
    step();
  }

 private:
  class Turn {
   public:
    // Turns nest, as when a store answers within a turn; the outer one goes on afterwards.
    explicit Turn(std::atomic<std::thread::id>& in_turn)
        : in_turn_(in_turn), before_(in_turn.exchange(std::this_thread::get_id())) {}
    ~Turn() { in_turn_.store(before_); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    std::atomic<std::thread::id>& in_turn_;
    std::thread::id before_;
  };

  CloudConnector* connector_;  ///< only to be used on a turn: then it is there
  caf::weak_actor_ptr address_;
  std::atomic<std::thread::id> in_turn_{};
};

}  // namespace muster
