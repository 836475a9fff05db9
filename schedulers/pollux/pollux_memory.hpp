#pragma once

#include <deque>
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

/// Efficiencies that are remembered at most: no window is longer.
inline constexpr std::size_t kMostRemembered = 1000;
/// By these figures of a round's note its size and efficiency come back.
inline constexpr std::string_view kNodesFigure = "nodes";
inline constexpr std::string_view kEfficiencyFigure = "efficiency";
inline constexpr std::string_view kSearchedFigure = "sizes_tried";

/// How a cluster whose size is chosen came to be as it is.
struct ScaleMemory {
  std::uint32_t nodes = 0;      ///< that it is to have; 0: not decided yet
  std::deque<double> window{};  ///< efficiencies of the last rounds at that size

  friend bool operator==(const ScaleMemory&, const ScaleMemory&) = default;
};

/// The policy's memory: a fold over the events.
class PolluxMemory {
 public:
  void observe(const Event& event, const ClusterView& view);

  /// Null: no elastic job of that number is known.
  const KnownJob* find(JobId id) const;
  bool knows_jobs() const { return !jobs_.empty(); }
  /// Final layouts of the last genetic search: it begins there.
  const std::vector<NamedLayout>& population() const { return population_; }
  void remember(std::vector<NamedLayout> population) { population_ = std::move(population); }

  const ScaleMemory& scale() const { return scale_; }

  std::string save() const;
  bool load(std::string_view text);

 private:
  void hear(const Measured& measured, const ClusterView& view);
  void note_size(const RoundNote& note);

  std::map<JobId, KnownJob> jobs_;
  std::vector<NamedLayout> population_;
  ScaleMemory scale_;
};

}  // namespace muster::pollux
