#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "model/cluster_state.hpp"
#include "model/figures.hpp"
#include "model/job_views.hpp"
#include "model/plan.hpp"
#include "model/service_views.hpp"
#include "model/story_views.hpp"
#include "model/usage_views.hpp"
#include "model/view_fields.hpp"

// Instances, costs and the cluster as a whole, as masters and the API show them.

namespace muster {

/// Which task sits on an instance.
struct OccupantView {
  JobId job;
  std::uint32_t index = 0;
};

void fields(auto& a, Like<OccupantView> auto& v) {
  a(always("job", "id of the task's job"), v.job);
  a(always("task", "index of the task in its job"), v.index);
}

/// An instance that a master has, or has asked for.
struct InstanceView {
  static constexpr std::string_view kSchema = "Instance";

  InstanceId instance;
  std::string type;
  Market market = Market::on_demand;
  InstancePhase phase = InstancePhase::requested;
  bool released = false;
  double usd_h = 0;
  Instant requested;
  std::optional<Instant> up{};
  std::string master;
  std::vector<OccupantView> tasks{};
  std::uint64_t more_tasks = 0;  ///< on it, besides these
  Resources used;
  Resources capacity;
  bool connected = false;
  std::string limits;
  std::string isolation{};
  bool own_checkpoints = false;
  Labels labels{};  ///< of its type
};

void fields(auto& a, Like<InstanceView> auto& v) {
  a(always("instance", "id"), v.instance);
  a(always("type", "name of its type in the catalog"), v.type);
  a(always("market", "on-demand or spot"), v.market);
  a(always("phase", "terminating: the cloud was told to end it"), v.phase);
  a(always("released", "it is to end as soon as its last task has ended"), v.released);
  a(always("usd_h", "its price an hour"), v.usd_h);
  a(later("requested_s", "when the cloud was asked for it"), v.requested);
  a(always("up_s", "when it was ready; null before"), v.up);
  a(always("master", "the master that rents it"), v.master);
  a(always("tasks", "tasks that have a place on it"), v.tasks);
  a(later("more_tasks", "number of tasks on it besides those in `tasks`"), v.more_tasks);
  a(always("used", "amounts that its tasks have reserved"), v.used);
  a(always("capacity", "amounts of its type"), v.capacity);
  a(always("connected", "its worker is linked to the master"), v.connected);
  a(later("limits", "how its worker holds tasks to what they asked for; empty before it is linked"),
    v.limits);
  a(later("isolation", "how its worker keeps tasks apart; empty before it is linked"), v.isolation);
  a(later("own_checkpoints", "its machine does not share the cluster's folder of checkpoints"),
    v.own_checkpoints);
  a(later("labels", "labels of its type in the catalog"), v.labels);
}

/// Instances of a master, by rising numbers.
struct InstancesView {
  static constexpr std::string_view kSchema = "Instances";

  std::vector<InstanceView> instances;
  bool more = false;  ///< there are others of higher numbers
};

void fields(auto& a, Like<InstancesView> auto& v) {
  a(always("instances", "the instances of the masters that answered"), v.instances);
  a(inside("more"), v.more);
}

/// Dollars spent on one thing.
struct CostPart {
  std::string name;
  double usd = 0;
};

void fields(auto& a, Like<CostPart> auto& v) {
  a(always("name", "user, job or instance"), v.name);
  a(always("usd", "its part"), v.usd);
}

/// Costs of users on the present day (UTC), the largest part first.
struct DayCostsView {
  Instant since;
  std::vector<CostPart> by{};
};

void fields(auto& a, Like<DayCostsView> auto& v) {
  a(always("since_s", "from when on it is counted"), v.since);
  a(always("by", "the users, the dearest first"), v.by);
}

/// Dollars spent in all, on instances without tasks by kind of idleness, and by user or job.
struct CostView {
  static constexpr std::string_view kSchema = "Cost";

  double total_usd = 0;
  double unsettled_usd = 0;
  double tasks_usd = 0;
  std::vector<FigureView> idle{};  ///< dollars by kind
  std::vector<CostPart> by{};
};

void fields(auto& a, Like<CostView> auto& v) {
  a(always("total_usd", "the whole cost so far"), v.total_usd);
  a(later("unsettled_usd", "the part of it for which no bill has come yet"), v.unsettled_usd);
  a(later("tasks_usd", "the part of it that tasks have used"), v.tasks_usd);
  a(always("idle_usd", "the part of it that no task has used"), v.idle);
  a(always("by", "the parts, the largest first"), v.by);
}

/// A master's figures at a moment of its past, for plots.
struct HistorySample {
  static constexpr std::string_view kSchema = "HistorySample";

  Instant at;
  double usd_h = 0;
  double spent_usd = 0;  ///< in all, until then
  std::uint64_t instances = 0;
  std::uint64_t tasks_running = 0;
  std::uint64_t tasks_pending = 0;
  std::uint64_t jobs_waiting = 0;

