#include "serve/machines/machine.hpp"

#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <utility>

namespace muster::machines {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Time after which a forked child has written its line.
constexpr Duration kLookAgain = milliseconds{50};
constexpr Duration kLogPeriod = seconds{10};
/// Least time for a worker to acknowledge the end, however little its tasks have.
constexpr Duration kWorkerPatience = seconds{2};
constexpr Duration kFirstPause = milliseconds{10};
constexpr Duration kLongestPause = seconds{1};
/// Shims reap what they have started, so they are killed after the rest; but not much after.
constexpr std::uint32_t kKillsBeforeShims = 5;
/// Kills after which a process that withstands them is reported, once.
constexpr std::uint32_t kKillsBeforeNews = 20;

}  // namespace

Machine::Machine(MachineFolder folder, const MachineRules& rules, Tell tell)
    : folder_(std::move(folder)),
      rules_(rules),
      tell_(std::move(tell)),
      back_off_(rules.restart_min) {}

void Machine::step() {
  switch (phase_) {
    case Phase::starting:
      return start();
    case Phase::running:
      return watch();
    case Phase::ending_worker:
      return end_worker();
    case Phase::ending_rest:
      return end_rest();
    case Phase::over:
      return;
  }
}

/// False: it cannot be said yet whether a worker runs.
bool Machine::find() {
  const MachineFolder::Found found = folder_.find_worker();
  if (found.starting) {
    wait(kLookAgain);
    return false;
  }
  if (!found.worker) return true;
  worker_ = found.worker;
  pidfd_ = open_process(*found.worker);
  started_ = Clock::now();
  return true;
}

void Machine::start() {
  if (Clock::now() < due_ || !find()) return;
  const bool found = static_cast<bool>(pidfd_);
  if (!found) {
    folder_.bound_log(rules_.log_bytes);
    const MachineFolder::Started started = folder_.start_worker();
    if (started.pid < 0) {
      tell_("its worker cannot be started: " + started.trouble, false);
      return wait_longer();
    }
    // A child that has not been reaped keeps its number.
    worker_ = ProcessRow{started.pid, 0, started.pid, 0};
    if (const auto row = find_process(started.pid)) worker_ = row;
    pidfd_ = open_child(started.pid);
    started_ = Clock::now();
    if (had_worker_) tell_("its worker was started again", true);
  }
  had_worker_ = true;
  phase_ = Phase::running;
  wait(kLogPeriod);
}

void Machine::wait_longer() {
  wait(back_off_);
  back_off_ = std::min(back_off_ * 2, rules_.restart_max);
}

void Machine::watch() {
  if (!worker_ended()) {
    if (Clock::now() < due_) return;
    folder_.bound_log(rules_.log_bytes);
    return wait(kLogPeriod);
  }
  tell_("its worker " + reap(), false);
  if (Clock::now() - started_ >= rules_.steady) back_off_ = rules_.restart_min;
  phase_ = Phase::starting;
  wait_longer();
}

bool Machine::worker_ended() const {
  if (!pidfd_) return true;
  pollfd polled{pidfd_.get(), POLLIN, 0};
  return poll(&polled, 1, 0) > 0;
}

/// How it ended, as far as that can be known: it need not be a child of this process.
std::string Machine::reap() {
  siginfo_t end{};
  const int result =
      pidfd_ ? waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), &end, WEXITED | WNOHANG) : -1;
  pidfd_.reset();
  if (result != 0 || end.si_pid == 0) return "ended";
  if (end.si_code == CLD_EXITED) return "ended with code " + std::to_string(end.si_status);
  return "was ended by signal " + std::to_string(end.si_status);
}

void Machine::halt(Duration grace, std::function<void()> ended) {
  if (ended) waiting_.push_back(std::move(ended));
  if (phase_ >= Phase::ending_worker) return;
  if (phase_ == Phase::starting) due_ = Clock::now();
  phase_ = Phase::ending_worker;
  grace_ = grace;
  due_ = Clock::now();
  force_at_ = due_ + std::max(grace, kWorkerPatience);
  pause_ = kFirstPause;
}

/// Waits until the worker reports nothing any more: a later end is no failure of a task.
void Machine::end_worker() {
  if (!pidfd_ && !find()) return;
  const bool late = Clock::now() >= force_at_;
  if (pidfd_ && !worker_ended() && !folder_.is_ending() && !late) {
    if (!asked_) {
      // Where it cannot be said, the worker is killed when its time is up.
      if (const std::string why = folder_.mark_end(); !why.empty()) tell_(why, false);
      signal_process(*worker_, kInstanceEnds);
      asked_ = true;
    }
    return wait(kFirstPause);
  }
  phase_ = Phase::ending_rest;
  asked_ = false;
  force_at_ = Clock::now() + grace_;
  end_rest();
}

/// Ends what the worker has started while it is there still: orphans come to it, so that each
/// process of the machine is found as its descendant or by a lock.
void Machine::end_rest() {
  const MachineFolder::Members members = folder_.find_members(worker_);
  if (members.none() && worker_ended()) {
    reap();
    folder_.end_leftovers();
    phase_ = Phase::over;
    return;
  }
  if (!asked_) {
    for (const ProcessRow& row : members.shims.empty() ? members.others : members.shims) {
      signal_process(row, SIGTERM);
    }
    asked_ = true;
  }
  if (members.none()) end_reaper();
  if (Clock::now() >= force_at_) {
    folder_.end_leftovers();
    end_reaper();
    for (const ProcessRow& row : members.others) signal_process(row, SIGKILL);
    if (members.others.empty() || kills_ >= kKillsBeforeShims) {
      for (const ProcessRow& row : members.shims) signal_process(row, SIGKILL);
    }
    if (++kills_ == kKillsBeforeNews) tell_("something on it withstands being killed", false);
    pause_ = std::min(pause_, Duration{milliseconds{20}} * kills_);
  }
  wait(pause_);
  if (Clock::now() < force_at_) due_ = std::min(due_, force_at_);
  pause_ = std::min(pause_ * 2, kLongestPause);
}

/// Has the worker kill what it has started, which it does faster than it can start anew, and end;
/// one that does not obey is killed.
void Machine::end_reaper() {
  if (worker_ended()) return;
  const bool obeys = folder_.is_ending() && reaper_asked_++ < kKillsBeforeShims;
  signal_process(*worker_, obeys ? kInstanceEnds : SIGKILL);
}

}  // namespace muster::machines
