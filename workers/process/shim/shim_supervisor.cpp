#include "workers/process/shim/shim_supervisor.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstring>
#include <utility>

#include "model/check.hpp"
#include "model/max_span.hpp"
#include "workers/process/files/log_file.hpp"
#include "workers/process/limits/limits.hpp"
#include "workers/process/quiet_thread.hpp"
#include "workers/process/shim/line_server.hpp"
#include "workers/process/shim/shim_replica.hpp"
#include "workers/process/shim/shim_server.hpp"
#include "workers/process/shim/shim_sockets.hpp"

// A shim is believed through its channel while it lives, and through its folder afterwards: a
// result, or a free lock, which means that it was killed.

namespace muster::process {
namespace {

using std::chrono::milliseconds;

/// Bounds of one round and of one read: a shim that says much does not keep the others waiting.
constexpr int kEventsARound = 64;
constexpr std::size_t kReadBytes = 16384;
/// A result may name a path.
constexpr std::size_t kMaxLineBytes = std::size_t{64} << 10;
/// How soon a shim that does not answer but lives, or is about to be reaped, is looked at again.
constexpr Duration kLookAgain = milliseconds{10};
/// How long a shim is looked for of which it cannot be told whether it lives.
constexpr Duration kDoubt = std::chrono::seconds{1};
/// From the end of a supervisor's patience to the attempt's end in any case.
constexpr Duration kLastWait = std::chrono::seconds{5};
/// No descriptor has this number, so it stands for the wakeup among the ids of events.
constexpr std::uint64_t kWakeupId = UINT64_MAX;

/// Nothing also for a file that is cut, as the shim was killed while it wrote, and for the result
/// of another attempt.
std::optional<AttemptResult> result_in(int folder, const AttemptKey& key) {
  const auto text = read_whole(folder, kResultFile, kMaxRecordBytes);
  auto result = text ? result_from(*text) : std::nullopt;
  return result && result->key.value_or(key) == key ? result : std::nullopt;
}

/// Why no shim could be given that order, by the order's own fault; empty: one can.
std::string fault_of(const std::string& order) {
  if (order.empty()) return "a text of the job is not UTF-8";
  // A reader would take the attempt for lost, and the next one as well.
  if (order.size() <= kMaxRecordBytes) return "";
  return "the order is " + std::to_string(order.size()) + " bytes as JSON, at most " +
         std::to_string(kMaxRecordBytes) +
         ": its command, environment and script have to be shorter";
}

/// The news that the line of a shim has of its task; nothing when it has no news.
std::optional<decltype(ShimNews::what)> report_in(std::string_view line) {
  if (const auto point = point_from(line)) return *point;
  if (auto metrics = metrics_from(line)) return *std::move(metrics);
  if (auto replica = replica_from(line)) return *std::move(replica);
  if (const auto filled = filled_from(line)) return *filled;
  if (const auto look = usage_from(line)) return *look;
  return std::nullopt;
}

std::string tail_of(int folder, const char* log, std::size_t bytes) {
  return bytes == 0 ? "" : LogReader(folder, log).tail(bytes);
}

/// Adds to `end` how much the attempt has written, and the tails of it.
void add_output(int folder, const AttemptResult& result, std::size_t tail_bytes,
                ExecutionEnd& end) {
  // A shim that was killed could not say how much there is.
  const bool all = result.kind == EndKind::supervisor_killed || result.ended_ns == 0;
  const auto most = [&](std::uint64_t written) { return all || written > 0 ? tail_bytes : 0; };
  end.out_tail = tail_of(folder, kOutLog, most(result.out_bytes));
  end.err_tail = tail_of(folder, kErrLog, most(result.err_bytes));
  end.out_bytes = all ? LogReader(folder, kOutLog).end() : result.out_bytes;
  end.err_bytes = all ? LogReader(folder, kErrLog).end() : result.err_bytes;
}

/// Whether the shim may still come to a result.
bool may_live(WatchedShim& watched) {
  if (watched.lock) return is_locked(watched.lock.get());
  // There is no file to tell it by: a living shim is reached by its socket before long.
  if (watched.folder && is_removed(watched.folder.get())) return false;
  const Duration now = boot_time();
  if (watched.doubted_since == Duration::zero()) watched.doubted_since = now;
  return now - watched.doubted_since < kDoubt;
}

}  // namespace

ShimSupervisor::ShimSupervisor(ShimSupervisorOptions options, std::function<void(ShimNews)> tell)
    // The descriptors are made before the thread, which uses them from its first step.
    : options_(std::move(options)),
      tell_(std::move(tell)),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      wakeup_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      server_(options_.shim_program, options_.attempts) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kWakeupId;
  const bool ready =
      epoll_ && wakeup_ && epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wakeup_.get(), &event) == 0;
  MUSTER_CHECK(ready, "an executor cannot work without descriptors");
  thread_ = quiet_thread([this] { work(); });
}

