#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "model/fields.hpp"

/// Arbitrary values for the properties of what is written down.
namespace muster::test::arbitrary {

inline std::string text() {
  return *rc::gen::container<std::string>(rc::gen::inRange<char>(0, 127));
}
/// Any finite double, of any size.
inline double number() {
  const auto bits = *rc::gen::arbitrary<std::uint64_t>();
  double value = 0;
  static_assert(sizeof bits == sizeof value);
  std::memcpy(&value, &bits, sizeof value);
  return std::isfinite(value) ? value : static_cast<double>(bits);
}
inline Duration duration() {
  return Duration{*rc::gen::arbitrary<std::int64_t>()};
}
inline bool coin() {
  return *rc::gen::arbitrary<bool>();
}

/// Draws every member that `fields` names, so that a new one is drawn too.
class Draw {
 public:
  template <class T>
  void operator()(Key, T& value) {
    draw(value);
  }
  template <class T>
  void operator()(Key, std::optional<T>& value) {
    if (coin()) draw(value.emplace());
  }
  /// Defaults come often: they take ways of their own.
  template <class T>
  void unless_default(Key, T& value, const std::type_identity_t<T>& standard) {
    value = standard;
    if (coin()) draw(value);
  }
  template <class T>
  void alternative(Key, auto& value) {
    if (*rc::gen::inRange(0, 3) == 0) draw(value.template emplace<T>());
  }
  void optional_id(Key, auto& id) {
    if (coin()) draw(id);
  }
  void figure(Key, double& value) { draw(value); }

 private:
  void draw(bool& value) { value = coin(); }
  void draw(double& value) { value = number(); }
  template <class Whole>
  requires std::is_integral_v<Whole>
  void draw(Whole& value) { value = *rc::gen::arbitrary<Whole>(); }
  void draw(std::string& value) { value = text(); }
  void draw(Duration& value) { value = duration(); }
  void draw(Instant& value) { value = Instant{duration()}; }
  void draw(Price& value) { value = Price::from_nano_usd_h(*rc::gen::arbitrary<std::int64_t>()); }
  template <class Tag>
  void draw(Id<Tag, std::uint64_t>& id) {
    id.value = *rc::gen::arbitrary<std::uint64_t>() >> 1;
  }
  /// One of the first two of a catalog.
  void draw(TypeId& id) { id.value = *rc::gen::inRange(0u, 2u); }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void draw(Enum& value) {
    value = static_cast<Enum>(*rc::gen::inRange(std::size_t{0}, kEnumerators<Enum>));
  }
  /// Such as catalogs and workloads may have.
  void draw(Resources& amounts) {
    for (Resource kind : kAllResources) {
      if (coin()) amounts[kind] = std::min(std::abs(number()), 1e9);
    }
  }
  void draw(Demands& demands) {
    std::vector<FamilyDemand> entries;
    draw(entries);
    demands = Demands{entries};
  }
  void draw(ElasticEpochs& epochs) {
    std::vector<ElasticEpoch> all;
    draw(all);
    epochs = ElasticEpochs{all};
  }
  template <class Second>
  void draw(std::pair<std::string, Second>& named) {
    draw(named.first);
    draw(named.second);
  }
  /// By rising numbers of tasks, each once.
  void draw(std::vector<ThroughputSample>& samples) {
    std::map<std::uint64_t, double> by_task;
    for (int i = *rc::gen::inRange(0, 4); i >= 0; --i) {
      by_task[*rc::gen::arbitrary<std::uint64_t>() >> 1] = number();
    }
    samples.clear();
    for (const auto& [task, normalized] : by_task) samples.push_back({TaskId{task}, normalized});
  }
  template <class T>
  void draw(std::vector<T>& values) {
    values.clear();
    for (int i = *rc::gen::inRange(0, 4); i > 0; --i) draw(values.emplace_back());
  }
  template <Described T>
  void draw(T& value) {
    fields(*this, value);
  }
};

/// An event of the kind, which counts into EventBody; its instance type is one of the first two.
inline EventBody body(std::size_t kind) {
  EventBody made = empty_body(kind);
  std::visit(
      [](auto& drawn) {
        Draw draw;
        fields(draw, drawn);
      },
      made);
  return made;
}

}  // namespace muster::test::arbitrary