  friend bool operator==(const HistorySample&, const HistorySample&) = default;
};

void fields(auto& a, Like<HistorySample> auto& v) {
  a(always("at_s", "end of the minute"), v.at);
  a(always("usd_h", "price of all instances an hour"), v.usd_h);
  a(always("spent_usd", "spent in all"), v.spent_usd);
  a(always("instances", "instances that were rented"), v.instances);
  a(always("tasks_running", "tasks that ran"), v.tasks_running);
  a(always("tasks_pending", "tasks that waited"), v.tasks_pending);
  a(always("jobs_waiting", "jobs of which no task had a place"), v.jobs_waiting);
}

/// A master's past, the oldest sample first.
struct HistoryView {
  static constexpr std::string_view kSchema = "History";

  std::vector<HistorySample> samples;
};

void fields(auto& a, Like<HistoryView> auto& v) {
  a(always("samples", "a sample a minute, the oldest first"), v.samples);
}

/// The caps of a master.
struct CapsOf {
  static constexpr std::string_view kSchema = "Cap";

  std::string master;
  CapsView caps;
};

void fields(auto& a, Like<CapsOf> auto& v) {
  a(always("master", "whose caps they are"), v.master);
  fields(a, v.caps);
}

/// The work of a node's roles; a node says only what its roles know.
struct NodeLoad {
  std::optional<std::uint64_t> jobs{};
  std::optional<std::uint64_t> pending_tasks{};
  std::optional<std::uint64_t> instances{};
  std::optional<double> usd_h{};
  std::string policy{};
};

void fields(auto& a, Like<NodeLoad> auto& v) {
  a(if_any("jobs", "jobs that are not over"), v.jobs);
  a(if_any("pending_tasks", "tasks that wait"), v.pending_tasks);
  a(if_any("instances", "instances that it rents"), v.instances);
  a(if_any("usd_h", "their price an hour"), v.usd_h);
  a(if_any("policy", "its policy"), v.policy);
}

/// A node of the control plane.
struct NodeView {
  static constexpr std::string_view kSchema = "Node";

  std::string node;
  std::vector<std::string> roles{};
  bool connected = false;
  NodeLoad load{};
};

void fields(auto& a, Like<NodeView> auto& v) {
  a(always("node", "its name"), v.node);
  a(always("roles", "its site, masters, cloud and API"), v.roles);
  a(always("connected", "it is linked to the node that answers"), v.connected);
  a(later("load", "figures of its master; empty where it has no master or that does not answer"),
    v.load);
}

/// All nodes.
struct NodesView {
  static constexpr std::string_view kSchema = "Nodes";

  std::vector<NodeView> nodes;
};

void fields(auto& a, Like<NodesView> auto& v) {
  a(always("nodes", "the nodes of the cluster file"), v.nodes);
}

/// Figures of a master that are part of a total.
struct LastFigures {
  double usd_h = 0;
  double today_usd = 0;
  double total_usd = 0;
  std::uint64_t instances = 0;
  std::uint64_t active_jobs = 0;
  std::uint64_t pending_tasks = 0;
};

void fields(auto& a, Like<LastFigures> auto& v) {
  a(always("usd_h", "price of its instances an hour"), v.usd_h);
  a(always("today_usd", "spent today (UTC)"), v.today_usd);
  a(always("total_usd", "spent in all"), v.total_usd);
  a(always("instances", "instances that it rents"), v.instances);
  a(later("active_jobs", "jobs that are not over"), v.active_jobs);
  a(always("pending_tasks", "tasks that wait"), v.pending_tasks);
}

/// A master, site or cloud that does not answer, named by the one of the three names that it has.
struct SilentView {
  static constexpr std::string_view kSchema = "Silent";

  std::string master{};
  std::string site{};
  std::string cloud{};                ///< of its node
  std::optional<Duration> since{};    ///< nothing: not known
  std::optional<LastFigures> last{};  ///< nothing: no figures were heard
};

void fields(auto& a, Like<SilentView> auto& v) {
  a(if_any("master", "name of a master that has not answered"), v.master);
  a(if_any("site", "name of a site that has not answered"), v.site);
  a(if_any("cloud", "node of a cloud that has not answered"), v.cloud);
  a(if_any("since_s", "for how many seconds it has not"), v.since);
  a(if_any("last", "figures of its last answer, where one is known"), v.last);
}
using Silent = std::vector<SilentView>;

/// The cluster at a glance.
struct StatusView {
  static constexpr std::string_view kSchema = "Status";

