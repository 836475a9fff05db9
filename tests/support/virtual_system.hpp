#pragma once

#include <caf/all.hpp>

#include "actors/messages/interfaces.hpp"
#include "actors/time/virtual_time.hpp"

namespace muster::test {

/// An actor system in virtual time for transcripts of what actors say to each other.
class VirtualSystem {
 public:
  /// The actors may say what `add` adds.
  explicit VirtualSystem(void (*add)(caf::actor_system_config&) = add_messages)
      : system_(prepare(config_, add)) {}
  ~VirtualSystem() {
    time().drop_timers();
    system_.await_actors_before_shutdown(false);
  }
  VirtualSystem(const VirtualSystem&) = delete;
  VirtualSystem& operator=(const VirtualSystem&) = delete;

  caf::actor_system& actors() { return system_; }
  VirtualTime& time() { return VirtualTime::of(system_); }

  /// Lets everything happen that is due until then.
  void run_until_s(double seconds) { time().run_until(Instant{from_seconds(seconds)}); }

  template <class Handle>
  void end(const Handle& actor) {
    caf::anon_send_exit(actor, caf::exit_reason::kill);
    time().drain();
  }

 private:
  static caf::actor_system_config& prepare(caf::actor_system_config& config,
                                           void (*add)(caf::actor_system_config&)) {
    add(config);
    config.load<VirtualTime>();
    return config;
  }

  caf::actor_system_config config_;
  caf::actor_system system_;
};

/// A note of something said, with the second at which it was heard.
struct Heard {
  double at_s = 0;
  std::string what;
  friend bool operator==(const Heard&, const Heard&) = default;
};
inline std::ostream& operator<<(std::ostream& out, const Heard& heard) {
  return out << heard.at_s << "s " << heard.what;
}

/// A master as its workers and the cloud know it.
using ListeningMaster = Together<MasterForWorkers, MasterForCloud>;

/// Stands in for a master: writes down what it is told.
inline ListeningMaster spawn_listening_master(VirtualSystem& system, std::vector<Heard>& heard,
                                              std::vector<WorkerActor>* workers = nullptr,
                                              std::vector<CloudReport>* reports = nullptr) {
  const auto note = [&system, &heard](const std::string& what) {
    heard.push_back({to_seconds(system.time().now()), what});
  };
  return system.actors().spawn(
      [note, workers, reports](ListeningMaster::pointer) -> ListeningMaster::behavior_type {
        return {
            [note, workers](hello_atom, const WorkerHello& hello, const WorkerActor& worker) {
              note("hello " + std::to_string(hello.instance.value));
              if (workers != nullptr) workers->push_back(worker);
            },
            [note](const WorkerReport& report) {
              static constexpr const char* kKinds[] = {"started", "left",  "finished",
                                                       "failed",  "taken", "rejected"};
              note(std::string(kKinds[static_cast<int>(report.kind)]) + " " +
                   std::to_string(report.task.value));
            },
            [note](const SampleAnswer& answer) {
              note("samples " + std::to_string(answer.samples.size()) + " at " +
                   std::to_string(static_cast<double>(answer.samples.at(0).scaled) /
                                  TaskThroughput::kOne));
            },
            [](const LogAnswer&) {},
            [](const MetricsReport&) {},
            [](const FilledLogs&) {},
            [](const ExecAnswer&) {},
            [](const UsageAnswer&) {},
            [note, reports](const CloudReport& report) {
              static constexpr const char* kKinds[] = {"up",     "refused", "gone",
                                                       "notice", "clock",   "offerings"};
              if (reports != nullptr) reports->push_back(report);
              note(std::string(kKinds[static_cast<int>(report.kind)]) + " " +
                   std::to_string(report.instance.value));
            },
        };
      });
}

}  // namespace muster::test
