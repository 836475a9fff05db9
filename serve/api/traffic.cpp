// Counts the API's own requests, and writes them and the cluster's figures in Prometheus' text
// format.

#include "serve/api/traffic.hpp"

#include <prometheus/check_names.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <vector>

namespace muster::api {
namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

std::vector<prometheus::ClientMetric::Label> labels_of(const Labels& labels) {
  std::vector<prometheus::ClientMetric::Label> out;
  for (const auto& [name, value] : labels) {
    out.push_back({name, value});
  }
  return out;
}

prometheus::MetricFamily family_of(const Metric& metric) {
  prometheus::MetricFamily family;
  family.name = metric.name;
  family.help = metric.help;
  family.type = metric.counter ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge;
  for (const Sample& sample : metric.samples) {
    prometheus::ClientMetric value;
    value.label = labels_of(sample.labels);
    (metric.counter ? value.counter.value : value.gauge.value) = sample.value;
    family.metric.push_back(std::move(value));
  }
  return family;
}

prometheus::ClientMetric histogram_of(const Distribution& distribution) {
  prometheus::ClientMetric value;
  value.label = labels_of(distribution.labels);
  // Bounds may be fewer by one than the buckets: the last is open.
  const std::size_t finite = std::min(distribution.bounds.size(), distribution.buckets.size());
  // Prometheus' buckets are cumulative; the last one, which has no bound, is sample_count itself.
  for (std::size_t i = 0; i < distribution.buckets.size(); ++i) {
    value.histogram.sample_count += distribution.buckets[i];
    if (i < finite) {
      value.histogram.bucket.push_back({value.histogram.sample_count, distribution.bounds[i]});
    }
  }
  value.histogram.sample_sum = distribution.sum;
  return value;
}

void append(std::vector<prometheus::MetricFamily>& families, const MetricsInput& input) {
  for (const Metric& metric : input.metrics) {
    // A bad name would make the whole text unreadable to Prometheus.
    if (prometheus::CheckMetricName(metric.name)) {
      families.push_back(family_of(metric));
    }
  }
  for (const Distribution& distribution : input.distributions) {
    if (!prometheus::CheckMetricName(distribution.name)) {
      continue;
    }
    // Distributions of one name make one family: the text may announce a name once.
    if (families.empty() || families.back().name != distribution.name) {
      families.emplace_back();
      families.back().name = distribution.name;
      families.back().help = distribution.help;
      families.back().type = prometheus::MetricType::Histogram;
    }
    families.back().metric.push_back(histogram_of(distribution));
  }
}

}  // namespace

bool Traffic::enter(Waiting where, const std::string& token, Places places) {
  const std::lock_guard lock(mutex_);
  Waits& waits = waiting_[static_cast<std::size_t>(where)];
  const auto known = waits.of_token.find(token);
  if (waits.all >= places.all) return false;
  if (known != waits.of_token.end() && known->second >= places.of_token) return false;
  ++waits.all;
  ++waits.of_token[token];
  return true;
}

void Traffic::leave(Waiting where, const std::string& token) {
  const std::lock_guard lock(mutex_);
  Waits& waits = waiting_[static_cast<std::size_t>(where)];
  --waits.all;
  const auto known = waits.of_token.find(token);
  if (--known->second == 0) waits.of_token.erase(known);
}

void Traffic::connection_opened() {
  connections_.fetch_add(1);
}

void Traffic::connection_closed() {
  connections_.fetch_sub(1);
}

void Traffic::connection_refused() {
  refused_.fetch_add(1);
}

void Traffic::answered(std::string_view route, int status, double seconds) {
  const auto bucket =
      // The first bound that is not below the time; beyond all of them it is the last bucket.
      static_cast<std::size_t>(std::ranges::lower_bound(kBounds, seconds) - kBounds.begin());
  const std::lock_guard lock(mutex_);
  ++requests_[{std::string(route), status}];
  ++buckets_[bucket];
  seconds_ += seconds;
}

MetricsInput Traffic::figures() const {
  Metric requests{"muster_http_requests_total", "Requests that were answered.", true, {}};
  Distribution times{"muster_http_request_seconds",
                     "How long requests took to answer.",
                     {},
                     {kBounds.begin(), kBounds.end()},
                     {},
                     0};
  // Copied under the lock and written without it.
  double waiting = 0;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, count] : requests_) {
      requests.samples.push_back({{{"route", key.first}, {"status", std::to_string(key.second)}},
                                  static_cast<double>(count)});
    }
    times.buckets.assign(buckets_.begin(), buckets_.end());
    times.sum = seconds_;
    waiting = waiting_[static_cast<std::size_t>(Waiting::for_cluster)].all;
  }
  const auto gauge = [](const char* name, const char* help, double value) {
    return Metric{name, help, false, {{{}, value}}};
  };
  MetricsInput input;
  input.metrics = {
      std::move(requests),
      gauge("muster_http_waiting_requests", "Requests that wait for the cluster.", waiting),
      gauge("muster_http_connections", "Connections that are open.", connections_),
      {"muster_http_refused_connections_total",
       "Connections that were turned away because there were too many.",
       true,
       {{{}, static_cast<double>(refused_.load())}}}};
  input.distributions = {std::move(times)};
  return input;
}

std::string metrics_text(const std::optional<MetricsInput>& cluster, const MetricsInput& own) {
  std::vector<prometheus::MetricFamily> families;
  // Always there, also when the cluster is not: an alarm needs a figure that says so.
  families.push_back(family_of({"muster_cluster_reachable",
                                "Whether the cluster's own figures are among these.",
                                false,
                                {{{}, cluster && cluster->reachable ? 1.0 : 0.0}}}));
  if (cluster) {
    append(families, *cluster);
  }
  append(families, own);
  const prometheus::TextSerializer serializer;
  return static_cast<const prometheus::Serializer&>(serializer).Serialize(families);
}

}  // namespace muster::api
