#pragma once

#include <toml++/toml.h>

#include <string>
#include <string_view>

#include "config/key_kinds.hpp"

// Defined for ReplayConfig, ClusterConfig, NodeConfig and WorkerConfig.

namespace muster::config {

/// How many bytes one of what the key counts has, by its name: 1 of "..._bytes", 2^20 of "..._mib",
/// 2^30 of "..._gib". Such a key takes a text with a unit, too. 0: it counts no bytes.
double bytes_of_key(std::string_view name);

/// Puts the value into the config when it is of the key's type and in its range; false otherwise.
/// Paths are taken as they are.
template <class C>
bool set_value(C& config, const KeySpecOf<C>& key, const toml::node& value);

/// The value as TOML writes it, for error messages.
std::string written(const toml::node& value);

/// Understands the right-hand side of an override the way that suits the key: the quotes around a
/// text may be left out, and so may the brackets around a list of one.
template <class C>
bool set_from_text(C& config, const KeySpecOf<C>& key, const std::string& text);

}  // namespace muster::config
