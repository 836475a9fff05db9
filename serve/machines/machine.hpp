#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/ids.hpp"
#include "model/time.hpp"
#include "serve/machines/machine_folder.hpp"

namespace muster::machines {

/// How a machine's worker is kept running.
struct MachineRules {
  Duration restart_min = std::chrono::milliseconds{200};  ///< after the first end; > 0
  Duration restart_max = std::chrono::seconds{30};        ///< it doubles up to this; >= restart_min
  Duration steady = std::chrono::minutes{1};         ///< a worker that ran this long counts as well
  std::uint64_t log_bytes = std::uint64_t{8} << 20;  ///< of the worker's output, twice; >= 1
};

/// One machine: keeps its worker running until it is halted, then ends all that runs on it. Never
/// waits: `step` does what can be done now and says when it wants to be called again.
class Machine {
 public:
  using Clock = std::chrono::steady_clock;
  using Tell = std::function<void(const std::string& text, bool restarted)>;

  Machine(MachineFolder folder, const MachineRules& rules, Tell tell);

  const MachineFolder& folder() const { return folder_; }
  void halt(Duration grace, std::function<void()> ended);
  void step();
  Clock::time_point due() const { return due_; }
  /// Readable when the worker has ended; -1 without a known worker.
  int pidfd() const { return pidfd_.get(); }
  /// Nothing runs any more.
  bool over() const { return phase_ == Phase::over; }
  /// Those who wanted to know when it is over.
  std::vector<std::function<void()>> take_waiting() { return std::move(waiting_); }

 private:
  enum class Phase { starting, running, ending_worker, ending_rest, over };

  void start();
  void watch();
  void end_worker();
  void end_rest();
  void end_reaper();
  bool find();
  bool worker_ended() const;
  std::string reap();
  void wait(Duration time) { due_ = Clock::now() + time; }
  void wait_longer();

  MachineFolder folder_;
  const MachineRules& rules_;
  Tell tell_;
  Phase phase_ = Phase::starting;
  Clock::time_point due_ = Clock::now();
  std::optional<ProcessRow> worker_;  ///< the last that was known
  Descriptor pidfd_;                  ///< of the worker that runs
  Clock::time_point started_;
  Duration back_off_{};
  bool had_worker_ = false;  ///< one has run before: the next start is a restart
  std::vector<std::function<void()>> waiting_;
  Duration grace_{};
  Clock::time_point force_at_;  ///< from then on what runs is killed
  Duration pause_{};
  std::uint32_t kills_ = 0;
  std::uint32_t reaper_asked_ = 0;  ///< how often the worker was told to kill what it has started
  bool asked_ = false;              ///< its processes have been sent SIGTERM
};

}  // namespace muster::machines
