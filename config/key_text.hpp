#pragma once

#include <string>

#include "config/config_keys.hpp"
#include "config/key_kinds.hpp"

// Defined for ReplayConfig, ClusterConfig, NodeConfig and WorkerConfig.

namespace muster::config {

/// The text as TOML has it.
std::string quoted(const std::string& text);

/// Documentation of a key.
template <class C>
KeyInfo info_of(const KeySpecOf<C>& key);

/// The key's value as TOML reads it; empty when it has no value.
template <class C>
std::string value_text(C& config, const KeySpecOf<C>& key);

}  // namespace muster::config
