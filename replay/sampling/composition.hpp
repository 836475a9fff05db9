#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "replay/sampling/sampling_messages.hpp"
#include "schedulers/sampling/group_params.hpp"
#include "schedulers/sampling/scheduler.hpp"

namespace muster::sampling {

/// How the actors of a sampling group play together: all that tells Sparrow, Eagle and Pigeon apart
/// to them. Every group has schedulers, which jobs go to, and workers with a queue each.
class Composition {
 public:
  virtual ~Composition() = default;

  virtual const GroupParams& params() const = 0;

  /// The reason why the group cannot work with that number of workers; empty when it can.
  virtual std::string fault(std::size_t workers) const;

  virtual std::vector<std::unique_ptr<Scheduler>> make_schedulers(std::uint64_t seed) const = 0;
  /// The position among them of the one that a job goes to.
  virtual std::size_t scheduler_for(const SampledJob& /*job*/) const { return 0; }

  /// Whether that worker is for short tasks alone.
  virtual bool is_reserved(WorkerIndex /*worker*/, std::size_t /*workers*/) const { return false; }
  /// Fills in which schedulers the worker `group.index` asks for tasks and tells of ends.
  virtual void connect(GroupMembership& group, const std::vector<GroupScheduler>& schedulers,
                       std::size_t workers) const = 0;

  /// A scheduler counts the ends of tasks and says when a job is over; else it is over with its
  /// last task.
  virtual bool schedulers_end_jobs() const { return false; }
};

/// A composition by the parameters of its module.
template <class P>
class CompositionOf : public Composition {
 public:
  using Params = P;

  explicit CompositionOf(const P& params) : params_(params) {}
  const P& params() const override { return params_; }

 private:
  P params_;
};

}  // namespace muster::sampling
