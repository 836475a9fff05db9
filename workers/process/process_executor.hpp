#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "workers/executor.hpp"
#include "workers/process/descriptor.hpp"
#include "workers/process/exec/exec_desk.hpp"
#include "workers/process/files/attempt_sweeper.hpp"
#include "workers/process/files/disk_watch.hpp"
#include "workers/process/limits/cpu_shares.hpp"
#include "workers/process/limits/gpu_shares.hpp"
#include "workers/process/limits/limits.hpp"
#include "workers/process/limits/task_users.hpp"
#include "workers/process/metrics_outbox.hpp"
#include "workers/process/progress.hpp"
#include "workers/process/shim/shim_supervisor.hpp"
#include "workers/process/usage_desk.hpp"

namespace muster {

/// How real processes are run.
struct ProcessOptions {
  /// Belongs to this instance alone and outlives the worker's process; tasks have to be able to
  /// get through to it (mode 0711 of it and all above) when they run as another user.
  std::filesystem::path state_dir;
  /// Equal for every instance that a task may move between: a task's checkpoint folder is
  /// checkpoint_root/JOB/ARRAY_INDEX.
  std::filesystem::path checkpoint_root;
  /// Of the folder that the cluster's machines share (checkpoint_mark.hpp); empty: they share this.
  std::string checkpoint_mark{};
  process::FileTerms files{};
  /// Forks the shims (shim_server.hpp): the muster command, or better the small muster-shim.
  std::filesystem::path shim_program;
  Duration stop_grace = std::chrono::seconds{30};  ///< from SIGTERM to SIGKILL; 0 or more
  /// How long an attempt may take to end after that, before its supervisor is killed.
  Duration end_patience = std::chrono::seconds{30};
  std::uint64_t log_file_bytes = 8u << 20;  ///< of each stream, before a new file; 4 KiB or more
  std::uint32_t log_files_kept = 2;         ///< full ones of each stream; 0 to 100
  std::size_t tail_bytes = 16u << 10;       ///< of each stream in a report; 0 to 1 MiB
  /// Between two looks at the memory of an attempt where no cgroup limits it; 10 ms to 10 s.
  Duration memory_interval = std::chrono::milliseconds{250};
  /// How long an attempt's folder outlives its being settled; 0 or more.
  Duration acknowledged_keep = std::chrono::hours{1};
  std::size_t max_acknowledged =
      1000;  ///< folders of settled attempts; past it the oldest go earlier
  /// The best means that are tried; means that the machine does not offer are left out.
  process::LimitMeans best_means = process::LimitMeans::cgroup2;
  std::uint32_t max_processes = 4096;  ///< of an attempt; 0: any number
  bool hold_cpu = true;  ///< by binding tasks to processors, where no cgroup limits them
  int nice = 5;          ///< of tasks where no cgroup limits the processor; 0 to 19
  /// User and group that tasks run as; for a worker that is root. Unset: the worker's own.
  std::optional<std::uint32_t> task_uid;
  std::uint32_t task_gid = 65534;
  /// Instead, for a worker that is root: tasks of each user as TaskUsers says.
  std::optional<UidRange> task_uids;
  process::Accounts accounts = process::system_accounts();
  /// Out of the sight of tasks, with `state_dir` and `checkpoint_root`, by namespaces, which have
  /// to work here and are not for root; nothing: tasks see all.
  std::optional<std::vector<std::string>> hidden;
  /// Writes orders through to the disk. Only loss of power takes one that was not, and with it goes
  /// the attempt itself, which is then reported as failed either way.
  bool sync_orders = false;
  /// Time between two checks of the space on the disks of attempts and checkpoints; 0: no checks. A
  /// new attempt waits for room as long as 30 of these.
  Duration disk_check{};
  /// Least free space; nothing: the default of DiskWatchOptions.
  std::optional<std::uint64_t> disk_free_bytes;
  std::uint32_t metric_names = 16;  ///< of what an attempt reports of itself; 0 to kMaxMetrics
  Duration metrics_interval = std::chrono::seconds{2};  ///< between two tellings of what is new
  /// Of those that replicas of services are given; workers of one computer may share a range.
  std::uint32_t first_port = 20'000;
  std::uint32_t last_port = 32'000;
  std::string address = "127.0.0.1";  ///< of this instance, for clients of the services on it
  std::uint32_t exec_most = 32;       ///< commands beside tasks at once; 0: no such ones
  Duration exec_keep = std::chrono::seconds{60};  ///< how long one runs without a question for it
  std::function<std::optional<process::DiskSpace>(const std::filesystem::path&)> disk_space =
      process::space_on;
};

/// Runs each attempt as a process of this machine under a shim of its own, which outlives this
/// object and this process. See docs/tasks.md. In a process that takes orphans in
/// (PR_SET_CHILD_SUBREAPER), no children may be started but by this object: others are taken for
/// what killed shims have left behind, and killed when a shim was.
class ProcessExecutor : public Executor {
 public:
  /// The largest text that read_log() returns.
  static constexpr std::uint32_t kMaxLogBytes = 1u << 20;

