#include "learning/classifier_training.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "model/check.hpp"
#include "model/rng.hpp"

namespace muster {
namespace {

using Positions = std::vector<std::uint32_t>;

/// Both lengths' positions in a history, each oldest first.
using ByLength = std::array<Positions, kKnownLengths>;

ByLength split_by_length(std::span<const JobSample> history, Duration threshold) {
  ByLength split;
  for (std::uint32_t i = 0; i < history.size(); ++i) {
    split[position_of(length_of(history[i].runtime, threshold))].push_back(i);
  }
  return split;
}

/// Keeps `count` positions, evenly spread, the last one among them.
void thin_out(Positions& positions, std::size_t count) {
  const std::size_t size = positions.size();
  // Rounded down so that the last of every stretch is taken, and the newest job of all with it.
  for (std::size_t i = 0; i < count; ++i) positions[i] = positions[(i + 1) * size / count - 1];
  positions.resize(count);
}

/// Keeps `max` positions of both lengths together, in the lengths' proportion; a rare length keeps
/// enough for every fold as far as it can.
void keep_at_most(ByLength& split, std::size_t max, std::size_t folds) {
  const std::size_t all = split[0].size() + split[1].size();
  if (all <= max) return;
  Positions& rare = split[0].size() < split[1].size() ? split[0] : split[1];
  Positions& common = &rare == split.data() ? split[1] : split[0];
  const double share = static_cast<double>(rare.size()) / static_cast<double>(all);
  const auto fair = static_cast<std::size_t>(std::llround(share * static_cast<double>(max)));
  thin_out(rare, std::min({std::max(fair, folds), rare.size(), max}));
  thin_out(common, std::min(max - rare.size(), common.size()));
}

void shuffle(Positions& positions, Rng& rng) {
  for (std::size_t i = positions.size(); i > 1; --i) {
    std::swap(positions[i - 1], positions[rng.below(i)]);
  }
}

/// A training set with its folds.
struct Validation {
  const SigmoidTrainer& trainer;
  std::uint32_t folds;
  std::vector<std::uint32_t> fold_of;

  Positions all_but(std::uint32_t fold) const {
    Positions picked;
    for (std::uint32_t i = 0; i < fold_of.size(); ++i) {
      if (fold_of[i] != fold) picked.push_back(i);
    }
    return picked;
  }

  /// The decision on each job by a machine trained without the job's fold: a machine is sure of
  /// what it was trained with, and calibrating on that would make all later ones too sure.
  std::vector<double> decisions(const SigmoidParams& params) const {
    std::vector<double> result(fold_of.size(), 0);
    for (std::uint32_t fold = 0; fold < folds; ++fold) {
      const SigmoidMachine machine = trainer.train(all_but(fold), params);
      for (std::size_t i = 0; i < fold_of.size(); ++i) {
        if (fold_of[i] == fold) result[i] = machine.decision(trainer.rows()[i]);
      }
    }
    return result;
  }
};

/// Deals the jobs of either length out to the folds, in a random order.
std::vector<std::uint32_t> deal_folds(const std::vector<JobLength>& lengths, std::uint32_t folds,
                                      std::uint64_t seed) {
  Rng rng(seed);
  std::vector<std::uint32_t> fold_of(lengths.size(), 0);
  std::uint32_t next = 0;
  for (const JobLength length : {JobLength::short_run, JobLength::long_run}) {
    Positions members;
    for (std::uint32_t i = 0; i < lengths.size(); ++i) {
      if (lengths[i] == length) members.push_back(i);
    }
    shuffle(members, rng);
    // Goes on counting over both lengths: sizes of folds differ by one at most.
    for (const std::uint32_t i : members) fold_of[i] = next++ % folds;
  }
  return fold_of;
}

Confusion confusion_of(std::span<const double> decisions, const std::vector<JobLength>& lengths) {
  Confusion confusion;
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    confusion.add(lengths[i], decisions[i] > 0 ? JobLength::long_run : JobLength::short_run);
  }
  return confusion;
}

/// Every combination of the grid, c changing slowest, with the lengths' weights.
std::vector<SigmoidParams> grid_of(const TrainParams& params, const TrainReport& report) {
  SigmoidParams point;
  if (params.weights == ClassWeights::balanced) {
    // Each length weighs half of all, however rare it is.
    const double half = static_cast<double>(report.used) / 2;
    point.short_weight = half / static_cast<double>(report.shorts);
    point.long_weight = half / static_cast<double>(report.longs);
  }
  std::vector<SigmoidParams> grid;
  for (const double c : params.c) {
    for (const double gamma : params.gamma) {
      for (const double coef0 : params.coef0) {
        point.c = c, point.gamma = gamma, point.coef0 = coef0;
        grid.push_back(point);
      }
    }
  }
  return grid;
}

/// The decisions of the best combination; says in the report which one and how good it is.
std::vector<double> search(const Validation& validation, const TrainParams& params,
                           const TrainProgress& progress, TrainReport& report) {
  const std::vector<SigmoidParams> grid = grid_of(params, report);
  std::vector<double> best;
  double best_score = -1;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    std::vector<double> decisions = validation.decisions(grid[i]);
    const Confusion confusion = confusion_of(decisions, validation.trainer.lengths());
    const auto score = params.weights == ClassWeights::balanced ? confusion.balanced_accuracy()
                                                                : confusion.accuracy();
    // Strictly better: of equals the first of the grid, so that the choice does not depend on more
    // than the scores.
    if (score.value_or(0) > best_score) {
      best_score = score.value_or(0);
      best = std::move(decisions);
      report.chosen = grid[i];
      report.cross_validated = confusion;
    }
    if (progress) progress(i + 1, grid.size());
  }
  return best;
}

