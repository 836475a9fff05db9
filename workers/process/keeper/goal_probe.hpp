#pragma once

#include <poll.h>

#include <optional>
#include <string>
#include <vector>

#include "model/service.hpp"
#include "workers/process/keeper/child_program.hpp"

namespace muster::process {

/// Runs the probe of a service's goal again and again, at most one at a time, and reads the number
/// that it prints, without ever waiting. A probe that fails, takes too long or prints anything but
/// a number has measured nothing.
class GoalProbe {
 public:
  explicit GoalProbe(ServiceGoal goal) : goal_(std::move(goal)) {}

  /// The replica is ready from now on, or is not: only of one that is ready anything is measured.
  void run(bool ready, const std::vector<std::string>& env);
  void go_on();
  /// An ended child of this process; true when it was the probe.
  bool take_end(pid_t pid, int status);
  bool runs(pid_t pid) const { return child_ && child_->pid() == pid; }

  /// A number that was measured since the last call.
  std::optional<double> take_number();
  const std::string& metric() const { return goal_.metric; }
  /// Why the last probe has measured nothing; empty: it has, or no probe has run.
  const std::string& failure() const { return failure_; }

  void add_to(std::vector<pollfd>& polled) const;
  Duration due() const;  ///< Duration::max(): never

 private:
  void start();
  void fail(const std::string& why);

  ServiceGoal goal_;
  ProgramWords words_;
  bool active_ = false;
  std::optional<ChildProgram> child_;  ///< until it is reaped
  bool killed_ = false;                ///< the child is
  Duration started_{};
  Duration next_{};
  std::optional<double> number_;
  std::string failure_;
};

/// The number that a probe has printed, alone and with nothing but blanks around it.
std::optional<double> printed_number(std::string_view text);

}  // namespace muster::process
