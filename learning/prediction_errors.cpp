#include "learning/prediction_errors.hpp"

#include <algorithm>
#include <array>

namespace muster {
namespace {

/// Ratios beyond these tell nothing more, and stay finite in every product.
constexpr double kLeastRatio = 1e-9;
constexpr double kGreatestRatio = 1e9;
/// Most rounding error of a delta or a share.
constexpr double kRounding = 1e-12;

}  // namespace

void PredictionErrors::add(double predicted_s, double actual_s) {
  if (!(predicted_s > 0) || !(actual_s > 0)) return;
  const double ratio = std::clamp(actual_s / predicted_s, kLeastRatio, kGreatestRatio);
  if (ratios_.size() < kKept) {
    ratios_.push_back(ratio);
    return;
  }
  ratios_[next_] = ratio;
  next_ = (next_ + 1) % kKept;
}

double PredictionErrors::best_margin(double eps) const {
  std::vector<double> candidates = ratios_;
  std::sort(candidates.begin(), candidates.end());
  double best = 1;
  double best_share = 0;
  for (const double margin : candidates) {
    const double share = share_within(eps, margin);
    // Of equal shares the larger margin: it promises less.
    if (share >= best_share) best = margin, best_share = share;
  }
  return best;
}

double PredictionErrors::share_within(double eps, double margin) const {
  if (ratios_.empty()) return 0;
  const auto within = std::count_if(ratios_.begin(), ratios_.end(), [&](double ratio) {
    const double delta = 1 - ratio / margin;
    return delta >= -kRounding && delta < eps - kRounding;
  });
  return static_cast<double>(within) / static_cast<double>(ratios_.size());
}

SorsVerdict PredictionErrors::judge(double predicted_s, const SorsRule& rule) const {
  SorsVerdict verdict{.reason = SorsReason::too_few_samples,
                      .p_threshold = rule.p_threshold,
                      .samples = static_cast<std::uint32_t>(ratios_.size())};
  if (verdict.samples < std::max(rule.min_samples, 1U)) return verdict;
  const double margin = best_margin(rule.eps);
  verdict.promised_s = predicted_s * margin;
  verdict.probability = share_within(rule.eps, margin);
  verdict.reason = verdict.probability + kRounding >= rule.p_threshold
                       ? SorsReason::allowed
                       : SorsReason::error_too_probable;
  return verdict;
}

void PredictionErrors::write(ModelWriter& out) const {
  out.whole(ratios_.size());
  for (std::size_t i = 0; i < ratios_.size(); ++i) {
    // The oldest first: read back, the ring begins at 0.
    out.number(ratios_[(next_ + i) % ratios_.size()]);
  }
}

void PredictionErrors::read(ModelReader& in) {
  ratios_.clear();
  next_ = 0;
  const std::uint64_t count = in.whole(0, kKept);
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    ratios_.push_back(in.number(kLeastRatio, kGreatestRatio));
  }
}

}  // namespace muster
