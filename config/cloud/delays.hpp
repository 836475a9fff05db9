#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "config/key_kinds.hpp"

namespace muster {

/// How the delays of instances vary around the catalog's.
struct DelaySettings {
  std::string distribution = "constant";
  double spread = 0.25;  ///< standard deviation, as a share of the mean
};

namespace config {

/// The keys of DelaySettings: C has a CloudConfig `cloud`.
template <class C>
std::vector<KeySpecOf<C>> delay_keys() {
  static const std::vector<std::string> kNames = {"constant", "uniform", "normal", "lognormal"};
  const auto get = [](const C& c) -> std::size_t {
    const std::string& name = c.cloud.own.template of<DelaySettings>().distribution;
    return std::find(kNames.begin(), kNames.end(), name) - kNames.begin();
  };
  const auto set = [](C& c, std::size_t i) {
    c.cloud.own.template of<DelaySettings>().distribution = kNames[i];
  };
  return {
      {"cloud.delays",
       "how the delays of one instance vary around the catalog's, which are their means: drawn by "
       "its number and the seed",
       ChoiceKeyOf<C>{kNames, get, set}},
      {"cloud.delay_spread", "standard deviation of delays that vary, as a share of the mean",
       NumberKeyOf<C>{
           [](C& c) -> double& { return c.cloud.own.template of<DelaySettings>().spread; },
           {0, 2}}}};
}

}  // namespace config
}  // namespace muster
