#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/service.hpp"
#include "model/time.hpp"

namespace muster::process {

/// How the replica of a service is doing, put together from the lines of its keeper and of its own
/// program. Times are since boot.
class ShimReplica {
 public:
  /// Between two tellings: a replica that comes and goes costs its master little.
  static constexpr Duration kInterval = std::chrono::seconds{1};

  explicit ShimReplica(ServiceSpec service) : service_(std::move(service)) {}

  /// Takes a line of the task's; the answer, or nothing: the line is not about replicas.
  std::optional<std::string> hear(std::string_view line, Duration now);
  /// When the state is to be told; nothing: all is told.
  std::optional<Duration> due() const;
  /// The line for the executor, which has been told it with that.
  std::string tell(Duration now);
  /// The line that was told last; empty: nothing was.
  const std::string& told() const { return told_; }
  /// By the newest lines.
  ReplicaState state() const;

 private:
  std::string hear_state(std::string_view words);
  std::string hear_port(std::string_view words);
  std::string hear_ready(bool ready);

  ServiceSpec service_;
  ReplicaState state_;
  bool runs_ = false;
  bool says_ready_ = false;  ///< the program, since it was started last
  std::optional<Duration> untold_;
  std::optional<Duration> told_at_;
  std::string told_;
};

/// How a replica's state is told to the executor, and read by it.
std::string replica_line(const ReplicaState& state);
std::optional<ReplicaState> replica_from(std::string_view line);

}  // namespace muster::process
