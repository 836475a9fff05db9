#include "learning/class_goodput.hpp"

#include <algorithm>
#include <utility>

#include "model/check.hpp"

namespace muster {
namespace {

constexpr std::string_view kClassKind = "class-goodput";
constexpr unsigned kClassVersion = 1;
constexpr std::uint64_t kMostEpochs = 100'000;

/// Batches that a width is to choose from: the time of a step with each batch is equal in all
/// epochs.
struct TimedBatch {
  double scale = 1;  ///< of the initial batch
  double step_s = 0;
};

std::vector<TimedBatch> timed_batches(const GoodputModel& model, const WorkerGroup& workers) {
  std::vector<TimedBatch> all;
  for (const BatchChoice& batch : batch_candidates(model.limits(), workers.replicas)) {
    all.push_back({static_cast<double>(batch.total(workers.replicas)) / model.limits().initial,
                   step_s(*model.params(), workers, batch)});
  }
  return all;
}

double best_rate_per_s(const std::vector<TimedBatch>& batches, const GradientNoise& noise) {
  double best = 0;
  for (const TimedBatch& batch : batches) {
    best = std::max(best, step_gain(noise, batch.scale) / batch.step_s);
  }
  return best;
}

}  // namespace

ClassGoodput::ClassGoodput(const BatchLimits& limits, std::vector<double> ends)
    : ClassGoodput(GoodputModel(limits), std::move(ends)) {}

ClassGoodput::ClassGoodput(GoodputModel model, std::vector<double> ends)
    : model_(std::move(model)), ends_(std::move(ends)), noise_(ends_.size()) {
  MUSTER_CHECK(!ends_.empty(), "jobs of a class have at least one epoch");
}

bool ClassGoodput::observe(double done, const TrainingSample& sample) {
  if (!model_.observe(sample)) return false;
  const auto ended = std::upper_bound(ends_.begin(), ends_.end(), done);
  const auto epoch = std::min<std::size_t>(ended - ends_.begin(), ends_.size() - 1);
  EpochNoise& noise = noise_[epoch];
  ++noise.count;
  const auto count = static_cast<double>(noise.count);
  noise.mean.sqr += (sample.grad_sqr - noise.mean.sqr) / count;
  noise.mean.var += (sample.grad_var - noise.mean.var) / count;
  return true;
}

ElasticEpochs ClassGoodput::epochs(std::uint32_t node_holds) const {
  std::vector<ElasticEpoch> all(ends_.size());
  for (std::size_t e = 0; e < ends_.size(); ++e) all[e].until = ends_[e];
  const auto seen = std::ranges::find_if(noise_, [](const auto& each) { return each.count > 0; });
  if (!model_.params() || seen == noise_.end()) return ElasticEpochs(std::move(all));
  std::vector<std::vector<TimedBatch>> by_width;
  for (std::uint32_t width = 1; width <= width_cap(); ++width) {
    by_width.push_back(timed_batches(model_, {width, width > node_holds}));
  }
  const EpochNoise* known = &*seen;
  for (std::size_t e = 0; e < ends_.size(); ++e) {
    if (noise_[e].count > 0) known = &noise_[e];
    ElasticEpoch& epoch = all[e];
    epoch.rate_per_s = best_rate_per_s(by_width.front(), known->mean);
    for (const auto& batches : by_width) {
      const double rate = best_rate_per_s(batches, known->mean);
      // Of more workers than share the largest batch nothing is listed: they are as those before.
      if (rate <= 0) break;
      epoch.speedup.push_back(rate / epoch.rate_per_s);
    }
  }
  return ElasticEpochs(std::move(all));
}

void ClassGoodput::write(ModelWriter& out) const {
  model_.write(out);
  out.line("epochs").whole(ends_.size());
  for (std::size_t e = 0; e < ends_.size(); ++e) {
    const EpochNoise& noise = noise_[e];
    out.line("epoch").number(ends_[e]).whole(noise.count);
    out.number(noise.mean.sqr).number(noise.mean.var);
  }
}

ClassGoodput ClassGoodput::read(ModelReader& in) {
  GoodputModel model = GoodputModel::read(in);
  in.line("epochs");
  const std::uint64_t count = in.whole(1, kMostEpochs);
  std::vector<double> ends;
  std::vector<EpochNoise> noise;
  for (std::uint64_t e = 0; e < count && in.ok(); ++e) {
    in.line("epoch");
    ends.push_back(in.number(ends.empty() ? 0 : ends.back(), kGreatestLearnt));
    EpochNoise& each = noise.emplace_back();
    each.count = in.whole(0, UINT64_MAX);
    each.mean.sqr = in.number(-kGreatestLearnt, kGreatestLearnt);
    each.mean.var = in.number(-kGreatestLearnt, kGreatestLearnt);
  }
  if (ends.empty()) ends.push_back(0);
  noise.resize(ends.size());
  ClassGoodput read(std::move(model), std::move(ends));
  read.noise_ = std::move(noise);
  return read;
}

std::string class_goodput_text(const ClassGoodput& goodput) {
  return sealed_text(kClassKind, kClassVersion, goodput);
}

Expected<ClassGoodput, LearnError> parse_class_goodput(std::string_view text) {
  return parse_sealed(kClassKind, kClassVersion, text, ClassGoodput::read);
}

}  // namespace muster
