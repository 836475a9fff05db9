#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schedulers/policy.hpp"
#include "schedulers/pollux/job_speeds.hpp"
#include "schedulers/pollux/pollux_params.hpp"

namespace muster::pollux {

/// An elastic job that is not over.
struct KnownJob {
  JobSpeeds speeds;
  ProgressSeen seen{};
};

/// A layout by the names of its jobs and nodes, so that it means something in a later round.
using NamedLayout = std::map<JobId, std::map<InstanceId, std::uint16_t>>;

/// What the policy remembers: a fold over the events.
class PolluxMemory {
 public:
  void observe(const Event& event, const ClusterView& view);

  /// Null: no elastic job of that number is known.
  const KnownJob* find(JobId id) const;
  bool knows_jobs() const { return !jobs_.empty(); }
  /// What the genetic search ended with last: it begins there.
  const std::vector<NamedLayout>& population() const { return population_; }
  void remember(std::vector<NamedLayout> population) { population_ = std::move(population); }

  std::string save() const;
  bool load(std::string_view text);

 private:
  void hear(const Measured& measured, const ClusterView& view);

  std::map<JobId, KnownJob> jobs_;
  std::vector<NamedLayout> population_;
};

}  // namespace muster::pollux
