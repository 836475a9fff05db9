#include "schedulers/pollux/job_speeds.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "model/time.hpp"

namespace muster::pollux {
namespace {

constexpr const char* kByModel = "goodput";
constexpr const char* kByRates = "rates";
constexpr std::string_view kRatesKind = "width-rates";
constexpr unsigned kRatesVersion = 1;

/// Fills a table with a function's speeds by number of workers, on several nodes or on one.
template <class SpeedOf>
SpeedTable table_of(const SpeedQuestion& asked, const SpeedOf& speed) {
  SpeedTable table;
  for (std::uint32_t r = 1; r <= std::min(asked.of_node, asked.most); ++r) {
    table.one_node.push_back(speed(r, false));
  }
  for (std::uint32_t r = 2; r <= asked.most; ++r) table.several.push_back(speed(r, true));
  return table;
}

}  // namespace

SpeedTable linear_speeds(const SpeedQuestion& asked) {
  return table_of(asked,
                  [&](std::uint32_t r, bool) { return static_cast<double>(r) / asked.fair; });
}

SpeedTable stated_speeds(const ElasticEpoch& epoch, const SpeedQuestion& asked) {
  const double fair = speedup_of(epoch, asked.fair);
  return table_of(asked, [&](std::uint32_t r, bool several) {
    // Where several nodes are needed in any case they are no more than need be.
    return speedup_of(epoch, r, several && r <= asked.of_node) / fair;
  });
}

JobSpeeds::JobSpeeds(const ElasticSpec& spec) {
  if (spec.batch) learnt_ = GoodputModel(*spec.batch);
}

ProgressSeen JobSpeeds::observe(const JobProgress& said, const ProgressSeen& before,
                                ProgressSeen now) {
  const bool same_run = before.attempt == now.attempt && before.width == now.width;
  now.went_on = same_run && (before.went_on || now.done > before.done);
  if (auto* model = std::get_if<GoodputModel>(&learnt_)) {
    if (said.training) model->observe(*said.training);
  } else if (same_run && before.went_on) {
    // The time before a run's first progress is its start, which says nothing of its speed.
    std::get<WidthRates>(learnt_).observe(now.width, now.done - before.done,
                                          to_seconds(now.at - before.at));
  }
  return now;
}

bool JobSpeeds::knows_something() const {
  if (const auto* model = std::get_if<GoodputModel>(&learnt_)) return model->params().has_value();
  return !std::get<WidthRates>(learnt_).empty();
}

std::uint32_t JobSpeeds::width_cap() const {
  return std::visit([](const auto& learnt) { return learnt.width_cap(); }, learnt_);
}

SpeedTable JobSpeeds::table(const SpeedQuestion& asked) const {
  if (!knows_something()) return linear_speeds(asked);
  if (const auto* model = std::get_if<GoodputModel>(&learnt_)) return by_model(*model, asked);
  const std::vector<double> speedup = std::get<WidthRates>(learnt_).speedup();
  const auto at = [&](std::uint32_t r) {
    if (r <= speedup.size()) return speedup[r - 1];
    return speedup.back() * r / static_cast<double>(speedup.size());
  };
  return table_of(asked, [&](std::uint32_t r, bool) { return at(r) / at(asked.fair); });
}

SpeedTable JobSpeeds::by_model(const GoodputModel& model, const SpeedQuestion& asked) const {
  const GradientNoise& noise = model.noise();
  if (cached_.version != model.version() || cached_.of_node != asked.of_node ||
      cached_.rates.several_nodes.size() + 1 < asked.most) {
    cached_ = {model.version(), asked.of_node, model.table(noise, asked.of_node, asked.most)};
  }
  // More workers than share the largest batch have no speed that could be compared.
  const std::uint32_t fed = std::max(model.limits().largest / model.limits().local_min, 1U);
  const double fair = model.best({std::min(asked.fair, fed), false}, noise).rate_per_s;
  if (!(fair > 0)) return linear_speeds(asked);
  return table_of(asked, [&](std::uint32_t r, bool several) {
    return (several ? cached_.rates.several_nodes : cached_.rates.one_node)[r - (several ? 2 : 1)] /
           fair;
  });
}

SavedSpeeds JobSpeeds::save() const {
  if (const auto* model = std::get_if<GoodputModel>(&learnt_)) {
    return {kByModel, goodput_text(*model)};
  }
  return {kByRates, sealed_text(kRatesKind, kRatesVersion, std::get<WidthRates>(learnt_))};
}

std::optional<JobSpeeds> JobSpeeds::load(const SavedSpeeds& saved) {
  const auto& [kind, text] = saved;
  JobSpeeds read;
  if (kind == kByModel) {
    auto model = parse_goodput(text);
    if (!model) return std::nullopt;
    read.learnt_ = std::move(model).value();
  } else if (kind != kByRates) {
    return std::nullopt;
  } else {
    auto rates = parse_sealed(kRatesKind, kRatesVersion, text, WidthRates::read);
    if (!rates) return std::nullopt;
    read.learnt_ = std::move(rates).value();
  }
  return read;
}

}  // namespace muster::pollux
