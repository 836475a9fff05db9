#pragma once

#include <poll.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/service.hpp"
#include "workers/process/keeper/check_streak.hpp"
#include "workers/process/keeper/child_program.hpp"
#include "workers/process/keeper/socket_check.hpp"

namespace muster::process {

/// Makes one check of a running program again and again, at most one at a time, without ever
/// waiting.
class HealthWatch {
 public:
  explicit HealthWatch(HealthCheck check) : check_(std::move(check)), streak_(check_) {}

  /// Whether anything is asked: else the program is well while it runs.
  bool asks() const;
  /// The program has been started, with these ports and environment. The first check is made after
  /// `first`, and so are those that follow until one passes, with pauses that double up to the
  /// check's own.
  void begin(const std::vector<ReplicaPort>& ports, const std::vector<std::string>& env,
             Duration first);
  /// It has ended, or is to: nothing is asked any more.
  void end();

  void go_on();
  /// An ended child of this process; true when it was the check's own.
  bool take_end(pid_t pid, int status);
  bool runs(pid_t pid) const { return child_ && child_->pid() == pid; }

  bool is_well() const { return !asks() || streak_.is_well(); }
  const CheckStreak& streak() const { return streak_; }
  /// Why the last check of this run of the program has failed; empty: it has not.
  const std::string& failure() const { return failure_; }

  void add_to(std::vector<pollfd>& polled) const;
  Duration due() const;  ///< Duration::max(): never

 private:
  void ask();
  void run_command();
  void kill_command();
  void take(const std::string& failure);
  std::string question() const;

  HealthCheck check_;
  CheckStreak streak_;
  bool active_ = false;
  std::uint32_t port_ = 0;
  ProgramWords words_;                 ///< of a command
  std::optional<SocketCheck> socket_;  ///< a question that is open
  std::optional<ChildProgram> child_;  ///< until it is reaped
  bool killed_ = false;                ///< the child is
  bool open_ = false;                  ///< a question is
  Duration asked_{};
  Duration next_{};
  Duration pause_{};
  std::string failure_;
};

}  // namespace muster::process
