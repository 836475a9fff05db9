#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "serve/api/backend.hpp"

namespace muster::api {

/// The wait of a request: for an answer of the cluster, or for the end of a job.
enum class Waiting : std::uint8_t { for_cluster, for_job };

/// How many requests may wait so, and how many of these may be of one token.
struct Places {
  std::uint32_t all = 0;
  std::uint32_t of_token = 0;
};

/// The server's own figures. Every function may be called from any thread.
class Traffic {
 public:
  /// Takes one of the places for a request of that token that waits so; false when all are taken,
  /// or all that a token may have.
  bool enter(Waiting where, const std::string& token, Places places);
  void leave(Waiting where, const std::string& token);

  void connection_opened();
  void connection_closed();
  /// A connection that was turned away because there were too many.
  void connection_refused();

  /// A request was answered; `route` is the pattern, or empty for an unknown path.
  void answered(std::string_view route, int status, double seconds);

  /// The figures as metrics.
  MetricsInput figures() const;

 private:
  static constexpr std::array<double, 11> kBounds{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                  0.1,   0.25,   0.5,   1,    10};
  std::atomic<std::uint32_t> connections_{0};
  std::atomic<std::uint64_t> refused_{0};
  /// Requests that wait, and those of each token that has any.
  struct Waits {
    std::uint32_t all = 0;
    std::map<std::string, std::uint32_t> of_token{};
  };
  mutable std::mutex mutex_;
  std::array<Waits, 2> waiting_{};  ///< by what they wait for
  std::map<std::pair<std::string, int>, std::uint64_t> requests_;
  std::array<std::uint64_t, kBounds.size() + 1> buckets_{};
  double seconds_ = 0;
};

/// The text that Prometheus reads: the cluster's figures, when there are any, and the server's own.
std::string metrics_text(const std::optional<MetricsInput>& cluster, const MetricsInput& own);

}  // namespace muster::api
