#include "workers/process/exec/exec_desk.hpp"

#include <sys/eventfd.h>
#include <sys/random.h>

#include <algorithm>
#include <climits>
#include <vector>

#include "workers/process/progress.hpp"
#include "workers/process/quiet_thread.hpp"

namespace muster::process {
namespace {

/// How long a command may take to begin.
constexpr Duration kBeginWithin = std::chrono::seconds{8};

/// Numbers of an earlier process of this worker are not likely to come again soon.
std::uint16_t random_count() {
  std::uint16_t count = 0;
  [[maybe_unused]] const ssize_t got = getrandom(&count, sizeof count, 0);
  return count;
}

}  // namespace

ExecDesk::ExecDesk(Options options)
    : options_(std::move(options)),
      wakeup_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      count_(random_count()) {}

ExecDesk::~ExecDesk() {
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  eventfd_write(wakeup_.get(), 1);
  if (thread_.joinable()) thread_.join();
}

void ExecDesk::ask(ExecRequest request, Answer answer) {
  if (options_.most == 0) {
    return answer(exec_trouble(request, ExecTrouble::unsupported,
                               "worker.exec_most of the cluster file is 0"));
  }
  {
    const std::lock_guard lock(mutex_);
    if (asked_.size() < kMostAsked) {
      asked_.push_back({std::move(request), std::move(answer), {}});
      if (!thread_.joinable()) thread_ = quiet_thread([this] { work(); });
      eventfd_write(wakeup_.get(), 1);
      return;
    }
  }
  answer(exec_trouble(request, ExecTrouble::too_many,
                      "too many questions about commands wait for its worker"));
}

/// False: the desk is to end.
bool ExecDesk::take_questions(std::deque<Question>& questions) {
  eventfd_t ignored = 0;
  eventfd_read(wakeup_.get(), &ignored);
  const std::lock_guard lock(mutex_);
  questions.swap(asked_);
  return !quit_;
}

void ExecDesk::work() {
  std::vector<pollfd> polled;
  std::deque<Question> questions;
  while (take_questions(questions)) {
    for (Question& question : questions) look(std::move(question));
    questions.clear();
    const Duration now = boot_time();
    for (auto open = commands_.begin(); open != commands_.end();) {
      const auto next = std::next(open);
      serve(*open, now);
      // Without a client it ends here, and with it the command.
      const bool refused = open->told && open->command.trouble().trouble != ExecTrouble::none;
      const bool left = open->waiting.empty() && now - open->asked >= options_.keep;
      if (refused || left) commands_.erase(open);
      open = next;
    }
    polled.assign(1, {wakeup_.get(), POLLIN, 0});
    for (const Open& open : commands_) open.command.add_to(polled);
    poll(polled.data(), polled.size(), wait_ms());
  }
}

int ExecDesk::wait_ms() const {
  Duration until = Duration::max();
  for (const Open& open : commands_) {
    if (open.waiting.empty()) until = std::min(until, open.asked + options_.keep);
    for (const Question& each : open.waiting) until = std::min(until, each.until);
    if (open.command.look_at() > Duration::zero()) until = std::min(until, open.command.look_at());
  }
  if (until == Duration::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - boot_time()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, INT_MAX));
}

void ExecDesk::look(Question question) {
  if (question.request.command == 0) return begin(std::move(question));
  const auto found = std::find_if(commands_.begin(), commands_.end(), [&](const Open& open) {
    return open.number == question.request.command &&
           open.command.request().task == question.request.task;
  });
  if (found != commands_.end()) return go_on(*found, std::move(question));
  question.answer(exec_trouble(question.request, ExecTrouble::unknown,
                               "it was ended, or its worker was started anew"));
}

/// Why no further command may begin; empty: it may.
std::string ExecDesk::bound_reached(const ExecRequest& request) {
  std::uint32_t all = 0;
  std::uint32_t of_user = 0;
  std::uint32_t of_task = 0;
  for (const Open& open : commands_) {
    if (open.command.is_over()) continue;
    ++all;
    of_user += open.command.request().user == request.user ? 1 : 0;
    of_task += open.command.request().task == request.task ? 1 : 0;
  }
  const auto text = [](std::uint32_t most, const std::string& of) {
    return "as many commands run beside tasks as may: " + std::to_string(most) + " " + of;
  };
  if (of_task >= kMostOfTask) return text(kMostOfTask, "beside this task");
  if (of_user >= kMostOfUser) return text(kMostOfUser, "of '" + request.user + "' on its instance");
  if (all >= options_.most) return text(options_.most, "on its instance (worker.exec_most)");
  return {};
}

/// Of those that are over, which are kept for a client that has not heard the end.
void ExecDesk::forget_one_over() {
  if (commands_.size() < 2 * std::size_t{options_.most}) return;
  const auto over = std::find_if(commands_.begin(), commands_.end(), [](const Open& open) {
    return open.command.is_over() && open.waiting.empty();
  });
  if (over != commands_.end()) commands_.erase(over);
}

std::uint64_t ExecDesk::new_number() {
  for (;;) {
    const std::uint64_t number = exec_number(options_.instance, ++count_);
    const bool taken = std::any_of(commands_.begin(), commands_.end(),
                                   [&](const Open& open) { return open.number == number; });
    if (!taken && number != 0) return number;
  }
}

void ExecDesk::begin(Question question) {
  const ExecRequest& request = question.request;
  const auto again = std::find_if(commands_.begin(), commands_.end(), [&](const Open& open) {
    const ExecRequest& first = open.command.request();
    return !request.token.empty() && first.token == request.token && first.task == request.task &&
           first.user == request.user;
  });
  if (again != commands_.end()) {
    question.request.command = again->number;
    return go_on(*again, std::move(question));
  }
  if (std::string reason = bound_reached(request); !reason.empty()) {
    return question.answer(exec_trouble(request, ExecTrouble::too_many, std::move(reason)));
  }
  forget_one_over();
  Open& open = commands_.emplace_back(request, options_.attempts);
  open.number = new_number();
  open.asked = boot_time();
  question.request.command = open.number;
  question.until = open.asked + kBeginWithin;
  open.waiting.push_back(std::move(question));
}

void ExecDesk::go_on(Open& open, Question question) {
  const Duration now = boot_time();
  open.asked = now;
  open.command.heed(question.request);
  question.until = now + std::min(question.request.wait, kMostExecWait);
  if (open.waiting.size() == kMostWaiting) {
    open.waiting.front().answer(open.command.state(open.waiting.front().request));
    open.waiting.pop_front();
  }
  if (question.request.ends) {
    question.answer(open.command.state(question.request));
    for (const Question& each : open.waiting) each.answer(open.command.state(each.request));
    open.waiting.clear();
    // At the next turn it is taken for left.
    open.asked = now - options_.keep;
    return;
  }
  open.waiting.push_back(std::move(question));
}

void ExecDesk::serve(Open& open, Duration now) {
  open.command.serve(now);
  for (auto each = open.waiting.begin(); each != open.waiting.end();) {
    const ExecRequest& request = each->request;
    const bool begins = !request.argv.empty();
    const bool ready = begins ? open.command.is_begun() : open.command.has_news(request);
    if (!ready && now < each->until) {
      ++each;
      continue;
    }
    open.asked = now;
    if (begins && !open.command.is_begun()) {
      each->answer(exec_trouble(request, ExecTrouble::failed, "its task's supervisor is too busy"));
      open.asked = now - options_.keep;
    } else {
      each->answer(open.command.state(request));
      open.told |= begins;
    }
    each = open.waiting.erase(each);
  }
}

}  // namespace muster::process
