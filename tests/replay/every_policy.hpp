#pragma once

#include <cctype>
#include <string>
#include <vector>

#include "schedulers/registry.hpp"

// Names for tests that are instantiated for every policy.

namespace muster::replay::test {

/// All policies that masters may have, some of them with parameters that make others of them.
inline std::vector<std::string> every_policy() {
  std::vector<std::string> names;
  for (const PolicyModule& module : known_policies()) names.push_back(module.name);
  for (const char* more : {"eva,artifact", "stratus,artifact", "muster,spot=any",
                           "no-packing,spot=any", "supercloud,dot=false"}) {
    const auto spec = parse_policy(more);
    if (spec && find_module(spec->name).value()->read(spec.value())) names.emplace_back(more);
  }
  return names;
}

/// The policy as a part of a test's name.
inline std::string test_name(std::string policy) {
  for (char& c : policy) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return policy;
}

}  // namespace muster::replay::test
