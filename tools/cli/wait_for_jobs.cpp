#include "tools/cli/wait_for_jobs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <optional>
#include <string_view>

#include "config/numbers.hpp"
#include "tools/cli/interrupt_watch.hpp"
#include "tools/cli/named_task.hpp"
#include "tools/cli/output.hpp"
#include "tools/client/pages.hpp"
#include "tools/client/views.hpp"

// Waits for jobs at the API. Without a progress line only the first open job is asked for, with a
// long wait in the server: any number of jobs costs one request at a time. Ctrl-C ends the waiting,
// not the jobs.

namespace muster::cli {
namespace {

/// It has done what it was there for.
bool is_good_end(const JobView& job) {
  return job.state == ShownState::completed || job.state == ShownState::replaced;
}

using client::ClientError;

/// How long the API is to wait with its answer for a job to be over; where others are shown, they
/// are looked at as often.
constexpr std::chrono::seconds kWait{20};
constexpr std::chrono::seconds kWaitWhenShown{2};
/// From an answer that came at once, although the job is not over, to the next question.
constexpr Duration kBetweenLooks = std::chrono::milliseconds{100};

/// One line that is drawn over again.
class ProgressLine {
 public:
  explicit ProgressLine(bool shown) : shown_(shown) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  bool shown() const { return shown_; }
  void draw(const std::string& line) {
    if (!shown_ || line == drawn_) return;
    std::cerr << "\r\x1b[K" << line << std::flush;
    drawn_ = line;
  }
  void clear() {
    if (!drawn_.empty()) std::cerr << "\r\x1b[K" << std::flush;
    drawn_.clear();
  }

 private:
  bool shown_;
  std::string drawn_;
};

/// The jobs that are waited for, as they were last seen.
class Waiting {
 public:
  Waiting(client::ApiClient& api, const std::vector<std::uint64_t>& jobs,
          const std::optional<Duration>& at_most)
      : api_(api), ids_(jobs), jobs_(jobs.size()) {
    if (at_most) until_ = std::chrono::steady_clock::now() + *at_most;
  }

  /// Waits for the first job that is not over yet to be; and looks at the others, if all are shown.
  std::optional<Failure<ClientError>> look(bool all) {
    // The first line is shown at once, and later ones from then on.
    std::chrono::seconds wait{};
    if (!all || seen_) wait = all ? kWaitWhenShown : kWait;
    if (until_) wait = std::min(wait, std::chrono::ceil<std::chrono::seconds>(left()));
    seen_ = true;
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      if (client::is_over(jobs_[i])) continue;
      // Of the tasks nothing is shown.
      std::string path = fmt::format("/v1/jobs/{}?", ids_[i]);
      if (wait.count() > 0) path += fmt::format("wait_s={}&", wait.count());
      path += "limit=1";
      const auto answer = api_.get(path, wait);
      if (!answer) return answer.error();
      const auto job = client::job_only(answer.value());
      if (!job) return job.error();
      jobs_[i] = job.value();
      // The others are asked for when this one is over; most are over by then too.
      if (!all) break;
      // One wait a round is enough: the others are looked at as they are.
      wait = {};
    }
    return std::nullopt;
  }
  std::size_t count_over() const {
    return static_cast<std::size_t>(std::count_if(
        jobs_.begin(), jobs_.end(), [](const JobView& job) { return client::is_over(job); }));
  }
  bool all_over() const {
    return std::all_of(jobs_.begin(), jobs_.end(),
                       [](const JobView& job) { return client::is_over(job); });
  }
  const std::vector<JobView>& jobs() const { return jobs_; }
  bool timed_out() const { return until_ && left() <= Duration{}; }
  /// Prints all of the jobs with all their tasks, page after page.
  std::optional<Failure<ClientError>> print_documents() const {
    print_text(R"({"jobs":[)");
    for (const std::uint64_t id : ids_) {
      if (id != ids_.front()) print_text(",");
      client::Pages pages{fmt::format("/v1/jobs/{}?", id), "tasks",
                          std::numeric_limits<std::uint64_t>::max()};
      client::JsonOfPages document(pages.list, print_text);
      const auto add = [&](const client::Answer& page,
                           bool last) -> std::optional<Failure<ClientError>> {
        document.add(page, last);
        return std::nullopt;
      };
      if (auto failure = client::each_page(api_, pages, add)) return failure;
    }
    print_text("]}\n");
    return std::nullopt;
  }

 private:
  Duration left() const {
    return std::max(Duration{}, Duration(*until_ - std::chrono::steady_clock::now()));
  }