/// The more frequent length, with Laplace's estimate of how probable it is.
LengthAnswer majority_of(std::size_t shorts, std::size_t longs) {
  const bool is_short = shorts > longs;
  const auto majority = static_cast<double>(std::max(shorts, longs));
  return {is_short ? JobLength::short_run : JobLength::long_run,
          (majority + 1) / static_cast<double>(shorts + longs + 2)};
}

}  // namespace

TrainedClassifier train_classifier(std::span<const JobSample> history, const TrainParams& params,
                                   const TrainProgress& progress) {
  MUSTER_CHECK(params.folds >= 2 && params.max_samples >= 2, "a training needs parts");
  MUSTER_CHECK(!params.c.empty() && !params.gamma.empty() && !params.coef0.empty(),
               "a grid has points");
  TrainReport report;
  report.samples = history.size();
  ByLength split = split_by_length(history, params.threshold);
  // Of the whole history: thinning out changes the proportion.
  const LengthAnswer majority = majority_of(split[0].size(), split[1].size());
  keep_at_most(split, params.max_samples, params.folds);
  report.shorts = split[0].size();
  report.longs = split[1].size();
  report.used = report.shorts + report.longs;
  std::merge(split[0].begin(), split[0].end(), split[1].begin(), split[1].end(),
             std::back_inserter(report.picked));
  const std::size_t rarer = std::min(report.shorts, report.longs);
  if (report.used < params.min_samples || rarer < 2) {
    return {LengthClassifier::always(majority), report};
  }

  FeatureScale scale;
  for (const std::uint32_t i : report.picked) scale.include(history[i].features);
  std::vector<JobFeatures> rows;
  std::vector<JobLength> lengths;
  for (const std::uint32_t i : report.picked) {
    rows.push_back(scale.apply(history[i].features));
    lengths.push_back(length_of(history[i].runtime, params.threshold));
  }

  report.folds = static_cast<std::uint32_t>(std::min<std::size_t>(params.folds, rarer));
  std::vector<std::uint32_t> fold_of = deal_folds(lengths, report.folds, params.seed);
  const SigmoidTrainer trainer(std::move(rows), std::move(lengths));
  const Validation validation{trainer, report.folds, std::move(fold_of)};
  const std::vector<double> decisions = search(validation, params, progress, report);
  const Calibration calibration = fit_calibration(decisions, trainer.lengths());
  // No fold has this number: all jobs are left in.
  SigmoidMachine machine = trainer.train(validation.all_but(report.folds), report.chosen);
  return {LengthClassifier(scale, std::move(machine), calibration), report};
}

}  // namespace muster
