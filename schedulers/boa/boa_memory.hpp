#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "schedulers/boa/boa_params.hpp"
#include "schedulers/boa/class_speeds.hpp"
#include "schedulers/boa/gpu_types.hpp"
#include "schedulers/boa/rented_usd.hpp"
#include "schedulers/boa/typed_plan.hpp"
#include "schedulers/boa/width_plan.hpp"
#include "schedulers/policy.hpp"

namespace muster::boa {

/// The policy's facts of the jobs of one class.
struct ClassFacts {
  ElasticEpochs epochs;           ///< as its newest job states them
  std::vector<double> speedup{};  ///< where it states no epochs
  double rescale_h = 0;
  std::deque<Instant> arrivals{};       ///< within the window, the oldest first
  std::optional<ClassSpeeds> learnt{};  ///< where what its jobs show counts
  std::uint32_t node_holds = 1;         ///< workers of one instance
  std::vector<GpuType> types{};         ///< of GPU; only where the budget is of dollars
  Instant newest{};                     ///< when its newest job came
  std::uint32_t unfinished = 0;         ///< jobs of it; derived
};

/// Number of classes without unfinished jobs that are remembered, those whose jobs came last. Where
/// every job has a class of its own a plan would else be for all that there ever were.
inline constexpr std::size_t kIdleClasses = 100;

/// An elastic job that is not over.
struct UnfinishedJob {
  std::string workload_class;
  JobSeen seen{};
};

/// How an elastic job is to be.
struct WidthGoal {
  std::uint32_t width = 0;    ///< 0: the plan does not know its class
  std::string_view family{};  ///< of its instances; empty: those that cost least
};

/// The policy's memory: a fold over the events.
class BoaMemory {
 public:
  /// The choice of a round that has made a width plan, by which those who did not decide know it.
  static constexpr std::string_view kRecomputed = "recompute";

  explicit BoaMemory(const BoaParams& params);

  const BoaParams& params() const { return params_; }

  void observe(const Event& event, const ClusterView& view);

  /// The width plan that holds is older than it may be, or knows nothing of some class.
  bool is_due(Instant now) const;
  /// It is so for its age alone, or there is no plan: the present one cannot go on.
  bool is_overdue(Instant now) const;
  /// About how many epochs are looked at to make it.
  std::uint64_t steps_of_plan() const;
  /// Makes the width plan anew from what is known at that time.
  void replan(Instant now);

  /// How a job is to be in its present epoch by that plan. `on` is the family that it is on, empty
  /// where it has no place: it stays there where moving is not worth a cold start.
  WidthGoal goal_of(const JobRow& job, std::string_view on) const;
  /// The instance, which is empty, is kept for a while.
  bool keeps(const InstanceRow& row, Instant now) const;
  /// Hours until the job ends or is planned to have another width, at the least; 0 where nothing is
  /// known of it: of jobs without epochs, and where the budget is of dollars. With `plan=share` all
  /// jobs of a class are taken to go the way of most of them.
  double hours_at_width(const JobRow& job) const;
  /// How long its GPUs are held without progress when it starts at a width.
  Duration rescale_of(const JobRow& job) const;
  /// Load that keeps the budget on average, in the budget's unit.
  double budget_for_jobs() const;
  /// The last plan could not be made, for which reason; nothing when it could.
  const std::optional<std::string>& over_budget() const { return over_budget_; }
  const WidthPlan& plan() const { return plan_; }
  /// Least use of the jobs that were counted, or stated, in the budget's unit. The plan is made for
  /// more or less where a load before the first job is taken to have been.
  double load() const { return load_; }
  /// Arrivals in an hour as known at that time, class after class by name.
  std::vector<ClassWork> work(Instant now) const;

  std::string save() const;
  bool load(std::string_view text, const ClusterView& view);

 private:
  double rate_h(const std::string& name, const ClassFacts& facts, Instant now) const;
  void learn(const Job& job, const ClusterView& view);
  void hear(const Measured& measured, const ClusterView& view);
  void forget(const JobFinished& over);
  void forget_idle_classes(Instant now);
  std::uint64_t widths_known() const;
  void integrate(const Event& event, const ClusterView& view);
  void replan_types(const std::vector<ClassWork>& all);
  std::vector<GpuType> common_types() const;
  void time_epochs(const std::vector<ClassWork>& all);
  void note_empty(const ClusterView& view);
  double budget() const;
  double least_cost_of(const std::vector<ClassWork>& all) const;
  void allow_for_the_time_before(std::vector<ClassWork>& all, Instant now) const;
  /// Key of a job in the plan.
  struct PlaceInPlan {
    std::size_t work_class = 0;
    std::size_t epoch = 0;
    double ahead = 1;  ///< of the epoch, a share
  };
  std::optional<PlaceInPlan> place_in_plan(const JobRow& job) const;
  const TypeStay* stay_on(const PlaceInPlan& place, std::string_view family) const;

  BoaParams params_;
  std::map<std::string, double> stated_;   ///< jobs an hour by class
  std::map<std::string, double> weights_;  ///< of classes whose weight is not 1
  std::map<std::string, ClassFacts> classes_;
  std::map<JobId, UnfinishedJob> jobs_;
  std::optional<Instant> first_;  ///< when the first job came
  std::optional<Instant> planned_at_;
  std::vector<std::string> planned_;          ///< the classes of the plan, in its order
  std::uint64_t planned_known_ = 0;           ///< widths_known() then
  std::vector<std::vector<double>> epoch_h_;  ///< by class of the plan: of each epoch at its width
  WidthPlan plan_;  ///< where the budget is of dollars, least_gpus is of them as well
  std::vector<std::vector<std::string>> families_;         ///< by class and epoch; none: any
  std::vector<std::string> types_;                         ///< that the stays are listed by
  std::vector<std::vector<std::vector<TypeStay>>> stays_;  ///< by class, epoch and type
  double load_ = 0;                                        ///< when the plan was made
  std::optional<std::string> over_budget_;
  GpuHours gpus_;
  Instant integrated_;
  GpuHours now_;                               ///< GPUs since then
  std::map<InstanceId, Instant> empty_since_;  ///< only where empty instances are kept
  RentedUsd dollars_;                          ///< kept where the budget is of them
};

}  // namespace muster::boa
