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
#include "model/view_fields.hpp"

// Instances, costs, decisions and the cluster as a whole, as masters and the API show them.

namespace muster {

/// Which task sits on an instance.
struct OccupantView {
  JobId job;
  std::uint32_t index = 0;
};

void fields(auto& a, Like<OccupantView> auto& v) {
  a("job", v.job);
  a("task", v.index);
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
  Labels labels{};  ///< of its type
};

void fields(auto& a, Like<InstanceView> auto& v) {
  a("instance", v.instance);
  a("type", v.type);
  a("market", v.market);
  a("phase", v.phase);
  a("released", v.released);
  a("usd_h", v.usd_h);
  a(later("requested_s"), v.requested);
  a("up_s", v.up);
  a("master", v.master);
  a("tasks", v.tasks);
  a(later("more_tasks"), v.more_tasks);
  a("used", v.used);
  a("capacity", v.capacity);
  a("connected", v.connected);
  a(later("limits"), v.limits);
  a(later("isolation"), v.isolation);
  a(later("labels"), v.labels);
}

/// Instances of a master, by rising numbers.
struct InstancesView {
  static constexpr std::string_view kSchema = "Instances";

  std::vector<InstanceView> instances;
  bool more = false;  ///< there are others of higher numbers
};

void fields(auto& a, Like<InstancesView> auto& v) {
  a("instances", v.instances);
  a(inside("more"), v.more);
}

/// Dollars spent on one thing.
struct CostPart {
  std::string name;
  double usd = 0;
};

void fields(auto& a, Like<CostPart> auto& v) {
  a("name", v.name);
  a("usd", v.usd);
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
  a("total_usd", v.total_usd);
  a(later("unsettled_usd"), v.unsettled_usd);
  a(later("tasks_usd"), v.tasks_usd);
  a("idle_usd", v.idle);
  a("by", v.by);
}

/// A round that changed something.
struct DecisionView {
  static constexpr std::string_view kSchema = "Decision";

  Instant at;
  std::string master;
  std::uint64_t round = 0;
  std::string choice;
  std::vector<FigureView> figures{};
  std::uint32_t launches = 0;
  std::uint32_t placements = 0;
  std::uint32_t moves = 0;
  std::uint32_t releases = 0;
  std::uint32_t resizes = 0;
  std::string sentence{};  ///< of all that; filled where it is shown
};

void fields(auto& a, Like<DecisionView> auto& v) {
  a("at_s", v.at);
  a("master", v.master);
  a("round", v.round);
  a("choice", v.choice);
  a(later("figures"), v.figures);
  a(later("launches"), v.launches);
  a(later("placements"), v.placements);
  a(later("moves"), v.moves);
  a(later("releases"), v.releases);
  a(later("resizes"), v.resizes);
  a("sentence", v.sentence);
}

/// The last rounds of a master that changed something, the newest first.
struct DecisionsView {
  static constexpr std::string_view kSchema = "Decisions";

  std::vector<DecisionView> decisions;
};

void fields(auto& a, Like<DecisionsView> auto& v) {
  a("decisions", v.decisions);
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
  a("at_s", v.at);
  a("usd_h", v.usd_h);
  a("spent_usd", v.spent_usd);
  a("instances", v.instances);
  a("tasks_running", v.tasks_running);
  a("tasks_pending", v.tasks_pending);
  a("jobs_waiting", v.jobs_waiting);
}

/// A master's past, the oldest sample first.
struct HistoryView {
  static constexpr std::string_view kSchema = "History";

  std::vector<HistorySample> samples;
};

void fields(auto& a, Like<HistoryView> auto& v) {
  a("samples", v.samples);
}

/// The caps of a master.
struct CapsOf {
  static constexpr std::string_view kSchema = "Cap";

  std::string master;
  CapsView caps;
};

void fields(auto& a, Like<CapsOf> auto& v) {
  a("master", v.master);
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
  a(if_any("jobs"), v.jobs);
  a(if_any("pending_tasks"), v.pending_tasks);
  a(if_any("instances"), v.instances);
  a(if_any("usd_h"), v.usd_h);
  a(if_any("policy"), v.policy);
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
  a("node", v.node);
  a("roles", v.roles);
  a("connected", v.connected);
  a(later("load"), v.load);
}

/// All nodes.
struct NodesView {
  static constexpr std::string_view kSchema = "Nodes";

  std::vector<NodeView> nodes;
};

void fields(auto& a, Like<NodesView> auto& v) {
  a("nodes", v.nodes);
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
  a("usd_h", v.usd_h);
  a("today_usd", v.today_usd);
  a("total_usd", v.total_usd);
  a("instances", v.instances);
  a(later("active_jobs"), v.active_jobs);
  a("pending_tasks", v.pending_tasks);
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
  a(if_any("master"), v.master);
  a(if_any("site"), v.site);
  a(if_any("cloud"), v.cloud);
  a(if_any("since_s"), v.since);
  a(if_any("last"), v.last);
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
  a(later("handing_over"), v.handing_over);
  a("waiting", v.waiting);
  a("running", v.running);
  a("held", v.held);
  a("over", v.over);
}
void fields(auto& a, Like<StatusView::Tasks> auto& v) {
  a("pending", v.pending);
  a("running", v.running);
}
void fields(auto& a, Like<StatusView::Elastic> auto& v) {
  a("jobs", v.jobs);
  a("workers", v.workers);
}
void fields(auto& a, Like<StatusView> auto& v) {
  a("now_s", v.now);
  a("jobs", v.jobs);
  a("tasks", v.tasks);
  a(later("elastic"), v.elastic);
  a("instances", v.instances);
  a("usd_h", v.usd_h);
  a("total_usd", v.total_usd);
  a("today_usd", v.today_usd);
  a("nodes", v.nodes);
  a("caps", v.caps);
  a("trouble", v.trouble);
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
  a("type", v.type);
  a("market", v.market);
  a("usd_h", v.usd_h);
}
void fields(auto& a, Like<PlanView::Place> auto& v) {
  a("task", v.task);
  a("to", v.to);
}
void fields(auto& a, Like<PlanView::Refusal> auto& v) {
  a("task", v.task);
  a("kind", v.kind);
  a("why", v.why);
}
void fields(auto& a, Like<PlanView> auto& v) {
  a("launches", v.launches);
  a("places", v.places);
  a("refusals", v.refusals);
  a(later("left_out"), v.left_out);
  a(later("master"), v.master);
  a("moves", v.moves);
  a("usd_h", v.usd_h);
  a("usd_h_now", v.usd_h_now);
}

/// The views that are documents of the API, with whose part is missing in them. Each has the schema
/// of its `kSchema`.
using GatheredViews = std::tuple<InstancesView, DecisionsView, HistoryView, CostView, StatusView>;
/// Those that are documents by themselves, and the parts that have schemas of their own.
using PlainViews = std::tuple<JobView, TaskView, ReasonView, SilentView, InstanceView, DecisionView,
                              HistorySample, NodeView, NodesView, CapsOf, PlanView>;

}  // namespace muster
