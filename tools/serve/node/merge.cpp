#include "tools/serve/node/merge.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

namespace muster::merge {
namespace {

api::Metric gauge(const std::string& name, const std::string& help) {
  return {name, help, false, {}};
}

/// Sums of parts that have the same name, by their names.
class Sums {
 public:
  void add(const std::vector<CostPart>& parts) {
    for (const CostPart& part : parts) by_name_[part.name] += part.usd;
  }
  void add(const std::string& name, double usd) { by_name_[name] += usd; }
  std::vector<CostPart> parts() const {
    std::vector<CostPart> all;
    for (const auto& [name, usd] : by_name_) all.push_back({name, usd});
    return all;
  }

 private:
  std::map<std::string, double> by_name_;
};

}  // namespace

std::vector<InstanceView> instances(std::vector<InstancesView> masters) {
  std::vector<InstanceView> all;
  for (InstancesView& one : masters) {
    std::move(one.instances.begin(), one.instances.end(), std::back_inserter(all));
  }
  std::stable_sort(all.begin(), all.end(), [](const InstanceView& a, const InstanceView& b) {
    return a.requested > b.requested;
  });
  return all;
}

std::vector<DecisionView> decisions(std::vector<DecisionsView> masters, std::uint32_t limit) {
  std::vector<DecisionView> all;
  for (DecisionsView& one : masters) {
    std::move(one.decisions.begin(), one.decisions.end(), std::back_inserter(all));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const DecisionView& a, const DecisionView& b) { return a.at > b.at; });
  if (limit > 0 && all.size() > limit) all.resize(limit);
  return all;
}

CostView cost(const std::vector<CostView>& masters, const std::optional<RentedView>& rented) {
  CostView whole;
  Sums by;
  Sums idle;
  for (const CostView& master : masters) {
    whole.total_usd += master.total_usd;
    whole.unsettled_usd += master.unsettled_usd;
    whole.tasks_usd += master.tasks_usd;
    idle.add(master.idle);
    by.add(master.by);
  }
  if (rented) {
    // The cloud's bill, of which these are the parts: masters are asked at another moment.
    whole.total_usd = rented->total_usd;
    double rest = rented->total_usd;
    for (const RentedInstance& one : rented->rented) {
      by.add(std::to_string(one.instance.value) + " " + one.type, one.usd);
      rest -= one.usd;
    }
    // Less is rounding of the sums of doubles, for bills below a million dollars.
    constexpr double kRounding = 1e-9;
    if (std::abs(rest) > kRounding) by.add("(earlier instances)", rest);
  }
  whole.idle = idle.parts();
  whole.by = by.parts();
  std::stable_sort(whole.by.begin(), whole.by.end(),
                   [](const CostPart& a, const CostPart& b) { return a.usd > b.usd; });
  return whole;
}

ClusterStatus status(const std::vector<CellFigures>& masters, const std::vector<SiteFigures>& sites,
                     double now_s, std::vector<NodeLine> nodes) {
  ClusterStatus all;
  all.now_s = now_s;
  std::map<std::pair<std::string, std::string_view>, OfferCount> counts;
  for (const CellFigures& one : masters) {
    all.jobs_waiting += one.jobs_waiting;
    all.jobs_running += one.jobs_running;
    all.jobs_held += one.jobs_held;
    all.jobs_over += one.over_jobs;
    all.tasks_pending += one.waiting_tasks();
    all.tasks_running += one.running;
    all.elastic_jobs += one.elastic_jobs;
    all.elastic_workers += one.elastic_workers;
    all.usd_h += one.usd_h;
    all.total_usd += one.total_usd;
    all.today_usd += one.today_usd;
    for (const OfferCount& line : one.instances) {
      OfferCount& sum = counts[{line.type, name_of(line.market)}];
      sum = {line.type, line.market, sum.count + line.count};
    }
    all.caps.push_back({one.master, one.caps});
    if (!one.trouble.empty()) all.trouble.push_back(one.master + ": " + one.trouble);
  }
  for (const auto& [offer, count] : counts) all.instances.push_back(count);
  for (const SiteFigures& site : sites) {
    all.jobs_handing_over += site.waiting;
    if (!site.trouble.empty()) all.trouble.push_back("site " + site.site + ": " + site.trouble);
  }
  for (const NodeLine& node : nodes) {
    if (!node.connected) all.trouble.push_back(node.name + ": not connected");
  }
  all.nodes = std::move(nodes);
  return all;
}

api::MetricsInput metrics(const std::vector<CellFigures>& masters,
                          const std::vector<SiteFigures>& sites) {
  api::Metric jobs = gauge("muster_jobs", "Jobs by state");
  api::Metric tasks = gauge("muster_tasks", "Tasks of unfinished jobs by phase");
  api::Metric instances = gauge("muster_instances", "Instances that are rented");
  api::Metric rate = gauge("muster_spend_usd_per_hour", "Price of all instances that are up");
  api::Metric spent{"muster_spent_usd_total", "Dollars charged so far", true, {}};
  api::Metric rounds{"muster_rounds_total", "Policy rounds", true, {}};
  api::Metric decision = gauge("muster_decision_seconds", "How long the last decision took");
  const auto number = [](std::uint64_t count) { return static_cast<double>(count); };
  for (const CellFigures& one : masters) {
    const auto job = [&](const char* state, std::uint64_t count) {
      jobs.samples.push_back({{{"state", state}, {"master", one.master}}, number(count)});
    };
    job("waiting", one.jobs_waiting);
    job("running", one.jobs_running);
    job("held", one.jobs_held);
    const auto task = [&](const char* phase, std::uint64_t count) {
      tasks.samples.push_back({{{"phase", phase}, {"master", one.master}}, number(count)});
    };
    task("pending", one.pending);
    task("assigned", one.assigned);
    task("held", one.held);
    task("capped", one.capped);
    task("running", one.running);
    for (const OfferCount& line : one.instances) {
      instances.samples.push_back({{{"type", line.type},
                                    {"market", std::string(name_of(line.market))},
                                    {"master", one.master}},
                                   number(line.count)});
    }
    rate.samples.push_back({{{"master", one.master}}, one.usd_h});
    spent.samples.push_back({{{"master", one.master}}, one.total_usd});
    rounds.samples.push_back({{{"master", one.master}}, number(one.rounds)});
    decision.samples.push_back({{{"master", one.master}}, one.last_decision_ms / 1e3});
  }
  for (const SiteFigures& site : sites) {
    jobs.samples.push_back(
        {{{"state", "handing over"}, {"site", site.site}}, number(site.waiting)});
  }
  api::MetricsInput all;
  all.metrics = {jobs, tasks, instances, rate, spent, rounds, decision};
  return all;
}

}  // namespace muster::merge
