#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/simulation/cluster.hpp"
#include "tests/simulation/submission.hpp"

namespace muster::ring {

/// The users of pipelines, when their jobs are submitted: they release what they hold, cancel all
/// that belongs together, and submit again what failed and others wait for.
class PipelineUsers {
 public:
  struct Host {
    std::function<const std::vector<Submission>&()> submissions;
    std::function<void(std::size_t)> cancel;
    /// Submits once more; the answer is the submission's place.
    std::function<std::size_t(Wish)> submit;
    /// Once, or twice where users repeat themselves.
    std::function<void(const std::function<void()>&)> say;
  };
  PipelineUsers(Cluster& cluster, Host host) : cluster_(cluster), host_(std::move(host)) {}

  /// Lets the orders come true at their times.
  void begin();
  /// The job is acknowledged for the first time.
  void taken(std::size_t index);

  /// Submissions at that site that stand for the one, itself not among them; oldest first.
  const std::vector<std::size_t>& again(std::size_t first, std::uint32_t site) const;
  /// The site has confirmed that the job is held there, or it came so, and its user has not asked
  /// to let it go since.
  bool holds(std::size_t index) const { return holds_.contains(index); }
  /// Nothing is held any more.
  bool content() const { return held_.empty(); }

 private:
  void look();
  void look_at(std::size_t index);
  void obey(const PipelineOrder& order);
  void cancel_all(std::uint32_t pipeline);
  void hold(std::size_t index, Duration length);
  void release(std::size_t index);
  void submit_again(std::size_t first, std::size_t newest, std::size_t waiting, AfterEnd end);

  Cluster& cluster_;
  Host host_;
  std::map<std::pair<std::size_t, std::uint32_t>, std::vector<std::size_t>> again_;
  std::multiset<std::size_t> held_;  ///< not let go yet
  std::set<std::size_t> holds_;
  std::map<std::size_t, std::uint64_t> releases_;  ///< asked for
};

/// A job that ended so lets those begin that wait for such an end.
bool is_met(AfterEnd wanted, JobOutcome outcome);

}  // namespace muster::ring
