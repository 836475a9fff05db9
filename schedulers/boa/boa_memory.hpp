#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schedulers/boa/boa_params.hpp"
#include "schedulers/boa/class_speeds.hpp"
#include "schedulers/boa/width_plan.hpp"
#include "schedulers/policy.hpp"

namespace muster::boa {

/// What the policy knows of the jobs of one class.
struct ClassFacts {
  ElasticEpochs epochs;           ///< as its newest job states them
  std::vector<double> speedup{};  ///< where it states no epochs
  double rescale_h = 0;
  std::deque<Instant> arrivals{};       ///< within the window, the oldest first
  std::optional<ClassSpeeds> learnt{};  ///< where what its jobs show counts
  std::uint32_t node_holds = 1;         ///< workers of one instance
};

/// An elastic job that is not over.
struct UnfinishedJob {
  std::string workload_class;
  JobSeen seen{};
};

/// GPUs over time, since the first job came.
struct GpuHours {
  double used = 0;
  double rented = 0;
};

/// What the policy remembers: a fold over the events.
class BoaMemory {
 public:
  /// The choice of a round that has made a width plan, by which those who did not decide know it.
  static constexpr std::string_view kRecomputed = "recompute";

  explicit BoaMemory(const BoaParams& params);

  void observe(const Event& event, const ClusterView& view);

  /// The width plan that holds is older than it may be, or knows nothing of some class.
  bool is_due(Instant now) const;
  /// Makes the width plan anew from what is known at that time.
  void replan(Instant now);

  /// How wide a job is to be in its present epoch by that plan; 0: the plan does not know it.
  std::uint32_t width_of(const JobRow& job) const;
  /// How long its GPUs are held without progress when it starts at a width.
  Duration rescale_of(const JobRow& job) const;
  /// The GPUs that the load may have on average so that the budget is kept.
  double budget_for_jobs() const;
  /// The last plan could not be made, for which reason; nothing when it could.
  const std::optional<std::string>& over_budget() const { return over_budget_; }
  double least_gpus() const { return plan_.least_gpus; }
  const WidthPlan& plan() const { return plan_; }

  std::string save() const;
  bool load(std::string_view text, const ClusterView& view);

 private:
  std::vector<ClassWork> work(Instant now) const;
  double rate_h(const std::string& name, const ClassFacts& facts, Instant now) const;
  void learn(const Job& job, const ClusterView& view);
  void hear(const Measured& measured, const ClusterView& view);
  void forget(const JobFinished& over);
  std::uint64_t widths_known() const;
  void integrate(const ClusterView& view);

  BoaParams params_;
  std::map<std::string, double> stated_;   ///< jobs an hour by class
  std::map<std::string, double> weights_;  ///< of classes whose weight is not 1
  std::map<std::string, ClassFacts> classes_;
  std::map<JobId, UnfinishedJob> jobs_;
  std::optional<Instant> first_;  ///< when the first job came
  std::optional<Instant> planned_at_;
  std::vector<std::string> planned_;  ///< the classes of the plan, in its order
  std::uint64_t planned_known_ = 0;   ///< widths_known() then
  WidthPlan plan_;
  std::optional<std::string> over_budget_;
  GpuHours gpus_;
  Instant integrated_;
  GpuHours now_;  ///< GPUs since then
};

}  // namespace muster::boa
