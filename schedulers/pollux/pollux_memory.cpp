#include "schedulers/pollux/pollux_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "model/fields.hpp"
#include "schedulers/saved_lines.hpp"

namespace muster::pollux {

using nlohmann::json;

/// A job as it is saved.
struct SavedJob {
  SavedSpeeds speeds;
  ProgressSeen seen{};
};

/// Workers of a job by their nodes.
struct SavedRow {
  std::map<InstanceId, std::uint16_t> workers;
};

// These say how the memory lies on disk: they read the text of an earlier version, too.

void line(auto& a, Like<SavedJob> auto& job) {
  auto& seen = job.seen;
  a(job.speeds, seen.done, seen.at, seen.attempt, seen.width, seen.went_on);
}

void line(auto& a, Like<SavedRow> auto& row) {
  a.rest(row.workers);
}

void line(auto& a, Like<ScaleMemory> auto& scale) {
  a(scale.nodes, scale.window);
}

void PolluxMemory::observe(const Event& event, const ClusterView& view) {
  if (const auto* accepted = std::get_if<JobAccepted>(&event.body)) {
    const auto* elastic = std::get_if<ElasticSpec>(&accepted->job.kind);
    if (elastic != nullptr) jobs_.insert_or_assign(accepted->job.id, KnownJob{JobSpeeds(*elastic)});
  } else if (const auto* measured = std::get_if<Measured>(&event.body)) {
    hear(*measured, view);
  } else if (const auto* over = std::get_if<JobFinished>(&event.body)) {
    jobs_.erase(over->job);
    // Its cluster goes with the last job.
    if (jobs_.empty()) scale_ = {};
  } else if (const auto* round = std::get_if<RoundDecided>(&event.body)) {
    note_size(round->note);
  }
}

/// Of a round that has sized a cluster.
void PolluxMemory::note_size(const RoundNote& note) {
  const auto figure = [&](std::string_view name) {
    const auto found = std::ranges::find(
        note.figures, name, [](const auto& each) { return std::string_view(each.first); });
    return found == note.figures.end() ? std::nullopt : std::optional(found->second);
  };
  const auto nodes = figure(kNodesFigure);
  const auto efficiency = figure(kEfficiencyFigure);
  if (!nodes || !efficiency) return;
  scale_.nodes = static_cast<std::uint32_t>(*nodes);
  if (figure(kSearchedFigure).value_or(0) > 0) return scale_.window.clear();
  scale_.window.push_back(*efficiency);
  while (scale_.window.size() > kMostRemembered) scale_.window.pop_front();
}

void PolluxMemory::hear(const Measured& measured, const ClusterView& view) {
  for (const JobProgress& each : measured.progress) {
    const TaskRow* task = view.state.find(each.task);
    if (task == nullptr) continue;
    const JobRow& row = view.state.job(task->job);
    const auto job = jobs_.find(row.job.id);
    if (job == jobs_.end()) continue;
    const ProgressSeen now{each.done, view.now, task->attempt, row.width};
    job->second.seen = job->second.speeds.observe(each, job->second.seen, now);
  }
}

const KnownJob* PolluxMemory::find(JobId id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

std::string PolluxMemory::save() const {
  std::map<JobId, SavedJob> jobs;
  for (const auto& [id, job] : jobs_) jobs[id] = {job.speeds.save(), job.seen};
  std::vector<std::map<JobId, SavedRow>> population;
  for (const NamedLayout& layout : population_) {
    auto& rows = population.emplace_back();
    for (const auto& [job, workers] : layout) rows[job] = {workers};
  }
  json all;
  all["jobs"] = saved::saved(jobs);
  all["population"] = saved::saved(population);
  all["scale"] = saved::saved(scale_);
  return all.dump(-1, ' ', false, json::error_handler_t::replace);
}

bool PolluxMemory::load(std::string_view text) {
  try {
    const json all = json::parse(text);
    PolluxMemory read;
    for (const auto& [id, job] :
         saved::loaded<std::map<JobId, SavedJob>>(saved::member(all, "jobs"))) {
      auto speeds = JobSpeeds::load(job.speeds);
      if (!speeds) return false;
      read.jobs_.insert_or_assign(id, KnownJob{std::move(*speeds), job.seen});
    }
    for (const auto& rows :
         saved::loaded<std::vector<std::map<JobId, SavedRow>>>(saved::member(all, "population"))) {
      NamedLayout& layout = read.population_.emplace_back();
      for (const auto& [job, row] : rows) layout[job] = row.workers;
    }
    saved::Reader::get(saved::member(all, "scale"), read.scale_);
    *this = std::move(read);
    return true;
  } catch (const json::exception&) {
    return false;
  } catch (const saved::NotUnderstood&) {
    return false;
  }
}

}  // namespace muster::pollux
