#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "model/letter.hpp"
#include "serve/notify/outbox.hpp"

namespace muster::notify {

/// How many letters a node has sent since its start, and how it stands with others.
struct PostFigures {
  std::size_t waiting = 0;
  std::uint64_t sent = 0;
  std::uint64_t failed_tries = 0;
  std::uint64_t given_up = 0;
};

/// Sends letters from threads of its own, which begin with the first letter. The letters are in
/// their senders' stores: it forgets all when it ends. May be called from any thread.
class Postman {
 public:
  struct Host {
    /// One try, which ends within a bounded time. Called from several threads.
    std::function<Delivery(const Letter&)> deliver;
    std::function<Instant()> now;
    /// A letter was given up, after its last try or for its age; empty `why`: it was never tried.
    std::function<void(const Letter&, std::uint32_t tries, const std::string& why)> gave_up;
  };
  Postman(const Outbox::Bounds& bounds, std::uint32_t senders, Host host);
  /// Waits for the tries that are under way; `settled` of no other letter is called.
  ~Postman();
  Postman(const Postman&) = delete;
  Postman& operator=(const Postman&) = delete;

  /// Calls `settled` once, when the letter has arrived or was given up, from another thread.
  void send(Letter letter, std::function<void()> settled);

  PostFigures figures() const;
  /// For an admin: that letters do not arrive; empty: no letter has failed lately.
  std::string trouble() const;

 private:
  void run();
  void rest(std::unique_lock<std::mutex>& lock);
  void give_up(const std::vector<Outbox::Entry>& entries);

  const Host host_;
  const std::uint32_t senders_;
  mutable std::mutex mutex_;
  std::condition_variable news_;
  Outbox outbox_;
  PostFigures figures_;
  /// A failure that is not long ago.
  struct Failure {
    Instant at;
    std::string why{};  ///< empty: there was no failure
  };
  Failure last_failure_;
  bool ends_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace muster::notify
