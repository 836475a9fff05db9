#pragma once

#include <cstdint>
#include <vector>

#include "config/key_kinds.hpp"
#include "model/enum_words.hpp"

namespace muster {

/// How delays vary around their mean.
enum class DelayKind : std::uint8_t { constant, uniform, normal, lognormal };
constexpr auto words_of(DelayKind) {
  return words_as_spelt<DelayKind>();
}

/// How the delays of instances vary around the catalog's.
struct DelaySettings {
  DelayKind kind = DelayKind::constant;
  double spread = 0.25;  ///< standard deviation, as a share of the mean
};

namespace config {

/// The keys of DelaySettings: C has a CloudConfig `cloud`.
template <class C>
std::vector<KeySpecOf<C>> delay_keys() {
  return {
      {"cloud.delays",
       "how the delays of one instance vary around the catalog's, which are their means: drawn by "
       "its number and the seed",
       enum_key<C>(
           [](C& c) -> DelayKind& { return c.cloud.own.template of<DelaySettings>().kind; })},
      {"cloud.delay_spread", "standard deviation of delays that vary, as a share of the mean",
       NumberKeyOf<C>{
           [](C& c) -> double& { return c.cloud.own.template of<DelaySettings>().spread; },
           {0, 2}}}};
}

}  // namespace config
}  // namespace muster
