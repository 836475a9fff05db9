// What is remembered of a fixed fleet, in words: only what does not follow from the state. Tasks,
// jobs and instances go by their numbers, types by name.

#include <nlohmann/json.hpp>

#include "schedulers/muster/fleet_memory.hpp"

namespace muster::own {
namespace {

using nlohmann::json;

/// What is thrown inside this file at words that are not understood.
struct NotUnderstood {};

void want(bool condition) {
  if (!condition) throw NotUnderstood{};
}

const json& list(const json& value, std::size_t at_least = 0) {
  want(value.is_array() && value.size() >= at_least);
  return value;
}

const json& member(const json& all, const char* name) {
  want(all.contains(name));
  return list(all[name]);
}

std::uint64_t whole(const json& value) {
  want(value.is_number_unsigned());
  return value.get<std::uint64_t>();
}

std::int64_t nanos(const json& value) {
  want(value.is_number_integer());
  return value.get<std::int64_t>();
}

Instant instant(const json& value) {
  return Instant{Duration{nanos(value)}};
}

bool flag(const json& value) {
  want(value.is_boolean());
  return value.get<bool>();
}

json words_of(const FleetQueue::Job& job) {
  return {job.key.job.value,
          job.key.is_long,
          job.key.patient,
          job.key.rank,
          job.since ? json(job.since->time_since_epoch().count()) : json(nullptr),
          job.passes,
          job.done,
          job.done_for.count(),
          job.doubted};
}

std::pair<JobId, FleetQueue::Job> job_from(const json& line) {
  list(line, 9);
  FleetQueue::Job job;
  job.key.is_long = flag(line[1]);
  job.key.patient = flag(line[2]);
  want(line[3].is_number());
  job.key.rank = line[3].get<double>();
  if (!line[4].is_null()) job.since = instant(line[4]);
  job.passes = static_cast<std::uint32_t>(whole(line[5]));
  job.done = whole(line[6]);
  job.done_for = Duration{nanos(line[7])};
  job.doubted = flag(line[8]);
  return {JobId{whole(line[0])}, std::move(job)};
}

json words_of(const FleetQueue::Class& one) {
  return {one.last_start.time_since_epoch().count(), one.done, one.done_for.count()};
}

FleetQueue::Class class_from(const json& line) {
  list(line, 3);
  return {0, instant(line[0]), whole(line[1]), Duration{nanos(line[2])}};
}

}  // namespace

std::string FleetMemory::save() const {
  json jobs = json::array(), fresh = json::array(), kept = json::array();
  for (const auto& [id, job] : queue_.jobs()) jobs.push_back(words_of(job));
  for (TaskId id : fresh_) fresh.push_back(id.value);
  for (const auto& [instance, task] : room_.kept()) kept.push_back({instance.value, task.value});
  return json{{"jobs", jobs},
              {"classes", {words_of(queue_.of_class(false)), words_of(queue_.of_class(true))}},
              {"fresh", fresh},
              {"kept", kept},
              {"types", room_.type_names()}}
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

bool FleetMemory::load(std::string_view text, const ClusterView& view) {
  try {
    const json all = json::parse(text, nullptr, false);
    want(all.is_object());
    rebuild(view);
    std::vector<std::string> types;
    for (const json& name : member(all, "types")) {
      want(name.is_string());
      types.push_back(name.get<std::string>());
    }
    room_.restore_types(types, view);
    for (const json& line : member(all, "jobs")) {
      const auto [id, job] = job_from(line);
      want(queue_.find(id) != nullptr);
      queue_.restore(id, job);
      // What counts as long follows from the job's class, which is known only here.
      for (Slot slot : queue_.find(id)->tasks) follow_task(slot, view);
      queue_.restore(id, job);
    }
    const json& classes = list(member(all, "classes"), 2);
    for (const bool is_long : {false, true}) {
      queue_.restore(is_long, class_from(classes[is_long ? 1 : 0]));
    }
    fresh_.clear();
    for (const json& id : member(all, "fresh")) fresh_.insert(TaskId{whole(id)});
    for (const json& line : member(all, "kept")) {
      list(line, 2);
      room_.keep(InstanceId{whole(line[0])}, TaskId{whole(line[1])});
    }
    return true;
  } catch (const NotUnderstood&) {
    return false;
  }
}

}  // namespace muster::own
