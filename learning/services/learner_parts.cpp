#include "learning/services/learner_parts.hpp"

#include <cmath>

#include "learning/fnv.hpp"
#include "model/rng.hpp"

namespace muster {
namespace {

constexpr double kMostMargin = 10;

}  // namespace

bool valid_learner_params(const LearnerParams& params) {
  return params.margin >= 0 && params.margin <= kMostMargin && params.most_services > 0 &&
         params.most_services <= kMostServices && valid_history_params(params.history) &&
         valid_fm_params(params.fm) && valid_mf_params(params.mf) && valid_rows_params(params.rows);
}

ServiceRows rows_of(std::uint32_t points, const LearnerParams& params) {
  if (params.kind == LearnerKind::fm) return {points, params.fm, params.rows};
  return {points, params.mf, params.rows};
}

bool is_measurable(const PerformanceSample& sample) {
  return std::isfinite(sample.value) && std::isfinite(sample.noise);
}

std::optional<std::uint32_t> drawn_probe(std::uint64_t service,
                                         std::span<const MeasuredPoint> measured,
                                         std::uint32_t points) {
  if (measured.size() >= points) return std::nullopt;
  Rng rng(Fnv().add(service).add(measured.size()).value());
  std::uint64_t left = rng.below(points - measured.size());
  for (std::uint32_t point = 0; point < points; ++point) {
    if (measured_at(measured, point) == nullptr && left-- == 0) return point;
  }
  return std::nullopt;
}

bool rows_fit(std::span<const ServiceRows* const> by_size, const ServiceBook& book) {
  std::size_t services = 0;
  for (const ServiceRows* rows : by_size) services += rows->services();
  if (services != book.entries().size()) return false;
  for (const auto& [service, entry] : book.entries()) {
    if (!by_size[entry.size]->knows(service)) return false;
  }
  return true;
}

void write_learner_params(ModelWriter& out, const LearnerParams& params) {
  out.line("learner").whole(static_cast<std::uint64_t>(params.kind)).number(params.margin);
  out.whole(params.most_services);
  write_history_params(out, params.history);
  write_fm_params(out, params.fm);
  write_mf_params(out, params.mf);
  write_rows_params(out, params.rows);
}

LearnerParams read_learner_params(ModelReader& in) {
  LearnerParams params;
  in.line("learner");
  params.kind = static_cast<LearnerKind>(in.whole(0, static_cast<std::uint64_t>(LearnerKind::mf)));
  params.margin = in.number(0, kMostMargin);
  params.most_services = static_cast<std::uint32_t>(in.whole(1, kMostServices));
  params.history = read_history_params(in);
  params.fm = read_fm_params(in);
  params.mf = read_mf_params(in);
  params.rows = read_rows_params(in);
  return params;
}

}  // namespace muster
