#pragma once

#include <sys/resource.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "workers/process/files/attempt_dir.hpp"
#include "workers/process/files/log_file.hpp"
#include "workers/process/limits/limits.hpp"
#include "workers/process/progress.hpp"
#include "workers/process/shim/line_server.hpp"
#include "workers/process/shim/shim_task.hpp"

namespace muster::process {

/// What a shim holds when its run begins.
struct ShimSetup {
  std::string path;  ///< of the attempt's folder
  Descriptor folder;
  Descriptor signals;   ///< SIGCHLD and SIGTERM, both blocked
  Descriptor executor;  ///< empty: none is connected
};

/// One attempt from its start to its written result.
class ShimRun {
 public:
  ShimRun(ShimSetup setup, Order order);

  /// False when no result could be written.
  bool run();

 private:
  enum class Ending { none, stop, time, memory, disk, processes };

  bool prepare();
  void open_sockets();
  bool prepare_folders();
  void watch_once();
  int wait_ms() const;
  void on_signals();
  void reap();
  void on_start_order();
  void on_sockets(const std::vector<pollfd>& polled);
  std::optional<std::string> control(std::string_view line);
  std::optional<std::string> progress(std::string_view line);
  void notify_progress();
  std::string greeting() const;
  bool copy(Descriptor& from, LogWriter& to);
  void check_deadlines();
  void check_usage();
  void warn();
  void end_gently(Ending why);
  void end_for_disk(std::string_view reason, bool drop_checkpoint);
  void make_space_on_disk() const;
  void kill_task();
  void fail_start(EndKind kind, const std::string& reason);
  AttemptResult result() const;
  AttemptResult result_to_leave() const;
  void describe_end(AttemptResult& result) const;
  bool finish();

  ShimSetup setup_;
  Order order_;
  TaskPlace place_;
  LogWriter out_log_;
  LogWriter err_log_;
  std::unique_ptr<char[]> buffer_;
  LineServer control_;
  LineServer progress_;
  ProgressMeter meter_;
  std::optional<TrainingSample> step_;   ///< the newest one; it is told with the next progress
  std::optional<ProgressPoint> untold_;  ///< the newest progress, when it came too soon to be told
  double units_ = 0;
  Duration progress_rest_{};  ///< until then the progress socket is not looked at
  std::optional<TaskGroup> group_;
  ForkedTask task_;

  bool starting_ = true;
  bool over_ = false;
  std::string start_failure_;
  EndKind start_failure_kind_ = EndKind::not_launched;
  std::int32_t start_failure_code_ = kCannotRun;
  int status_ = 0;
  rusage usage_{};
  Ending ending_ = Ending::none;
  Duration started_{};  ///< since boot, as all times here
  Duration asked_to_stop_{};
  Duration kill_at_{};
  bool warned_ = false;  ///< of its time limit
  Duration usage_check_{};
  std::int64_t started_ns_ = 0;
  std::uint64_t peak_bytes_ = 0;
  std::string disk_reason_;         ///< set: it was ended for what it took of a full disk
  bool drop_checkpoint_ = false;    ///< its checkpoints go too
  std::uint64_t over_bytes_ = 0;    ///< what the task held when it was ended for it
  std::size_t over_processes_ = 0;  ///< the same of its processes
};

}  // namespace muster::process
