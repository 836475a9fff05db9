#include "workers/process/shim/shim_run.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>

#include "workers/process/shim/shim_files.hpp"
#include "workers/process/shim/shim_sockets.hpp"
#include "workers/process/shim/shim_usage.hpp"

// One thread and one poll(): streams, sockets, signals as a descriptor, and deadlines. Nothing in
// the loop waits for anybody, so that no task and no executor can hold it up, but for a task that
// shares this process's memory while it executes its program (share_into()).

namespace muster::process {
namespace {

using std::chrono::milliseconds;

/// The pause after anything was heard on the progress socket: a task that floods the socket costs
/// the shim little.
constexpr Duration kProgressRest = milliseconds{2};
constexpr Duration kNever = Duration::max();
constexpr std::size_t kCopyBytes = std::size_t{64} << 10;
constexpr std::int32_t kFolderLost = 1;
/// Enough for full pipes; a process that escaped must not keep the shim reading.
constexpr int kDrainRounds = 32;
constexpr LineServer::Bounds kControlBounds{
    .connections = 4, .line_bytes = kMaxControlLine, .bytes_a_round = 4096};

LogWriter::Bounds log_bounds(const WorkerTerms& worker) {
  return {worker.log_file_bytes, worker.log_files_kept};
}

/// How long an attempt with a time limit runs before it is warned of it, if it is.
Duration warned_after(const Program& program) {
  return program.time_limit - (program.warn_signal == 0 ? Duration::zero() : program.warn_before);
}

std::int64_t wall_time_ns() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// For an attempt whose folder is gone: its work is done, but its output cannot be read.
void fail_without_output(AttemptResult& result) {
  if (result.exit_code != 0 || result.kind != EndKind::exited || result.stopped) return;
  result.kind = EndKind::folder_gone;
  result.exit_code = kFolderLost;
}

/// A replica is not over with its program: the keeper, which is its first process, sees the end and
/// starts it again. False for a task that is no replica.
bool kill_replica(const Order& order, pid_t keeper, const std::vector<pid_t>& processes) {
  if (!order.service) return false;
  for (const pid_t pid : processes) {
    if (pid != keeper && pid != getpid()) kill(pid, SIGKILL);
  }
  return true;
}

/// Before the result, which needs some of it. A work folder that the job has named is its user's.
void make_space_on_disk(const Order& order, const TaskPlace& place, bool drop_checkpoint) {
  std::error_code ignored;
  if (order.program.work_dir.empty()) std::filesystem::remove_all(place.work_dir, ignored);
  if (drop_checkpoint) std::filesystem::remove_all(order.worker.checkpoint_dir, ignored);
}

}  // namespace

ShimRun::ShimRun(ShimSetup setup, Order order)
    : setup_(std::move(setup)),
      order_(std::move(order)),
      logs_(setup_.folder.get(), log_bounds(order_.worker)),
      control_(kControlBounds),
      progress_(LineServer::Bounds{}),
      said_(order_.worker.metric_names, order_.service) {}

bool ShimRun::run() {
  // finish() comes in either case: a task that could not start has a result as well.
  if (prepare()) {
    while (!over_) watch_once();
  }
  return finish();
}

bool ShimRun::prepare() {
  // First: an executor may ask for a stop while the task is still being started.
  open_sockets();
  lease_ = Lease::in_time(setup_.folder.get());
  if (const auto end = lease_.end(); end && boot_time() >= *end) {
    fail_start(EndKind::not_launched, "cannot start: the lease of its machine has ended");
    return false;
  }
  if (!order_.worker.group.empty()) {
    group_ = TaskGroup::make(order_);
    if (!group_) {
      fail_start(EndKind::not_launched,
                 "cannot start: cgroup " + order_.worker.group + ": " + std::strerror(errno));
      return false;
    }
  }
  // Behind the group, without which a worker that ends meanwhile would take the one above it.
  if (!prepare_folders()) return false;
  auto task = fork_task(order_, place_, group_ ? group_->folder() : -1);
  if (!task) {
    StartTrouble trouble;
    trouble.error = errno;
    fail_start(EndKind::not_launched, describe(trouble, order_, place_));
    return false;
  }
  task_ = std::move(*task);
  // Two clocks: limits are measured by one that cannot be set, reports show the wall's.
  started_ = boot_time();
  end_.started_ns = wall_time_ns();
  due_.usage_check = started_ + order_.worker.memory_interval;
  return true;
}

void ShimRun::open_sockets() {
  control_.greet([this] { return greeting(); });
  control_.listen(listen_abstract(order_.worker.control));
  control_.admit({geteuid()});
  // Tasks of this user that are isolated by namespaces find the name of the socket, too.
  control_.admit_own_namespace_only();
  control_.add(std::move(setup_.executor));
  commands_.listen(listen_abstract(order_.worker.control + kBesideSocket));
  progress_.admit({geteuid(), order_.worker.user.value_or(geteuid())});
  auto [listener, name] = listen_for_task(setup_.folder.get(), setup_.path, order_.worker);
  // An abstract name is open to every process of the user, in whatever container.
  if (name.starts_with('@')) progress_.admit_namespace_of([this] { return task_.pid; });
  progress_.listen(std::move(listener));
  place_.progress_socket = std::move(name);
}

bool ShimRun::prepare_folders() {
  place_.attempt_dir = setup_.path;
  const std::string own = setup_.path + "/" + kWorkFolder;
  place_.work_dir = order_.program.work_dir.empty() ? own : order_.program.work_dir;
  const char* home = getenv("HOME");
  // Another user must not get the worker's home folder, which it could not read anyway.
  place_.home = order_.worker.user || home == nullptr ? place_.work_dir : home;
  if (!order_.worker.user_home.empty()) place_.home = order_.worker.user_home;
  const bool is_staged = !order_.program.stage.empty();
  const FilesWait wait{setup_.signals.get(), control_, lease_};
  if (is_staged) {
    if (auto failure = bring_files(order_, setup_.path, wait, end_)) {
      fail_start(failure->kind, failure->reason);
      return false;
    }
  }
  const std::string made = order_.program.work_dir.empty() && !is_staged ? own : "";
  for (const std::string& folder : {made, order_.worker.checkpoint_dir}) {
    if (folder.empty()) continue;
    if (const int error = make_task_folder(folder, order_.worker); error != 0) {
      fail_start(EndKind::not_launched, "cannot start: " + folder + ": " + std::strerror(error));
      return false;
    }
  }
  if (order_.program.script.empty()) return true;
  place_.script = setup_.path + "/" + kScriptFile;
  if (const int error = write_script(setup_.folder.get(), order_); error != 0) {
    fail_start(EndKind::not_launched,
               "cannot start: the script cannot be written: " + std::string(std::strerror(error)));
    return false;
  }
  return true;
}

void ShimRun::watch_once() {
  std::vector<pollfd> polled{{setup_.signals.get(), POLLIN, 0}};
  for (const Descriptor* stream : {&task_.out, &task_.err, &task_.news}) {
    if (*stream) polled.push_back({stream->get(), POLLIN, 0});
  }
  control_.add_to(polled);
  commands_.add_to(polled);
  // While it rests the socket is not polled: its bytes wait in the kernel.
  if (boot_time() >= progress_rest_) progress_.add_to(polled);
  if (poll(polled.data(), polled.size(), wait_ms()) < 0 && errno != EINTR) {
    over_ = true;
    return;
  }
  // Streams before signals: the end of the task is seen after what it wrote.
  copy(task_.out, logs_.out());
  copy(task_.err, logs_.err());
  if (starting_) on_start_order();
  on_sockets(polled);
  on_signals();
  check_deadlines();
}

int ShimRun::wait_ms() const {
  // The nearest of all deadlines; without one poll() waits for a descriptor.
  const Duration now = boot_time();
  Duration until = kNever;
  const Program& program = order_.program;
  if (end_.why == Ending::none && program.time_limit > Duration::zero()) {
    until = std::min(until, started_ + (warned_ ? program.time_limit : warned_after(program)));
  }
  if (due_.kill != Duration::zero()) until = std::min(until, due_.kill);
  if (order_.worker.means != LimitMeans::cgroup2) until = std::min(until, due_.usage_check);
  for (const auto& due : {said_.next_due(), logs_.next_due(), commands_.next_due()}) {
    if (due) until = std::min(until, *due);
  }
  if (progress_rest_ > now) until = std::min(until, progress_rest_);
  if (const auto wait = lease_.look_in(now)) until = std::min(until, now + *wait);
  if (until == kNever) return -1;
  // Rounded up: a deadline looked at too early would only make the loop spin.
  const auto left = std::chrono::ceil<milliseconds>(until - now).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, INT_MAX));
}

