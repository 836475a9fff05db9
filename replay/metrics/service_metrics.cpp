#include "replay/metrics/service_metrics.hpp"

#include <optional>
#include <string>
#include <utility>

// The part of the table of metrics that is of services.

namespace muster::metrics {
namespace {

using Run = const RunResult&;
using Value = std::optional<double>;
using Services = const ServiceFigures&;

Value share_of(double part, double whole) {
  return whole > 0 ? Value(part / whole) : Value{};
}

/// Adds a metric of the group to the table.
Metric& add(std::vector<Metric>& table, const char* key, std::string how,
            Value (*value)(Services)) {
  Metric& metric = table.emplace_back();
  metric.key = std::string("services.") + key;
  metric.how = std::move(how);
  metric.of = [value](Run r) { return r.services ? value(*r.services) : Value{}; };
  metric.has_group = [](Run r) { return r.services.has_value(); };
  return metric;
}

Column shown(std::string name, std::string unit, int decimals, double factor = 1) {
  return {std::move(name), std::move(unit), Place::services,
          decimals,        factor,          Shown::with_services};
}

void add_counts(std::vector<Metric>& table) {
  const auto add_count = [&](const char* key, const char* how,
                             Value (*value)(Services)) -> Metric& {
    Metric& metric = add(table, key, how, value);
    metric.unit = "services";
    metric.whole = true;
    return metric;
  };
  add_count("submitted",
            "services that were submitted, which are none of the jobs; null without services",
            [](Services s) { return Value(s.submitted); });
  Metric& ended = add_count("ended", "of these, those that went on until their users ended them",
                            [](Services s) { return Value(s.ended); });
  ended.better = Better::higher;
  ended.column = shown("services", "ended", 0);
  ended.column->out_of = "services.submitted";
  add_count("replicas", "replicas of all services", [](Services s) {
    return Value(s.replicas);
  }).unit = "replicas";
}

void add_shares(std::vector<Metric>& table) {
  Metric& hours =
      add(table, "replica_h", "replicas x time from a service's submission to its user's end of it",
          [](Services s) { return Value(s.wanted_h); });
  hours.unit = "h";
  const auto add_share = [&](const char* key, const char* how, Value (*value)(Services),
                             Column column) {
    Metric& metric = add(table, key, how, value);
    metric.unit = "of 1";
    metric.better = Better::higher;
    metric.column = std::move(column);
  };
  add_share(
      "ready_share", "time in which replicas are ready / `services.replica_h`",
      [](Services s) { return share_of(s.ready_h, s.wanted_h); }, shown("ready", "%", 2, 100));
  add_share(
      "goal_share",
      "time in which replicas are ready and perform no worse than their service's goal / that "
      "part of `services.replica_h` which is of services with a goal",
      [](Services s) { return share_of(s.goal_h, s.goal_wanted_h); },
      shown("at goal", "%", 2, 100));
  add_share(
      "performance", "true performance of ready replicas, mean over their time",
      [](Services s) { return share_of(s.performance_h, s.measured_h); },
      shown("perf.", "of 1", 2));
}

void add_money(std::vector<Metric>& table) {
  Metric& restarts = add(table, "restarts", "starts of a replica but its first one",
                         [](Services s) { return Value(s.restarts); });
  restarts.unit = "starts";
  restarts.better = Better::lower;
  restarts.whole = true;
  restarts.column = shown("restarts", "", 0);
  Metric& price = add(
      table, "price_over_right",
      "price of what replicas of services with a goal are granted, while they hold it, over that "
      "of the cheapest size that reaches the goal; $0.0316 a core-hour and $0.0042 a GiB-hour",
      [](Services s) { return share_of(s.held_usd, s.right_usd); });
  price.unit = "of 1";
  price.column = shown("price", "of right", 2);
  Metric& cost = add(table, "cost_usd", "part of the ledger that is of replicas of services",
                     [](Services s) { return Value(s.cost_usd); });
  cost.unit = "$";
  cost.better = Better::lower;
  cost.column = shown("services", "$", 2);
}

}  // namespace

void add_services(std::vector<Metric>& table) {
  add_counts(table);
  add_shares(table);
  add_money(table);
}

}  // namespace muster::metrics
