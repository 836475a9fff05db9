#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/cluster_state.hpp"
#include "model/kept_room.hpp"
#include "model/ledger.hpp"
#include "tests/simulation/cluster.hpp"
#include "tests/simulation/service_laws.hpp"
#include "tests/simulation/users.hpp"

namespace muster::ring {

/// Of the time that a master reckons with for an end, so much is for the word of the cloud's clock,
/// which is as late as the link is slow.
inline constexpr Duration kClockLag = std::chrono::seconds{10};

/// Watches a cluster from outside: what is durable, what is said, what runs. README.md lists what
/// it holds against them.
class Invariants {
 public:
  Invariants(Cluster& cluster, const Users& users);
  ~Invariants();
  Invariants(const Invariants&) = delete;
  Invariants& operator=(const Invariants&) = delete;

  /// Takes a complaint; the first few are kept.
  void broken(const std::string& text);
  /// The master does not run or cannot write in this time of the world, and so decides nothing.
  void excuse(std::uint32_t master, Instant from, Instant until);
  /// Master or cloud have ended: until the cloud's clock is heard again the master cannot tell what
  /// it shows.
  void deafen(std::uint32_t master) { deaf_since_.emplace(master, cluster_.now()); }
  /// It has ended, and comes back with what is on its disk.
  void check_fold(std::uint32_t master) { services_.check_fold(master, cells_[master].state); }
  void excuse_cloud(Instant until) { cloud_unable_ = std::max(cloud_unable_, until); }
  /// Prints the events of all masters as they become durable.
  void trace() { traced_ = true; }
  const std::vector<std::string>& violations() const { return violations_; }
  std::uint64_t events() const { return events_; }

  /// Of services, which are asked for all along.
  ServiceLaws& services() { return services_; }

  /// What has to hold after every message.
  void check();
  /// Nothing is left to do.
  bool done() const { return rest(true).empty(); }
  /// What is left to do, with or without jobs that can never run and what is rented.
  std::string rest(bool all) const;
  /// What has to hold when nothing is left to do.
  void check_end();

 private:
  using Spans = std::vector<std::pair<Instant, Instant>>;
  /// A job in the queue of its master; true times.
  struct Turn {
    QueuePlace place;
    Instant waits_since;            ///< that none of its tasks has been started
    std::optional<Instant> over{};  ///< it came to its end, or to that of its being wanted
  };
  /// A master as its durable events tell it.
  struct Cell {
    explicit Cell(const Catalog& catalog) : state(catalog) {}
    ClusterState state;
    Ledger ledger;
    Instant newest{Duration::min()};
    std::set<InstanceId> launched, gone;
    std::map<InstanceId, Instant> ended;  ///< when that was written down or ordered; true time
    std::set<std::pair<TaskId, Attempt>> started;
    std::map<TaskId, Attempt> over;  ///< the newest attempt that has ended
    std::map<JobId, JobOutcome> finished;
    Instant last_round;                    ///< true time, as the next
    std::optional<Instant> waits_since{};  ///< tasks wait
    std::map<JobId, Turn> turns;           ///< of every job that it ever had
  };

  void durable(std::uint32_t master, const Event& event);
  void absorb(std::uint32_t master, Cell& cell, const Event& event);
  static void ends(Cell& cell, TaskId task, Attempt attempt);
  void accepted(std::uint32_t master, const Job& job);
  void check_cancelled(std::uint32_t master, JobId job, const std::string& what, bool starts);
  void check_held(std::uint32_t master, const TaskAssigned& place);
  void said(NodeIndex from, NodeIndex to, const caf::message& content);
  void said_by_master(std::uint32_t master, const caf::message& content);
  void check_settled(std::uint32_t master, TaskId task, Attempt attempt);
  void check_verdicts(std::uint32_t master, const caf::message& content);
  void check_promises();
  void check_rented();
  void check_rounds();
  void note_turn(Cell& cell, const Event& event);
  Instant able_since(std::uint32_t master) const;
  void check_turns();
  void check_turn(std::uint32_t master, const JobRow& row, Turn& turn);
  std::size_t ahead_of(std::uint32_t master, const Turn& turn) const;
  bool is_hopeless(JobId job) const;
  void check_cloud();
  std::string standing(const InstanceRow& row) const;
  void check_job(const Submission& submission);
  void check_begun(const Submission& submission);
  bool is_met_now(const Submission& waiting, std::size_t before, AfterEnd end) const;
  void check_after(const Submission& submission);
  void check_ended_here(const Submission& submission);
  void check_told(const Submission& submission);
  void check_expired(NodeKind kind, std::uint32_t index, JobId job);
  std::optional<JobOutcome> outcome_of(JobId job) const;
  std::string rest_of(const Submission& submission) const;
  std::string differences() const;
  void check_money();
  void check_caps();
  Money counted(const RentedRecord& record, Instant from, Instant to) const;
  Spans in_the_way(const RentedRecord& record) const;

  Cluster& cluster_;
  const Users& users_;
  ServiceLaws services_;
  std::vector<std::string> violations_;
  std::size_t more_ = 0;
  std::deque<Cell> cells_;
  Duration period_{};                      ///< of the policy's regular rounds
  std::map<TaskId, std::uint32_t> tasks_;  ///< accepted, and by whom
  std::map<JobId, std::set<std::uint32_t>> parts_;
  std::set<JobId> safe_;  ///< every task of which a master has accepted
  std::map<NodeIndex, std::uint32_t> master_at_;
  std::uint64_t events_ = 0;
  bool traced_ = false;
  std::map<std::uint32_t, Spans> unable_;  ///< when a master could not decide; true time
  /// When a master did not run or did not know what the cloud's clock shows; true time.
  std::map<std::uint32_t, Spans> deaf_;
  std::map<std::uint32_t, Instant> deaf_since_;
  Instant cloud_unable_;  ///< until then the cloud did not run, or could not write; true time
  /// What the cloud is doing about an instance, and since when it was seen doing that; true time.
  std::map<InstanceId, std::pair<std::string, Instant>> in_work_;
};

}  // namespace muster::ring
