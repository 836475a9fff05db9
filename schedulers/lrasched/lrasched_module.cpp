#include "schedulers/describe.hpp"
#include "schedulers/lrasched/lrasched_policy.hpp"

// LRASched and the baselines of its paper. All of them place services, and leave other jobs to
// `muster`, with some of its parameters.

namespace muster {

using lrasched::Fit;
using lrasched::LraParams;
using lrasched::LraPolicy;
using lrasched::Phase2;
using lrasched::PlacementRules;
using lrasched::Scheme;
using lrasched::ServiceOrder;
using lrasched::SizeRules;

namespace {

void describe_order(Description<LraParams>& description) {
  description
      .param("order", in(&LraParams::rules, &PlacementRules::order),
             params::choice<ServiceOrder>({{"increasing", ServiceOrder::increasing},
                                           {"decreasing", ServiceOrder::decreasing}}),
             "services of one priority: the smallest first, or the largest first as in the paper")
      .param("patience", in(&LraParams::rules, &PlacementRules::patience),
             params::whole(0, 1'000'000'000),
             "periods after which a waiting service goes first in its priority");
}

void describe_limit(Description<LraParams>& description) {
  description.param("limit", &LraParams::limit, params::whole(0, kLargestService),
                    "replicas of a service on one instance at most; 0: any number");
}

void describe_goal_limit(Description<LraParams>& description) {
  description.param("goal_limit", &LraParams::goal_limit, params::whole(0, kLargestService),
                    "likewise of a service with a goal where limit is 0, if there may be instances "
                    "enough; 0: any number");
}

void describe_phase_2(Description<LraParams>& description) {
  description.param(
      "phase2", &LraParams::phase2,
      params::choice<Phase2>({{"rent", Phase2::rent}, {"paper", Phase2::paper}}),
      "for services that the instances do not hold: the offering with the least price for what it "
      "would hold, after all old room; or new instances alone, as in the paper");
}

void describe_limits(Description<LraParams>& description) {
  description.param("limits", &LraParams::learns_limits,
                    params::choice<bool>({{"learnt", true}, {"stated", false}}),
                    "replicas of a service with a goal on one instance: from goal_limit on as many "
                    "as are found to meet it, or goal_limit");
}

void describe_spread(Description<LraParams>& description) {
  description.param("spread", &LraParams::spread, params::number(params::from(0).up_to(1)),
                    "share of the price by which a replica may cost more for its service to be "
                    "spread over zones; 0: zones are not looked at");
}

/// Past services of the file that the parameter names.
std::string read_history(LraParams& params, const ReadPolicyFile& read) {
  SizeRules& sizes = params.sizes;
  if (sizes.history.empty()) return {};
  const auto text = read(sizes.history);
  if (!text) return "history: " + text.error().message;
  auto past = parse_past_services(text.value());
  if (!past) {
    return "history: " + sizes.history.string() + ": " + past.error().message +
           "; muster train services writes one";
  }
  sizes.past = std::make_shared<const std::vector<PastService>>(std::move(past).value());
  return {};
}

void describe_sizes(Description<LraParams>& description) {
  description
      .param("sizes", in(&LraParams::sizes, &SizeRules::learns),
             params::choice<bool>({{"learnt", true}, {"stated", false}}),
             "services with a range of sizes: the cheapest that is found to meet the goal, or the "
             "size that their users ask for")
      .param("learner", in(&LraParams::sizes, &SizeRules::learner),
             params::choice<LearnerKind>({{"history", LearnerKind::history},
                                          {"fm", LearnerKind::fm},
                                          {"mf", LearnerKind::mf}}),
             "predicts sizes: past services as hypotheses, a factorization machine, or matrix "
             "factorization")
      .param("probe_for_s", in(&LraParams::sizes, &SizeRules::probe_for),
             params::in_seconds(params::from(0).up_to(86400)),
             "seconds that a replica is ready before its number counts for its size")
      .param("changes_a_day", in(&LraParams::sizes, &SizeRules::changes_a_day),
             params::whole(0, 1000),
             "trials and corrections of a service's size a day; 5 more in its first day")
      .param("history", in(&LraParams::sizes, &SizeRules::history), params::path(),
             "file of past services, written by muster train services, that sizes are predicted "
             "from; nothing: drawn services")
      .reads_files(read_history);
}

/// Parameters for all but services, and the rounds.
void describe_batch(Description<LraParams>& description) {
  description
      .param("strict", in(&LraParams::batch, &own::MusterParams::strict), params::flag(),
             "for other jobs, as of muster: the cheapest plan in which no task waits")
      .param("free_wait_s", in(&LraParams::batch, &own::MusterParams::free_wait),
             params::in_seconds(params::from(0).up_to(604800)),
             "for other jobs, as of muster: seconds that a task may wait in all, whatever its age")
      .param("at_once", in(&LraParams::batch, &own::MusterParams::at_once), params::flag(),
             "an instance is given back as soon as it is empty, not at the next round")
      .period(in(&LraParams::batch, &own::MusterParams::period))
      .eager(in(&LraParams::batch, &own::MusterParams::eager));
}

/// The first fit of the paper: the largest first, and no two replicas of a service together.
LraParams first_fit_params() {
  LraParams params;
  params.scheme = Scheme::first_fit;
  params.rules = lrasched::kPaperRules;
  params.limit = 1;
  params.spread = 0;
  params.learns_limits = false;
  params.moves = false;
  params.clears = false;
  params.goal_limit = 0;
  params.sizes.learns = false;
  return params;
}

LraParams program_params() {
  LraParams params;
  params.spread = 0;
  params.learns_limits = false;
  params.clears = false;
  params.goal_limit = 0;
  params.sizes.learns = false;
  params.scheme = Scheme::program;
  return params;
}

std::unique_ptr<Policy> make_lrasched(const LraParams& params, const Catalog& catalog) {
  return std::make_unique<LraPolicy>(catalog, params, nullptr);
}

constexpr Uses kServicesUse{.throughput = true, .prices = true, .predictions = true};

}  // namespace

PolicyModule lrasched_module() {
  auto description = describe<LraParams>(
      "lrasched",
      "LRASched: services whole or not at all, by fit and size; other jobs as muster places them");
  description.param("fit", in(&LraParams::rules, &PlacementRules::fit),
                    params::choice<Fit>({{"balanced", Fit::balanced}, {"dot", Fit::dot}}),
                    "instance for a replica: the one whose room stays in balance, or by the dot "
                    "product of the paper");
  describe_order(description);
  describe_limit(description);
  describe_goal_limit(description);
  describe_limits(description);
  describe_phase_2(description);
  describe_spread(description);
  description.param("moves", &LraParams::moves, params::flag(),
                    "replicas that have not started make room for services that found no room");
  description.param("clears", &LraParams::clears, params::flag(),
                    "running replicas leave an instance that they use little of, new before old, "
                    "where others have room or a cheaper one does");
  describe_sizes(description);
  describe_batch(description);
  return description.uses(kServicesUse).made_by(make_lrasched);
}

PolicyModule ffd_module() {
  auto description = describe<LraParams>(
      "ffd",
      "first fit decreasing for services, LRASched's baseline; other jobs as muster places them",
      first_fit_params());
  description.param(
      "fit", &LraParams::scheme,
      params::choice<Scheme>({{"first", Scheme::first_fit}, {"dot", Scheme::phase_1}}),
      "instance for a replica: the first with room, or by the dot product of the paper");
  describe_phase_2(description);
  describe_batch(description);
  return description.uses(kServicesUse).made_by(make_lrasched);
}

PolicyModule lra_ilp_module() {
  auto description = describe<LraParams>(
      "lra-ilp",
      "LRASched's integer programs for services, by the solver CBC; other jobs as muster places "
      "them",
      program_params());
  description
      .param("nodes", &LraParams::nodes, params::whole(0, 1'000'000'000),
             "nodes of the solver's search in a replay, which makes its decision repeatable")
      .param("seconds", &LraParams::seconds, params::number(params::above(0).up_to(3600)),
             "seconds of each of the solver's searches in a round on a live cluster")
      .param("cells", &LraParams::cells, params::whole(1, 10'000'000),
             "services times instances for which the solver is asked; where there are more, "
             "lrasched places them");
  describe_limit(description);
  describe_batch(description);
  Uses uses = kServicesUse;
  uses.solver = true;
  return description.uses(uses).made_by_services(
      [](const LraParams& params, const Catalog& catalog, const PolicyServices& services) {
        return std::make_unique<LraPolicy>(catalog, params, services.solver);
      });
}

}  // namespace muster
