#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "config/cluster_config.hpp"
#include "config/config_keys.hpp"
#include "replay/replay_parts.hpp"
#include "schedulers/registry.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/json_option.hpp"
#include "tools/cli/output.hpp"

// The commands that list policies and config keys, from the registries that the readers use: the
// listed ones are the valid ones.

namespace muster::cli {
namespace {

struct Flags {
  std::string json;
  bool cluster = false;  ///< lists the keys of a cluster file
};

int list(const Flags& flags, const nlohmann::ordered_json& document, const std::string& text) {
  if (flags.json != "-") std::cout << text;
  if (flags.json.empty()) return kDone;
  const auto write = [&](std::ostream& out) { out << document.dump(2) << "\n"; };
  return write_output(flags.json, write) ? kDone : kFailed;
}

/// Inputs of a policy besides demands and room.
std::vector<std::string> uses_of(const PolicyModule& policy) {
  std::vector<std::string> uses;
  if (policy.uses.throughput) uses.emplace_back("throughput");
  if (policy.uses.prices) uses.emplace_back("prices");
  if (policy.uses.predictions) uses.emplace_back("predictions");
  return uses;
}

nlohmann::ordered_json intake_of(const PolicyModule& policy) {
  nlohmann::ordered_json intake = {{"classify_by", nullptr},
                                   {"masters_per_job", policy.intake.masters_per_job}};
  if (policy.intake.classify_by) intake["classify_by"] = name_of(*policy.intake.classify_by);
  return intake;
}

/// A line about how sites take jobs in, where that is not as under most policies.
std::string intake_line(const PolicyModule& policy) {
  std::vector<std::string> settings;
  if (policy.intake.classify_by) {
    settings.push_back(fmt::format("classify.by = {}", name_of(*policy.intake.classify_by)));
  }
  if (policy.intake.masters_per_job != Intake{}.masters_per_job) {
    settings.push_back(fmt::format("site.masters_per_job = {}", policy.intake.masters_per_job));
  }
  if (settings.empty()) return {};
  return fmt::format("    takes jobs in with {}, unless the config says otherwise\n",
                     fmt::join(settings, " and "));
}

/// Adds the policies for people to `text`, and gives them as a document.
nlohmann::ordered_json describe(const std::vector<PolicyModule>& modules, std::string& text) {
  auto policies = nlohmann::ordered_json::array();
  for (const PolicyModule& policy : modules) {
    text += policy.name + "\n    " + policy.meaning + "\n" + intake_line(policy);
    auto params = nlohmann::ordered_json::array();
    for (const ParamInfo& param : policy.params) {
      text += "    " + param.name + " = " + param.default_value + "  (" + param.range +
              ")\n        " + param.meaning + "\n";
      params.push_back({{"name", param.name},
                        {"default", param.default_value},
                        {"range", param.range},
                        {"meaning", param.meaning}});
    }
    policies.push_back({{"name", policy.name},
                        {"meaning", policy.meaning},
                        {"params", params},
                        {"intake", intake_of(policy)},
                        {"uses", uses_of(policy)}});
  }
  return policies;
}

int list_policies(const Flags& flags) {
  std::string text;
  const auto policies = describe(known_policies(), text);
  const auto groups = describe(known_groups(), text);
  return list(flags, {{"policies", policies}, {"groups", groups}}, text);
}

int list_keys(const Flags& flags) {
  const std::vector<KeyInfo> known =
      flags.cluster ? cluster_config_keys() : known_config_keys(replay::replay_parts());
  auto keys = nlohmann::ordered_json::array();
  for (const KeyInfo& key : known) {
    keys.push_back({{"key", key.key},
                    {"type", key.type},
                    {"default", key.default_value},
                    {"range", key.range},
                    {"meaning", key.meaning}});
  }
  return list(flags, {{"keys", keys}}, describe_keys(known));
}

}  // namespace

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (const PolicyModule& module : known_policies()) names.push_back(module.name);
  return names;
}

void add_policies(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand("policies", "List the policies and their parameters");
  add_json_option(*command, flags->json, "the list");
  command->callback([flags, &exit_code] { exit_code = list_policies(*flags); });
}

void add_config_keys(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand("config-keys", "List the keys of a replay config");
  command->add_flag("--cluster", flags->cluster, "list the keys of a cluster file instead");
  add_json_option(*command, flags->json, "the list");
  command->callback([flags, &exit_code] { exit_code = list_keys(*flags); });
}

}  // namespace muster::cli