void ShimRun::on_signals() {
  signalfd_siginfo info{};
  while (read(setup_.signals.get(), &info, sizeof info) == sizeof info) {
    if (info.ssi_signo == SIGTERM) end_gently(Ending::stop);
    if (info.ssi_signo == SIGCHLD) reap();
  }
}

void ShimRun::reap() {
  int status = 0;
  rusage usage{};
  pid_t ended = 0;
  while ((ended = wait4(-1, &status, WNOHANG, &usage)) > 0) {
    // Orphans that have come to the shim are reaped too, and their ends are not reported.
    if (ended != task_.pid) {
      commands_.reaped(ended, status, describe_command());
      continue;
    }
    end_.status = status;
    end_.usage = usage;
    over_ = true;
    // The pipe of a start is read once more: the task may have ended before the news was heard.
    if (starting_) on_start_order();
  }
}

void ShimRun::on_start_order() {
  StartTrouble trouble;
  const ssize_t got = read(task_.news.get(), &trouble, sizeof trouble);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  // The pipe closes with exec: nothing in it means that the program runs.
  task_.news.reset();
  starting_ = false;
  if (got == sizeof trouble) {
    fail_start(end_kind_of(trouble, order_), describe(trouble, order_, place_));
    end_.start_failure_code = exit_code_of(trouble);
  } else {
    control_.tell(greeting());
  }
}

