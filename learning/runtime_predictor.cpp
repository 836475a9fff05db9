#include "learning/runtime_predictor.hpp"

#include <algorithm>
#include <cmath>

#include "learning/fnv.hpp"
#include "learning/job_features.hpp"

// Experts in competition: for every group that a job belongs to and every estimator there is one,
// each with the errors that it has made so far. The best of those that were tried often enough
// predicts.

namespace muster {
namespace {

constexpr std::string_view kPredictorKind = "predictor";
constexpr unsigned kPredictorVersion = 1;
constexpr std::uint64_t kMaxCapacity = 10'000'000;

constexpr std::size_t kRecent = 20;
constexpr double kNewestWeight = 0.6;
/// The newest error of an expert counts at least so much.
constexpr double kErrorWeight = 0.1;
constexpr std::uint32_t kTriedEnough = 2;
/// Run times are kept within these, so that their ratios and logarithms are finite.
constexpr double kShortest_s = 1e-3;
constexpr double kLongest_s = 1e10;

constexpr std::array<std::string_view, kEstimators> kEstimatorNames = {"median", "mean", "rolling"};

/// What jobs of a group share: a sum of these.
constexpr unsigned kUser = 1;
constexpr unsigned kName = 2;
constexpr unsigned kClass = 4;
constexpr unsigned kShape = 8;

struct Key {
  std::string_view name;
  unsigned attributes;
};

/// The most specific first.
constexpr std::array<Key, 12> kKeys = {{{"user, name and demands", kUser | kName | kShape},
                                        {"user, class and demands", kUser | kClass | kShape},
                                        {"name and demands", kName | kShape},
                                        {"class and demands", kClass | kShape},
                                        {"user and name", kUser | kName},
                                        {"user and class", kUser | kClass},
                                        {"user and demands", kUser | kShape},
                                        {"name", kName},
                                        {"class", kClass},
                                        {"user", kUser},
                                        {"demands", kShape},
                                        {"all jobs", 0}}};

/// The name without the number of the run: "train" of "train-0017".
std::string_view logical_name(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  if (last == std::string_view::npos) return {};
  const std::size_t end = name.find_last_not_of("-_.#", last);
  return name.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

/// The demands of the first task and the number of tasks, each as a power of two.
std::uint64_t shape_of(const Job& job) {
  const auto magnitude = [](double amount) {
    return amount <= 0 ? std::uint64_t{0}
                       : static_cast<std::uint64_t>(std::lround(std::log2(amount)) + 1000);
  };
  Fnv hash;
  hash.add(magnitude(static_cast<double>(job.task_count())));
  if (!job.tasks.empty()) {
    const Resources asked = counted_demand(job.tasks.front());
    for (const double amount : asked.amounts()) hash.add(magnitude(amount));
  }
  return hash.value();
}

/// A job's groups, as positions in kKeys and numbers of groups. Keys that say no more than a
/// shorter one, because the job lacks the attribute, are left out.
struct GroupKey {
  std::size_t key;
  std::uint64_t group;
};

std::vector<GroupKey> groups_of(const Job& job) {
  const std::string_view name = logical_name(job.name);
  const std::uint64_t shape = shape_of(job);
  const unsigned lacking = (job.user.empty() ? kUser : 0U) | (name.empty() ? kName : 0U) |
                           (job.workload_class.empty() ? kClass : 0U);
  std::vector<GroupKey> groups;
  for (std::size_t i = 0; i < kKeys.size(); ++i) {
    const unsigned attributes = kKeys[i].attributes;
    if ((attributes & lacking) != 0) continue;
    Fnv hash;
    hash.add(attributes);
    if ((attributes & kUser) != 0) hash.add(job.user);
    if ((attributes & kName) != 0) hash.add(name);
    if ((attributes & kClass) != 0) hash.add(job.workload_class);
    if ((attributes & kShape) != 0) hash.add(shape);
    groups.push_back({i, hash.value()});
  }
  return groups;
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace

std::string_view name_of(Estimator estimator) {
  return kEstimatorNames[static_cast<std::size_t>(estimator)];
}

double RuntimePredictor::Group::estimate_s(Estimator estimator) const {
  if (estimator == Estimator::mean) return mean_s;
  return estimator == Estimator::rolling ? rolling_s : median_of(recent_s);
}

void RuntimePredictor::Group::learn(double runtime_s) {
  // Scored on what they would have said before this job was known.
  for (std::size_t i = 0; count > 0 && i < kEstimators; ++i) {
    Score& score = scores[i];
    // By the ratio and not the difference: twice and half are equally wrong.
    const double error = std::abs(std::log(estimate_s(static_cast<Estimator>(i)) / runtime_s));
    ++score.tried;
    // A plain mean at first, then one in which old errors fade.
    score.error += (error - score.error) * std::max(kErrorWeight, 1.0 / score.tried);
  }
  ++count;
  mean_s += (runtime_s - mean_s) / static_cast<double>(count);
  rolling_s = count == 1 ? runtime_s : rolling_s + kNewestWeight * (runtime_s - rolling_s);
  if (recent_s.size() == kRecent) recent_s.erase(recent_s.begin());
  recent_s.push_back(runtime_s);
}

std::optional<RuntimePrediction> RuntimePredictor::predict(const Job& job) const {
  std::optional<RuntimePrediction> best;
  bool best_tried = false;
  double best_error = 0;
  for (const auto& [key, number] : groups_of(job)) {
    const Group* group = groups_.find(number);
    if (group == nullptr) continue;
    for (std::size_t i = 0; i < kEstimators; ++i) {
      const Score& score = group->scores[i];
      const bool tried = score.tried >= kTriedEnough;
      const bool better = tried && (!best_tried || score.error < best_error);
      // Groups come from the most specific on: until one is tried, the first found stands.
      if (best && !better) continue;
      const auto estimator = static_cast<Estimator>(i);
      best = {group->estimate_s(estimator), kKeys[key].name, estimator};
      best_tried = tried;
      best_error = score.error;
    }
  }
  return best;
}

void RuntimePredictor::observe(const Job& job, Duration runtime) {
  const double runtime_s = std::clamp(to_seconds(runtime), kShortest_s, kLongest_s);
  // Before the groups learn of it: the error is of a job that was not known.
  if (const auto predicted = predict(job)) {
    errors_.touch(error_class(job)).add(predicted->runtime_s, runtime_s);
  }
  for (const auto& [key, number] : groups_of(job)) groups_.touch(number).learn(runtime_s);
}

std::uint64_t RuntimePredictor::error_class(const Job& job) {
  return Fnv().add(job.user).add(job.workload_class).value();
}

double RuntimePredictor::probability_of_error_within(std::uint64_t error_class, double eps,
                                                     double margin) const {
  const PredictionErrors* errors = errors_.find(error_class);
  return errors == nullptr ? 0 : errors->share_within(eps, margin);
}

SorsVerdict RuntimePredictor::judge(const Job& job, const SorsRule& rule) const {
  const auto predicted = predict(job);
  if (!predicted) return {.reason = SorsReason::no_estimate, .p_threshold = rule.p_threshold};
  const PredictionErrors* errors = errors_.find(error_class(job));
  return (errors == nullptr ? PredictionErrors() : *errors).judge(predicted->runtime_s, rule);
}

void RuntimePredictor::Group::write(ModelWriter& out) const {
  out.whole(count).number(mean_s).number(rolling_s);
  for (const Score& score : scores) out.whole(score.tried).number(score.error);
  for (const double runtime_s : recent_s) out.number(runtime_s);
}

void RuntimePredictor::Group::read(ModelReader& in) {
  count = in.whole(1, UINT64_MAX);
  mean_s = in.number(kShortest_s, kLongest_s);
  rolling_s = in.number(kShortest_s, kLongest_s);
  for (Score& score : scores) {
    score.tried = static_cast<std::uint32_t>(in.whole(0, UINT32_MAX));
    score.error = in.number(0, kLongest_s);
  }
  const std::uint64_t kept = std::min<std::uint64_t>(count, kRecent);
  for (std::uint64_t i = 0; i < kept; ++i) recent_s.push_back(in.number(kShortest_s, kLongest_s));
}

void RuntimePredictor::write(ModelWriter& out) const {
  out.line("predictor").whole(groups_.capacity()).whole(errors_.capacity());
  out.whole(groups_.size()).whole(errors_.size());
  groups_.each([&](std::uint64_t key, const Group& group) {
    out.line("group").whole(key);
    group.write(out);
  });
  errors_.each([&](std::uint64_t key, const PredictionErrors& errors) {
    out.line("errors").whole(key);
    errors.write(out);
  });
}

RuntimePredictor RuntimePredictor::read(ModelReader& in) {
  in.line("predictor");
  Limits limits;
  limits.groups = in.whole(1, kMaxCapacity);
  limits.classes = in.whole(1, kMaxCapacity);
  RuntimePredictor predictor(limits);
  const std::uint64_t groups = in.whole(0, limits.groups);
  const std::uint64_t classes = in.whole(0, limits.classes);
  for (std::uint64_t i = 0; i < groups && in.line("group"); ++i) {
    Group group;
    const std::uint64_t key = in.whole(0, UINT64_MAX);
    group.read(in);
    predictor.groups_.touch(key) = std::move(group);
  }
  for (std::uint64_t i = 0; i < classes && in.line("errors"); ++i) {
    const std::uint64_t key = in.whole(0, UINT64_MAX);
    predictor.errors_.touch(key).read(in);
  }
  return predictor;
}

std::string predictor_text(const RuntimePredictor& predictor) {
  return sealed_text(kPredictorKind, kPredictorVersion, predictor);
}

Expected<RuntimePredictor, LearnError> parse_predictor(std::string_view text) {
  return parse_sealed(kPredictorKind, kPredictorVersion, text, RuntimePredictor::read);
}

}  // namespace muster