ShimSupervisor::~ShimSupervisor() {
  {
    const std::lock_guard lock(mutex_);
    // Set under the lock and then woken: the thread reads it after it has drained the wakeup.
    quit_ = true;
  }
  eventfd_write(wakeup_.get(), 1);
  thread_.join();
}

void ShimSupervisor::launch(Order order) {
  command(Launch{std::move(order)});
}
void ShimSupervisor::follow(const AttemptKey& key) {
  command(Follow{key});
}
void ShimSupervisor::stop(const AttemptKey& key) {
  command(Stop{key});
}

void ShimSupervisor::end_for_disk(const AttemptKey& key, const std::string& reason,
                                  bool drop_checkpoint) {
  std::string line(drop_checkpoint ? kDiskFullOfCheckpoints : kDiskFull);
  line += reason;
  // One line is one command: a line break in the reason would begin another.
  std::replace(line.begin(), line.end(), '\n', ' ');
  command(Say{key, line.substr(0, kMaxControlLine - 1) + "\n"});
}

void ShimSupervisor::measure() {
  command(Measure{});
}

void ShimSupervisor::command(Command command) {
  {
    const std::lock_guard lock(mutex_);
    commands_.push_back(std::move(command));
  }
  eventfd_write(wakeup_.get(), 1);
}

void ShimSupervisor::work() {
  std::array<epoll_event, kEventsARound> events{};
  std::vector<Command> commands;
  while (true) {
    const int ready = epoll_wait(epoll_.get(), events.data(), kEventsARound, wait_ms());
    for (int i = 0; i < ready; ++i) {
      const std::uint64_t id = events[static_cast<std::size_t>(i)].data.u64;
      if (id == kWakeupId) continue;
      // A run that ended earlier in this round is no longer in the table.
      const auto found = by_channel_.find(static_cast<int>(id));
      // By a copy of the key: hear() may erase the entry that holds it.
      if (found != by_channel_.end()) hear(AttemptKey(found->second));
    }
    eventfd_t ignored = 0;
    eventfd_read(wakeup_.get(), &ignored);
    {
      const std::lock_guard lock(mutex_);
      if (quit_) return;
      // Swapped out: commands are obeyed without the lock, since they may take a while.
      commands.swap(commands_);
    }
    for (Command& one : commands) std::visit([this](auto& command) { obey(command); }, one);
    commands.clear();
    look_again();
    end_overdue();
    reap_shims();
  }
}

int ShimSupervisor::wait_ms() const {
  // Children that have ended are reaped without a signal, which belongs to the process as a whole.
  Duration until = ending_.empty() ? Duration::max() : boot_time() + kLookAgain;
  for (const auto& [key, watched] : watched_) {
    // With a channel its end wakes the thread; without one the attempt has to be looked at.
    if (!watched.channel) until = std::min(until, watched.look_again);
    if (watched.end_by > Duration::zero()) until = std::min(until, watched.end_by);
  }
  if (until == Duration::max()) return -1;
  const auto left = std::chrono::ceil<milliseconds>(until - boot_time()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, INT_MAX));
}

