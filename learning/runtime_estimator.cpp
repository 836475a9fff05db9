#include "learning/runtime_estimator.hpp"

#include <algorithm>
#include <cmath>

#include "learning/fnv.hpp"
#include "learning/job_attributes.hpp"
#include "model/check.hpp"

// For each feature a bounded map from values to groups. A job belongs to one group of each feature
// that it has all attributes of.

namespace muster {
namespace {

constexpr std::string_view kEstimatorKind = "estimator";
constexpr unsigned kEstimatorVersion = 1;

struct RuntimeFeature {
  std::string_view name;
  unsigned attributes;
};

/// The most specific first. More sets of attributes were tried on logs of users' jobs: they cost
/// memory and gained nothing.
constexpr std::array<RuntimeFeature, 22> kRuntimeFeatures = {
    {{"user, name, class, demands and limit",
      kUserBit | kNameBit | kClassBit | kShapeBit | kLimitBit},
     {"user, class, demands and limit", kUserBit | kClassBit | kShapeBit | kLimitBit},
     {"user, name, demands and limit", kUserBit | kNameBit | kShapeBit | kLimitBit},
     {"user, class and limit", kUserBit | kClassBit | kLimitBit},
     {"user, name and limit", kUserBit | kNameBit | kLimitBit},
     {"user, demands and limit", kUserBit | kShapeBit | kLimitBit},
     {"user, name and demands", kUserBit | kNameBit | kShapeBit},
     {"user, class and demands", kUserBit | kClassBit | kShapeBit},
     {"user, name and hour", kUserBit | kNameBit | kHourBit},
     {"user and name", kUserBit | kNameBit},
     {"user and class", kUserBit | kClassBit},
     {"user and limit", kUserBit | kLimitBit},
     {"user and demands", kUserBit | kShapeBit},
     {"user and hour", kUserBit | kHourBit},
     {"name and demands", kNameBit | kShapeBit},
     {"class and limit", kClassBit | kLimitBit},
     {"demands and limit", kShapeBit | kLimitBit},
     {"name", kNameBit},
     {"class", kClassBit},
     {"user", kUserBit},
     {"limit", kLimitBit},
     {"all jobs", 0}}};

/// A job's attributes, as numbers.
struct Attributes {
  unsigned present = kShapeBit | kHourBit;
  std::array<std::uint64_t, 6> values{};  ///< in the order of the bits
};

Attributes attributes_of(const SubmittedJob& submitted, bool limits) {
  constexpr std::int64_t kHoursOfDay = 24;
  const Job& job = submitted.job;
  Attributes own;
  const auto text = [&](unsigned bit, std::size_t at, std::string_view value) {
    if (value.empty()) return;
    own.present |= bit;
    own.values[at] = Fnv().add(value).value();
  };
  text(kUserBit, 0, job.user);
  text(kNameBit, 1, logical_name(job.name));
  text(kClassBit, 2, job.workload_class);
  own.values[3] = shape_of(job);
  if (limits && job.runtime_hint) {
    own.present |= kLimitBit;
    own.values[4] = static_cast<std::uint64_t>(job.runtime_hint->count());
  }
  const std::int64_t hours =
      std::chrono::floor<std::chrono::hours>(submitted.at.time_since_epoch()).count();
  own.values[5] = static_cast<std::uint64_t>((hours % kHoursOfDay + kHoursOfDay) % kHoursOfDay);
  return own;
}

/// Calls `use` with the position of each feature that the job has a value of, and the value.
template <class Use>
void each_value(const Attributes& own, const Use& use) {
  for (std::size_t i = 0; i < kRuntimeFeatures.size(); ++i) {
    const unsigned wanted = kRuntimeFeatures[i].attributes;
    if ((wanted & ~own.present) != 0) continue;
    Fnv hash;
    for (std::size_t bit = 0; bit < own.values.size(); ++bit) {
      if ((wanted >> bit & 1U) != 0) hash.add(own.values[bit]);
    }
    use(i, hash.value());
  }
}

/// To whole milliseconds, which are short as texts.
double rounded(double seconds) {
  return std::round(seconds * 1e3) / 1e3;
}

void keep_newest(std::vector<double>& values, double value, std::size_t most) {
  if (values.size() == most) values.erase(values.begin());
  values.push_back(value);
}

}  // namespace

RuntimeEstimator::RuntimeEstimator(const EstimatorParams& params)
    : params_(params), features_(kRuntimeFeatures.size(), RecentMap<Group>(params.values)) {
  MUSTER_CHECK(params.history > 0 && params.history <= kMostHistory, "a value has a history");
}

std::size_t RuntimeEstimator::groups() const {
  std::size_t all = 0;
  for (const auto& groups : features_) all += groups.size();
  return all;
}

std::array<double, kAllEstimators> RuntimeEstimator::Group::estimates() const {
  double recent_sum_s = 0;
  for (const double run_s : recent_s) recent_sum_s += run_s;
  // In the order of the enumeration.
  return {median_of(recent_s), sum_s / static_cast<double>(count), rolling_s,
          recent_sum_s / static_cast<double>(recent_s.size())};
}

/// Of a group whose experts were compared at least once.
double RuntimeEstimator::error_of(const Group& group, std::size_t estimator) const {
  const Score& score = group.scores[estimator];
  switch (params_.score) {
    case ExpertScore::nmae_mean:
      return score.error / group.compared_s;
    case ExpertScore::nmae_median: {
      // The run times that these errors are of: the newest, without the first of all, of which
      // nothing was said.
      const auto tail = static_cast<std::ptrdiff_t>(score.recent.size());
      return median_of(score.recent) /
             median_of({group.recent_s.end() - tail, group.recent_s.end()});
    }
    case ExpertScore::log_ratio:
      break;
  }
  return score.error / static_cast<double>(group.count - 1);
}

void RuntimeEstimator::learn(Group& group, double runtime_s) const {
  if (group.count > 0) {
    const auto said = group.estimates();
    for (std::size_t i = 0; i < said.size(); ++i) {
      Score& score = group.scores[i];
      const double off_s = rounded(std::abs(said[i] - runtime_s));
      score.error +=
          params_.score == ExpertScore::log_ratio ? std::abs(std::log(said[i] / runtime_s)) : off_s;
      if (params_.score == ExpertScore::nmae_median) {
        keep_newest(score.recent, off_s, params_.history);
      }
    }
    group.compared_s += runtime_s;
  }
  ++group.count;
  group.sum_s += runtime_s;
  group.rolling_s = group.count == 1
                        ? runtime_s
                        : group.rolling_s + kNewestWeight * (runtime_s - group.rolling_s);
  keep_newest(group.recent_s, runtime_s, params_.history);
}

std::optional<RuntimePrediction> RuntimeEstimator::predict(const SubmittedJob& job) const {
  std::optional<RuntimePrediction> best;
  bool best_compared = false;
  double least_error = 0;
  each_value(attributes_of(job, params_.limits), [&](std::size_t feature, std::uint64_t value) {
    const Group* group = features_[feature].find(value);
    const bool compared = group != nullptr && group->count > 1;
    if (group == nullptr || (best && !compared)) return;
    const auto said = group->estimates();
    for (std::size_t i = 0; i < said.size(); ++i) {
      const double error = compared ? error_of(*group, i) : 0;
      const bool better = compared && (!best_compared || error < least_error);
      // Groups come from the most specific on: until one was compared, the first found stands.
      if (best && !better) continue;
      best = {said[i], kRuntimeFeatures[feature].name, static_cast<Estimator>(i)};
      best_compared = compared;
      least_error = error;
    }
  });
  return best;
}

void RuntimeEstimator::observe(const SubmittedJob& job, Duration runtime) {
  const double runtime_s = std::clamp(rounded(to_seconds(runtime)), kShortestRun_s, kLongestRun_s);
  each_value(attributes_of(job, params_.limits), [&](std::size_t feature, std::uint64_t value) {
    learn(features_[feature].touch(value), runtime_s);
  });
}

void RuntimeEstimator::write_group(ModelWriter& out, const Group& group) const {
  out.whole(group.count).number(group.sum_s).number(group.rolling_s).number(group.compared_s);
  for (const double run_s : group.recent_s) out.number(run_s);
  for (const Score& score : group.scores) {
    out.number(score.error);
    for (const double off_s : score.recent) out.number(off_s);
  }
}

RuntimeEstimator::Group RuntimeEstimator::read_group(ModelReader& in) const {
  Group group;
  group.count = in.whole(1, UINT64_MAX);
  group.sum_s = in.number(kShortestRun_s, kGreatestLearnt);
  group.rolling_s = in.number(kShortestRun_s, kLongestRun_s);
  const std::uint64_t compared = group.count - 1;
  group.compared_s = in.number(compared == 0 ? 0 : kShortestRun_s, kGreatestLearnt);
  const auto kept = [&](std::uint64_t all) {
    return std::min<std::uint64_t>(all, params_.history);
  };
  for (std::uint64_t i = 0; i < kept(group.count) && in.ok(); ++i) {
    group.recent_s.push_back(in.number(kShortestRun_s, kLongestRun_s));
  }
  const bool keeps_errors = params_.score == ExpertScore::nmae_median;
  for (Score& score : group.scores) {
    score.error = in.number(0, kGreatestLearnt);
    for (std::uint64_t i = 0; keeps_errors && i < kept(compared) && in.ok(); ++i) {
      score.recent.push_back(in.number(0, kLongestRun_s));
    }
  }
  return group;
}

void RuntimeEstimator::write(ModelWriter& out) const {
  out.line("estimator").whole(static_cast<std::uint64_t>(params_.score));
  out.whole(params_.limits ? 1 : 0).whole(params_.values).whole(params_.history);
  for (const auto& groups : features_) {
    out.line("feature").whole(groups.size());
    groups.each([&](std::uint64_t value, const Group& group) {
      out.line("group").whole(value);
      write_group(out, group);
    });
  }
}

RuntimeEstimator RuntimeEstimator::read(ModelReader& in) {
  in.line("estimator");
  EstimatorParams params;
  params.score =
      static_cast<ExpertScore>(in.whole(0, static_cast<std::uint64_t>(ExpertScore::nmae_median)));
  params.limits = in.whole(0, 1) == 1;
  params.values = static_cast<std::uint32_t>(in.whole(1, kMostValues));
  params.history = static_cast<std::uint32_t>(in.whole(1, kMostHistory));
  RuntimeEstimator estimator(params);
  for (auto& groups : estimator.features_) {
    in.line("feature");
    const std::uint64_t count = in.whole(0, params.values);
    for (std::uint64_t i = 0; i < count && in.line("group"); ++i) {
      const std::uint64_t value = in.whole(0, UINT64_MAX);
      Group group = estimator.read_group(in);
      // A damaged line leaves less in a group than its sums say.
      if (!in.ok()) break;
      groups.touch(value) = std::move(group);
    }
  }
  return estimator;
}

std::string estimator_text(const RuntimeEstimator& estimator) {
  return sealed_text(kEstimatorKind, kEstimatorVersion, estimator);
}

Expected<RuntimeEstimator, LearnError> parse_estimator(std::string_view text) {
  return parse_sealed(kEstimatorKind, kEstimatorVersion, text, RuntimeEstimator::read);
}

}  // namespace muster
