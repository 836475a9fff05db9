#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/catalog.hpp"
#include "model/enum_words.hpp"
#include "model/view_fields.hpp"

// Figures of masters, sites and the cloud, as nodes tell them to each other.

namespace muster {

/// How many instances of one kind there are.
struct OfferCount {
  std::string type;
  Market market = Market::on_demand;
  std::uint64_t count = 0;
};

void fields(auto& a, Like<OfferCount> auto& v) {
  a(always("type", "name of the type"), v.type);
  a(always("market", "on-demand or spot"), v.market);
  a(always("count", "their number"), v.count);
}

/// Caps of a master; 0: no cap.
struct CapsView {
  std::uint32_t max_instances = 0;
  double max_usd_h = 0;
  double max_usd_day = 0;
};

void fields(auto& a, Like<CapsView> auto& v) {
  a(or_null("max_instances", "largest number of instances; null: not set"), v.max_instances);
  a(or_null("max_usd_h", "highest price of all instances an hour; null: not set"), v.max_usd_h);
  a(or_null("max_usd_day", "most that may be spent on a day (UTC); null: not set"), v.max_usd_day);
}

/// The counts that a master keeps.
enum class CountKind : std::uint8_t {
  job_over,        ///< jobs that ended, by their outcome
  attempt_start,   ///< attempts that started
  attempt_end,     ///< attempts that ended, by how
  move,            ///< tasks that were told to go to another instance
  interruption,    ///< instances that the cloud took back
  launch,          ///< instances that were asked for, by their market
  launch_refused,  ///< of these, those that the cloud did not give, by the reason
  plan_refused     ///< parts of plans that were not carried out, by the reason
};
inline constexpr std::size_t kCountKinds = kEnumerators<CountKind>;

/// How often something happened since the master was started.
struct CountView {
  CountKind kind = CountKind::job_over;
  std::string of;  ///< which of the kind; empty: the kind has no parts
  std::uint64_t count = 0;
};

void fields(auto& a, Like<CountView> auto& v) {
  a("kind", v.kind);
  a("of", v.of);
  a("count", v.count);
}

/// How many values of a distribution are not above a bound, and above the bound before it.
struct BucketView {
  double bound = 0;
  std::uint64_t count = 0;
};

void fields(auto& a, Like<BucketView> auto& v) {
  a("bound", v.bound);
  a("count", v.count);
}

/// A distribution since the master was started.
struct HistogramView {
  std::string name;
  std::vector<BucketView> buckets{};
  std::uint64_t beyond = 0;  ///< values above the last bound
  double sum = 0;
};

void fields(auto& a, Like<HistogramView> auto& v) {
  a("name", v.name);
  a("buckets", v.buckets);
  a("beyond", v.beyond);
  a("sum", v.sum);
}

/// The values that a user's running tasks have reported last under a name.
struct MetricView {
  std::string user;
  std::string name;
  std::uint64_t tasks = 0;  ///< that have
  double least = 0;
  double mean = 0;
  double most = 0;
};

void fields(auto& a, Like<MetricView> auto& v) {
  a("user", v.user);
  a("name", v.name);
  a("tasks", v.tasks);
  a("least", v.least);
  a("mean", v.mean);
  a("most", v.most);
}

/// A master's figures.
struct CellFigures {
  std::string master;
  std::uint64_t jobs_waiting = 0;
  std::uint64_t jobs_running = 0;
  std::uint64_t jobs_held = 0;
  std::uint64_t active_jobs = 0;
  std::uint64_t over_jobs = 0;
  std::uint64_t pending = 0;  ///< tasks
  std::uint64_t assigned = 0;
  std::uint64_t held = 0;
  std::uint64_t capped = 0;
  std::uint64_t running = 0;
  std::uint64_t elastic_jobs = 0;     ///< that are not over
  std::uint64_t elastic_workers = 0;  ///< that these are wide together
  std::vector<OfferCount> instances{};
  std::uint64_t instance_count = 0;
  double usd_h = 0;
  double total_usd = 0;
  double today_usd = 0;
  std::uint64_t rounds = 0;
  double last_decision_ms = 0;
  CapsView caps{};
  std::string trouble{};
  std::vector<CountView> counts{};
  std::vector<HistogramView> histograms{};
  std::vector<MetricView> metrics{};  ///< by user and name, `master.metric_series` at most

