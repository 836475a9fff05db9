#include "serve/node/merge.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "serve/node/decision_text.hpp"

namespace muster::merge {
namespace {

/// From one sample of the cluster's past to the next.
constexpr Duration kStep = std::chrono::minutes{1};

/// Adds a master's sample to that of the cluster, which has a time of its own. A member that
/// samples have more stops the compiler here.
void add_to(HistorySample& sum, const HistorySample& part) {
  const auto& [at, usd_h, spent_usd, instances, tasks_running, tasks_pending, jobs_waiting] = part;
  static_cast<void>(at);
  sum.usd_h += usd_h;
  sum.spent_usd += spent_usd;
  sum.instances += instances;
  sum.tasks_running += tasks_running;
  sum.tasks_pending += tasks_pending;
  sum.jobs_waiting += jobs_waiting;
}

/// The counter of a kind, and the label of its parts; empty: it has no label.
struct Counter {
  CountKind kind;
  const char* name;
  const char* label;
  const char* help;
};

/// In the order of CountKind.
constexpr std::array<Counter, kCountKinds> kCounters{{
    {CountKind::job_over, "muster_jobs_over_total", "outcome",
     "Jobs that ended since the master was started"},
    {CountKind::attempt_start, "muster_attempts_started_total", "",
     "Attempts of tasks that started"},
    {CountKind::attempt_end, "muster_attempts_ended_total", "end",
     "Attempts of tasks that ended, by how"},
    {CountKind::move, "muster_moves_total", "",
     "Tasks that were told to leave their instance and go on elsewhere"},
    {CountKind::interruption, "muster_interruptions_total", "",
     "Instances that the cloud took back"},
    {CountKind::launch, "muster_launches_total", "market", "Instances that were asked for"},
    {CountKind::launch_refused, "muster_launch_refusals_total", "reason",
     "Instances that the cloud did not give"},
    {CountKind::plan_refused, "muster_plan_refusals_total", "reason",
     "Parts of plans that were not carried out"},
}};

/// Whether each kind has its row, at its own place.
consteval bool has_every_kind() {
  for (std::size_t i = 0; i < kCountKinds; ++i) {
    if (kCounters[i].kind != CountKind{static_cast<std::uint8_t>(i)} || !kCounters[i].name) {
      return false;
    }
  }
  return true;
}
static_assert(has_every_kind(), "kCounters has a row for each CountKind, in its order");

void put_counters(api::MetricsInput& all, const std::vector<CellFigures>& masters) {
  std::array<api::Metric, kCountKinds> metrics;
  for (std::size_t i = 0; i < kCountKinds; ++i) {
    metrics[i] = {kCounters[i].name, kCounters[i].help, true, {}};
  }
  for (const CellFigures& one : masters) {
    for (const CountView& count : one.counts) {
      const auto kind = static_cast<std::size_t>(count.kind);
      if (kind >= kCountKinds) continue;  // of a master of a later version
      api::Sample sample{{{"master", one.master}}, static_cast<double>(count.count)};
      const std::string label = kCounters[kind].label;
      if (!label.empty()) sample.labels.insert(sample.labels.begin(), {label, count.of});
      metrics[kind].samples.push_back(std::move(sample));
    }
  }
  for (api::Metric& metric : metrics) all.metrics.push_back(std::move(metric));
}

void put_histograms(api::MetricsInput& all, const std::vector<CellFigures>& masters) {
  struct Shown {
    const char* of;
    const char* name;
    const char* help;
  };
  static constexpr std::array<Shown, 2> kShown{{
      {"decision", "muster_decision_seconds", "How long decisions took"},
      {"start", "muster_start_seconds",
       "From a job's arrival at its master to the first start of each of its tasks"},
  }};
  // Those of one name stand together, or the text would announce the name twice.
  for (const Shown& shown : kShown) {
    for (const CellFigures& one : masters) {
      for (const HistogramView& view : one.histograms) {
        if (view.name != shown.of) continue;
        api::Distribution distribution{shown.name, shown.help, {{"master", one.master}},
                                       {},         {},         view.sum};
        for (const BucketView& bucket : view.buckets) {
          distribution.bounds.push_back(bucket.bound);
          distribution.buckets.push_back(bucket.count);
        }
        distribution.buckets.push_back(view.beyond);
        all.distributions.push_back(std::move(distribution));
      }
    }
  }
}

api::Metric gauge(const std::string& name, const std::string& help) {
  return {name, help, false, {}};
}

/// The numbers that users' tasks report of themselves.
void put_reported(api::MetricsInput& all, const std::vector<CellFigures>& masters) {
  api::Metric tasks = gauge("muster_reported_tasks", "Running tasks that have reported a number");
  api::Metric least = gauge("muster_reported_min", "The lowest number that running tasks report");
  api::Metric mean = gauge("muster_reported_mean", "The mean of what running tasks report");
  api::Metric most = gauge("muster_reported_max", "The highest number that running tasks report");
  for (const CellFigures& one : masters) {
    for (const MetricView& view : one.metrics) {
      const auto put = [&](api::Metric& metric, double value) {
        metric.samples.push_back(
            {{{"name", view.name}, {"user", view.user}, {"master", one.master}}, value});
      };
      put(tasks, static_cast<double>(view.tasks));
      put(least, view.least);
      put(mean, view.mean);
      put(most, view.most);
    }
  }
  all.metrics.insert(all.metrics.end(), {tasks, least, mean, most});
}

/// Sums of parts of one name, by their names.
class Sums {
 public:
  void add(const std::vector<CostPart>& parts) {
    for (const CostPart& part : parts) by_name_[part.name] += part.usd;
  }
  void add(const std::vector<FigureView>& parts) {
    for (const FigureView& part : parts) by_name_[part.name] += part.value;
  }
  void add(const std::string& name, double usd) { by_name_[name] += usd; }
  template <class Part>
  std::vector<Part> parts() const {
    std::vector<Part> all;
    for (const auto& [name, usd] : by_name_) all.push_back({name, usd});
    return all;
  }

