#pragma once

#include <bit>
#include <caf/all.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "actors/task_ends.hpp"
#include "actors/task_runs.hpp"
#include "model/fields.hpp"
#include "model/usage_fields.hpp"

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

/// Passes every member that `fields` names to an inspector, one after another.
template <class Inspector>
class FieldPasser {
 public:
  explicit FieldPasser(Inspector& inspector) : inspector_(inspector) {}

  template <class T>
  void operator()(Key, T& value) {
    pass(value);
  }
  template <class T>
  void operator()(Key, std::optional<T>& value) {
    bool there = value.has_value();
    pass(there);
    // Loading: the value has to be there to be filled.
    if (there && !value) value.emplace();
    if (!there) return value.reset();
    pass(*value);
  }
  // Leaving out what is default is for the event log; messages carry every value.
  template <class T>
  void unless_default(Key, T& value, const std::type_identity_t<T>&) {
    pass(value);
  }
  template <class T>
  void alternative(Key, auto& value) {
    bool chosen = std::holds_alternative<T>(value);
    pass(chosen);
    if (!chosen) return;
    if (!std::holds_alternative<T>(value)) value.template emplace<T>();
    pass(std::get<T>(value));
  }
  void optional_id(Key, auto& id) { pass(id); }
  void figure(Key, double& value) { pass(value); }

  caf::error result() { return std::move(error_); }

 private:
  void pass(double& value) {
    auto bits = std::bit_cast<std::uint64_t>(value);
    pass(bits);
    value = std::bit_cast<double>(bits);
  }
  void pass(std::vector<double>& values) {
    std::vector<std::uint64_t> bits;
    bits.reserve(values.size());
    for (const double each : values) bits.push_back(std::bit_cast<std::uint64_t>(each));
    pass(bits);
    values.clear();
    for (const std::uint64_t each : bits) values.push_back(std::bit_cast<double>(each));
  }
  void pass(std::vector<TaskSpec>& tasks) {
    std::vector<TaskRun> runs;
    if constexpr (!Inspector::writes_state) runs = runs_of(tasks);
    pass(runs);
    if constexpr (Inspector::writes_state) {
      if (!error_ && !put_tasks(tasks, runs)) error_ = caf::sec::invalid_argument;
    }
  }
  void pass(std::vector<TaskEnd>& ends) {
    // A few bytes where they are alike, and five bytes a task at most.
    auto count = static_cast<std::uint32_t>(ends.size());
    std::vector<std::uint32_t> positions = steps_of(ends, &TaskEnd::position);
    std::vector<std::uint32_t> indices = steps_of(ends, &TaskEnd::index);
    std::string kinds = kinds_of(ends);
    pass(count);
    pass(positions);
    pass(indices);
    pass(kinds);
    if constexpr (Inspector::writes_state) {
      if (!error_ && !put_ends(ends, count, {positions, indices, kinds})) {
        error_ = caf::sec::invalid_argument;
      }
    }
  }
  void pass(Instant& value) {
    Duration since = value.time_since_epoch();
    pass(since);
    value = Instant{since};
  }
  void pass(Price& value) {
    std::int64_t nanos = value.nano_usd_h();
    pass(nanos);
    value = Price::from_nano_usd_h(nanos);
  }
  template <class T>
  void pass(T& value) {
    // The first error stands; later members would be read at the wrong place.
    if (error_) return;
    // An inspector that only shows values returns nothing.
    if constexpr (std::is_same_v<typename Inspector::result_type, caf::error>) {
      error_ = inspector_(value);
    } else {
      inspector_(value);
    }
  }

  Inspector& inspector_;
  caf::error error_;
};

template <class Inspector, Described T>
typename Inspector::result_type inspect(Inspector& f, T& x) {
  FieldPasser<Inspector> passer(f);
  fields(passer, x);
  if constexpr (std::is_same_v<typename Inspector::result_type, caf::error>) return passer.result();
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, TaskRun& x) {
  return f(caf::meta::type_name("task_run"), x.first, x.count, x.steps, x.id_step);
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
typename Inspector::result_type inspect(Inspector& f, ElasticEpochs& x) {
  std::vector<ElasticEpoch> all(x.all().begin(), x.all().end());
  const auto load = [&x, &all]() -> caf::error {
    x = ElasticEpochs(std::move(all));
    return caf::none;
  };
  return f(caf::meta::type_name("epochs"), all, caf::meta::load_callback(load));
}

}  // namespace muster
