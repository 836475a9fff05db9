// The loopback cloud's machines: a folder and a worker process each. One thread waits for all of
// them by poll() on their pidfds. Calls of the connector queue orders for it, and do not wait for a
// process.

#include "serve/machines/process_machines.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "serve/machines/computer.hpp"
#include "serve/machines/folder_remover.hpp"

namespace muster {
namespace {

namespace fs = std::filesystem;
using machines::Descriptor;
using machines::Machine;
using machines::MachineFolder;

constexpr const char* kGone = "gone";
constexpr const char* kLock = "lock";
constexpr const char* kEnded = "ended";  ///< when all machines were ended, in ns since 1970
/// Resident memory of a worker, 31 MiB idle or with 20 tasks. Beside others it costs less: 6 to 8
/// MiB of that are its part, 4 of them its own; the rest is room for its first tasks.
constexpr std::uint64_t kBytesOfNewWorker = std::uint64_t{32} << 20;

/// Keeps the end of a machine's log, and of such ends only the newest `kept_logs`.
void keep_log(const MachineOptions& options, InstanceId instance, const std::string& tail) {
  if (options.kept_log_bytes == 0) return;
  // A log that cannot be kept must not hold up the end of the machine: errors are passed over.
  std::error_code error;
  const fs::path gone = options.dir / kGone;
  fs::create_directories(gone, error);
  std::ofstream(gone / fmt::format("instance-{}.log", instance.value), std::ios::binary) << tail;
  std::vector<std::pair<fs::file_time_type, fs::path>> logs;
  for (const auto& entry : fs::directory_iterator(gone, error)) {
    logs.emplace_back(entry.last_write_time(error), entry.path());
  }
  std::sort(logs.begin(), logs.end());
  for (std::size_t i = 0; i + options.kept_logs < logs.size(); ++i)
    fs::remove(logs[i].second, error);
}

std::optional<Instant> read_instant(const fs::path& file) {
  std::ifstream in(file);
  Instant::rep since_1970 = 0;
  return in >> since_1970 ? std::optional(Instant{Duration{since_1970}}) : std::nullopt;
}

// The search goes on after the value: one that contains the name would be replaced for ever.
std::string replaced(std::string text, const std::string& name, const std::string& value) {
  for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += value.size()) {
    text.replace(at, name.size(), value);
  }
  return text;
}

}  // namespace

std::string fill_in(const std::string& argument, const MachineOrder& order,
                    const fs::path& folder) {
  const Resources& has = order.type.capacity;
  const std::pair<const char*, std::string> values[] = {
      {"{instance}", std::to_string(order.instance.value)},
      {"{type}", order.type.name},
      {"{market}", std::string(name_of(order.market))},
      {"{cpu}", fmt::format("{}", has[Resource::cpu])},
      {"{memory}", fmt::format("{}", has[Resource::memory])},
      {"{gpu}", fmt::format("{}", has[Resource::gpu])},
      {"{storage}", fmt::format("{}", has[Resource::storage])},
      {"{network}", fmt::format("{}", has[Resource::network])},
      {"{dir}", folder.string()}};
  std::string text = argument;
  for (const auto& [name, value] : values) text = replaced(std::move(text), name, value);
  return text;
}

/// The thread that all machines are seen to by. Everything but the queue of orders is its own.
class ProcessMachines::Watcher {
 public:
  explicit Watcher(const MachineOptions& options)
      : options_(options),
        wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        remover_(options.dir, {options.outside,
                               [this](InstanceId instance, const std::string& text) {
                                 const std::lock_guard guard(mutex_);
                                 if (tell_) tell_({instance, text});
                               }}),
        thread_([this] { run(); }) {}
  ~Watcher() {
    // By an order, as `stopped_` is the thread's own; orders queued before it are carried out.
    order([this] { stopped_ = true; });
    thread_.join();
  }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  void watch(InstanceId instance) {
    expect(instance);
    order([this, instance] { machine(instance); });
  }
  void halt(InstanceId instance, Duration grace, std::function<void()> ended) {
    expect(instance);
    order([this, instance, grace, ended = std::move(ended)]() mutable {
      machine(instance).halt(grace, std::move(ended));
    });
  }
  void tell(std::function<void(const MachineEvent&)> tell) {
    const std::lock_guard guard(mutex_);
    tell_ = std::move(tell);
  }
  bool knows(InstanceId instance) const {
    const std::lock_guard guard(mutex_);
    return known_.contains(instance);
  }
  std::set<InstanceId> known() const {
    const std::lock_guard guard(mutex_);
    return known_;
  }
  std::size_t count() const {
    const std::lock_guard guard(mutex_);
    return known_.size();
  }

