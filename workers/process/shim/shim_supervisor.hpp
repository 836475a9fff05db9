#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "workers/executor.hpp"
#include "workers/process/files/attempt_dir.hpp"
#include "workers/process/progress.hpp"
#include "workers/process/shim/fork_server.hpp"
#include "workers/process/shim/shim_logs.hpp"
#include "workers/process/shim/shim_usage.hpp"

namespace muster::process {

/// The attempt's program runs.
struct ShimStarted {};
/// The attempt is over, and nothing of it runs any more.
struct ShimEnded {
  AttemptResult result;
  ExecutionEnd end;
};
struct ShimNews {
  AttemptKey key;
  std::variant<ShimStarted, ProgressPoint, ShimEnded, Metrics, ReplicaState, FilledBytes, UsageLook>
      what;
};

/// Where the attempts are and what starts them.
struct ShimSupervisorOptions {
  std::filesystem::path attempts;      ///< the folder of the attempts' folders
  std::filesystem::path shim_program;  ///< the program of the fork server (shim_server.hpp)
  std::size_t tail_bytes = 0;          ///< of each stream, told when an attempt is over
  bool sync_orders = false;
  /// How long an attempt may take to end after the grace of its stop, or after its time limit and
  /// that, before its supervisor is killed. Longer than a supervisor waits for room on a disk.
  Duration patience = std::chrono::seconds{30};
  /// Puts into an order, before its attempt begins, what waits for a disk or for the system's
  /// accounts, as it is called on the supervisor's thread; how the attempt ends where it cannot
  /// begin. Empty: orders are whole.
  std::function<std::optional<AttemptResult>(Order&)> complete{};
};

/// A shim that a supervisor watches.
struct WatchedShim {
  Descriptor folder;
  Descriptor channel;   ///< empty: to be connected at `look_again`
  std::string control;  ///< abstract name of the shim's socket; empty: not known
  std::string input;
  Duration look_again{};
  pid_t shim = -1;  ///< once it is known which process it is
  bool told_start = false;
  bool tells_usage = false;  ///< when it is asked to
  bool stop_asked = false;
  std::string last_word;     ///< that it is to end at once; empty: it is not
  Descriptor lock;           ///< the file of the shim's lock; empty: it could not be opened
  Duration doubted_since{};  ///< whether the shim lives, which cannot be told; 0: it can
  Duration stop_grace{};     ///< with the time that files may take
  Duration time_limit{};     ///< 0: no limit
  Duration end_by{};         ///< when it has to be over; 0: there is no such time
  bool forced = false;       ///< its supervisor was killed, as it was not over by then
};

/// Starts and watches the shims of one executor, on a thread of its own that sleeps until one of
/// them has something to say. A shim outlives the supervisor.
class ShimSupervisor {
 public:
  /// `tell` is called on the supervisor's thread: for each attempt started at most once, then
  /// points of progress, and last its end, once.
  ShimSupervisor(ShimSupervisorOptions options, std::function<void(ShimNews)> tell);
  ~ShimSupervisor();
  ShimSupervisor(const ShimSupervisor&) = delete;
  ShimSupervisor& operator=(const ShimSupervisor&) = delete;

  /// Makes the attempt's folder and starts its shim; nothing when the folder is already there.
  void launch(Order order);
  /// Follows an attempt whose shim was started earlier, or tells of its end.
  void follow(const AttemptKey& key);
  void stop(const AttemptKey& key);
  /// Ends an attempt at once for what it takes of a full disk; its checkpoints go too, when told
  /// so.
  void end_for_disk(const AttemptKey& key, const std::string& reason, bool drop_checkpoint);
  /// Has all shims look at what their tasks take; they tell it.
  void measure();

 private:
  struct Launch {
    Order order;
  };
  struct Follow {
    AttemptKey key;
  };
  struct Stop {
    AttemptKey key;
  };
  struct Say {
    AttemptKey key;
    std::string line;
  };
  struct Measure {};
  using Command = std::variant<Launch, Follow, Stop, Say, Measure>;

  void work();
  void command(Command command);
  void obey(Launch& launch);
  void obey(Follow& follow);
  void obey(Stop& stop);
  void obey(Say& say);
  void obey(Measure& measure);
  int wait_ms() const;
  void hear(const AttemptKey& key);
  bool heed(const AttemptKey& key, WatchedShim& watched, std::string_view line);
  void look_again();
  bool reach(const AttemptKey& key, WatchedShim& watched);
  void attach(const AttemptKey& key, WatchedShim& watched, Descriptor channel);
  void bound(WatchedShim& watched, const Order& order);
  void end_overdue();
  void conclude(const AttemptKey& key);
  AttemptResult without_result(const WatchedShim& watched) const;
  void end_strays(WatchedShim& dead);
  void notify_end(const AttemptKey& key, AttemptResult result);
  std::string spawn(const AttemptKey& key, WatchedShim& watched, Descriptor& lock);
  void reap_shims();

  ShimSupervisorOptions options_;
  std::function<void(ShimNews)> tell_;
  Descriptor epoll_;
  Descriptor wakeup_;
  std::mutex mutex_;
  std::vector<Command> commands_;  ///< guarded by mutex_
  bool quit_ = false;              ///< guarded by mutex_
  // All below belongs to the supervisor's thread.
  ForkServer server_;
  std::map<AttemptKey, WatchedShim> watched_;
  std::map<int, AttemptKey> by_channel_;
  /// Shims that are about to end. The server reaps them, and this process those that come to it
  /// because their server has died.
  std::vector<pid_t> ending_;
  std::thread thread_;
};

/// Ends what a killed shim has left behind in the attempt's group or, without one, what carries the
/// attempt's mark.
void end_leftovers(int folder, const std::filesystem::path& path);

}  // namespace muster::process
