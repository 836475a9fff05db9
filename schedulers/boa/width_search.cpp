#include "schedulers/boa/width_search.hpp"

namespace muster::boa {

void extend(WidthPath& path, const WidthRun& run) {
  if (run.begin == run.end) return;
  if (!path.empty() && path.back().width == run.width) {
    path.back().end = run.end;
  } else {
    path.push_back(run);
  }
}

RunFigures::RunFigures(const ClassWork& work) : rescale_h_(work.rescale_h) {
  for (std::size_t w = 0; w < work.epochs.front().speedup.size(); ++w) {
    std::vector<double>& until = hours_.emplace_back(std::vector<double>{0});
    for (const EpochWork& epoch : work.epochs) {
      until.push_back(until.back() + epoch.gpu_h / epoch.speedup[w]);
    }
  }
}

JobFigures RunFigures::of(const WidthPath& path) const {
  JobFigures sum;
  for (const WidthRun& run : path) {
    const JobFigures own = of(run);
    sum.hours += own.hours;
    sum.gpu_h += own.gpu_h;
  }
  return sum;
}

WidthPath best_change(const RunFigures& figures, const WidthPath& path, double spare_gpu_h) {
  const JobFigures now = figures.of(path);
  WidthPath best = path;
  double least_h = now.hours;
  WidthPath tried;
  for (std::size_t r = 0; r < path.size(); ++r) {
    const WidthRun run = path[r];
    // [begin, cut) and [cut, end): one of them gets the other width, or all does.
    for (std::size_t cut = run.begin + 1; cut <= run.end; ++cut) {
      for (const bool first_part : {true, false}) {
        if (cut == run.end && !first_part) continue;
        for (std::uint32_t width = 1; width <= figures.most(); ++width) {
          if (width == run.width) continue;
          tried.assign(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(r));
          extend(tried, {run.begin, cut, first_part ? width : run.width});
          extend(tried, {cut, run.end, first_part ? run.width : width});
          for (std::size_t later = r + 1; later < path.size(); ++later) extend(tried, path[later]);
          const JobFigures then = figures.of(tried);
          if (then.hours >= least_h || then.gpu_h > now.gpu_h + spare_gpu_h) continue;
          least_h = then.hours;
          best = tried;
        }
      }
    }
  }
  return best;
}

}  // namespace muster::boa
