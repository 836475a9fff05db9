#pragma once

#include <string>
#include <vector>

#include "config/cloud_config.hpp"
#include "config/key_kinds.hpp"

namespace muster::config {

/// A cloud provider, as a config sees it: C has a CloudConfig `cloud`.
template <class C>
struct CloudModule {
  std::string name;
  std::vector<std::string> needs{};  ///< keys that have to be given when a config names it
  std::vector<KeySpecOf<C>> keys{};  ///< that only this provider reads
};

}  // namespace muster::config