 private:
  /// On the caller's thread: count() and knows() include a machine whose order still waits in the
  /// queue.
  void expect(InstanceId instance) {
    const std::lock_guard guard(mutex_);
    known_.insert(instance);
  }
  void order(std::function<void()> step) {
    {
      // Queued under the lock and woken outside of it: the thread can take the lock at once.
      const std::lock_guard guard(mutex_);
      orders_.push_back(std::move(step));
    }
    wake();
  }
  void wake() const {
    const std::uint64_t one = 1;
    // A counter that is full wakes the thread as well.
    if (write(wake_.get(), &one, sizeof one) < 0) return;
  }

  Machine& machine(InstanceId instance) {
    const auto found = machines_.find(instance);
    if (found != machines_.end()) return found->second;
    // Under the lock, so that watch() with another listener returns only when the old one is not
    // being called.
    const auto say = [this, instance](const std::string& text, bool restarted) {
      const std::lock_guard guard(mutex_);
      if (tell_) tell_({instance, text, restarted});
    };
    return machines_
        .try_emplace(instance, MachineFolder::of(options_.dir, instance), options_.rules, say)
        .first->second;
  }

  void run() {
    while (!stopped_) {
      wait();
      std::vector<std::function<void()>> orders;
      {
        const std::lock_guard guard(mutex_);
        orders.swap(orders_);
      }
      // Without the lock, so that callers may queue more meanwhile.
      for (const auto& step : orders) step();
      see_to_machines();
    }
  }

  void wait() {
    std::vector<pollfd> polled{{wake_.get(), POLLIN, 0}};
    // Bounds the nap where no machine has anything due; in ms it fits poll()'s int.
    auto due = Machine::Clock::now() + std::chrono::hours{1};
    for (const auto& [id, machine] : machines_) {
      if (machine.pidfd() >= 0) polled.push_back({machine.pidfd(), POLLIN, 0});
      due = std::min(due, machine.due());
    }
    // Rounded up: rounded down, poll() would return before the machine is due and be called in a
    // loop.
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - Machine::Clock::now());
    poll(polled.data(), polled.size(),
         static_cast<int>(std::max(left.count(), decltype(left)::rep{0})));
    ended_.clear();
    for (const pollfd& one : polled) {
      if (one.revents != 0) ended_.insert(one.fd);
    }
    std::uint64_t count = 0;
    if (read(wake_.get(), &count, sizeof count) < 0) return;
  }

  void see_to_machines() {
    for (auto each = machines_.begin(); each != machines_.end();) {
      auto& [instance, machine] = *each;
      // A pidfd is readable when its process has ended; a machine may also have a step due by time.
      const bool ended = machine.pidfd() >= 0 && ended_.contains(machine.pidfd());
      if (ended || machine.due() <= Machine::Clock::now()) machine.step();
      if (machine.over()) {
        clear_away(instance, machine);
        each = machines_.erase(each);
      } else {
        ++each;
      }
    }
  }

  // In this order: the waiting are told, the log saved, and only then the folder moved away,
  // without which a restart would not know the machine.
  void clear_away(InstanceId instance, Machine& machine) {
    for (const auto& ended : machine.take_waiting()) ended();
    if (machine.folder().exists()) {
      keep_log(options_, instance, machine.folder().log_tail(options_.kept_log_bytes));
      if (options_.over) options_.over(machine.folder().path());
    }
    remover_.take(instance);
    const std::lock_guard guard(mutex_);
    known_.erase(instance);
  }

  const MachineOptions& options_;
  Descriptor wake_;
  mutable std::mutex mutex_;
  std::vector<std::function<void()>> orders_;  ///< under the mutex, as are the next two
  std::set<InstanceId> known_;                 ///< that are not over yet
  std::function<void(const MachineEvent&)> tell_;
  std::map<InstanceId, Machine> machines_;
  std::set<int> ended_;  ///< descriptors that were readable at the last look
  bool stopped_ = false;
  machines::FolderRemover remover_;
  std::thread thread_;  ///< last: it uses all the others
};

