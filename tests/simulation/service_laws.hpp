#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "model/cluster_state.hpp"
#include "tests/simulation/cluster.hpp"
#include "tests/simulation/users.hpp"

namespace muster::ring {

/// Watches services from outside, by the events of their masters and by what their keepers say.
class ServiceLaws {
 public:
  struct Watched {
    Cluster& cluster;
    const Users& users;
    std::function<void(const std::string&)> broken;
    /// Since then the master has run and could write all along; later than now: it cannot.
    std::function<Instant(std::uint32_t master)> able_since;
  };

  explicit ServiceLaws(Watched watched) : watched_(std::move(watched)) {}

  /// Has masters asked for their services again and again, as clients do.
  void begin();
  /// A durable event; the state is as it was before.
  void before(std::uint32_t master, const Event& event, const ClusterState& state);
  /// Looks at what has to hold after every message.
  void check(std::uint32_t master, const ClusterState& state);
  /// The disk of a master has what its events say.
  void check_fold(std::uint32_t master, const ClusterState& state) const;
  /// Services that are over; true time of the newest end, or now while there are any.
  Instant room_since() const;

 private:
  /// A replica, as the events tell of it.
  struct Book {
    bool wanted = false;                  ///< it is not one to spare
    std::optional<Instant> runs_since{};  ///< its attempt; the master's time, as the next
    std::optional<Instant> rests_until{};
    std::uint32_t setbacks = 0;            ///< attempts in a row that have ended too soon
    Duration pause{};                      ///< the length of its rest
    Instant released_at{};                 ///< true time at which its rest should be over
    std::optional<std::size_t> word{};     ///< of its present attempt, the newest
    std::optional<Instant> ready_since{};  ///< by its words; the master's time
    Instant waits_since{};                 ///< for an attempt that runs; true time
    Instant stays_since{};                 ///< it did not leave; true time
  };

  struct Hearer;

  Book* find(TaskId task);
  void absorb_end(std::uint32_t master, const TaskFailed& failed, Instant at);
  void absorb_loss(std::uint32_t master, const TaskFailed& lost, Instant at);
  void absorb_end(std::uint32_t master, const JobFinished& over, const Job& job);
  void ends(TaskId task, Instant at);
  void check_word(const ReplicaChanged& said, Instant at);
  void check_place(TaskId task, Instant at);
  void check_numbers(std::uint32_t master, const ClusterState& state);
  void check_replica(std::uint32_t master, const JobRow& job, const TaskRow& task);
  void check_leaving(std::uint32_t master, const JobRow& job, const TaskRow& task);
  void check_shown(const TaskRow& task);
  void look();
  void check_listed(const ServicesView& listed);
  void broken(std::uint32_t master, TaskId task, const std::string& text) const;

  Watched watched_;
  std::map<TaskId, Book> books_;  ///< of replicas alone
  /// By master, user and name: a service had all its replicas; true time.
  std::map<std::tuple<std::uint32_t, std::string, std::string>, Instant> enough_at_;
  std::optional<Instant> last_end_{};
  std::size_t open_ = 0;  ///< services at masters
};

}  // namespace muster::ring
