#pragma once

#include <deque>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "masters/master.hpp"
#include "storage/history.hpp"

namespace muster {

struct JobFilter;
struct TaskFilter;

/// A round that changed something, for those who want to know what was decided.
struct Decision {
  Instant at;
  std::uint64_t round = 0;
  RoundNote note;
  std::uint32_t launches = 0;
  std::uint32_t placements = 0;
  std::uint32_t moves = 0;
  std::uint32_t releases = 0;
};

/// Keeps the last decisions of a master, from the events it commits.
class DecisionLog {
 public:
  static constexpr std::size_t kKept = 200;
  void watch(const std::vector<Event>& events);
  const std::deque<Decision>& newest_last() const { return kept_; }

 private:
  std::deque<Decision> kept_;
};

/// What is known of an instance's worker besides the state.
struct WorkerStanding {
  bool connected = false;
  std::string limits;
};

/// Where an attempt is or was, and how it ended.
struct AttemptPlace {
  bool known = false;
  bool running = false;
  Attempt attempt = 0;
  InstanceId on;
  ProcessEnd end;
};

/// An answer, or what has to be read before there is one.
struct CellAnswer {
  std::string text;
  /// Not empty: makes the text instead. Waits for the disk; may be called from any thread while the
  /// history lives, whatever has become of the master.
  std::function<std::string()> read;
};

/// A master as its users are shown it: answers to queries, as JSON documents in the shapes of
/// docs/api.md.
struct CellView {
  const Master& master;
  const History* history = nullptr;  ///< null: jobs that are over are not shown
  std::map<InstanceId, WorkerStanding> workers{};
  std::string name;
  Instant now;
  std::string trouble{};
  double last_decision_ms = 0;
  const DecisionLog* decisions = nullptr;

  /// `what` is one of jobs, job, explain, find, request, instances, cost, load and decisions;
  /// anything else, and what is not here, is answered by {"missing": true}.
  CellAnswer answer(const std::string& what, std::uint64_t id, const std::string& text,
                    std::uint32_t limit) const;
  /// What the policy would do with one job more.
  std::string plan(Job job) const;
  /// Of a task of a job that is not over, where its attempt is; 0: the newest one.
  AttemptPlace place_of(TaskId task, Attempt attempt) const;

 private:
  CellAnswer jobs(const JobFilter& filter) const;
  CellAnswer job(JobId id, bool explained, const TaskFilter& filter) const;
  CellAnswer find(JobId id, const std::string& index) const;
  CellAnswer request(JobId id) const;
  nlohmann::json instances() const;
  nlohmann::json instance(const InstanceRow& row) const;
  CellAnswer cost(const std::string& by) const;
  CellAnswer cost_by_job() const;
  nlohmann::json spent() const;
  nlohmann::json load() const;
  nlohmann::json decided(std::uint32_t limit) const;
};

/// The same of a job that is over; waits for the disk.
AttemptPlace place_of(TaskId task, Attempt attempt, const History& history);

}  // namespace muster
