#include "masters/cell_view.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "masters/cell_json.hpp"
#include "model/live_ids.hpp"

namespace muster {
namespace {

using cell::job_json;
using cell::resources_json;
using cell::task_json;
using nlohmann::json;

constexpr std::uint32_t kDefaultJobs = 100;
constexpr std::uint32_t kMaxJobs = 10'000;

/// Which jobs somebody asks for.
struct JobFilter {
  bool active = true;
  bool over = true;
  std::string user;

  explicit JobFilter(const std::string& text) {
    const json wanted = json::parse(text.empty() ? "{}" : text, nullptr, false);
    if (!wanted.is_object()) return;
    const std::string state = wanted.value("state", "all");
    active = state != "over";
    over = state != "active";
    user = wanted.value("user", "");
  }
  bool takes(const Job& job) const { return user.empty() || job.user == user; }
};

/// A cap of zero is none.
template <class Number>
json cap_or_null(Number cap) {
  return cap > 0 ? json(cap) : json(nullptr);
}

json missing() {
  return {{"missing", true}};
}

}  // namespace

void DecisionLog::watch(const std::vector<Event>& events) {
  Decision* open = nullptr;
  for (const Event& event : events) {
    if (const auto* round = std::get_if<RoundDecided>(&event.body)) {
      kept_.push_back({event.at, round->round, round->note});
      open = &kept_.back();
    } else if (open != nullptr) {
      open->launches += std::holds_alternative<LaunchRequested>(event.body);
      open->placements += std::holds_alternative<TaskAssigned>(event.body);
      open->moves += std::holds_alternative<StopIssued>(event.body);
      open->releases += std::holds_alternative<ReleaseDecided>(event.body);
    }
  }
  if (open == nullptr) return;
  const bool changed = open->launches + open->placements + open->moves + open->releases > 0;
  if (!changed) kept_.pop_back();
  while (kept_.size() > kKept) kept_.pop_front();
}

std::string CellView::answer(const std::string& what, std::uint64_t id, const std::string& text,
                             std::uint32_t limit) const {
  json out;
  if (what == "jobs") {
    out = jobs(text, limit);
  } else if (what == "job" || what == "explain") {
    out = job(JobId{id}, what == "explain");
  } else if (what == "find") {
    out = find(JobId{id}, text);
  } else if (what == "instances") {
    out = instances();
  } else if (what == "cost") {
    out = cost(text);
  } else if (what == "load") {
    out = load();
  } else if (what == "decisions") {
    out = decided(limit);
  } else {
    out = missing();
  }
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

json CellView::jobs(const std::string& filter_text, std::uint32_t limit) const {
  const JobFilter filter(filter_text);
  const std::size_t most = std::min(limit == 0 ? kDefaultJobs : limit, kMaxJobs);
  json list = json::array();
  if (filter.active) {
    std::vector<const JobRow*> rows;
    for (const JobRow& row : master.state().jobs()) {
      if (filter.takes(row.job)) rows.push_back(&row);
    }
    std::reverse(rows.begin(), rows.end());
    if (rows.size() > most) rows.resize(most);
    for (const JobRow* row : rows) list.push_back(job_json(*row, master));
  }
  if (filter.over && history != nullptr && list.size() < most) {
    history->newest(kMaxJobs, [&](const JobHistory& job) {
      if (filter.takes(job.job)) list.push_back(job_json(job));
      return list.size() < most;
    });
  }
  for (json& job : list) job["master"] = name;
  return {{"jobs", std::move(list)}};
}

json CellView::job(JobId id, bool explained) const {
  json out;
  json tasks = json::array();
  if (const JobRow* row = master.state().find(id)) {
    out = job_json(*row, master);
    for (Slot slot : row->tasks) {
      const TaskRow& task = master.state().task(slot);
      tasks.push_back(task_json(task, master));
      if (explained) tasks.back()["why"] = cell::why(task, master);
    }
  } else if (const auto over = history == nullptr ? std::nullopt : history->find(id)) {
    out = job_json(*over);
    for (std::size_t i = 0; i < over->tasks.size(); ++i) {
      tasks.push_back(task_json(over->tasks[i], i, *over, master.catalog()));
      if (!explained) continue;
      const TaskHistory& task = over->tasks[i];
      tasks.back()["why"] = task.finished       ? "has finished"
                            : task.failures > 0 ? "failed: " + task.reason
                            : !task.reason.empty()
                                ? "refused, " + task.reason
                                : fmt::format("the job was {}", muster::name_of(over->outcome));
    }
  } else {
    return missing();
  }
  out["master"] = name;
  if (!explained) {
    out["tasks"] = std::move(tasks);
    return out;
  }
  return {{"job", std::move(out)}, {"tasks", std::move(tasks)}};
}

/// Whether the job is here, and where in it the task of an array index is.
json CellView::find(JobId id, const std::string& index_text) const {
  const JobRow* row = master.state().find(id);
  const auto over = row != nullptr || history == nullptr ? std::nullopt : history->find(id);
  if (row == nullptr && !over) return missing();
  const std::vector<TaskSpec>& tasks = row != nullptr ? row->job.tasks : over->job.tasks;
  json out{{"over", row == nullptr}};
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (std::to_string(tasks[i].array_index) != index_text) continue;
    out["position"] = position_of(tasks[i].id);
    break;
  }
  return out;
}

json CellView::instance(const InstanceRow& row) const {
  static constexpr std::array<std::string_view, 4> kPhases = {"requested", "booting", "ready",
                                                              "terminating"};
  const ClusterState& state = master.state();
  json tasks = json::array();
  for (Slot slot : row.occupants) {
    const TaskRow& task = state.task(slot);
    tasks.push_back(
        {{"job", state.job(task.job).job.id.value}, {"task", state.spec(task).array_index}});
  }
  const auto worker = workers.find(row.id);
  const bool known = worker != workers.end();
  const std::optional<Instant> up = master.up_since(row.id);
  return {{"instance", row.id.value},
          {"type", master.catalog()[row.type].name},
          {"market", name_of(row.market)},
          {"phase", kPhases[static_cast<std::size_t>(row.phase)]},
          {"released", row.released},
          {"usd_h", row.price.usd_h()},
          {"requested_s", to_seconds(row.requested_at)},
          {"up_s", up ? json(to_seconds(*up)) : json(nullptr)},
          {"master", name},
          {"tasks", std::move(tasks)},
          {"used", resources_json(row.used)},
          {"capacity", resources_json(master.catalog()[row.type].capacity)},
          {"connected", known && worker->second.connected},
          {"limits", known ? worker->second.limits : ""}};
}

json CellView::instances() const {
  json list = json::array();
  for (const InstanceRow& row : master.state().instances()) list.push_back(instance(row));
  return {{"instances", std::move(list)}};
}

json CellView::cost(const std::string& by) const {
  const Ledger& ledger = master.ledger();
  std::map<std::string, Money> parts;
  const auto name_of_job = [&](const Job& job) {
    return by == "job" ? fmt::format("{} {}", job.id.value, job.name) : job.user;
  };
  if (by != "instance") {  // what each instance costs is the cloud's to say
    for (const JobRow& row : master.state().jobs()) {
      for (Slot slot : row.tasks) {
        parts[name_of_job(row.job)] += ledger.task(master.state().task(slot).id);
      }
    }
    if (history != nullptr) {
      history->newest(kMaxJobs, [&](const JobHistory& job) {
        for (const TaskHistory& task : job.tasks) parts[name_of_job(job.job)] += task.cost;
        return true;
      });
    }
  }
  json list = json::array();
  for (const auto& [part, usd] : parts) list.push_back({{"name", part}, {"usd", usd.usd()}});
  json idle;
  for (std::size_t i = 0; i < kIdlenessKinds; ++i) {
    const auto kind = static_cast<Idleness>(i);
    idle[std::string(name_of(kind))] = ledger.idleness(kind).usd();
  }
  return {{"total_usd", ledger.accrued(master.state(), now).usd()},
          {"unsettled_usd", (ledger.accrued(master.state(), now) - ledger.total()).usd()},
          {"tasks_usd", ledger.tasks().usd()},
          {"idle_usd", std::move(idle)},
          {"by", std::move(list)}};
}

json CellView::load() const {
  const ClusterState& state = master.state();
  std::map<std::string, std::uint32_t> jobs{{"waiting", 0}, {"running", 0}, {"held", 0}};
  std::uint64_t held = 0;
  std::uint64_t running = 0;
  for (const JobRow& row : state.jobs()) {
    const std::string_view word = cell::state_of(row);
    ++jobs[word == "stopping" ? "running" : std::string(word)];
    held += row.held;
    running += row.running;
  }
  std::map<std::pair<std::string, std::string_view>, std::uint32_t> counts;
  double usd_h = 0;
  for (const InstanceRow& row : state.instances()) {
    ++counts[{master.catalog()[row.type].name, name_of(row.market)}];
    if (row.up) usd_h += row.price.usd_h();
  }
  json instances = json::array();
  for (const auto& [offer, count] : counts) {
    instances.push_back({{"type", offer.first}, {"market", offer.second}, {"count", count}});
  }
  const MasterCaps& caps = master.caps();
  return {{"master", name},
          {"jobs", jobs},
          {"active_jobs", state.jobs().size()},
          {"over_jobs", history == nullptr ? 0 : history->size()},
          {"tasks",
           {{"pending", state.pending().size()},
            {"assigned", state.assigned().size()},
            {"held", held},
            {"running", running}}},
          {"instances", std::move(instances)},
          {"instance_count", state.instances().size()},
          {"usd_h", usd_h},
          {"total_usd", master.ledger().accrued(state, now).usd()},
          {"today_usd", master.spent_today(now).usd()},
          {"rounds", master.rounds()},
          {"last_decision_ms", last_decision_ms},
          {"caps",
           {{"master", name},
            {"max_instances", cap_or_null(caps.max_instances)},
            {"max_usd_h", cap_or_null(caps.max_usd_h)},
            {"max_usd_day", cap_or_null(caps.max_usd_day)}}},
          {"trouble", trouble}};
}

json CellView::decided(std::uint32_t limit) const {
  json list = json::array();
  if (decisions != nullptr) {
    const auto& kept = decisions->newest_last();
    for (auto it = kept.rbegin(); it != kept.rend(); ++it) {
      if (limit > 0 && list.size() >= limit) break;
      json figures = json::object();
      for (const auto& [figure, value] : it->note.figures) {
        figures[figure] = std::isfinite(value) ? json(value) : json(nullptr);
      }
      list.push_back({{"at_s", to_seconds(it->at)},
                      {"master", name},
                      {"round", it->round},
                      {"choice", it->note.choice},
                      {"figures", std::move(figures)},
                      {"launches", it->launches},
                      {"placements", it->placements},
                      {"moves", it->moves},
                      {"releases", it->releases}});
    }
  }
  return {{"decisions", std::move(list)}};
}

std::string CellView::plan(Job job) const {
  const JobId id = job.id;
  const Master::DryRun run = master.dry_run(std::move(job), now);
  const Catalog& catalog = master.catalog();
  json launches = json::array();
  double usd_h_now = 0;
  double usd_h = 0;
  for (const InstanceRow& row : master.state().instances()) usd_h_now += row.price.usd_h();
  for (std::size_t i = 0; i < run.plan.launches.size(); ++i) {
    if (!run.checked.launched(i)) continue;
    const Launch& launch = run.plan.launches[i];
    const double price = catalog.price(launch.type, launch.market).usd_h();
    usd_h += price;
    launches.push_back({{"type", catalog[launch.type].name},
                        {"market", name_of(launch.market)},
                        {"usd_h", price}});
  }
  json places = json::array();
  json refusals = json::array();
  std::uint32_t moves = 0;
  const auto index_of = [&](TaskId task) {
    return run.state->spec(*run.state->find(task)).array_index;
  };
  for (std::size_t i = 0; i < run.plan.places.size(); ++i) {
    const Place& place = run.plan.places[i];
    if (job_of(place.task) != id) {
      moves += !run.checked.places[i] && run.state->find(place.task)->phase == TaskPhase::running;
      continue;
    }
    if (run.checked.places[i]) {
      refusals.push_back(
          {{"task", index_of(place.task)}, {"why", cell::sentence(*run.checked.places[i])}});
      continue;
    }
    std::string to;
    if (const auto* there = std::get_if<InstanceId>(&place.to)) {
      to = fmt::format("instance {} ({})", there->value,
                       catalog[run.state->find(*there)->type].name);
    } else {
      const Launch& launch = run.plan.launches[std::get<LaunchIndex>(place.to).value];
      to = fmt::format("a new {}", catalog[launch.type].name);
    }
    places.push_back({{"task", index_of(place.task)}, {"to", to}});
  }
  for (const Refuse& part : run.plan.refusals) {
    if (job_of(part.task) != id) continue;
    refusals.push_back({{"task", index_of(part.task)}, {"why", cell::sentence(part.refusal)}});
  }
  return json{{"launches", std::move(launches)},
              {"places", std::move(places)},
              {"refusals", std::move(refusals)},
              {"moves", moves},
              {"usd_h", usd_h_now + usd_h},
              {"usd_h_now", usd_h_now},
              {"master", name}}
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

AttemptPlace CellView::place_of(TaskId task, Attempt attempt) const {
  AttemptPlace place;
  TaskHistory known;
  if (const TaskRow* row = master.state().find(task)) {
    place.known = true;
    if (const TaskHistory* seen = master.task_history(task)) known = *seen;
    place.running = row->phase != TaskPhase::finished;
  } else if (const auto over = history == nullptr ? std::nullopt : history->find(job_of(task))) {
    const std::vector<TaskSpec>& specs = over->job.tasks;
    const auto found = std::find_if(specs.begin(), specs.end(),
                                    [&](const TaskSpec& spec) { return spec.id == task; });
    if (found == specs.end()) return place;
    place.known = true;
    known = over->tasks[static_cast<std::size_t>(found - specs.begin())];
  }
  place.known &= attempt <= known.attempts;
  place.attempt = attempt == 0 ? known.attempts : attempt;
  place.on = known.instance;
  place.end = known.end;
  return place;
}

}  // namespace muster
