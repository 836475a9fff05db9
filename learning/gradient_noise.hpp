#pragma once

#include <cmath>

namespace muster {

/// How noisy the gradient of a training job is at one time, both normalised to the initial batch.
struct GradientNoise {
  double sqr = 0;  ///< squared norm
  double var = 0;  ///< variance

  friend bool operator==(const GradientNoise&, const GradientNoise&) = default;
};

/// The progress of a step at `scale` times the initial batch, in steps at the initial batch:
/// (V + S) / (V / scale + S), from 1 to `scale` (Pollux 3.1). 1 without a gradient.
inline double step_gain(const GradientNoise& noise, double scale) {
  const double left = noise.var / scale + noise.sqr;
  const double gain = (noise.var + noise.sqr) / left;
  // Noise that cancels a gradient all but for the last digit says nothing.
  return left > 0 && std::isfinite(gain) ? gain : 1.0;
}

}  // namespace muster
