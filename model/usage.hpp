#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/ids.hpp"
#include "model/max_span.hpp"
#include "model/time.hpp"

// Resources that attempts have taken and take, as their workers measure them.

namespace muster {

/// Resources that an attempt has taken from its start to its end, or several attempts together.
struct Usage {
  Duration cpu{};                ///< processor time; 0: not measured
  std::uint64_t peak_bytes = 0;  ///< the most memory at one time; 0: not measured

  bool is_known() const { return cpu > Duration::zero() || peak_bytes > 0; }
  /// Another attempt, which did not run beside these: times add up, to 292 years at the most, and
  /// the highest peak counts.
  void add(const Usage& other) {
    cpu = std::max(cpu, Duration::zero());
    cpu += std::clamp(other.cpu, Duration::zero(), Duration::max() - cpu);
    peak_bytes = std::max(peak_bytes, other.peak_bytes);
  }

  friend bool operator==(const Usage&, const Usage&) = default;
};

/// In MiB, to tenths, as users are shown it.
inline double mib_of(std::uint64_t bytes) {
  constexpr double kBytesATenth = 1024.0 * 1024 / 10;
  return std::round(static_cast<double>(bytes) / kBytesATenth) / 10;
}

/// Bounds of figures by the word of a worker, which is not trusted: records may rely on them.
inline constexpr std::uint64_t kMostPeakBytes = std::uint64_t{1} << 60;
inline constexpr double kMostCores = 1e6;
/// The nearest usage within these bounds.
inline Usage within_bounds(const Usage& said) {
  return {std::clamp(said.cpu, Duration::zero(), kMaxSpan),
          std::min(said.peak_bytes, kMostPeakBytes)};
}

/// Resources that an attempt takes while it runs.
struct AttemptUsage {
  TaskId task;
  Attempt attempt = 0;
  Usage so_far{};
  std::uint64_t memory_bytes = 0;  ///< at the last look; 0: not known
  /// Processors that it kept busy between the last two looks; nothing: there was one look only.
  std::optional<double> cores{};
  std::uint64_t disk_bytes = 0;  ///< blocks of its folder when it was measured last; 0: not known

  friend bool operator==(const AttemptUsage&, const AttemptUsage&) = default;
};

/// Asks a worker for the usage of all attempts that run there.
struct UsageRequest {
  std::uint64_t number = 0;
};

/// The answer to a UsageRequest of that number.
struct UsageAnswer {
  InstanceId instance;
  std::uint64_t number = 0;
  std::vector<AttemptUsage> attempts{};
};

/// Attempts in one answer.
inline constexpr std::size_t kMostUsageRows = 4096;

}  // namespace muster