void ShimRun::on_sockets(const std::vector<pollfd>& polled) {
  control_.serve(polled, [this](std::string_view line) { return control(line); });
  serve_commands(polled);
  const Duration now = boot_time();
  if (now >= progress_rest_ &&
      progress_.serve(polled, [this](std::string_view line) { return progress(line); })) {
    progress_rest_ = now + kProgressRest;
  }
}

void ShimRun::serve_commands(const std::vector<pollfd>& polled) {
  const auto fork = [this](const BesideAsked& asked) {
    SideProgram side{asked.request.argv, asked.request.term, asked.request.terminal};
    side.in = asked.streams.front().get();
    side.out = asked.streams[side.terminal ? 0 : 1].get();
    side.err = asked.streams[side.terminal ? 0 : 2].get();
    side.task = task_.pid;
    return fork_beside(order_, place_, group_ ? group_->folder() : -1, side);
  };
  const char* not_now = starting_ ? "its program has not started yet"
                        : over_   ? "its program has just ended"
                                  : "";
  commands_.serve(polled, not_now, fork, describe_command());
}

/// In the words for a task, of which the command would be the program.
ShimCommands::Describe ShimRun::describe_command() const {
  return [this](const StartTrouble& trouble, const std::string& program) {
    if (trouble.stage == StartStage::sight) {
      return std::string("cannot start: the task's namespaces cannot be entered: ") +
             std::strerror(trouble.error);
    }
    Order order = order_;
    order.program.argv = {program};
    order.program.script.clear();
    return describe(trouble, order, place_);
  };
}