  ProcessExecutor(InstanceId instance, ProcessOptions options, ExecutorHost host);
  ~ProcessExecutor() override;
  ProcessExecutor(const ProcessExecutor&) = delete;
  ProcessExecutor& operator=(const ProcessExecutor&) = delete;

  void start(const TaskOrder& told) override;
  void stop(TaskId task, Attempt attempt) override;
  /// Attempts that have not said enough of their progress, and those that nothing is known to
  /// compare with, are left out.
  std::vector<ExecutionSample> sample() override;
  void repeat_reports() override { reports_.repeat(); }
  bool repeats(TaskId id, Attempt attempt) const override { return reports_.keeps({id, attempt}); }
  std::vector<FoundExecution> adopt() override;
  void acknowledged(TaskId task, Attempt attempt) override;
  LogPart read_log(const LogPlace& place) override;
  void exec(const ExecRequest& request, const std::function<void(ExecAnswer)>& answer) override;
  void usage(const std::function<void(std::vector<AttemptUsage>)>& answer) override {
    usage_.ask(answer);
  }
  /// "cgroup2", or else "cgroup2-kill + memory watch" or "subreaper + memory watch", and then
  /// whether processors are held.
  std::string limits() const override;
  /// "uid", "one uid", "namespaces" or "none".
  std::string isolation() const override;
  bool own_checkpoints() const override { return own_checkpoints_; }

 private:
  using AttemptKey = process::AttemptKey;
  struct Run {
    std::string workload_class;
    double baseline_rate_per_s = 0;
    std::uint32_t together = 1;  ///< tasks of its job that were started with it
    bool started = false;
    process::ProgressMeter meter;
  };
  /// An attempt that waits for room on the disk.
  struct Waiting {
    TaskOrder order;
    Duration until{};
  };

  void fill_in(TaskOrder& order) const;
  process::WorkerTerms terms_for(const TaskOrder& order);
  void fail_to_start(const AttemptKey& key, const std::string& reason);
  std::filesystem::path folder_of(const AttemptKey& key) const;
  void watch_disks(InstanceId instance);
  void begin(const TaskOrder& told);
  void on_full_disk(const std::string& full);
  void reject(const AttemptKey& key, const std::string& reason);
  void hear(process::ShimNews news);
  void end(const AttemptKey& key, process::ShimEnded ended);
  void company_changed();
  std::optional<double> normalized(const Run& run, Duration now);
  std::optional<FoundExecution> take_over(const AttemptKey& key);

  ProcessOptions options_;
  ExecutorHost host_;
  process::MetricsOutbox reports_;
  process::FoundMeans means_;
  process::AloneRates alone_rates_;
  process::GpuShares gpus_;
  process::CpuShares cpus_;
  /// The supervisor's thread's alone; nothing: tasks run as one user.
  std::optional<process::TaskUsers> users_;
  process::TaskAccount own_;      ///< the one account that tasks run under otherwise
  process::HeldPlaces hidden_;    ///< none: tasks see all
  bool own_checkpoints_ = false;  ///< as it was at the start
  std::map<AttemptKey, Run> runs_;
  std::map<AttemptKey, Waiting> waiting_;  ///< of the runs, those that are not begun yet
  Duration company_since_{};  ///< since when the attempts on this instance have been the same ones
  std::shared_ptr<const bool> alive_ = std::make_shared<bool>(true);
  process::AttemptSweeper sweeper_;
  std::unique_ptr<process::ShimSupervisor> supervisor_;
  process::ExecDesk desk_;
  process::UsageDesk usage_;
  std::unique_ptr<process::DiskWatch> watch_;  ///< last: it uses the two above; null: no watch
};

}  // namespace muster
