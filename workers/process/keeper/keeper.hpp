#pragma once

#include <poll.h>

#include <optional>
#include <string>
#include <vector>

#include "workers/process/keeper/child_program.hpp"
#include "workers/process/keeper/keeper_order.hpp"
#include "workers/process/keeper/keeper_pace.hpp"
#include "workers/process/keeper/port_claims.hpp"
#include "workers/process/keeper/replica_checks.hpp"
#include "workers/process/keeper/replica_voice.hpp"
#include "workers/process/keeper/restart_pauses.hpp"

namespace muster::process {

/// Keeps the program of a service's replica running, and says how it is doing. One thread and one
/// poll(): nothing in the loop waits for anybody.
class Keeper {
 public:
  /// `program` has the keeper's own environment; its MUSTER_SOCKET is where the shim hears.
  Keeper(KeeperOrder order, ProgramWords program, const KeeperPace& pace = {});

  /// Until SIGTERM and what follows from it; the exit code to end with. Takes SIGCHLD and SIGTERM
  /// from the calling process, which has no other children.
  int run();

 private:
  /// Once it is asked to stop, the program is left alone for a while, then asked to stop, then made
  /// to.
  enum class Stage : std::uint8_t { keeping, draining, stopping };

  void watch_once();
  int wait_ms() const;
  void on_signals();
  void reap();
  void on_end(int status);
  void stop();
  void judge();
  void doom();
  void start_when_due();
  bool claim_ports();
  void start();
  void pause_for(Duration pause);
  void set_ready(bool ready);
  void set_trouble(const std::string& text);
  void stop_when_due();
  bool must_get_ready() const;

  KeeperOrder order_;
  ProgramWords program_;
  KeeperPace pace_;
  RestartPauses pauses_;
  ReplicaChecks checks_;
  ReplicaVoice voice_;
  Descriptor signals_;
  std::optional<PortClaims> ports_;
  std::optional<ChildProgram> child_;  ///< the program, while it runs
  ReplicaState state_;
  Duration now_{};  ///< since boot, as all times here
  Duration started_{};
  Duration ended_{};
  Duration ready_since_{};
  Duration next_start_{};
  bool doomed_ = false;  ///< the program is killed for its health
  Stage stage_ = Stage::keeping;
  Duration stage_end_ = Duration::max();
  std::optional<int> exit_code_;
};

inline constexpr const char* kKeepVerb = "keep";

/// `muster-shim keep JSON -- PROGRAM ARGS...`, JSON a KeeperOrder. 2: its arguments are invalid.
int keep_main(int argc, char** argv);

}  // namespace muster::process