 private:
  std::map<std::string, double> by_name_;
};

}  // namespace

InstancesView instances(std::vector<InstancesView> masters) {
  InstancesView all{all_of(std::move(masters), &InstancesView::instances)};
  std::stable_sort(
      all.instances.begin(), all.instances.end(),
      [](const InstanceView& a, const InstanceView& b) { return a.requested > b.requested; });
  return all;
}

DecisionsView decisions(std::vector<DecisionsView> masters, std::uint32_t limit) {
  DecisionsView all{all_of(std::move(masters), &DecisionsView::decisions)};
  std::stable_sort(all.decisions.begin(), all.decisions.end(),
                   [](const DecisionView& a, const DecisionView& b) { return a.at > b.at; });
  if (limit > 0 && all.decisions.size() > limit) all.decisions.resize(limit);
  for (DecisionView& one : all.decisions) {
    one.sentence = sentence_of(one);
    one.details = details_of(one);
  }
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
  whole.idle = idle.parts<FigureView>();
  whole.by = by.parts<CostPart>();
  std::stable_sort(whole.by.begin(), whole.by.end(),
                   [](const CostPart& a, const CostPart& b) { return a.usd > b.usd; });
  return whole;
}

StatusView status(const std::vector<CellFigures>& masters, const std::vector<SiteFigures>& sites,
                  Instant now, std::vector<NodeView> nodes) {
  StatusView all;
  all.now = now;
  std::map<std::pair<std::string, std::string_view>, OfferCount> counts;
  for (const CellFigures& one : masters) {
    all.jobs.waiting += one.jobs_waiting;
    all.jobs.running += one.jobs_running;
    all.jobs.held += one.jobs_held;
    all.jobs.over += one.over_jobs;
    all.tasks.pending += one.waiting_tasks();
    all.tasks.running += one.running;
    all.elastic.jobs += one.elastic_jobs;
    all.elastic.workers += one.elastic_workers;
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
    all.jobs.handing_over += site.waiting;
    all.jobs.waiting += site.dependent;
    all.jobs.over += site.over;
    if (!site.trouble.empty()) all.trouble.push_back("site " + site.site + ": " + site.trouble);
  }
  for (const NodeView& node : nodes) {
    if (!node.connected) all.trouble.push_back(node.node + ": not connected");
  }
  all.nodes = std::move(nodes);
  return all;
}

HistoryView history(const std::vector<HistoryView>& masters) {
  const auto minute = [](Instant at) { return at.time_since_epoch() / kStep; };
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  for (const HistoryView& master : masters) {
    if (master.samples.empty()) continue;
    first = std::min(first, minute(master.samples.front().at));
    last = std::max(last, minute(master.samples.back().at));
  }
  // A clock that was far off once must not make a list of years.
  constexpr std::int64_t kMostMinutes = 1'500;
  first = std::max(first, last - kMostMinutes);
  std::vector<HistorySample> sums;
  std::vector<std::size_t> next(masters.size(), 0);
  for (std::int64_t at = first; at <= last; ++at) {
    HistorySample sum;
    sum.at = Instant{(at + 1) * kStep};
    for (std::size_t i = 0; i < masters.size(); ++i) {
      const std::vector<HistorySample>& samples = masters[i].samples;
      while (next[i] < samples.size() && minute(samples[next[i]].at) <= at) ++next[i];
      if (next[i] > 0) add_to(sum, samples[next[i] - 1]);
    }
    sums.push_back(sum);
  }
  // The newest minute is not over: its sum is of the moment of its newest sample.
  for (const HistoryView& master : masters) {
    if (master.samples.empty() || minute(master.samples.back().at) != last) continue;
    sums.back().at = std::min(sums.back().at, master.samples.back().at);
  }
  return {std::move(sums)};
}

api::MetricsInput metrics(const std::vector<CellFigures>& masters,
                          const std::vector<SiteFigures>& sites) {
  api::Metric jobs = gauge("muster_jobs", "Jobs by state");
  api::Metric tasks = gauge("muster_tasks", "Tasks of unfinished jobs by phase");
  api::Metric instances = gauge("muster_instances", "Instances that are rented");
  api::Metric rate = gauge("muster_spend_usd_per_hour", "Price of all instances that are up");
  api::Metric spent{"muster_spent_usd_total", "Dollars charged so far", true, {}};
  api::Metric rounds{"muster_rounds_total", "Policy rounds", true, {}};
  api::Metric decision = gauge("muster_last_decision_seconds", "How long the last decision took");
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
    jobs.samples.push_back(
        {{{"state", "after others"}, {"site", site.site}}, number(site.dependent)});
  }
  api::MetricsInput all;
  all.metrics = {jobs, tasks, instances, rate, spent, rounds, decision};
  put_reported(all, masters);
  put_counters(all, masters);
  put_histograms(all, masters);
  return all;
}

}  // namespace muster::merge
