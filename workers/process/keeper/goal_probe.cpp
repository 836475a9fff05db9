#include "workers/process/keeper/goal_probe.hpp"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <utility>

#include "model/rounded_text.hpp"
#include "model/task_metrics.hpp"
#include "workers/process/progress.hpp"

namespace muster::process {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace

std::optional<double> printed_number(std::string_view text) {
  const std::string_view word = trimmed(text);
  double number = 0;
  const char* const last = word.data() + word.size();
  const auto parsed = std::from_chars(word.data(), last, number);
  const bool is_whole = parsed.ec == std::errc{} && parsed.ptr == last && !word.empty();
  return is_whole && is_metric_value(number) ? std::optional(number) : std::nullopt;
}

void GoalProbe::run(bool ready, const std::vector<std::string>& env) {
  if (goal_.probe.empty() || ready == active_) return;
  active_ = ready;
  if (active_) {
    words_ = {goal_.probe, env};
    next_ = boot_time();
    return;
  }
  // It is kept until it is reaped.
  killed_ = child_.has_value();
  if (child_) child_->signal(SIGKILL);
}

void GoalProbe::go_on() {
  const Duration now = boot_time();
  if (child_) {
    child_->hear(words_);
    child_->read_output();
    if (!killed_ && now >= started_ + goal_.timeout) {
      killed_ = true;
      child_->signal(SIGKILL);
      fail("no number within " + rounded_text(to_seconds(goal_.timeout)) + " s");
    }
  } else if (active_ && now >= next_) {
    start();
  }
}

void GoalProbe::start() {
  started_ = boot_time();
  next_ = started_ + goal_.every;
  killed_ = false;
  child_ = ChildProgram::start(words_, ProgramOutput::read);
  if (!child_) fail(std::string("no process: ") + std::strerror(errno));
}

bool GoalProbe::take_end(pid_t pid, int status) {
  if (!runs(pid)) return false;
  child_->hear(words_);
  child_->read_output();
  const std::string failed_start = child_->start_failure();
  const std::string printed = child_->output();
  const bool counts = !killed_;
  child_.reset();
  killed_ = false;
  if (!counts) return true;
  const std::int32_t code = exit_code_of_status(status);
  const auto number = printed_number(printed);
  if (!failed_start.empty()) {
    failure_ = failed_start;
  } else if (code != 0) {
    fail("exit code " + std::to_string(code));
  } else if (!number) {
    fail("prints no number: \"" + std::string(trimmed(printed)) + '"');
  } else {
    failure_.clear();
    number_ = number;
  }
  return true;
}

void GoalProbe::fail(const std::string& why) {
  failure_ = "probe " + goal_.probe.front() + ": " + why;
}

std::optional<double> GoalProbe::take_number() {
  return std::exchange(number_, std::nullopt);
}

void GoalProbe::add_to(std::vector<pollfd>& polled) const {
  if (child_ && child_->output_of() >= 0) polled.push_back({child_->output_of(), POLLIN, 0});
}

Duration GoalProbe::due() const {
  if (child_) return killed_ ? Duration::max() : started_ + goal_.timeout;
  return active_ ? next_ : Duration::max();
}

}  // namespace muster::process
