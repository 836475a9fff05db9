#include "config/goal_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "model/task_metrics.hpp"

namespace muster::config {
namespace {

constexpr NumberRange kBound{.low = 0, .high = kMostMetric, .above_low = true};
constexpr NumberRange kScale{.low = 1, .high = kLargestService, .whole = true};
/// In seconds.
constexpr NumberRange kProbeEvery{.low = 1, .high = 3600};
constexpr NumberRange kProbeTimeout{.low = 0.01, .high = 300};

}  // namespace

void read_goal(const RequestValue& value, RequestService& service) {
  ServiceGoal& goal = service.spec.goal;
  TableReader in(value, "goal.", service);
  if (!in.is_table()) return;
  in.text("metric", goal.metric);
  std::optional<double> at_most, at_least;
  in.number("at_most", kBound, at_most);
  in.number("at_least", kBound, at_least);
  in.texts("probe", goal.probe);
  in.time("every_s", kProbeEvery, goal.every);
  in.time("timeout_s", kProbeTimeout, goal.timeout);
  if (in.find("timeout_s") == nullptr) goal.timeout = std::min(goal.timeout, goal.every);
  in.truth("reported", service.goal_is_reported);
  in.rest();
  if (!is_metric_name(goal.metric)) {
    in.fault("metric", fmt::format("goal.metric has to be the name of a metric, of small letters, "
                                   "digits and '_', a letter first; it is \"{}\"",
                                   shown(goal.metric)));
    // Others ask by it whether there is a goal, and need not say more of it.
    if (goal.metric.empty()) goal.metric = "metric";
    service.goal_is_reported = goal.probe.empty();
  }
  if (at_most.has_value() == at_least.has_value()) {
    in.fault("", "goal has to have one bound: at_most = NUMBER, or at_least = NUMBER");
  }
  goal.at_least = at_least.has_value();
  goal.bound = at_most.value_or(at_least.value_or(1));
}

void read_scale(const RequestValue& value, RequestService& service) {
  TableReader in(value, "scale.", service);
  if (!in.is_table()) return;
  std::optional<std::uint32_t> least, most;
  in.number("min", kScale, least);
  in.number("max", kScale, most);
  in.rest();
  if (!least || !most) {
    return in.fault("", "scale has to have min and max, numbers of replicas");
  }
  if (*least > *most) {
    return in.fault("min", fmt::format("scale: min is {}, more than max, {}", *least, *most));
  }
  service.spec.least = *least;
  service.spec.most = *most;
}

void check_goal(const RequestService& service, const SayFault& say) {
  const ServiceSpec& spec = service.spec;
  const ServiceGoal& goal = spec.goal;
  if (goal.is_there() && goal.probe.empty() && !service.goal_is_reported) {
    say("goal", fmt::format("goal: nothing measures {}: name a program that prints it, probe = "
                            "[...], or say reported = true where the replica's program reports it "
                            "with `muster progress --metric`",
                            shown(goal.metric)));
  }
  if (!goal.probe.empty() && service.goal_is_reported) {
    say("goal.reported", "goal: probe and reported = true are both there: one of them measures it");
  }
  if (goal.is_there() && goal.timeout > goal.every) {
    say("goal.timeout_s", fmt::format("goal.timeout_s is {}, more than every_s, {}",
                                      to_seconds(goal.timeout), to_seconds(goal.every)));
  }
  if (!spec.scales()) return;
  if (!goal.is_there()) say("scale", "scale needs a goal, by which the number is chosen");
  if (service.most_replicas > 0) {
    say("most_replicas", "most_replicas cannot be given beside scale: its max is that number");
  }
  if (spec.replicas > 0 && (spec.replicas < spec.least || spec.replicas > spec.most)) {
    say("replicas", fmt::format("replicas is {}, and scale is from {} to {}", spec.replicas,
                                spec.least, spec.most));
  }
}

void write_goal(nlohmann::ordered_json& out, const RequestService& service) {
  const ServiceGoal& goal = service.spec.goal;
  if (goal.is_there()) {
    nlohmann::ordered_json table;
    table["metric"] = goal.metric;
    table[goal.at_least ? "at_least" : "at_most"] = goal.bound;
    if (!goal.probe.empty()) {
      table["probe"] = goal.probe;
      table["every_s"] = to_seconds(goal.every);
      table["timeout_s"] = to_seconds(goal.timeout);
    }
    if (service.goal_is_reported) table["reported"] = true;
    out["goal"] = std::move(table);
  }
  if (service.spec.scales()) {
    out["scale"] = {{"min", service.spec.least}, {"max", service.spec.most}};
  }
}

}  // namespace muster::config
