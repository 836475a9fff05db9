#pragma once

#include <poll.h>
#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/time.hpp"
#include "workers/process/shim/shim_beside.hpp"
#include "workers/process/shim/shim_task.hpp"

namespace muster::process {

/// Commands beside a shim's task. Each has a connection to whoever asked for it, who has the other
/// ends of its streams; a command whose connection ends is hung up, and killed a second later. They
/// are children of the shim: the end of the task is theirs, and they count into what it may take.
class ShimCommands {
 public:
  /// At once.
  static constexpr std::size_t kMost = 32;
  /// From the hang-up to the end.
  static constexpr Duration kGrace = std::chrono::seconds{1};

  /// Forks a command; nothing: see errno.
  using Fork = std::function<std::optional<ForkedTask>(const BesideAsked&)>;
  /// Why the program of a command did not start, in words.
  using Describe =
      std::function<std::string(const StartTrouble& trouble, const std::string& program)>;

  /// Connections of other users, and of isolated tasks, are refused.
  void listen(Descriptor listener) { listener_ = std::move(listener); }

  void add_to(std::vector<pollfd>& polled) const;
  /// Serves what poll() found. `not_now`: why no command can begin at present; empty: it can.
  void serve(const std::vector<pollfd>& polled, const std::string& not_now, const Fork& fork,
             const Describe& describe);
  /// A child has ended; false: it is no command.
  bool reaped(pid_t process, int status, const Describe& describe);
  /// When the next one is to be killed.
  std::optional<Duration> next_due() const;
  void kill_due(Duration now);

 private:
  struct Command {
    Descriptor channel;   ///< empty: its asker has gone
    Descriptor news;      ///< of its start; empty: that is over
    pid_t process = -1;   ///< -1: it is not begun
    std::string program;  ///< its first word
    std::string input;
    Duration kill_at{};
  };

  void accept_all();
  bool hear(Command& command) const;
  void begin(Command& command, const std::string& not_now, const Fork& fork);
  static bool heed(Command& command, std::string_view line);
  static bool look_at_start(Command& command, const Describe& describe);
  static void hang_up(Command& command);

  Descriptor listener_;
  std::vector<Command> commands_;
};

}  // namespace muster::process
