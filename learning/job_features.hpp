#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "learning/model_text.hpp"
#include "model/enum_words.hpp"
#include "model/job.hpp"

namespace muster {

/// Number of lengths that are told apart; unknown ones are not learnt from.
inline constexpr std::size_t kKnownLengths = 2;

/// Short when the run time (a job's mean task duration) is no longer than the threshold T_th
/// (HCoop III-C).
constexpr JobLength length_of(Duration runtime, Duration threshold) {
  return runtime <= threshold ? JobLength::short_run : JobLength::long_run;
}

/// A known length as a position: short 0, long 1.
constexpr std::size_t position_of(JobLength length) {
  return length == JobLength::long_run ? 1 : 0;
}

/// Which share of a system's capacity is in use, by kind; each in [0, 1].
struct SystemUse {
  double cpu = 0;
  double memory = 0;
  double storage = 0;
  double gpu = 0;

  /// The shares; 0 where there is no capacity, 1 where more is in use than there is.
  static SystemUse of(const Resources& in_use, const Resources& capacity);
};

/// The features of HCoop's Table I, in its order. The amounts are those of the whole job, as the
/// table says: on the logarithmic scale on which they are learnt from, those of a task are the
/// difference to the number of tasks, so nothing is lost.
enum class Feature : std::uint8_t {
  cpu,      ///< cores of all tasks
  memory,   ///< GiB of all tasks
  storage,  ///< GiB of all tasks
  gpu,      ///< devices of all tasks
  tasks,
  cpu_use,  ///< of the system at the job's submission, as the following ones
  memory_use,
  storage_use,
  gpu_use
};
constexpr auto words_of(Feature) {
  using E = Feature;
  return std::to_array<EnumWord<E>>({{E::cpu, "cpu"},
                                     {E::memory, "memory_gib"},
                                     {E::storage, "storage_gib"},
                                     {E::gpu, "gpu"},
                                     {E::tasks, "tasks"},
                                     {E::cpu_use, "cpu_use"},
                                     {E::memory_use, "memory_use"},
                                     {E::storage_use, "storage_use"},
                                     {E::gpu_use, "gpu_use"}});
}
inline constexpr std::size_t kFeatures = kEnumerators<Feature>;

using JobFeatures = std::array<double, kFeatures>;

/// A task that states demands by family counts with the largest amount of each kind.
JobFeatures features_of(const Job& job, const SystemUse& use);

/// Demand of one of the job's tasks, as features_of() counts it.
Resources counted_demand(const TaskSpec& task);
/// Demand of all of them.
Resources counted_demand(const Job& job);

/// Brings features to [-1, 1]: amounts and the number of tasks, which are heavy-tailed, as
/// ln(1 + x), then each by the least and the greatest value of the samples it was made from.
/// Values beyond them count as they do; a feature that never varied becomes 0.
class FeatureScale {
 public:
  FeatureScale() = default;

  /// Makes room for one more sample.
  void include(const JobFeatures& features);
  JobFeatures apply(const JobFeatures& features) const;

  void write(ModelWriter& out) const;
  static FeatureScale read(ModelReader& in);
  friend bool operator==(const FeatureScale&, const FeatureScale&) = default;

 private:
  bool empty_ = true;
  JobFeatures low_{};
  JobFeatures high_{};
};

}  // namespace muster
