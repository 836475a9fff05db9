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
/// What was spent on jobs that are not named one by one.
constexpr const char* kEarlier = "(earlier jobs)";

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

std::string dump(const json& document) {
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Why a task of a job that is over is as it is.
std::string why(const TaskHistory& task, JobOutcome outcome) {
  if (task.finished) return "has finished";
  if (task.failures > 0) return "failed: " + task.reason;
  if (!task.reason.empty()) return "refused, " + task.reason;
  return fmt::format("the job was {}", muster::name_of(outcome));
}

json over_job(const JobHistory& over, bool explained, const std::string& master,
              const Catalog& catalog) {
  json out = job_json(over);
  out["master"] = master;
  json tasks = json::array();
  for (std::size_t i = 0; i < over.tasks.size(); ++i) {
    tasks.push_back(task_json(over.tasks[i], i, over, catalog));
    if (explained) tasks.back()["why"] = why(over.tasks[i], over.outcome);
  }
  if (explained) return {{"job", std::move(out)}, {"tasks", std::move(tasks)}};
  out["tasks"] = std::move(tasks);
  return out;
}

/// Where in the job the task of an array index is.
json found_in(const Job& job, const std::string& index_text, bool over) {
  json out{{"over", over}};
  for (const TaskSpec& task : job.tasks) {
    if (std::to_string(task.array_index) != index_text) continue;
    out["position"] = position_of(task.id);
    break;
  }
  return out;
}

AttemptPlace place_from(const TaskHistory& task, Attempt attempt, bool running) {
  AttemptPlace place;
  place.known = attempt <= task.attempts;
  place.running = running;
  place.attempt = attempt == 0 ? task.attempts : attempt;
  place.on = task.instance;
  place.end = task.end;
  return place;
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

CellAnswer CellView::answer(const std::string& what, std::uint64_t id, const std::string& text,
                            std::uint32_t limit) const {
  if (what == "jobs") return jobs(text, limit);
  if (what == "job" || what == "explain") return job(JobId{id}, what == "explain");
  if (what == "find") return find(JobId{id}, text);
  if (what == "instances") return {dump(instances()), {}};
  if (what == "cost") return {dump(cost(text)), {}};
  if (what == "load") return {dump(load()), {}};
  if (what == "decisions") return {dump(decided(limit)), {}};
  return {dump(missing()), {}};
}

CellAnswer CellView::jobs(const std::string& filter_text, std::uint32_t limit) const {
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
    for (const JobRow* row : rows) {
      list.push_back(job_json(*row, master));
      list.back()["master"] = name;
    }
  }
  if (!filter.over || history == nullptr || list.size() >= most) {
    return {dump({{"jobs", std::move(list)}}), {}};
  }
  return {{}, [list, most, user = filter.user, name = name, over = history] {
            json whole = list;
            const auto use = [&](const JobHistory& job) {
              whole.push_back(job_json(job));
              whole.back()["master"] = name;
              return true;
            };
            const std::size_t left = most - list.size();
            user.empty() ? over->newest(left, use) : over->newest_of(user, left, use);
            return dump({{"jobs", std::move(whole)}});
          }};
}

CellAnswer CellView::job(JobId id, bool explained) const {
  const JobRow* row = master.state().find(id);
  if (row == nullptr) {
    if (history == nullptr || !history->contains(id)) return {dump(missing()), {}};
    return {{}, [id, explained, name = name, over = history, &catalog = master.catalog()] {
              const auto found = over->find(id);
              return dump(found ? over_job(*found, explained, name, catalog) : missing());
            }};
  }
  json out = job_json(*row, master);
  out["master"] = name;
  json tasks = json::array();
  for (Slot slot : row->tasks) {
    const TaskRow& task = master.state().task(slot);
    tasks.push_back(task_json(task, master));
    if (explained) tasks.back()["why"] = cell::why(task, master);
  }
  if (explained) return {dump({{"job", std::move(out)}, {"tasks", std::move(tasks)}}), {}};
  out["tasks"] = std::move(tasks);
  return {dump(out), {}};
}

/// Whether the job is here, and where in it the task of an array index is.
CellAnswer CellView::find(JobId id, const std::string& index_text) const {
  if (const JobRow* row = master.state().find(id)) {
    return {dump(found_in(row->job, index_text, false)), {}};
  }
  if (history == nullptr || !history->contains(id)) return {dump(missing()), {}};
  return {{}, [id, index_text, over = history] {
            const auto found = over->find(id);
            return dump(found ? found_in(found->job, index_text, true) : missing());
          }};
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
  Money named;
  const auto book = [&](const std::string& part, Money usd) {
    parts[part] += usd;
    named += usd;
  };
  const auto job_name = [](JobId id, const std::string& of_job) {
    return fmt::format("{} {}", id.value, of_job);
  };
  if (by != "instance") {  // what each instance costs is the cloud's to say
    for (const JobRow& row : master.state().jobs()) {
      Money usd;
      for (Slot slot : row.tasks) usd += ledger.task(master.state().task(slot).id);
      book(by == "job" ? job_name(row.job.id, row.job.name) : row.job.user, usd);
    }
    if (history != nullptr && by == "job") {
      history->newest_entries(kMaxJobs, [&](const HistoryEntry& entry) {
        book(job_name(entry.job, entry.name), entry.cost);
      });
    } else if (history != nullptr) {
      for (const auto& [user, usd] : history->spent_by_user()) book(user, usd);
    }
    // The parts add up to the tasks' total, whatever of the past is no longer kept.
    if (const Money rest = ledger.tasks() - named; !(rest == Money{})) parts[kEarlier] += rest;
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
  return dump({{"launches", std::move(launches)},
               {"places", std::move(places)},
               {"refusals", std::move(refusals)},
               {"moves", moves},
               {"usd_h", usd_h_now + usd_h},
               {"usd_h_now", usd_h_now},
               {"master", name}});
}

AttemptPlace CellView::place_of(TaskId task, Attempt attempt) const {
  const TaskRow* row = master.state().find(task);
  if (row == nullptr) return {};
  const TaskHistory* seen = master.task_history(task);
  return place_from(seen == nullptr ? TaskHistory{} : *seen, attempt,
                    row->phase != TaskPhase::finished);
}

AttemptPlace place_of(TaskId task, Attempt attempt, const History& history) {
  const auto over = history.find(job_of(task));
  if (!over) return {};
  const std::vector<TaskSpec>& specs = over->job.tasks;
  const auto found = std::find_if(specs.begin(), specs.end(),
                                  [&](const TaskSpec& spec) { return spec.id == task; });
  if (found == specs.end()) return {};
  return place_from(over->tasks[static_cast<std::size_t>(found - specs.begin())], attempt, false);
}

}  // namespace muster
