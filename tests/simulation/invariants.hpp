#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/cluster_state.hpp"
#include "model/ledger.hpp"
#include "tests/simulation/cluster.hpp"
#include "tests/simulation/users.hpp"

namespace muster::ring {

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
  /// What is spent in this time does not count against a day's cap: something was in the way.
  void excuse(Instant from, Instant until);
  /// Prints the events of all masters as they become durable.
  void trace() { traced_ = true; }
  const std::vector<std::string>& violations() const { return violations_; }
  std::uint64_t events() const { return events_; }

  /// What has to hold after every message.
  void check();
  /// Nothing is left to do.
  bool done() const { return rest(true).empty(); }
  /// What is left to do, with or without jobs that can never run and what is rented.
  std::string rest(bool all) const;
  /// What has to hold when nothing is left to do.
  void check_end();

 private:
  /// A master as its durable events tell it.
  struct Cell {
    explicit Cell(const Catalog& catalog) : state(catalog) {}
    ClusterState state;
    Ledger ledger;
    Instant newest{Duration::min()};
    std::set<InstanceId> launched, ended, gone;
    std::set<std::pair<TaskId, Attempt>> started, over;
    std::map<JobId, JobOutcome> finished;
  };

  void durable(std::uint32_t master, const Event& event);
  void absorb(std::uint32_t master, Cell& cell, const Event& event);
  void accepted(std::uint32_t master, const Job& job);
  void said(NodeIndex from, NodeIndex to, const caf::message& content);
  void said_by_master(std::uint32_t master, const caf::message& content);
  void check_verdicts(std::uint32_t master, const caf::message& content);
  void check_promises();
  void check_rented();
  std::string standing(const InstanceRow& row) const;
  void check_job(const Submission& submission);
  std::string rest_of(const Submission& submission) const;
  std::string differences() const;
  void check_money();
  void check_caps();
  Money counted(const RentedRecord& record, Instant from, Instant to) const;

  Cluster& cluster_;
  const Users& users_;
  std::vector<std::string> violations_;
  std::size_t more_ = 0;
  std::deque<Cell> cells_;
  std::map<TaskId, std::uint32_t> tasks_;  ///< accepted, and by whom
  std::map<JobId, std::set<std::uint32_t>> parts_;
  std::set<JobId> safe_;  ///< every task of which a master has accepted
  std::map<NodeIndex, std::uint32_t> master_at_;
  std::uint64_t events_ = 0;
  bool traced_ = false;
  std::vector<std::pair<Instant, Instant>> excused_;  ///< true time; apart, in order
};

}  // namespace muster::ring
