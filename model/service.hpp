#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/enum_words.hpp"
#include "model/ids.hpp"
#include "model/time.hpp"

// Services: jobs whose tasks, the replicas, are to run until their user ends them, and to be
// restarted whenever they end.

namespace muster {

/// Bounds on a service, which records and messages rely on.
inline constexpr std::uint32_t kLargestService = 1024;
inline constexpr std::size_t kMostPorts = 8;
inline constexpr std::size_t kMostPortNameBytes = 32;
inline constexpr std::size_t kMostTroubleBytes = 160;
inline constexpr std::size_t kMostAddressBytes = 255;
inline constexpr std::uint32_t kMostPortNumber = 65'535;

/// How a replica is asked whether it is well.
enum class CheckKind : std::uint8_t {
  nothing,  ///< it is not asked: it is well while it runs
  http,     ///< a GET of a path of a port is answered with a status from 200 to 399
  tcp,      ///< a port takes a connection
  command,  ///< a program ends with exit code 0
  line      ///< the program says so itself: the line `ready` on its task's socket
};
constexpr auto words_of(CheckKind) {
  using E = CheckKind;
  return std::to_array<EnumWord<E>>({{E::nothing, "none"},
                                     {E::http, "http"},
                                     {E::tcp, "tcp"},
                                     {E::command, "command"},
                                     {E::line, "line"}});
}

/// A check that is made of a replica again and again.
struct HealthCheck {
  CheckKind kind = CheckKind::nothing;
  std::string port{};                  ///< name of the port that http and tcp ask
  std::string path{};                  ///< of an http check, from its "/"
  std::vector<std::string> command{};  ///< program and arguments of a command check
  Duration every{std::chrono::seconds{2}};
  Duration timeout{std::chrono::seconds{1}};  ///< a check that takes longer has failed
  std::uint32_t successes = 1;                ///< in a row, after which it is well
  std::uint32_t failures = 3;                 ///< in a row, after which it is not

  friend bool operator==(const HealthCheck&, const HealthCheck&) = default;
};

/// A number that each replica of a service has, and on which side of which bound it is to be.
struct ServiceGoal {
  std::string metric{};   ///< its name among the metrics of the replicas; empty: there is no goal
  double bound = 0;       ///< > 0
  bool at_least = false;  ///< the number is to be the bound at least; else at most
  /// The program that prints it, and its arguments; empty: the replica's program reports it itself.
  std::vector<std::string> probe{};
  Duration every{std::chrono::seconds{30}};    ///< from one run of the probe to the next
  Duration timeout{std::chrono::seconds{10}};  ///< a probe that takes longer has measured nothing

  bool is_there() const { return !metric.empty(); }
  bool is_met(double measured) const { return at_least ? measured >= bound : measured <= bound; }

  friend bool operator==(const ServiceGoal&, const ServiceGoal&) = default;
};

/// How small a replica may be, where its policy chooses its size: at most it is what its user asks
/// for, which other policies grant.
struct SizeRange {
  double least_cpus = 0;  ///< cores; 0: it has the size that its user asks for
  double least_memory_gib = 0;

  bool is_there() const { return least_cpus > 0; }

  friend bool operator==(const SizeRange&, const SizeRange&) = default;
};

inline constexpr Duration kHealthyFor{std::chrono::seconds{5}};
inline constexpr Duration kUpdateWithin{std::chrono::minutes{10}};

/// A job whose tasks never end by themselves. Each of them that is wanted is a replica: whenever
/// its program ends it is started again where it is, at once and then after longer and longer
/// pauses. The tasks beyond are spare: replicas that stand in for others are such tasks.
///
/// Another revision of a service is a job of its own that replaces the one before: its replicas
/// come first, and those of the earlier revision leave as they become ready.
struct ServiceSpec {
  std::vector<std::string> ports{};  ///< by name; a replica is given a number for each
  HealthCheck ready{};               ///< whether clients may be sent to the replica
  HealthCheck alive{};               ///< a replica that is not is killed and started again
  Duration start_within{std::chrono::minutes{5}};  ///< time to be ready, after which it is killed
  Duration drain{};            ///< from the end of its being listed to its request to stop
  std::uint32_t replicas = 0;  ///< at first; 0: as many as it has tasks, as in earlier versions
  std::uint32_t surge = 1;     ///< replicas beyond those, while an earlier revision is replaced
  std::uint32_t max_unavailable = 0;  ///< of its replicas, that need not be ready for Muster's sake
  Duration healthy_for{kHealthyFor};  ///< time that a replica is ready before another one may leave
  Duration update_within{kUpdateWithin};  ///< for each next replica of a revision to be ready
  ServiceGoal goal{};
  /// Between these its goal decides how many replicas it has; 0 and 0: its user does.
  std::uint32_t least = 0;
  std::uint32_t most = 0;
  SizeRange size{};
  std::uint32_t revision = 1;
  JobId replaces{};      ///< the job of the revision before
  std::string master{};  ///< the one that has that job

  bool scales() const { return most > 0; }

  friend bool operator==(const ServiceSpec&, const ServiceSpec&) = default;
};

/// A port of a replica.
struct ReplicaPort {
  std::string name;
  std::uint32_t number = 0;

  friend bool operator==(const ReplicaPort&, const ReplicaPort&) = default;
};

/// How a replica is doing, by the word of its worker.
struct ReplicaState {
  bool ready = false;
  std::uint32_t restarts = 0;  ///< of its program, in the present attempt
  std::int32_t exit_code = 0;  ///< of the last end of its program; 128+n: signal n
  Duration pause{};            ///< before its next start; 0: its program runs
  std::string trouble{};       ///< the last failure of a check or a start; empty: it is well
  std::string address{};       ///< of its instance, for clients
  std::vector<ReplicaPort> ports{};

  friend bool operator==(const ReplicaState&, const ReplicaState&) = default;
};

/// A replica's pause before it is started again is twice the one before, from the second end on.
inline constexpr Duration kFirstRestartPause{std::chrono::seconds{10}};
inline constexpr Duration kLongestRestartPause{std::chrono::minutes{5}};
/// Its ends are forgotten when it has stood for that long.
inline constexpr Duration kForgetSetbacks{std::chrono::minutes{10}};

/// The pause after that number of ends in a row.
constexpr Duration restart_pause(std::uint32_t setbacks) {
  if (setbacks <= 1) return Duration::zero();
  Duration pause = kFirstRestartPause;
  for (std::uint32_t i = 2; i < setbacks && pause < kLongestRestartPause; ++i) pause *= 2;
  return pause < kLongestRestartPause ? pause : kLongestRestartPause;
}

/// Small letters, digits and '_', a letter first, of kMostPortNameBytes at most.
bool is_port_name(std::string_view name);
/// The text as a replica's trouble: kMostTroubleBytes at most without a cut letter, and no control
/// characters.
std::string trouble_text(std::string_view text);
/// Its texts and its ports are within their bounds. A worker runs what its users like: its word is
/// held against this wherever it comes in.
bool is_replica_state(const ReplicaState& state);

}  // namespace muster
