#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "workers/process/files/attempt_dir.hpp"
#include "workers/process/limits/limits.hpp"
#include "workers/process/shim/lease.hpp"
#include "workers/process/shim/line_server.hpp"
#include "workers/process/shim/shim_commands.hpp"
#include "workers/process/shim/shim_logs.hpp"
#include "workers/process/shim/shim_progress.hpp"
#include "workers/process/shim/shim_result.hpp"
#include "workers/process/shim/shim_task.hpp"

namespace muster::process {

/// Descriptors and order of a shim when its run begins.
struct ShimSetup {
  std::string path;  ///< of the attempt's folder
  Descriptor folder;
  Descriptor signals;   ///< SIGCHLD and SIGTERM, both blocked
  Descriptor executor;  ///< empty: not connected
};

/// One attempt from its start to its written result.
class ShimRun {
 public:
  ShimRun(ShimSetup setup, Order order);

  /// False when no result could be written.
  bool run();

 private:
  bool prepare();
  void open_sockets();
  bool prepare_folders();
  void watch_once();
  int wait_ms() const;
  void on_signals();
  void reap();
  void on_start_order();
  void on_sockets(const std::vector<pollfd>& polled);
  void serve_commands(const std::vector<pollfd>& polled);
  ShimCommands::Describe describe_command() const;
  std::optional<std::string> control(std::string_view line);
  std::optional<std::string> progress(std::string_view line);
  void pass_news_on();
  std::string greeting() const;
  bool copy(Descriptor& from, LogWriter& to);
  void check_deadlines();
  void check_usage();
  void warn();
  void end_gently(Ending why);
  void end_for_disk(std::string_view reason, bool drop_checkpoint);
  void end_for_lease();
  void kill_task();
  void fail_start(EndKind kind, const std::string& reason);
  AttemptResult result_to_leave() const;
  bool finish();

  ShimSetup setup_;
  Order order_;
  TaskPlace place_;
  ShimLogs logs_;
  Lease lease_;
  std::unique_ptr<char[]> buffer_;
  LineServer control_;
  LineServer progress_;
  ShimProgress said_;         ///< on the progress socket
  Duration progress_rest_{};  ///< until then the progress socket is not looked at
  std::optional<TaskGroup> group_;
  ForkedTask task_;
  ShimCommands commands_;  ///< beside the task

  bool starting_ = true;
  bool over_ = false;
  TaskEnd end_;
  Duration started_{};   ///< since boot, as all times here
  bool warned_ = false;  ///< of its time limit
  /// Since boot; 0: there is no such time.
  struct Due {
    Duration kill{};
    Duration usage_check{};
  } due_;
  bool drop_checkpoint_ = false;  ///< the disk is full: its checkpoints go too
};

}  // namespace muster::process
