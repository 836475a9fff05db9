#pragma once

#include <poll.h>

#include <optional>
#include <string>
#include <vector>

#include "model/service.hpp"
#include "workers/process/descriptor.hpp"
#include "workers/process/keeper/keeper_pace.hpp"

namespace muster::process {

/// Tells the shim how the replica is doing, line by line over the task's socket, each answered by
/// "ok". It keeps the newest state alone, and never waits. A shim that has gone or answers
/// otherwise is told all of it again after a pause:
///
///   port NAME NUMBER
///   trouble TEXT
///   replica ready|up|down RESTARTS EXIT_CODE PAUSE_MS
///   metric NAME VALUE
class ReplicaVoice {
 public:
  /// `socket`: a path, or '@' and an abstract name; empty: no shim hears it.
  ReplicaVoice(std::string socket, const KeeperPace& pace)
      : socket_(std::move(socket)), say_again_(pace.say_again), reconnect_(pace.reconnect) {}

  /// The state from now on; `next_start` is when its pause ends.
  void say(const ReplicaState& state, Duration next_start);
  /// A number that was measured of it, which is said once; the newest counts.
  void say_metric(const std::string& name, double value);
  void go_on();
  void add_to(std::vector<pollfd>& polled) const;
  Duration due() const;  ///< Duration::max(): never

 private:
  bool hear();
  bool connect_now();
  /// A line that is not said yet, which it counts as said; empty: there is no such line.
  std::string take_line();
  void break_off();

  std::string socket_;
  Duration say_again_;
  Duration reconnect_;
  Descriptor connection_;
  std::string answer_;    ///< as far as it has come
  bool awaited_ = false;  ///< an answer is
  Duration retry_at_{};
  std::optional<ReplicaState> state_;
  Duration next_start_{};
  std::optional<ReplicaState> said_;  ///< by the last `replica` line
  Duration said_at_{};
  std::size_t ports_said_ = 0;
  std::string metric_;  ///< a line that is not said yet
  std::optional<std::string> trouble_said_ = "";
};

}  // namespace muster::process
