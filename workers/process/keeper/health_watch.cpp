#include "workers/process/keeper/health_watch.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "model/rounded_text.hpp"
#include "workers/process/progress.hpp"

namespace muster::process {
bool HealthWatch::asks() const {
  // A line is the program's own to say, and others hear it.
  return check_.kind != CheckKind::nothing && check_.kind != CheckKind::line;
}

void HealthWatch::begin(const std::vector<ReplicaPort>& ports, const std::vector<std::string>& env,
                        Duration first) {
  if (!asks()) return;
  active_ = true;
  streak_ = CheckStreak(check_);
  failure_.clear();
  for (const ReplicaPort& port : ports) {
    if (port.name == check_.port) port_ = port.number;
  }
  words_ = {check_.command, env};
  pause_ = std::min(first, check_.every);
  next_ = boot_time() + pause_;
}

void HealthWatch::end() {
  active_ = open_ = false;
  socket_.reset();
  kill_command();
}

void HealthWatch::kill_command() {
  // It is kept until it is reaped.
  killed_ = child_.has_value();
  if (child_) child_->signal(SIGKILL);
}

void HealthWatch::go_on() {
  if (!active_) return;
  if (child_) child_->hear(words_);
  if (open_ && socket_) {
    if (const auto failure = socket_->go_on()) take(*failure);
  }
  const Duration now = boot_time();
  if (open_ && now >= asked_ + check_.timeout) {
    kill_command();
    take("no answer within " + rounded_text(to_seconds(check_.timeout)) + " s");
  }
  if (!open_ && now >= next_) ask();
}

void HealthWatch::ask() {
  asked_ = boot_time();
  open_ = true;
  if (check_.kind != CheckKind::command) {
    socket_.emplace(port_, check_.kind == CheckKind::http ? check_.path : "");
    if (const auto failure = socket_->go_on()) take(*failure);
  } else if (!child_) {
    run_command();
  }
}

void HealthWatch::run_command() {
  child_ = ChildProgram::start(words_, ProgramOutput::discarded);
  if (!child_) take(std::string("no process: ") + std::strerror(errno));
}

bool HealthWatch::take_end(pid_t pid, int status) {
  if (!runs(pid)) return false;
  child_->hear(words_);
  const std::string failed_start = child_->start_failure();
  const bool answers = open_ && !killed_;
  child_.reset();
  killed_ = false;
  const std::int32_t code = exit_code_of_status(status);
  if (answers) {
    take(code == 0 ? "" : "exit code " + std::to_string(code));
    if (!failed_start.empty()) failure_ = failed_start;
  } else if (open_) {
    // It has waited for the one before to be gone.
    run_command();
  }
  return true;
}

void HealthWatch::take(const std::string& failure) {
  open_ = false;
  socket_.reset();
  streak_.add(failure.empty());
  pause_ =
      failure.empty() || streak_.was_well() ? check_.every : std::min(2 * pause_, check_.every);
  next_ = asked_ + pause_;
  failure_ = failure.empty() ? "" : question() + ": " + failure;
}

std::string HealthWatch::question() const {
  if (check_.kind == CheckKind::command) return check_.command.front();
  const std::string port = "port " + check_.port;
  return check_.kind == CheckKind::http ? "GET " + check_.path + " of " + port : port;
}

void HealthWatch::add_to(std::vector<pollfd>& polled) const {
  if (socket_) polled.push_back(socket_->waits_for());
}

Duration HealthWatch::due() const {
  if (!active_) return Duration::max();
  return open_ ? asked_ + check_.timeout : next_;
}

}  // namespace muster::process
