#include "config/stop_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <string_view>
#include <utility>

#include "config/text_pieces.hpp"

namespace muster::config {
namespace {

using R = JobRequest;

constexpr std::string_view kSignalWord = "signal";
constexpr std::string_view kProgramOnly = "B:";
/// As in Slurm.
constexpr Duration kWarnBefore = std::chrono::seconds{60};
constexpr Duration kLongest = std::chrono::hours{24 * 3650};
/// Numbers of real-time signals differ between systems.
constexpr double kLastSignal = 31;
constexpr NumberRange kCodes{.low = 1, .high = 255, .whole = true};
constexpr std::string_view kWantedSignal =
    "a text like \"USR1@60\": [B:]SIGNAL[@TIME], where TIME is seconds or a text like \"5min\" "
    "(default: 60), and B: is for the program alone; SIGNAL is a name such as USR1, TERM or HUP, "
    "or "
    "a number from 1 to 31, but neither KILL nor STOP, which no program can take";
constexpr std::string_view kWantedCodes =
    "a list like [75, \"signal\"], or a text like \"75,signal\": exit codes from 1 to 255, and "
    "\"signal\"";

constexpr std::array<std::pair<std::string_view, int>, 20> kSignals = {
    {{"HUP", SIGHUP},   {"INT", SIGINT},     {"QUIT", SIGQUIT}, {"ABRT", SIGABRT},
     {"USR1", SIGUSR1}, {"USR2", SIGUSR2},   {"PIPE", SIGPIPE}, {"ALRM", SIGALRM},
     {"TERM", SIGTERM}, {"CHLD", SIGCHLD},   {"CONT", SIGCONT}, {"TSTP", SIGTSTP},
     {"TTIN", SIGTTIN}, {"TTOU", SIGTTOU},   {"URG", SIGURG},   {"XCPU", SIGXCPU},
     {"XFSZ", SIGXFSZ}, {"WINCH", SIGWINCH}, {"IO", SIGIO},     {"PWR", SIGPWR}}};

/// The signal of that name or number; nothing when a program could not take it.
std::optional<int> signal_of(std::string_view text) {
  if (const auto number = parse_whole(text)) {
    const bool is_one = *number >= 1 && *number <= static_cast<std::uint64_t>(kLastSignal);
    const int signal = is_one ? static_cast<int>(*number) : 0;
    if (!is_one || signal == SIGKILL || signal == SIGSTOP) return std::nullopt;
    return signal;
  }
  if (text.starts_with("SIG")) text.remove_prefix(3);
  const auto found = std::find_if(kSignals.begin(), kSignals.end(),
                                  [&](const auto& each) { return each.first == text; });
  return found == kSignals.end() ? std::nullopt : std::optional(found->second);
}

struct Warning {
  int signal = 0;
  Duration before = kWarnBefore;
  bool program_only = false;
};

std::optional<Warning> parse_warning(std::string_view text) {
  Warning warning;
  if (text.starts_with(kProgramOnly)) {
    warning.program_only = true;
    text.remove_prefix(kProgramOnly.size());
  }
  const std::size_t at = text.find('@');
  if (at != std::string_view::npos) {
    const auto before = parse_duration(text.substr(at + 1));
    if (!before || *before <= Duration{} || *before > kLongest) return std::nullopt;
    warning.before = *before;
  }
  const auto signal = signal_of(text.substr(0, at));
  if (!signal) return std::nullopt;
  warning.signal = *signal;
  return warning;
}

std::string text_of(const Program& program) {
  const auto name = std::find_if(kSignals.begin(), kSignals.end(), [&](const auto& each) {
    return each.second == program.warn_signal;
  });
  return fmt::format("{}{}@{}", program.warn_program_only ? kProgramOnly : "",
                     name == kSignals.end() ? std::to_string(program.warn_signal) : name->first,
                     seconds_text(program.warn_before));
}

bool read_signal(JobRequest& request, const RequestValue& value) {
  const auto* text = std::get_if<std::string>(&value.data);
  if (text == nullptr || !parse_warning(*text)) return false;
  request.signal = *text;
  return true;
}

void check_signal(const JobRequest& request, const Report& report) {
  if (request.signal.empty() || parse_warning(request.signal)) return;
  report("signal", fmt::format("has to be {}; it is \"{:.60}\"", kWantedSignal, request.signal));
}

/// As it is kept: "75" or "signal"; nothing when it is neither.
std::optional<std::string> end_of(std::string_view text) {
  text = without_spaces(text);
  if (text == kSignalWord) return std::string(text);
  const auto code = parse_whole(text);
  if (!code || !kCodes.contains(static_cast<double>(*code))) return std::nullopt;
  return std::to_string(*code);
}

std::optional<std::string> end_of(const RequestValue& value) {
  if (const auto* text = std::get_if<std::string>(&value.data)) return end_of(*text);
  const auto* code = std::get_if<std::int64_t>(&value.data);
  return code == nullptr ? std::nullopt : end_of(std::to_string(*code));
}

bool read_ends(JobRequest& request, const RequestValue& value) {
  std::vector<std::string> ends;
  if (const auto* text = std::get_if<std::string>(&value.data)) {
    for (const std::string_view each : pieces_of(*text, ',')) {
      auto end = end_of(each);
      if (!end) return false;
      ends.push_back(*std::move(end));
    }
  } else if (const auto* list = std::get_if<RequestValue::List>(&value.data)) {
    for (const RequestValue& element : *list) {
      auto end = end_of(element);
      if (!end) return false;
      ends.push_back(*std::move(end));
    }
  } else {
    return false;
  }
  // Each once and in one order: two spellings of a request are the same submission.
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  request.retry_on = std::move(ends);
  return true;
}

void check_ends(const JobRequest& request, const Report& report) {
  for (const std::string& each : request.retry_on) {
    if (end_of(each) == each) continue;
    return report("retry_on", fmt::format("has to be {}; it has \"{:.60}\"", kWantedCodes, each));
  }
}

}  // namespace

std::vector<RequestKey> stop_keys() {
  return {
      {"done_on_stop", "true or false", "false",
       "a task that ends with exit code 0 after it was asked to stop has done its work; else it "
       "has left, and is started again",
       RequestSwitch{&R::done_on_stop},
       RequestFlag{"--done-on-stop",
                   "exit code 0 after a request to stop: the task has done its work"}},
      {"retry_on", "list, or text like \"75,signal\"", "any failure",
       "the failures after which a task is tried again, as often as `retries` says: exit codes "
       "from 1 to 255, and `signal`; any other is final",
       RequestOther{&R::retry_on, std::string(kWantedCodes), read_ends, check_ends, kCodes},
       RequestFlag{
           "--retry-on",
           "only after these failures, like 75,signal: exit codes, and signal; default: any"}},
      {"signal", "text like \"USR1@60\"", "none",
       "a signal to every process of an attempt before its time limit, as `[B:]SIGNAL[@TIME]`: "
       "TIME before it (60 s unless it is said); with `B:`, like `B:USR1@5min`, to the program "
       "alone",
       RequestOther{&R::signal, std::string(kWantedSignal), read_signal, check_signal},
       RequestFlag{
           "--signal",
           "before the time limit, like USR1@60: [B:]SIGNAL[@TIME]; B: to the program alone"}}};
}

void check_stops(const JobRequest& request, const Report& report) {
  if (!request.retry_on.empty() && request.retries.value_or(0) == 0) {
    report("retry_on", "needs retries, which says how many such failures are forgiven");
  }
  const auto warning = parse_warning(request.signal);
  if (!warning) return;
  if (!request.time_limit_s) {
    return report("signal", "comes before a time limit: say time_limit_s, too");
  }
  const Duration limit = from_seconds(*request.time_limit_s);
  if (warning->before < limit) return;
  report("signal", fmt::format("has to come after the start: it comes {} before the time limit, "
                               "which is {}",
                               duration_text(warning->before), duration_text(limit)));
}

void make_stops(const JobRequest& request, Job& job) {
  job.done_on_stop = request.done_on_stop;
  job.retry_on = request.retry_on;
  const auto warning = parse_warning(request.signal);
  if (!warning) return;
  job.program.warn_signal = warning->signal;
  job.program.warn_before = warning->before;
  job.program.warn_program_only = warning->program_only;
}

void ask_stops(const Job& job, JobRequest& request) {
  request.done_on_stop = job.done_on_stop;
  request.retry_on = job.retry_on;
  if (job.program.warn_signal != 0) request.signal = text_of(job.program);
}

}  // namespace muster::config
