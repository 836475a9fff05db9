#pragma once

#include <functional>
#include <string>
#include <vector>

#include "config/key_kinds.hpp"
#include "config/replay_config.hpp"

// Parts that a replay config may name, and the keys that they bring along. The reader of a workload
// format or the model of interference describes itself; the config only knows that there are such
// parts.

namespace muster {

/// Fault of a key, in the light of others.
struct KeyFault {
  std::string key;
  std::string message;
};

/// A workload format or an interference model, as a config sees it.
struct ReplayPart {
  std::string name;
  std::vector<std::string> needs{};  ///< keys that have to be given when a config names the part
  std::vector<config::KeySpecOf<ReplayConfig>> keys{};  ///< that only this part reads
  /// Faults between keys, whichever part is named.
  std::function<std::vector<KeyFault>(const ReplayConfig&)> check{};
};

/// All that a config may name, in the order in which it is shown.
struct ReplayParts {
  std::vector<ReplayPart> formats{};  ///< of workloads
  std::vector<ReplayPart> interference{};
};

namespace config {

/// The struct that a pointer to member is of.
template <class Member>
struct OwnerOf;
/// The one case that there is.
template <class Struct, class T>
struct OwnerOf<T Struct::*> {
  using Type = Struct;
};

/// Where the key of a workload format is kept: format_key<&GoogleSettings::max_priority>.
template <auto kMember>
auto& format_key(ReplayConfig& config) {
  return config.workload.own.of<typename OwnerOf<decltype(kMember)>::Type>().*kMember;
}
/// Likewise, of an interference model.
template <auto kMember>
auto& interference_key(ReplayConfig& config) {
  return config.world.interference.own.of<typename OwnerOf<decltype(kMember)>::Type>().*kMember;
}

/// Every key of a replay config with those parts.
std::vector<KeySpecOf<ReplayConfig>> replay_keys(const ReplayParts& parts);

}  // namespace config
}  // namespace muster