  /// Tasks without a place of their own.
  std::uint64_t waiting_tasks() const { return pending + assigned + held + capped; }
};

void fields(auto& a, Like<CellFigures> auto& v) {
  a("master", v.master);
  a("jobs_waiting", v.jobs_waiting);
  a("jobs_running", v.jobs_running);
  a("jobs_held", v.jobs_held);
  a("active_jobs", v.active_jobs);
  a("over_jobs", v.over_jobs);
  a("pending", v.pending);
  a("assigned", v.assigned);
  a("held", v.held);
  a("capped", v.capped);
  a("running", v.running);
  a("elastic_jobs", v.elastic_jobs);
  a("elastic_workers", v.elastic_workers);
  a("instances", v.instances);
  a("instance_count", v.instance_count);
  a("usd_h", v.usd_h);
  a("total_usd", v.total_usd);
  a("today_usd", v.today_usd);
  a("rounds", v.rounds);
  a("last_decision_ms", v.last_decision_ms);
  a("caps", v.caps);
  a("trouble", v.trouble);
  a("counts", v.counts);
  a("histograms", v.histograms);
  a("metrics", v.metrics);
}

/// A site's figures.
struct SiteFigures {
  std::string site;
  std::uint64_t waiting = 0;  ///< jobs on their way to a master
  std::string trouble{};
  std::uint64_t dependent = 0;  ///< jobs that wait there for other jobs
  std::uint64_t over = 0;       ///< jobs that ended there, before a master had them
};

void fields(auto& a, Like<SiteFigures> auto& v) {
  a("site", v.site);
  a("waiting", v.waiting);
  a("trouble", v.trouble);
  a("dependent", v.dependent);
  a("over", v.over);
}

/// How far an instance has come in the eyes of its cloud.
enum class RentState : std::uint8_t { ordered, up, ending, gone, refused };
constexpr auto words_of(RentState) {
  using E = RentState;
  return std::to_array<EnumWord<E>>({{E::ordered, "ordered"},
                                     {E::up, "up"},
                                     {E::ending, "ending"},
                                     {E::gone, "gone"},
                                     {E::refused, "refused"}});
}

/// An instance as its cloud sees it.
struct RentedInstance {
  InstanceId instance;
  std::string type;
  Market market = Market::on_demand;
  RentState state = RentState::ordered;
  std::optional<Instant> up{};
  std::optional<Instant> gone{};
  std::optional<Instant> notice{};
  double usd_h = 0;
  double usd = 0;
};

void fields(auto& a, Like<RentedInstance> auto& v) {
  a("instance", v.instance);
  a("type", v.type);
  a("market", v.market);
  a("state", v.state);
  a("up_s", v.up);
  a("gone_s", v.gone);
  a("notice_s", v.notice);
  a("usd_h", v.usd_h);
  a("usd", v.usd);
}

/// The instances of a cloud, those of the present first.
struct RentedView {
  std::vector<RentedInstance> rented;
  double total_usd = 0;        ///< of all instances, also of those that are not shown
  std::uint64_t launched = 0;  ///< instances that came up
};

void fields(auto& a, Like<RentedView> auto& v) {
  a("rented", v.rented);
  a("total_usd", v.total_usd);
  a("launched", v.launched);
}

/// A cloud's figures.
struct CloudFigures {
  std::uint64_t instances = 0;
  std::uint64_t launched = 0;
  std::uint64_t refused = 0;
  std::uint64_t worker_restarts = 0;
  std::string trouble{};
};

void fields(auto& a, Like<CloudFigures> auto& v) {
  a("instances", v.instances);
  a("launched", v.launched);
  a("refused", v.refused);
  a("worker_restarts", v.worker_restarts);
  a("trouble", v.trouble);
}

}  // namespace muster
