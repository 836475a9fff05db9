#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/job.hpp"

// Attributes by which the experts that predict run times know jobs, and the sums that they share.

namespace muster {

/// Run times that are learnt from are kept within these, so that their ratios and logarithms are
/// finite.
inline constexpr double kShortestRun_s = 1e-3;
inline constexpr double kLongestRun_s = 1e10;

/// Attributes that the jobs of a group share: a sum of these.
inline constexpr unsigned kUserBit = 1;
inline constexpr unsigned kNameBit = 2;
inline constexpr unsigned kClassBit = 4;
inline constexpr unsigned kShapeBit = 8;
inline constexpr unsigned kLimitBit = 16;  ///< the run time that the user states
inline constexpr unsigned kHourBit = 32;   ///< of the day of the submission

/// A job's name without the number of the run: "train" of "train-0017".
std::string_view logical_name(std::string_view name);

/// The demands of the first task and the number of tasks, each as a power of two, as one number.
std::uint64_t shape_of(const Job& job);

/// The mean of the two in the middle where their number is even. There is at least one.
double median_of(std::vector<double> values);

}  // namespace muster
