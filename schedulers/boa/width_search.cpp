#include "schedulers/boa/width_search.hpp"

#include <array>

namespace muster::boa {
namespace {

/// Of a sum in another order, at the most, relative to it: rounding.
constexpr double kRounding = 1e-9;

void add(JobFigures& sum, const JobFigures& more, double sign = 1) {
  sum.hours += sign * more.hours;
  sum.gpu_h += sign * more.gpu_h;
}

/// Figures of a path, but for rounding, where one of its runs is replaced by two, of which the
/// second may be empty. The figures of the other runs are given.
JobFigures roughly(const RunFigures& figures, const WidthPath& path, std::size_t replaced,
                   const std::array<WidthRun, 2>& parts, JobFigures others) {
  const bool whole = parts[1].begin == parts[1].end;
  const std::uint32_t last = whole ? parts[0].width : parts[1].width;
  add(others, figures.of(parts[0]));
  if (!whole) add(others, figures.of(parts[1]));
  // A run as wide as its neighbour goes on without a start.
  const bool joins_before = replaced > 0 && path[replaced - 1].width == parts[0].width;
  if (joins_before) add(others, figures.start(parts[0].width), -1);
  const bool joins_next = replaced + 1 < path.size() && path[replaced + 1].width == last;
  if (joins_next) add(others, figures.start(last), -1);
  return others;
}

}  // namespace

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
    JobFigures others = now;
    add(others, figures.of(run), -1);
    // [begin, cut) and [cut, end): one of them gets the other width, or all does.
    for (std::size_t cut = run.begin + 1; cut <= run.end; ++cut) {
      for (const bool first_part : {true, false}) {
        if (cut == run.end && !first_part) continue;
        for (std::uint32_t width = 1; width <= figures.most(); ++width) {
          if (width == run.width) continue;
          const std::array<WidthRun, 2> parts{
              WidthRun{run.begin, cut, first_part ? width : run.width},
              WidthRun{cut, run.end, first_part ? run.width : width}};
          // Most changes are out of the question: only the others are made and added up exactly.
          const JobFigures rough = roughly(figures, path, r, parts, others);
          if (rough.hours > least_h * (1 + kRounding)) continue;
          if (rough.gpu_h > (now.gpu_h + spare_gpu_h) * (1 + kRounding)) continue;
          tried.assign(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(r));
          for (const WidthRun& part : parts) extend(tried, part);
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
