#pragma once

#include <cstdint>
#include <vector>

#include "schedulers/boa/width_plan.hpp"

namespace muster::boa {

/// Epochs [begin, end) at one width.
struct WidthRun {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::uint32_t width = 1;
};
/// The epochs of a class, run after run; neighbours differ in width.
using WidthPath = std::vector<WidthRun>;

/// Figures of any run of a class, by sums over its epochs: O(1) for each.
class RunFigures {
 public:
  explicit RunFigures(const ClassWork& work);

  /// With its start.
  JobFigures of(const WidthRun& run) const {
    const double hours = hours_at(run) + rescale_h_;
    return {hours, hours * run.width};
  }
  JobFigures of(const WidthPath& path) const;
  /// Without its start.
  double hours_at(const WidthRun& run) const {
    const std::vector<double>& until = hours_[run.width - 1];
    return until[run.end] - until[run.begin];
  }
  /// Figures of a start at that width.
  JobFigures start(std::uint32_t width) const { return {rescale_h_, rescale_h_ * width}; }
  std::uint32_t most() const { return static_cast<std::uint32_t>(hours_.size()); }

 private:
  double rescale_h_;
  std::vector<std::vector<double>> hours_;  ///< by width, up to each epoch
};

/// Adds a run, as a part of the last one where the widths are equal. An empty run is left out.
void extend(WidthPath& path, const WidthRun& run);

/// Of all paths that give a part of one run of `path`, at its begin or its end, another width, the
/// one that takes the least time with at most `spare` more GPU-hours; `path` itself if all others
/// are slower. O(runs + epochs x widths), and O(runs) for each change that is about as good as the
/// best.
WidthPath best_change(const RunFigures& figures, const WidthPath& path, double spare_gpu_h);

}  // namespace muster::boa
