#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "schedulers/policy_module.hpp"

namespace muster {

/// The policies that masters can follow, in the order in which they are shown.
const std::vector<PolicyModule>& known_policies();

/// The groups with actors of their own, likewise; only replay composes them.
const std::vector<PolicyModule>& known_groups();

/// The policy or group of that name; the error lists all.
Expected<const PolicyModule*, PolicyError> find_module(const std::string& name);

/// The intake of what "NAME[,key=value]..." names.
Expected<Intake, PolicyError> intake_of(std::string_view policy);

/// The policy with the paths of its parameters, which are meant from the present folder, as
/// absolute ones: for a process that works in another folder. A path with a comma, which would end
/// the parameter, stays as it is.
std::string with_absolute_paths(const std::string& policy);

/// Makes the policy of one of `masters` masters. The catalog has to outlive it. Errors list what is
/// known or allowed, or how to get what the policy needs of `services`.
Expected<std::unique_ptr<Policy>, PolicyError> make_policy(const PolicySpec& spec,
                                                           const Catalog& catalog,
                                                           std::uint32_t masters = 1,
                                                           const PolicyServices& services = {});

}  // namespace muster
