#include "serve/node/view_json.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "config/submission.hpp"
#include "serve/node/decision_text.hpp"

namespace muster::view_json {
namespace {

void put_last(JsonText& out, const LastFigures& last) {
  out.begin_object()
      .field("active_jobs", last.active_jobs)
      .field("instances", last.instances)
      .field("pending_tasks", last.pending_tasks)
      .field("today_usd", last.today_usd)
      .field("total_usd", last.total_usd)
      .field("usd_h", last.usd_h)
      .end_object();
}

void put_silent(JsonText& out, const SilentNode& one) {
  const bool is_site = one.role == SilentNode::Role::site;
  out.begin_object();
  if (one.role == SilentNode::Role::cloud) out.field("cloud", one.name);
  if (one.last) put_last(out.key("last"), *one.last);
  if (one.role == SilentNode::Role::master) out.field("master", one.name);
  if (one.since) out.field("since_s", to_seconds(*one.since));
  if (is_site) out.field("site", one.name);
  out.end_object();
}

void put_silent(JsonText& out, const Silent& silent) {
  out.key("silent").begin_list();
  for (const SilentNode& one : silent) put_silent(out, one);
  out.end_list();
}

void put_text_or_null(JsonText& out, std::string_view key, const std::string& text) {
  out.key(key);
  if (text.empty()) {
    out.value(nullptr);
  } else {
    out.value(text);
  }
}

/// Members of a document with a page of tasks that stand among the job's own.
struct Around {
  const TaskPage& tasks;
  const Silent& silent;
};

void put_list(JsonText& out, std::string_view key, const JsonText& list) {
  out.key(key).begin_list().values(list).end_list();
}

void put_elastic(JsonText& out, const std::optional<ElasticView>& elastic) {
  out.key("elastic");
  if (!elastic) {
    out.value(nullptr);
    return;
  }
  const auto known = [](auto number) { return number > 0 ? std::optional(number) : std::nullopt; };
  out.begin_object()
      .field("done", elastic->done)
      .field("least", elastic->least)
      .field("most", elastic->most);
  put_text_or_null(out, "unit", elastic->unit);
  out.field("whole", known(elastic->whole)).field("width", known(elastic->width)).end_object();
}

void put_submission(JsonText& out, const JobView& job) {
  out.key("submission");
  if (!job.submission) {
    out.value(nullptr);
    return;
  }
  out.raw(config::submission_json(*job.submission, job.tasks));
}

void put_job(JsonText& out, const JobView& job, const Around* around) {
  out.begin_object()
      .field("capped", job.capped)
      .field("checkpoints", job.checkpoints)
      .field("class", job.workload_class)
      .field("command", job.command);
  if (around != nullptr) out.field("complete", around->silent.empty());
  out.field("distinct_instances", job.distinct_instances);
  put_elastic(out, job.elastic);
  out.field("exit_code", job.exit_code)
      .field("failed", job.failed)
      .field("failed_attempts", job.failed_attempts)
      .field("failed_task", job.failed_task)
      .field("finished", job.finished)
      .field("gang", job.gang)
      .field("held", job.held)
      .field("job", job.job)
      .field("market", name_of(job.market));
  put_text_or_null(out, "master", job.master);
  out.field("max_fails", job.max_fails).field("movable", job.movable).field("name", job.name);
  if (around != nullptr) out.field("next", around->tasks.next);
  out.field("over_s", job.over).field("reason", job.reason).field("running", job.running);
  if (around != nullptr) put_silent(out, around->silent);
  out.field("starting", job.starting).field("state", name_of(job.state));
  if (around != nullptr) put_submission(out, job);
  out.field("submitted_s", job.submitted);
  if (around != nullptr) {
    put_list(out, "tasks", around->tasks.list);
    out.field("tasks_behind", around->tasks.behind);
  }
  out.field("tasks_total", job.tasks)
      .field("usd", job.usd)
      .field("user", job.user)
      .field("waiting", job.waiting)
      .end_object();
}

void put_reason(JsonText& out, const TaskView& task) {
  out.key("reason");
  if (!task.reason) {
    out.value(nullptr);
    return;
  }
  const ReasonView& reason = *task.reason;
  out.begin_object()
      .field("code", reason.code ? name_of(*reason.code) : name_of(JobOutcome::refused))
      .field("kind", name_of(reason.kind))
      .field("text", reason.text)
      .end_object();
}

void put_last_failure(JsonText& out, const TaskView& task) {
  out.key("last_failure");
  if (!task.last_failure) {
    out.value(nullptr);
    return;
  }
  out.begin_object()
      .field("kind", name_of(task.last_failure->kind))
      .field("text", task.last_failure->text)
      .end_object();
}

void put_task(JsonText& out, const TaskView& task, bool explained) {
  out.begin_object()
      .field("attempt", task.attempt)
      .field("ended_s", task.ended)
      .field("exit_code", task.exit_code)
      .field("failures", task.failures)
      .key("instance");
  if (task.instance.valid()) {
    out.value(task.instance);
  } else {
    out.value(nullptr);
  }
  put_text_or_null(out, "instance_type", task.instance_type);
  put_last_failure(out, task);
  out.key("metrics").begin_object();
  for (const FigureView& one : task.metrics) out.text_key(one.name).value(one.value);
  out.end_object();
  out.field("moves", task.moves).field("phase", name_of(task.phase)).field("ran_s", task.ran_s);
  put_reason(out, task);
  out.field("started_s", task.started).field("task", task.index).field("usd", task.usd);
  if (explained) out.field("why", task.why);
  out.end_object();
}

/// The amounts by the names of the kinds: GPUs, CPUs and memory always, others unless they are 0.
void put_amounts(JsonText& out, std::string_view key, const Resources& amounts) {
  std::vector<std::pair<std::string_view, double>> shown;
  for (Resource kind : kAllResources) {
    const bool always = kind == Resource::cpu || kind == Resource::memory || kind == Resource::gpu;
    if (always || amounts[kind] != 0) shown.emplace_back(name_of(kind), amounts[kind]);
  }
  std::sort(shown.begin(), shown.end());
  out.key(key).begin_object();
  for (const auto& [name, amount] : shown) out.field(name, amount);
  out.end_object();
}

void put_instance(JsonText& out, const InstanceView& one) {
  out.begin_object();
  put_amounts(out, "capacity", one.capacity);
  out.field("connected", one.connected)
      .field("instance", one.instance)
      .field("isolation", one.isolation)
      .field("limits", one.limits)
      .field("market", name_of(one.market))
      .field("master", one.master)
      .field("more_tasks", one.more_tasks)
      .field("phase", name_of(one.phase))
      .field("released", one.released)
      .field("requested_s", one.requested)
      .key("tasks")
      .begin_list();
  for (const OccupantView& task : one.tasks) {
    out.begin_object().field("job", task.job).field("task", task.index).end_object();
  }
  out.end_list().field("type", one.type).field("up_s", one.up).field("usd_h", one.usd_h);
  put_amounts(out, "used", one.used);
  out.end_object();
}

void put_decision(JsonText& out, const DecisionView& one) {
  std::vector<FigureView> figures = one.figures;
  std::stable_sort(figures.begin(), figures.end(),
                   [](const FigureView& a, const FigureView& b) { return a.name < b.name; });
  out.begin_object().field("at_s", one.at).field("choice", one.choice).key("figures");
  out.begin_object();
  for (std::size_t i = 0; i < figures.size(); ++i) {
    // The last of a name counts.
    const bool again = i + 1 < figures.size() && figures[i + 1].name == figures[i].name;
    if (!again) out.text_key(figures[i].name).value(figures[i].value);
  }
  out.end_object();
  out.field("launches", one.launches)
      .field("master", one.master)
      .field("moves", one.moves)
      .field("placements", one.placements)
      .field("releases", one.releases)
      .field("resizes", one.resizes)
      .field("round", one.round)
      .field("sentence", sentence_of(one))
      .end_object();
}

void put_nodes(JsonText& out, const std::vector<merge::NodeLine>& nodes) {
  out.key("nodes").begin_list();
  for (const merge::NodeLine& node : nodes) {
    out.begin_object().field("connected", node.connected).key("load").begin_object();
    if (node.load) {
      out.field("instances", node.load->instances)
          .field("jobs", node.load->jobs)
          .field("pending_tasks", node.load->pending_tasks)
          .field("policy", node.load->policy)
          .field("usd_h", node.load->usd_h);
    }
    out.end_object().field("node", node.name).field("roles", node.roles).end_object();
  }
  out.end_list();
}

/// A cap of zero is none.
template <class Number>
void put_cap(JsonText& out, std::string_view key, Number cap) {
  out.field(key, cap > 0 ? std::optional(cap) : std::nullopt);
}

void put_caps(JsonText& out, const std::vector<merge::CapsOf>& all) {
  out.key("caps").begin_list();
  for (const merge::CapsOf& one : all) {
    out.begin_object().field("master", one.master);
    put_cap(out, "max_instances", one.caps.max_instances);
    put_cap(out, "max_usd_day", one.caps.max_usd_day);
    put_cap(out, "max_usd_h", one.caps.max_usd_h);
    out.end_object();
  }
  out.end_list();
}

}  // namespace

void add_jobs(JsonText& list, const std::vector<JobView>& jobs) {
  for (const JobView& job : jobs) put_job(list, job, nullptr);
}

void add_tasks(JsonText& list, const std::vector<TaskView>& tasks, bool explained) {
  for (const TaskView& task : tasks) put_task(list, task, explained);
}

std::string jobs(const JsonText& list, const std::optional<JobCursor>& next, const Silent& silent) {
  JsonText out;
  out.begin_object().field("complete", silent.empty());
  put_list(out, "jobs", list);
  out.field("next", next ? std::optional(to_text(*next)) : std::nullopt);
  put_silent(out, silent);
  return out.end_object().take();
}

std::string job(const JobView& job, const TaskPage& tasks, bool explained, const Silent& silent) {
  JsonText out;
  if (!explained) {
    const Around around{tasks, silent};
    put_job(out, job, &around);
    return out.take();
  }
  out.begin_object().field("complete", silent.empty()).key("job");
  put_job(out, job, nullptr);
  out.field("next", tasks.next);
  put_silent(out, silent);
  put_list(out, "tasks", tasks.list);
  return out.field("tasks_behind", tasks.behind).end_object().take();
}

std::string instances(const std::vector<InstanceView>& list, const Silent& silent) {
  JsonText out;
  out.begin_object().field("complete", silent.empty()).key("instances").begin_list();
  for (const InstanceView& one : list) put_instance(out, one);
  out.end_list();
  put_silent(out, silent);
  return out.end_object().take();
}

std::string decisions(const std::vector<DecisionView>& list, const Silent& silent) {
  JsonText out;
  out.begin_object().field("complete", silent.empty()).key("decisions").begin_list();
  for (const DecisionView& one : list) put_decision(out, one);
  out.end_list();
  put_silent(out, silent);
  return out.end_object().take();
}

std::string history(const std::vector<HistorySample>& samples, const Silent& silent) {
  JsonText out;
  out.begin_object().field("complete", silent.empty()).key("samples").begin_list();
  for (const HistorySample& one : samples) {
    out.begin_object()
        .field("at_s", one.at)
        .field("instances", one.instances)
        .field("jobs_waiting", one.jobs_waiting)
        .field("spent_usd", one.spent_usd)
        .field("tasks_pending", one.tasks_pending)
        .field("tasks_running", one.tasks_running)
        .field("usd_h", one.usd_h)
        .end_object();
  }
  out.end_list();
  put_silent(out, silent);
  return out.end_object().take();
}

std::string cost(const CostView& cost, const Silent& silent) {
  JsonText out;
  out.begin_object().key("by").begin_list();
  for (const CostPart& part : cost.by) {
    out.begin_object().field("name", part.name).field("usd", part.usd).end_object();
  }
  out.end_list().field("complete", silent.empty()).key("idle_usd").begin_object();
  for (const CostPart& part : cost.idle) out.text_key(part.name).value(part.usd);
  out.end_object();
  put_silent(out, silent);
  out.field("tasks_usd", cost.tasks_usd)
      .field("total_usd", cost.total_usd)
      .field("unsettled_usd", cost.unsettled_usd);
  return out.end_object().take();
}

std::string status(const merge::ClusterStatus& status, const Silent& silent) {
  JsonText out;
  out.begin_object();
  put_caps(out, status.caps);
  out.field("complete", silent.empty()).key("elastic").begin_object();
  out.field("jobs", status.elastic_jobs).field("workers", status.elastic_workers).end_object();
  out.key("instances").begin_list();
  for (const OfferCount& line : status.instances) {
    out.begin_object()
        .field("count", line.count)
        .field("market", name_of(line.market))
        .field("type", line.type)
        .end_object();
  }
  out.end_list().key("jobs").begin_object();
  out.field("handing_over", status.jobs_handing_over)
      .field("held", status.jobs_held)
      .field("over", status.jobs_over)
      .field("running", status.jobs_running)
      .field("waiting", status.jobs_waiting)
      .end_object();
  put_nodes(out, status.nodes);
  out.field("now_s", status.now_s);
  put_silent(out, silent);
  out.key("tasks").begin_object();
  out.field("pending", status.tasks_pending).field("running", status.tasks_running).end_object();
  out.field("today_usd", status.today_usd)
      .field("total_usd", status.total_usd)
      .field("trouble", status.trouble)
      .field("usd_h", status.usd_h);
  return out.end_object().take();
}

std::string nodes(const std::vector<merge::NodeLine>& list) {
  JsonText out;
  out.begin_object();
  put_nodes(out, list);
  return out.end_object().take();
}

std::string plan(const PlanView& plan) {
  JsonText out;
  out.begin_object().key("launches").begin_list();
  for (const PlanView::Launch& one : plan.launches) {
    out.begin_object()
        .field("market", name_of(one.market))
        .field("type", one.type)
        .field("usd_h", one.usd_h)
        .end_object();
  }
  out.end_list().field("left_out", plan.left_out).field("master", plan.master);
  out.field("moves", plan.moves);
  out.key("places").begin_list();
  for (const PlanView::Place& one : plan.places) {
    out.begin_object().field("task", one.task).field("to", one.to).end_object();
  }
  out.end_list().key("refusals").begin_list();
  for (const PlanView::Refusal& one : plan.refusals) {
    out.begin_object()
        .field("kind", name_of(one.kind))
        .field("task", one.task)
        .field("why", one.why)
        .end_object();
  }
  out.end_list().field("usd_h", plan.usd_h).field("usd_h_now", plan.usd_h_now);
  return out.end_object().take();
}

}  // namespace muster::view_json
