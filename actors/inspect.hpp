#pragma once

#include <bit>
#include <caf/all.hpp>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/job.hpp"
#include "model/refusal.hpp"

// How the model's values travel in messages. Floating point goes as its bit pattern: CAF 0.17 loses
// special values and never returns from serialising an infinity.

namespace muster {

template <class Inspector, class Tag, class Number>
typename Inspector::result_type inspect(Inspector& f, Id<Tag, Number>& x) {
  return f(x.value);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, Resources& x) {
  std::vector<std::uint64_t> bits;
  for (double amount : x.amounts()) bits.push_back(std::bit_cast<std::uint64_t>(amount));
  const auto load = [&x, &bits]() -> caf::error {
    if (bits.size() != kResourceKinds) return caf::sec::invalid_argument;
    for (std::size_t i = 0; i < kResourceKinds; ++i) {
      x[kAllResources[i]] = std::bit_cast<double>(bits[i]);
    }
    return caf::none;
  };
  return f(caf::meta::type_name("resources"), bits, caf::meta::load_callback(load));
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, FamilyDemand& x) {
  auto speed = std::bit_cast<std::uint64_t>(x.speed);
  const auto load = [&x, &speed]() -> caf::error {
    x.speed = std::bit_cast<double>(speed);
    return caf::none;
  };
  return f(caf::meta::type_name("family_demand"), x.family, x.amount, speed,
           caf::meta::load_callback(load));
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, Demands& x) {
  std::vector<FamilyDemand> entries = x.entries();
  const auto load = [&x, &entries]() -> caf::error {
    x = Demands(std::move(entries));
    return caf::none;
  };
  return f(caf::meta::type_name("demands"), entries, caf::meta::load_callback(load));
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, Delays& x) {
  return f(caf::meta::type_name("delays"), x.fetch, x.build, x.init, x.stop, x.upload);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, TaskSpec& x) {
  return f(caf::meta::type_name("task_spec"), x.id, x.demands, x.image, x.delays, x.array_index);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, Program& x) {
  auto progress = std::bit_cast<std::uint64_t>(x.alone_progress_s);
  const auto load = [&x, &progress]() -> caf::error {
    x.alone_progress_s = std::bit_cast<double>(progress);
    return caf::none;
  };
  return f(caf::meta::type_name("program"), x.argv, x.env, x.work_dir, x.time_limit, x.stop_grace,
           progress, caf::meta::load_callback(load));
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, ElasticSpec& x) {
  std::vector<std::uint64_t> speedup;
  for (const double each : x.speedup) speedup.push_back(std::bit_cast<std::uint64_t>(each));
  const auto load = [&x, &speedup]() -> caf::error {
    x.speedup.clear();
    for (const std::uint64_t each : speedup) x.speedup.push_back(std::bit_cast<double>(each));
    return caf::none;
  };
  return f(caf::meta::type_name("elastic_spec"), x.min_width, x.max_width, speedup,
           caf::meta::load_callback(load));
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, ServiceSpec& x) {
  auto goal = std::bit_cast<std::uint64_t>(x.goal);
  const auto load = [&x, &goal]() -> caf::error {
    x.goal = std::bit_cast<double>(goal);
    return caf::none;
  };
  return f(caf::meta::type_name("service_spec"), x.replicas, goal, x.constraints,
           caf::meta::load_callback(load));
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, Prediction& x) {
  bool has_runtime = x.runtime.has_value();
  Duration runtime = x.runtime.value_or(Duration{});
  auto confidence = std::bit_cast<std::uint64_t>(x.confidence);
  const auto load = [&]() -> caf::error {
    x.runtime = has_runtime ? std::optional<Duration>(runtime) : std::nullopt;
    x.confidence = std::bit_cast<double>(confidence);
    return caf::none;
  };
  return f(caf::meta::type_name("prediction"), x.length, x.spot_safe, has_runtime, runtime,
           confidence, caf::meta::load_callback(load));
}

/// A kind by its place among the kinds, and what only that one has.
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, JobKind& x) {
  auto which = static_cast<std::uint8_t>(x.index());
  ElasticSpec elastic;
  ServiceSpec service;
  if (const auto* chosen = std::get_if<ElasticSpec>(&x)) elastic = *chosen;
  if (const auto* chosen = std::get_if<ServiceSpec>(&x)) service = *chosen;
  const auto load = [&]() -> caf::error {
    if (which >= std::variant_size_v<JobKind>) return caf::sec::invalid_argument;
    x = BatchSpec{};
    if (which == JobKind(ElasticSpec{}).index()) x = std::move(elastic);
    if (which == JobKind(ServiceSpec{}).index()) x = std::move(service);
    return caf::none;
  };
  return f(caf::meta::type_name("job_kind"), which, elastic, service,
           caf::meta::load_callback(load));
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, Job& x) {
  bool has_hint = x.runtime_hint.has_value();
  Duration hint = x.runtime_hint.value_or(Duration{});
  bool has_retries = x.retries.has_value();
  std::uint32_t retries = x.retries.value_or(0);
  bool has_max_fails = x.max_fails.has_value();
  std::uint32_t max_fails = x.max_fails.value_or(0);
  bool has_origin = x.origin.has_value();
  // Floating-point numbers as they are: CAF would write them as text.
  auto latitude = std::bit_cast<std::uint64_t>(x.origin.value_or(GeoPoint{}).latitude_deg);
  auto longitude = std::bit_cast<std::uint64_t>(x.origin.value_or(GeoPoint{}).longitude_deg);
  const auto load = [&]() -> caf::error {
    x.origin.reset();
    if (has_origin) {
      x.origin = GeoPoint{std::bit_cast<double>(latitude), std::bit_cast<double>(longitude)};
    }
    x.runtime_hint = has_hint ? std::optional<Duration>(hint) : std::nullopt;
    x.retries = has_retries ? std::optional<std::uint32_t>(retries) : std::nullopt;
    x.max_fails = has_max_fails ? std::optional<std::uint32_t>(max_fails) : std::nullopt;
    return caf::none;
  };
  return f(caf::meta::type_name("job"), x.id, x.name, x.user, x.workload_class, x.priority, x.gang,
           has_hint, hint, x.tasks, x.program, x.markets, x.max_running, has_retries, retries,
           x.token, x.kind, x.prediction, x.whole_tasks, has_origin, latitude, longitude, x.movable,
           x.checkpoints, has_max_fails, max_fails, caf::meta::load_callback(load));
}

}  // namespace muster
