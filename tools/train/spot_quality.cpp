#include "tools/train/spot_quality.hpp"

namespace muster::train {

void SpotQuality::add(const SorsVerdict& verdict, double runtime_s, double eps) {
  ++short_jobs;
  if (!verdict.allowed()) return;
  ++allowed;
  // SORS's error: the share of the promised time that was not needed; negative: it ran longer.
  const double delta = 1 - runtime_s / verdict.promised_s;
  kept += delta >= 0 ? 1 : 0;
  within += delta >= 0 && delta < eps ? 1 : 0;
}

}  // namespace muster::train
