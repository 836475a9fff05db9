#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/expected.hpp"

namespace muster {

/// A policy by name, with the parameters that differ from the defaults.
struct PolicySpec {
  std::string name;
  std::vector<std::pair<std::string, std::string>> params;
};

enum class PolicyError : std::uint8_t {
  malformed,  ///< not of the form NAME[,key=value|,flag]...
  unknown_policy,
  unknown_parameter,
  bad_value,      ///< out of range or of the wrong kind
  contradiction,  ///< parameters that exclude each other, or one given twice
  replay_only,    ///< not a policy of a master: a group of actors that only replay composes
  no_solver,      ///< it needs a program that is not installed
  bad_file        ///< a file that a parameter names cannot be read or understood
};

/// Reads "NAME[,key=value|,flag]..."; a flag stands for flag=true.
Expected<PolicySpec, PolicyError> parse_policy(std::string_view text);

}  // namespace muster
