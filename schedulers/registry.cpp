#include "schedulers/registry.hpp"

#include <optional>

#include "schedulers/baselines/no_packing.hpp"
#include "schedulers/eva/eva_policy.hpp"
#include "schedulers/market_split.hpp"
#include "schedulers/params.hpp"
#include "schedulers/sampling/known_groups.hpp"

namespace muster {
namespace {

using Made = Expected<std::unique_ptr<Policy>, PolicyError>;

const ParamInfo kEager{"eager", "false", "true or false",
                       "hold a round at once when a job comes or resources come free, too"};
const ParamInfo kPeriod{"period_s", "300", "a number > 0 and <= 604800",
                        "seconds between two rounds"};

std::vector<PolicyInfo> list_policies() {
  const std::string flag = "true or false";
  return {
      {"no-packing",
       "every task gets an instance of its own, of the cheapest type that holds it",
       {kPeriod, kEager}},
      {"eva",
       "Eva (EuroSys'25): packs by reservation price, chooses between Full and Partial "
       "Reconfiguration",
       {{"artifact", "false", flag, "decide as the paper's published simulator does"},
        {"full-only", "false", flag, "always adopt the Full Reconfiguration"},
        {"partial-only", "false", flag, "always adopt the Partial Reconfiguration"},
        {"rp", "false", flag, "take it that tasks never slow each other"},
        {"single", "false", flag, "treat the tasks of multi-task jobs as independent"},
        {"t", "0.95", "a number > 0 and <= 1",
         "expected throughput of a task beside a neighbour never observed"},
        kPeriod,
        kEager}},
  };
}

/// Everything any policy can be told.
struct Values {
  bool artifact = false, full_only = false, partial_only = false, rp = false, single = false;
  bool eager = false;
  double t = 0.95;
  double period_s = 300;

  ParamTarget target(const std::string& name) {
    if (name == "artifact") return {&artifact};
    if (name == "full-only") return {&full_only};
    if (name == "partial-only") return {&partial_only};
    if (name == "rp") return {&rp};
    if (name == "single") return {&single};
    if (name == "eager") return {&eager};
    if (name == "t") return ParamTarget::positive(&t, 1);
    return ParamTarget::positive(&period_s, 604800);
  }
};

Made make_eva(const Values& values, const Catalog& catalog) {
  if (values.full_only && values.partial_only) {
    return Failure<PolicyError>{PolicyError::contradiction,
                                "policy \"eva\": full-only and partial-only exclude each other"};
  }
  eva::EvaParams params;
  params.artifact = values.artifact;
  if (values.full_only) params.choice = eva::Choice::full_only;
  if (values.partial_only) params.choice = eva::Choice::partial_only;
  params.interference = !values.rp;
  params.gangs = !values.single;
  params.default_pair = values.t;
  params.period = from_seconds(values.period_s);
  params.eager = values.eager;
  return Made{std::make_unique<MarketSplit>(catalog, [params](const Catalog& market) {
    return std::make_unique<eva::EvaPolicy>(market, params);
  })};
}

}  // namespace

Expected<PolicySpec, PolicyError> parse_policy(std::string_view text) {
  PolicySpec spec;
  for (bool first = true; first || !text.empty(); first = false) {
    const std::size_t comma = text.find(',');
    const std::string part(text.substr(0, comma));
    const bool more = comma != std::string_view::npos;
    text = more ? text.substr(comma + 1) : std::string_view{};
    const std::size_t equals = part.find('=');
    const std::string name = part.substr(0, equals);
    if (name.empty() || (first && equals != std::string::npos) || (more && text.empty())) {
      return Failure<PolicyError>{
          PolicyError::malformed,
          "a policy is written NAME[,key=value|,flag]..., without empty parts"};
    }
    if (first) {
      spec.name = name;
    } else {
      spec.params.emplace_back(
          name, equals == std::string::npos ? std::string("true") : part.substr(equals + 1));
    }
  }
  return spec;
}

const std::vector<PolicyInfo>& known_policies() {
  static const std::vector<PolicyInfo> kPolicies = list_policies();
  return kPolicies;
}

Failure<PolicyError> unknown_name(const std::string& name) {
  return {PolicyError::unknown_policy, "no policy is called \"" + name +
                                           "\"; there are: " + names_of(known_policies()) + ", " +
                                           names_of(sampling::known_groups())};
}

Made make_policy(const PolicySpec& spec, const Catalog& catalog) {
  const PolicyInfo* info = find_info(known_policies(), spec.name);
  if (info == nullptr && find_info(sampling::known_groups(), spec.name) != nullptr) {
    return Failure<PolicyError>{PolicyError::replay_only,
                                "\"" + spec.name +
                                    "\" is a group of actors of its own, for replay only; masters "
                                    "can follow: " +
                                    names_of(known_policies())};
  }
  if (info == nullptr) return unknown_name(spec.name);
  Values values;
  const auto target = [&values](const std::string& name) { return values.target(name); };
  if (auto wrong = read_params(spec, *info, target)) return *wrong;
  if (info->name == "eva") return make_eva(values, catalog);
  return Made{std::make_unique<MarketSplit>(catalog, [&values](const Catalog& market) {
    return std::make_unique<NoPacking>(market, from_seconds(values.period_s), values.eager);
  })};
}

}  // namespace muster
