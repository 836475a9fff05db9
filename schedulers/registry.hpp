#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/catalog.hpp"
#include "model/expected.hpp"
#include "schedulers/policy.hpp"

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
  replay_only     ///< not a policy of a master: a group of actors that only replay composes
};

/// Reads "NAME[,key=value|,flag]..."; a flag stands for flag=true.
Expected<PolicySpec, PolicyError> parse_policy(std::string_view text);

/// A parameter as it is shown to people; all texts.
struct ParamInfo {
  std::string name;
  std::string default_value;
  std::string range;
  std::string meaning;
};
/// A policy as it is shown to people.
struct PolicyInfo {
  std::string name;
  std::string meaning;
  std::vector<ParamInfo> params;
};

/// All policies, in the order in which they are shown.
const std::vector<PolicyInfo>& known_policies();

/// The error of a name that is neither a policy's nor a group's.
Failure<PolicyError> unknown_name(const std::string& name);

/// Makes the policy. The catalog has to outlive it. Errors list what is known or allowed.
Expected<std::unique_ptr<Policy>, PolicyError> make_policy(const PolicySpec& spec,
                                                           const Catalog& catalog);

}  // namespace muster
