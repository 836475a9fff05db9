#include "schedulers/registry.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "model/closest_word.hpp"
#include "schedulers/modules.hpp"

namespace muster {
namespace {

/// Modules of masters, or else the groups with actors of their own.
std::vector<PolicyModule> list_modules(bool of_masters) {
  std::vector<PolicyModule> modules;
  const auto add = [&](PolicyModule module) {
    if (module.composition.empty() == of_masters) modules.push_back(std::move(module));
  };
// The list is a file of one macro a policy: a new policy adds a line there and nothing here.
#define MUSTER_POLICY(NAME) add(NAME##_module());
#include "schedulers/policies.def"
#undef MUSTER_POLICY
  return modules;
}

std::string names_of(const std::vector<PolicyModule>& modules) {
  std::string text;
  for (const PolicyModule& module : modules) text += (text.empty() ? "" : ", ") + module.name;
  return text;
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const auto* modules : {&known_policies(), &known_groups()}) {
    for (const PolicyModule& module : *modules) names.push_back(module.name);
  }
  return names;
}

}  // namespace

const std::vector<PolicyModule>& known_policies() {
  static const std::vector<PolicyModule> kPolicies = list_modules(true);
  return kPolicies;
}

const std::vector<PolicyModule>& known_groups() {
  static const std::vector<PolicyModule> kGroups = list_modules(false);
  return kGroups;
}

Expected<const PolicyModule*, PolicyError> find_module(const std::string& name) {
  for (const auto* modules : {&known_policies(), &known_groups()}) {
    for (const PolicyModule& module : *modules) {
      if (module.name == name) return &module;
    }
  }
  return Failure<PolicyError>{
      PolicyError::unknown_policy,
      "no policy is called \"" + name + "\"; " + meant_word(name, all_names()) +
          "there are: " + names_of(known_policies()) + ", " + names_of(known_groups())};
}

Expected<Intake, PolicyError> intake_of(std::string_view policy) {
  const auto spec = parse_policy(policy);
  if (!spec) return spec.error();
  const auto module = find_module(spec->name);
  if (!module) return module.error();
  return module.value()->intake;
}

std::string with_absolute_paths(const std::string& policy) {
  const auto spec = parse_policy(policy);
  const auto module =
      spec ? find_module(spec->name) : Expected<const PolicyModule*, PolicyError>(spec.error());
  if (!module || module.value()->paths.empty()) return policy;
  std::string text = spec->name;
  for (const auto& [name, value] : spec->params) {
    const bool is_path =
        std::ranges::find(module.value()->paths, name) != module.value()->paths.end();
    std::error_code gone;
    const std::string absolute =
        is_path && !value.empty() ? std::filesystem::absolute(value, gone).string() : value;
    const bool fits = !gone && absolute.find(',') == std::string::npos;
    text += "," + name;
    // As it was written: a flag may stand alone.
    if (value != "true") text += "=" + (fits ? absolute : value);
  }
  return text;
}

Expected<std::unique_ptr<Policy>, PolicyError> make_policy(const PolicySpec& spec,
                                                           const Catalog& catalog,
                                                           std::uint32_t masters,
                                                           const PolicyServices& services) {
  const auto module = find_module(spec.name);
  if (!module) return module.error();
  if (!module.value()->composition.empty()) {
    return Failure<PolicyError>{PolicyError::replay_only,
                                "\"" + spec.name +
                                    "\" is a group of actors of its own, for replay only; masters "
                                    "can follow: " +
                                    names_of(known_policies())};
  }
  // As it was stated: a share of what is wrong would be another number in the error.
  if (const auto params = module.value()->read(spec); !params) return params.error();
  return module.value()->make_policy(share_of(*module.value(), spec, masters), catalog, services);
}

}  // namespace muster
