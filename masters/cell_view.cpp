#include "masters/cell_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "masters/cell_json.hpp"
#include "model/live_ids.hpp"
#include "storage/job_filter.hpp"
#include "storage/task_filter.hpp"

namespace muster {
namespace {

using cell::resources_json;
using nlohmann::json;

/// Jobs that a cost names, of those that are over and of the others.
constexpr std::size_t kMaxJobs = 10'000;
/// What was spent on jobs that are not named one by one.
constexpr const char* kEarlier = "(earlier jobs)";

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

/// Where in the job the task of an array index is.
json found_in(const Job& job, const std::string& index_text, bool over) {
  json out{{"over", over}};
  std::uint32_t index = 0;
  const char* end = index_text.data() + index_text.size();
  const auto [rest, error] = std::from_chars(index_text.data(), end, index);
  if (error != std::errc{} || rest != end) return out;
  const auto task = std::find_if(job.tasks.begin(), job.tasks.end(),
                                 [&](const TaskSpec& spec) { return spec.array_index == index; });
  if (task != job.tasks.end()) out["position"] = position_of(task->id);
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
  if (what == "jobs") return jobs(JobFilter(text, limit));
  if (what == "job" || what == "explain") {
    return job(JobId{id}, what == "explain", TaskFilter(text, limit));
  }
  if (what == "find") return find(JobId{id}, text);
  if (what == "request") return request(JobId{id});
  if (what == "instances") return {dump(instances()), {}};
  if (what == "cost") return cost(text);
  if (what == "load") return {dump(load()), {}};
  if (what == "decisions") return {dump(decided(limit)), {}};
  return {dump(missing()), {}};
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

/// What was spent in all, and on what besides tasks.
json CellView::spent() const {
  const Ledger& ledger = master.ledger();
  const Money total = ledger.accrued(master.state(), now);
  json idle;
  for (std::size_t i = 0; i < kIdlenessKinds; ++i) {
    const auto kind = static_cast<Idleness>(i);
    idle[std::string(name_of(kind))] = ledger.idleness(kind).usd();
  }
  return {{"total_usd", total.usd()},
          {"unsettled_usd", (total - ledger.total()).usd()},
          {"tasks_usd", ledger.tasks().usd()},
          {"idle_usd", std::move(idle)},
          {"by", json::array()}};
}

CellAnswer CellView::cost(const std::string& by) const {
  if (by == "job") return cost_by_job();
  json out = spent();
  if (by == "instance") return {dump(out), {}};  // what each instance costs is the cloud's to say
  std::map<std::string, Money> parts = master.ledger().by_user();
  if (history != nullptr) {
    for (const auto& [user, usd] : history->spent_by_user()) parts[user] += usd;
  }
  Money rest = master.ledger().tasks();
  for (const auto& [user, usd] : parts) rest -= usd;
  // The parts add up to the tasks' total, whatever of the past is no longer kept.
  if (!(rest == Money{})) parts[kEarlier] += rest;
  for (const auto& [user, usd] : parts) out["by"].push_back({{"name", user}, {"usd", usd.usd()}});
  return {dump(out), {}};
}

/// Names the newest jobs; what they cost is taken down here, and written out apart.
CellAnswer CellView::cost_by_job() const {
  const ClusterState& state = master.state();
  std::vector<HistoryEntry> named;
  for (Slot slot = state.last_job(); slot != kNoSlot && named.size() < kMaxJobs;
       slot = state.job_before(slot)) {
    const JobRow& row = state.job(slot);
    named.push_back({row.job.id, {}, row.job.name, master.ledger().job(slot)});
  }
  if (history != nullptr) {
    history->newest_entries(kMaxJobs, [&](const HistoryEntry& entry) {
      named.push_back({entry.job, {}, entry.name, entry.cost});
    });
  }
  Money rest = master.ledger().tasks();
  for (const HistoryEntry& job : named) rest -= job.cost;
  const auto write = [whole = spent(), named = std::move(named), rest] {
    json out = whole;
    json& by = out["by"];
    if (!(rest == Money{})) by.push_back({{"name", kEarlier}, {"usd", rest.usd()}});
    for (const HistoryEntry& job : named) {
      by.push_back(
          {{"name", fmt::format("{} {}", job.job.value, job.name)}, {"usd", job.cost.usd()}});
    }
    return dump(out);
  };
  if (history == nullptr) return {write(), {}};
  return {{}, write};
}

json CellView::load() const {
  const ClusterState& state = master.state();
  const WorkSums& work = state.work();
  const FleetSums& sums = state.sums();
  const auto jobs = [&](auto... standings) { return (work.count(standings) + ...); };
  json instances = json::array();
  for (std::uint32_t i = 0; i < master.catalog().size(); ++i) {
    for (Market market : {Market::on_demand, Market::spot}) {
      const std::uint32_t count = sums.count(TypeId{i}, market);
      if (count == 0) continue;
      instances.push_back({{"type", master.catalog()[TypeId{i}].name},
                           {"market", name_of(market)},
                           {"count", count}});
    }
  }
  const MasterCaps& caps = master.caps();
  return {{"master", name},
          {"jobs",
           {{"waiting", jobs(JobStanding::waiting, JobStanding::starting)},
            {"running", jobs(JobStanding::running, JobStanding::stopping)},
            {"held", jobs(JobStanding::held)}}},
          {"active_jobs", state.jobs().size()},
          {"over_jobs", history == nullptr ? 0 : history->size()},
          {"tasks",
           {{"pending", work.count(TaskPhase::pending)},
            {"assigned", work.count(TaskPhase::assigned)},
            {"held", work.count(TaskPhase::held)},
            {"running", work.count(TaskPhase::running)}}},
          {"instances", std::move(instances)},
          {"instance_count", state.instances().size()},
          {"usd_h", Price::from_nano_usd_h(sums.up_nano_usd_h).usd_h()},
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
  const auto refuse = [&](std::uint32_t task, const Refusal& why) {
    refusals.push_back(
        {{"task", task}, {"kind", muster::name_of(why.kind)}, {"why", cell::sentence(why)}});
  };
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
      refuse(index_of(place.task), *run.checked.places[i]);
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
    if (job_of(part.task) == id) refuse(index_of(part.task), part.refusal);
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
                    row->phase != TaskPhase::finished && row->phase != TaskPhase::failed);
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
