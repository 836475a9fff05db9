#include "schedulers/describe.hpp"
#include "schedulers/hcoop/hcoop_policy.hpp"

namespace muster {
namespace {

using hcoop::HcoopParams;
using hcoop::Pairing;

constexpr double kLongest_s = 604800;
constexpr std::uint32_t kMostInterruptions = 1000;
constexpr std::uint32_t kMostExactTasks = 2000;

/// The paper gives no number of masters a job; two are the least that spread it.
constexpr Intake kIntake{.classify_by = ClassifierKind::svm, .masters_per_job = 2};

/// Ends the descriptions of both forms: the parameters that do not concern packing.
PolicyModule finish(Description<HcoopParams>& description) {
  const auto time = params::in_seconds(params::from(0).up_to(kLongest_s));
  return description
      .param("backfill", &HcoopParams::backfill, params::flag(),
             "waiting tasks that fit start before earlier ones that do not")
      .param("on_demand_fallback", &HcoopParams::on_demand_fallback, params::flag(),
             "spot tasks use regular instances when no spot instance has room")
      .renamed("spill", "on_demand_fallback")
      .param("max_interruptions", &HcoopParams::max_interruptions,
             params::whole(0, kMostInterruptions),
             "spot interruptions after which a task gets regular instances only")
      .param("threshold_s", &HcoopParams::threshold, time,
             "longest run time of a short job, where its site has not said")
      .param("idle_release_s", &HcoopParams::idle_release, time,
             "how long an instance has no task before it is given back")
      .period(&HcoopParams::period)
      .takes_in(kIntake)
      .uses({.prices = true, .predictions = true})
      .made_by([](const HcoopParams& params, const Catalog& catalog) {
        return std::make_unique<hcoop::HcoopPolicy>(catalog, params);
      });
}

}  // namespace

PolicyModule hcoop_module() {
  return finish(
      describe<HcoopParams>("hcoop",
                            "HCoop: packs tasks that complement each other, best fit; short safe "
                            "jobs on spot instances")
          .param("group", &HcoopParams::group, params::whole(1, hcoop::kMaxGroup),
                 "tasks packed together at most")
          .param("pairing", &HcoopParams::pairing,
                 params::choice<Pairing>({{"greedy", Pairing::greedy}, {"exact", Pairing::exact}}),
                 "take the best companion in queue order, or match for the largest sum")
          .param("exact_tasks", &HcoopParams::exact_tasks, params::whole(2, kMostExactTasks),
                 "tasks that are matched exactly at once; the others greedily")
          .check([](const HcoopParams& params) -> std::string {
            if (params.pairing != Pairing::exact || params.group == 2) return {};
            return "pairing=exact makes pairs: group has to be 2";
          }));
}

PolicyModule hcoop_no_packing_module() {
  HcoopParams alone;
  alone.group = 1;
  Description<HcoopParams> description = describe(
      "hcoop-no-packing", "HCoop without its packing: every task is placed by itself", alone);
  return finish(description);
}

}  // namespace muster