  struct Jobs {
    std::uint64_t handing_over = 0;
    std::uint64_t waiting = 0;
    std::uint64_t running = 0;
    std::uint64_t held = 0;
    std::uint64_t over = 0;
  };
  struct Tasks {
    std::uint64_t pending = 0;
    std::uint64_t running = 0;
  };
  struct Elastic {
    std::uint64_t jobs = 0;
    std::uint64_t workers = 0;  ///< that these jobs are to have together
  };
  Instant now;
  Jobs jobs{};
  Tasks tasks{};
  Elastic elastic{};
  std::vector<OfferCount> instances{};
  double usd_h = 0;
  double total_usd = 0;
  double today_usd = 0;
  std::vector<NodeView> nodes{};
  std::vector<CapsOf> caps{};
  std::vector<std::string> trouble{};
};

void fields(auto& a, Like<StatusView::Jobs> auto& v) {
  a(later("handing_over", "jobs that a site has not given to a master yet"), v.handing_over);
  a(always("waiting", "jobs of which nothing runs"), v.waiting);
  a(always("running", "jobs of which something runs"), v.running);
  a(always("held", "jobs that their users hold"), v.held);
  a(always("over", "jobs that are over"), v.over);
}
void fields(auto& a, Like<StatusView::Tasks> auto& v) {
  a(always("pending", "tasks that wait"), v.pending);
  a(always("running", "tasks that run"), v.running);
}
void fields(auto& a, Like<StatusView::Elastic> auto& v) {
  a(always("jobs", "their number"), v.jobs);
  a(always("workers", "number of their workers"), v.workers);
}
void fields(auto& a, Like<StatusView> auto& v) {
  a(always("now_s", "the cluster's time"), v.now);
  a(always("jobs", "jobs by state; a job of which nothing runs yet counts as waiting"), v.jobs);
  a(always("tasks", "tasks by phase"), v.tasks);
  a(later("elastic", "elastic jobs that are not over"), v.elastic);
  a(always("instances", "instances that are rented, by type and market"), v.instances);
  a(always("usd_h", "price of all instances an hour"), v.usd_h);
  a(always("total_usd", "spent in all"), v.total_usd);
  a(always("today_usd", "spent today (UTC)"), v.today_usd);
  a(always("nodes", "the nodes of the cluster file"), v.nodes);
  a(always("caps", "the caps of each master"), v.caps);
  a(always("trouble", "sentences about what an operator should mend"), v.trouble);
}

/// The plan of a master for one job more; it is not carried out.
struct PlanView {
  static constexpr std::string_view kSchema = "Plan";

  struct Launch {
    std::string type;
    Market market = Market::on_demand;
    double usd_h = 0;
  };
  struct Place {
    std::uint32_t task = 0;
    std::string to;
  };
  struct Refusal {
    std::uint32_t task = 0;
    RefusalKind kind = RefusalKind::not_now;
    std::string why;
  };
  std::string master;
  std::vector<Launch> launches{};
  std::vector<Place> places{};
  std::vector<Refusal> refusals{};
  std::uint64_t left_out = 0;  ///< launches, places and refusals besides those listed
  std::uint32_t moves = 0;     ///< of other jobs' tasks
  double usd_h = 0;            ///< of all instances then
  double usd_h_now = 0;
};

void fields(auto& a, Like<PlanView::Launch> auto& v) {
  a(always("type", "name of the type"), v.type);
  a(always("market", "on-demand or spot"), v.market);
  a(always("usd_h", "its price an hour"), v.usd_h);
}
void fields(auto& a, Like<PlanView::Place> auto& v) {
  a(always("task", "index of the task"), v.task);
  a(always("to", "the instance, or the launch, that it would go to"), v.to);
}
void fields(auto& a, Like<PlanView::Refusal> auto& v) {
  a(always("task", "index of the task"), v.task);
  a(always("kind", "not now, never or broken"), v.kind);
  a(always("why", "the reason, a sentence"), v.why);
}
void fields(auto& a, Like<PlanView> auto& v) {
  a(always("launches", "instances that it would ask for"), v.launches);
  a(always("places", "tasks that would get a place"), v.places);
  a(always("refusals", "tasks that would get no place"), v.refusals);
  a(later("left_out", "number of launches, places and refusals besides those listed"), v.left_out);
  a(later("master", "the master that would have it"), v.master);
  a(always("moves", "tasks of others that would be moved"), v.moves);
  a(always("usd_h", "price an hour of all instances with the job"), v.usd_h);
  a(always("usd_h_now", "price an hour of all instances now"), v.usd_h_now);
}

/// The views that are documents of the API, with whose part is missing in them. Each has the schema
/// of its `kSchema`.
using GatheredViews = std::tuple<InstancesView, DecisionsView, HistoryView, CostView, StatusView,
                                 NodesView, ServicesView, EndpointsView, UsageView>;
/// Those that are documents by themselves, and the parts that have schemas of their own.
using PlainViews = std::tuple<JobView, TaskView, TaskUsageView, AttemptView, ReasonView, SilentView,
                              InstanceView, InstanceLife, DecisionView, ChangeView, HistorySample,
                              NodeView, CapsOf, PlanView, ServiceView, ReplicaView, EndpointView>;

}  // namespace muster
