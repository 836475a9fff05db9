#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "serve/api/http.hpp"
#include "serve/api/traffic.hpp"

namespace muster::api {

using Respond = std::function<void(Response)>;

/// A request on its way to an answer. The first answer counts; it stays valid after the server is
/// gone, so that a backend may answer at any time.
class Exchange {
 public:
  Exchange(std::string_view route, std::shared_ptr<Traffic> traffic, Respond respond)
      : route_(route), traffic_(std::move(traffic)), respond_(std::move(respond)) {}
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// Sends the response, unless one was sent.
  void finish(Response response);
  /// The time is over: sends what is there to be said then.
  void expire();

  /// Takes a place among the requests that wait so; it is given back with the answer.
  bool enter(Waiting where, const std::string& token, Places places);
  /// Adds time before which expire() must not be called. Before the backend is asked.
  void wait_longer(Duration extra) { extra_ = extra; }
  Duration extra() const { return extra_; }
  /// The answer for the time limit; without it that is 503. Before the backend is asked.
  void set_late(std::function<Response()> late) { late_ = std::move(late); }
  /// Listener for the answer that was sent; its status is 0 when no answer was. Before the backend
  /// is asked.
  void set_note(std::function<void(const Response&)> note) { note_ = std::move(note); }

 private:
  std::string_view route_;  ///< of the static table
  std::shared_ptr<Traffic> traffic_;
  Respond respond_;
  std::function<Response()> late_;
  std::function<void(const Response&)> note_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  Duration extra_{};
  Waiting where_ = Waiting::for_cluster;
  std::string token_{};  ///< whose place it has
  std::atomic<bool> entered_{false};
  std::atomic<bool> finished_{false};
};

/// The reply that answers the exchange.
inline Reply reply_to(std::shared_ptr<Exchange> exchange) {
  return [exchange = std::move(exchange)](Answer answer) {
    exchange->finish(to_response(std::move(answer)));
  };
}

}  // namespace muster::api