void ShimSupervisor::obey(Launch& launch) {
  const AttemptKey key = launch.order.key();
  const std::filesystem::path path = options_.attempts / name_of(key);
  // An order that is repeated must not begin the attempt twice.
  if (watched_.contains(key)) return;
  if (options_.complete) {
    if (auto failed = options_.complete(launch.order)) return notify_end(key, *std::move(failed));
  }
  if (mkdir(path.c_str(), 0700) != 0) {
    // An attempt of an earlier process: it is followed, not begun again.
    if (errno == EEXIST) {
      Follow follow{key};
      return obey(follow);
    }
    return notify_end(
        key, not_begun(EndKind::not_launched, path.string() + ": " + std::strerror(errno)));
  }
  // The order's user has to get through, independent of this process' umask.
  if (launch.order.worker.user) chmod(path.c_str(), 0711);
  WatchedShim& watched = watched_[key];
  watched.folder = open_folder(path);
  // A name that cannot be guessed, kept in the order: a later process finds the shim by it.
  launch.order.worker.control = watched.control = random_name();
  bound(watched, launch.order);
  const std::string order = to_text(launch.order);
  std::string trouble = fault_of(order);
  const EndKind kind = trouble.empty() ? EndKind::not_launched : EndKind::not_started;
  const int error = trouble.empty()
                        ? write_new(watched.folder.get(), kOrderFile, order, options_.sync_orders)
                        : 0;
  if (error != 0) {
    trouble = std::string("the order: ") + std::strerror(error);
  } else if (trouble.empty()) {
    // The shim inherits the lock: while it or this process holds it the attempt is not taken for
    // dead.
    Descriptor lock = take_lock(watched.folder.get());
    if (!lock) trouble = std::string("the lock: ") + std::strerror(errno);
    // By another descriptor, which tells whether the shim lives whatever becomes of the folder.
    watched.lock = open_lock(watched.folder.get());
    if (lock) trouble = spawn(key, watched, lock);
  }
  if (trouble.empty()) return;
  AttemptResult result = not_begun(kind, trouble);
  result.key = key;
  // On disk too: a later process of this worker has to report the same end.
  write_whole(watched.folder.get(), kResultFile, to_text(result), false);
  notify_end(key, result);
}

void ShimSupervisor::obey(Follow& follow) {
  WatchedShim& watched = watched_[follow.key];
  watched.folder = open_folder(options_.attempts / name_of(follow.key));
  const auto text = read_whole(watched.folder.get(), kOrderFile, kMaxRecordBytes);
  watched.lock = open_lock(watched.folder.get());
  if (const auto order = text ? order_from(*text) : std::nullopt) {
    watched.control = order->worker.control;
    bound(watched, *order);
  }
  // No channel: either the shim has ended or it was killed, which conclude() tells apart.
  if (!reach(follow.key, watched)) conclude(follow.key);
}

void ShimSupervisor::obey(Stop& stop) {
  const auto found = watched_.find(stop.key);
  if (found == watched_.end()) return;
  WatchedShim& watched = found->second;
  // It is over in some way by then, also where the order is not taken.
  if (!watched.stop_asked) {
    const Duration end_by = boot_time() + watched.stop_grace + options_.patience;
    const bool is_first = watched.end_by == Duration::zero() || end_by < watched.end_by;
    if (is_first && !watched.forced) watched.end_by = end_by;
  }
  // Kept, as reach() says it again on another channel.
  watched.stop_asked = true;
  // A channel that does not take it is at its end: the consequence is handled there.
  if (watched.channel) send_text(watched.channel.get(), "stop\n");
}

void ShimSupervisor::obey(Say& say) {
  const auto found = watched_.find(say.key);
  if (found == watched_.end()) return;
  WatchedShim& watched = found->second;
  watched.last_word = std::move(say.line);
  if (watched.channel) send_text(watched.channel.get(), watched.last_word);
}

