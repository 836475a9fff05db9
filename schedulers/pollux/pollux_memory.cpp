#include "schedulers/pollux/pollux_memory.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace muster::pollux {

using nlohmann::json;

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
  json all;
  json& jobs = all["jobs"] = json::array();
  for (const auto& [id, job] : jobs_) {
    const ProgressSeen& seen = job.seen;
    jobs.push_back({id.value, job.speeds.save(), seen.done, seen.at.time_since_epoch().count(),
                    seen.attempt, seen.width, seen.went_on});
  }
  json& population = all["population"] = json::array();
  for (const NamedLayout& layout : population_) {
    json& rows = population.emplace_back(json::array());
    for (const auto& [job, row] : layout) {
      json& entry = rows.emplace_back(json::array({job.value}));
      for (const auto& [node, workers] : row) entry.push_back({node.value, workers});
    }
  }
  all["scale"] = {scale_.nodes, scale_.window};
  return all.dump(-1, ' ', false, json::error_handler_t::replace);
}

bool PolluxMemory::load(std::string_view text) {
  try {
    const json all = json::parse(text);
    PolluxMemory read;
    for (const json& entry : all.at("jobs")) {
      auto speeds = JobSpeeds::load(entry.at(1));
      if (!speeds) return false;
      const ProgressSeen seen{entry.at(2), Instant{Duration{entry.at(3).get<std::int64_t>()}},
                              entry.at(4), entry.at(5), entry.at(6)};
      read.jobs_.insert_or_assign(JobId{entry.at(0)}, KnownJob{std::move(*speeds), seen});
    }
    for (const json& rows : all.at("population")) {
      NamedLayout& layout = read.population_.emplace_back();
      for (const json& entry : rows) {
        auto& row = layout[JobId{entry.at(0)}];
        for (std::size_t i = 1; i < entry.size(); ++i) {
          row[InstanceId{entry.at(i).at(0)}] = entry.at(i).at(1);
        }
      }
    }
    read.scale_.nodes = all.at("scale").at(0);
    read.scale_.window = all.at("scale").at(1).get<std::deque<double>>();
    *this = std::move(read);
    return true;
  } catch (const json::exception&) {
    return false;
  }
}

}  // namespace muster::pollux