  client::ApiClient& api_;
  const std::vector<std::uint64_t>& ids_;
  std::optional<std::chrono::steady_clock::time_point> until_;
  std::vector<JobView> jobs_;
  bool seen_ = false;  ///< they have been looked at
};

int stop_waiting(const std::vector<std::uint64_t>& jobs) {
  complain(fmt::format("waiting has stopped, the work goes on; see `muster job {}`", jobs.front()));
  return kStopped;
}

/// Which jobs are waited for, and how.
struct Awaited {
  const std::vector<std::uint64_t>& jobs;
  const WaitOptions& how;
};

int give_up(const Waiting& waiting, const Awaited& awaited) {
  std::vector<std::uint64_t> open;
  for (std::size_t i = 0; i < awaited.jobs.size(); ++i) {
    if (!client::is_over(waiting.jobs()[i])) open.push_back(awaited.jobs[i]);
  }
  constexpr std::size_t kNamed = 10;
  const std::size_t more = open.size() - std::min(open.size(), kNamed);
  open.resize(open.size() - more);
  complain(fmt::format("not over after {}: job{} {}{}", duration_text(*awaited.how.at_most),
                       open.size() == 1 ? "" : "s", fmt::join(open, ", "),
                       more > 0 ? fmt::format(" and {} more", more) : ""));
  return kTimedOut;
}

/// Waits until all jobs are over; an exit code when that did not come about.
std::optional<int> watch(Waiting& waiting, const InterruptWatch& interrupt, ProgressLine& line,
                         const Awaited& awaited) {
  const std::vector<std::uint64_t>& jobs = awaited.jobs;
  while (true) {
    const auto begin = std::chrono::steady_clock::now();
    const std::size_t over_before = waiting.count_over();
    if (const auto failure = waiting.look(line.shown())) {
      line.clear();
      if (failure->code == ClientError::stopped) return stop_waiting(jobs);
      complain(failure->message);
      if (waiting.timed_out()) return give_up(waiting, awaited);
      if (awaited.how.accepted) {
        complain(
            fmt::format("the jobs go on if they were accepted; see `muster job {}`", jobs.front()));
      }
      return kFailed;
    }
    if (waiting.all_over()) return std::nullopt;
    if (waiting.timed_out()) {
      line.clear();
      return give_up(waiting, awaited);
    }
    line.draw(client::progress_line(waiting.jobs()));
    const Duration took = std::chrono::steady_clock::now() - begin;
    // A server that answers at once although nothing is over would be asked without end.
    const bool goes_on = waiting.count_over() > over_before || took >= kBetweenLooks;
    if (!interrupt.pause(goes_on ? Duration{} : kBetweenLooks)) {
      line.clear();
      return stop_waiting(jobs);
    }
  }
}

/// The stream of the job's failed task is known to have nothing.
bool is_empty(client::ApiClient& api, const JobView& job, const char* stream) {
  auto answer = api.get_bytes(fmt::format("/v1/jobs/{}/tasks/{}/log?stream={}&offset=0&max=1&raw=1",
                                          job.job.value, *job.failed_task, stream));
  if (!answer) return false;
  const auto part = client::raw_log_part(std::move(answer).value());
  return part && part->text.empty() && !part->more;
}

void print_end(client::ApiClient& api, const JobView& job) {
  if (is_good_end(job)) return;
  const std::uint64_t number = job.job.value;
  const std::string reason = job.reason.value_or("");
  std::string text =
      fmt::format("job {} ({}) is {}", number, job.name, client::shown_word(job.state));
  if (!reason.empty()) text += ": " + reason;
  const bool said = reason.find("exit code") != std::string::npos;
  const std::int64_t code = job.exit_code.value_or(0);
  if (code != 0 && !said) text += fmt::format(", exit code {}", code);
  complain(text);
  if (!job.failed_task) return;
  const std::string task = job.tasks == 1 ? "" : fmt::format(" --task {}", *job.failed_task);
  if (!is_empty(api, job, "err")) {
    complain(fmt::format("its standard error: `muster logs {}{} --err`", number, task));
  } else if (!is_empty(api, job, "out")) {
    complain(fmt::format("its output: `muster logs {}{}`", number, task));
  }
}

}  // namespace

int exit_code_of(const JobView& job) {
  if (is_good_end(job)) return kDone;
  if (job.state == ShownState::cancelled) return kStopped;
  constexpr std::int64_t kLargest = 255;
  const std::int64_t code = job.exit_code.value_or(0);
  // Codes of processes have 8 bits; a larger one would wrap round, possibly to success.
  return code > 0 && code <= kLargest ? static_cast<int>(code) : kFailed;
}

int wait_for_jobs(const ClientOptions& options, const std::vector<std::uint64_t>& jobs,
                  const WaitOptions& how) {
  const InterruptWatch interrupt;
  const auto api = connect(options, [&](client::ApiOptions& tuned) {
    // Nodes may be restarted while a job runs for days.
    if (how.at_most) tuned.retry_for = std::min(tuned.retry_for, *how.at_most);
    tuned.refused_for = tuned.retry_for;
    tuned.pause = [&](Duration length) { return interrupt.pause(length); };
    tuned.stop_asked = [&] { return interrupt.interrupted(); };
  });
  if (!api) return kFailed;
  Waiting waiting(*api, jobs, how.at_most);
  ProgressLine line(how.show_progress && is_able_terminal(STDERR_FILENO));
  if (const auto exit_code = watch(waiting, interrupt, line, {jobs, how})) return *exit_code;
  line.clear();
  if (options.json) {
    if (const auto failure = waiting.print_documents()) return complain_of(*failure);
  }
  int exit_code = kDone;
  for (const JobView& job : waiting.jobs()) {
    // The first failure in the order of the jobs decides, so that scripts get the same code each
    // time.
    if (exit_code == kDone) exit_code = exit_code_of(job);
    print_end(*api, job);
  }
  return exit_code;
}

}  // namespace muster::cli
