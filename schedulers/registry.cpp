#include "schedulers/registry.hpp"

#include <optional>

#include "schedulers/baselines/no_packing.hpp"
#include "schedulers/eva/eva_policy.hpp"
#include "schedulers/hcoop/hcoop_policy.hpp"
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

constexpr double kLongest_s = 604800;
constexpr double kHcoopPeriod_s = 30;

/// What both forms of HCoop can be told, and what only the packing one can.
std::vector<ParamInfo> list_hcoop_params(bool packing) {
  const std::string flag = "true or false", time = "a number >= 0 and <= 604800";
  std::vector<ParamInfo> params = {
      {"backfill", "true", flag, "what fits goes before what does not"},
      {"spill", "true", flag, "spot tasks use regular instances when no spot instance has room"},
      {"max_interruptions", "2", "a whole number from 0 to 1000",
       "spot interruptions after which a task gets regular instances only"},
      {"threshold_s", "90", time, "longest run time of a short job, where its site has not said"},
      {"idle_release_s", "60", time, "how long an instance has no task before it is given back"},
      {"period_s", "30", kPeriod.range, kPeriod.meaning}};
  if (!packing) return params;
  params.insert(params.begin(),
                {{"group", "2", "1, 2 or 3", "tasks packed together at most"},
                 {"pairing", "greedy", "greedy or exact",
                  "take the best companion in queue order, or match for the largest sum"},
                 {"exact_tasks", "200", "a whole number from 2 to 2000",
                  "tasks that are matched exactly at once; the others greedily"}});
  return params;
}

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
        {"paper", "false", flag,
         "rent the types that the paper's Algorithm 1 finds, also where a cheaper one would do"},
        {"full-only", "false", flag, "always adopt the Full Reconfiguration"},
        {"partial-only", "false", flag, "always adopt the Partial Reconfiguration"},
        {"rp", "false", flag, "take it that tasks never slow each other"},
        {"single", "false", flag, "treat the tasks of multi-task jobs as independent"},
        {"t", "0.95", "a number > 0 and <= 1",
         "expected throughput of a task beside a neighbour never observed"},
        kPeriod,
        kEager}},
      {"hcoop",
       "HCoop: packs tasks that complement each other, best fit; short safe jobs on spot instances",
       list_hcoop_params(true)},
      {"hcoop-no-packing", "HCoop without its packing: every task is placed by itself",
       list_hcoop_params(false)},
  };
}

/// Everything any policy can be told.
struct Values {
  bool artifact = false, paper = false, full_only = false, partial_only = false, rp = false,
       single = false;
  bool eager = false;
  bool backfill = true, spill = true;
  double t = 0.95;
  double period_s = 300;
  std::uint32_t group = 2, exact_tasks = 200, max_interruptions = 2;
  double threshold_s = 90, idle_release_s = 60;
  std::string pairing = "greedy";

  ParamTarget target(const std::string& name) {
    if (name == "artifact") return {&artifact};
    if (name == "paper") return {&paper};
    if (name == "full-only") return {&full_only};
    if (name == "partial-only") return {&partial_only};
    if (name == "rp") return {&rp};
    if (name == "single") return {&single};
    if (name == "eager") return {&eager};
    if (name == "backfill") return {&backfill};
    if (name == "spill") return {&spill};
    if (name == "t") return ParamTarget::positive(&t, 1);
    if (name == "group") return ParamTarget::whole(&group, 1, hcoop::kMaxGroup);
    if (name == "exact_tasks") return ParamTarget::whole(&exact_tasks, 2, 2000);
    if (name == "max_interruptions") return ParamTarget::whole(&max_interruptions, 0, 1000);
    if (name == "threshold_s") return ParamTarget::between(&threshold_s, 0, kLongest_s);
    if (name == "idle_release_s") return ParamTarget::between(&idle_release_s, 0, kLongest_s);
    if (name == "pairing") return ParamTarget::one_of(&pairing, {"greedy", "exact"});
    return ParamTarget::positive(&period_s, kLongest_s);
  }
};

Made make_eva(const Values& values, const Catalog& catalog) {
  if (values.full_only && values.partial_only) {
    return Failure<PolicyError>{PolicyError::contradiction,
                                "policy \"eva\": full-only and partial-only exclude each other"};
  }
  eva::EvaParams params;
  params.artifact = values.artifact;
  params.cheapest_types = !values.paper;
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

Made make_hcoop(const Values& values, const Catalog& catalog, bool packing) {
  const bool exact = values.pairing == "exact";
  if (exact && values.group != 2) {
    return Failure<PolicyError>{PolicyError::contradiction,
                                "policy \"hcoop\": pairing=exact makes pairs: group has to be 2"};
  }
  hcoop::HcoopParams params;
  params.group = packing ? values.group : 1;
  params.pairing = exact ? hcoop::Pairing::exact : hcoop::Pairing::greedy;
  params.exact_tasks = values.exact_tasks;
  params.backfill = values.backfill;
  params.spill = values.spill;
  params.max_interruptions = values.max_interruptions;
  params.threshold = from_seconds(values.threshold_s);
  params.idle_release = from_seconds(values.idle_release_s);
  params.period = from_seconds(values.period_s);
  return Made{std::make_unique<hcoop::HcoopPolicy>(catalog, params)};
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
  const bool is_hcoop = info->name.starts_with("hcoop");
  Values values;
  if (is_hcoop) values.period_s = kHcoopPeriod_s;
  const auto target = [&values](const std::string& name) { return values.target(name); };
  if (auto wrong = read_params(spec, *info, target)) return *wrong;
  if (info->name == "eva") return make_eva(values, catalog);
  if (is_hcoop) return make_hcoop(values, catalog, info->name == "hcoop");
  return Made{std::make_unique<MarketSplit>(catalog, [&values](const Catalog& market) {
    return std::make_unique<NoPacking>(market, from_seconds(values.period_s), values.eager);
  })};
}

}  // namespace muster
