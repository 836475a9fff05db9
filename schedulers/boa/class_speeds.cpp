#include "schedulers/boa/class_speeds.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "model/time.hpp"

namespace muster::boa {
namespace {

using nlohmann::json;

constexpr std::string_view kRatesKind = "width-rates";
constexpr unsigned kRatesVersion = 1;

std::vector<double> ends_of(const ElasticEpochs& epochs) {
  std::vector<double> ends;
  for (const ElasticEpoch& epoch : epochs.all()) ends.push_back(epoch.until);
  if (ends.empty()) ends.push_back(kGreatestLearnt);
  return ends;
}

}  // namespace

ClassSpeeds::ClassSpeeds(const ElasticSpec& spec) {
  if (spec.batch) learnt_ = ClassGoodput(*spec.batch, ends_of(spec.epochs));
}

JobSeen ClassSpeeds::observe(const JobProgress& said, const JobSeen& before, JobSeen now) {
  const bool same_run = before.attempt == now.attempt && before.width == now.width;
  now.went_on = same_run && (before.went_on || now.done > before.done);
  if (auto* goodput = std::get_if<ClassGoodput>(&learnt_)) {
    if (said.training) goodput->observe(said.done, *said.training);
  } else if (same_run && before.went_on) {
    // The time before a run's first progress is its start, which says nothing of its speed.
    std::get<WidthRates>(learnt_).observe(now.width, now.done - before.done,
                                          to_seconds(now.at - before.at));
  }
  return now;
}

void ClassSpeeds::observe_end(double done) {
  ++ended_;
  mean_end_ += (done - mean_end_) / static_cast<double>(ended_);
}

ElasticEpochs ClassSpeeds::epochs(const ElasticEpochs& stated, std::uint32_t node_holds) const {
  std::vector<ElasticEpoch> all(stated.all().begin(), stated.all().end());
  if (all.empty()) all.emplace_back().until = mean_end_;
  if (const auto* goodput = std::get_if<ClassGoodput>(&learnt_)) {
    const ElasticEpochs learnt = goodput->epochs(node_holds);
    for (ElasticEpoch& epoch : all) {
      // By its last moment, should jobs of the class not agree on where epochs end.
      const ElasticEpoch& known = learnt.all()[learnt.at(std::nextafter(epoch.until, 0.0))];
      epoch.rate_per_s = known.rate_per_s;
      epoch.speedup = known.speedup;
    }
  } else {
    const auto& rates = std::get<WidthRates>(learnt_);
    for (ElasticEpoch& epoch : all) {
      epoch.rate_per_s = rates.rate_per_s();
      epoch.speedup = rates.speedup();
    }
  }
  // The amount of work is not known before a job has come to its end.
  if (stated.empty() && ended_ == 0) all.front().rate_per_s = 0;
  return ElasticEpochs(std::move(all));
}

std::uint32_t ClassSpeeds::width_cap() const {
  return std::visit([](const auto& learnt) { return learnt.width_cap(); }, learnt_);
}

json ClassSpeeds::save() const {
  const auto* goodput = std::get_if<ClassGoodput>(&learnt_);
  const std::string text =
      goodput != nullptr ? class_goodput_text(*goodput)
                         : sealed_text(kRatesKind, kRatesVersion, std::get<WidthRates>(learnt_));
  return {goodput != nullptr ? "goodput" : "rates", text, ended_, mean_end_};
}

std::optional<ClassSpeeds> ClassSpeeds::load(const json& saved) {
  ClassSpeeds read;
  const auto text = saved.at(1).get<std::string>();
  read.ended_ = saved.at(2);
  read.mean_end_ = saved.at(3);
  if (saved.at(0) == "goodput") {
    auto goodput = parse_class_goodput(text);
    if (!goodput) return std::nullopt;
    read.learnt_ = std::move(goodput).value();
  } else {
    auto rates = parse_sealed(kRatesKind, kRatesVersion, text, WidthRates::read);
    if (!rates) return std::nullopt;
    read.learnt_ = std::move(rates).value();
  }
  return read;
}

}  // namespace muster::boa