std::optional<std::string> ShimRun::control(std::string_view line) {
  if (line == kUsageWanted) return usage_line(look_at_task(group_ ? &*group_ : nullptr, end_));
  if (line == "stop") {
    end_gently(Ending::stop);
  } else if (line.starts_with(kDiskFull)) {
    end_for_disk(line.substr(kDiskFull.size()), false);
  } else if (line.starts_with(kDiskFullOfCheckpoints)) {
    end_for_disk(line.substr(kDiskFullOfCheckpoints.size()), true);
  } else {
    return std::nullopt;
  }
  return "";
}

std::optional<std::string> ShimRun::progress(std::string_view line) {
  std::string answer = said_.hear(line, boot_time());
  pass_news_on();
  return answer;
}

void ShimRun::pass_news_on() {
  const Duration now = boot_time();
  if (const auto line = said_.take_due(now)) control_.tell(*line);
  if (const auto line = logs_.take_due(now)) control_.tell(*line);
}

std::string ShimRun::greeting() const {
  if (starting_) return {};
  // The number is no executor's child's: a server has forked this process.
  // An executor that connects again hears everything from the start.
  return kShimIs + std::to_string(getpid()) + "\nstarted\n" + std::string(kTellsUsage) + "\n" +
         said_.told() + logs_.told();
}

bool ShimRun::copy(Descriptor& from, LogWriter& to) {
  if (!from) return false;
  // Not filled with zeros: most tasks write little, and untouched pages cost nothing.
  if (!buffer_) buffer_ = std::make_unique_for_overwrite<char[]>(kCopyBytes);
  const ssize_t got = read(from.get(), buffer_.get(), kCopyBytes);
  if (got > 0) to.write({buffer_.get(), static_cast<std::size_t>(got)});
  if (got == 0) from.reset();
  return got > 0;
}

void ShimRun::check_deadlines() {
  const Duration now = boot_time();
  pass_news_on();
  if (over_) return;
  const Program& program = order_.program;
  const bool limited = program.time_limit > Duration::zero();
  if (limited && now >= started_ + program.time_limit) {
    end_gently(Ending::time);
  } else if (!warned_ && limited && now >= started_ + warned_after(program)) {
    warn();
  }
  if (order_.worker.means != LimitMeans::cgroup2 && now >= due_.usage_check) check_usage();
  if (due_.kill != Duration::zero() && now >= due_.kill) kill_task();
  commands_.kill_due(now);
  if (const auto end = lease_.end(); end && now >= *end) end_for_lease();
}

/// At once: the connector may count the machine as gone by now, and have the task run elsewhere.
void ShimRun::end_for_lease() {
  // A process that has ended before has an end of its own.
  reap();
  if (over_) return;
  if (end_.why == Ending::none) end_.why = Ending::lease;
  kill_task();
}

void ShimRun::warn() {
  warned_ = true;
  // A task that is to end already needs no warning.
  if (end_.why != Ending::none || task_.pid <= 0) return;
  const Program& program = order_.program;
  const pid_t group = program.warn_program_only ? task_.pid : -task_.pid;
  if (kill(group, program.warn_signal) != 0) kill(task_.pid, program.warn_signal);
}

void ShimRun::check_usage() {
  due_.usage_check = boot_time() + order_.worker.memory_interval;
  const std::vector<pid_t> processes = group_ ? group_->members() : descendants_of(getpid());
  if (order_.worker.max_processes != 0 && processes.size() > order_.worker.max_processes) {
    if (kill_replica(order_, task_.pid, processes)) return;
    end_.over_processes = processes.size();
    if (end_.why == Ending::none) end_.why = Ending::processes;
    return kill_task();
  }
  const std::uint64_t held = resident_bytes(processes);
  end_.peak_bytes = std::max(end_.peak_bytes, held);
  const double granted = order_.granted[Resource::memory] * 1024 * 1024 * 1024;
  if (granted <= 0 || static_cast<double>(held) <= granted ||
      kill_replica(order_, task_.pid, processes))
    return;
  end_.over_bytes = held;
  // The first cause stands: a task that is being stopped may pass its limits as well.
  if (end_.why == Ending::none) end_.why = Ending::memory;
  kill_task();
}