Expected<std::unique_ptr<ProcessMachines>, MachineError> ProcessMachines::open(
    MachineOptions options) {
  std::error_code error;
  options.dir = fs::absolute(options.dir, error);
  fs::create_directories(options.dir, error);
  const std::string name = (options.dir / kLock).string();
  Descriptor lock(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock) {
    return Failure<MachineError>{MachineError::unwritable, name + ": " + std::strerror(errno)};
  }
  // Two connectors on one folder would each end the machines of the other as strays.
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    return Failure<MachineError>{MachineError::refused,
                                 name + ": another cloud connector has these machines"};
  }
  return std::unique_ptr<ProcessMachines>(new ProcessMachines(std::move(options), std::move(lock)));
}

ProcessMachines::ProcessMachines(MachineOptions options, Descriptor lock)
    : options_(std::move(options)),
      lock_(std::move(lock)),
      ended_all_(read_instant(options_.dir / kEnded)),
      watcher_(std::make_unique<Watcher>(options_)) {}

// Here, where Watcher is complete.
ProcessMachines::~ProcessMachines() = default;

Expected<std::string, MachineError> ProcessMachines::boot(const MachineOrder& order) {
  const MachineFolder folder = MachineFolder::of(options_.dir, order.instance);
  // A command on disk says that the order was carried out before: repeated, it only watches.
  if (folder.command().empty()) {
    std::error_code error;
    fs::create_directories(folder.path(), error);
    // Tasks of another user pass through the folder to their own files; they cannot list it.
    constexpr auto kThrough = fs::perms::group_exec | fs::perms::others_exec;
    const auto rights = fs::perms::owner_all | (options_.passage ? kThrough : fs::perms::none);
    if (!error) fs::permissions(folder.path(), rights, error);
    if (error) {
      return Failure<MachineError>{MachineError::unwritable,
                                   folder.path().string() + ": " + error.message()};
    }
    if (options_.prepare) {
      const std::string why = options_.prepare(order, folder.path());
      if (!why.empty()) return Failure<MachineError>{MachineError::refused, why};
    }
    std::vector<std::string> argv;
    for (const std::string& part : options_.command) {
      argv.push_back(fill_in(part, order, folder.path()));
    }
    // Last: a folder without its command is no machine after a crash, and boot() makes it again.
    const std::string why = folder.write_command(argv);
    if (!why.empty()) return Failure<MachineError>{MachineError::unwritable, why};
  }
  watcher_->watch(order.instance);
  return folder.path().filename().string();
}

bool ProcessMachines::halt(InstanceId instance, const std::string&, Duration grace,
                           std::function<void()> ended) {
  if (!watcher_->knows(instance) && !MachineFolder::of(options_.dir, instance).exists()) {
    return true;
  }
  watcher_->halt(instance, grace, std::move(ended));
  return false;
}

/// Machines that are ordered and not booted yet will take what a worker takes.
bool ProcessMachines::has_room(std::size_t rented) const {
  if (options_.memory_reserve_bytes == 0) return true;
  // The machine that is asked about is one of those to come.
  const std::uint64_t to_come = rented - std::min(rented, count()) + 1;
  const std::uint64_t needed = options_.memory_reserve_bytes + to_come * kBytesOfNewWorker;
  const std::uint64_t free = options_.free_memory_bytes ? options_.free_memory_bytes()
                                                        : machines::look_at_computer().free_bytes;
  return free >= needed;
}

bool ProcessMachines::adopt(const RentedRecord& record) {
  if (MachineFolder::of(options_.dir, record.instance).command().empty()) return false;
  watcher_->watch(record.instance);
  return true;
}

void ProcessMachines::keep_only(const std::set<InstanceId>& rented) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(options_.dir, error)) {
    const InstanceId id = MachineFolder::instance_of(entry.path().filename().string());
    if (id.valid() && !rented.contains(id)) watcher_->halt(id, options_.stray_grace, {});
  }
}

std::string ProcessMachines::end_all(Instant now) {
  // A crash or a power cut leaves either the old time or the new one, never half a number.
  std::string why = machines::write_durably(options_.dir / kEnded,
                                            std::to_string(now.time_since_epoch().count()) + "\n");
  // Ended after the time is on the disk: a start that finds machines left knows that they are to
  // end.
  keep_only({});
  return why;
}

void ProcessMachines::watch(std::function<void(const MachineEvent&)> tell) {
  watcher_->tell(std::move(tell));
}

std::size_t ProcessMachines::count() const {
  return watcher_->count();
}

std::vector<InstanceId> ProcessMachines::left() const {
  const std::set<InstanceId> known = watcher_->known();
  return {known.begin(), known.end()};
}

}  // namespace muster