void ShimSupervisor::obey(Measure& /*measure*/) {
  const std::string line = std::string(kUsageWanted) + "\n";
  for (const auto& [key, watched] : watched_) {
    if (watched.tells_usage && watched.channel) send_text(watched.channel.get(), line);
  }
}

void ShimSupervisor::hear(const AttemptKey& key) {
  WatchedShim& watched = watched_.at(key);
  std::array<char, kReadBytes> chunk;
  const ssize_t got = recv(watched.channel.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got > 0) {
    watched.input.append(chunk.data(), static_cast<std::size_t>(got));
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = watched.input.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
      if (heed(key, watched, std::string_view(watched.input).substr(begin, end - begin))) return;
    }
    watched.input.erase(0, begin);
    // A shim that sends a line without an end is not one of ours: its folder tells the rest.
    if (watched.input.size() <= kMaxLineBytes) return;
  }
  by_channel_.erase(watched.channel.get());
  watched.channel.reset();
  watched.input.clear();
  conclude(key);
}

/// True when the attempt is over with it, and not watched any more.
bool ShimSupervisor::heed(const AttemptKey& key, WatchedShim& watched, std::string_view line) {
  if (line == "started" && !watched.told_start) {
    // Once for each attempt, though every new channel begins with it.
    watched.told_start = true;
    tell_({key, ShimStarted{}});
  } else if (line == kTellsUsage) {
    watched.tells_usage = true;
  } else if (auto report = report_in(line)) {
    tell_({key, *std::move(report)});
  } else if (line.starts_with(kShimIs)) {
    line.remove_prefix(std::string_view(kShimIs).size());
    std::from_chars(line.data(), line.data() + line.size(), watched.shim);
  } else if (line.starts_with(kResultIs)) {
    line.remove_prefix(std::string_view(kResultIs).size());
    auto result = result_from(line);
    if (!result || result->key.value_or(key) != key) return false;
    notify_end(key, *std::move(result));
    return true;
  }
  return false;
}

void ShimSupervisor::look_again() {
  const Duration now = boot_time();
  std::vector<AttemptKey> due;
  for (const auto& [key, watched] : watched_) {
    // Two passes: conclude() erases entries of the map.
    if (!watched.channel && watched.look_again <= now) due.push_back(key);
  }
  for (const AttemptKey& key : due) {
    if (!reach(key, watched_.at(key))) conclude(key);
  }
}

bool ShimSupervisor::reach(const AttemptKey& key, WatchedShim& watched) {
  Descriptor channel = connect_abstract(watched.control);
  if (!channel) return false;
  // Said again: the shim may not have read it on the channel that ended.
  if (watched.stop_asked) send_text(channel.get(), "stop\n");
  if (!watched.last_word.empty()) send_text(channel.get(), watched.last_word);
  attach(key, watched, std::move(channel));
  return true;
}

void ShimSupervisor::attach(const AttemptKey& key, WatchedShim& watched, Descriptor channel) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = static_cast<std::uint64_t>(channel.get());
  // Level-triggered: bytes that are left unread in this round are reported again in the next.
  epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, channel.get(), &event);
  by_channel_[channel.get()] = key;
  watched.channel = std::move(channel);
}

/// How long the attempt may take. The shim keeps to it; this is for one that cannot.
void ShimSupervisor::bound(WatchedShim& watched, const Order& order) {
  watched.stop_grace = grace_of(order) + files_time_of(order);
  watched.time_limit = order.program.time_limit;
  if (watched.time_limit <= Duration::zero()) return;
  watched.end_by = boot_time() + watched.time_limit + watched.stop_grace + options_.patience;
}