void ShimRun::end_gently(Ending why) {
  // A process that has ended before the request has an end of its own.
  reap();
  // The first cause stands, and a task that is over needs no signal.
  if (end_.why != Ending::none || over_) return;
  end_.why = why;
  if (why == Ending::stop) end_.asked_to_stop = boot_time();
  due_.kill = boot_time() + grace_of(order_);
  // Before its setsid() the child leads no group yet.
  if (task_.pid > 0 && kill(-task_.pid, SIGTERM) != 0) kill(task_.pid, SIGTERM);
}

/// At once: a checkpoint that it would still save goes to the full disk.
void ShimRun::end_for_disk(std::string_view reason, bool drop_checkpoint) {
  if (over_) return;
  end_.disk_reason = reason;
  drop_checkpoint_ = drop_checkpoint;
  if (end_.why == Ending::none) end_.why = Ending::disk;
  kill_task();
}

void ShimRun::fail_start(EndKind kind, const std::string& reason) {
  end_.start_failure = reason;
  end_.start_failure_kind = kind;
  over_ = true;
}

void ShimRun::kill_task() {
  due_.kill = Duration::zero();
  // Descendants as well: without a group they are all there is, with one they may have left it.
  if (group_) group_->kill_all();
  for (const pid_t pid : descendants_of(getpid())) kill(pid, SIGKILL);
}

/// The result, and what has become of the folder that it is for.
AttemptResult ShimRun::result_to_leave() const {
  AttemptResult left = result_of(end_, order_, group_ ? &*group_ : nullptr);
  left.key = order_.key();
  left.out_bytes = logs_.out().written();
  left.err_bytes = logs_.err().written();
  left.metrics = said_.metrics();
  if (!is_removed(setup_.folder.get())) return left;
  left.reason += left.reason.empty() ? "" : "; ";
  left.reason += kFolderIsGone;
  fail_without_output(left);
  return left;
}

bool ShimRun::finish() {
  // In this order: no process runs any more, so that the streams end; their last bytes are copied;
  // room is made; and the result comes last, since it says that all this is done.
  if (group_) group_->kill_all();
  kill_descendants();
  for (int i = 0; i < kDrainRounds && copy(task_.out, logs_.out()); ++i) {
  }
  for (int i = 0; i < kDrainRounds && copy(task_.err, logs_.err()); ++i) {
  }
  if (!end_.disk_reason.empty()) make_space_on_disk(order_, place_, drop_checkpoint_);
  // Of all that has run below this process, whoever's child it was: all of it is reaped by now.
  getrusage(RUSAGE_CHILDREN, &end_.usage);
  // Nothing of the task runs that could change its files.
  keep_outputs(order_, setup_.path, {setup_.signals.get(), control_, lease_}, end_);
  const std::string text = to_text(result_to_leave());
  if (group_) group_->remove();
  // Goes when nothing is in it. The job's folder above stays: another of its tasks may be about to
  // make its own there.
  rmdir(order_.worker.checkpoint_dir.c_str());
  const int error = write_whole(setup_.folder.get(), kResultFile, text, false);
  if (error == 0) return true;
  // Files in its work folder may be those that fill the disk: without a result the attempt would
  // count as lost, and be tried again.
  if (error == ENOSPC || error == EDQUOT) make_space_on_disk(order_, place_, drop_checkpoint_);
  // The process that follows the attempt is told, too: its end must not hang on one file.
  control_.tell(kResultIs + text + "\n");
  return !is_removed(setup_.folder.get()) && write_patiently(setup_.folder.get(), text);
}

}  // namespace muster::process
