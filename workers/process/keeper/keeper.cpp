#include "workers/process/keeper/keeper.hpp"

#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "model/rounded_text.hpp"
#include "workers/process/limits/limits.hpp"
#include "workers/process/progress.hpp"
#include "workers/process/start_trouble.hpp"

namespace muster::process {
namespace {

using std::chrono::milliseconds;

constexpr Duration kAtNoTime = Duration::max();
constexpr int kUsageError = 2;
/// Of an end by SIGTERM, as shells say it.
constexpr int kStopped = 128 + SIGTERM;
/// Spreads the places at which keepers begin to search for ports.
constexpr std::uint32_t kPortStride = 2'654'435'761U;

std::string value_in(const std::vector<std::string>& env, std::string_view name) {
  for (const std::string& entry : env) {
    if (entry.starts_with(name) && entry.size() > name.size() && entry[name.size()] == '=') {
      return entry.substr(name.size() + 1);
    }
  }
  return {};
}

std::string variable_of(const std::string& port) {
  std::string name = "MUSTER_PORT_";
  for (const char c : port) {
    name += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return name + '=';
}

bool has_children() {
  siginfo_t ended{};
  return waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

}  // namespace

Keeper::Keeper(KeeperOrder order, ProgramWords program, const KeeperPace& pace)
    : order_(std::move(order)),
      program_(std::move(program)),
      pace_(pace),
      pauses_(pace),
      checks_(order_.service),
      voice_(value_in(program_.env, "MUSTER_SOCKET"), pace) {}

int Keeper::run() {
  sigset_t taken;
  sigemptyset(&taken);
  sigaddset(&taken, SIGCHLD);
  sigaddset(&taken, SIGTERM);
  sigprocmask(SIG_SETMASK, &taken, nullptr);
  signals_ = Descriptor(signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
  // Daemons of an ended program come back to this process and are killed: one of them may hold a
  // port that the next needs.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  now_ = next_start_ = boot_time();
  while (!exit_code_) watch_once();
  return *exit_code_;
}

void Keeper::watch_once() {
  start_when_due();
  voice_.say(state_, next_start_);
  voice_.go_on();
  std::vector<pollfd> polled{{signals_.get(), POLLIN, 0}};
  if (child_ && !child_->is_decided()) polled.push_back({child_->news(), POLLIN, 0});
  checks_.add_to(polled);
  voice_.add_to(polled);
  if (poll(polled.data(), polled.size(), wait_ms()) < 0 && errno != EINTR) {
    exit_code_ = kCannotRun;
    return;
  }
  now_ = boot_time();
  if (child_) child_->hear(program_);
  if (polled.front().revents != 0) on_signals();
  judge();
  stop_when_due();
}

int Keeper::wait_ms() const {
  Duration until = std::min({checks_.due(), voice_.due(), stage_end_});
  if (!child_) {
    // A start that is due waits for the processes of the last run, of whose ends it hears.
    until = std::min(until, now_ < next_start_ ? next_start_ : ended_ + pace_.gone_within);
  } else if (must_get_ready()) {
    until = std::min(until, started_ + order_.service.start_within);
  }
  if (until == kAtNoTime) return -1;
  // Rounded up: a deadline looked at too early would only make the loop spin.
  const auto left = std::chrono::ceil<milliseconds>(until - boot_time()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, INT_MAX));
}

void Keeper::on_signals() {
  signalfd_siginfo info{};
  while (read(signals_.get(), &info, sizeof info) == sizeof info) {
    if (info.ssi_signo == SIGTERM) stop();
    if (info.ssi_signo == SIGCHLD) reap();
  }
}

void Keeper::reap() {
  while (true) {
    siginfo_t ended{};
    if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == 0) return;
    const pid_t pid = ended.si_pid;
    const bool is_program = child_ && child_->pid() == pid;
    // While it is not reaped no other group can have its number.
    if (is_program || checks_.runs(pid)) kill(-pid, SIGKILL);
    int status = 0;
    waitpid(pid, &status, 0);
    if (is_program) {
      on_end(status);
    } else {
      checks_.take_end(pid, status);
    }
  }
}

void Keeper::on_end(int status) {
  child_->hear(program_);
  if (!child_->start_failure().empty()) set_trouble(child_->start_failure());
  child_.reset();
  state_.exit_code = exit_code_of_status(status);
  ended_ = now_;
  checks_.end();
  set_ready(false);
  for (const pid_t left : descendants_of(getpid())) kill(left, SIGKILL);
  if (stage_ == Stage::keeping) {
    pause_for(pauses_.next());
  } else {
    exit_code_ = state_.exit_code;
  }
}

void Keeper::stop() {
  if (stage_ == Stage::keeping) {
    stage_ = Stage::draining;
    stage_end_ = now_ + order_.service.drain;
    checks_.end();
    set_ready(false);
    if (!child_) exit_code_ = kStopped;
  } else if (stage_ == Stage::draining) {
    stage_end_ = now_;
  }
}

void Keeper::stop_when_due() {
  if (!child_ || now_ < stage_end_) return;
  if (stage_ == Stage::draining) {
    stage_ = Stage::stopping;
    stage_end_ = now_ + order_.stop_grace;
    child_->signal(SIGTERM);
  } else {
    stage_end_ = kAtNoTime;
    child_->signal(SIGKILL);
  }
}

void Keeper::judge() {
  checks_.go_on();
  if (!child_ || stage_ != Stage::keeping || doomed_) return;
  // A program that cannot be executed was never well.
  const bool runs = child_->is_decided() && child_->start_failure().empty();
  set_ready(runs && checks_.ready.is_well());
  checks_.probe.run(state_.ready, program_.env);
  if (const auto number = checks_.probe.take_number()) {
    voice_.say_metric(checks_.probe.metric(), *number);
  }
  const std::string failure = checks_.failure();
  if (!failure.empty() || state_.ready) set_trouble(failure);
  const CheckStreak& alive = checks_.alive.streak();
  const Duration start_within = order_.service.start_within;
  const bool late = now_ >= started_ + start_within;
  // A program that is still starting need not answer.
  if (alive.has_failed() && (alive.was_well() || late)) return doom();
  if (!late || !must_get_ready()) return;
  const std::string why = "not ready within " + rounded_text(to_seconds(start_within)) + " s";
  const std::string& unready = checks_.ready.failure();
  set_trouble(unready.empty() ? why : why + ": " + unready);
  doom();
}

bool Keeper::must_get_ready() const {
  return stage_ == Stage::keeping && !doomed_ && checks_.ready.asks() &&
         !checks_.ready.streak().was_well();
}

/// Its end is followed by a restart.
void Keeper::doom() {
  doomed_ = true;
  checks_.end();
  set_ready(false);
  child_->signal(SIGKILL);
}

void Keeper::start_when_due() {
  if (child_ || stage_ != Stage::keeping || now_ < next_start_) return;
  if (has_children() && now_ < ended_ + pace_.gone_within) return;
  if (!ports_ && !claim_ports()) return;
  start();
}

bool Keeper::claim_ports() {
  ports_ = PortClaims::make(order_.service.ports, order_.first_port, order_.last_port,
                            static_cast<std::uint32_t>(getpid()) * kPortStride);
  if (!ports_) {
    set_trouble("no port is left from " + std::to_string(order_.first_port) + " to " +
                std::to_string(order_.last_port));
    // Nothing that passes at once.
    pause_for(std::max(pauses_.next(), pace_.first_pause));
    return false;
  }
  state_.ports = ports_->ports();
  for (const ReplicaPort& port : state_.ports) {
    const std::string variable = variable_of(port.name);
    std::erase_if(program_.env,
                  [&](const std::string& entry) { return entry.starts_with(variable); });
    program_.env.push_back(variable + std::to_string(port.number));
  }
  return true;
}

void Keeper::start() {
  if (started_ > Duration::zero()) ++state_.restarts;
  started_ = now_;
  state_.pause = {};
  doomed_ = false;
  child_ = ChildProgram::start(program_, ProgramOutput::inherited);
  if (child_) {
    checks_.begin(state_.ports, program_.env, pace_.first_check);
  } else {
    set_trouble(std::string("cannot start: no process: ") + std::strerror(errno));
    state_.exit_code = kCannotRun;
    pause_for(std::max(pauses_.next(), pace_.first_pause));
  }
}

void Keeper::pause_for(Duration pause) {
  state_.pause = pause;
  next_start_ = now_ + pause;
}

void Keeper::set_ready(bool ready) {
  if (ready && !state_.ready) ready_since_ = now_;
  if (!ready && state_.ready && now_ - ready_since_ >= pace_.forget_after) pauses_.forget();
  state_.ready = ready;
}

void Keeper::set_trouble(const std::string& text) {
  state_.trouble = trouble_text(text);
}

int keep_main(int argc, char** argv) {
  constexpr int kFirstWord = 4;
  const bool good = argc > kFirstWord && std::string_view(argv[1]) == kKeepVerb &&
                    std::string_view(argv[kFirstWord - 1]) == "--";
  if (!good) {
    std::fputs("usage: muster-shim keep JSON -- PROGRAM ARGS... (shims make keepers)\n", stderr);
    return kUsageError;
  }
  auto order = keeper_order_from(argv[2]);
  if (!order) {
    std::fputs("muster keep: its order is no whole one of a keeper\n", stderr);
    return kUsageError;
  }
  ProgramWords program;
  program.argv.assign(argv + kFirstWord, argv + argc);
  for (char** entry = environ; *entry != nullptr; ++entry) program.env.emplace_back(*entry);
  return Keeper(std::move(*order), std::move(program)).run();
}

}  // namespace muster::process