/// A shim that should have ended its attempt is killed, and the rest of the attempt with it;
/// processes that do not end even so count as over.
void ShimSupervisor::end_overdue() {
  const Duration now = boot_time();
  std::vector<AttemptKey> due;
  for (const auto& [key, watched] : watched_) {
    if (watched.end_by > Duration::zero() && watched.end_by <= now) due.push_back(key);
  }
  for (const AttemptKey& key : due) {
    WatchedShim& watched = watched_.at(key);
    auto result = result_in(watched.folder.get(), key);
    if (result || watched.forced) {
      notify_end(key, result ? *std::move(result) : without_result(watched));
      continue;
    }
    watched.forced = true;
    watched.end_by = now + kLastWait;
    // With a channel or a lock it is still the process that the number was told of.
    const bool is_there = watched.channel || (watched.lock && is_locked(watched.lock.get()));
    if (watched.shim > 0 && is_there) kill(watched.shim, SIGKILL);
    end_leftovers(watched.folder.get(), options_.attempts / name_of(key));
  }
}

/// Result of an attempt whose shim left no result.
AttemptResult ShimSupervisor::without_result(const WatchedShim& watched) const {
  AttemptResult result;
  result.kind = EndKind::supervisor_killed;
  result.exit_code = 137;
  result.stopped = watched.stop_asked;
  const bool for_time = watched.forced && !watched.stop_asked;
  if (for_time) {
    result.kind = EndKind::timed_out;
    result.reason = time_limit_text(watched.time_limit);
  } else if (watched.forced) {
    result.reason = "its supervisor did not end it";
  } else if (!watched.folder || is_removed(watched.folder.get())) {
    result.reason = kFolderIsGone;
  } else {
    result.reason = "its supervisor was killed";
  }
  return result;
}

void ShimSupervisor::conclude(const AttemptKey& key) {
  WatchedShim& watched = watched_.at(key);
  const int folder = watched.folder.get();
  auto result = result_in(folder, key);
  const bool lives = !result && may_live(watched);
  // Asked again after the lock: a shim without a result by then will not write one any more.
  if (!result && !lives) result = result_in(folder, key);
  if (result) return notify_end(key, *result);
  if (lives) {
    watched.look_again = boot_time() + kLookAgain;
    return;
  }
  end_leftovers(folder, options_.attempts / name_of(key));
  // Processes that are left over run without limits.
  end_strays(watched);
  AttemptResult killed = without_result(watched);
  killed.key = key;
  // As above: a later process of this worker reports the same end.
  write_whole(folder, kResultFile, to_text(killed), false);
  notify_end(key, killed);
}

/// Ends what has cleared the attempt's mark: since the shim is dead, it has become a child of this
/// process, if that takes orphans in, and no other child but the server is without a shim.
void ShimSupervisor::end_strays(WatchedShim& dead) {
  if (!takes_orphans_in()) return;
  await_end(std::exchange(dead.shim, -1));  // then its children are ours
  std::set<pid_t> own(ending_.begin(), ending_.end());
  for (const auto& [key, watched] : watched_) own.insert(watched.shim);
  own.insert(server_.pid());
  kill_strays(own);
}

void ShimSupervisor::notify_end(const AttemptKey& key, AttemptResult result) {
  ExecutionEnd end;
  end.exit_code = result.exit_code;
  const double cpu_s = std::clamp(result.user_s + result.system_s, 0.0, to_seconds(kMaxSpan));
  end.used = within_bounds({from_seconds(cpu_s), result.peak_memory_bytes});
  const auto found = watched_.find(key);
  if (found != watched_.end()) {
    const int folder = found->second.folder.get();
    add_output(folder, result, options_.tail_bytes, end);
    // The shim itself ends after its result: it is reaped later, without a wait for it here.
    if (found->second.shim > 0) ending_.push_back(found->second.shim);
    if (found->second.channel) by_channel_.erase(found->second.channel.get());
    watched_.erase(found);
  }
  // Last: the listener may order more, and finds the attempt gone.
  tell_({key, ShimEnded{std::move(result), std::move(end)}});
}

void ShimSupervisor::reap_shims() {
  // Those of the server count as reaped at once.
  std::erase_if(ending_, [](pid_t shim) { return waitpid(shim, nullptr, WNOHANG) != 0; });
}

}  // namespace muster::process
